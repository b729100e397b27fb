"""Exact arithmetic on integer vectors: the only thing that a proof rests on."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Integers below this can be added or subtracted once without leaving int64.
LIMIT = 2**62
#: Stands for "no bound" beside integer bounds below `LIMIT`.
UNKNOWN = LIMIT

_LARGEST_DENOMINATOR = 10**9


@dataclass(frozen=True, eq=False)
class Point:
    """An exact rational vector: ``numerator / denominator``."""

    numerator: NDArray[np.int64]
    denominator: int

    def solves(
        self,
        matrix: sparse.csr_array,
        right: NDArray[np.int64],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
    ) -> bool:
        """Whether every equation ``matrix @ x = right`` and every bound holds exactly."""
        return not (
            len(broken_equations(matrix, right, self)) or len(broken_bounds(lower, upper, self))
        )


def times(vector: NDArray[np.int64], factor: int) -> NDArray[Any]:
    """``vector * factor``, in Python integers where int64 is too small.

    >>> times(np.array([2**61]), 60)
    array([138350580552821637120], dtype=object)
    """
    if float(np.abs(vector).max(initial=0)) * factor < LIMIT:
        return vector * factor
    return vector.astype(object) * factor


def product(matrix: sparse.csr_array, vector: NDArray[np.int64]) -> NDArray[Any]:
    """``matrix @ vector`` for whole numbers, in Python integers where int64 is too small.

    >>> row = sparse.csr_array(np.array([[1, -1, -1]]))
    >>> product(row, np.array([2**62, -(2**62), -(2**62)]))
    array([13835058055282163712], dtype=object)
    """
    entries = np.diff(matrix.indptr)
    largest = float(np.abs(vector).max(initial=0)) * float(np.abs(matrix.data).max(initial=0))
    if largest * int(entries.max(initial=0)) < LIMIT:
        return matrix @ vector
    terms = matrix.data.astype(object) * vector[matrix.indices].astype(object)
    sums = np.zeros(matrix.shape[0], dtype=object)
    sums[entries > 0] = np.add.reduceat(terms, matrix.indptr[:-1][entries > 0])
    return sums


def broken_equations(
    matrix: sparse.csr_array, right: NDArray[np.int64], point: Point
) -> NDArray[np.int64]:
    """Rows in which ``matrix @ x`` is not exactly `right`."""
    return np.flatnonzero(product(matrix, point.numerator) != times(right, point.denominator))


def broken_bounds(
    lower: NDArray[np.int64], upper: NDArray[np.int64], point: Point
) -> NDArray[np.int64]:
    """Entries of ``x`` that lie outside their bounds."""
    numerator, denominator = point.numerator, point.denominator
    low, high = np.flatnonzero(lower > -UNKNOWN), np.flatnonzero(upper < UNKNOWN)
    below = low[numerator[low] < times(lower[low], denominator)]
    above = high[numerator[high] > times(upper[high], denominator)]
    return np.union1d(below, above)


def common_denominator(numbers: NDArray[np.float64]) -> int | None:
    """The smallest common denominator of computed fractions, or None if there is no small one.

    >>> common_denominator(np.array([0.5, 1 / 3, 2.0]))
    6
    """
    fractions = np.unique(np.round(np.abs(numbers - np.rint(numbers)), 8))
    fractions = fractions[fractions > 1e-7]
    candidates = np.arange(1, 4097)
    multiples = candidates[:, None] * fractions
    whole = np.abs(multiples - np.rint(multiples)) < 1e-8 * (candidates[:, None] + 1)
    if not whole.any(axis=0).all():
        return None
    denominator = lcm(*candidates[np.argmax(whole, axis=0)].tolist())
    return denominator if denominator <= _LARGEST_DENOMINATOR else None
