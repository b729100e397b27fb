"""What is wanted of unknowns, what is shown of it, and what is left open."""

from itertools import product

import numpy as np
import pytest
from profiles import scaled
from scipy import sparse

from diskret.attack import small_windows, solver
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.search import Wanted
from diskret.attack.small_windows import Shown, _Questions, show
from diskret.deadline import NEVER, Deadline


def drawn(seed, n=8):
    """Some unknowns with bounds that no table exceeds, and values that tables show."""
    draw = np.random.default_rng(seed)
    value = draw.integers(0, 6, n)
    room = draw.integers(0, 5, (4, n))
    low, high = value - room[0] // 2, value + room[1] // 2
    wanted = Wanted(
        low=(value - room[2]).astype(float),
        high=(value + room[3]).astype(float),
        width=draw.integers(0, 7, n).astype(float),
    )
    lower, upper = low - draw.integers(0, 4, n), high + draw.integers(0, 4, n)
    ends = [end.astype(float) for end in (lower, upper, low, high)]
    return draw, Shown(wanted, draw.random(n) < 0.8, *ends)


@pytest.mark.parametrize("seed", range(scaled(200)))
def test_what_is_wanted_and_possible_and_not_shown_is_open(seed):
    _, shown = drawn(seed)
    sides, wanted = shown.open(), shown.wanted
    for i in range(len(shown.asked)):
        rises = shown.high[i] < wanted.high[i] <= shown.upper[i]
        falls = shown.low[i] > wanted.low[i] >= shown.lower[i]
        narrow = shown.high[i] - shown.low[i] < wanted.width[i] <= shown.upper[i] - shown.lower[i]
        rises |= narrow and shown.high[i] < shown.upper[i]
        falls |= narrow and shown.low[i] > shown.lower[i]
        assert (sides[1][i], sides[-1][i]) == (shown.asked[i] and rises, shown.asked[i] and falls)
    few = np.array([5, 1, 2])
    for sign, open_ in shown.open(few).items():
        assert open_.tolist() == sides[sign][few].tolist()
    mine = np.array([True, False, True])
    part = shown.at(few, mine).open()
    for sign, open_ in part.items():
        assert open_.tolist() == (sides[sign][few] & mine).tolist()


@pytest.mark.parametrize("seed", range(scaled(200)))
def test_who_reaches_the_goals_has_shown_everything(seed):
    _, shown = drawn(seed)
    for sign in (1, -1):
        for one in np.flatnonzero(shown.open()[sign]).tolist():
            goal = shown.goal(one, sign)
            assert shown.lower[one] <= goal <= shown.upper[one]
            end = shown.high[one] if sign > 0 else shown.low[one]
            assert sign * (goal - end) > 0
            # one unit less is not enough
            less = Shown(shown.wanted, shown.asked, *(
                of.copy() for of in (shown.lower, shown.upper, shown.low, shown.high)
            ))  # fmt: skip
            value = np.array([goal - sign])
            less.see(np.array([one]), value)
            assert less.open()[sign][one]
            assert shown.see(np.array([one]), np.array([goal]))
            assert not shown.see(np.array([one]), np.array([goal]))
            assert not shown.open()[sign][one]
    assert not any(open_.any() for open_ in shown.open().values())


def test_what_gets_no_farther_shows_nothing():
    wanted = Wanted(*(np.array([one]) for one in (0.0, 9.0, 0.0)))
    ends = [np.array([end]) for end in (0.0, 9.0, 5.0, 5.0)]
    shown = Shown(wanted, np.array([True]), *ends)
    at = np.array([0])
    assert not shown.see(at, np.array([5.0]))
    assert shown.see(at, np.array([6.0])) and shown.high[0] == 6
    assert not shown.see(at, np.array([6.0]))
    assert shown.see(at, np.array([4.0])) and shown.low[0] == 4
    assert shown.see(at, np.array([9.0])) and shown.see(at, np.array([0.0]))
    assert not shown.see(at, np.array([-1.0])) and shown.low[0] == -1


