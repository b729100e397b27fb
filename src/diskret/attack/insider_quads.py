"""Moves of four cells, found by what two pairs of cells have in common.

Where two cells share an equation, one can rise by as much as the other falls (or both rise, if one
is a total of the other), and other equations change. Another pair that changes the same ones makes
up for it. What a pair changes is told by one number, so pairs that fit are found by sorting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.insider_moves import entries

#: With more pairs of cells that share an equation the programmes alone are asked.
_MOST = 400_000
#: About so many moves of a cell are looked at.
_EACH = 20_000
#: So many cells without any such move, and the others are not looked at.
_PATIENCE = 30


class Quads:
    """The moves of four cells, of which each moves as far as the others.

    matrix: equations ``matrix @ move = 0`` with entries 1 and −1, ``(m, n)``.
    """

    def __init__(self, matrix: sparse.csr_array):
        self._by_cell = sparse.csc_array(matrix)
        self._made = False
        self._patience = _PATIENCE
        self._matrix = matrix
        self._of: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def moves(self, cell: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells of moves in which a cell rises, itself first, and the way of each, ``(q, 4)``.

        Not all if there are very many, and none that consist of moves of two cells. What is told
        of them may be wrong, though hardly ever: see `holds`.
        """
        if not self._made:
            self._make()
        if self._patience <= 0:
            return _NONE, _NONE
        if cell not in self._of:
            found = self._around(cell)
            self._patience = _PATIENCE if len(found[0]) else self._patience - 1
            self._of[cell] = found
        return self._of[cell]

    def holds(self, cells: NDArray[np.int64], signs: NDArray[np.int64]) -> bool:
        """Whether a move keeps to all equations."""
        entry, again = entries(self._by_cell, cells)
        step = self._by_cell.data[entry] * signs[again]
        rows, place = np.unique(self._by_cell.indices[entry], return_inverse=True)
        return not np.bincount(place, step, len(rows)).any()

    def _make(self) -> None:
        self._made = True
        matrix, sizes = self._matrix, np.diff(self._matrix.indptr).astype(np.int64)
        if int((sizes * (sizes - 1) // 2).sum()) > _MOST:
            self._patience = 0
            return
        # every number below is a sum of random ones modulo 2^64
        mark = np.random.default_rng(1).integers(0, 2**63, matrix.shape[0], dtype=np.int64)
        change = np.zeros(matrix.shape[1], dtype=np.int64)
        row = np.repeat(np.arange(matrix.shape[0]), sizes)
        np.add.at(change, matrix.indices, np.where(matrix.data > 0, mark[row], -mark[row]))
        first, second, way = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, int)]
        for size in np.unique(sizes[sizes > 1]).tolist():
            at = matrix.indptr[:-1][sizes == size][:, None] + np.arange(size)
            cell, sign = matrix.indices[at], matrix.data[at]
            i, j = np.triu_indices(size, 1)
            first.append(cell[:, i].ravel())
            second.append(cell[:, j].ravel())
            way.append((-sign[:, i] * sign[:, j]).ravel())
        self._first, self._second, self._way = map(np.concatenate, (first, second, way))
        key = change[self._first] + self._way * change[self._second]
        self._back = np.where(key < 0, -1, 1)
        key = key * self._back
        self._order = np.argsort(key, kind="stable")
        key_sorted = key[self._order]
        self._start = np.searchsorted(key_sorted, key)
        self._number = np.searchsorted(key_sorted, key, side="right") - self._start
        self._number[key == 0] = 0  # moves of two cells by themselves are left to the programmes
        both = np.concatenate((self._first, self._second))
        self._pairs = np.argsort(both, kind="stable")
        self._pairs_of = np.searchsorted(both[self._pairs], np.arange(matrix.shape[1] + 1))

    def _around(self, cell: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        own = self._pairs[self._pairs_of[cell] : self._pairs_of[cell + 1]] % len(self._first)
        number = np.minimum(self._number[own], max(1, _EACH // max(1, len(own))))
        again = np.repeat(np.arange(len(own)), number)
        before = np.cumsum(number) - number
        other = self._order[np.arange(len(again)) + (self._start[own] - before)[again]]
        own = own[again]
        turned = self._first[own] != cell
        partner = np.where(turned, self._first[own], self._second[own])
        # the cell rises by one: what the pair changes is that of its first cell or turned round
        rising = np.where(turned, self._way[own], 1)
        taken = -rising * self._back[own] * self._back[other]
        cells = np.stack(
            (np.full(len(own), cell), partner, self._first[other], self._second[other]), axis=1
        )
        ways = np.stack(
            (np.ones_like(own), self._way[own], taken, taken * self._way[other]), axis=1
        )
        ordered = np.sort(cells, axis=1)
        kept = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
        return cells[kept], ways[kept]


_NONE = np.zeros((0, 4), dtype=np.int64)
