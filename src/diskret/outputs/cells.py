"""The cells of a table, counted from its records: units, sums, largest contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cells:
    """One grouping of records into cells: the inner cells of a table, or one of its margins.

    What is added up is a contribution: of a unit, all its records together. Ranks, extremes and
    most frequent values are of records, and units are counted among them.

    Parameters
    ----------
    names
        Labels of each cell.
    at
        Shape (records,), int32: the cell of each record; -1: in none.
    values
        Shape (records,): the numbers of the records, NaN where one is missing; None: records are
        counted.
    unit
        Shape (records,), int32: the unit of each record; None: each record is one.
    parts, into
        For totals: the cells that are put together, and into which, shape (cells of `parts`,).
        Where each record is a unit, totals are counted from them.
    """

    names: Sequence[tuple[str, ...]]
    at: NDArray[np.int32]
    values: NDArray[np.float64] | None = None
    unit: NDArray[np.int32] | None = None
    parts: Cells | None = None
    into: NDArray[np.int64] | None = None

    def together(self, names: Sequence[tuple[str, ...]], into: NDArray[np.int64]) -> Cells:
        """Totals of these cells.

        `into`: shape (cells,): which total each is part of.
        """
        at = np.append(into, -1).astype(np.int32)[self.at]
        return Cells(names, at, self.values, self.unit, self, into)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which records are in a cell and have a value."""
        inside = self.at >= 0
        return inside if self.values is None else inside & ~np.isnan(self.values)

    @cached_property
    def records(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Cell and value of each record that is used."""
        if self.values is None:
            at = self._of_used(self.at)
            return at, np.ones(len(at))
        return self._of_used(self.at), self._of_used(self.values)

    @cached_property
    def contributions(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Cell and value of each unit in each cell; records of a unit are added up."""
        if self.unit is None:
            return self.records
        pairs, which = self._pairs
        sums = np.bincount(which, self.records[1], len(pairs)).astype(np.float64)
        return (pairs // self._width).astype(np.int32), sums

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Shape (cells,): how many units each cell has."""
        if self.unit is None and self.parts is not None:
            return self._added(self.parts.units).astype(np.int64)
        if self._many and self.values is None:
            from diskret.outputs.unit_kernels import counted

            return counted(*self._by_unit, self._put, len(self.names))
        if self._many:
            return self._units_added_up(2)[0]
        at = self.contributions[0]
        return np.bincount(at, minlength=len(self.names))

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Shape (cells,): the sum of the contributions of each cell, all taken as positive."""
        if self.unit is None and self.parts is not None:
            return self._added(self.parts.sizes)
        if self._many and self.values is not None:
            return self._units_added_up(2)[1]
        at = self.contributions[0]
        return np.bincount(at, self._absolute, len(self.names)).astype(np.float64)

    @cached_property
    def negative(self) -> NDArray[np.bool_]:
        """Shape (cells,): where a contribution is negative."""
        if self.unit is None and self.parts is not None:
            return self._added(self.parts.negative) > 0
        if self._many and self.values is not None:
            return self._units_added_up(2)[2]
        at, values = self.contributions
        below = values < 0
        if not below.any():
            return np.zeros(len(self.names), bool)
        return np.bincount(at[below], minlength=len(self.names)) > 0

    @cached_property
    def lost(self) -> NDArray[np.bool_]:
        """Shape (cells,): where a record has no value."""
        if self._all_used:
            return np.zeros(len(self.names), bool)
        lost = (self.at >= 0) & ~self.used
        return np.bincount(self.at[lost], minlength=len(self.names)) > 0

    @cached_property
    def levels(self) -> tuple[Cells, Cells]:
        """The same with what each record is above the smallest of all, and below the largest.

        Whoever knows what was added to each record, or what each was subtracted from, knows these.
        """
        if self.parts is not None:
            above, below = self.parts.levels
            return above.together(self.names, self._into), below.together(self.names, self._into)
        _, own = self.records
        low, high = (float(own.min()), float(own.max())) if len(own) else (0.0, 0.0)
        values = np.zeros(len(self.at)) if self.values is None else self.values
        least = _DIGITS * max(abs(low), abs(high))
        above, below = (
            Cells(self.names, self.at, np.where(one <= least, 0.0, one), self.unit)
            for one in (values - low, high - values)
        )
        return above, below

    def largest(self, number: int) -> NDArray[np.float64]:
        """Shape (number, cells): the largest contributions by size; zero where there is none."""
        if self.unit is None and self.parts is not None:
            top = self.parts.largest(number)
            at = np.tile(self._into, number)
            return _largest(at, top.reshape(-1), number, len(self.names))
        if self._many and self.values is not None:
            return self._units_added_up(number)[3][:number].copy()
        if len(self._largest) < number:
            at = self.contributions[0]
            self._largest[:] = _largest(at, self._absolute, max(number, 2), len(self.names))
        return np.array(self._largest[:number])

    def units_where(self, condition: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Shape (cells,): how many units have a record of which something is true.

        `condition`: for each of `records`.
        """
        if self.unit is None:
            return np.bincount(self.records[0][condition], minlength=len(self.names))
        if self._many:
            from diskret.outputs.unit_kernels import cells_by_unit, counted

            true = self.used.copy()
            true[true] = condition
            at = np.where(true, self.at, np.int32(-1))
            placed = cells_by_unit(self.unit, at, self._width)
            return counted(*placed, np.arange(len(self.names)), len(self.names))
        pairs, which = self._pairs
        return np.bincount(
            pairs[np.bincount(which[condition], minlength=len(pairs)) > 0] // self._width,
            minlength=len(self.names),
        )

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Smallest and largest value of a record in each cell; infinite where there is none."""
        if self.parts is not None:
            at, (lows, highs) = self._into, self.parts.bounds
        else:
            at, lows = self.records
            highs = lows
        low, high = np.full(len(self.names), np.inf), np.full(len(self.names), -np.inf)
        np.minimum.at(low, at, lows)
        np.maximum.at(high, at, highs)
        return low, high

    def sharing(self, value: NDArray[np.float64]) -> NDArray[np.int64]:
        """Shape (cells,): how many units of each cell have just that value."""
        if self._many and self.values is not None:
            return self._around(value)[1]
        at, values = self.records
        return self.units_where(values == value[at])

    def around(self, value: NDArray[np.float64]) -> tuple[NDArray[np.int64], ...]:
        """How many units of each cell lie below a value of their cell, have it, lie above."""
        if self._many and self.values is not None:
            below, same, above = self._around(value)
            return below, same, above
        at, values = self.records
        own = value[at]
        below, same = values < own, values == own
        if self.unit is not None:
            return tuple(self.units_where(one) for one in (below, same, ~(below | same)))
        first, second = self.units_where(below), self.units_where(same)
        return first, second, np.bincount(at, minlength=len(self.names)) - first - second

    def _around(self, value: NDArray[np.float64]) -> NDArray[np.int64]:
        from diskret.outputs.unit_kernels import around

        return around(*self._by_unit, self._put, value)

    @cached_property
    def medians(self) -> NDArray[np.float64]:
        """Shape (cells,): the medians of the records, NaN where there is none, as pandas has them.

        Quicker than by `in_order`, of which other percentiles are.
        """
        import pandas as pd

        at, values = self.records
        known = pd.Categorical.from_codes(at, range(len(self.names)), validate=False)
        found = pd.Series(values).groupby(known, observed=False).median()
        return found.to_numpy(np.float64)

    @cached_property
    def in_order(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """The values of the records by cell and size; where each cell begins; how many it has."""
        at, values = self.records
        number = np.bincount(at, minlength=len(self.names))
        cell = at[self._by_size]
        short = cell.astype(np.uint16) if len(self.names) <= _SHORT else cell  # sorted in no time
        order = self._by_size[np.argsort(short, kind="stable")]
        return values[order], np.cumsum(number) - number, number

    @cached_property
    def _by_size(self) -> NDArray[np.intp]:
        """The records that are used, in the order of their values; totals have the same ones."""
        return np.argsort(self.records[1]) if self.parts is None else self.parts._by_size

    @cached_property
    def _all_used(self) -> bool:
        return bool(self.used.all())

    def _of_used(self, column: NDArray[Any]) -> NDArray[Any]:
        return column if self._all_used else column[self.used]

    @cached_property
    def _width(self) -> int:
        return 1 if self.unit is None else int(self.unit.max(initial=0)) + 1

    @property
    def _many(self) -> bool:
        """Whether units are gone through one by one: quicker, once the compiler is loaded."""
        return self.unit is not None and len(self.at) >= _COMPILED

    @cached_property
    def _by_unit(self) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Where the records of each unit end, and what they are; totals have the same."""
        from diskret.outputs.unit_kernels import cells_by_unit, values_by_unit

        if self.parts is not None:
            return self.parts._by_unit
        unit = np.zeros(0, np.int32) if self.unit is None else self.unit
        at = self.at if self._all_used else np.where(self.used, self.at, np.int32(-1))
        if self.values is None:
            return cells_by_unit(unit, at, self._width)
        return values_by_unit(unit, at, self.values, self._width)

    @property
    def _put(self) -> NDArray[np.int64]:
        """Into which of these each cell of `_by_unit` is put."""
        return np.arange(len(self.names)) if self.parts is None else self._into

    def _units_added_up(self, number: int) -> Any:
        """Units, sizes, negative ones and the `number` largest, as `added_up` gives them."""
        if not self._found or len(self._found[0][3]) < number:
            from diskret.outputs.unit_kernels import added_up

            most = max(number, 2)
            self._found[:] = [added_up(*self._by_unit, self._put, len(self.names), most)]
        return self._found[0]

    @cached_property
    def _found(self) -> list[Any]:
        return []

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each unit in each cell once, and which of these each record that is used is."""
        import pandas as pd

        if self.unit is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        keys = self.records[0].astype(np.int64) * self._width + self._of_used(self.unit)
        which, pairs = pd.factorize(keys)
        return np.asarray(pairs, np.int64), which

    @cached_property
    def _absolute(self) -> NDArray[np.float64]:
        """The contributions by size."""
        return np.abs(self.contributions[1]) if self.negative.any() else self.contributions[1]

    @cached_property
    def _largest(self) -> list[NDArray[np.float64]]:
        """The largest, the second largest, ..., as far as they were asked for."""
        return []

    @property
    def _into(self) -> NDArray[np.int64]:
        return np.zeros(0, np.int64) if self.into is None else self.into

    def _added(self, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Numbers of the parts, added up."""
        return np.bincount(self._into, numbers, len(self.names)).astype(np.float64)


def _largest(
    at: NDArray[Any], sizes: NDArray[np.float64], number: int, cells: int
) -> NDArray[np.float64]:
    """Shape (number, cells): the largest of some numbers that are not negative."""
    if len(at) > 4 * _SOME:  # no smaller ones than the last among some are among the largest of all
        least = _largest(at[:_SOME], sizes[:_SOME], number, cells)[-1]
        large = np.flatnonzero(sizes >= least[at])
        at, sizes = at[large], sizes[large]
    else:
        sizes = sizes.copy()
    found = np.zeros((number, cells))
    for rank in range(number):
        np.maximum.at(found[rank], at, sizes)
        is_top = np.flatnonzero(sizes == found[rank][at])
        first = np.full(cells, -1)
        first[at[is_top[::-1]]] = is_top[::-1]
        sizes[first[first >= 0]] = -1
    return found


_DIGITS = 4 * float(np.finfo(np.float64).eps)  # of a value: its last digits
_SOME = 20_000
_COMPILED = 200_000  # records
_SHORT = 2**16  # cells
