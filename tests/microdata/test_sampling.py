"""Samples have the sizes that were asked for, and every set of units is alike likely."""

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.microdata.sampling import by_rate, drawn_of_each, proportional

UNITS = st.lists(st.integers(1, 60), min_size=1, max_size=8).map(np.array)


@examples(60)
@given(UNITS, st.floats(0.001, 1))
def test_a_rate_draws_the_nearest_number_and_at_least_one(units, rate):
    drawn = by_rate(units, np.full(len(units), rate))
    assert ((drawn >= 1) & (drawn <= units)).all()
    assert (np.abs(drawn - np.maximum(units * rate, 0.5)) <= 0.5 + 1e-6).all()


@examples(60)
@given(UNITS, st.data())
def test_a_size_is_kept_and_shared_out_by_quotas(units, data):
    size = data.draw(st.integers(len(units), int(units.sum())))
    drawn = proportional(units, size)
    assert drawn.sum() == size
    assert ((drawn >= 1) & (drawn <= units)).all()
    quota = units * size / units.sum()
    if (quota >= 1).all():
        assert (np.abs(drawn - quota) < 1).all()


@examples(60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=80), st.data())
def test_each_stratum_gives_as_many_as_it_should(stratum, data):
    stratum = np.unique(stratum, return_inverse=True)[1]
    units = np.bincount(stratum)
    wanted = np.array([data.draw(st.integers(0, int(one))) for one in units])
    found = drawn_of_each(stratum, wanted, np.random.default_rng(len(stratum)))
    assert np.bincount(stratum[found], minlength=len(units)).tolist() == wanted.tolist()


def test_all_sets_of_units_are_alike_likely():
    stratum, wanted, draw = np.array([0, 1, 0, 1, 0, 0]), np.array([2, 1]), np.random.default_rng(1)
    seen = Counter(
        tuple(np.flatnonzero(drawn_of_each(stratum, wanted, draw)).tolist()) for _ in range(6000)
    )
    possible = {
        tuple(sorted((*two, one))) for two in combinations([0, 2, 4, 5], 2) for one in [1, 3]
    }
    assert set(seen) == possible
    expected = 6000 / len(possible)
    chi = sum((count - expected) ** 2 / expected for count in seen.values())
    assert chi < 31.3  # 0.1 % of samples with 11 degrees of freedom are beyond
