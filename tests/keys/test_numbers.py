"""Numbers of units and holdings become keyed fingerprints."""

import numpy as np

from diskret.keys import SecretKeys, keyed_numbers
from diskret.keys.numbers import siphash

KEYS = SecretKeys(bytes(range(32)))


def test_siphash_gives_the_numbers_of_its_authors():
    """The vector for 8 bytes in the reference code of Aumasson and Bernstein."""
    number = np.frombuffer(bytes(range(8)), "<u8")
    assert siphash(bytes(range(16)), number).astype("<u8").tobytes().hex() == "6224939a79f5f593"


def test_equal_numbers_stay_equal_and_others_differ():
    numbers = np.array([[5, 6], [5, 2**64 - 1]], np.uint64)
    found = keyed_numbers(KEYS, "contributors", numbers)
    assert found.shape == (2, 2)
    assert found[0, 0] == found[1, 0]
    assert len(np.unique(found)) == 3
    assert not np.isin(found, numbers).any()


def test_other_keys_and_purposes_give_other_numbers():
    numbers = np.arange(3, dtype=np.uint64)
    found = keyed_numbers(KEYS, "contributors", numbers)
    others = SecretKeys(bytes(range(1, 33)))
    assert not (found == keyed_numbers(others, "contributors", numbers)).any()
    assert not (found == keyed_numbers(KEYS, "others", numbers)).any()
