"""Frequencies of keys, with missing values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_files import by_pairs, files, keys_of

from diskret import DiskretError
from diskret.risk import frequencies


@given(
    files(),
    st.sampled_from(["wildcard", "category", "conservative"]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_frequencies_are_those_counted_pair_by_pair(file, missing, alpha):
    rows, weights = file
    found = frequencies(keys_of(rows, [3] * rows.shape[1]), weights, missing, alpha)
    sample, population = by_pairs(rows, rows, weights, missing, alpha)
    assert found.sample.tolist() == sample.tolist()
    assert np.allclose(found.population, population, rtol=1e-13)
    alone = frequencies(keys_of(rows, [3] * rows.shape[1]), None, missing, alpha)
    assert alone.population.tolist() == alone.sample.tolist() == sample.tolist()


@given(files(), st.randoms(use_true_random=False))
def test_frequencies_belong_to_the_record_in_whatever_row_it_stands(file, random):
    rows, weights = file
    order = list(range(len(rows)))
    random.shuffle(order)
    straight = frequencies(keys_of(rows), weights)
    turned = frequencies(keys_of(rows[order]), weights[order])
    assert turned.sample.tolist() == straight.sample[order].tolist()
    assert turned.population.tolist() == straight.population[order].tolist()


def test_many_patterns_of_gaps_agree_with_pairs():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (300, 9)).astype(np.int32)
    rows[rng.random(rows.shape) < 0.2] = -1
    found = frequencies(keys_of(rows), None, "wildcard")
    gap = (rows[:, None, :] < 0) | (rows[None, :, :] < 0)
    agree = (gap | (rows[:, None, :] == rows[None, :, :])).all(axis=2)
    assert found.sample.tolist() == agree.sum(axis=1).tolist()


def test_all_values_missing_agree_with_everybody():
    found = frequencies(keys_of([[-1, -1], [0, 1], [1, 0]]), np.array([5.0, 2.0, 3.0]))
    assert found.sample.tolist() == [3, 2, 2]
    assert found.population.tolist() == [10, 7, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"missing": "na"}, "missing= must be 'wildcard', 'category' or 'conservative', not 'na'"),
        ({"alpha": 1.5}, "alpha= must lie between 0 and 1, not 1.5"),
        ({"alpha": float("nan")}, "alpha= must lie between 0 and 1, not nan"),
    ],
)
def test_options_are_checked(arguments, message):
    with pytest.raises(DiskretError, match=message):
        frequencies(keys_of([[0], [1]]), **arguments)


def test_more_combinations_than_a_number_can_tell():
    rng = np.random.default_rng(6)
    rows = rng.integers(-1, 2, (60, 8)).astype(np.int32)
    rows[rows == 1] = 3999
    found = frequencies(keys_of(rows, [4000] * 8))
    sample, _ = by_pairs(rows, rows, np.ones(60), "wildcard", 1.0)
    assert found.sample.tolist() == sample.tolist()
