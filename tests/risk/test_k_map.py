"""k-map against a count pair by pair."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_files import by_pairs, keys_of

from diskret import DiskretError
from diskret.io import coded
from diskret.risk import Keys, k_map


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
        ([1, 2], [1.0, -1.0], "1 counts of the population are missing or below 0 .*in row 2"),
        ([1], [float("nan")], "1 counts of the population"),
    ],
)
def test_a_population_that_cannot_be_used_is_refused(population, counts, message):
    with pytest.raises(DiskretError, match=message):
        k_map(keys([1, 2]), keys(population), np.array(counts))
