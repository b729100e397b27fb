"""What is wanted of unknowns, what is shown of it, and what is left open."""

import numpy as np
import pytest
from profiles import scaled

from diskret.attack.search import Wanted
from diskret.attack.small_windows import Shown


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
