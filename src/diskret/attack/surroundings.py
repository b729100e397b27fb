"""Which unknowns are near each other: those that share equations, and their neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class Surroundings:
    """The unknowns and equations of a component as a graph to walk in.

    Parameters
    ----------
    matrix
        A row for each equation, a column for each unknown, ``(m, n)``.

    Examples
    --------
    Three equations in a chain: 0 + 1, 1 + 2 and 2 + 3.

    >>> chain = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]))
    >>> near = Surroundings(chain)
    >>> near.rows(np.array([1])).tolist(), near.unknowns(np.array([0, 1])).tolist()
    ([0, 1], [0, 1, 2])
    >>> near.rows_among(np.array([0, 1, 2])).tolist()
    [0, 1]
    >>> near.grown(np.array([0]), 3).tolist()
    [0, 1, 2]
    >>> [block.tolist() for block in near.blocks(2)]
    [[0, 1], [2, 3]]
    """

    def __init__(self, matrix: sparse.csr_array):
        self._by_row = matrix
        self._by_column = sparse.csc_array(matrix)

    def rows(self, unknowns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The equations in which some of these stand, ascending."""
        return np.unique(_entries(self._by_column, unknowns))

    def unknowns(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The unknowns of these equations, ascending."""
        return np.unique(_entries(self._by_row, rows))

    def rows_among(self, unknowns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The equations in which nothing but these stands, ascending."""
        rows, inside = np.unique(_entries(self._by_column, unknowns), return_counts=True)
        return rows[inside == np.diff(self._by_row.indptr)[rows]]

    def grown(
        self, start: NDArray[np.int64], size: int, taken: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """So many unknowns around some, breadth first, or fewer if there are no more; ascending.

        Those that are `taken`, bool, ``(n,)``, are left out and not walked through.
        """
        inside = np.zeros(self._by_row.shape[1], dtype=bool) if taken is None else taken.copy()
        inside[start] = True
        found, ring = [start], start
        lacking = size - len(start)
        while lacking > 0 and len(ring):
            reached = _entries(self._by_row, self.rows(ring))
            reached = reached[~inside[reached]]
            _, first = np.unique(reached, return_index=True)
            ring = reached[np.sort(first)][:lacking]
            inside[ring] = True
            found.append(ring)
            lacking -= len(ring)
        return np.sort(np.concatenate(found))

    def blocks(self, size: int) -> list[NDArray[np.int64]]:
        """All unknowns in blocks of about `size`, most of them neighbours of each other."""
        taken = np.zeros(self._by_row.shape[1], dtype=bool)
        blocks: list[NDArray[np.int64]] = []
        first = 0
        while first < len(taken):
            if taken[first]:
                first += 1
                continue
            block = self.grown(np.array([first]), size, taken)
            taken[block] = True
            # what is left between blocks comes in crumbs, which are joined
            if blocks and len(blocks[-1]) + len(block) <= size:
                blocks[-1] = np.sort(np.concatenate((blocks[-1], block)))
            else:
                blocks.append(block)
        return blocks


def _entries(matrix: sparse.csr_array | sparse.csc_array, lines: NDArray[np.int64]):
    """The indices of some lines of a matrix, one line after the other, repetitions included."""
    start, stop = matrix.indptr[lines], matrix.indptr[lines + 1]
    length = (stop - start).astype(np.int64)
    skipped = np.repeat(start - np.append(0, np.cumsum(length)[:-1]), length)
    return matrix.indices[skipped + np.arange(int(length.sum()))].astype(np.int64)
