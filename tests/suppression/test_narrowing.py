"""What is told without a programme is never wrong, and what begins at a lost change ends nearby."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from profiles import examples, scaled
from scipy.optimize import linprog
from suppression_problems import cost_of, flat, is_safe, problem_of, problems, with_totals

from diskret.suppression import Problem, cleanup, modular, sequential
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import part
from diskret.suppression.narrowing import Narrowing
from diskret.suppression.search import Search


def table(seed: int, integer: bool = False) -> Problem:
    """Heavy tails in three variables, a few cells of which hold most of the total."""
    random = np.random.default_rng(seed)
    leaves = np.rint(np.exp(random.normal(1, 2, (3, 4, 3)))).astype(np.int64)
    leaves[random.random(leaves.shape) < 0.3] = 0
    trees = [flat(3), flat(4), flat(3)]
    problem = problem_of(with_totals(leaves, trees), trees, minimum=6, integer=integer)
    needs = problem.requirements
    levels = random.integers(1, 6, len(needs.cell))
    return replace(
        problem,
        requirements=replace(
            needs,
            upper=levels,
            lower=np.minimum(levels, problem.system.value[needs.cell]),
            sliding=2 * levels * (random.random(len(levels)) < 0.3),
        ),
    )


def possible(
    cells: Changeable, hidden: NDArray[np.bool_], group: int, sign: int, need: float
) -> bool:
    """Whether a group can move so far while the others satisfy every equation, by a programme."""
    low, high = np.where(hidden, -cells.down, 0.0), np.where(hidden, cells.up, 0.0)
    goal = np.zeros(len(hidden))
    goal[group] = -sign
    far = sign * need
    low[group], high[group] = max(low[group], min(far, 0)), min(high[group], max(far, 0))
    bounds = np.c_[low, high]
    matrix = cells.equations.toarray().astype(float)
    answer = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
    return answer.status == 0 and -answer.fun >= need - 1e-6


def moves_enough(cells: Changeable, hidden: NDArray[np.bool_], group: int) -> bool:
    return all(
        possible(cells, hidden, group, sign, float(need))
        for sign, need in ((1, cells.above[group]), (-1, cells.below[group]))
    )


@given(problems(dimensions=3))
@examples(30)
def test_what_is_told_to_be_impossible_is(problem: Problem):
    cells = changeable(replace(problem, integer=False))
    random = np.random.default_rng(len(cells.down))
    hidden = cells.primary | (random.random(len(cells.down)) < 0.5)
    narrowing = Narrowing(cells, hidden)
    primary = np.flatnonzero(cells.primary)
    others = np.flatnonzero(hidden & ~cells.primary)
    for gone in (others[:1], others[1:3]):
        without = hidden.copy()
        without[gone] = False
        narrowing.publish(gone)
        for group in primary.tolist():
            if narrowing.first_impossible([group]) is not None:
                assert not moves_enough(cells, without, group) or cells.width[group] > 0
        published = bool(len(gone) == 1)
        narrowing.decide(published)
        hidden = without if published else hidden


def test_it_tells_most_of_what_is_impossible_and_forgets_what_was_tried():
    told, impossible = 0, 0
    for seed in range(scaled(2)):
        cells = changeable(table(seed))
        hidden = np.ones(len(cells.down), dtype=bool)
        narrowing = Narrowing(cells, hidden)
        first = [narrowing.first_impossible([g]) for g in np.flatnonzero(cells.primary).tolist()]
        random = np.random.default_rng(seed)
        for _ in range(4):
            gone = np.flatnonzero((random.random(len(hidden)) < 0.4) & ~cells.primary)
            without = hidden.copy()
            without[gone] = False
            narrowing.publish(gone)
            for group in np.flatnonzero(cells.primary).tolist():
                if not moves_enough(cells, without, group):
                    impossible += 1
                    told += narrowing.first_impossible([group]) == group
            narrowing.decide(False)
        again = [narrowing.first_impossible([g]) for g in np.flatnonzero(cells.primary).tolist()]
        assert again == first
    assert impossible > 20
    assert told > 0.6 * impossible


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_the_nearest_movement_is_one_and_differs_least(seed: int):
    cells = changeable(table(seed))
    here = part(cells, np.ones(len(cells.down), dtype=bool))
    k = len(here.cell)
    search = Search(here, np.zeros(k, dtype=bool), np.ones(k))
    random = np.random.default_rng(seed)
    seen = 0
    for index in random.choice(k, min(k, 8), replace=False).tolist():
        for distance in (2.0, -2.0):
            near = search.cheapest(index, distance)
            if near is None:
                continue
            others = np.flatnonzero((near != 0) & (np.arange(k) != index))
            gone = others[:1]
            search.publish(gone)
            found, cheapest = (
                search.nearest(index, distance, near),
                search.cheapest(index, distance),
            )
            search.publish(gone, False)
            assert (found is None) == (cheapest is None)
            if found is None or cheapest is None:
                continue
            seen += 1
            assert np.abs(here.equations @ found).max() < 1e-6
            assert (found <= here.up + 1e-6).all() and (found >= -here.down - 1e-6).all()
            assert np.abs(found[gone]).max() < 1e-6
            assert found[index] * np.sign(distance) >= 2 - 1e-6
            assert np.abs(found - near).sum() <= np.abs(cheapest - near).sum() + 1e-6
    assert seen


@pytest.mark.long
@pytest.mark.parametrize("method", [sequential, modular])
@pytest.mark.parametrize("lie", [None, "impossible", "possible"])
def test_patterns_are_safe_whatever_is_told(
    method, lie: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cleanup, "_FEW", -1)
    if lie is not None:
        answer = {"impossible": lambda _, groups: next(iter(groups), None)}
        monkeypatch.setattr(Narrowing, "first_impossible", answer.get(lie, lambda _, groups: None))
    costs: list[float] = []
    seeds = range(scaled(2))
    for seed in seeds:
        problem = table(seed, integer=bool(seed % 2))
        pattern = method(problem)
        assert is_safe(problem, pattern.suppressed)
        costs.append(cost_of(problem, pattern.suppressed))
    monkeypatch.undo()
    usual = [cost_of(table(s), method(table(s, bool(s % 2))).suppressed) for s in seeds]
    if lie == "impossible":
        assert sum(costs) >= sum(usual)  # more stays hidden
    else:
        assert costs == usual  # it only says sooner what programmes say


def test_a_wrong_beginning_protects_nothing(monkeypatch: pytest.MonkeyPatch):
    def wrong(self, index, distance, near):
        out = np.zeros(len(near))
        out[index] = distance  # nothing else moves, so that no equation holds
        return out

    monkeypatch.setattr(Search, "nearest", wrong)
    for seed in range(3):
        problem = table(seed)
        assert is_safe(problem, sequential(problem).suppressed)
