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
        Share of cells that are in another tenth of the order than before, however equal values
        are ordered.
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
    first, last = _places(original[there])
    first_after, last_after = _places(protected[there])
    elsewhere = (_tenth(last_after) < _tenth(first)) | (_tenth(first_after) > _tenth(last))
    return Ranks(
        correlation=_correlation(first + last, first_after + last_after),
        moved=float(np.mean(elsewhere)),
    )


def _places(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last place, from 0 on, that each value and those equal to it take in the order."""
    _, at, number = np.unique(values, return_inverse=True, return_counts=True)
    behind = np.cumsum(number)
    return (behind - number)[at], (behind - 1)[at]


def _tenth(place: NDArray[np.int64]) -> NDArray[np.int64]:
    return place * _TENTHS // len(place)


def _correlation(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Of mean ranks, here doubled, so that they are whole."""
    one, other = before - before.mean(), after - after.mean()
    scale = np.sqrt(np.sum(one**2) * np.sum(other**2))
    return float(np.sum(one * other) / scale) if scale else NAN
