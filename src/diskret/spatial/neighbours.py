"""How cells of a map resemble their neighbours: Moran's I, Getis and Ord's G*."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

#: Which cells are neighbours: those with a common side, or with a common corner, too.
Neighbours = Literal["rook", "queen"]
_STEPS = {
    "rook": ((0, 1), (1, 0), (0, -1), (-1, 0)),
    "queen": ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)),
}


def sums(values: NDArray[np.float64], neighbours: Neighbours) -> NDArray[np.float64]:
    """Sum of each cell's neighbours; beyond the edge there is nothing.

    >>> sums(np.eye(3), "rook")[0].tolist()
    [0.0, 2.0, 0.0]
    """
    rows, columns = values.shape
    around = np.zeros((rows + 2, columns + 2))
    around[1:-1, 1:-1] = values
    found = np.zeros_like(values)
    for down, right in _STEPS[neighbours]:
        found += around[1 + down : rows + 1 + down, 1 + right : columns + 1 + right]
    return found


def moran(
    values: NDArray[np.float64], land: NDArray[np.bool_], neighbours: Neighbours = "queen"
) -> float:
    """Moran's I of the cells of the land, the weights of each cell's neighbours adding up to 1.

    Cells without neighbours have no weights. NaN if all values are equal, or none has neighbours.

    Parameters
    ----------
    values
        Of the cells, ``(rows, columns)``.
    land
        Which of them belong to the map, the same shape.
    neighbours
        ``"queen"``: with a common corner or side; ``"rook"``: with a common side.

    References
    ----------
    P. A. P. Moran (1950), Notes on continuous stochastic phenomena, Biometrika 37, 17-23.
    """
    number, total = int(land.sum()), float(values[land].sum())
    if not number:
        return math.nan
    away = np.where(land, values - total / number, 0.0)
    beside = sums(land.astype(np.float64), neighbours)
    weighed = land & (beside > 0)
    square = float((away**2).sum())
    if not weighed.any() or square <= _equal(values, land):
        return math.nan
    lag = sums(away, neighbours) / np.maximum(beside, 1)
    return float(number / weighed.sum() * (away * lag)[weighed].sum() / square)


def getis_ord(
    values: NDArray[np.float64], land: NDArray[np.bool_], neighbours: Neighbours = "queen"
) -> NDArray[np.float64]:
    """G* of each cell: how far the sum of it and its neighbours lies above what is expected.

    In standard deviations; NaN beyond the land, and everywhere if all values are equal.

    Parameters
    ----------
    values, land, neighbours
        As for `moran`.

    References
    ----------
    A. Getis and J. K. Ord (1992), The analysis of spatial association by use of distance
    statistics, Geographical Analysis 24, 189-206; J. K. Ord and A. Getis (1995), Local spatial
    autocorrelation statistics, Geographical Analysis 27, 286-306 (equation 14 with the cell
    itself).
    """
    number = int(land.sum())
    inside = np.where(land, values, 0.0)
    mean = float(inside.sum()) / max(number, 1)
    square = float(((inside - mean)[land] ** 2).sum())
    if number < 2 or square <= _equal(values, land):
        return np.full(values.shape, math.nan)
    weights = sums(land.astype(np.float64), neighbours) + land
    spread = np.maximum(number * weights - weights**2, 0) / (number - 1)
    scale = math.sqrt(square / number) * np.sqrt(spread)
    over = sums(inside, neighbours) + inside - mean * weights
    found = np.divide(over, scale, out=np.zeros_like(over), where=scale > 0)
    return np.where(land, found, math.nan)


def _equal(values: NDArray[np.float64], land: NDArray[np.bool_]) -> float:
    """Squares that equal values may have by rounding errors alone."""
    return float((values[land] ** 2).sum()) * 1e-20
