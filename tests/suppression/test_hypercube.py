"""What the method of hypercubes promises beyond what every method does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from runpy import run_path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from numpy.typing import NDArray
from profiles import examples
from suppression_problems import (
    cost_of,
    flat,
    halves_problem,
    hard_problems,
    lecture_table,
    problem_of,
    solved,
    violations,
    with_totals,
)

import diskret as dk
from diskret.attack import Requirements
from diskret.errors import InputError, ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.suppression import Pattern, Problem, hypercube
from diskret.suppression import hypercube as public_name
from diskret.suppression.changeable import changeable
from diskret.suppression.hypercube import covered
from diskret.system.equations import RectangularCells


def corners(problem: Problem) -> NDArray[np.bool_]:
    table = problem.system.cells
    assert isinstance(table, RectangularCells)
    return covered(problem, changeable(problem), [table.dimensions])


def test_corners_are_protected_in_the_other_subtables_too():
    """a1 needs 5 on both sides, and only its total a has them; so b must help, and b2 below it."""
    codes = ("T", "a", "a1", "a2", "b", "b1", "b2", "c")
    tree = Hierarchy(codes, np.array([-1, 0, 1, 1, 0, 4, 4, 0], dtype=np.int32))
    problem = problem_of(np.array([36, 7, 5, 2, 9, 4, 5, 20]), [tree], minimum=0)
    one, five = np.array([2]), np.array([5])
    problem = replace(problem, requirements=Requirements(one, five, five, 0 * one))
    named = [codes[i] for i in np.flatnonzero(corners(problem))]
    assert named == ["a", "a1", "b", "b2"]
    assert [codes[i] for i in np.flatnonzero(hypercube(problem).suppressed)] == named


def test_corners_inherit_the_direction_of_the_need():
    """a1 must rise by 5, so a rises with it, b falls, and of b's parts only the 6 can fall."""
    codes = ("T", "a", "a1", "a2", "b", "b1", "b2", "c")
    tree = Hierarchy(codes, np.array([-1, 0, 1, 1, 0, 4, 4, 0], dtype=np.int32))
    problem = problem_of(np.array([32, 3, 2, 1, 9, 3, 6, 20]), [tree], minimum=0)
    one = np.array([2])
    problem = replace(problem, requirements=Requirements(one, 0 * one, 0 * one + 5, 0 * one))
    assert [codes[i] for i in np.flatnonzero(corners(problem))] == ["a", "a1", "b", "b2"]


