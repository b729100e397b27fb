"""What tidying knows it does not ask again: ways around groups, and groups that are needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from profiles import examples, scaled
from scipy.optimize import linprog
from suppression_problems import cost_of, flat, is_safe, problem_of, problems, with_totals

from diskret.suppression import Problem, cleanup, detours, greedy, modular, search, sequential
from diskret.suppression.certify import certify
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import Part, Reach, part
from diskret.suppression.cleanup import End, clean_up
from diskret.suppression.detours import Detours
from diskret.suppression.search import Search


def table(seed: int, sizes: tuple[int, ...] = (4, 4, 3)) -> Problem:
    """Heavy tails, many cells empty; each level asked for is that of a random need."""
    random = np.random.default_rng(seed)
    leaves = np.rint(np.exp(random.normal(1.5, 2, sizes))).astype(np.int64)
    leaves[random.random(sizes) < 0.2] = 0
    trees = [flat(size) for size in sizes]
    problem = problem_of(with_totals(leaves, trees), trees, minimum=6, integer=False)
    needs = problem.requirements
    levels = random.integers(1, 6, len(needs.cell))
    lower = np.minimum(levels, problem.system.value[needs.cell])
    asked = replace(needs, upper=levels, lower=lower, sliding=0 * levels)
    return replace(problem, requirements=asked)


def tidied(
    problem: Problem, needed: NDArray[np.bool_] | None = None
) -> tuple[Changeable, NDArray[np.bool_]]:
    cells = changeable(problem)
    certified = certify(cells, cells.primary)
    hidden, changes = greedy._hide(problem, cells, cells.primary, certified, (), None)
    hidden, _, end = clean_up(problem, cells, hidden, certified, changes, needed=needed)
    assert end is End.ALL
    return cells, hidden


def all_protected(cells: Changeable, hidden: NDArray[np.bool_]) -> bool:
    """Whether every primary group can move as far as it must, by programmes of the test's own."""
    matrix = cells.equations.toarray().astype(float)
    for group in np.flatnonzero(cells.primary).tolist():
        for sign, need in ((1, cells.above[group]), (-1, cells.below[group])):
            low, high = np.where(hidden, -cells.down, 0.0), np.where(hidden, cells.up, 0.0)
            goal = np.zeros(len(hidden))
            goal[group] = -sign
            low[group], high[group] = max(low[group], -float(need)), min(high[group], float(need))
            answer = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=np.c_[low, high])
            if answer.status != 0 or -answer.fun < need - 1e-6:
                return False
    return True


@pytest.mark.parametrize("seed", range(scaled(3)))
def test_what_is_said_to_be_needed_is_needed_and_all_else_was_published(seed: int):
    problem = table(seed, (4, 4))
    needed = np.zeros(len(changeable(problem).down), dtype=bool)
    cells, hidden = tidied(problem, needed)
    secondary = hidden & ~cells.primary
    assert needed.any() or not secondary.any()
    np.testing.assert_array_equal(needed, secondary)
    assert all_protected(cells, hidden)
    for group in np.flatnonzero(needed).tolist():
        without = hidden.copy()
        without[group] = False
        assert not all_protected(cells, without)


def test_what_is_needed_is_not_tried_again(monkeypatch: pytest.MonkeyPatch):
    """Tidying that ends early goes on after the rounds within the pattern."""
    tried: list[int] = []
    passes = 0
    real, whole = cleanup._Pattern.try_to_publish, clean_up

    def counted(self: cleanup._Pattern, group: int) -> bool:
        tried.append(group)
        return real(self, group)

    def passed(*arguments):
        nonlocal passes
        passes += 1
        return whole(*arguments)

    monkeypatch.setattr(cleanup._Pattern, "try_to_publish", counted)
    monkeypatch.setattr(greedy, "clean_up", passed)
    monkeypatch.setattr(cleanup, "QUANTUM", 2e5)
    monkeypatch.setattr(cleanup, "_WORTH", 0.5)
    for seed in range(4):
        tried.clear()
        sequential(table(seed, (5, 5, 4)))
        assert len(tried) == len(set(tried))
    assert passes > 4


