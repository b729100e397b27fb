"""The cells of a table, counted from its records: units, sums, largest contributions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Places = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """One grouping of records into cells: the inner cells of a table, or one of its margins.

    Parameters
    ----------
    names
        Labels of each cell.
    at
        Shape (records,), int32: the cell of each record; -1: in none.
    values
        Shape (records,): what is added up, NaN where it is missing; None: records are counted.
    unit
        Shape (records,), int32: the unit of each record; None: each record is one.
    """

    names: Places
    at: NDArray[np.int32]
    values: NDArray[np.float64] | None = None
    unit: NDArray[np.int32] | None = None

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which records are in a cell and have a value."""
        inside = self.at >= 0
        return inside if self.values is None else inside & ~np.isnan(self.values)

    @cached_property
    def contributions(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Cell and value of each unit in each cell; records of a unit are added up."""
        at = self.at[self.used].astype(np.int64)
        values = np.ones(len(at)) if self.values is None else self.values[self.used]
        if self.unit is None:
            return at, values
        unit = self.unit[self.used].astype(np.int64)
        pairs, which = np.unique(at * (int(unit.max(initial=0)) + 1) + unit, return_inverse=True)
        sums = np.bincount(which, values, len(pairs)).astype(np.float64)
        return pairs // (int(unit.max(initial=0)) + 1), sums

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Shape (cells,): how many units each cell has."""
        return np.bincount(self.contributions[0], minlength=len(self.names))

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Shape (cells,): the sum of the contributions of each cell, all taken as positive."""
        at, values = self.contributions
        return np.bincount(at, np.abs(values), len(self.names)).astype(np.float64)

    def largest(self, number: int) -> NDArray[np.float64]:
        """Shape (number, cells): the largest contributions by size; zero where there is none."""
        at, values = self.contributions
        left = np.abs(values)
        found = np.zeros((number, len(self.names)))
        for rank in range(number):
            top = np.full(len(self.names), -np.inf)
            np.maximum.at(top, at, left)
            found[rank] = np.where(np.isfinite(top), top, 0)
            is_top = np.flatnonzero((left == top[at]) & np.isfinite(left))
            first = np.full(len(self.names), -1)
            first[at[is_top[::-1]]] = is_top[::-1]
            left[first[first >= 0]] = -np.inf
        return found

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Smallest and largest contribution of each cell; infinite where there is none."""
        at, values = self.contributions
        low, high = np.full(len(self.names), np.inf), np.full(len(self.names), -np.inf)
        np.minimum.at(low, at, values)
        np.maximum.at(high, at, values)
        return low, high

    def sharing(self, value: NDArray[np.float64]) -> NDArray[np.int64]:
        """Shape (cells,): how many units of each cell have just that value."""
        at, values = self.contributions
        return np.bincount(at[values == value[at]], minlength=len(self.names))

    def beyond(self, value: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many units of each cell lie below a value of their cell, and how many above."""
        at, values = self.contributions
        below, above = at[values < value[at]], at[values > value[at]]
        return (
            np.bincount(below, minlength=len(self.names)),
            np.bincount(above, minlength=len(self.names)),
        )
