"""The optimal method, compared with all patterns of small tables."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module
from math import isclose
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from profiles import examples
from suppression_problems import (
    all_patterns,
    cheapest,
    cost_of,
    flat,
    halves_problem,
    hard_problems,
    lecture_table,
    problem_of,
    problems,
    violations,
    with_totals,
)

from diskret.attack import Requirements
from diskret.deadline import NEVER, Deadline
from diskret.errors import ProtectionError
from diskret.suppression import Pattern, Problem, modular, optimal, sequential
from diskret.suppression.attack_cuts import Attacks
from diskret.suppression.certify import certify
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.zero_one_program import Choice, Cut, Master

# the package has functions of these names
searching: Any = import_module("diskret.suppression.optimal_search")
separating: Any = import_module("diskret.suppression.attack_cuts")
viewing: Any = import_module("diskret.suppression.attacked_choice")


def tried(problem: Problem, most: int = 9) -> Problem:
    """The problem if all its patterns can be tried."""
    assume((~problem.frozen).sum() - len(problem.requirements.cell) <= most)
    return problem


def found(problem: Problem) -> Pattern | None:
    """The pattern of the method, or None where it says rightly that there is none."""
    try:
        return optimal(problem)
    except ProtectionError:
        assert cheapest(problem) == np.inf
        return None


@given(problems(3, tiny=True))
@examples(60)
def test_no_pattern_of_all_is_cheaper(problem: Problem):
    pattern = found(tried(problem))
    if pattern is not None:
        assert violations(problem, pattern.suppressed) == []
        assert pattern.complete
        assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem)


@given(hard_problems(tiny=True))
@examples(60)
def test_no_pattern_of_all_is_cheaper_in_hard_problems(problem: Problem):
    pattern = found(tried(problem))
    if pattern is not None:
        assert violations(problem, pattern.suppressed) == []
        assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem)


@given(hard_problems(tiny=True), st.integers(0, 2**32 - 1))
@examples(40)
def test_costs_with_fractions_are_met_within_the_gap(problem: Problem, seed: int):
    cost = problem.cost + np.random.default_rng(seed).random(len(problem.cost))
    pattern = found(tried(replace(problem, cost=cost)))
    if pattern is not None:
        best = cheapest(replace(problem, cost=cost))
        secondary = pattern.suppressed.copy()
        secondary[problem.requirements.cell] = False
        assert pattern.bound is not None
        assert pattern.bound <= best * (1 + 1e-9)
        assert best <= cost[secondary].sum() * (1 + 1e-9) <= pattern.bound * (1 + 1.1e-4)


@given(hard_problems(tiny=True), st.booleans())
@examples(60)
def test_what_serves_large_tables_is_right_in_small_ones_too(problem: Problem, limited: bool):
    """Blocks of a few groups, and components that are taken for large."""
    limit = Deadline.after(600 if limited else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_SMALL_PART", 0)
        patch.setattr(searching, "_SMALL_GAP", 0)
        patch.setattr(searching, "_SLOW", np.inf)
        patch.setattr(searching, "_BLOCK", 3)
        patch.setattr(separating, "_LARGE", 0)
        patch.setattr(viewing, "_NEARBY", 1)
        pattern = found(replace(tried(problem), deadline=limit))
    if pattern is not None:
        assert violations(problem, pattern.suppressed) == []
        assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem)


@pytest.mark.long
def test_blocks_improve_a_pattern(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    problem = generated("t3_1k", "value", reference_data, tmp_path, monkeypatch)
    monkeypatch.setattr(searching, "_SMALL_PART", 1)
    monkeypatch.setattr(searching, "_SLOW", np.inf)
    improved: list[bool] = []
    improve = searching.Closing._improve_within

    def watched(self: Any, *arguments: Any) -> None:
        before = self.best.upper
        improve(self, *arguments)
        improved.append(self.best.upper < before)

    monkeypatch.setattr(searching.Closing, "_improve_within", watched)
    pattern = optimal(problem)
    assert any(improved)
    assert pattern.complete
    assert isclose(cost_of(problem, pattern.suppressed), 115_774, rel_tol=1e-4)


# ── inequalities ────────────────────────────────────────────────────────────────


def broken(
    problem: Problem, cells: Changeable, cuts: list[Cut]
) -> list[tuple[NDArray[np.bool_], Cut]]:
    """Safe patterns, each with an inequality that it violates."""
    found: list[tuple[NDArray[np.bool_], Cut]] = []
    for suppressed in all_patterns(problem):
        hidden = np.zeros(len(cells.down))
        hidden[cells.group[suppressed & (cells.group >= 0)]] = 1
        wrong = [cut for cut in cuts if cut.weight @ hidden[cut.group] < cut.least - 1e-9]
        if wrong and not violations(problem, suppressed):
            found += [(suppressed, cut) for cut in wrong]
    return found


def inequalities(problem: Problem, seed: int) -> tuple[Changeable, list[Cut]]:
    """All kinds, against a choice in fractions and one of 0 and 1."""
    cells = changeable(problem)
    attacks = Attacks(cells, certify(cells, cells.primary), cells.primary)
    random = np.random.default_rng(seed)
    x = random.random(len(cells.down)) * (random.random(len(cells.down)) < 0.7)
    x[random.random(len(x)) < 0.3] = 1
    cuts = attacks.of_rows() + attacks.companions(x)
    # again, as what was learnt from one choice is used for the next
    for choice in (x, (x + random.random(len(x))) / 2):
        cuts += attacks.of_fractions(choice)
        cuts += attacks.of_choice(np.rint(choice))
    return cells, cuts


@given(hard_problems(tiny=True), st.integers(0, 2**32 - 1), st.sampled_from((0, 5000)))
@examples(60)
def test_every_safe_pattern_satisfies_every_inequality(problem: Problem, seed: int, large: int):
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(separating, "_LARGE", large)
            cells, cuts = inequalities(tried(problem, 8), seed)
    except ProtectionError:  # nothing could be hidden, or a primary is fixed
        return
    assert broken(problem, cells, cuts) == []


@pytest.mark.long
def test_an_inequality_that_asks_too_much_is_noticed():
    problem = problem_of(with_totals(np.array([[1, 3], [4, 5]]), [flat(2)] * 2), [flat(2)] * 2)
    cells, cuts = inequalities(problem, 0)
    sabotaged = [replace(cut, least=cut.least + 1) for cut in cuts]
    assert broken(problem, cells, sabotaged)


# ── the whole method ────────────────────────────────────────────────────────────


def test_the_lecture_table_costs_34():
    pattern = optimal(lecture_table())
    assert cost_of(lecture_table(), pattern.suppressed) == pattern.bound == 34


def test_a_secondary_that_moves_by_a_fraction_is_no_bargain():
    """The three cells that cost 1 each would protect i, but move by a half only."""
    pattern = optimal(halves_problem())
    assert pattern.suppressed.tolist() == [True, False, False, False, False, True]
    assert pattern.bound == 50


def test_a_free_cell_that_moves_by_a_fraction_is_not_hidden():
    free = np.array([0.0, 0, 0, 0, 100, 50])
    problem = replace(halves_problem(), cost=free)
    pattern = optimal(problem)
    assert violations(problem, pattern.suppressed) == []
    assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem) == 50


def test_equal_costs_hide_inner_cells_before_totals():
    count = with_totals(np.array([[1, 5, 5], [5, 5, 5]]), [flat(2), flat(3)])
    problem = problem_of(count, [flat(2), flat(3)])
    pattern = optimal(replace(problem, cost=np.ones(12)))
    assert not pattern.suppressed.reshape(3, 4)[0].any()
    assert not pattern.suppressed.reshape(3, 4)[:, 0].any()


def test_nothing_to_hide_costs_nothing():
    problem = lecture_table()
    nothing = Requirements(*np.empty((4, 0), dtype=np.int64))
    pattern = optimal(replace(problem, requirements=nothing))
    assert pattern.bound == 0 and pattern.complete and not pattern.suppressed.any()


def test_aliases_of_unsafe_cells_are_part_of_cost_and_bound():
    count = with_totals(np.array([[2, 0], [5, 6], [7, 8]]), [flat(3), flat(2)])
    problem = problem_of(count, [flat(3), flat(2)])
    problem = replace(problem, requirements=Requirements(np.array([4]), *np.ones((3, 1), int)))
    pattern = optimal(problem)
    assert pattern.suppressed[3]  # the total of the row, which is the same cell
    assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem)


def test_without_any_inequality_exact_judgement_still_finds_the_optimum(
    monkeypatch: pytest.MonkeyPatch,
):
    def nothing(self: Attacks, *_: object, **__: object) -> list[Cut]:
        return []

    for name in ("of_rows", "companions", "of_choice", "of_fractions"):
        monkeypatch.setattr(Attacks, name, nothing)
    count = with_totals(np.array([[1, 3, 5], [4, 3, 6]]), [flat(2), flat(3)])
    problem = problem_of(count, [flat(2), flat(3)])
    pattern = optimal(problem)
    assert violations(problem, pattern.suppressed) == []
    assert cost_of(problem, pattern.suppressed) == pattern.bound == cheapest(problem)


@pytest.mark.long
def test_a_time_limit_gives_a_safe_pattern_with_its_bound(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    problem = generated("t2_1k", "value", reference_data, tmp_path, monkeypatch)
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def late(task: str, done: int, total: int) -> None:
        if task == "prove" and done > 10:
            clock[0] = 2.0

    problem = replace(problem, progress=late, deadline=Deadline(1.0))
    pattern = optimal(problem)
    cost = cost_of(problem, pattern.suppressed)
    assert not pattern.complete
    assert pattern.bound is not None and 0 < pattern.bound < cost
    assert cost <= cost_of(problem, sequential(replace(problem, deadline=NEVER)).suppressed)
    assert violations(problem, pattern.suppressed) == []


@pytest.mark.long
def test_fractions_alone_guide_a_cheaper_pattern(
    reference_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    problem = generated("t2_1k", "value", reference_data, tmp_path, monkeypatch)
    quick = cost_of(problem, modular(problem).suppressed)
    monkeypatch.setattr(searching.Closing, "_whole", lambda _: False)
    pattern = optimal(replace(problem, deadline=Deadline.after(1_000)))
    assert cost_of(problem, pattern.suppressed) < quick
    assert violations(problem, pattern.suppressed) == []


def test_a_solver_in_trouble_leaves_a_safe_pattern(monkeypatch: pytest.MonkeyPatch):
    def trouble(*_: object, **__: object) -> None:
        raise ProtectionError("the linear solver found neither a solution nor that there is none")

    monkeypatch.setattr(Attacks, "of_choice", trouble)
    monkeypatch.setattr(Attacks, "of_fractions", trouble)
    pattern = optimal(halves_problem())
    assert not pattern.complete
    assert violations(halves_problem(), pattern.suppressed) == []
    assert pattern.bound is not None and pattern.bound <= 50


def test_a_solver_that_says_the_same_again_ends_the_search(monkeypatch: pytest.MonkeyPatch):
    """As release 1.16.0 of HiGHS does: its x is the known one, and its objective another one's."""
    asked: list[NDArray[np.bool_]] = []

    def known(self: Master, seconds: float, start: NDArray[np.bool_], gap: float) -> Choice:
        asked.append(start)
        assert len(asked) < 50
        return Choice(np.ones(len(start)), 0.0)

    monkeypatch.setattr(Master, "whole", known)
    monkeypatch.setattr(Attacks, "of_fractions", lambda *_: [])
    monkeypatch.setattr(Attacks, "companions", lambda *_: [])
    pattern = optimal(halves_problem())
    assert asked and not pattern.complete
    assert violations(halves_problem(), pattern.suppressed) == []


@pytest.mark.parametrize(
    ("table", "what", "cost"), [("t2_1k", "count", 188), ("t3_1k", "count", 503)]
)
def test_generated_tables_cost_what_others_proved(
    table: str,
    what: str,
    cost: int,
    reference_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    problem = generated(table, what, reference_data, tmp_path, monkeypatch)
    pattern = optimal(problem)
    assert not np.any(pattern.suppressed & problem.frozen)
    assert isclose(cost_of(problem, pattern.suppressed), cost)
    assert pattern.bound == cost


def generated(
    table: str, what: str, reference: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Problem:
    """A table of the benchmark script."""
    monkeypatch.setenv("DISKRET_REFERENCE_DATA", str(reference))
    build = run_path(str(Path(__file__).parents[2] / "benchmarks" / "suppression.py"))["build"]
    return build(table, what, folder)
