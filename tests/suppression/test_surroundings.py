"""Movements under some equations, compared with all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from profiles import examples
from scipy import sparse
from scipy.optimize import linprog

from diskret.suppression.surroundings import Movement, Surroundings, neighbours
from diskret.suppression.zero_one_program import Cut, Master

NOTHING = np.empty(0, dtype=np.int64)


def system(seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Equations with coefficients -1, 0 and 1, and bounds."""
    random = np.random.default_rng(seed)
    equations = random.choice([-1, 0, 1], size=(random.integers(1, 7), 8), p=[0.2, 0.6, 0.2])
    return equations, random.integers(0, 4, size=8) / 2


def asked(equations: NDArray[np.int64], bound: NDArray[np.float64], most: int) -> Movement:
    """How far the first group can move up to 1 unit."""
    bound = np.append(1.0, bound[1:])
    around = Surroundings(sparse.csr_array(equations))
    movement = around.furthest(0, 1, bound, bound, NOTHING, enough=-1.0, most=most)
    assert movement is not None
    return movement


def furthest(equations: NDArray[np.int64], bound: NDArray[np.float64]) -> float:
    """The same under all equations, by another solver."""
    bound = np.append(1.0, bound[1:])
    goal = np.zeros(8)
    goal[0] = -1
    limits = np.stack((-bound, bound), axis=1)
    return -linprog(goal, A_eq=equations, b_eq=np.zeros(len(equations)), bounds=limits).fun


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_a_movement_is_the_furthest_under_all_equations(seed: int):
    equations, bound = system(seed)
    movement = asked(equations, bound, most=100)
    change = np.zeros(8)
    change[movement.column] = movement.change
    assert movement.possible
    assert np.allclose(equations @ change, 0)
    assert np.isclose(movement.distance, furthest(equations, bound))


@given(st.integers(0, 2**32 - 1))
@examples(60)
def test_few_equations_never_forbid_what_all_permit(seed: int):
    equations, bound = system(seed)
    movement = asked(equations, bound, most=0)
    assert movement.distance >= furthest(equations, bound) - 1e-9
    if movement.possible:
        assert np.isclose(movement.distance, furthest(equations, bound))


def test_equations_far_away_are_looked_at_only_if_they_matter():
    chain = np.zeros((5, 6), dtype=np.int64)
    chain[np.arange(5), np.arange(5)], chain[np.arange(5), np.arange(1, 6)] = 1, -1
    around = Surroundings(sparse.csr_array(chain))
    tight = np.array([1.0, 0.5, 1, 1, 1, 0.1])
    near = around.furthest(0, 1, tight, tight, NOTHING, enough=0.75, most=100)
    far = around.furthest(0, 1, tight, tight, NOTHING, enough=0.25, most=100)
    assert near is not None and near.rows.tolist() == [0] and not near.possible
    assert far is not None and far.distance == pytest.approx(0.1) and far.rows.tolist()[-1] == 4


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@examples(40)
def test_a_block_holds_candidates_around_its_centre(seed: int, size: int):
    equations, _ = system(seed)
    candidate = np.random.default_rng(seed).random(8) < 0.7
    rows = sparse.csr_array(equations)
    here = neighbours(rows, sparse.csc_array(equations), 0, candidate, size)
    hanging = np.zeros(8, dtype=bool)
    hanging[0] = True
    for _ in range(8):
        hanging |= (equations[(equations[:, hanging] != 0).any(axis=1)] != 0).any(axis=0)
    assert not np.any(here & ~(candidate & hanging))
    assert here.sum() >= min(size, (candidate & hanging).sum())


@given(st.integers(0, 2**32 - 1))
@examples(40)
def test_the_best_choice_within_a_block_is_the_best_of_all_in_it(seed: int):
    random = np.random.default_rng(seed)
    cost = random.integers(1, 20, size=6).astype(float)
    cuts = [
        Cut(np.arange(6), random.integers(0, 5, size=6) / 4, 1.0) for _ in range(random.integers(4))
    ]
    base, free = random.random(6) < 0.5, random.random(6) < 0.6
    master = Master(cost, np.zeros(6, dtype=bool))
    found = master.best_within(base, free, 60.0, 0.0)
    for cut in cuts:  # one by one: what is known grows
        master.add([cut])
        found = master.best_within(base, free, 60.0, 0.0)
    tried = [
        np.where(free, choice, base)
        for choice in product((0.0, 1.0), repeat=6)
        if all(cut.weight @ np.where(free, choice, base) >= cut.least - 1e-9 for cut in cuts)
    ]
    if not tried:
        assert found is None
    else:
        assert found is not None
        assert all(cut.weight @ found >= cut.least - 1e-9 for cut in cuts)
        assert np.array_equal(found[~free], base[~free])
        assert cost @ found == min(cost @ choice for choice in tried)
