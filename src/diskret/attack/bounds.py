"""What bounds a suppressed cell before any programme is solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT

_SWEEPS = 50


def propagate(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tighten bounds by what each equation leaves for a cell when all others give way.

    The new bounds follow from the old ones: no table is lost. A lower bound above its upper
    one shows a contradiction.

    Parameters
    ----------
    matrix, right
        Equations ``matrix @ x = right`` with whole coefficients, ``(m, n)`` and ``(m,)``.
    lower, upper
        Whole bounds, ``(n,)``, int64; ``-UNKNOWN`` and ``UNKNOWN`` where there is none.

    Examples
    --------
    >>> row = sparse.csr_array(np.array([[1, 1]]))
    >>> low, high = propagate(row, np.array([7]), np.zeros(2, np.int64), np.array([5, 99]))
    >>> low.tolist(), high.tolist()
    ([0, 2], [5, 7])
    """
    lower, upper = lower.copy(), upper.copy()
    factor, column = matrix.data, matrix.indices
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    rising, size = factor > 0, np.abs(factor)
    # a whole row of terms below this can be added up; wider bounds say nothing here
    cap = LIMIT // (2 * int(np.diff(matrix.indptr).max(initial=0)) + 2)
    for _ in range(_SWEEPS):
        before = lower.copy(), upper.copy()
        low, high = lower[column], upper[column]
        most, can_rise = _remainder(row, right, factor, np.where(rising, low, high), cap)
        least, can_fall = _remainder(row, right, factor, np.where(rising, high, low), cap)
        # rounded outwards where a cell counts more than once
        ceiling = -(-np.where(rising, most, -least) // size)
        floor = np.where(rising, least, -most) // size
        limits = np.where(rising, can_rise, can_fall) & (np.abs(ceiling) < cap)
        np.minimum.at(upper, column[limits], ceiling[limits])
        limits = np.where(rising, can_fall, can_rise) & (np.abs(floor) < cap)
        np.maximum.at(lower, column[limits], floor[limits])
        if np.array_equal(lower, before[0]) and np.array_equal(upper, before[1]):
            break
    return lower, upper


def _remainder(
    row: NDArray[np.int64],
    right: NDArray[np.int64],
    factor: NDArray[np.int64],
    bound: NDArray[np.int64],
    cap: int,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each entry the right side less all other terms at their bounds, and if these exist."""
    known = np.abs(bound) < cap // np.abs(factor)
    term = np.where(known, factor * np.where(known, bound, 0), 0)
    total, open_ = np.zeros(len(right), np.int64), np.zeros(len(right), np.int64)
    np.add.at(total, row, term)
    np.add.at(open_, row, ~known)
    return right[row] - (total[row] - term), open_[row] - ~known == 0
