"""Keys of measures: as good as independent ones, for any modulus, and the same in other code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.attack.cell_key_noise import measure_key
from diskret.cellkey.further_keys import measure_keys, turned
from diskret.errors import InputError
from diskret.io.names import canonical

MODULI = [1, 2, 3, 7, 100, 256, 750, 1000, 4096, 10_007, 2**13]


@pytest.mark.parametrize("modulus", MODULI)
@pytest.mark.parametrize("draw", [0, 3])
def test_no_two_keys_of_a_measure_become_one(modulus, draw):
    keys = measure_keys(np.arange(modulus, dtype=np.uint64), modulus, "turnover", draw)
    assert np.array_equal(np.sort(keys), np.arange(modulus))


@pytest.mark.parametrize("modulus", [256, 4096, 2**32, 10**4, 10**8, 10**12, 2**63, 10_007])
@pytest.mark.parametrize("other", [("wages", 0), ("turnover", 1), ("Turnover2", 0)])
def test_keys_of_two_measures_have_nothing_in_common(modulus, other):
    """Neither follows the other nor the key of the cell: eighths meet as often as by chance."""
    random = np.random.default_rng(3)
    keys = np.arange(modulus) if modulus <= 20_000 else random.integers(0, modulus, 40_000)
    keys = keys.astype(np.uint64)
    first, second = measure_keys(keys, modulus, "turnover"), measure_keys(keys, modulus, *other)
    for one, two in ((keys, first), (first, second), (keys, second)):
        eighths = (one / modulus * 8).astype(int) * 8 + (two / modulus * 8).astype(int)
        share = np.bincount(eighths, minlength=64) / len(keys)
        assert np.abs(share - 1 / 64).max() < 5 * np.sqrt(1 / 64 / len(keys))


@given(
    st.sampled_from([*MODULI, 2**32, 10**8, 2**63]),
    st.integers(0, 2**63 - 1),
    st.text(max_size=8),
    st.integers(0, 6),
)
def test_other_code_finds_the_same_key(modulus, key, source, draw):
    keys = np.array([key % modulus], np.uint64)
    found = measure_keys(keys, modulus, source, draw)
    assert found[0] < modulus
    assert measure_key(keys, modulus, canonical(source), draw) == found


def test_the_keys_stay_as_they_are():
    """Values published last year would change otherwise."""
    keys = np.array([0, 1, 123_456_789], np.uint64)
    for name in ("turnover", "  TURNOVER "):
        assert measure_keys(keys, 2**32, name).tolist() == [349438668, 4078172860, 3095976581]


@pytest.mark.parametrize("modulus", [2, 4, 128, 256, 4096, 2**13, 100, 1000, 10_000])
@pytest.mark.parametrize("times", [0, 1])
def test_no_two_keys_become_one(modulus, times):
    keys = turned(np.arange(modulus, dtype=np.uint64), modulus, times)
    assert np.array_equal(np.sort(keys), np.arange(modulus))


@given(st.integers(0, 10**8 - 1), st.integers(0, 7))
def test_decimal_keys_turn_by_their_digits(key, times):
    text = f"{key:08d}"
    assert turned(np.array([key], np.uint64), 10**8, times)[0] == int(text[times:] + text[:times])


@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.integers(0, 3))
def test_turning_twice_is_turning_as_often(key, first, second):
    keys = np.array([key], np.uint64)
    at_once = turned(keys, 2**32, first + second)
    assert turned(turned(keys, 2**32, first), 2**32, second) == at_once


def test_turned_binary_keys_do_not_follow_each_other():
    """Correlation and equal leading digits as rare as among independent keys."""
    keys = np.random.default_rng(5).integers(0, 2**32, 20_000, dtype=np.uint64)
    for times in (1, 2, 3):
        other = turned(keys, 2**32, times)
        correlation = np.corrcoef(keys.astype(float), other.astype(float))[0, 1]
        assert abs(correlation) < 4 / np.sqrt(len(keys))
        same = np.mean(keys >> np.uint64(28) == other >> np.uint64(28))
        assert abs(same - 1 / 16) < 4 * np.sqrt(1 / 16 * 15 / 16 / len(keys))


def test_neighbouring_keys_are_torn_apart():
    near = turned(np.arange(1000, dtype=np.uint64), 2**32, 1)
    assert np.abs(np.corrcoef(np.arange(1000.0), near.astype(float))[0, 1]) < 0.15


def test_more_turns_than_digits_are_refused():
    with pytest.raises(InputError, match=r"3 digits give 3 different keys, 4 are needed"):
        turned(np.array([1], np.uint64), 1000, 3)


def test_modulus_without_digits_is_refused():
    with pytest.raises(InputError, match=r"power of ten or two, not 750"):
        turned(np.array([1], np.uint64), 750, 1)
