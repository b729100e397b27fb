"""Frozen cells that are blamed make protection impossible, and none of them is idle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples
from suppression_problems import extreme, flat, hard_problems, problem_of

from diskret.errors import ProtectionError
from diskret.suppression import Problem, optimal, sequential
from diskret.suppression import blame as blaming
from diskret.suppression.blame import blame


def frozen_but(problem: Problem, *free: int) -> Problem:
    """Everything frozen except some cells."""
    frozen = np.ones(len(problem.frozen), dtype=bool)
    frozen[list(free)] = False
    return replace(problem, frozen=frozen)


def movable(problem: Problem, cell: int, frozen: list[int]) -> bool:
    """Whether a cell meets its requirement with all hidden but empty and some other cells."""
    hidden = ~(problem.frozen & (problem.system.value == 0))
    hidden[frozen] = False
    needs = problem.requirements
    [i] = np.flatnonzero(needs.cell == cell)
    down, up = -extreme(problem, hidden, cell, -1), extreme(problem, hidden, cell, 1)
    wide = down + up >= max(int(needs.sliding[i]), 1) - 1e-6
    return down >= needs.lower[i] - 1e-6 and up >= needs.upper[i] - 1e-6 and bool(wide)


def line(*parts: int) -> Problem:
    """One total and its parts; what is below 3 must be hidden."""
    return problem_of(np.array([sum(parts), *parts]), [flat(len(parts))])


def test_all_that_could_have_kept_it_company_is_to_blame():
    assert blame(frozen_but(line(1, 4, 6), 1), 1).cells == (0, 2, 3)


def test_frozen_cells_elsewhere_are_not_to_blame():
    # rows 1 + 5 = 6 and 7 + 9 = 16: the 1 needs its neighbours of row and column
    table = np.array([[22, 8, 14], [6, 1, 5], [16, 7, 9]])
    problem = problem_of(table, [flat(2), flat(2)])
    found = blame(frozen_but(problem, 4), 4).cells
    assert found
    assert set(found) < {0, 1, 2, 3, 5, 6, 7, 8}
    assert not movable(problem, 4, list(found))


def test_empty_cells_are_blamed_as_such():
    problem = line(1, 4, 0)
    # neither 4 nor total can fall with the 1, and the empty cell must not rise
    problem.lower[0], problem.lower[2], problem.upper[2] = 5, 4, 4
    found = blame(problem, 1)
    assert (found.cells, found.empty) == ((), True)
    with pytest.raises(ProtectionError, match="no frozen cell is to blame: empty cells") as told:
        sequential(problem)
    assert told.value.blamed == ()


def test_knowledge_is_blamed_where_no_cell_is():
    problem = line(1, 4, 6)
    problem.upper[1] = 1
    with pytest.raises(ProtectionError, match="to blame; assume less knowledge"):
        sequential(problem)


@pytest.mark.parametrize("method", [sequential, optimal])
def test_the_error_names_five_and_how_many(method):
    problem = frozen_but(line(1, 4, 6, 7, 8, 9), 1)
    with pytest.raises(ProtectionError, match=r"to blame: 6, .*v0=c1\] = 4, .* and 1 more") as told:
        method(problem)
    assert told.value.blamed == (0, 2, 3, 4, 5, 6)


def test_of_several_sets_the_one_without_the_cheapest_cells_is_blamed():
    table = np.array([[22, 8, 14], [6, 1, 5], [16, 7, 9]])
    problem = frozen_but(problem_of(table, [flat(2), flat(2)]), 4)
    dear_row = replace(problem, cost=np.array([1.0, 1, 1, 9, 1, 9, 1, 1, 1]))
    dear_column = replace(problem, cost=np.array([1.0, 9, 1, 1, 1, 1, 1, 9, 1]))
    assert blame(dear_row, 4).cells == (3, 5)
    assert blame(dear_column, 4).cells == (1, 7)


def test_without_work_left_all_frozen_cells_are_named_and_said_to_be_too_many(monkeypatch):
    for most, least in ((3, 0), (1, 0)):
        monkeypatch.setattr(blaming, "_MOST", most)
        monkeypatch.setattr(blaming, "_FEWEST", least)
        problem = frozen_but(line(1, 4, 6), 1)
        found = blame(problem, 1)
        assert (found.cells, found.irreducible) == ((0, 2, 3), False)
        with pytest.raises(ProtectionError, match="time or work ended the search for fewer"):
            sequential(problem)


@examples(60)
@given(hard_problems(), st.booleans(), st.integers(0, 2**32 - 1))
def test_blamed_cells_are_an_irreducible_reason(problem: Problem, outsider: bool, seed: int):
    random = np.random.default_rng(seed)
    primary = np.isin(np.arange(len(problem.frozen)), problem.requirements.cell)
    frozen = (problem.frozen | (random.random(len(primary)) < 0.8)) & ~primary
    problem = replace(problem, frozen=frozen, start=None)
    if outsider:
        n = len(frozen)
        problem = replace(problem, lower=np.zeros(n), upper=np.full(n, np.inf))
    by_hand = np.flatnonzero(frozen & (problem.system.value > 0)).tolist()
    stuck = [int(c) for c in problem.requirements.cell if not movable(problem, int(c), by_hand)]
    assume(stuck)
    cell = stuck[0]
    found = blame(problem, cell)
    assert found.irreducible
    if not found.cells:
        assert not movable(problem, cell, [])
        free = replace(problem, frozen=np.zeros_like(frozen))
        assert found.empty == movable(free, cell, [])
    else:
        assert set(found.cells) <= set(by_hand)
        assert not movable(problem, cell, list(found.cells))
        for one in found.cells:
            assert movable(problem, cell, [other for other in found.cells if other != one])
    with pytest.raises(ProtectionError):
        sequential(problem)
