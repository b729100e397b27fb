"""What every method of suppression promises, judged by an attacker that shares no code with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from suppression_problems import (
    cost_of,
    flat,
    halves_problem,
    hard_problems,
    largest_pattern,
    lecture_table,
    no_requirements,
    problem_of,
    problems,
    solved,
    violations,
    with_totals,
)

from diskret.attack import Requirements
from diskret.deadline import Deadline, OutOfTime
from diskret.errors import InputError, ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.suppression import (
    Method,
    Problem,
    cubes,
    greedy,
    hypercube,
    modular,
    network,
    optimal,
    sequential,
)

every_method = pytest.mark.parametrize("method", [sequential, modular, optimal, hypercube, network])
#: Those that ask for no table.
every_method_for_systems = pytest.mark.parametrize("method", [sequential, modular, optimal])


@pytest.fixture
def lecture() -> Problem:
    """Religion by school: the lecture's table, minimum frequency 3."""
    return lecture_table()


@pytest.fixture
def halves() -> Problem:
    """i can rise by 1 only, k1 = k2 follow by a half each, unless q moves as well."""
    return halves_problem()


@every_method
def test_the_lecture_table_hides_10_and_24(method: Method, lecture: Problem):
    pattern = method(lecture)
    secondary = pattern.suppressed.copy()
    secondary[lecture.requirements.cell] = False
    assert np.flatnonzero(secondary).tolist() == [1 * 6 + 2, 5 * 6 + 2]
    assert lecture.system.value[secondary].tolist() == [10, 24]
    assert pattern.complete and pattern.method == getattr(method, "__name__", None)


@every_method
def test_every_secondary_of_the_lecture_table_is_needed(method: Method, lecture: Problem):
    suppressed = method(lecture).suppressed
    assert violations(lecture, suppressed) == []
    for cell in (1 * 6 + 2, 5 * 6 + 2):
        sabotaged = suppressed.copy()
        sabotaged[cell] = False
        assert violations(lecture, sabotaged)


