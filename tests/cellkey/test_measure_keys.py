"""Keys of measures: as good as independent ones, for any modulus, and the same in other code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.attack.sum_noise import measure_key
from diskret.cellkey.further_keys import canonical, measure_keys

MODULI = [1, 2, 3, 7, 100, 256, 750, 1000, 4096, 10_007, 2**13]


@pytest.mark.parametrize("modulus", MODULI)
@pytest.mark.parametrize("draw", [0, 3])
def test_no_two_keys_become_one(modulus, draw):
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
