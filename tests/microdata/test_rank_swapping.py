"""Rank swapping: who exchanges values with whom."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import DiskretError
from diskret.microdata.rank_swap import at_ends, ranks, swapped, swapped_within


def draws(n, seed=0):
    return np.random.default_rng(seed).bit_generator.random_raw(n)


def rank(values):
    found = np.empty(len(values), dtype=int)
    found[np.argsort(values, kind="stable")] = np.arange(len(values))
    return found


@examples(100)
@given(
    st.lists(st.integers(-5, 30), min_size=1, max_size=80),
    st.floats(0.001, 1),
    st.integers(0, 1000),
    st.integers(1, 3),
)
def test_values_are_exchanged_in_pairs_within_the_window_and_the_group(
    values, window, seed, number
):
    values = np.array(values, dtype=float)
    groups = np.random.default_rng(seed).integers(0, number, len(values))
    found = swapped(values, window, draws(len(values), seed), groups)
    everybody = np.arange(len(values))
    assert (found.source[found.source] == everybody).all()
    assert (groups[found.source] == groups).all()
    for group in range(number):
        rows = np.flatnonzero(groups == group)
        place = np.full(len(values), -1)
        place[rows] = rank(values[rows])
        apart = np.abs(place[rows] - place[found.source[rows]])
        most = max(1, int(window * len(rows) + 1e-9))
        assert (apart <= most).all()
        # nobody is left alone beside somebody who is, too
        alone = np.sort(place[rows][found.source[rows] == rows])
        assert (np.diff(alone) > most).all()
    assert found.exchanged == (found.source != everybody).sum()


def test_without_groups_everybody_is_one():
    values = np.random.default_rng(1).normal(size=300)
    one = swapped(values, 0.1, draws(300))
    assert (one.source == swapped(values, 0.1, draws(300), np.zeros(300, int)).source).all()


def test_partners_among_those_left_are_equally_likely():
    """Ranks 0 to 3 with a window of 2: 0 meets 1 or 2, and the others follow."""
    found = Counter(
        tuple(swapped(np.arange(4.0), 0.5, draws(4, seed)).source) for seed in range(4000)
    )
    assert set(found) == {(1, 0, 3, 2), (2, 3, 0, 1)}
    assert abs(found[1, 0, 3, 2] - 2000) < 4 * np.sqrt(4000 / 4)


def test_distances_are_spread_over_the_whole_window_and_hardly_anybody_is_left():
    n, window = 20_000, 0.05
    found = swapped(np.arange(n, dtype=float), window, draws(n))
    apart = np.abs(found.source - np.arange(n))
    assert apart.max() == 1000 and n - found.exchanged <= 10
    tenths = np.histogram(apart[apart > 0], bins=10, range=(1, 1001))[0] / n
    # near ranks are taken more often already, so far ones are somewhat more likely
    assert tenths.min() > 0.05 and tenths.max() < 0.15 and (np.diff(tenths) > -0.01).all()


def test_a_window_of_all_ranks_finds_few_free_partners_at_the_end():
    """Here draws fail again and again, and the free ones are counted."""
    for n in (2, 3, 50, 2001):
        found = swapped(np.arange(n, dtype=float), 1.0, draws(n))
        assert n - found.exchanged == n % 2


def test_shares_are_met_despite_rounding():
    n = np.arange(1, 2000)
    for percent in range(1, 101):
        exactly = np.maximum(1, n * percent // 100)
        assert (ranks(percent / 100, n) == exactly).all()


def test_the_widest_window_is_found_and_one_more_rank_is_too_much():
    values = np.sort(np.random.default_rng(1).normal(size=1000))

    def enough(after):
        return np.corrcoef(values, after)[0, 1] >= 0.9

    found = swapped_within(values, enough, draws(1000))
    assert enough(values[found.source])
    wider = swapped(values, found.window + 0.001, draws(1000))
    assert not enough(values[wider.source])
    assert swapped_within(values, lambda after: True, draws(1000)).window == 0.999
    with pytest.raises(DiskretError, match="neighbouring ranks changes more"):
        swapped_within(values, lambda after: False, draws(1000))


@examples(60)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.floats(0, 0.4), st.floats(0, 0.5))
def test_ends_hold_the_share_and_all_equal_values(values, bottom, top):
    values = np.array(values, dtype=float)
    low, high = at_ends(values, bottom, top)
    assert low.sum() >= int(bottom * len(values)) and not (low & high).any()
    for end, sign in ((low, 1), (high, -1)):
        if end.any() and not (low | high).all():
            inner = values[~(low | high)]
            assert (sign * values[end]).max() < (sign * inner).min()