@pytest.mark.parametrize("allowed", [False, True])
def test_an_empty_cell_is_no_corner_even_where_it_could_rise(allowed: bool):
    leaves = np.array([[1, 5], [5, 0]])
    problem = problem_of(with_totals(leaves, [flat(2), flat(2)]), [flat(2), flat(2)], minimum=0)
    one = np.array([1 * 3 + 1])
    needs = Requirements(one, 0 * one, one // one, 0 * one)
    hidden = corners(replace(problem, requirements=needs, frozen=problem.frozen & (not allowed)))
    assert sorted(problem.system.value[hidden].tolist()) == [1, 5, 5, 6]


def test_the_largest_need_is_protected_first():
    """The 8 needs 5 and takes 7, 9 and 20; then the 1 needs one more, the 6, not the 2 and 3."""
    leaves = np.array([[1, 8, 20], [2, 3, 20], [6, 7, 9]])
    problem = problem_of(with_totals(leaves, [flat(3), flat(3)]), [flat(3), flat(3)], minimum=0)
    needs = np.array([1, 5])
    problem = replace(problem, requirements=Requirements(np.array([5, 6]), needs, needs, 0 * needs))
    assert sorted(problem.system.value[corners(problem)].tolist()) == [1, 6, 7, 8, 9, 20]


@given(hard_problems())
@examples(60)
def test_empty_and_frozen_cells_are_no_corners(problem: Problem):
    try:
        hidden = corners(problem)
    except ProtectionError:
        return
    hidden[problem.requirements.cell] = False
    assert not np.any(hidden & (problem.frozen | (problem.system.value == 0)))


@pytest.mark.parametrize("careless", [[], [9, 0, 1], [10, 16, 22]])
def test_hypercubes_only_propose(careless: list[int], monkeypatch: pytest.MonkeyPatch):
    """Whatever they hide, too little or too much, the pattern is safe and nothing is spare."""
    problem = lecture_table()

    def wrong(problem: Problem, *_: object) -> NDArray[np.bool_]:
        hidden = np.zeros(len(problem.cost), dtype=bool)
        hidden[[*careless, *problem.requirements.cell]] = True
        return hidden

    assert violations(problem, wrong(problem))
    monkeypatch.setitem(public_name.__globals__, "covered", wrong)
    suppressed = hypercube(problem).suppressed
    assert violations(problem, suppressed) == []
    for cell in set(np.flatnonzero(suppressed)) - set(problem.requirements.cell.tolist()):
        less = suppressed.copy()
        less[cell] = False
        assert violations(problem, less)


def test_cells_of_no_table_are_refused():
    with pytest.raises(InputError, match="but 6 cells are given that belong to none; .*'optimal'"):
        hypercube(halves_problem())


LINKED = {
    "x": ["a", "b", "c", "d"] * 3,
    "y": ["p"] * 4 + ["q"] * 4 + ["r"] * 4,
    "n": [2, 0, 30, 40, 0, 0, 50, 60, 3, 70, 0, 0],
}


def linked_problem() -> Problem:
    """x by y and y by z; the two small counts of a are protected through the totals of p and r."""
    one = dk.Table.from_cells(pa.table(LINKED), by={"x": None, "y": None}, count="n")
    sizes = {"y": list("pqr") * 2, "z": list("sssttt"), "n": [40, 60, 40, 32, 50, 33]}
    other = dk.Table.from_cells(pa.table(sizes), by={"y": None, "z": None}, count="n")
    asked: list[Problem] = []

    def method(problem: Problem) -> Pattern:
        asked.append(problem)
        return hypercube(problem)

    dk.suppress([one, other], dk.rules.MinimumFrequency(4), method=method, name=["y", "z"])
    return asked[0]


def shared_margin(problem: Problem) -> list[list[bool]]:
    """Of both tables, which totals of p, q and r are corners."""
    found = covered(problem, changeable(problem), problem.system.tables)
    # five rows of x with four columns of y, then four rows of y with three columns of z
    return [found[:20].reshape(5, 4)[0, 1:].tolist(), found[20:].reshape(4, 3)[1:, 0].tolist()]


def test_linked_tables_are_gone_through_in_turn(monkeypatch: pytest.MonkeyPatch):
    """What is hidden in the margin of one table is hidden, and protected, in the other too."""
    problem = linked_problem()
    one, other = shared_margin(problem)
    assert one == other == [True, False, True]
    cover = public_name.__globals__["_Cover"]
    monkeypatch.setattr(cover, "tell_each_other", lambda self: None)
    one, other = shared_margin(problem)
    assert (one, other) == ([True, False, True], [False, False, False])


def test_linked_tables_from_hypercubes_are_safe():
    problem = linked_problem()
    assert violations(problem, hypercube(problem).suppressed) == []


def test_a_table_of_one_cell_has_no_hypercubes():
    only = Hierarchy(("all",), np.array([-1], dtype=np.int32))
    problem = problem_of(np.array([[2]]), [only, only])
    assert solved(hypercube, problem).suppressed.tolist() == [True]


@pytest.mark.parametrize(("table", "dearest"), [("t2_1k", 204), ("t3_1k", 537)])
def test_generated_tables_cost_no_more_than_measured(
    table: str,
    dearest: int,
    reference_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DISKRET_REFERENCE_DATA", str(reference_data))
    build = run_path(str(Path(__file__).parents[2] / "benchmarks" / "suppression.py"))["build"]
    problem = build(table, "count", tmp_path)
    suppressed = hypercube(problem).suppressed
    assert not np.any(suppressed & problem.frozen)
    assert cost_of(problem, suppressed) <= dearest
