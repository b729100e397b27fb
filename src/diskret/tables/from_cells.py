"""A table from an already tabulated file: find every cell, add up, check the totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import AdditivityError, InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import padded
from diskret.io import to_arrow
from diskret.io.columns import code_text, column, scaled_integers
from diskret.io.frames import NO_RECORDS
from diskret.io.kinds import is_text
from diskret.io.record_errors import CodesError, RecordError
from diskret.tables.add_up import (
    Additivity,
    Recomputed,
    add_up,
    check_additivity,
    check_size,
    complete,
    leaf_mask,
    leaf_number,
    merge_up,
)
from diskret.tables.contributions import Measure
from diskret.tables.dimension import Dimension, check_by, describe, describe_some, said_totals
from diskret.tables.inexact_counts import check_within, counts, least_counts, maybe_rounded
from diskret.tables.own_totals import check_own_totals, leaf_rows
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.tables.table import Table

_EXAMPLES = 5


def from_cells(
    kind_of_table: type[Table],
    frame: Any,
    by: Mapping[str, Hierarchy | None],
    *,
    total: str | Mapping[str, str] | None,
    value: str | None,
    count: str | None,
    largest: tuple[str, ...],
    magnitude: str | None,
    shadow: str | None,
    signed: bool | None,
    decimals: int,
    vintage: str,
    rounding: float | None,
    round_values: bool,
    additivity: Additivity,
    count_within: int = 0,
) -> Table:
    """See [`Table.from_cells`][diskret.Table.from_cells]; `kind_of_table` is `Table` itself."""
    if value is None and count is None:
        raise InputError("from_cells needs value= (a table of sums) or count= (frequencies)")
    if value is None and rounding is not None:
        raise InputError("rounding= is for sums; counts are not shown rounded")
    for option, given in (
        *(("shadow", shadow), ("magnitude", magnitude), ("signed", signed)),
        ("round_values", round_values or None),
    ):
        if value is None and given is not None:
            raise InputError(f"{option}= is for sums; give value=, the column of the sums")
    check_within(count_within, value, count)
    check_by(by)
    check_additivity(additivity, rounding)
    said = said_totals(by, total)
    cells, kind = to_arrow(frame, (value, count, shadow, magnitude, *largest))
    if not cells.num_rows:
        raise RecordError(lambda _: NO_RECORDS.replace("records", "cells"))
    dimensions, at = locate(cells, by, said)
    most = None if count is None else counts(column(cells, count), count) + count_within
    file = _File(cells, dimensions, at, additivity, round_values, most)

    unit, shown = 1, None
    if value is not None and rounding is not None:
        decimals, unit = halved(rounding, decimals, value)
    columns: dict[str, NDArray[np.int64]] = {}
    if most is not None:
        columns["count"] = most - count_within
    if value is not None:
        columns["value"] = file.scaled(column(cells, value), value, decimals)
        check_multiples(columns["value"], unit, value, decimals)
    half = np.array([{"value": unit // 2, "count": count_within}[name] for name in columns])
    in_trees = [name for name, tree in by.items() if tree is not None]
    rows = leaf_rows(dimensions, at, [*columns.values()], half)
    check_own_totals(rows, said, "cells", in_trees)

    number, recomputed = None, tuple[Recomputed, ...]()
    if count is not None:
        try:
            number, recomputed = file.counted(columns["count"], count, count_within)
        except AdditivityError as error:
            raise maybe_rounded(error, columns["count"], count) from None
    measures: list[Measure] = []
    if value is not None:
        given = columns["value"]
        own = ((), None) if shadow is not None else (largest, magnitude)
        measure, done = file.measure(value, given, decimals, *own, signed, unit)
        measures.append(measure)
        recomputed += done
        if unit > 1:
            shown = measure.sum.copy()
            shown.ravel()[at] = given
    if shadow is not None:
        if shadow == value:
            raise InputError(f"shadow= is another variable than {value!r}; leave it out")
        given = file.scaled(column(cells, shadow), shadow, decimals)
        measure, done = file.measure(shadow, given, decimals, largest, magnitude, None)
        measures.append(measure)
        recomputed += done
    if count_within:
        filled = np.any([(one.sum != 0) | (one.magnitude != 0) for one in measures], axis=0)
        number = least_counts(dimensions, at, columns["count"], count_within, filled)
    return kind_of_table(
        dimensions=dimensions,
        count=number,
        units=number,
        count_within=count_within,
        measures=tuple(measures),
        contributors="units",
        vintage=vintage,
        rounding=unit,
        shown=shown,
        frame_kind=kind,
        chosen=None if shadow is None else value,
        recomputed=recomputed,
    )


def scaled_unit(rounding: float, decimals: int, name: str) -> int:
    """A unit of rounding in scaled integers.

    >>> scaled_unit(0.5, 2, "price")
    50
    """
    scaled = Fraction(str(rounding)) * 10**decimals if isfinite(rounding) else Fraction(0)
    if scaled < 1 or scaled.denominator > 1:
        raise InputError(
            f"rounding to {rounding} is not possible: the unit must be a multiple of "
            f"{1 / 10**decimals:g}, the last decimal of {name!r}"
        )
    return int(scaled)


def halved(rounding: float, decimals: int, name: str) -> tuple[int, int]:
    """Decimals in which half a unit can be told from nothing, and the unit in these.

    >>> halved(1000, 0, "sales"), halved(1, 0, "sales in thousands")
    ((0, 1000), (1, 10))
    """
    unit = scaled_unit(rounding, decimals, name)
    return (decimals, unit) if unit > 1 else (decimals + 1, 10)


def check_multiples(given: NDArray[np.int64], unit: int, name: str, decimals: int) -> None:
    """Refuse values that are not rounded to the unit."""
    wrong = given[given % unit != 0]
    if len(wrong):
        examples = ", ".join(f"{v / 10**decimals:.{decimals}f}" for v in wrong[:_EXAMPLES])
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:value|values} of {name!r} "
            f"{number:is no multiple|are not multiples} of {unit / 10**decimals:g}, e.g. "
            f"{examples}; rounding= is the unit of the published values"
        )


def locate(
    cells: pa.Table,
    by: Mapping[str, Hierarchy | None],
    said: Mapping[str, str] | None = None,
) -> tuple[tuple[Dimension, ...], NDArray[np.int64]]:
    """The dimensions, and the flat position of each row's cell, ``(rows,)``.

    `said`: column → code of the total of a flat tree, ``"Total"`` if left out.
    """
    dimensions: list[Dimension] = []
    positions: list[NDArray[np.int64]] = []
    for name, tree in by.items():
        encoded = code_text(column(cells, name), name).combine_chunks().dictionary_encode()
        codes: list[str] = encoded.dictionary.to_pylist()
        if tree is None:
            total = (said or {}).get(name, "Total")
            tree = Hierarchy.flat([c for c in codes if c != total], total)
        row_code = encoded.indices.to_numpy()
        of_code = np.array([tree.position.get(c, -1) for c in codes], dtype=np.int64)
        position = of_code[row_code]
        unknown = [c for c, p in zip(codes, of_code, strict=True) if p < 0]
        if unknown:
            raise _unknown(name, unknown, np.flatnonzero(position < 0), tree)
        dimensions.append(Dimension(name, tree))
        positions.append(position)
    shape = check_size(tuple(dimensions))
    at = np.ravel_multi_index(tuple(positions), shape).astype(np.int64)
    found, first, how_often = np.unique(at, return_index=True, return_counts=True)
    if np.any(how_often > 1):
        twice = found[how_often > 1]
        shown = describe_some(tuple(dimensions), twice)
        again = int(np.setdiff1d(np.arange(len(at)), first)[0])
        number = Count(len(twice))
        raise RecordError(
            lambda place: (
                f"{number} {number:cell is|cells are} there more than once: {shown} "
                f"({place.named(again)} is the first that repeats one). Does by= name every "
                "column of codes? Otherwise remove all rows of a cell but one"
            )
        )
    return tuple(dimensions), at


def _unknown(name: str, codes: list[str], rows: NDArray[np.intp], tree: Hierarchy) -> CodesError:
    shown = ", ".join(repr(c) for c in codes[:_EXAMPLES])
    number = Count(len(codes))
    many = Count(len(rows))
    return CodesError(
        lambda place: (
            f"{number} {number:code|codes} of {name!r} {number:is|are} not in its hierarchy "
            f"({many} {many:row|rows}, the first is {place.named(rows[0])}): {shown}; "
            f"{padded(codes, tree.codes)}the total is called {tree.total!r}"
        )
    )


@dataclass(frozen=True, eq=False)
class _File:
    """The rows of a file, the cell of each, and what is done about its totals.

    `most`: how many contributors each row has at most, ``(rows,)``; None: not known.
    """

    cells: pa.Table
    dimensions: tuple[Dimension, ...]
    at: NDArray[np.int64]
    additivity: Additivity
    round_values: bool = False
    most: NDArray[np.int64] | None = None

    def scaled(self, values: pa.ChunkedArray, name: str, decimals: int) -> NDArray[np.int64]:
        """Values of a column as integers in units of 10**-decimals."""
        return scaled_integers(values, name, decimals, self.round_values)

    def added(
        self, given: NDArray[np.int64], name: str, decimals: int, rounding: int = 1
    ) -> tuple[NDArray[np.int64], tuple[Recomputed, ...]]:
        """A whole column, and what became of its totals if they were computed anew."""
        values, recomputed = complete(
            self.dimensions,
            self.at,
            given,
            name,
            decimals,
            rounding=rounding,
            additivity=self.additivity,
        )
        return values, () if recomputed is None else (recomputed,)

    def counted(
        self, given: NDArray[np.int64], name: str, within: int
    ) -> tuple[NDArray[np.int64], tuple[Recomputed, ...]]:
        """All counts; where each may be off, totals need not be the sums of their parts."""
        file = replace(self, additivity="check") if within else self
        return file.added(given, name, 0, 2 * within + 1)

    def measure(
        self,
        name: str,
        given: NDArray[np.int64],
        decimals: int,
        largest: tuple[str, ...],
        magnitude: str | None,
        signed: bool | None,
        unit: int = 1,
    ) -> tuple[Measure, tuple[Recomputed, ...]]:
        """The sums of a column with its largest contributions, and what became of its totals."""
        summed, recomputed = self.added(given, name, decimals, unit)
        negative = bool((given < 0).any())
        if signed is False and negative:
            number = Count((given < 0).sum())
            raise InputError(
                f"signed=False, but {number} {number:value|values} of {name!r} {number:is|are} "
                f"negative, e.g. {describe(self.dimensions, int(self.at[given.argmin()]))}; leave "
                "signed= out"
            )
        signed = signed or negative
        least = np.abs(summed) if magnitude is None else self._sizes(magnitude, decimals)
        top = self._largest(largest, decimals, signed, least - unit // 2)
        if recomputed and recomputed[0].changed and top.shape[-1]:
            changed = np.zeros(summed.size, dtype=bool)
            changed[self.at] = summed.ravel()[self.at] != given
            top, taken = self._possible(top, summed, changed.reshape(summed.shape), signed)
            recomputed = (replace(recomputed[0], contributions=taken),)
        size = np.abs(summed)
        if signed:
            # nobody contributes less than 0 in size, so this is the least the sizes can sum to
            size = np.maximum(size, top.sum(axis=-1))
        if magnitude is not None:
            size = self._magnitude(magnitude, size, name, decimals)
        if top.shape[-1]:
            room = size + (unit // 2) * leaf_number(self.dimensions)
            _check_largest(self.dimensions, top, room, name)
        return Measure(name, decimals, summed, size, top, signed=signed), recomputed

    def _magnitude(
        self, name: str, least: NDArray[np.int64], of: str, decimals: int
    ) -> NDArray[np.int64]:
        """Given sums of sizes; where they are not given, those of the parts."""
        given = self._sizes(name, decimals).ravel()[self.at]
        short = np.flatnonzero(given < least.ravel()[self.at])
        if len(short):
            shown = describe_some(self.dimensions, self.at[short])
            number = Count(len(short))
            raise InputError(
                f"{number} {number:value|values} of {name!r}, the sum of absolute contributions, "
                f"{number:is|are} less than {of!r} or than the largest contributions together: "
                f"{shown}"
            )
        size, there = np.zeros(least.shape, np.int64), np.zeros(least.shape, dtype=bool)
        size.ravel()[self.at], there.ravel()[self.at] = given, True
        inner = np.where(leaf_mask(self.dimensions), size, 0)
        return np.where(there, size, add_up(inner, [d.hierarchy for d in self.dimensions]))

    def _sizes(self, name: str, decimals: int) -> NDArray[np.int64]:
        """A column of sums of sizes, 0 where it says nothing, shape of the table."""
        sizes = np.zeros(tuple(len(d) for d in self.dimensions), dtype=np.int64)
        sizes.ravel()[self.at] = self.scaled(column(self.cells, name), name, decimals)
        return sizes

    def _largest(
        self, largest: tuple[str, ...], decimals: int, signed: bool, size: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The sizes of the largest contributions; of totals that are not given, by their parts.

        `size`: what they add up to at most in each cell, shape of the table.
        """
        shape = tuple(len(d) for d in self.dimensions)
        found = np.zeros((len(self.at), len(largest)), dtype=np.int64)
        there = np.zeros(found.shape, dtype=bool)
        for rank, name in enumerate(largest):
            values = column(self.cells, name)
            filled = pc.is_valid(values)
            if is_text(values.type):
                blank = pc.equal(pc.utf8_trim_whitespace(values), "")
                filled = pc.and_(filled, pc.fill_null(pc.invert(blank), False))
            there[:, rank] = filled.to_numpy()
            scaled = self.scaled(values.filter(filled), name, decimals)
            found[there[:, rank], rank] = np.abs(scaled) if signed else scaled
        told = self._told(largest, found, there, size.ravel()[self.at])
        top = np.zeros((int(np.prod(shape)), len(largest)), dtype=np.int64)
        given = np.zeros(len(top), dtype=bool)
        top[self.at[told]], given[self.at[told]] = found[told], True
        dense = top.reshape(*shape, len(largest))
        merged = merge_up(dense.copy(), [d.hierarchy for d in self.dimensions])
        return np.where(given.reshape(shape)[..., None], dense, merged)

    def _told(
        self,
        largest: tuple[str, ...],
        found: NDArray[np.int64],
        there: NDArray[np.bool_],
        size: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Which rows say all of their largest contributions; the others are totals, ``(rows,)``.

        Nothing in place of one means that there is no further contributor. It is believed where the
        count says so, or where the others make up the whole cell.
        """
        whole = found.sum(axis=1) >= size
        absent = ~there & ~whole[:, None]
        if self.most is not None:
            absent &= self.most[:, None] > np.arange(len(largest))
        unknown = absent.any(axis=1)
        wrong = np.flatnonzero(unknown & leaf_mask(self.dimensions).ravel()[self.at])
        if len(wrong):
            row = wrong[0]
            name = largest[int(absent[row].argmax())]
            number = Count(len(wrong))
            raise RecordError(
                lambda place: (
                    f"{number} {number:cell has|cells have} nothing in {name!r} or another column "
                    "of the largest contributions, and others do not make up the whole value "
                    f"(first in {place.named(row)}); fill {number:it|them} in. Where there are "
                    "fewer contributors, name the column of their number: count="
                )
            )
        return ~unknown

    def _possible(
        self,
        top: NDArray[np.int64],
        summed: NDArray[np.int64],
        changed: NDArray[np.bool_],
        signed: bool,
    ) -> tuple[NDArray[np.int64], int]:
        """Largest contributions of changed totals, from the parts where they are impossible.

        Impossible are contributions that do not fit the total, and a largest one that is
        below that of a part. How many there are is the second answer.
        """
        merged = merge_up(top.copy(), [d.hierarchy for d in self.dimensions])
        wrong = _unfit(top, summed) if not signed else (np.diff(top, axis=-1) > 0).any(axis=-1)
        wrong |= (top[..., 0] < merged[..., 0]) & (not signed)
        wrong &= changed
        return np.where(wrong[..., None], merged, top), int(wrong.sum())


def _unfit(top: NDArray[np.int64], room: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where contributions are negative, do not descend, or exceed what they are part of."""
    wrong = (top < 0).any(axis=-1) | (np.diff(top, axis=-1) > 0).any(axis=-1)
    return wrong | (top.sum(axis=-1) > room)


def _check_largest(
    dimensions: tuple[Dimension, ...],
    top: NDArray[np.int64],
    room: NDArray[np.int64],
    value: str,
) -> None:
    """Contributions must descend and must not exceed the cell they belong to."""
    wrong = _unfit(top, room)
    if wrong.any():
        cells = np.flatnonzero(wrong.ravel())
        shown = describe_some(dimensions, cells)
        number = Count(len(cells))
        raise InputError(
            f"the largest contributions of {number} {number:cell|cells} are negative, not "
            f"descending or larger than {value!r}: {shown}"
        )
