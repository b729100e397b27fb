"""Frequencies of keys, with missing values."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_files import by_pairs, files, keys_of

from diskret import DiskretError
from diskret.io import coded
from diskret.risk import Keys, frequencies, k_map


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


@given(files(), st.sampled_from([0.0, 0.25, 1.0]))
def test_rows_that_are_compared_one_by_one_have_the_same_frequencies(file, alpha):
    rows, weights = file
    keys = keys_of(rows, [3] * rows.shape[1])
    grouped = frequencies(keys, weights, alpha=alpha)
    with pytest.MonkeyPatch.context() as patch:
        module = import_module("diskret.risk.frequencies")
        patch.setattr(module, "_WAYS", 0)
        patch.setattr(module, "_PAIR", 0)
        found = frequencies(keys, weights, alpha=alpha)
    assert found.sample.tolist() == grouped.sample.tolist()
    assert np.allclose(found.population, grouped.population, rtol=1e-13)


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
        ({"alpha": 1.5}, "alpha= must be a number from 0 to 1, not 1.5"),
        ({"alpha": float("nan")}, "alpha= must be a number from 0 to 1, not nan"),
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


def keys(*columns):
    return Keys(
        tuple(coded(pa.chunked_array([values]), f"k{j}") for j, values in enumerate(columns))
    )


ROWS = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=10)


@given(ROWS, ROWS, st.sampled_from(["wildcard", "category", "conservative"]), st.data())
def test_persons_are_those_counted_pair_by_pair(rows, people, missing, data):
    alpha = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    many = st.lists(st.integers(0, 9), min_size=len(people), max_size=len(people))
    counts = np.array(data.draw(many), dtype=float)
    rows, people = np.array(rows), np.array(people)
    found = k_map(keys_of(rows), keys_of(people), counts, missing, alpha)
    _, expected = by_pairs(rows, people, counts, missing, alpha, same=False)
    if missing != "category":
        _, any_match = by_pairs(rows, people, counts, "wildcard", 1.0, same=False)
        alpha = 0.0 if missing == "conservative" else alpha
        expected += (1 - alpha) * ((rows < 0).any(axis=1) & (any_match > 0))
    assert found == pytest.approx(expected)


def test_a_file_that_is_its_own_population_has_its_frequencies():
    rows = np.array([[0, 1], [0, 1], [1, 1], [1, 0]])
    assert k_map(keys_of(rows), keys_of(rows)).tolist() == [2, 2, 1, 1]


def test_categories_are_compared_by_value_whatever_their_codes():
    found = k_map(
        keys(["b", "c"], pa.array([1, 2], pa.int8())),
        keys(["a", "b", "b", "c"], pa.array([1, 1, 1000, 3], pa.int64())),
    )
    assert found.tolist() == [1, 0]
    assert k_map(keys([1, 2, 2]), keys(["2", "1", "2"])).tolist() == [1, 2, 2]
    assert k_map(keys([1.0, None]), keys([1, 2])).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("population", "counts", "message"),
    [
        (["a"], [1.0], "the values of 'k0' are of type string in the population and int64 in the"),
        ([1, 2], [1.0, -1.0], "1 count of the population is missing or below 0 .*in row 2"),
        ([1], [float("nan")], "1 count of the population"),
    ],
)
def test_a_population_that_cannot_be_used_is_refused(population, counts, message):
    with pytest.raises(DiskretError, match=message):
        k_map(keys([1, 2]), keys(population), np.array(counts))
