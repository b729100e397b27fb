"""Counts get the noise of their keys, weighted counts follow them exactly."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.cellkey import Lookup, perturbed_counts, weighted_counts
from diskret.cellkey.counts import rounded_up
from diskret.errors import InputError

BOUNDS = np.array([[10, 10, 10], [3, 7, 10]], dtype=np.uint64)
NOISE = np.array([[0, 0, 0], [-1, 0, 1]])
LOOKUP = Lookup(np.array([0, 1]), 10, BOUNDS, NOISE)


def keys(*values):
    return np.array(values, dtype=np.uint64)


def test_count_gets_the_noise_of_the_first_interval_that_ends_beyond_its_key():
    found = perturbed_counts(np.array([3, 3, 3, 3]), keys(2, 3, 6, 7), LOOKUP)
    assert found.tolist() == [2, 3, 3, 4]


def test_a_key_of_exactly_0_is_a_key_like_any_other():
    assert perturbed_counts(np.array([3]), keys(0), LOOKUP).tolist() == [2]


def test_nobody_stays_nobody_whatever_the_key():
    assert perturbed_counts(np.zeros(10, np.int64), keys(*range(10)), LOOKUP).tolist() == [0] * 10


def test_noise_in_steps_is_not_for_counts():
    with pytest.raises(InputError, match=r"steps of 1/2.*for sums"):
        perturbed_counts(np.array([3]), keys(0), Lookup(np.array([0, 1]), 10, BOUNDS, NOISE, 2))


def test_table_that_makes_counts_negative_is_refused():
    wild = Lookup(np.array([0, 1]), 10, BOUNDS, 2 * NOISE)
    with pytest.raises(InputError, match=r"takes 1 count below 0"):
        perturbed_counts(np.array([1, 9]), keys(0, 0), wild)


whole = st.integers(0, 40)


@given(
    st.lists(st.tuples(whole, st.integers(-3, 5), st.integers(0, 10**6)), min_size=1),
    st.sampled_from([1, 3, 7, 10, 1000]),
    st.sampled_from([1, 10**12]),
)
def test_weighted_count_is_the_perturbed_count_times_the_mean_weight(cells, unit, factor):
    count, change, weights = (np.array(column) for column in zip(*cells, strict=True))
    weights = weights * factor * (count > 0)
    perturbed = np.maximum(count + change, 0) * (count > 0)
    found = weighted_counts(count, perturbed, weights, unit)
    exact = [
        floor(Fraction(int(p) * int(w), int(n) * unit) + Fraction(1, 2)) * unit if n else 0
        for n, p, w in zip(count, perturbed, weights, strict=True)
    ]
    assert found.tolist() == exact


@given(st.integers(-50, 50), st.fractions(0, 1).filter(lambda f: f < 1), st.integers(1, 12))
def test_the_nearest_multiple_is_found_without_rounding_twice(floor_of, fraction, unit):
    exact = floor((floor_of + fraction) / unit + Fraction(1, 2)) * unit
    found = rounded_up(np.array([floor_of]), np.array([fraction >= Fraction(1, 2)]), unit)
    assert found.tolist() == [exact]