# ── windows ───────────────────────────────────────────────────────────────────────────


def circles():
    """Two circles of six, in which every second one rises as the others fall; a link ties them.

    No window of neighbours alone lets one of a circle move.
    """
    matrix = np.zeros((13, 13), dtype=np.int64)
    for start in (0, 6):
        for i in range(6):
            matrix[start + i, [start + i, start + (i + 1) % 6]] = 1
    matrix[12, [0, 6, 12]] = 1
    return sparse.csr_array(matrix)


class Asked:
    """That the fourth one rises by 100."""

    def __init__(self, monkeypatch, first):
        monkeypatch.setattr(small_windows, "_BLOCK", 3)
        monkeypatch.setattr(small_windows, "_FIRST", first)
        monkeypatch.setattr(small_windows, "_MORE", 2)
        self.matrix, self.base = circles(), np.full(13, 1000)
        self.lower, self.upper = self.base * 0, self.base * 2
        value = self.base.astype(float)
        rising = value + 100 * (np.arange(13) == 3)
        wanted = Wanted(value, rising, value * 0)
        ends = self.lower.astype(float), self.upper.astype(float), value.copy(), value.copy()
        self.shown = Shown(wanted, np.arange(13) == 3, *ends)

    def found(self, programme=None, deadline=NEVER):
        moves = show(
            programme, self.base, self.matrix, self.lower, self.upper, self.shown, False,
            lambda done: None, deadline,
        )  # fmt: skip
        assert not (self.matrix @ moves.steps.T).toarray().any()
        return moves.steps.shape[0]

    def everything(self, deadline):
        right = self.matrix @ self.base
        return LinearProgramme(self.matrix, right, self.lower, self.upper, self.base, deadline)


@pytest.mark.parametrize(("first", "found"), [(2, True), (8, True), (13, False), (20, False)])
def test_windows_grow_until_all_would_move(monkeypatch, first, found):
    asked = Asked(monkeypatch, first)
    assert asked.found() == found
    assert asked.shown.open()[1].any() != found
    # an unknown of a window moves by no more than eight times what is asked for
    assert asked.shown.high[3] == (1800 if found else 1000)


def test_what_no_window_shows_a_programme_of_everything_does(monkeypatch):
    asked = Asked(monkeypatch, 20)
    assert asked.found(asked.everything) == 1
    assert not asked.shown.open()[1].any()


def test_nothing_more_is_looked_for_when_time_or_work_is_over(monkeypatch):
    asked = Asked(monkeypatch, 8)
    assert not asked.found(asked.everything, Deadline(-1.0))
    monkeypatch.setattr(solver, "_PIVOTS", 0)
    assert not asked.found()


@pytest.mark.parametrize("seed", range(scaled(150)))
def test_whole_tables_show_what_is_wanted_of_counts(seed):
    """All tables of counts are gone through; with every two of three equations sharing a cell."""
    draw = np.random.default_rng(seed)
    matrix = np.array([[1, 1, 0, 1, 0, 0], [0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1]])
    base = draw.integers(0, 4, 6)
    upper = np.full(6, 3)
    upper[3:] = draw.integers(base[3:], 4)
    every = np.array([*product(*(range(end + 1) for end in upper))])
    every = every[(every @ matrix.T == matrix @ base).all(axis=1)]
    low, high = every.min(axis=0).astype(float), every.max(axis=0).astype(float)
    value = base.astype(float)
    wanted = Wanted(low, high, (high - low))
    shown = Shown(wanted, low == low, value * 0, upper.astype(float), value.copy(), value.copy())
    programme = LinearProgramme(sparse.csr_array(matrix), matrix @ base, base * 0, upper, base)
    points = _Questions(programme, shown, True).settle()
    assert not any(open_.any() for open_ in shown.open().values())
    assert {tuple(p.numerator.tolist()) for p in points} <= {*map(tuple, every.tolist())}
    assert all(p.denominator == 1 for p in points)
