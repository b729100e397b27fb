"""Percentiles and most frequent values of cells, counted from their records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells

#: How a percentile between two values is found, as numpy, pandas and Polars call it.
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantiles(cells: Cells, share: float, interpolation: str = "linear") -> NDArray[np.float64]:
    """Shape (cells,): the value below which a share of the records lies, NaN where there is none.

    >>> cells = Cells([("a",)], np.zeros(4, np.int32), np.array([1.0, 2.0, 3.0, 10.0]))
    >>> quantiles(cells, 0.5), quantiles(cells, 0.5, "lower")
    (array([2.5]), array([2.]))
    """
    values, begins, number = cells.in_order
    some = number > 0
    place = share * (number[some] - 1)
    low, high = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    lower, higher = values[begins[some] + low], values[begins[some] + high]
    part = place - low
    if interpolation == "nearest":
        part = np.round(place) - low  # half to even, as numpy does
    elif interpolation == "nearest above":  # half up, as Polars does
        part = np.floor(place + 0.5) - low
    elif interpolation == "midpoint":
        part = np.where(part > 0, 0.5, 0.0)
    elif interpolation != "linear":
        part = np.where(part > 0, float(interpolation == "higher"), 0.0)
    found = np.full(len(number), np.nan)
    found[some] = np.where(
        part == 0, lower, np.where(part == 1, higher, lower + (higher - lower) * part)
    )
    return found


_DIGIT = 1e-12  # of a percentile: what its computation changes


@dataclass(frozen=True, eq=False)
class Divided:
    """The records of each cell in two, by a value of the cell such as a percentile.

    Parameters
    ----------
    below
        Shape (records that are used,): which lie below the value of their cell.
    way
        Shape (cells,): how far from the last value below to the next one it lies, over 0; 1: it is
        a value of records.
    ends
        Shape (2, cells): these two values; infinite where there is none.
    """

    below: NDArray[np.bool_]
    way: NDArray[np.float64]
    ends: NDArray[np.float64]


def divided(cells: Cells, value: NDArray[np.float64]) -> Divided:
    """The records of cells in two; `value`: shape (cells,), NaN where there is none.

    >>> cells = Cells([("a",)], np.zeros(4, np.int32), np.array([1.0, 2.0, 4.0, 10.0]))
    >>> found = divided(cells, np.array([2.5]))
    >>> found.below.tolist(), found.way.tolist()
    ([True, True, False, False], [0.25])
    """
    at, values = cells.records
    below = values < (value - _DIGIT * np.abs(value))[at]
    low, high = np.full(len(cells.names), -np.inf), np.full(len(cells.names), np.inf)
    np.maximum.at(low, at[below], values[below])
    np.minimum.at(high, at[~below], values[~below])
    inside = np.isfinite(low) & np.isfinite(high)
    way = np.ones(len(cells.names))
    way[inside] = (value[inside] - low[inside]) / (high[inside] - low[inside])
    return Divided(below, way, np.stack([low, high]))


def modes(cells: Cells) -> NDArray[np.float64]:
    """Shape (cells,): the most frequent value, the smallest if there are several; NaN: none."""
    values, _, number = cells.in_order
    found = np.full(len(number), np.nan)
    if not len(values):
        return found
    cell = np.repeat(np.arange(len(number)), number)
    first = np.r_[True, (values[1:] != values[:-1]) | (cell[1:] != cell[:-1])]
    at = np.flatnonzero(first)
    times = np.diff(np.r_[at, len(values)])
    order = np.lexsort((-values[at], times, cell[at]))  # the last of each cell is its mode
    found[cell[at][order]] = values[at][order]
    return found