@every_method
def test_frozen_cells_stay_published(method: Method, lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[1 * 6 + 2] = True
    pattern = method(replace(lecture, frozen=frozen))
    assert not np.any(pattern.suppressed & frozen)
    assert violations(lecture, pattern.suppressed) == []


@every_method
def test_a_primary_walled_in_by_frozen_cells_is_named(method: Method, lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[[6, 7, 8, 11]] = True  # the rest of the row of the 2
    with pytest.raises(ProtectionError) as error:
        method(replace(lecture, frozen=frozen))
    assert str(lecture.system.cells[9]) + " = 2" in str(error.value)
    assert "down by 1 and up by 1" in str(error.value)
    assert str(lecture.system.cells[8]) + " = 10" in str(error.value)


@every_method
def test_a_frozen_primary_is_refused(method: Method, lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[9] = True
    with pytest.raises(ProtectionError, match="frozen"):
        method(replace(lecture, frozen=frozen))


@every_method
def test_bounds_that_exclude_the_truth_are_refused(method: Method, lecture: Problem):
    with pytest.raises(InputError, match="exclude the true value of 1 cell"):
        method(replace(lecture, upper=np.where(np.arange(42) == 8, 9, np.inf)))


@every_method
def test_time_that_is_up_leaves_a_safe_pattern_of_cubes(method: Method, lecture: Problem):
    late = replace(lecture, deadline=Deadline.after(-1))
    pattern = method(late)
    assert not pattern.complete and violations(lecture, pattern.suppressed) == []
    assert pattern.proposals is not None


def test_cubes_end_five_seconds_after_all_time(lecture: Problem, monkeypatch: pytest.MonkeyPatch):
    late = replace(lecture, deadline=Deadline.after(-1).share(0.5))
    assert sequential(late).proposals is not None
    monkeypatch.setattr(cubes, "_BEYOND", -1.0)
    with pytest.raises(OutOfTime):
        sequential(late)
    half = replace(lecture, deadline=Deadline.after(1e6).share(0))  # the search is over, no more
    assert sequential(half).proposals is not None


@every_method
def test_a_time_limit_too_short_for_any_pattern_is_an_error(
    method: Method, lecture: Problem, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(greedy, "hide_in_cubes", lambda *_: [])
    with pytest.raises(ProtectionError, match="time limit too short"):
        method(replace(lecture, deadline=Deadline.after(-1)))


@every_method
def test_nothing_to_protect_hides_nothing(method: Method, lecture: Problem):
    nothing = no_requirements()
    assert not method(replace(lecture, requirements=nothing)).suppressed.any()


@every_method
def test_equal_costs_hide_inner_cells_before_totals(method: Method):
    count = with_totals(np.array([1, 5, 5]), [flat(3)])
    problem = problem_of(count, [flat(3)])
    suppressed = method(replace(problem, cost=np.ones(4))).suppressed
    assert suppressed[1] and not suppressed[0]


@every_method
def test_single_children_are_hidden_with_their_parent(method: Method):
    chain = Hierarchy(("Total", "a", "a1", "b", "c"), np.array([-1, 0, 1, 0, 0], dtype=np.int32))
    problem = problem_of(np.array([13, 2, 2, 4, 7]), [chain])
    suppressed = method(problem).suppressed
    assert suppressed[[1, 2]].all()
    assert violations(problem, suppressed) == []


@every_method
def test_known_zeros_leave_only_upward_room(method: Method):
    count = with_totals(np.array([[1, 1, 5], [1, 4, 6], [7, 8, 9]]), [flat(3), flat(3)])
    problem = problem_of(count, [flat(3), flat(3)])
    needs = problem.requirements
    single = problem.system.value[needs.cell] == 1
    problem = replace(
        problem,
        lower=np.ones(16),
        requirements=replace(
            needs,
            lower=np.where(single, 0, needs.lower),
            sliding=np.ones(len(needs.cell), dtype=np.int64),
        ),
    )
    assert violations(problem, method(problem).suppressed) == []


@every_method
def test_progress_reaches_its_total(method: Method, lecture: Problem):
    calls: list[tuple[str, int, int]] = []
    method(replace(lecture, progress=lambda *call: calls.append(call)))
    last = {task: (done, total) for task, done, total in calls}
    assert last["suppress"][0] == last["suppress"][1] > 0


@every_method_for_systems
def test_a_secondary_that_moves_by_a_fraction_gets_more_room(method: Method, halves: Problem):
    cheapest = np.array([True, True, True, True, False, False])
    assert violations(halves, cheapest) == [1, 2, 3]  # the primary itself would be protected
    suppressed = method(halves).suppressed
    assert suppressed[0] and suppressed[5] and not suppressed[4]
    assert violations(halves, suppressed) == []


@every_method_for_systems
def test_counts_are_protected_in_whole_numbers(method: Method, halves: Problem):
    suppressed = method(replace(halves, integer=True)).suppressed
    assert suppressed.tolist() == [True, False, False, False, False, True]


@every_method
def test_sliding_protection_may_need_both_sides(method: Method, lecture: Problem):
    cell = np.array([9])
    needs = Requirements(cell, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), cell)
    bounds = {
        "lower": np.maximum(lecture.system.value - 5.0, 0),
        "upper": lecture.system.value + 5.0,
    }
    with pytest.raises(ProtectionError, match="by 9 in all"):
        method(replace(lecture, requirements=needs, **bounds))
    possible = replace(lecture, requirements=replace(needs, sliding=np.array([7])), **bounds)
    assert violations(possible, method(possible).suppressed) == []


@every_method
def test_pattern_does_not_depend_on_the_scale(method: Method, lecture: Problem):
    scaled = replace(
        lecture,
        system=replace(lecture.system, value=lecture.system.value * 10**11),
        requirements=replace(
            lecture.requirements, lower=np.full(2, 10**11), upper=np.full(2, 10**11)
        ),
        cost=lecture.cost * 1e11,
        integer=False,
    )
    assert np.array_equal(method(scaled).suppressed, method(lecture).suppressed)


@every_method
@given(st.data())
@examples(60)
def test_no_requirement_is_violated(method: Method, data: st.DataObject):
    problem = data.draw(problems(networks=method is network))
    pattern = solved(method, problem)
    assert not np.any(pattern.suppressed & problem.frozen)
    assert violations(problem, pattern.suppressed) == []
    assert cost_of(problem, pattern.suppressed) <= cost_of(problem, largest_pattern(problem))


@every_method
@given(st.data())
@examples(60)
def test_no_requirement_is_violated_with_frozen_cells_bounds_and_a_start(
    method: Method, data: st.DataObject
):
    problem = data.draw(hard_problems(networks=method is network))
    pattern = solved(method, problem)
    assert not np.any(pattern.suppressed & problem.frozen)
    assert violations(problem, pattern.suppressed) == []


@every_method
@given(st.data())
@examples(20)
def test_the_same_input_gives_the_same_pattern(method: Method, data: st.DataObject):
    problem = data.draw(problems(3, networks=method is network))
    first, second = solved(method, problem).suppressed, method(problem).suppressed
    assert np.array_equal(first, second)


@every_method
def test_free_cells_are_hidden_only_where_they_are_needed(method: Method):
    """A cross table that nobody publishes, between two published margins of it."""
    count = with_totals(np.array([[1, 5, 6], [7, 8, 9]]), [flat(2), flat(3)])
    problem = problem_of(count, [flat(2), flat(3)])
    inner = np.zeros((3, 4), dtype=bool)
    inner[1:, 1:] = True
    free = inner.ravel() & (problem.system.value > 2)
    problem = replace(problem, start=free, cost=np.where(free, 0, problem.cost))
    pattern = method(problem)
    assert cost_of(problem, pattern.suppressed) == 0
    assert (pattern.suppressed & free).sum() == 3
    assert violations(problem, pattern.suppressed) == []
