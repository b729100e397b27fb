"""Questions that need no answer take a counted amount of work; intervals take what they need."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from attack_tables import meindl
from scipy import sparse

import diskret as dk
from diskret.attack import examine, solver
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.shortest import Shortest
from diskret.attack.solver import OutOfWork
from diskret.attack.surroundings import outer_bounds

SUM = sparse.csr_array(np.array([[1, 1, -1]]))


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_PIVOTS", 0)


def programme(bounded: bool) -> LinearProgramme:
    zero = np.zeros(3, dtype=np.int64)
    return LinearProgramme(SUM, np.array([5]), zero, zero + 9, bounded=bounded)


def test_only_a_bounded_programme_ends_without_an_answer(no_work: None):
    up = np.array([1.0, 1.0, 0.0])
    point = programme(False).farthest(up).point
    assert point is not None and point.numerator @ [1, 1, 0] == 14 * point.denominator
    with pytest.raises(OutOfWork):
        programme(True).farthest(up)


def test_a_move_that_takes_too_much_work_is_none_and_may_exist(monkeypatch: pytest.MonkeyPatch):
    shortest = Shortest(SUM)
    cell, room = np.array([0]), np.full(3, 9.0)
    monkeypatch.setattr(solver, "_PIVOTS", 0)
    assert shortest.look(cell, 1, 4, room, room) == (None, False)
    monkeypatch.undo()
    move, none = shortest.look(cell, 1, 4, room, room)
    assert move is not None and not none


def test_intervals_do_not_depend_on_it(monkeypatch: pytest.MonkeyPatch):
    table = meindl(*product("123", "123"))
    calm = examine(table)
    monkeypatch.setattr(solver, "_PIVOTS", 0)
    found = examine(table)
    assert not found.quick
    assert np.array_equal(found.lower, calm.lower) and np.array_equal(found.upper, calm.upper)


def test_outer_bounds_are_wider_without_work(monkeypatch: pytest.MonkeyPatch):
    asked, zero = np.ones(3, dtype=bool), np.zeros(3, dtype=np.int64)
    system = SUM, np.array([5]), zero, np.array([9, 9, 2])
    [(_, low, high)] = outer_bounds(*system, asked)
    monkeypatch.setattr(solver, "_PIVOTS", 0)
    [(_, wide_low, wide_high)] = outer_bounds(*system, asked)
    assert high.tolist() == [7, 7, 2]
    assert (wide_high >= high).all() and (wide_high > high).any() and (wide_low <= low).all()


def test_what_leaves_is_proven_and_reasons_are_not_examined(no_work: None):
    register = dk.datasets.business_register(400, seed=3)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    table = table.recode("nace", level=1)
    result = dk.suppress(table, dk.rules.PPercent(10), attacker=dk.Attacker())
    assert not result.proof.examination.quick
    kinds = result.explanations().kind
    assert "not examined" in kinds
    assert set(kinds) <= {"protects", "hides", "together", "not examined"}
