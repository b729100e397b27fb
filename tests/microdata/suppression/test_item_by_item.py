"""Many keys: what an item hides is looked for apart, and is what trying all sets gives."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suppression_files import files, problem_of

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.microdata.suppression import (
    hidden_by_record,
    item_by_item,
    record_by_record,
    suppress,
    visibly_rare,
)

PRICES = [1.0, 1.0001, 1.5, 4.0, np.inf]


@given(files(most=20), st.integers(1, 5), st.data())
def test_it_finds_what_trying_all_sets_finds_ties_included(rows, k, data):
    n, m = rows.shape
    price = data.draw(st.lists(st.sampled_from(PRICES), min_size=m, max_size=m))
    group = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    some = st.lists(st.integers(0, m - 1), min_size=1, max_size=m, unique=True)
    sets = data.draw(st.none() | st.lists(some.map(lambda of: tuple(sorted(of))), min_size=1))
    problem = problem_of(rows, k, price, group, sets)
    made = []
    for tried in (99, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(suppress, "_TRIED", tried)
            try:
                made.append([mask := record_by_record(problem)])
                made[-1] += [visibly_rare(problem, mask, t) for t in range(len(sets or [0]))]
            except ProtectionError as error:
                made.append([str(error)])
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one, other)


def cheapest(rows, price, i, k):
    """The least price of the keys in which a record and some k - 1 others differ."""
    others = [j for j in range(len(rows)) if j != i]
    return min(
        price[np.any([rows[j] != rows[i] for j in chosen], axis=0)].sum()
        for chosen in combinations(others, k - 1)
    )


@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_cheaper_set_of_thirty_keys_is_enough(k):
    random = np.random.default_rng(k)
    rows = random.integers(0, 3, (14, 30)) * (random.random((14, 30)) < 0.4)
    price = random.choice([1.0, 1.25, 3.0], 30)
    problem = problem_of(rows, k, price)
    mask, unproven = hidden_by_record(problem)
    assert unproven == 0 == len(visibly_rare(problem, mask, 0))
    for i in range(len(rows)):
        assert price[mask[i]].sum() == cheapest(rows, price, i, k)


def test_a_search_that_ends_early_still_protects_and_says_so(monkeypatch):
    monkeypatch.setattr(item_by_item, "_STEPS", 1)
    rows = np.random.default_rng(5).integers(0, 3, (60, 25))
    problem = problem_of(rows, 4)
    mask, unproven = hidden_by_record(problem)
    assert unproven > 0 == len(visibly_rare(problem, mask, 0))


def test_one_value_too_few_is_noticed():
    rows = np.random.default_rng(6).integers(0, 3, (40, 25))
    problem = problem_of(rows, 3)
    mask = record_by_record(problem)
    row, key = np.argwhere(mask)[0]
    mask[row, key] = False
    assert visibly_rare(problem, mask, 0).tolist() == [row]


def persons(n=200, m=26):
    random = np.random.default_rng(7)
    return pa.table({f"q{q}": random.choice(3, n, p=[0.8, 0.15, 0.05]) for q in range(m)})


def test_a_file_with_many_keys_is_released_with_its_claim():
    table = persons()
    md = dk.Microdata(table, keys=table.column_names)
    made = md.local_suppression(k=3)
    assert made.history[-1].found["values"] > 0
    assert "unproven" not in made.history[-1].found
    keys = dk.SecretKeys(bytes(range(32)))
    assert made.release(dk.claims.KAnonymity(3), keys=keys).table.num_rows == 200
    assert made.risk().records["sample_frequency"].to_numpy().min() >= 3


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"matches": "wildcard"}, "matches='wildcard'"),
        ({"threshold": 0.5}, "threshold="),
        ({"diversity": {"q0": 2}}, "diversity="),
    ],
)
def test_what_tries_all_sets_is_refused_for_many_keys(more, named):
    table = persons(30, 22)
    md = dk.Microdata(table, keys=table.column_names)
    with pytest.raises(InputError, match=f"22 keys are too many for .*{named}"):
        md.local_suppression(k=2, **more)
