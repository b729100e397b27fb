"""From a count and a cell key to the noise: the first upper bound greater than the key."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.cellkey import Lookup, PerturbationTable
from diskret.errors import InputError
from diskret.keys import SecretKeys, draw_record_keys


def table(rows, noise):
    matrix = np.array([[v == 0 for v in noise], *rows], dtype=np.float64)
    return PerturbationTable(np.arange(len(matrix)), np.array(noise), matrix)


@st.composite
def tables(draw):
    noise = sorted(draw(st.sets(st.integers(-5, 5), min_size=1, max_size=6)) | {0})
    rows = draw(st.integers(1, 4))
    weights = st.lists(st.integers(0, 50), min_size=len(noise), max_size=len(noise))
    drawn = [draw(weights.filter(any)) for _ in range(rows)]
    return table([[Fraction(w, sum(row)) for w in row] for row in drawn], noise)


@given(tables(), st.sampled_from([10, 256, 4096, 10**8, 2**32]), st.integers(0, 2**32), st.data())
def test_noise_is_that_of_the_first_bound_greater_than_the_key(found, modulus, key, data):
    lookup = found.lookup(modulus)
    count, key = data.draw(st.integers(0, 9)), key % modulus
    row = min(count, len(found.counts) - 1)
    cumulative = np.cumsum(np.rint(found.probabilities[row] * 10**12).astype(np.int64))
    exact = [Fraction(int(c), 10**12) for c in cumulative]
    expected = next(
        (v for v, c in zip(found.noise, exact, strict=True) if c > Fraction(key, modulus)),
        found.noise[np.flatnonzero(found.probabilities[row])[-1]],
    )
    assert lookup(np.array([count]), np.array([key], np.uint64)).tolist() == [expected]


@given(tables(), st.sampled_from([7, 256, 2**32]), st.integers(0, 2**63))
def test_shuffling_changes_no_probability(found, modulus, seed):
    lookup = found.lookup(modulus)
    mixed = lookup.shuffled(seed)
    for v in found.noise:
        for n in found.counts:
            assert mixed.table().probability(n, v) == lookup.table().probability(n, v)


@given(tables(), st.sampled_from([256, 2**32]))
def test_intervals_are_as_long_as_the_probabilities_say(found, modulus):
    again = found.lookup(modulus).table()
    for n in found.counts:
        for v in found.noise:
            assert abs(again.probability(n, v) - found.probability(n, v)) <= 1 / modulus + 1e-11


def test_bounds_fall_where_the_decimals_were_written():
    # 0.86 · 10^8 is 85999999.99999999 in binary arithmetic with these summands
    found = table([[0.04, 0.11, 0.135, 0.5, 0.075, 0.14]], [-3, -2, -1, 0, 1, 4])
    bounds = found.lookup(10**8).bounds[1].tolist()
    assert bounds == [4000000, 15000000, 28500000, 78500000, 86000000, 10**8]


def test_long_intervals_are_split_and_mixed():
    found = table([[0.25, 0.5, 0.25]], [-1, 0, 1])
    mixed = found.lookup(10**8, order="shuffled", seed=1)
    used = mixed.noise[1][np.diff(mixed.bounds[1], prepend=np.uint64(0)) > 0]
    assert sorted(used.tolist()) == [-1, -1, 0, 0, 0, 1, 1]
    assert used.tolist() != sorted(used.tolist())
    again = found.lookup(10**8, order="shuffled", seed=1)
    assert (again.bounds == mixed.bounds).all() and (again.noise == mixed.noise).all()


def test_shuffled_order_is_the_same_everywhere():
    mixed = table([[0.25, 0.5, 0.25]], [-1, 0, 1]).lookup(100, order="shuffled", seed=7)
    assert mixed.noise[1].tolist() == [0, -1, 1, 1, -1, 0, 0]
    assert mixed.bounds[1].tolist() == [17, 29, 42, 54, 67, 84, 100]


def test_without_a_seed_the_office_s_key_decides(private_keys):
    found = table([[0.3, 0.4, 0.3]], [-1, 0, 1])
    first = found.lookup(order="shuffled")
    assert private_keys.exists()
    assert (found.lookup(order="shuffled").bounds == first.bounds).all()


@pytest.mark.parametrize(
    ("count", "row"), [(750, 750), (751, 501), (1000, 750), (1001, 501), (1250, 750), (500, 500)]
)
def test_rows_are_reused_in_turn(count, row):
    counts = np.arange(751)
    bounds = np.full((751, 1), 256, dtype=np.uint64)
    lookup = Lookup(counts, 256, bounds, counts[:, None].copy(), reuse=250)
    assert lookup(np.array([count]), np.array([9], np.uint64)).tolist() == [row]


def test_shape_is_kept_and_zero_stays_zero():
    lookup = table([[1.0, 0.0]], [-1, 0]).lookup()
    count = np.array([[0, 1], [2, 0]])
    assert lookup(count, np.full((2, 2), 2**32 - 1, np.uint64)).tolist() == [[0, -1], [-1, 0]]
    assert lookup(count[:0], np.empty((0, 2), np.uint64)).shape == (0, 2)


@pytest.mark.parametrize("modulus", [2**32, 10**8])
def test_simulated_noise_has_mean_and_variance_of_the_table(modulus):
    found = PerturbationTable.maximum_entropy(5, 3, small_counts=2, stay=0.3)
    n = 100_000
    key = draw_record_keys(n, SecretKeys(bytes(range(32))), modulus=modulus)
    for lookup in (found.lookup(modulus), found.lookup(modulus, "shuffled", seed=3)):
        for row in range(1, 9):
            noise = lookup(np.full(n, row), key)
            p, v = found.probabilities[row], found.noise
            fourth = p @ v.astype(float) ** 4
            assert abs(noise.mean()) < 4 * np.sqrt(3 / n)
            assert abs((noise**2).mean() - 3) < 4 * np.sqrt((fourth - 9) / n)


def test_an_interval_may_round_to_nothing():
    lookup = table([[0.001, 0.999]], [-1, 0]).lookup(256)
    assert lookup.table().probability(1, -1) == 1 / 256
    none = Lookup(
        np.arange(2), 10, np.array([[10, 10], [0, 10]], np.uint64), np.array([[0, 0]] * 2)
    )
    assert none(np.array([1]), np.array([0], np.uint64)).tolist() == [0]


def small(**changed):
    given = {
        "counts": np.arange(3),
        "modulus": 10,
        "bounds": np.array([[10, 10], [4, 10], [5, 10]], np.uint64),
        "noise": np.array([[0, 0], [0, 1], [0, 2]]),
    }
    return Lookup(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"counts": np.array([1, 2, 3])}, "ascending counts from 0"),
        ({"counts": np.array([0, 2, 2])}, "ascending counts from 0"),
        ({"modulus": 9}, "do not in 3 rows"),
        ({"modulus": 2**63}, "must be from 1 to"),
        ({"bounds": np.array([[10, 10], [10, 4], [5, 10]], np.uint64)}, "row 1"),
        ({"bounds": np.array([[10, 10], [4, 10]], np.uint64)}, "alike in shape"),
        ({"noise": np.array([[0, 1], [0, 1], [0, 2]])}, "0 stays 0"),
        ({"reuse": 3}, "cannot be reused"),
        ({"reuse": 2, "counts": np.array([0, 1, 5])}, "leave out counts"),
    ],
)
def test_what_is_no_lookup_is_refused(changed, says):
    small()
    with pytest.raises(InputError, match=says):
        small(**changed)


@pytest.mark.parametrize(
    ("count", "key", "says"),
    [
        (np.array([-1, 2]), np.array([1, 2], np.uint64), "1 count is negative"),
        (np.array([1, 2]), np.array([10, 2], np.uint64), "1 cell key is not below 10"),
        (np.array([1, 2]), np.array([1], np.uint64), "of shape"),
        (np.array([1, 2]), np.array([1, 2]), "uint64"),
    ],
)
def test_cells_that_cannot_be_looked_up_are_refused(count, key, says):
    with pytest.raises(InputError, match=says):
        small()(count, key)


def test_unknown_order_is_refused():
    with pytest.raises(InputError, match="'sorted' or 'shuffled'"):
        table([[0.5, 0.5]], [0, 1]).lookup(order="random")
