"""The groups of one variable that lose least: compared with all groups there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.microdata.aggregation.ranked import optimal, single


def squares(values, group):
    return sum(((values[group == g] - values[group == g].mean()) ** 2).sum() for g in set(group))


def divisions(records, k):
    """All ways to divide records into sets of k and more, whatever their values."""
    if not records:
        yield []
    elif len(records) >= k:
        first, rest = records[0], records[1:]
        for chosen in range(2 ** len(rest)):
            own = [first, *(one for i, one in enumerate(rest) if chosen >> i & 1)]
            if len(own) >= k:
                for others in divisions([one for one in rest if one not in own], k):
                    yield [own, *others]


@given(st.integers(2, 3), st.lists(st.integers(-20, 20), min_size=3, max_size=8))
def test_no_division_into_groups_of_k_loses_less(k, numbers):
    values = np.array(numbers, dtype=float)
    group = optimal(values[:, None], k)
    assert k <= np.bincount(group).min() <= np.bincount(group).max() <= 2 * k - 1
    least = min(
        sum(((values[one] - values[one].mean()) ** 2).sum() for one in division)
        for division in divisions(list(range(len(values))), k)
    )
    assert squares(values, group) == pytest.approx(least, abs=1e-9)


@given(
    st.integers(2, 6),
    st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=60),
    st.sampled_from([0.0, 1e9]),
)
def test_nothing_is_lost_against_cutting_the_order_nor_far_from_zero(k, numbers, offset):
    values = np.array(numbers) + offset
    group = optimal(values[:, None], k)
    ordered = group[np.argsort(values, kind="stable")]
    assert (np.diff(ordered) >= 0).all() and np.bincount(group).min() >= k
    cut = single(values[:, None], k)
    assert squares(values, group) <= squares(values, cut) * (1 + 1e-9) + 1e-6
    # the plain recursion over all ends and all beginnings
    x = np.sort(values) - offset
    least = np.array([0.0] + [np.inf] * len(x))
    for j in range(k, len(x) + 1):
        least[j] = min(least[i] + len(x[i:j]) * x[i:j].var() for i in range(j - k + 1))
    assert squares(values, group) == pytest.approx(least[-1], rel=1e-6, abs=1e-3)


def test_groups_follow_gaps():
    values = np.array([1.0, 2, 3, 20, 21, 22, 23, 24, 60, 61])
    assert optimal(values[::-1, None], 2).tolist() == [3, 3, 2, 2, 2, 1, 1, 0, 0, 0]
    assert optimal(values[:, None], 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]


def test_several_variables_are_refused():
    with pytest.raises(InputError, match="one variable only, not for 2"):
        optimal(np.zeros((5, 2)), 2)
