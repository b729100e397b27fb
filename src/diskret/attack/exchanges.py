"""Moves of four cells that keep every total: the cheapest alternative tables there are.

A cell that stands in two equations connects them, as an edge connects nodes. Along a circle of
edges, what one cell gains the next one loses, so that nothing else moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Pairs of cells that share an equation, and pairs of these, that are looked at.
_MOST = 20_000
#: Numbers in the matrix of moves.
_ROOM = 2**23


def exchanges(matrix: sparse.csr_array) -> NDArray[np.int64]:
    """Moves by 1 and −1 of four cells each that keep all equations, ``(moves, k)``.

    Parameters
    ----------
    matrix
        Equations with entries 1 and −1, ``(m, k)``; cells in more or fewer than two stay.

    Examples
    --------
    Two rows and two columns:

    >>> square = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    >>> exchanges(sparse.csr_array(square)).tolist()
    [[1, -1, -1, 1]]
    """
    k = matrix.shape[1]
    columns = sparse.csc_array(matrix)
    two = np.flatnonzero(np.diff(columns.indptr) == 2)
    at = columns.indptr[two][:, None] + np.arange(2)
    node, sign = columns.indices[at].astype(np.int64), columns.data[at].astype(np.int64)
    # each cell is walked along in both directions
    start, end = np.append(node[:, 0], node[:, 1]), np.append(node[:, 1], node[:, 0])
    leave, reach = np.append(sign[:, 0], sign[:, 1]), np.append(sign[:, 1], sign[:, 0])
    cell = np.append(two, two)
    first, second = _pairs(end, start, cell)
    if len(first) > _MOST:
        return np.zeros((0, k), dtype=np.int64)
    # u from e over f to v and on to g: what u gains v loses, as seen by f
    e, g = start[first], end[second]
    kept = e < g
    first, second, e, g = first[kept], second[kept], e[kept], g[kept]
    gain = -reach[first] * leave[second]
    one, other = _pairs(e * matrix.shape[0] + g, e * matrix.shape[0] + g, np.arange(len(e)))
    kept = one < other
    one, other = one[kept], other[kept]
    step = -(-len(one) // max(1, min(_MOST, _ROOM // max(k, 1)))) or 1
    one, other = one[::step], other[::step]
    # the other way back, by so much that the sum at e is kept; then it has to be at g
    back = -leave[first[one]] * leave[first[other]]
    closes = (gain[one] * reach[second[one]] + back * gain[other] * reach[second[other]] == 0) & (
        end[first[one]] != end[first[other]]
    )
    one, other, back = one[closes], other[closes], back[closes]
    found = np.zeros((len(one), k), dtype=np.int64)
    row = np.arange(len(one))
    found[row, cell[first[one]]] = 1
    found[row, cell[second[one]]] = gain[one]
    found[row, cell[first[other]]] = back
    found[row, cell[second[other]]] = back * gain[other]
    found = np.unique(_pointing_up(found), axis=0)
    return found[~np.any(matrix @ found.T, axis=0)]


def _pointing_up(moves: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same moves, each with its first cell rising."""
    first = (moves != 0).argmax(axis=1)
    return moves * moves[np.arange(len(moves)), first][:, None]


def _pairs(
    left: NDArray[np.int64], right: NDArray[np.int64], name: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs with the same key on both sides and different names."""
    order = np.argsort(right, kind="stable")
    begin = np.searchsorted(right[order], left)
    number = np.searchsorted(right[order], left, side="right") - begin
    one = np.repeat(np.arange(len(left)), number)
    place = np.arange(len(one)) - np.repeat(np.cumsum(number) - number, number)
    other = order[np.repeat(begin, number) + place]
    kept = name[one] != name[other]
    return one[kept], other[kept]
