"""Which unknowns are near each other: walked through equation by equation."""

from types import SimpleNamespace

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack.exact import UNKNOWN
from diskret.attack.linear_programme import Answer
from diskret.attack.surroundings import Surroundings, _Ends, outer_bounds

SEEDS = range(scaled(150))


def drawn(seed):
    """Equations, some without unknowns, and unknowns that stand in none."""
    draw = np.random.default_rng(seed)
    matrix = draw.choice([0, 0, 0, 1, -1], (int(draw.integers(1, 7)), int(draw.integers(1, 12))))
    return draw, matrix, Surroundings(sparse.csr_array(matrix))


def some(draw, number):
    return np.sort(draw.choice(number, draw.integers(1, number + 1), replace=False))


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_and_unknowns_are_those_that_meet(seed):
    draw, matrix, near = drawn(seed)
    rows, columns = some(draw, len(matrix)), some(draw, len(matrix.T))
    there = matrix != 0
    assert near.rows(columns).tolist() == np.flatnonzero(there[:, columns].any(axis=1)).tolist()
    assert near.unknowns(rows).tolist() == np.flatnonzero(there[rows].any(axis=0)).tolist()
    others = np.setdiff1d(np.arange(len(matrix.T)), columns)
    among = there[:, columns].any(axis=1) & ~there[:, others].any(axis=1)
    assert near.rows_among(columns).tolist() == np.flatnonzero(among).tolist()


def rings(matrix, start, taken):
    """Unknowns by how many equations they are away, those that are taken left out."""
    there, far = matrix != 0, {int(one): 0 for one in start}
    ring = {*far}
    while ring:
        met = {c for r in there if r[[*ring]].any() for c in np.flatnonzero(r).tolist()}
        ring = {c for c in met if c not in far and not taken[c]}
        far |= dict.fromkeys(ring, max(far.values()) + 1)
    return far


@pytest.mark.parametrize("seed", SEEDS)
def test_those_around_some_are_the_nearest(seed):
    draw, matrix, near = drawn(seed)
    n = len(matrix.T)
    taken = draw.random(n) < 0.2
    start = np.array([draw.integers(n)])
    far = rings(matrix, start, taken)
    before = taken.copy()
    for size in range(1, n + 2):
        found = near.grown(start, size, taken)
        assert found.tolist() == sorted({*found.tolist()}) and {*found.tolist()} <= {*far}
        assert len(found) == min(size, len(far)) and start[0] in found
        farthest = max(far[int(one)] for one in found)
        assert all(one in found for one, distance in far.items() if distance < farthest)
        # what they lead to is taken from the first ones on
        assert {*near.grown(start, size).tolist()} <= {*rings(matrix, start, taken & False)}
    assert np.array_equal(before, taken)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", [1, 3, 20])
def test_blocks_hold_every_unknown_once_and_are_no_larger_than_asked(seed, size):
    _, matrix, near = drawn(seed)
    blocks = near.blocks(size)
    assert sorted(np.concatenate(blocks).tolist()) == [*range(len(matrix.T))]
    assert all(0 < len(block) <= size and (np.diff(block) > 0).all() for block in blocks)
    # two that would fit into one follow each other only if more had to be joined
    assert all(len(a) + len(b) > size for a, b in zip(blocks, blocks[1:], strict=False))
    assert blocks[0][0] == 0


# ── bounds that the equations near them imply ─────────────────────────────────────────


@pytest.mark.parametrize("asked", [True, False])
def test_what_has_no_bound_has_no_end(asked):
    """Two equal numbers that may be anything, whether they are asked about or not."""
    equal, far = sparse.csr_array(np.array([[1, -1]])), np.full(2, UNKNOWN)
    [(unknowns, low, high)] = outer_bounds(
        equal, np.zeros(1, dtype=np.int64), -far, far, np.full(2, asked)
    )
    assert unknowns.tolist() == [0, 1]
    assert np.isneginf(low).all() and np.isposinf(high).all()


@pytest.mark.parametrize(("end", "bound"), [(7 + 1e-9, 7), (7 - 1e-9, 7), (6.5, 7), (7.2, 8)])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_end_is_the_next_whole_number_but_for_the_last_digits_of_the_solver(end, bound, sign):
    answer = Answer(True, np.array([sign * end]), None)
    far = np.array([20])
    programme = SimpleNamespace(lower=-far, upper=far, farthest=lambda direction: answer)
    ends = _Ends(programme, np.ones(1, dtype=bool))
    ends._ask(0, sign)
    assert ends.bound[sign].tolist() == [bound]
    assert not ends.open[sign].any()
