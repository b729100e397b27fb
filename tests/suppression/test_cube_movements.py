"""Cubes: movements of a cell that keep every total, found without any programme."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from suppression_problems import REGIONS, flat, hard_problems, problem_of, with_totals

from diskret import parallel
from diskret.suppression import Problem, cubes
from diskret.suppression.changeable import changeable
from diskret.suppression.changes import Reach
from diskret.suppression.cube_kernels import Groups, Tries, _cube, _line
from diskret.suppression.cubes import _Cubes, hide_in_cubes


def hidden_by_cubes(problem: Problem):
    """Groups, what is hidden, what is shown, and the changes."""
    cells = changeable(problem)
    hidden, reach = cells.primary | cells.started, Reach(len(cells.down))
    todo = np.flatnonzero(reach.missing(cells))
    changes = hide_in_cubes(problem, cells, hidden, reach, todo)
    return cells, hidden, reach, changes


def test_the_cheapest_of_four_rectangles_is_hidden():
    """The unsafe 1 needs a rectangle; that with 5, 6 and 4 costs 15, the others 27, 20 and 25."""
    leaves = np.array([[1, 9, 5], [8, 9, 9], [6, 9, 4]])
    problem = problem_of(with_totals(leaves, [flat(3), flat(3)]), [flat(3), flat(3)], minimum=2)
    cells, hidden, reach, changes = hidden_by_cubes(problem)
    assert not reach.missing(cells).any() and len(changes) == 1
    table = cells.of_cells(hidden).reshape(4, 4)[1:, 1:]
    assert table.tolist() == [[True, False, True], [False] * 3, [True, False, True]]


def test_what_has_to_be_compiled_first_is_a_stage_of_its_own(monkeypatch: pytest.MonkeyPatch):
    def slowly(work, waiting):
        waiting()
        return work()

    told: list[tuple[str, int, int]] = []
    for module in (cubes, parallel):
        monkeypatch.setattr(module, "meanwhile", slowly)
    leaves = np.array([[1, 9, 5], [8, 9, 9], [6, 9, 4]])
    problem = problem_of(with_totals(leaves, [flat(3), flat(3)]), [flat(3), flat(3)], minimum=2)
    hidden_by_cubes(replace(problem, progress=lambda *step: told.append(step)))
    assert told == [*(("prepare the search", done, 1) for done in (0, 1)), ("suppress", 0, 1)]


def test_a_total_moves_with_chains_down_to_leaves():
    """An unsafe subtotal takes one of its leaves with it, against the cheapest cells beside it."""
    leaves = np.array([[1, 1], [0, 0], [20, 20], [30, 4]])
    problem = problem_of(with_totals(leaves, [flat(4), flat(2)]), [flat(4), flat(2)], minimum=3)
    cells, hidden, reach, _ = hidden_by_cubes(problem)
    assert not reach.missing(cells).any()
    assert cells.of_cells(hidden)[problem.requirements.cell].all()


def test_where_no_rectangle_is_possible_totals_move():
    """Nothing else is left in the row or the column of the unsafe cell."""
    leaves = np.array([[1, 0], [0, 9]])
    problem = problem_of(with_totals(leaves, [flat(2), flat(2)]), [flat(2), flat(2)], minimum=2)
    cells, hidden, reach, _ = hidden_by_cubes(problem)
    assert not reach.missing(cells).any()
    assert cells.of_cells(hidden)[0]  # the grand total


@given(st.integers(0, 10**6), st.booleans())
@examples(60)
def test_deep_tables_are_always_protected_by_cubes(seed: int, deep: bool):
    random = np.random.default_rng(seed)
    trees = [REGIONS if deep else flat(6), flat(4), flat(3)]
    leaves = random.integers(0, 9, (6, 4, 3))
    problem = problem_of(with_totals(leaves, trees), trees, minimum=4)
    cells, _, reach, changes = hidden_by_cubes(problem)
    assert not reach.missing(cells).any()
    for change in changes:
        step = np.zeros(len(cells.down), dtype=np.int64)
        step[change.cell] = change.step
        assert not (cells.equations @ step).any()


@given(hard_problems())
@examples(60)
def test_what_cubes_show_is_true(problem: Problem):
    """Every change keeps all equations and bounds, and says no more than it moves."""
    cells, hidden, reach, changes = hidden_by_cubes(problem)
    again = Reach(len(cells.down))
    for change in changes:
        assert hidden[change.cell].all()
        for possible, sign in ((change.there, 1), (change.back, -1)):
            if not possible.any():
                continue
            step = np.zeros(len(cells.down), dtype=np.int64)
            step[change.cell] = sign * change.step
            assert not (cells.equations @ step).any()
            assert (step <= cells.up).all() and (-step <= cells.down).all()
        again.add(change)
    assert np.array_equal(again.up, reach.up) and np.array_equal(again.down, reach.down)


@given(st.integers(0, 10**6), st.sampled_from([(3, 4, 2), (5, 6), (6, 2)]), st.booleans())
@examples(60)
def test_no_cube_left_out_is_better(seed: int, shape: tuple[int, ...], totals: bool):
    """Of all products of the ways along each variable, in plain loops."""
    random = np.random.default_rng(seed)
    trees = [REGIONS if shape[0] == 6 else flat(shape[0]), *map(flat, shape[1:])]
    leaves = random.integers(0, 6, shape)
    problem = problem_of(with_totals(leaves, trees), trees, minimum=3)
    cells = changeable(problem)
    size = tuple(len(tree) for tree in trees)
    cubes = _Cubes(problem.system.tables[0], cells, cells.primary)
    lattice = cubes._lattice
    price = random.integers(0, 4, len(cells.down)).astype(float)
    groups = Groups(price, cells.up.copy(), cells.down.copy())
    base = int(random.choice(np.flatnonzero(cells.group[: np.prod(size)] >= 0)))
    codes = np.array(np.unravel_index(base, size))
    need, tries = float(random.integers(1, 5)), Tries(4, totals)
    best = (False, 0.0)
    lines = [_line(base, k, codes, lattice, groups, need, tries) for k in range(len(size))]
    for choice in product(*(ways[:number].tolist() for ways, number in lines)):
        signed = []
        for way in choice:
            middle = way.index(-1)
            fall = way[middle + 1 :]
            signed.append(
                [(c, 1) for c in way[:middle]] + [(c, -1) for c in fall[: fall.index(-1)]]
            )
        cost, room = 0.0, np.inf
        for corner in product(*signed):
            at = np.ravel_multi_index([c for c, _ in corner], size)
            rises = np.prod([sign for _, sign in corner]) > 0
            group = cells.group[at]
            free = 0 if group < 0 else (groups.plus if rises else groups.minus)[group]
            cost, room = cost + (price[group] if group >= 0 else 0), min(room, free)
        if room > 0:
            best = max(best, (True, -cost) if room >= need else (False, float(room)))
    found, _, room = _cube(base, codes, lattice, groups, need, tries)
    if len(found) == 0:
        assert best == (False, 0.0)
    else:
        cost = -float(price[cells.group[found]].sum())
        assert best == ((True, cost) if room >= need else (False, room))
