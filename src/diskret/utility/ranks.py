"""What is left of the order of cells by size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.utility.deviations import NAN

_TENTHS = 10


@dataclass(frozen=True)
class Ranks:
    """The order of the cells whose original value is not 0, before and after.

    Parameters
    ----------
    correlation
        Spearman's rank correlation, ties with their mean rank; NaN where all values are equal.
    moved
        Share of cells that are in another tenth of the order than before.
    """

    correlation: float
    moved: float


def ranks(original: NDArray[np.int64], protected: NDArray[np.int64]) -> Ranks:
    """Compare the order of cells before and after.

    Parameters
    ----------
    original, protected
        Values before and after, ``(cells,)``, int64.

    Examples
    --------
    >>> ranks(np.array([1, 2, 3, 4]), np.array([2, 1, 3, 4])).correlation
    0.8
    """
    there = original != 0
    if not there.any():
        return Ranks(NAN, NAN)
    before, after = mean_ranks(original[there]), mean_ranks(protected[there])
    return Ranks(
        correlation=_correlation(before, after),
        moved=float(np.mean(_tenth(before) != _tenth(after))),
    )


def mean_ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ranks from 1 on; equal values have the mean of their ranks.

    Examples
    --------
    >>> mean_ranks(np.array([5, 3, 5])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, at, number = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(number) - (number - 1) / 2)[at]


def _tenth(rank: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.floor((rank - 0.5) * _TENTHS / len(rank))


def _correlation(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    before, after = before - before.mean(), after - after.mean()
    scale = np.sqrt(np.sum(before**2) * np.sum(after**2))
    return float(np.sum(before * after) / scale) if scale else NAN
