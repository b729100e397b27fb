"""No programme without a limit of its own: work is counted, and what it ends has another answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from suppression_problems import cost_of, flat, is_safe, problem_of, with_totals

from diskret import solver as programmes
from diskret.errors import ProtectionError
from diskret.solver import Solver, Status
from diskret.suppression import (
    Method,
    Pattern,
    Problem,
    blame,
    blocks,
    greedy,
    hypercube,
    modular,
    network,
    optimal,
    sequential,
)
from diskret.suppression.changes import Part, checked
from diskret.suppression.linear import Program
from diskret.suppression.zero_one_program import Cut, Master

METHODS: list[Method] = [sequential, modular, hypercube, optimal]


def counts(seed: int, integer: bool = True) -> Problem:
    """Small counts in three variables."""
    leaves = np.random.default_rng(seed).poisson(3.0, (3, 3, 3))
    trees = [flat(3), flat(3), flat(3)]
    return problem_of(with_totals(leaves, trees), trees, minimum=3, integer=integer)


def hard(seed: int) -> Solver:
    """Equations in whole numbers that take a search many seconds, as a rule in vain."""
    random = np.random.default_rng(seed)
    weights = np.where(random.random((20, 60)) < 0.3, random.integers(1, 10, (20, 60)), 0)
    right = np.rint(1.7 * weights.sum(axis=1))
    solver = Solver(mip_rel_gap=0.0)
    cost = random.integers(1, 50, 60)
    matrix = sparse.csr_array(weights.astype(float))
    solver.load(cost, matrix, columns=(0, 10), rows=(right, right), whole=True)
    return solver


@pytest.mark.long
def test_a_search_in_whole_numbers_ends_after_so_many_turns_at_the_same_place():
    first, again, longer = hard(0), hard(0), hard(0)
    assert [solver.run(turns=60) for solver in (first, again)] == 2 * [Status.OUT_OF_WORK]
    assert longer.run(turns=150) is Status.OUT_OF_WORK
    assert (first.bound, first.pivots) == (again.bound, again.pivots)
    assert first.pivots < longer.pivots
    assert longer.run(turns=150) is Status.OUT_OF_WORK  # a limit holds for one search
    assert longer.run(0) is Status.OUT_OF_TIME


def test_fractions_end_after_so_many_pivots():
    solver = hard(0)
    solver.all_whole(False)
    solver.set(presolve="off", solver="simplex")
    assert solver.run(pivots=5) is Status.OUT_OF_WORK
    assert solver.pivots <= 5
    solver.forget()
    assert solver.run() is Status.OPTIMAL
    assert solver.pivots > 5


def test_an_answer_says_whether_it_was_cut_short(monkeypatch: pytest.MonkeyPatch):
    program = Program(sparse.csr_array(np.array([[1.0, -1.0, -1.0]])))
    everything = np.arange(3)
    program.price(everything, np.array([0.0, 1.0, 2.0]))
    program.bound(everything, np.array([1.0, 0, 0]), np.array([1.0, 9, 9]))
    monkeypatch.setattr(programmes, "_PIVOTS", 0)
    assert (program.solve(cold=True), program.cut_short) == (None, True)
    program.endless = True
    assert program.solve(cold=True) == pytest.approx([1, 1, 0])
    assert not program.cut_short
    program.bound(everything, np.array([1.0, 0, 0]), np.array([1.0, 0, 0]))
    assert (program.solve(cold=True), program.cut_short) == (None, False)


@cache
def cheapest(integer: bool) -> Pattern:
    """The cheapest pattern of `counts(1)`, found with all the work that it takes."""
    least = optimal(counts(1, integer))
    assert least.complete
    return least


def no_pivots(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(programmes, "_PIVOTS", 0)


def no_pivots_and_no_cubes(patch: pytest.MonkeyPatch) -> None:
    no_pivots(patch)
    patch.setattr(greedy, "hide_in_cubes", lambda *_: [])
    patch.setattr(blocks, "hide_in_cubes", lambda *_: [])


def no_work(patch: pytest.MonkeyPatch) -> None:
    """One programme for each block and each table, then cubes."""
    for name in ("_WORK", "_WORK_OF_A_CELL"):
        patch.setattr(blocks, name, 0)
    patch.setattr(greedy, "_WORK", 0)


def no_turns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(programmes, "_TURNS", 0)
    patch.setattr(programmes, "_FEWEST_TURNS", 0)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lack", [no_pivots, no_pivots_and_no_cubes, no_work, no_turns])
@pytest.mark.parametrize("integer", [True, False])
def test_patterns_are_safe_and_bounds_true_however_little_work_is_allowed(
    lack: Callable[[pytest.MonkeyPatch], None],
    method: Method,
    integer: bool,
    monkeypatch: pytest.MonkeyPatch,
):
    problem, least = counts(1, integer), cheapest(integer)
    lack(monkeypatch)
    found = method(problem)
    assert is_safe(problem, found.suppressed)
    cost = cost_of(problem, least.suppressed)
    assert cost_of(problem, found.suppressed) >= cost - 1e-6
    if found.bound is not None:
        assert found.bound <= cost + 1e-6


@pytest.mark.parametrize("lack", [no_pivots, no_turns])
def test_optimal_never_takes_a_search_that_was_cut_short_for_a_proof(
    lack: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
):
    sizes = [flat(3), flat(3)]
    random = np.random.default_rng(5)
    problems = [
        problem_of(with_totals(random.poisson(2.0, (3, 3)), sizes), sizes) for _ in range(4)
    ]
    known = [optimal(problem) for problem in problems]
    assert all(pattern.complete for pattern in known)
    lack(monkeypatch)
    for problem, best in zip(problems, known, strict=True):
        try:
            found = optimal(problem)
        except ProtectionError:
            continue
        assert found.bound is not None
        assert found.bound <= cost_of(problem, best.suppressed) + 1e-6


def test_a_choice_in_fractions_that_was_cut_short_says_nothing(monkeypatch: pytest.MonkeyPatch):
    master = Master(np.array([3.0, 1.0, 2.0]), np.zeros(3, dtype=bool))
    master.add([Cut(np.array([0, 1]), np.ones(2), 1.0), Cut(np.array([1, 2]), np.ones(2), 1.5)])
    monkeypatch.setattr(programmes, "_PIVOTS", 0)
    choice, reduced = master.relaxed(np.inf)
    assert (choice.x, choice.bound, reduced.tolist()) == (None, -np.inf, [0, 0, 0])
    monkeypatch.undo()
    assert master.relaxed(np.inf)[0].bound == pytest.approx(2.0)  # 1 and half of 2


@pytest.mark.parametrize("seconds", [np.inf, 9.0])
def test_a_choice_in_a_block_has_a_limit_of_its_own(
    seconds: float, monkeypatch: pytest.MonkeyPatch
):
    given: list[int | None] = []

    def noted(self: Solver, seconds: float, *, turns: int | None) -> Status:
        given.append(turns)
        return Status.OUT_OF_WORK

    monkeypatch.setattr(Solver, "run", noted)
    master = Master(np.array([3.0, 1.0, 2.0]), np.zeros(3, dtype=bool))
    master.add([Cut(np.array([0, 1]), np.ones(2), 1.0)])
    every = np.ones(3, dtype=bool)
    assert master.best_within(every, every, seconds, 0.0) is None
    assert given == [None if seconds < np.inf else programmes.turns_for(3)]


def test_without_a_limit_no_programme_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch):
    limits: list[float] = []
    run = Solver.run

    def noted(self: Solver, seconds: float | None = None, **work: int | None) -> Status:
        limits.append(np.inf if seconds is None else seconds)
        return run(self, seconds, **work)

    monkeypatch.setattr(Solver, "run", noted)
    for method in (sequential, modular, hypercube, optimal):
        method(counts(0))
    assert len(limits) > 10
    assert set(limits) == {np.inf}


def test_who_is_refused_for_lack_of_work_is_told_so(monkeypatch: pytest.MonkeyPatch):
    problem = counts(1)
    no_pivots_and_no_cubes(monkeypatch)
    no_turns(monkeypatch)
    # no fraction is an answer, as where denominators are huge
    monkeypatch.setattr("diskret.suppression.search.checked", lambda *_: iter(()))
    with pytest.raises(ProtectionError, match="within the work that one search is allowed"):
        sequential(problem)


def test_blame_without_an_answer_claims_nothing_minimal(monkeypatch: pytest.MonkeyPatch):
    trees = [flat(3)]
    problem = problem_of(np.array([7, 1, 3, 3]), trees)
    frozen = problem.frozen.copy()
    frozen[[0, 2, 3]] = True
    problem = Problem(**{**vars(problem), "frozen": frozen})
    assert len(blame.blame(problem, 1).cells) > 0
    no_pivots(monkeypatch)
    assert not blame.blame(problem, 1).irreducible or not blame.blame(problem, 1).cells


def test_network_is_as_safe(monkeypatch: pytest.MonkeyPatch):
    sizes = [flat(4), flat(5)]
    leaves = np.random.default_rng(3).poisson(3.0, (4, 5))
    problem = problem_of(with_totals(leaves, sizes), sizes)
    no_pivots(monkeypatch)
    assert is_safe(problem, network(problem).suppressed)


@pytest.mark.parametrize("divisor", [7, 61, 67 * 61])
def test_a_fraction_becomes_a_change_whatever_its_denominator(divisor: int):
    """67 z0 = z1, and 61 z2 = z0: no small multiple of it is whole."""
    first = 67 if divisor > 67 else divisor
    equations = sparse.csr_array(np.array([[first, -1, 0], [-1, 0, divisor // first]]))
    room, none = np.full(3, 9.0), np.zeros(3, dtype=np.int64)
    here = Part(np.arange(3), equations, room, room, none, none[:2], False, 1.0)
    proposal = np.array([1 / first, 1.0, 1 / divisor])
    assert [c.divisor for c in checked(here, proposal)] == [divisor]
    [change] = checked(here, proposal)
    assert change.step.tolist() == [divisor // first, divisor, 1]
    assert bool(list(checked(replace(here, whole=True), proposal))) is (divisor <= 60)
