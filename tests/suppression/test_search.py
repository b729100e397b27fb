"""Whole changes along a proposal: right, never believed unchecked, and as a rule the cheapest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray
from profiles import examples, some_quick
from scipy.optimize import Bounds, LinearConstraint, milp
from suppression_problems import flat, is_safe, problem_of, problems, with_totals

from diskret.suppression import Problem, modular, sequential
from diskret.suppression.blocks import Blocks, hide_in_blocks
from diskret.suppression.certify import certify
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import checked, part
from diskret.suppression.search import Search
from diskret.suppression.search import _proposals as proposals

SECONDS = 60.0
#: What an answer of the solver may differ by.
INEXACT = 1e-6


def counts(seed: int, size: int = 4, mean: float = 3.0, integer: bool = True) -> Problem:
    """Small counts in three variables; the smaller, the less room for multiples of fractions."""
    leaves = np.random.default_rng(seed).poisson(mean, (size, size, size))
    trees = [flat(size)] * 3
    return problem_of(with_totals(leaves, trees), trees, minimum=3, integer=integer)


def questions(problem: Problem) -> Iterator[tuple[Changeable, Search, int, NDArray[np.float64]]]:
    """Each primary with room for it, and the cheapest way up by one unit, fractions allowed."""
    cells = changeable(problem)
    here = part(cells, np.ones(len(cells.down), dtype=bool))
    search = Search(here, cells.primary[here.cell], cells.price[here.cell])
    for index in np.flatnonzero(cells.primary[here.cell]).tolist():
        proposal = search.cheapest(index, 1)
        if proposal is not None:
            yield cells, search, index, proposal


def paid(cells: Changeable, search: Search, movement: NDArray[np.float64]) -> float:
    group = search.here.cell
    return float(np.where(cells.primary[group], 0, cells.price[group]) @ np.abs(movement))


def least_paid(cells: Changeable, search: Search, index: int) -> float:
    """The cheapest movement of all in whole units, by another solver."""
    here, k = search.here, len(search.here.cell)
    price = np.where(cells.primary[here.cell], 0, cells.price[here.cell])
    lower = np.zeros(2 * k)
    lower[index] = 1
    upper = np.concatenate([here.up, here.down])
    upper[k + index] = 0
    halves = np.hstack([here.equations.toarray(), -here.equations.toarray()])
    answer = milp(
        np.concatenate([price, price]),
        integrality=np.ones(2 * k),
        bounds=Bounds(lower, upper),
        constraints=LinearConstraint(halves, 0, 0),
    )
    assert answer.status == 0
    return float(answer.fun)


@given(problems(dimensions=3))
@examples(40)
def test_a_change_along_a_proposal_is_right_and_uses_only_it_and_what_is_free(problem: Problem):
    for cells, search, index, proposal in questions(replace(problem, integer=True)):
        along = search.cheapest_along(index, 1, proposal, SECONDS)
        if along is None:
            continue
        assert not (along[~cells.primary[search.here.cell] & (proposal == 0)]).any()
        assert (along == np.rint(along)).all() and along[index] >= 1
        assert not (search.here.equations @ along).any()
        assert (along <= search.here.up).all() and (-along <= search.here.down).all()
        assert any(search.here.cell[index] in change.cell for change in checked(search.here, along))
        assert paid(cells, search, along) >= least_paid(cells, search, index) - INEXACT


def unsettled(problem: Problem) -> Iterator[tuple[Changeable, Search, int, NDArray[np.float64]]]:
    """The questions whose answer is a fraction of which no whole multiple will do."""
    for cells, search, index, proposal in questions(problem):
        group = search.here.cell[index]
        if not any(group in change.cell for change in checked(search.here, proposal)):
            yield cells, search, index, proposal


def test_among_many_small_counts_the_change_along_a_fraction_is_the_cheapest_whole_one():
    asked, cheapest = 0, 0
    for cells, search, index, proposal in unsettled(counts(0, size=6, mean=0.5)):
        asked += 1
        along = search.cheapest_along(index, 1, proposal, SECONDS)
        if along is not None:
            # a thousandth for each unit of what is free breaks ties
            cheapest += paid(cells, search, along) <= least_paid(cells, search, index) + 0.1
    assert asked >= 5
    assert cheapest > 0.8 * asked


@pytest.mark.parametrize("mean", [0.5, 0.7])
def test_the_first_whole_change_costs_no_more_than_what_a_search_of_all_nearby_finds(mean):
    seen = 0
    for cells, search, index, proposal in unsettled(counts(2, size=5, mean=mean)):
        untouched = search.untouched(proposal)
        search.publish(untouched)
        nearby = search.cheapest_whole(index, 1, SECONDS)
        search.publish(untouched, False)
        if nearby is not None:
            seen += 1
            _, (first, _), *_ = proposals(search, index, 1, lambda: SECONDS)
            # the least price of a unit is a little more than 1
            assert paid(cells, search, first) <= paid(cells, search, nearby) + 1
    assert seen


@pytest.mark.parametrize("method", some_quick([sequential, modular], [sequential]))
def test_a_wrong_change_along_a_proposal_protects_nothing(method, monkeypatch: pytest.MonkeyPatch):
    def wrong(self, index, distance, proposal, seconds):
        out = np.zeros(len(proposal))
        out[index] = distance  # nothing else moves, so that no equation holds
        return out

    monkeypatch.setattr(Search, "cheapest_along", wrong)
    for seed in range(2):
        problem = counts(seed)
        assert is_safe(problem, method(problem).suppressed)


def test_blocks_of_values_ask_nothing_in_whole_numbers(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    monkeypatch.setattr(Search, "cheapest_whole", lambda self, *_: asked.append(1))
    # an answer that no check takes, as from a programme with huge denominators
    monkeypatch.setattr("diskret.suppression.search.checked", lambda *_: iter(()))
    for integer in (True, False):
        asked.clear()
        problem = counts(1, integer=integer)
        cells = changeable(problem)
        reach = certify(cells, np.zeros(len(cells.down), dtype=bool))
        blocks = Blocks(problem.system.tables, cells.group)
        hide_in_blocks(problem, cells, blocks, cells.primary.copy(), reach, share=1.0)
        assert bool(asked) is integer
