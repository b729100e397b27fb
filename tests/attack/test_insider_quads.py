"""Moves of four cells."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse

from diskret.attack import insider_quads
from diskret.attack.insider_quads import Quads


def table(rows, columns):
    """Equations of a table with totals, flat: a total first along both variables."""
    number = np.arange((rows + 1) * (columns + 1)).reshape(rows + 1, columns + 1)
    lines = [*number, *number.T]
    matrix = np.zeros((len(lines), number.size), dtype=np.int64)
    for row, line in enumerate(lines):
        matrix[row, line[0]] = 1
        matrix[row, line[1:]] = -1
    return matrix


def all_moves(matrix, cell):
    """By trying everything."""
    others = [c for c in range(matrix.shape[1]) if c != cell]
    for three in combinations(others, 3):
        cells = [cell, *three]
        for ways in product([1, -1], repeat=3):
            if not (matrix[:, cells] @ [1, *ways]).any():
                yield frozenset(zip(cells, [1, *ways], strict=True))


@pytest.mark.parametrize("hidden", [range(12), [1, 2, 5, 6, 9, 10], [0, 1, 4, 5, 6, 8, 10]])
def test_all_of_them_are_found(hidden):
    matrix = table(2, 3)[:, list(hidden)]
    matrix = matrix[np.abs(matrix).sum(axis=1) > 0]
    quads = Quads(sparse.csr_array(matrix))
    for cell in range(matrix.shape[1]):
        cells, ways = quads.moves(cell)
        found = {
            frozenset(zip(c, w, strict=True))
            for c, w in zip(cells.tolist(), ways.tolist(), strict=True)
        }
        assert found == set(all_moves(matrix, cell))
        assert all(quads.holds(c, w) for c, w in zip(cells, ways, strict=True))


def test_what_keeps_to_no_equation_is_refused():
    quads = Quads(sparse.csr_array(table(2, 3)))
    assert not quads.holds(np.array([5, 6, 9, 10]), np.array([1, -1, 1, -1]))


def test_moves_of_two_cells_are_left_to_programmes():
    quads = Quads(sparse.csr_array(np.array([[1, -1] * 40])))
    assert not len(quads.moves(0)[0])


def test_very_many_are_cut_short():
    quads = Quads(sparse.csr_array(table(40, 40)))
    cells, ways = quads.moves(45)
    assert 100 < len(cells) < 30_000
    assert all(quads.holds(c, w) for c, w in zip(cells[:50], ways[:50], strict=True))


@pytest.mark.parametrize(("most", "found"), [(30, True), (29, False)])
def test_with_more_pairs_than_are_looked_at_there_are_none(monkeypatch, most, found):
    """Three lines of four cells and four of three: eighteen and twelve pairs."""
    monkeypatch.setattr(insider_quads, "_MOST", most)
    cells, ways = Quads(sparse.csr_array(table(2, 3))).moves(5)
    assert (len(cells) > 0) == (len(ways) > 0) == found


def test_after_some_cells_without_any_the_others_are_not_looked_at(monkeypatch):
    monkeypatch.setattr(insider_quads, "_PATIENCE", 2)
    alone = np.zeros((7, 15), dtype=np.int64)
    alone[:, :12] = table(2, 3)
    quads = Quads(sparse.csr_array(alone))
    assert len(quads.moves(5)[0]) and not len(quads.moves(12)[0]) and len(quads.moves(6)[0])
    assert not len(quads.moves(13)[0]) and not len(quads.moves(14)[0])
    assert not len(quads.moves(9)[0])
