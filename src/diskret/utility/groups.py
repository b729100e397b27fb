"""Deviations by groups of cells: size, number of variables, depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LARGEST_POWER = 18


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
    """Figures of the deviations in each group of cells.

    Parameters
    ----------
    group
        Group of each cell, small whole numbers from 0 on, ``(cells,)``, int64.
    original, protected, decimals
        As for `diskret.utility.deviations.deviations`.

    Examples
    --------
    >>> found = by_group(np.array([1, 1, 3]), np.array([4, 6, 50]), np.array([5, 3, 50]))
    >>> found.group.tolist(), found.cells.tolist(), found.mean.tolist()
    ([1, 3], [2, 1], [2.0, 0.0])
    """
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

    Examples
    --------
    >>> size_class(np.array([1, 9, 10, -99, 100, 99_999])).tolist()
    [1, 1, 2, 2, 3, 5]
    """
    powers = 10 ** np.arange(decimals, _LARGEST_POWER + 1, dtype=np.int64)
    return np.searchsorted(powers, np.abs(original), side="right").astype(np.int64)


def size_bounds(classes: NDArray[np.int64], decimals: int = 0) -> tuple[list[float], list[float]]:
    """Smallest and largest value of size classes, in the measure's own unit.

    Examples
    --------
    >>> size_bounds(np.array([1, 2]))
    ([1, 10], [9, 99])
    """
    unit = 10**decimals
    low = [10 ** (int(number) - 1) * unit if number else 1 for number in classes]
    high = [10 ** int(number) * unit - 1 for number in classes]
    if not decimals:
        return list(low), list(high)
    return [value / unit for value in low], [value / unit for value in high]
