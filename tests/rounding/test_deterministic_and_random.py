"""Rounding cell by cell: to the nearest multiple, or up and down by a keyed draw."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounded_tables import KEYS, TREES

import diskret as dk
from diskret.rounding import cell_draws, deterministic, random

VALUES = st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=30)
RECORDS = pa.table(
    {
        "region": ["a1", "a1", "a1", "b1", "b2", "b2", "b2"] * 5,
        "sex": ["f", "m"] * 17 + ["f"],
        "turnover": list(range(35)),
        "key": [(2_654_435_761 * i) % 2**32 for i in range(1, 36)],
    }
)
REGION = TREES[3]


@given(VALUES, st.integers(2, 10**6))
def test_the_nearest_multiple_half_a_base_upwards(values, base):
    found = deterministic(np.array(values), base)
    for value, got in zip(values, found.tolist(), strict=True):
        assert got % base == 0
        assert -base <= 2 * (value - got) < base  # a value in the middle goes up


@given(VALUES, st.integers(2, 10**6), st.integers(0, 2**64 - 1))
def test_random_rounding_takes_an_adjacent_multiple(values, base, draw):
    value = np.array(values)
    found = random(value, base, np.full(len(values), draw, np.uint64))
    assert not np.any(found % base)
    assert np.all(np.abs(found - value) < base)
    assert np.array_equal(found[value % base == 0], value[value % base == 0])


@pytest.mark.parametrize("base", [3, 5, 10])
def test_random_rounding_is_unbiased(base):
    """Mean 0 and variance r (b - r), within four standard errors of a million draws."""
    n = 1_000_000
    draws = np.random.default_rng(1).integers(0, 2**64, n, dtype=np.uint64)
    for rest in range(1, base):
        off = random(np.full(n, 7 * base + rest), base, draws) - (7 * base + rest)
        variance = rest * (base - rest)
        assert abs(off.mean()) < 4 * np.sqrt(variance / n)
        fourth = (rest * (base - rest) ** 4 + (base - rest) * rest**4) / base
        assert abs((off**2).mean() - variance) <= 4 * np.sqrt((fourth - variance**2) / n) + 1e-9


def test_up_exactly_as_often_as_the_rest_asks():
    """The draws that round up are the lowest r/b of all."""
    border = 2 * 2**64 // 3
    draws = np.array([0, border - 2**32, border + 2**32, 2**64 - 1], dtype=np.uint64)
    assert random(np.full(4, 5), 3, draws).tolist() == [6, 6, 3, 3]


def test_draws_of_cells_are_uniform():
    tree = dk.Hierarchy.flat([f"{i:04}" for i in range(400)])
    cells = pa.table({"x": ["0000"], "y": ["0000"], "n": [1]})
    table = dk.Table.from_cells(cells, by={"x": tree, "y": tree}, count="n")
    draws = cell_draws(table, KEYS)
    assert len(np.unique(draws)) == draws.size
    for shift in (0, 16, 32, 48, 60):
        found = np.bincount(((draws >> np.uint64(shift)) % np.uint64(16)).astype(int).ravel())
        assert abs(found - draws.size / 16).max() < 4.5 * np.sqrt(draws.size / 16)


def draws_of(**options):
    table = dk.tabulate(RECORDS, **{"by": {"region": REGION, "sex": None}, **options})
    return table, cell_draws(table, KEYS)


def test_a_cell_has_one_draw_in_all_tables():
    _, both = draws_of()
    _, other_order = draws_of(by={"sex": None, "region": REGION})
    _, alone = draws_of(by={"region": REGION})
    _, filtered = draws_of(by={"region": REGION}, where={"sex": "f"})
    assert np.array_equal(both, other_order.T)
    assert np.array_equal(both[:, 0], alone)
    sex = dk.tabulate(RECORDS, by={"region": REGION, "sex": None}).dimensions[1].hierarchy
    assert np.array_equal(both[:, sex.position["f"]], filtered)


def test_an_only_child_is_rounded_like_its_total():
    _, draws = draws_of()
    only, above = REGION.position["a1"], REGION.position["a"]
    assert np.array_equal(draws[only], draws[above])


def test_other_keys_vintages_and_measures_give_other_draws():
    table, draws = draws_of()
    assert not np.any(draws == cell_draws(table, dk.SecretKeys(bytes(range(1, 33)))))
    assert not np.any(draws == draws_of(vintage="2025")[1])
    assert not np.any(draws == cell_draws(draws_of(value="turnover")[0], KEYS))


def test_with_record_keys_equal_contributors_count_whatever_their_name():
    renamed = RECORDS.set_column(0, "place", RECORDS["region"])
    one = dk.tabulate(RECORDS, by={"region": REGION}, record_key="key")
    other = dk.tabulate(renamed, by={"place": REGION}, record_key="key")
    assert np.array_equal(cell_draws(one, KEYS), cell_draws(other, KEYS))
    assert len({*cell_draws(one, KEYS).tolist()}) == len({*one.key_sum.tolist()})


def test_random_rounding_repeats_with_the_same_keys():
    table = dk.tabulate(RECORDS, by={"region": REGION, "sex": None})
    first = dk.round_table(table, 5, "random", keys=KEYS)
    second = dk.round_table(table, 5, "random", keys=KEYS)
    other = dk.round_table(table, 5, "random", keys=dk.SecretKeys(bytes(range(1, 33))))
    assert np.array_equal(first.published.value, second.published.value)
    assert not np.array_equal(first.published.value, other.published.value)
