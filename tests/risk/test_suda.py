"""Minimal sample uniques are exactly those that the definition names."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from risk_files import files, keys_of

from diskret.errors import InputError
from diskret.risk import Keys, frequencies
from diskret.risk.suda import (
    contributions,
    intrusion,
    intrusion_of_records,
    minimal_uniques,
    scores_by_size,
    scores_of_records,
)

KEYS = files(12, 5).map(lambda made: keys_of(made[0]))
COMPLETE = files(12, 5).map(lambda made: keys_of(np.maximum(made[0], 0)))
MISSING = st.sampled_from(["wildcard", "conservative", "category"])


def by_definition(keys: Keys, max_size: int, missing: str) -> set[tuple[int, int]]:
    """Every record and set of keys, as bits, by comparing each pair of records."""
    table = np.stack([column.codes for column in keys.columns], axis=1)
    n, m = table.shape
    known = np.ones((n, m), dtype=bool) if missing == "category" else table >= 0
    agree = table[:, None, :] == table[None, :, :]
    if missing == "wildcard":
        agree |= (table < 0)[None, :, :]
    bits = 1 << np.arange(m)
    agree, known = agree @ bits, known @ bits
    np.fill_diagonal(agree, 0)  # nobody hides behind himself
    found: dict[int, NDArray[np.bool_]] = {}
    for size in range(1, max_size + 1):
        for chosen in combinations(range(m), size):
            keys_of_set = sum(1 << j for j in chosen)
            alone = (agree & keys_of_set != keys_of_set).all(axis=1)
            found[keys_of_set] = alone & (known & keys_of_set == keys_of_set)
    return {
        (i, chosen)
        for chosen, alone in found.items()
        for i in np.flatnonzero(alone).tolist()
        if not any(
            found[chosen ^ 1 << j][i] for j in range(m) if chosen >> j & 1 and chosen != 1 << j
        )
    }


@given(KEYS, MISSING, st.integers(1, 5))
def test_sets_are_those_of_the_definition(keys, missing, max_size):
    max_size = min(max_size, len(keys.columns))
    found = minimal_uniques(keys, max_size, missing)
    pairs = list(zip(found.record.tolist(), found.keys.tolist(), strict=True))
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == by_definition(keys, max_size, missing)


@given(KEYS, st.sampled_from(["wildcard", "category"]))
def test_records_with_a_set_are_those_of_frequency_one(keys, missing):
    scored = scores_of_records(minimal_uniques(keys, None, missing), "original") > 0
    alone = frequencies(keys, missing=missing).sample == 1
    if keys.n > 1:  # a single record is alone even where it has no value
        assert scored.tolist() == alone.tolist()


@given(KEYS, MISSING, st.randoms(use_true_random=False))
def test_order_of_records_and_of_keys_does_not_matter(keys, missing, random):
    table = np.stack([column.codes for column in keys.columns], axis=1)
    rows = list(range(keys.n))
    columns = list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    moved = minimal_uniques(keys_of(table[rows][:, columns].tolist()), None, missing)
    back = {
        (rows[record], sum(1 << columns[j] for j in range(len(columns)) if bits >> j & 1))
        for record, bits in zip(moved.record.tolist(), moved.keys.tolist(), strict=True)
    }
    found = minimal_uniques(keys, None, missing)
    assert back == set(zip(found.record.tolist(), found.keys.tolist(), strict=True))


@pytest.mark.parametrize("missing", ["wildcard", "conservative", "category"])
def test_twenty_keys_up_to_four(missing):
    random = np.random.default_rng(3)
    table = random.integers(0, 3, (60, 20))
    table[random.random(table.shape) < 0.05] = -1
    keys = keys_of(table.tolist())
    found = minimal_uniques(keys, 4, missing)
    assert set(zip(found.record.tolist(), found.keys.tolist(), strict=True)) == by_definition(
        keys, 4, missing
    )
    assert len(found.keys) > 10_000


def test_smaller_sets_come_first_and_have_names():
    found = minimal_uniques(keys_of([[0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]]))
    assert found.of(0) == (("k0",),)
    assert found.of(1) == (("k2",),)
    assert found.of(3) == ()
    assert found.size.tolist() == [1, 1, 1]


def test_missing_values_of_others_hide_unless_told_otherwise():
    keys = keys_of([[0, 0], [1, 0], [-1, 0]])
    assert minimal_uniques(keys).of(0) == ()
    assert minimal_uniques(keys, missing="conservative").of(0) == (("k0",),)
    assert minimal_uniques(keys, missing="category").of(2) == (("k0",),)


def test_more_sets_than_can_be_searched_are_refused_with_a_remedy():
    keys = keys_of([[0] * 40, [1] * 40])
    with pytest.raises(InputError, match=r"40 keys have .* give max_size=6 or less"):
        minimal_uniques(keys)
    assert minimal_uniques(keys, 1).size.tolist() == [1] * 80
    with pytest.raises(InputError, match="63 keys are too many"):
        minimal_uniques(keys_of([[0] * 63]), 1)
    with pytest.raises(InputError, match="max_size="):
        minimal_uniques(keys, 0)


@given(st.integers(1, 20), st.integers(1, 20))
def test_scores_by_size(m, largest):
    largest = min(largest, m)
    original = scores_by_size(m, largest, "original")
    for k in range(1, largest + 1):
        assert original[k] == factorial(m - k) / factorial(m - largest)
    share = scores_by_size(m, m, "share")
    # by Pascal's rule: how many larger sets there are, for each set of that size
    assert share[1] == pytest.approx((2 ** (m - 1) - 1) / m)
    assert share[m] == 0


def test_unknown_scores_are_refused():
    with pytest.raises(InputError, match="scores= must be"):
        scores_by_size(3, 3, "factorial")


def test_intrusion_counts_records_that_are_alone_and_records_with_one_double():
    sample = np.array([1.0, 1, 1, 2, 2, 2, 2, 3, 3, 3])
    assert intrusion(sample, 0.1) == pytest.approx(3 * 0.1 / (3 * 0.1 + 4 * 0.9))
    assert intrusion(sample, 1.0) == 1
    assert intrusion(np.array([2.0, 2.0]), 0.1) == 0
    with pytest.raises(InputError, match="dis_fraction="):
        intrusion(sample, 0.0)


def test_intrusion_estimates_the_share_of_correct_unique_matches():
    """A population of pairs and singles, sampled: how often does a unique match hit its own?"""
    random = np.random.default_rng(11)
    cell = random.integers(0, 40_000, 60_000)
    size = np.bincount(cell, minlength=40_000)
    chosen = random.random(60_000) < 0.2
    sample = np.bincount(cell[chosen], minlength=40_000)
    # of all matches of a person of the population with a unique of the sample, which are correct?
    truth = (sample == 1).sum() / size[sample == 1].sum()
    estimate = intrusion(sample[cell[chosen]].astype(float), 0.2)
    assert estimate == pytest.approx(truth, rel=0.04)


@given(
    st.lists(st.integers(0, 120), min_size=1, max_size=20).filter(any),
    st.floats(0.001, 1),
    st.integers(1, 40),
)
def test_the_scores_of_records_spread_that_of_the_file(score, dis, m):
    made = intrusion_of_records(np.array(score, dtype=float), dis, m)
    scored = np.array(score) > 0
    assert (1 / made[scored]).mean() == pytest.approx(1 / dis)
    assert (made[~scored] == 0).all()
    order = np.argsort(score)
    assert (np.diff(made[order]) >= -1e-12).all()


@given(COMPLETE)
def test_contributions_of_values_add_up_to_those_of_their_key(keys):
    found = minimal_uniques(keys)
    part = contributions(found, keys, "original")
    for of_key, levels in zip(part.keys, part.levels, strict=True):
        assert levels.sum() == pytest.approx(of_key)
    if len(found.keys):
        by_size = scores_by_size(len(keys.columns), found.largest, "original")[found.size]
        assert part.keys.sum() == pytest.approx(100 * (by_size * found.size).sum() / by_size.sum())
