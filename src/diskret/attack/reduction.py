"""Fewer unknowns: bounds are tightened, some cells are known exactly, others move only together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, UNKNOWN
from diskret.graphs import connected

_SWEEPS = 50


@dataclass(frozen=True, eq=False)
class Reduction:
    """The same tables in fewer unknowns ``z``: cells are ``link @ z + offset``.

    matrix, right: what remains of the equations, in ``z``.
    lower, upper: bounds of ``z``, tightened by propagation.
    link: ``(cells, unknowns)``, int64: 1 or −1 in the row of each cell, nothing for a cell that is
        known exactly.
    offset: ``(cells,)``, int64.
    impossible: cells that no table can fill; all else is meaningless unless this is empty.
    """

    matrix: sparse.csr_array
    right: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    link: sparse.csr_array
    offset: NDArray[np.int64]
    impossible: NDArray[np.int64]


def reduce(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> Reduction:
    """Take out the cells that are known and join those that an equation of two ties together."""
    all_rows, row = matrix, np.arange(matrix.shape[0])
    n = matrix.shape[1]
    link = sparse.csr_array(sparse.eye_array(n, dtype=np.int64))
    offset = np.zeros(n, dtype=np.int64)
    while True:
        lower, upper = propagate(matrix, right, lower, upper)
        entries = np.diff(matrix.indptr)
        nothing_left = (entries == 0) & (right != 0)
        crossed = lower > upper
        impossible = np.union1d(
            all_rows[row[nothing_left]].indices, link[:, np.flatnonzero(crossed)].nonzero()[0]
        )
        known = (lower == upper) & ~crossed
        ties = _ties(matrix, right, known)
        if len(impossible) or not (known.any() or len(ties)):
            return Reduction(matrix, right, lower, upper, link, offset, impossible)

        sign, shift, leader = _follow(ties, len(lower))
        shift = np.where(known, lower, shift)
        leads = ~known & (leader == np.arange(len(lower)))
        number = np.cumsum(leads) - 1
        free = np.flatnonzero(~known)
        step = _entries(sign[free], free, number[leader[free]], (len(lower), int(leads.sum())))

        lower, upper = _bounds_of_leaders(lower, upper, sign, shift, leader)
        lower, upper = lower[leads], upper[leads]
        right = right - matrix @ shift
        matrix = sparse.csr_array(matrix @ step)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        offset = offset + link @ shift
        link = sparse.csr_array(link @ step)
        kept = np.flatnonzero((np.diff(matrix.indptr) > 0) | (right != 0))
        matrix, right, row = matrix[kept], right[kept], row[kept]


def labels(matrix: sparse.csr_array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """A number for each connected component: of the columns, and of the rows."""
    m = matrix.shape[0]
    label = connected(sparse.block_array([[sparse.csr_array((m, m)), matrix], [matrix.T, None]]))
    return label[m:], label[:m]


def _ties(
    matrix: sparse.csr_array, right: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Pairs ``x_j = sign * x_i + shift`` as rows ``(i, j, sign, shift)``, each pair once."""
    first = matrix.indptr[:-1][np.diff(matrix.indptr) == 2]
    c = right[np.diff(matrix.indptr) == 2]
    i, j = matrix.indices[first], matrix.indices[first + 1]
    a, b = matrix.data[first], matrix.data[first + 1]
    usable = (np.abs(a) == 1) & (np.abs(b) == 1) & ~known[i] & ~known[j]
    ties = np.stack((i, j, -a * b, b * c), axis=1)[usable].astype(np.int64)
    _, once = np.unique(ties[:, 0] * len(known) + ties[:, 1], return_index=True)
    return ties[once]


def _follow(
    ties: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Express all cells by the leader of their group: ``x = sign * x_leader + shift``."""
    from scipy.sparse.csgraph import breadth_first_order

    i, j, relation, distance = ties.T
    # an extra node above one cell of each group: a search from there reaches everyone
    group = connected(sparse.csr_array((np.ones(len(ties)), (i, j)), shape=(n, n)))
    _, leaders = np.unique(group, return_index=True)
    above = np.concatenate((i, np.full(len(leaders), n)))
    below = np.concatenate((j, leaders))
    graph = sparse.csr_array((np.ones(len(above)), (above, below)), shape=(n + 1, n + 1))
    _, leader = breadth_first_order(graph, n, directed=False)
    leader = leader[:n].astype(np.int64)
    leader[leaders] = leaders

    cell = np.flatnonzero(leader != np.arange(n))
    near, far = np.minimum(cell, leader[cell]), np.maximum(cell, leader[cell])
    tie = np.searchsorted(i * n + j, near * n + far)
    sign, shift = np.ones(n, np.int64), np.zeros(n, np.int64)
    sign[cell] = relation[tie]
    shift[cell] = np.where(cell == far, distance[tie], -relation[tie] * distance[tie])
    while not np.array_equal(leader, leader[leader]):  # twice as far up each time
        shift += sign * shift[leader]
        sign *= sign[leader]
        leader = leader[leader]
    return sign, shift, leader


def _bounds_of_leaders(
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    sign: NDArray[np.int64],
    shift: NDArray[np.int64],
    leader: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The narrowest bounds that the cells of each group put on their leader."""
    low = np.where(lower > -UNKNOWN, lower - shift, -UNKNOWN)
    high = np.where(upper < UNKNOWN, upper - shift, UNKNOWN)
    narrow_low, narrow_high = lower.copy(), upper.copy()
    np.maximum.at(narrow_low, leader, np.where(sign > 0, low, -high))
    np.minimum.at(narrow_high, leader, np.where(sign > 0, high, -low))
    return narrow_low, narrow_high


def _entries(
    value: NDArray[np.int64],
    row: NDArray[np.int64],
    column: NDArray[np.int64],
    shape: tuple[int, int],
) -> sparse.csr_array:
    return sparse.csr_array((value, (row, column)), shape=shape, dtype=np.int64)


def propagate(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tighten bounds by what each equation leaves for a cell when all others give way.

    The new bounds follow from the old ones: no table is lost. A lower bound above its upper
    one shows a contradiction.

    matrix, right: equations ``matrix @ x = right`` with whole coefficients, ``(m, n)`` and
        ``(m,)``.
    lower, upper: whole bounds, ``(n,)``, int64; ``-UNKNOWN`` and ``UNKNOWN`` where there is none.

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
