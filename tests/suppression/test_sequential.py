"""The sequential method, judged by an attacker that shares no code with it."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, milp

from diskret.attack import Requirements
from diskret.errors import InputError, ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.suppression import Pattern, Problem, sequential
from diskret.system import Cell, System
from diskret.tables import Dimension, Table

# ── an attacker of the test's own ───────────────────────────────────────────────


def violations(problem: Problem, suppressed: NDArray[np.bool_]) -> list[int]:
    """Cells whose requirement the attacker's interval does not meet, by brute force."""
    requirements = problem.requirements
    needs = {
        int(cell): (int(lower), int(upper), max(int(sliding), 1))
        for cell, lower, upper, sliding in zip(
            requirements.cell,
            requirements.lower,
            requirements.upper,
            requirements.sliding,
            strict=True,
        )
    }
    wrong = [cell for cell in needs if not suppressed[cell]]
    for cell in np.flatnonzero(suppressed).tolist():
        below, above, width = needs.get(cell, (0, 0, 1))
        down = -extreme(problem, suppressed, cell, -1)
        up = extreme(problem, suppressed, cell, 1)
        if down < below - 1e-6 or up < above - 1e-6 or down + up < width - 1e-6:
            wrong.append(cell)
    return wrong


def extreme(problem: Problem, suppressed: NDArray[np.bool_], cell: int, sign: int) -> float:
    """The largest change of a cell (the smallest for sign -1), up to 100 units."""
    hidden = np.flatnonzero(suppressed)
    value = problem.system.value[hidden]
    lower, upper = problem.lower[hidden] - value, problem.upper[hidden] - value
    at = int(np.searchsorted(hidden, cell))
    lower[at], upper[at] = max(lower[at], -100), min(upper[at], 100)
    matrix = problem.system.equations.toarray().astype(float)[:, hidden]
    goal = np.zeros(len(hidden))
    goal[at] = -sign
    if problem.integer:
        lower, upper = np.ceil(lower), np.floor(upper)
        answer = milp(
            goal,
            integrality=np.ones(len(hidden)),
            bounds=(lower, upper),
            constraints=LinearConstraint(matrix, 0, 0),
        )
    else:
        answer = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=np.c_[lower, upper])
    assert answer.status == 0
    return float(answer.x[at])


# ── problems ────────────────────────────────────────────────────────────────────


def problem_of(
    count: NDArray[np.int64],
    hierarchies: list[Hierarchy],
    minimum: int = 3,
    integer: bool = True,
    level: int = 1,
) -> Problem:
    """Protect all cells below `minimum` of a table that is given with its totals."""
    dimensions = tuple(
        Dimension(f"v{axis}", hierarchy) for axis, hierarchy in enumerate(hierarchies)
    )
    system = System.of_table(Table(dimensions, count))
    value = system.value
    cell = np.flatnonzero((value > 0) & (value < minimum))
    levels = np.full(len(cell), level)
    return Problem(
        system=system,
        requirements=Requirements(
            cell, np.minimum(levels, value[cell]), levels, np.zeros_like(levels)
        ),
        cost=value.astype(np.float64),
        frozen=value == 0,
        lower=np.zeros(len(value)),
        upper=np.full(len(value), np.inf),
        integer=integer,
    )


def with_totals(leaves: NDArray[np.int64], hierarchies: list[Hierarchy]) -> NDArray[np.int64]:
    """All combinations of codes from the combinations of leaf codes."""
    for axis, hierarchy in enumerate(hierarchies):
        below = np.zeros((len(hierarchy), len(hierarchy.leaves)), dtype=np.int64)
        for column, leaf in enumerate(hierarchy.leaves):
            below[hierarchy.ancestors[leaf], column] = 1
        leaves = np.moveaxis(np.tensordot(below, leaves, (1, axis)), 0, axis)
    return leaves


def flat(codes: int) -> Hierarchy:
    """Some codes below one total."""
    return Hierarchy(
        ("Total", *(f"c{i}" for i in range(codes))), np.r_[-1, np.zeros(codes)].astype(np.int32)
    )


@st.composite
def hierarchies(draw: st.DrawFn, largest: int) -> Hierarchy:
    """A small tree; chains of single children are frequent."""
    size = draw(st.integers(2, largest))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, size)]
    return Hierarchy(tuple(f"c{i}" for i in range(size)), np.array(parent, dtype=np.int32))


