"""Blocks of the table, and patterns made in them at the same time."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from profiles import examples
from suppression_problems import (
    REGIONS,
    cost_of,
    flat,
    hard_problems,
    problem_of,
    problems,
    solved,
    violations,
    with_totals,
)

from diskret import parallel
from diskret.deadline import Deadline
from diskret.suppression import (
    Method,
    Problem,
    Work,
    cleanup,
    hypercube,
    modular,
    network,
    sequential,
)
from diskret.suppression.blocks import Blocks
from diskret.suppression.changeable import changeable


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch):
    """Let small tables take the way of large ones."""
    monkeypatch.setattr(cleanup, "_SMALL", 0)


def regional(seed: int = 1, largest: int = 9) -> Problem:
    """Nine regions by nine others."""
    leaves = np.random.default_rng(seed).integers(0, largest, (6, 6))
    return problem_of(with_totals(leaves, [REGIONS, REGIONS]), [REGIONS, REGIONS], minimum=3)


# ── blocks ──────────────────────────────────────────────────────────────────────


def test_blocks_grow_from_siblings_to_the_table():
    problem = regional()
    blocks = Blocks(problem.system.tables, np.arange(81))
    around = list(blocks.around(2 * 9 + 6))  # N1 × S1
    assert [block.size for block in around] == [9, 24, 27, 72, 81]
    siblings = blocks.groups(around[0])
    assert siblings.tolist() == [9 * i + j for i in (2, 3, 4) for j in (6, 7, 8)]
    assert blocks.groups(around[-1]).tolist() == list(range(81))


def test_a_total_is_only_in_blocks_of_all_codes():
    blocks = Blocks(regional().system.tables, np.arange(81))
    first = next(blocks.around(0))
    assert first.size == 81


def test_cells_that_several_tables_share_have_no_block():
    tables = regional().system.tables * 2
    twice = np.r_[np.arange(81), np.arange(81, 162)]
    twice[81] = 0
    blocks = Blocks(tables, twice)
    assert list(blocks.around(0)) == []
    assert next(blocks.around(82)).table == 1


@given(problems(3))
@examples(60)
def test_what_lies_below_a_block_lies_in_it_and_blocks_of_a_kind_are_apart(problem: Problem):
    cells = changeable(problem)
    n = len(cells.group)
    blocks = Blocks(problem.system.tables, np.arange(n))
    equations = problem.system.equations
    every = {block: set(blocks.groups(block)) for i in range(n) for block in blocks.around(i)}
    for i in range(n):
        around = [every[block] for block in blocks.around(i)]
        assert i in around[0]
        assert all(a <= b for a, b in zip(around, around[1:], strict=False))
        assert around[-1] == set(range(n))
    for row in range(equations.shape[0]):
        members = equations.indices[equations.indptr[row] : equations.indptr[row + 1]]
        total, parts = members[0], set(members[1:])
        assert all(parts <= inside for inside in every.values() if total in inside)
    for one, other in combinations(every, 2):
        assert one.kind != other.kind or not every[one] & every[other]


# ── patterns ────────────────────────────────────────────────────────────────────


@given(hard_problems())
@examples(100)
def test_patterns_found_in_blocks_are_safe(problem: Problem):
    assert violations(problem, solved(modular, problem).suppressed) == []


@pytest.mark.parametrize("seed", range(5))
def test_the_pattern_does_not_depend_on_the_number_of_cores(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    problem = regional(seed)
    patterns = []
    for cores in (1, 2, 7):
        monkeypatch.setattr(parallel, "cores", lambda cores=cores: cores)
        patterns.append(modular(problem).suppressed)
    assert np.array_equal(patterns[0], patterns[1]) and np.array_equal(patterns[0], patterns[2])


def test_what_a_block_cannot_protect_is_protected_beyond_it():
    # N1 alone is not empty among its siblings: something outside has to move
    leaves = np.full((6, 6), 8)
    leaves[:3] = 0
    leaves[0, 0] = 1
    leaves[:, 1:3] = 0
    problem = problem_of(with_totals(leaves, [REGIONS, REGIONS]), [REGIONS, REGIONS])
    pattern = modular(problem)
    assert violations(problem, pattern.suppressed) == []
    assert cost_of(problem, pattern.suppressed) == cost_of(problem, sequential(problem).suppressed)


def test_groups_that_two_blocks_share_are_not_searched_at_the_same_time():
    problem = regional()
    frozen = problem.frozen.copy()
    frozen[::7] = True
    frozen[problem.requirements.cell] = False
    problem = replace(problem, frozen=frozen)
    assert violations(problem, solved(modular, problem).suppressed) == []


# ── time and budget ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", [sequential, modular, hypercube, network])
def test_the_work_done_until_a_deadline_repeats_as_a_budget(
    method: Method, monkeypatch: pytest.MonkeyPatch
):
    leaves = np.random.default_rng(3).integers(0, 6, (6, 6))
    problem = problem_of(with_totals(leaves, [REGIONS, flat(6)]), [REGIONS, flat(6)], minimum=3)
    assert method(problem).complete
    candidates = 0

    def late(task: str, done: int, total: int) -> None:
        nonlocal candidates
        candidates += task == "publish again"
        if candidates == 2:
            monkeypatch.setattr(time, "monotonic", lambda: 2.0)

    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    work = Work()
    cut = method(replace(problem, work=work, deadline=Deadline(1.0), progress=late))
    assert not cut.complete and 0 < work.done
    assert violations(problem, cut.suppressed) == []
    again = method(replace(problem, work=Work(budget=work.done)))
    assert not again.complete
    assert np.array_equal(again.suppressed, cut.suppressed)


def test_one_flat_dimension_has_a_single_block():
    problem = problem_of(with_totals(np.array([1, 4, 6]), [flat(3)]), [flat(3)])
    assert modular(problem).suppressed.tolist() == [False, True, True, False]
