"""Answers whose fractions nobody can tell have neighbours whose fractions are powers of two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from suppression_problems import cost_of, flat, is_safe, problem_of, with_totals

from diskret.suppression import changes, search, sequential
from diskret.suppression.changes import Part, checked
from diskret.suppression.near_fraction import near_fraction
from diskret.suppression.search import Search


def part(equations: np.ndarray, room: np.ndarray) -> Part:
    """What can move by as much up as down, all of it connected."""
    m, k = equations.shape
    return Part(
        np.arange(k),
        sparse.csr_array(equations.astype(np.int64)),
        room.astype(np.float64),
        room.astype(np.float64),
        np.zeros(k, dtype=np.int64),
        np.zeros(m, dtype=np.int64),
        False,
        1.0,
    )


@given(st.integers(0, 10**6))
def test_what_is_found_is_exactly_balanced_and_moves_as_far(seed: int):
    """A cube of cells that keep all their sums, a movement of which is rounded to eighths."""
    random = np.random.default_rng(seed)
    sizes = (2, 3, 3)
    number = np.arange(18).reshape(sizes)
    lines = [
        line for axis in range(3) for line in np.moveaxis(number, axis, -1).reshape(-1, sizes[axis])
    ]
    equations = np.zeros((len(lines), 18), dtype=np.int64)
    for row, line in enumerate(lines):
        equations[row, line] = 1
    room = random.integers(5, 50, 18)
    here = part(equations, room)
    own = Search(here, np.ones(18, dtype=bool), np.ones(18))
    index, distance = int(random.integers(18)), int(random.integers(1, 4))
    inside = own.cheapest_inside(index, distance)
    assert inside is not None
    others = np.arange(18) != index
    assert np.all(np.abs(inside)[others] <= room[others] * search._INSIDE + 1e-9)
    found = near_fraction(here, inside, index)
    assert found is not None
    movement, divisor = found
    step = (movement * divisor).astype(np.int64)
    assert np.array_equal(step, movement * divisor)
    assert not np.any(equations @ step)
    assert movement[index] == distance
    assert np.abs(movement - inside).max() < 1e-3
    change = next(checked(here, movement, divisor))
    assert change.up[change.cell == index] == distance


def test_no_movement_where_whole_numbers_do_not_go_that_far():
    here = part(np.array([[2, -3]]), np.array([9, 9]))
    assert near_fraction(here, np.array([1.5, 1.0]), 1) is None
    assert near_fraction(here, np.zeros(2), 1) is None


def test_values_need_no_programme_in_whole_numbers(monkeypatch: pytest.MonkeyPatch):
    """As in large tables: no multiple tells the fractions of a vertex."""
    trees = [flat(3), flat(3), flat(3)]
    leaves = np.random.default_rng(3).integers(1, 40, (3, 3, 3)) * 1_000 + 7
    problem = problem_of(with_totals(leaves, trees), trees, minimum=9_000, integer=False)
    usual = sequential(problem)
    whole: list[int] = []

    def nothing_found(*_: object) -> None:
        whole.append(1)

    monkeypatch.setattr(changes, "_MULTIPLES", ())
    monkeypatch.setattr(changes, "common_denominator", lambda _: None)
    monkeypatch.setattr(Search, "cheapest_whole", nothing_found)
    found = sequential(problem)
    assert is_safe(problem, found.suppressed)
    assert not whole
    assert cost_of(problem, usual.suppressed) > 0
    assert cost_of(problem, found.suppressed) <= 1.5 * cost_of(problem, usual.suppressed)
