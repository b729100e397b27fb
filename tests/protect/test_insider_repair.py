"""Repairs against contributors: few programmes, and nothing hidden that nobody needs."""

import numpy as np
import pytest
from scipy import sparse
from suppression_problems import flat, problem_of, with_totals

from diskret.attack import Proposals
from diskret.attack.shortest import Shortest
from diskret.protect.insider_repair import Repair, Wanted


@pytest.fixture
def asked(monkeypatch):
    """The programmes that were solved."""
    questions = []
    look = Shortest.look

    def counted(self, *question):
        questions.append(question)
        return look(self, *question)

    monkeypatch.setattr(Shortest, "look", counted)
    return questions


def repair_of(cost=None):
    """A table of 4 by 4 parts, of which one is hidden."""
    count = with_totals(np.full((4, 4), 9), [flat(4), flat(4)])
    problem = problem_of(count, [flat(4), flat(4)])
    if cost is not None:
        problem.cost[:] = cost
    hidden = np.zeros(25, dtype=bool)
    hidden[6] = True
    return Repair(problem, hidden, {})


def bounds_of(repair, **least):
    low = repair.problem.lower.copy()
    for cell, value in least.items():
        low[int(cell[1:])] = value
    return low, repair.problem.upper


def wanted(who, side, need):
    """Cell 6 has to move so far for somebody."""
    return Wanted((who,), np.array([6]), np.array([side]), need)


def test_what_is_hidden_for_one_serves_others_without_a_programme(asked):
    repair = repair_of()
    assert repair.hide(wanted(0, 1, 4), *bounds_of(repair))
    hidden, programmes = repair.hidden.copy(), len(asked)
    for want in (
        wanted(1, 1, 3),
        wanted(1, -1, 4),  # the opposite
    ):
        assert repair.hide(want, *bounds_of(repair))
    assert len(asked) == programmes
    assert np.array_equal(repair.hidden, hidden)


def test_the_attack_is_told_the_moves_of_all_that_is_hidden_now():
    repair = repair_of()
    assert repair.with_moves(None) is None
    assert repair.hide(wanted(0, 1, 4), *bounds_of(repair))
    before = sparse.csr_array((1, 25), dtype=np.int64)
    told = repair.with_moves(Proposals(before, np.ones(1, dtype=np.int64)))
    assert told is not None and told.difference.shape == (2, 25)
    step = told.difference.toarray()[1]
    assert step[6] == 4 and np.array_equal(step != 0, repair.hidden)
    assert not (repair.problem.system.equations @ step).any()


def test_who_rules_a_move_out_gets_another_one(asked):
    repair = repair_of()
    assert repair.hide(wanted(0, 1, 4), *bounds_of(repair))
    hidden, programmes = repair.hidden.copy(), len(asked)
    # nothing that is hidden so far may move by more than 3
    own = {f"c{cell}": 6 for cell in np.flatnonzero(hidden).tolist()}
    assert repair.hide(wanted(1, 1, 4), *bounds_of(repair, **own))
    assert len(asked) > programmes
    assert np.count_nonzero(repair.hidden) > np.count_nonzero(hidden)


def test_what_nobody_needs_is_published_again():
    repair = repair_of()
    first, second = wanted(0, 1, 4), wanted(1, 1, 4)
    bounds = {(0,): bounds_of(repair)}
    assert repair.hide(first, *bounds[0,])
    own = {f"c{cell}": 6 for cell in np.flatnonzero(repair.hidden).tolist()}
    bounds[1,] = bounds_of(repair, **own)
    assert repair.hide(second, *bounds[1,])
    hidden = np.count_nonzero(repair.hidden)
    repair.publish_again(bounds)
    # the move of the second serves the first, too
    assert np.count_nonzero(repair.hidden) < hidden
    again = Repair(repair.problem, repair.hidden, {})
    for want in (first, second):
        assert again.hide(want, *bounds[want.who])
    assert np.array_equal(again.hidden, repair.hidden)
