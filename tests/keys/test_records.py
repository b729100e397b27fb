"""Record keys: secret, stable, exact."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.keys import (
    SecretKeys,
    derive_record_keys,
    draw_record_keys,
    members_keys,
    scaled_keys,
)

KEYS = SecretKeys(bytes(range(32)))
MODULI = st.sampled_from([1, 256, 4096, 10**8, 2**32, 10**18, 2**63])


@given(st.lists(st.integers(0, 50)), MODULI, st.randoms())
def test_derived_keys_depend_on_the_id_alone(ids, modulus, random):
    found = derive_record_keys(ids, KEYS, modulus=modulus)
    key = dict(zip(ids, found.tolist(), strict=True))
    assert all(k < modulus for k in key.values())
    mixed = random.sample(ids, len(ids))
    texts = pa.chunked_array([[f" {i}" for i in mixed]], pa.string()).dictionary_encode()
    assert derive_record_keys(texts, KEYS, modulus=modulus).tolist() == [key[i] for i in mixed]


def test_derived_keys_are_the_same_in_another_process():
    program = (
        "from diskret.keys import *; "
        "print(*derive_record_keys(['07', 'Ä', 7], SecretKeys(bytes(range(32))), 'census'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == [
        str(k) for k in derive_record_keys(["07", "Ä", "7"], KEYS, "census")
    ]
    # fixed for good: other keys would change everything that was published
    assert done.stdout.split() == ["4178113008", "2973809548", "4222694975"]


def test_other_keys_purposes_and_ids_give_other_record_keys():
    ids = np.arange(1000)
    found = derive_record_keys(ids, KEYS)
    assert len(np.unique(found)) == 1000
    for other in (
        derive_record_keys(ids, SecretKeys(b"12" * 16)),
        derive_record_keys(ids, KEYS, "other"),
        derive_record_keys(ids + 1000, KEYS),
        draw_record_keys(1000, KEYS),
    ):
        assert (found == other).mean() < 0.01


def test_drawn_keys_can_be_drawn_again_only_with_keys_and_purpose():
    first = draw_record_keys(100, KEYS, "a", 10**8)
    assert (draw_record_keys(200, KEYS, "a", 10**8)[:100] == first).all()
    assert (draw_record_keys(100, KEYS, "b", 10**8) != first).any()
    assert (draw_record_keys(100) != draw_record_keys(100)).any()


@pytest.mark.parametrize("modulus", [256, 10**8, 2**32])
def test_keys_are_spread_evenly(modulus):
    n = 64_000
    for found in (
        draw_record_keys(n, KEYS, modulus=modulus),
        derive_record_keys(np.arange(n), KEYS, modulus=modulus),
    ):
        number = np.bincount(
            (found * np.uint64(64) // np.uint64(modulus)).astype(int), minlength=64
        )
        chi2 = ((number - n / 64) ** 2 / (n / 64)).sum()
        assert abs(chi2 - 63) < 4 * np.sqrt(2 * 63)


# ── decimals ────────────────────────────────────────────────────────────────────


@given(st.lists(st.integers(0, 10**8 - 1), max_size=20))
def test_decimals_are_read_exactly(numbers):
    texts = [f"{n / 10**8:.8f}" for n in numbers]
    for given_as in (
        texts,
        [Decimal(text) for text in texts],
        pa.array([Decimal(text) for text in texts], pa.decimal128(12, 8)),
        np.array([float(text) for text in texts]),
        pa.chunked_array([texts[:3], [f" {text}" for text in texts[3:]]], pa.string()),
    ):
        assert scaled_keys(given_as).tolist() == numbers


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=5))
def test_floats_mean_their_shortest_decimal(numbers):
    fits = [_digits(x) <= 18 for x in numbers]
    if all(fits):
        exact = [Fraction(repr(x)) * 10**18 for x in numbers]
        assert scaled_keys(numbers, digits=18).tolist() == exact
    else:
        with pytest.raises(InputError, match=f"{len(fits) - sum(fits)} record keys?"):
            scaled_keys(numbers, digits=18)


def _digits(x: float) -> int:
    exponent = Decimal(repr(x)).normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 99


def test_keys_that_are_no_decimals_are_counted_and_never_shown():
    with pytest.raises(InputError, match=r"3 record keys .* \(in row 2, 3, 5\)") as error:
        scaled_keys(["0.25", "1.0", "-0.1", "0.5", "0.123456789"])
    assert "0.1234" not in str(error.value)


@pytest.mark.parametrize(
    "wrong", [[None, 0.5], ["0,5"], ["x"], ["1e-47"], [float("nan")], [1.0], [1e30]]
)
def test_what_is_no_decimal_below_one_is_refused(wrong):
    with pytest.raises(InputError, match="1 record key"):
        scaled_keys(wrong)


def test_digits_are_limited():
    assert scaled_keys([], digits=18).shape == (0,)
    for digits in (0, 19):
        with pytest.raises(InputError, match="digits"):
            scaled_keys([0.5], digits=digits)


# ── parents ─────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.sampled_from("abc"))), MODULI)
def test_key_of_a_parent_is_the_sum_of_its_members(members, modulus):
    members = [(key % modulus, parent) for key, parent in members]
    total = {p: sum(k for k, q in members if q == p) % modulus for _, p in members}
    keys = np.array([k for k, _ in members], dtype=np.uint64)
    found = members_keys(keys, [p for _, p in members], modulus)
    assert found.tolist() == [total[p] for _, p in members]


def test_parents_that_do_not_fit_are_refused():
    keys = np.array([1, 2], dtype=np.uint64)
    with pytest.raises(InputError, match="2 members have 1 parents"):
        members_keys(keys, ["a"])
    with pytest.raises(InputError, match=r"1 id is missing \(in row 2\)"):
        members_keys(keys, ["a", None])
    with pytest.raises(InputError, match="1 record key is not below 2"):
        members_keys(keys, ["a", "b"], modulus=2)


@pytest.mark.parametrize("ids", [[1.5, 2.0], ["a", None], ["a", " "]])
def test_ids_that_identify_nothing_are_refused(ids):
    with pytest.raises(InputError, match="(id is|ids are)"):
        derive_record_keys(ids, KEYS)


@pytest.mark.parametrize("modulus", [0, -1, 2**63 + 1])
def test_moduli_are_limited(modulus):
    with pytest.raises(InputError, match="modulus of record keys"):
        draw_record_keys(1, KEYS, modulus=modulus)
    with pytest.raises(InputError, match="modulus of record keys"):
        derive_record_keys([1], KEYS, modulus=modulus)