@st.composite
def problems(draw: st.DrawFn, dimensions: int = 4) -> Problem:
    """Tables of one to four dimensions with hierarchies, zeros, ties and singletons."""
    d = draw(st.integers(1, dimensions))
    trees = [draw(hierarchies({1: 7, 2: 6, 3: 4, 4: 3}[d])) for _ in range(d)]
    shape = tuple(len(tree.leaves) for tree in trees)
    size = int(np.prod(shape))
    sizes = st.sampled_from([0, 0, 1, 1, 2, 3, 3, 4, 5, 8, 8, 13])
    leaves = np.array(draw(st.lists(sizes, min_size=size, max_size=size)), dtype=np.int64)
    count = with_totals(leaves.reshape(shape), trees)
    integer = draw(st.booleans())
    problem = problem_of(count, trees, integer=integer, level=1 if integer else draw(levels))
    return problem


levels = st.sampled_from([1, 2, 3])


@st.composite
def hard_problems(draw: st.DrawFn) -> Problem:
    """The same with frozen cells, an attacker's bounds, sliding levels, zeros, costs, a start."""
    problem = draw(problems(3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    value, n = problem.system.value, len(problem.system.value)
    primary = np.zeros(n, dtype=bool)
    primary[problem.requirements.cell] = True
    sometimes = random.random(n)
    frozen = (value == 0) & (draw(st.booleans()) | (sometimes < 0.5))
    frozen |= ~primary & (sometimes < draw(st.sampled_from([0, 0.1, 0.2])))
    known = draw(st.sampled_from([np.inf, 0.5, 1.0]))
    share = known * value if np.isfinite(known) else np.full(n, np.inf)
    return replace(
        problem,
        frozen=frozen,
        lower=np.maximum(value - share, 0),
        upper=value + share,
        cost=random.integers(0, 5, n).astype(np.float64),
        requirements=replace(
            problem.requirements, sliding=random.integers(0, 4, int(primary.sum()))
        ),
        start=~frozen & (random.random(n) < 0.2) if draw(st.booleans()) else None,
    )


def no_requirements() -> Requirements:
    """No primary cell at all."""
    return Requirements(*np.empty((4, 0), dtype=np.int64))


def largest_pattern(problem: Problem) -> NDArray[np.bool_]:
    """Everything suppressed that is not frozen."""
    return ~problem.frozen


def cost_of(problem: Problem, suppressed: NDArray[np.bool_]) -> float:
    """Cost of the secondaries."""
    secondary = suppressed.copy()
    secondary[problem.requirements.cell] = False
    return float(problem.cost[secondary].sum())


def solved(problem: Problem) -> Pattern:
    """A pattern, or no example if even the largest one violates a primary's requirement."""
    try:
        return sequential(problem)
    except ProtectionError:
        impossible = set(violations(problem, largest_pattern(problem)))
        assert impossible & set(problem.requirements.cell.tolist())
        assume(False)
        raise


# ── what is promised ────────────────────────────────────────────────────────────


@pytest.fixture
def lecture() -> Problem:
    """Religion by school: the lecture's table, minimum frequency 3."""
    rows = [
        [894, 315, 320, 13, 4, 242],
        [47, 13, 10, 2, 0, 22],
        [23, 8, 8, 0, 0, 7],
        [356, 136, 128, 3, 0, 89],
        [181, 76, 90, 3, 0, 12],
        [79, 24, 24, 1, 0, 30],
        [208, 58, 60, 4, 4, 82],
    ]
    return problem_of(np.array(rows), [flat(6), flat(5)])


def test_the_lecture_table_hides_10_and_24(lecture: Problem):
    pattern = sequential(lecture)
    secondary = pattern.suppressed.copy()
    secondary[lecture.requirements.cell] = False
    assert np.flatnonzero(secondary).tolist() == [1 * 6 + 2, 5 * 6 + 2]
    assert lecture.system.value[secondary].tolist() == [10, 24]
    assert pattern.complete and pattern.method == "sequential"


def test_every_secondary_of_the_lecture_table_is_needed(lecture: Problem):
    suppressed = sequential(lecture).suppressed
    assert violations(lecture, suppressed) == []
    for cell in (1 * 6 + 2, 5 * 6 + 2):
        sabotaged = suppressed.copy()
        sabotaged[cell] = False
        assert violations(lecture, sabotaged)


def test_frozen_cells_stay_published(lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[1 * 6 + 2] = True
    pattern = sequential(replace(lecture, frozen=frozen))
    assert not np.any(pattern.suppressed & frozen)
    assert violations(lecture, pattern.suppressed) == []


def test_a_primary_walled_in_by_frozen_cells_is_named(lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[[6, 7, 8, 11]] = True  # the rest of the row of the 2
    with pytest.raises(ProtectionError) as error:
        sequential(replace(lecture, frozen=frozen))
    assert str(lecture.system.cells[9]) + " = 2" in str(error.value)
    assert "down by 1 and up by 1" in str(error.value)
    assert str(lecture.system.cells[8]) + " = 10" in str(error.value)


def test_a_frozen_primary_is_refused(lecture: Problem):
    frozen = lecture.frozen.copy()
    frozen[9] = True
    with pytest.raises(ProtectionError, match="frozen"):
        sequential(replace(lecture, frozen=frozen))


def test_bounds_that_exclude_the_truth_are_refused(lecture: Problem):
    with pytest.raises(InputError, match="exclude the true value of 1 cell"):
        sequential(replace(lecture, upper=np.where(np.arange(42) == 8, 9, np.inf)))


def test_a_time_limit_too_short_for_any_pattern_is_an_error(lecture: Problem):
    with pytest.raises(ProtectionError, match="time limit too short"):
        sequential(replace(lecture, deadline=time.monotonic() - 1))


def test_a_time_limit_that_only_cuts_the_tidying_up_is_reported(
    lecture: Problem, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def late(task: str, done: int, total: int) -> None:
        if (task, done) == ("suppress", total):
            clock[0] = 2.0

    problem = replace(lecture, progress=late, deadline=1.0)
    pattern = sequential(problem)
    assert not pattern.complete
    assert violations(problem, pattern.suppressed) == []


def test_nothing_to_protect_hides_nothing(lecture: Problem):
    nothing = no_requirements()
    assert not sequential(replace(lecture, requirements=nothing)).suppressed.any()


def test_a_start_is_used_but_not_kept_where_nobody_needs_it(lecture: Problem):
    start = np.zeros(42, dtype=bool)
    start[[7, 31, 0]] = True  # 13 and 24 (rows of the primaries), and the grand total
    suppressed = sequential(replace(lecture, start=start)).suppressed
    assert suppressed[[7, 31]].all() and not suppressed[0]
    assert violations(lecture, suppressed) == []


def test_equal_costs_hide_inner_cells_before_totals():
    count = with_totals(np.array([1, 5, 5]), [flat(3)])
    problem = problem_of(count, [flat(3)])
    suppressed = sequential(replace(problem, cost=np.ones(4))).suppressed
    assert suppressed[1] and not suppressed[0]


def test_single_children_are_hidden_with_their_parent():
    chain = Hierarchy(("Total", "a", "a1", "b", "c"), np.array([-1, 0, 1, 0, 0], dtype=np.int32))
    problem = problem_of(np.array([13, 2, 2, 4, 7]), [chain])
    suppressed = sequential(problem).suppressed
    assert suppressed[[1, 2]].all()
    assert violations(problem, suppressed) == []


def test_known_zeros_leave_only_upward_room():
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
    assert violations(problem, sequential(problem).suppressed) == []


def test_progress_reaches_its_total(lecture: Problem):
    calls: list[tuple[str, int, int]] = []
    sequential(replace(lecture, progress=lambda *call: calls.append(call)))
    last = {task: (done, total) for task, done, total in calls}
    assert last["suppress"][0] == last["suppress"][1] > 0


@pytest.fixture
def halves() -> Problem:
    """i can rise by 1 only, k1 = k2 follow by a half each, unless q moves as well."""
    names = ("i", "k1", "k2", "m", "p", "q")
    system = System(
        cells=[Cell("x", "", (("cell", name),)) for name in names],
        value=np.array([7, 5, 5, 9, 4, 3]),
        equations=sparse.csr_array(
            np.array(
                [[1, -1, -1, 0, 0, 1], [0, -1, 0, 1, -1, 0], [0, 0, -1, 1, -1, 0]], dtype=np.int8
            )
        ),
    )
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    return Problem(
        system=system,
        requirements=Requirements(zero, zero, one, zero),
        cost=np.array([0.0, 1, 1, 1, 100, 50]),
        frozen=np.zeros(6, dtype=bool),
        lower=np.array([7.0, 0, 0, 0, 0, 0]),
        upper=np.array([8.0, *[np.inf] * 5]),
    )


def test_a_secondary_that_moves_by_a_fraction_gets_more_room(halves: Problem):
    cheapest = np.array([True, True, True, True, False, False])
    assert violations(halves, cheapest) == [1, 2, 3]  # the primary itself would be protected
    suppressed = sequential(halves).suppressed
    assert suppressed.tolist() == [True, True, True, True, False, True]
    assert violations(halves, suppressed) == []


def test_counts_are_protected_in_whole_numbers(halves: Problem):
    suppressed = sequential(replace(halves, integer=True)).suppressed
    assert suppressed.tolist() == [True, False, False, False, False, True]


def test_sliding_protection_may_need_both_sides(lecture: Problem):
    cell = np.array([9])
    needs = Requirements(cell, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), cell)
    bounds = {
        "lower": np.maximum(lecture.system.value - 5.0, 0),
        "upper": lecture.system.value + 5.0,
    }
    with pytest.raises(ProtectionError, match="by 9 in all"):
        sequential(replace(lecture, requirements=needs, **bounds))
    possible = replace(lecture, requirements=replace(needs, sliding=np.array([7])), **bounds)
    assert violations(possible, sequential(possible).suppressed) == []


def test_pattern_does_not_depend_on_the_scale(lecture: Problem):
    scaled = replace(
        lecture,
        system=replace(lecture.system, value=lecture.system.value * 10**11),
        requirements=replace(
            lecture.requirements, lower=np.full(2, 10**11), upper=np.full(2, 10**11)
        ),
        cost=lecture.cost * 1e11,
        integer=False,
    )
    assert np.array_equal(sequential(scaled).suppressed, sequential(lecture).suppressed)


@pytest.mark.parametrize(("table", "dearest"), [("t2_1k", 215), ("t3_1k", 541)])
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
    suppressed = sequential(problem).suppressed
    assert not np.any(suppressed & problem.frozen)
    assert cost_of(problem, suppressed) <= dearest


@given(problems())
@settings(max_examples=60, deadline=None)
def test_no_requirement_is_violated(problem: Problem):
    pattern = solved(problem)
    assert not np.any(pattern.suppressed & problem.frozen)
    assert violations(problem, pattern.suppressed) == []
    assert cost_of(problem, pattern.suppressed) <= cost_of(problem, largest_pattern(problem))


@given(hard_problems())
@settings(max_examples=60, deadline=None)
def test_no_requirement_is_violated_with_frozen_cells_bounds_and_a_start(problem: Problem):
    pattern = solved(problem)
    assert not np.any(pattern.suppressed & problem.frozen)
    assert violations(problem, pattern.suppressed) == []


@given(problems(3))
@settings(max_examples=20, deadline=None)
def test_the_same_input_gives_the_same_pattern(problem: Problem):
    first, second = solved(problem).suppressed, sequential(problem).suppressed
    assert np.array_equal(first, second)


@given(st.lists(st.integers(0, 9), min_size=4, max_size=6), st.sampled_from([1, 2]))
@settings(max_examples=15, deadline=None)
def test_tiny_tables_cost_no_less_than_the_optimum(leaves: list[int], rows: int):
    trees = [flat(rows), flat(len(leaves) // rows)]
    inner = np.array(leaves[: rows * (len(leaves) // rows)]).reshape(rows, -1)
    problem = problem_of(with_totals(inner, trees), trees)
    found = cost_of(problem, solved(problem).suppressed)
    candidates = np.flatnonzero(~problem.frozen)
    candidates = candidates[~np.isin(candidates, problem.requirements.cell)]
    best = np.inf
    for choice in product((False, True), repeat=len(candidates)):
        suppressed = np.zeros(len(problem.frozen), dtype=bool)
        suppressed[problem.requirements.cell] = True
        suppressed[candidates[list(choice)]] = True
        cost = cost_of(problem, suppressed)
        if cost < best and not violations(problem, suppressed):
            best = cost
    assert best <= found <= 2 * best
