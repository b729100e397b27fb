"""Patterns within patterns: never dearer, still safe, the same every time, and work that ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from profiles import some_quick
from suppression_problems import is_safe

import diskret as dk
from diskret.protect.plan import TableToProtect, plan
from diskret.suppression import Method, Problem, Work, cleanup, greedy, modular, sequential
from diskret.suppression import cheaper as within
from diskret.suppression.certify import certify
from diskret.suppression.changeable import changeable
from diskret.suppression.changes import Reach
from diskret.suppression.cheaper import cheaper

SIZES = [(7, 8), (4, 4, 5), (3, 3, 3, 3)]


def skewed(seed: int, sizes: tuple[int, ...], spread: float = 3.0) -> dk.Table:
    """Sums of lognormal values: a few cells hold nearly all of the total."""
    rng = np.random.default_rng(seed)
    n = 3 * int(np.prod(sizes))
    codes = {f"d{i}": rng.integers(0, size, n).astype(str).tolist() for i, size in enumerate(sizes)}
    value = np.rint(rng.lognormal(5, spread, n)).astype(np.int64) + 1
    frame = pa.table({**codes, "v": value, "unit": np.arange(n)})
    return dk.tabulate(frame, by=dict.fromkeys(codes), value="v", unit="unit", largest=3)


def problem(seed: int, sizes: tuple[int, ...]) -> Problem:
    table, rule = skewed(seed, sizes), dk.rules.PPercent(10)
    return plan(
        [TableToProtect(table, rule, rule(table), "value", None, None, 0, "table")],
        keys=None,
        attacker=dk.Attacker(),
        progress=lambda *_: None,
    )


def cost(asked: Problem, suppressed: np.ndarray) -> float:
    return float(asked.cost[suppressed].sum())


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seed", some_quick(range(3), [0]))
def test_a_pattern_within_a_pattern_costs_no_more_and_is_shown_to_be_safe(seed, sizes):
    asked = problem(seed, sizes)
    cells = changeable(asked)
    certified = certify(cells, cells.primary)
    before, changes = greedy._hide(asked, cells, cells.primary, certified, (), None)
    after, found = cheaper(asked, cells, certified, before, changes)
    assert not (after & ~before).any()
    assert cells.price[after].sum() <= cells.price[before].sum()
    reach: Reach = certified.copy()
    for change in found:
        assert after[change.cell].all()
        reach.add(change)
    assert not reach.missing(cells).any()


def test_patterns_of_skewed_tables_become_cheaper():
    saved = []
    for seed in range(6):
        asked = problem(seed, (4, 4, 5))
        cells = changeable(asked)
        certified = certify(cells, cells.primary)
        before, changes = greedy._hide(asked, cells, cells.primary, certified, (), None)
        after, _ = cheaper(asked, cells, certified, before, changes)
        saved.append(1 - cells.price[after].sum() / cells.price[before].sum())
    assert max(saved) > 0.02


@pytest.mark.parametrize("method", [sequential, modular])
@pytest.mark.parametrize("seed", range(3))
def test_an_attacker_of_the_test_finds_nothing_open(method: Method, seed):
    asked = problem(seed, (5, 6))
    assert is_safe(asked, method(asked).suppressed)


@pytest.mark.long
@pytest.mark.parametrize("method", [sequential, modular])
def test_a_budget_ends_at_the_same_safe_pattern_every_time(method: Method):
    whole = problem(1, (4, 4, 5))
    free = method(whole)
    steps = whole.work.done
    dearest = np.inf
    for budget in (*range(steps // 2, steps, max(steps // 4, 1)), steps):
        patterns = [
            method(replace(problem(1, (4, 4, 5)), work=Work(budget))).suppressed for _ in range(2)
        ]
        assert np.array_equal(*patterns)
        assert is_safe(whole, patterns[0])
        dearest = min(dearest, cost(whole, patterns[0]))
    assert dearest == cost(whole, free.suppressed)


def test_work_that_saves_little_is_the_last(monkeypatch: pytest.MonkeyPatch):
    asked = problem(2, (4, 4, 5))
    everything = modular(asked)
    monkeypatch.setattr(cleanup, "QUANTUM", 1)
    monkeypatch.setattr(cleanup, "_WORTH", 1.0)
    monkeypatch.setattr(within, "_ROUNDS", 0)
    asked = problem(2, (4, 4, 5))
    little = modular(asked)
    assert little.complete
    assert is_safe(asked, little.suppressed)
    assert cost(asked, everything.suppressed) <= cost(asked, little.suppressed)


@pytest.mark.long
def test_where_tidying_saves_little_changes_are_looked_for_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cleanup, "QUANTUM", 1)
    monkeypatch.setattr(cleanup, "_WORTH", 1.0)
    saved = []
    for seed in (0, 3, 5):
        asked = problem(seed, (4, 4, 5))
        with monkeypatch.context() as without:
            without.setattr(within, "_ROUNDS", 0)
            before = sequential(asked)
        asked = problem(seed, (4, 4, 5))
        after = sequential(asked)
        assert is_safe(asked, after.suppressed)
        saved.append(1 - cost(asked, after.suppressed) / cost(asked, before.suppressed))
    assert min(saved) >= 0
    assert max(saved) > 0.01


def test_large_parts_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch):
    asked = problem(0, (4, 4, 5))
    cells = changeable(asked)
    certified = certify(cells, cells.primary)
    before, changes = greedy._hide(asked, cells, cells.primary, certified, (), None)
    monkeypatch.setattr(within, "_LARGE", 0)
    after, _ = cheaper(asked, cells, certified, before, changes)
    assert np.array_equal(after, before)
