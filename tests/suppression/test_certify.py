"""Alternative tables that a pattern's own changes propose to the attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from profiles import examples
from scipy import sparse
from suppression_problems import (
    REGIONS,
    hard_problems,
    is_safe,
    lecture_table,
    problem_of,
    problems,
    solved,
    with_totals,
)

import diskret as dk
from diskret.attack import component
from diskret.protect.plan import publish
from diskret.suppression import Problem, modular, propose
from diskret.suppression.certify import changes_of
from diskret.suppression.changeable import changeable
from diskret.suppression.changes import Reach


@given(hard_problems())
@examples(60)
def test_every_proposal_satisfies_all_equations_and_bounds(problem: Problem):
    suppressed = solved(modular, problem).suppressed
    proposed = propose(problem, suppressed)
    for row, divisor in zip(proposed.difference.toarray(), proposed.denominator, strict=True):
        assert not row[~suppressed].any()
        assert not (problem.system.equations.astype(np.int64) @ row).any()
        value = problem.system.value * divisor + row
        assert np.all(value >= problem.lower * divisor)
        assert np.all(value <= problem.upper * divisor)
        assert divisor == 1 or not problem.integer


@given(problems(2))
@examples(40)
def test_proposals_show_what_is_required(problem: Problem):
    suppressed = solved(modular, problem).suppressed
    proposed = propose(problem, suppressed)
    cell = problem.requirements.cell
    moves = proposed.difference.toarray() / proposed.denominator[:, None]
    up, down = moves.max(axis=0, initial=0), -moves.min(axis=0, initial=0)
    assert np.all(up[cell] >= problem.requirements.upper - 1e-9)
    assert np.all(down[cell] >= problem.requirements.lower - 1e-9)
    assert np.all((up + down)[suppressed] >= 1 - 1e-9)


@given(hard_problems())
@examples(60)
def test_what_is_known_of_a_pattern_is_checked_before_it_counts(problem: Problem):
    """Changes that were found before show the same again; wrong ones show nothing."""
    pattern = solved(modular, problem)
    assert pattern.proposals is not None
    cells, right = changeable(problem), pattern.proposals
    wrong = right.difference.toarray()
    wrong[::2, pattern.suppressed] += 1
    for known in (right, replace(right, difference=sparse.csr_array(wrong))):
        reach = Reach(len(cells.down))
        for change in changes_of(cells, known):
            reach.add(change)
            for possible, sign in ((change.there, 1), (change.back, -1)):
                assert possible.all() or not possible.any()
                if possible.all():
                    step = np.zeros(len(cells.down), dtype=np.int64)
                    step[change.cell] = sign * change.step
                    assert not (cells.equations @ step).any()
                    assert (step <= cells.up * change.divisor).all()
                    assert (-step <= cells.down * change.divisor).all()
        if known is right:
            assert not reach.missing(cells).any()
        again = modular(replace(problem, start=pattern.suppressed, known=known))
        assert is_safe(problem, again.suppressed)
        assert not (again.suppressed & ~pattern.suppressed).any()


def test_the_attack_takes_proposals_of_a_large_table(monkeypatch: pytest.MonkeyPatch):
    """With neither windows nor programmes of the whole, proposals alone prove the pattern."""
    leaves = np.random.default_rng(1).integers(0, 12, (6, 6))
    problem = problem_of(with_totals(leaves, [REGIONS, REGIONS]), [REGIONS, REGIONS], minimum=7)
    suppressed = modular(problem).suppressed
    proposed = propose(problem, suppressed)
    monkeypatch.setattr(component, "EXACT_WORK", -1.0)
    monkeypatch.setattr(component, "_moves_wanted", nothing_found)
    table = dk.Table(problem.system.tables[0], problem.system.value.reshape(9, 9))
    published = publish(table, suppressed, "regions")
    targets = dk.attack.targets_of(published, problem.system.value, problem.requirements)
    found = dk.attack.examine(
        published, targets=targets, original=problem.system.value, proposals=proposed
    )
    assert not dk.attack.unmet(found, targets).any()
    without = dk.attack.examine(published, targets=targets, original=problem.system.value)
    assert dk.attack.unmet(without, targets).any()


def nothing_found(part, base, *_):
    return component.joined([], len(base))


def test_a_pattern_that_is_not_safe_gets_no_proposal_for_what_it_lacks():
    lecture = lecture_table()
    suppressed = np.zeros(42, dtype=bool)
    suppressed[lecture.requirements.cell] = True
    proposed = propose(lecture, suppressed)
    moves = proposed.difference.toarray()
    assert not np.all(np.abs(moves).max(axis=0, initial=0)[lecture.requirements.cell] > 0)
