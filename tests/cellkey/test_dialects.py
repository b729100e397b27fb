"""Lookup tables of the ONS and the ABS mean what these offices say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.cellkey import Lookup
from diskret.errors import InputError


def ons(noise):
    """A table of the ONS from noise of shape (counts, keys), in mixed order."""
    rows, keys = noise.shape
    pcv, ckey = np.meshgrid(np.arange(1, rows + 1), np.arange(keys), indexing="ij")
    order = np.random.default_rng(5).permutation(rows * keys)
    columns = {"pcv": pcv, "ckey": ckey, "pvalue": noise}
    return pa.table({name: values.ravel()[order] for name, values in columns.items()})


def any_noise(rows, keys, seed):
    largest = np.minimum(np.arange(1, rows + 1), 5)[:, None]
    return np.random.default_rng(seed).integers(-largest, 6, size=(rows, keys))


@examples(20)
@given(
    st.sampled_from([(750, 256, 250), (40, 4096, 10), (12, 7, 1), (9, 16, 8)]),
    st.integers(0, 99),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2**32)), max_size=50),
)
def test_ons_takes_the_rows_in_turn(shape, seed, cells):
    rows, keys, reuse = shape
    noise = any_noise(rows, keys, seed)
    lookup = Lookup.from_ons(ons(noise), reuse=reuse)
    assert lookup.modulus == keys
    count = np.array([n for n, _ in cells], dtype=np.int64)
    key = np.array([k % keys for _, k in cells], dtype=np.uint64)
    found = lookup(count, key).tolist()
    for n, k, v in zip(count.tolist(), key.tolist(), found, strict=True):
        pcv = n if n <= rows else (n - rows - 1) % reuse + rows - reuse + 1
        assert v == (noise[pcv - 1, k] if n else 0)


@pytest.mark.parametrize(("n", "pcv"), [(750, 750), (751, 501), (1000, 750), (1001, 501)])
def test_row_of_the_ons_is_that_of_its_formula(n, pcv):
    assert pcv == (n if n <= 750 else ((n - 1) % 250) + 501)
    noise = np.repeat(np.arange(1, 751)[:, None], 4, axis=1)
    lookup = Lookup.from_ons(ons(noise))
    assert lookup(np.array([n]), np.array([3], np.uint64)).tolist() == [pcv]


def test_ten_five_rule_of_the_ons_is_rounding():
    """The demonstration table: below 10 nothing, else to the nearest 5, whatever the key."""
    pcv = np.arange(1, 751)
    change = np.where(pcv < 10, 0, (pcv + 2) // 5 * 5 - pcv)
    lookup = Lookup.from_ons(ons(np.repeat(change[:, None], 256, axis=1)))
    assert lookup.bounds.shape == (751, 1)
    count = np.array([9, 12, 13, 752, 1000])
    published = count + lookup(count, np.arange(5, dtype=np.uint64))
    assert published.tolist() == [9, 10, 15, 750, 1000]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.slice(1), "1 combination is missing or there twice"),
        (lambda t: pa.concat_tables([t, t.slice(0, 2)]), "2 combinations"),
        (lambda t: t.drop_columns(["ckey"]), "no column 'ckey'"),
        (lambda t: t.slice(0, 0), "no rows"),
    ],
)
def test_incomplete_tables_of_the_ons_are_refused(change, says):
    table = ons(any_noise(5, 8, 1))
    with pytest.raises(InputError, match=says):
        Lookup.from_ons(change(table), reuse=1)


def test_a_stated_modulus_must_be_that_of_the_table():
    table = ons(any_noise(5, 8, 1))
    assert Lookup.from_ons(table, reuse=1, modulus=8).modulus == 8
    with pytest.raises(InputError, match="(is|are) missing"):
        Lookup.from_ons(table, reuse=1, modulus=16)
    with pytest.raises(InputError, match="rows lie outside"):
        Lookup.from_ons(table, reuse=1, modulus=4)


def test_tables_that_make_counts_negative_are_refused():
    noise = any_noise(5, 8, 1)
    noise[1, 3] = -3
    with pytest.raises(InputError, match="a count of 2 would become -1"):
        Lookup.from_ons(ons(noise), reuse=1)
    with pytest.raises(InputError, match="a count of 2 would become -1"):
        Lookup.from_abs(noise.T)


# ── ABS ─────────────────────────────────────────────────────────────────────────


@given(
    st.integers(0, 99),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 2**32 - 1)), max_size=50),
)
def test_leading_bits_choose_the_row_of_the_abs(seed, cells):
    matrix = any_noise(20, 256, seed).T
    lookup = Lookup.from_abs(matrix)
    for n, key in cells:
        expected = matrix[key >> 24, min(n, 20) - 1] if n else 0
        assert lookup(np.array([n]), np.array([key], np.uint64)).tolist() == [expected]


def test_last_columns_of_the_abs_may_be_used_in_turn():
    matrix = any_noise(20, 256, 3).T
    lookup = Lookup.from_abs(matrix, reuse=5)
    key = np.full(3, 77 << 24, dtype=np.uint64)
    assert lookup(np.array([21, 25, 26]), key).tolist() == matrix[77, [15, 19, 15]].tolist()


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        (np.zeros((3, 4)), "3 rows do not divide"),
        (np.full((4, 4), 0.5), "16 entries are no whole numbers"),
        (np.zeros(4), "of shape"),
        ([["a"]], "of shape"),
    ],
)
def test_what_is_no_matrix_of_the_abs_is_refused(matrix, says):
    with pytest.raises(InputError, match=says):
        Lookup.from_abs(matrix)
