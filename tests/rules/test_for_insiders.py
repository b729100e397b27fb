"""What contributors must not learn, computed from contributions one by one, as it is defined."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.errors import InputError
from diskret.rules import PQ, Dominance, MinimumFrequency, PPercent, Request
from diskret.rules.insiders import Left


@dataclass(frozen=True)
class Someone:
    """One contributor: how much, whether it belongs to S, has consented, has asked."""

    size: int
    inside: bool
    waived: bool = False
    asked: bool = False


someone = st.builds(Someone, st.integers(0, 60), st.booleans(), st.booleans(), st.booleans())
cells = st.lists(someone, min_size=1, max_size=7)


def left(cell, *, kept=3, frequency=False, decimals=0):
    """What S leaves over in one cell."""
    outside = [one for one in cell if not one.inside]
    largest = max((one.size for one in outside if not one.waived), default=0)
    top = sorted((one.size for one in outside), reverse=True)[:kept]
    inside = [one.size for one in cell if one.inside]
    return Left(
        largest=np.array([largest]),
        rest=np.array([sum(one.size for one in outside) - largest]),
        inside=np.array([sum(inside)]),
        members=np.array([len(inside)]),
        top=np.array([top + [0] * (kept - len(top))]),
        asked=np.array([any(one.asked for one in outside)]),
        frequency=frequency,
        decimals=decimals,
    )


def asks(rule, cell, unsafe=True, **more):
    return int(rule.for_insiders(left(cell, **more), np.array([unsafe]))[0])


def rest(cell):
    """a' and R' of the definition."""
    outside = [one for one in cell if not one.inside]
    largest = max((one.size for one in outside if not one.waived), default=0)
    return largest, sum(one.size for one in outside) - largest


@examples(200)
@given(cells, st.sampled_from([1, 10, 33.3, 250]), st.sampled_from([0, 1, 7]), st.integers(0, 2))
def test_p_percent_asks_for_its_share_less_the_rest(cell, p, smallest, decimals):
    largest, others = rest(cell)
    need = Fraction(str(p)) / 100 * largest - others
    wanted = max(ceil(need), smallest * 10**decimals) if need > 0 else 0
    assert max(asks(PPercent(p, minimum_level=smallest), cell, decimals=decimals), 0) == wanted
    half = PQ(p / 4, 50, minimum_level=smallest) if 4 <= p < 100 else None
    if half:
        need = Fraction(str(p / 4)) / 50 * largest - others
        wanted = max(ceil(need), smallest * 10**decimals) if need > 0 else 0
        assert max(asks(half, cell, decimals=decimals), 0) == wanted


def test_what_is_just_open_enough_is_asked_for_nothing_whatever_the_smallest_level():
    cell = [Someone(100, False), Someone(10, False), Someone(50, True)]
    rule = PPercent(10, minimum_level=7)
    assert asks(rule, cell) == 0
    assert asks(rule, [replace(cell[0], size=101), *cell[1:]]) == 7
    assert asks(rule, [replace(cell[0], size=101), *cell[1:]], decimals=2) == 700


@examples(200)
@given(cells, st.integers(1, 4), st.sampled_from([20, 50, 66.6, 90]), st.booleans())
def test_dominance_asks_for_what_its_largest_with_s_leave_open(cell, n, k, unsafe):
    inside = [one.size for one in cell if one.inside]
    outside = sorted((one.size for one in cell if not one.inside), reverse=True)
    more = n - len(inside)
    wanted = 0
    if more > 0 and unsafe:
        top = sum(inside) + sum(outside[:more])
        need = 100 / Fraction(str(k)) * top - sum(one.size for one in cell)
        wanted = max(ceil(need), 0)
    rule = Dominance(n, k, quiet=True)
    assert max(asks(rule, cell, unsafe, kept=n), 0) == wanted


@examples(100)
@given(cells, st.sampled_from([1, 10, 45]), st.booleans())
def test_frequencies_and_requests_ask_for_a_share_of_what_is_outside(cell, percent, unsafe):
    outside = sum(one.size for one in cell if not one.inside)
    level = max(ceil(Fraction(percent, 100) * outside), 1)
    assert asks(MinimumFrequency(3, range=percent), cell, unsafe) == (level if unsafe else 0)
    asked = any(one.asked for one in cell if not one.inside)
    wanted = level if unsafe and asked else 0
    assert asks(Request(50, range=percent), cell, unsafe) == wanted


@pytest.mark.parametrize("unsafe, level", [(True, 1), (False, 0)])
def test_of_counts_one_is_asked_for(unsafe, level):
    cell = [Someone(1, False)] * 30
    assert asks(MinimumFrequency(3, range=50), cell, unsafe, frequency=True) == level


@pytest.mark.parametrize("most", [10**15])
def test_a_smallest_level_is_no_larger_than_any_value(most):
    cell = [Someone(100, False), Someone(1, False)]
    rule = PPercent(10, minimum_level=most)
    assert asks(rule, cell) == most
    assert asks(rule, cell, decimals=9) == 2**62, "cut where 64 bits end"
    with pytest.raises(InputError, match="minimum_level="):
        PPercent(10, minimum_level=most + 1)
