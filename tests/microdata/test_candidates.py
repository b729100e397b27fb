"""What the assistant says of a recoding is what comes of it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import Hierarchy
from diskret.io import coded
from diskret.microdata.candidates import candidates, outcome
from diskret.risk import Keys, frequencies
from diskret.risk.individual import individual_risk


def keys_of(columns):
    return Keys(tuple(coded(pa.chunked_array([values]), name) for name, values in columns.items()))


@st.composite
def files(draw):
    """An age, a job and a region with gaps, and weights."""
    n = draw(st.integers(3, 30))
    ages = st.one_of(st.none(), st.integers(20, 60))
    jobs = st.sampled_from([None, "cook", "baker", "judge", "mayor"])
    columns = {
        "age": pa.array(draw(st.lists(ages, min_size=n, max_size=n)), pa.int64()),
        "job": pa.array(draw(st.lists(jobs, min_size=n, max_size=n)), pa.string()),
    }
    weights = draw(st.one_of(st.none(), st.lists(st.integers(1, 9), min_size=n, max_size=n)))
    return keys_of(columns), None if weights is None else np.array(weights, dtype=float)


@examples(20)
@given(files(), st.sampled_from(["wildcard", "category", "conservative"]))
def test_outcomes_are_those_of_the_recoded_records(file, missing):
    keys, weights = file
    trees = {"age": Hierarchy.from_widths(range(20, 61), (5, 10))}
    for candidate in [None, *candidates(keys, trees)]:
        columns, lost, bits = list(keys.columns), 0, 0.0
        if candidate is not None:
            axis = keys.names.index(candidate.variable)
            old = columns[axis].codes
            there = old >= 0
            new = np.where(there, candidate.new[old], -1).astype(np.int32)
            lost = len(set(old[there])) - len(set(new[there]))
            sizes = zip(old[there], new[there], strict=True)
            bits = sum(np.log2((new == b).sum() / (old == a).sum()) for a, b in sizes) / keys.n
            categories = columns[axis].categories
            columns[axis] = type(columns[axis])(candidate.variable, categories, new)
        found = frequencies(Keys(tuple(columns)), weights, missing)
        made = outcome(keys, 3, weights, missing, candidate)
        assert made.below == (found.sample < 3).sum()
        assert made.uniques == (found.sample == 1).sum()
        risk = individual_risk(found.sample, found.population)
        assert made.expected == pytest.approx(risk.sum())
        assert made.categories_lost == lost and made.entropy_lost == pytest.approx(bits)


def test_each_kind_of_recoding_is_tried():
    random = np.random.default_rng(1)
    columns = {"age": random.integers(0, 90, 500), "job": random.choice(list("abcdefgh"), 500)}
    trees = {"age": Hierarchy.from_widths(range(90), (5, 10))}
    tried = list(candidates(keys_of({k: pa.array(v) for k, v in columns.items()}), trees))
    what = [candidate.what for candidate in tried if candidate.variable == "age"]
    assert [one for one in what if "level" in one] == [
        "level 2 of the hierarchy",
        "level 1 of the hierarchy",
    ]
    assert sum("together" in one for one in what) == 8
    assert sum("above" in one for one in what) == sum("below" in one for one in what) == 2
    assert [one for one in what if "rounded" in one] == [
        "rounded to 5",
        "rounded to 10",
        "rounded to 20",
    ]
    assert sum(candidate.variable == "job" for candidate in tried) == 10


def test_nothing_is_tried_that_leaves_one_category():
    columns = {"sex": pa.array(["f", "m", "f"]), "one": pa.array([1, 1, 1])}
    assert list(candidates(keys_of(columns), {})) == []
