"""What the sequential method promises beyond what every method does."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from suppression_problems import (
    cheapest,
    cost_of,
    flat,
    lecture_table,
    problem_of,
    solved,
    violations,
    with_totals,
)

from diskret.deadline import Deadline
from diskret.suppression import Method, Problem, certify, hypercube, modular, sequential
from diskret.suppression.changes import Reach


@pytest.fixture
def lecture() -> Problem:
    """Religion by school: the lecture's table, minimum frequency 3."""
    return lecture_table()


def test_a_time_limit_that_only_cuts_the_tidying_up_is_reported(
    lecture: Problem, monkeypatch: pytest.MonkeyPatch
):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def late(task: str, done: int, total: int) -> None:
        if (task, done) == ("suppress", total):
            clock[0] = 2.0

    problem = replace(lecture, progress=late, deadline=Deadline(1.0))
    pattern = sequential(problem)
    assert not pattern.complete
    assert violations(problem, pattern.suppressed) == []


@pytest.mark.parametrize("method", [sequential, modular, hypercube])
def test_what_primary_cells_show_alone_takes_a_quarter_of_the_time(
    method: Method, lecture: Problem, monkeypatch: pytest.MonkeyPatch
):
    clock, left = [0.0], list[float]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def slow(cells, hidden, one_by_one, seconds, waiting):
        left.append(seconds())
        clock[0] = 50.0
        left.append(seconds())
        return Reach(len(cells.down))

    monkeypatch.setattr(certify, "certify", slow)
    problem = replace(lecture, deadline=Deadline(100.0))
    assert violations(problem, method(problem).suppressed) == []
    assert left == [25.0, -25.0]


def test_a_start_is_used_but_not_kept_where_nobody_needs_it(lecture: Problem):
    start = np.zeros(42, dtype=bool)
    start[[7, 31, 0]] = True  # 13 and 24 (rows of the primaries), and the grand total
    suppressed = sequential(replace(lecture, start=start)).suppressed
    assert suppressed[[7, 31]].all() and not suppressed[0]
    assert violations(lecture, suppressed) == []


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


@given(st.lists(st.integers(0, 9), min_size=4, max_size=6), st.sampled_from([1, 2]))
@examples(15)
def test_tiny_tables_cost_no_less_than_the_optimum(leaves: list[int], rows: int):
    trees = [flat(rows), flat(len(leaves) // rows)]
    inner = np.array(leaves[: rows * (len(leaves) // rows)]).reshape(rows, -1)
    problem = problem_of(with_totals(inner, trees), trees)
    found = cost_of(problem, solved(sequential, problem).suppressed)
    best = cheapest(problem)
    assert best <= found <= 2 * best
