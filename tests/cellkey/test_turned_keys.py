"""Further keys are as good as the first, and none is the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.cellkey.further_keys import turned
from diskret.errors import InputError


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
