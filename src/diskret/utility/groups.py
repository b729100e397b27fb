"""Deviations by groups of cells: size, number of variables, depth; how many deviate how far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.utility.deviations import NAN

_LARGEST_POWER = 18
#: Up to this largest deviation of counts each deviation has a row of its own.
ONE_BY_ONE = 20


@dataclass(frozen=True, eq=False)
class Groups:
    """Deviations of the cells of each group whose original value is not 0.

    Parameters
    ----------
    group
        Number of each group, ascending, ``(g,)``, int64; only groups that hold a cell.
    cells
        Number of cells, ``(g,)``, int64.
    largest, mean
        Largest and mean absolute deviation in the measure's own unit, ``(g,)``, float64.
    bias
        Mean deviation with its sign.
    relative
        Mean relative deviation; 0.05 are 5 %.
    unchanged
        Share of cells that are published with the original value.
    """

    group: NDArray[np.int64]
    cells: NDArray[np.int64]
    largest: NDArray[np.float64]
    mean: NDArray[np.float64]
    bias: NDArray[np.float64]
    relative: NDArray[np.float64]
    unchanged: NDArray[np.float64]

    @property
    def columns(self) -> dict[str, NDArray[np.int64] | NDArray[np.float64]]:
        """Name → figures of each group, without `group`."""
        names = ("cells", "largest", "mean", "bias", "relative", "unchanged")
        return {name: getattr(self, name) for name in names}


def by_group(
    group: NDArray[np.int64],
    original: NDArray[np.int64],
    protected: NDArray[np.int64],
    decimals: int = 0,
) -> Groups:
    """Figures of the deviations, see `deviations`, in each group of cells, numbered from 0."""
    there = original != 0
    group, before, after = group[there], original[there], protected[there]
    unit = 10.0**decimals
    signed = (after - before) / unit
    size = np.abs(signed)
    cells = np.bincount(group).astype(np.int64)
    some = np.flatnonzero(cells)
    number = cells[some]
    largest = np.zeros(len(cells))
    np.maximum.at(largest, group, size)

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(group, values, minlength=len(cells))[some] / number

    return Groups(
        group=some.astype(np.int64),
        cells=number,
        largest=largest[some],
        mean=mean(size),
        bias=mean(signed),
        relative=mean(size / (np.abs(before) / unit)),
        unchanged=mean((size == 0).astype(np.float64)),
    )


def size_class(original: NDArray[np.int64], decimals: int = 0) -> NDArray[np.int64]:
    """Number of digits before the point: 1 for 1 to 9, 2 for 10 to 99; 0 below 1.

    The classes of Höhne's tables of deviations for SAFE. Values count without their sign.

    >>> size_class(np.array([1, 9, 10, -99, 100, 99_999])).tolist()
    [1, 1, 2, 2, 3, 5]
    """
    powers = 10 ** np.arange(decimals, _LARGEST_POWER + 1, dtype=np.int64)
    return np.searchsorted(powers, np.abs(original), side="right").astype(np.int64)


def size_bounds(classes: NDArray[np.int64], decimals: int = 0) -> tuple[list[float], list[float]]:
    """Smallest and largest value of size classes, in the measure's own unit.

    >>> size_bounds(np.array([1, 2]))
    ([1, 10], [9, 99])
    """
    unit = 10**decimals
    low = [10 ** (int(number) - 1) * unit if number else 1 for number in classes]
    high = [10 ** int(number) * unit - 1 for number in classes]
    if not decimals:
        return list(low), list(high)
    return [value / unit for value in low], [value / unit for value in high]


def size_table(groups: Groups, decimals: int = 0) -> pa.Table:
    """One row for each size class: its bounds, and the figures of its cells."""
    kind = pa.float64() if decimals else pa.int64()
    bounds = zip(("from", "to"), size_bounds(groups.group, decimals), strict=True)
    return pa.table({**{name: pa.array(ends, kind) for name, ends in bounds}, **groups.columns})


@dataclass(frozen=True, eq=False)
class DeviationTable:
    """How many cells deviate by how much, for each number of variables: SAFE's second table.

    Only cells whose original value is not 0, as there.

    Parameters
    ----------
    bound
        Largest deviation of each row in the measure's own unit, ``(r,)``, float64. A row holds
        the cells that deviate by more than the row before and at most by this.
    dimension
        Number of variables that are not at their total, one a column, ``(c,)``, int64.
    cells
        Number of cells, ``(r, c)``, int64.
    """

    bound: NDArray[np.float64]
    dimension: NDArray[np.int64]
    cells: NDArray[np.int64]

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of cells of each column, ``(c,)``."""
        return self.cells.sum(axis=0)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the cells of each column that deviate at most by each bound, ``(r, c)``."""
        return np.cumsum(self.cells, axis=0) / self.totals

    @property
    def all_shares(self) -> NDArray[np.float64]:
        """The same for all columns together, ``(r,)``."""
        together = self.cells.sum(axis=1)
        total = int(together.sum())
        return np.cumsum(together) / total if total else np.full(len(together), NAN)


def deviation_table(
    dimension: NDArray[np.int64],
    original: NDArray[np.int64],
    protected: NDArray[np.int64],
    decimals: int = 0,
) -> DeviationTable:
    """Cells by deviation and number of variables.

    `dimension`: number of variables of each cell that are not at their total, ``(cells,)``; the
    rest as for `deviations`.

    Höhne, *SAFE – a method for anonymising the German Census* (UNECE work session, Tarragona).
    Counts that deviate by no more than 20 have a row for each deviation; else rows go up by 1,
    2, 5, 10, 20, 50, …

    >>> two = deviation_table(np.array([1, 1, 2]), np.array([4, 6, 9]), np.array([5, 6, 7]))
    >>> two.bound.tolist(), two.cells.tolist(), two.shares.tolist()
    ([0.0, 1.0, 2.0], [[1, 0], [1, 0], [0, 1]], [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0]])
    """
    there = original != 0
    size = np.abs(protected[there] - original[there])
    group = dimension[there]
    bounds = _bounds(int(size.max(initial=0)), decimals)
    row = np.searchsorted(bounds, size, side="left")
    columns = int(group.max(initial=-1)) + 1
    cells = np.bincount(row * columns + group, minlength=len(bounds) * columns)
    cells = cells.reshape(len(bounds), columns)
    some = np.flatnonzero(cells.any(axis=0))
    return DeviationTable(bounds / 10.0**decimals, some.astype(np.int64), cells[:, some])


def cells_by_deviation(table: DeviationTable) -> pa.Table:
    """One row for each deviation and number of variables."""
    rows, columns = table.cells.shape
    return pa.table(
        {
            "deviation": np.repeat(table.bound, columns),
            "dimension": np.tile(table.dimension, rows),
            "cells": table.cells.ravel(),
            "share": table.shares.ravel(),
        }
    )


def _bounds(largest: int, decimals: int) -> NDArray[np.int64]:
    """Largest deviations of the rows in scaled units, the last of them at least `largest`."""
    if not decimals and largest <= ONE_BY_ONE:
        return np.arange(largest + 1, dtype=np.int64)
    steps = [0, *(digit * 10**power for power in range(_LARGEST_POWER) for digit in (1, 2, 5))]
    enough = next(i for i, step in enumerate(steps) if step >= largest)
    return np.array(steps[: enough + 1], dtype=np.int64)