@given(problems(dimensions=3))
@examples(30)
def test_what_is_left_without_some_changes_is_what_the_others_show(problem: Problem):
    cells = changeable(replace(problem, integer=False))
    everything = np.ones(len(cells.down), dtype=bool)
    certified = Reach(len(cells.down))
    hidden, changes = greedy._hide(problem, cells, everything, certified, (), None)
    pattern = cleanup._Pattern(
        cells, hidden, certified, changes, None, problem.deadline, lambda: None
    )
    random = np.random.default_rng(len(changes))
    kept = pattern.kept.changes
    lost = np.flatnonzero(random.random(len(kept)) < 0.4)
    groups = pattern._resting_on(lost)
    pattern.reach.set_to(groups, pattern._shown_without(lost, groups))
    anew = certified.copy()
    for number, change in enumerate(kept):
        if number not in lost:
            anew.add(change)
    needy = np.flatnonzero(pattern.needy)
    np.testing.assert_array_equal(pattern.reach.at(needy), anew.at(needy))


def lost_movements(seed: int) -> tuple[Part, Search, list[NDArray[np.float64]], int]:
    """Movements of several groups that all go through one, and that group."""
    cells = changeable(table(seed))
    here = part(cells, np.ones(len(cells.down), dtype=bool))
    k = len(here.cell)
    asked = Search(here, np.zeros(k, dtype=bool), np.ones(k))
    found = [asked.cheapest(i, d) for i in range(k) for d in (1.0, -1.0)]
    movements = [movement for movement in found if movement is not None]
    used = np.count_nonzero(np.array(movements), axis=0)
    gone = int(np.argmax(used))
    return here, asked, [movement for movement in movements if movement[gone]], gone


@pytest.mark.parametrize("seed", range(scaled(4)))
def test_a_way_around_is_balanced_within_all_bounds_and_moves_nothing_that_is_gone(seed: int):
    here, asked, movements, gone = lost_movements(seed)
    index = np.array([gone])
    ways = Detours(here.cell[index])
    asked.publish(index)
    first = movements[0]
    target = int(np.argmax(np.abs(first) * (np.arange(len(first)) != gone)))
    instead = asked.nearest(target, float(np.sign(first[target])), first)
    if instead is None:
        assert not list(ways.around(here, first))
        return
    assert not list(ways.around(here, first))  # nothing is known yet
    ways.learn(here, first, instead)
    again = list(ways.around(here, first))
    np.testing.assert_allclose(again[0], instead, atol=1e-9)
    for movement in movements:
        for found in ways.around(here, movement):
            assert found[gone] == 0
            assert np.abs(here.equations @ found).max() < 1e-6
            assert (found <= here.up + 1e-5).all() and (-found <= here.down + 1e-5).all()


def test_ways_around_spare_programmes(monkeypatch: pytest.MonkeyPatch):
    def programmes() -> int:
        asked = 0
        real = Search.nearest

        def counted(*arguments):
            nonlocal asked
            asked += 1
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(search.Search, "nearest", counted)
            for seed in range(3):
                tidied(table(seed))
        return asked

    few = programmes()
    monkeypatch.setattr(detours.Detours, "around", lambda *_: iter(()))
    assert 0 < few < programmes()


@pytest.mark.parametrize("method", [sequential, modular])
def test_a_wrong_way_around_protects_nothing(method, monkeypatch: pytest.MonkeyPatch):
    """Who believed a way around unchecked would publish what is needed."""

    def anything(self: Detours, here: Part, movement: NDArray[np.float64]):
        gone, _ = self._of(here)
        wrong = movement.copy()
        wrong[gone] = 0
        yield wrong

    problem = table(1)
    right = cost_of(problem, method(problem).suppressed)
    monkeypatch.setattr(detours.Detours, "around", anything)
    pattern = method(problem)
    assert is_safe(problem, pattern.suppressed)
    assert cost_of(problem, pattern.suppressed) == pytest.approx(right, rel=0.1)
