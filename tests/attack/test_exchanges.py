"""Exchanges of four cells keep every equation, and none of a complete table is missing."""

from itertools import combinations

import numpy as np
from scipy import sparse

from diskret.attack.exchanges import exchanges


def test_all_rectangles_of_a_table_are_found():
    rows, columns = 4, 5
    cell = np.arange(rows * columns).reshape(rows, columns)
    matrix = np.zeros((rows + columns, cell.size), dtype=np.int64)
    for i in range(rows):
        matrix[i, cell[i]] = 1
    for j in range(columns):
        matrix[rows + j, cell[:, j]] = -1  # as where the total is on the other side
    found = exchanges(sparse.csr_array(matrix))
    assert not np.any(matrix @ found.T)
    expected = {
        tuple(sorted((cell[a, c], cell[a, d], cell[b, c], cell[b, d])))
        for a, b in combinations(range(rows), 2)
        for c, d in combinations(range(columns), 2)
    }
    assert {tuple(np.flatnonzero(move)) for move in found} == expected


def test_signs_that_do_not_close_are_no_exchange():
    matrix = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, -1]])
    assert not len(exchanges(sparse.csr_array(matrix)))
