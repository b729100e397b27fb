"""Rounding of small counts: nothing small is left, sums stay sums, sets of tables agree."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from rounded_tables import KEYS, additive, count_tables
from scipy import sparse

import diskret as dk
from diskret.errors import InputError
from diskret.rounding import small_counts
from diskret.tables.add_up import leaf_mask


@given(count_tables(), st.sampled_from([2, 3, 5]))
@examples(60)
def test_no_small_count_is_left_and_all_else_is_added_up(table, base):
    value = dk.round_table(table, base, "small_counts", keys=KEYS).published.value
    leaf = leaf_mask(table.dimensions)
    assert not np.any((value > 0) & (value < base))
    assert additive(table, value)
    assert np.array_equal(value[table.count == 0], np.zeros((table.count == 0).sum()))
    large = leaf & (table.count >= base)
    assert np.array_equal(value[large], table.count[large])
    assert np.all(np.isin(value[leaf & ~large], [0, base]))


RECORDS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("pqr"), st.sampled_from("uvw")),
    min_size=1,
    max_size=40,
)


@given(RECORDS, st.sampled_from([3, 5]))
@examples(20)
def test_tables_declared_together_agree(records, base):
    columns = dict(zip(("x", "y", "z"), map(list, zip(*records, strict=True)), strict=True))
    frame = pa.table(columns)
    one = dk.tabulate(frame, by={"x": None, "y": None})
    other = dk.tabulate(frame, by={"z": None, "x": None})
    inner = dk.tabulate(frame, by={"x": None, "y": None, "z": None})
    results = dk.round_table([one, other], base, "small_counts", inner=inner, keys=KEYS)
    first, second = (r.published.value for r in results)
    assert np.array_equal(first[:, 0], second[0])
    for table, value in ((one, first), (other, second)):
        assert additive(table, value)
        assert not np.any((value > 0) & (value < base))
        assert not np.any(value[table.count == 0])
    assert [r.known for r in results] == [None, None]  # cells may be off by more than a base
    assert "not examined" in " ".join(s.en for s in results[0].certificate.not_claimed)


def test_what_feeds_no_small_published_cell_stays():
    """Ones of a finer table that nobody publishes stay as they are."""
    rows = list(product("ab", "pq", "uv"))
    frame = pa.table(dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True)))
    one = dk.tabulate(frame, by={"x": None, "y": None})
    inner = dk.tabulate(frame, by={"x": None, "y": None, "z": None})
    assert int(one.count.min()) == 2
    (result,) = dk.round_table([one], 2, "small_counts", inner=inner, keys=KEYS)
    assert np.array_equal(result.published.value, one.count)


def test_coarser_codes_are_made_of_finer_ones():
    fine = dk.Hierarchy.from_prefix(["a1", "a2", "b1"], (1, 1))
    frame = pa.table({"x": ["a1", "a1", "a2", "b1", "b1", "b1"], "y": list("pqpppq")})
    coarse = frame.set_column(0, "x", [[c[0] for c in frame["x"].to_pylist()]])
    inner = dk.tabulate(frame, by={"x": fine, "y": None})
    tree = dk.Hierarchy(
        ("Total", "a", "b"), np.array([-1, 0, 0]), members={"a": ("a1", "a2"), "b": ("b1",)}
    )
    table = dk.tabulate(coarse, by={"x": tree})
    both = dk.round_table([inner, table], 3, "small_counts", keys=KEYS)
    whole, part = (r.published.value for r in both)
    assert part.tolist() == [
        whole[0, 0],
        whole[fine.position["a"], 0],
        whole[fine.position["b"], 0],
    ]


def test_the_search_beats_rounding_each_count_alone():
    """Of 2,000 ones and twos by two trees; each alone would be off by hundreds in the total."""
    random = np.random.default_rng(5)
    rows = [[int(c) for c in random.integers(0, 20, 2)] for _ in range(2_000)]
    tree = dk.Hierarchy.from_prefix([f"{i:02}" for i in range(20)], (1, 1))
    frame = pa.table({n: [f"{r[i]:02}" for r in rows] for i, n in enumerate("xy")})
    table = dk.tabulate(frame, by={"x": tree, "y": tree})
    result = dk.round_table(table, 10, "small_counts", keys=KEYS)
    assert np.abs(result.noise).max() <= 20
    leaf = leaf_mask(table.dimensions)
    alone = np.where(table.count[leaf] >= 5, 10, 0).sum() - table.count[leaf].sum()
    assert abs(alone) > 100


@given(st.lists(st.integers(1, 2), min_size=2, max_size=9), st.integers(0, 2**32))
@examples(60)
def test_the_total_of_a_row_strays_less_than_a_base(counts, seed):
    n = len(counts)
    cells = sparse.csr_array(np.vstack([np.ones(n, dtype=int), np.eye(n, dtype=int)]))
    draw = np.random.default_rng(seed).integers(0, 2**63, n).astype(np.uint64)
    rounded = small_counts(np.array(counts), cells, 3, draw)
    assert abs(rounded.sum() - sum(counts)) < 3


def test_tables_without_a_finest_one_are_refused():
    frame = pa.table({"x": ["a", "b"], "y": ["p", "q"]})
    tables = [dk.tabulate(frame, by={"x": None}), dk.tabulate(frame, by={"y": None})]
    with pytest.raises(InputError, match="none of the 2 tables has all variables"):
        dk.round_table(tables, 3, "small_counts", keys=KEYS)


def test_tables_of_other_records_are_refused():
    frame = pa.table({"x": ["a", "b"], "y": ["p", "q"]})
    inner = dk.tabulate(frame.slice(0, 1), by={"x": dk.Hierarchy.flat(["a", "b"]), "y": None})
    with pytest.raises(
        InputError, match="2 counts are not the sums of the finest ones, e.g. x=Total"
    ):
        dk.round_table(
            [dk.tabulate(frame, by={"x": None})], 3, "small_counts", inner=inner, keys=KEYS
        )


# ── small tables: nothing better exists ─────────────────────────────────────────────


def _sums_of(shape):
    """Which inner cells each published cell is the sum of, totals of all variables included."""
    inner = np.arange(int(np.prod(shape))).reshape(shape)
    rows = []
    for at in np.ndindex(*[size + 1 for size in shape]):  # the last position: the total
        chosen = inner[tuple(slice(None) if i == s else i for i, s in zip(at, shape, strict=True))]
        row = np.zeros(inner.size, dtype=np.int64)
        row[np.ravel(chosen)] = 1
        rows.append(row)
    return np.array(rows)


def _least_deviation(inner, cells, base):
    """By trying everything: the least largest deviation with no small published cell."""
    shown = cells @ inner
    feeds = cells.T @ ((shown > 0) & (shown < base)).astype(np.int64) > 0
    small = np.flatnonzero(feeds & (inner > 0))
    tried = np.repeat(inner[None], 2 ** len(small), axis=0)
    tried[:, small] = (np.arange(2 ** len(small))[:, None] >> np.arange(len(small)) & 1) * base
    value = tried @ cells.T
    possible = ((value == 0) | (value >= base)).all(axis=1)
    return np.abs(value - shown).max(axis=1)[possible].min()


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (2, 2, 3)])
def test_small_tables_are_rounded_as_well_as_can_be(shape, base):
    random = np.random.default_rng(base)
    cells = _sums_of(shape)
    for _ in range(30):
        inner = random.choice([0, 1, 2, 3, 4, 8], cells.shape[1])
        draw = random.permutation(len(inner)).astype(np.uint64)
        found = cells @ small_counts(inner, sparse.csr_array(cells), base, draw)
        assert np.all((found == 0) | (found >= base))
        assert np.abs(found - cells @ inner).max() == _least_deviation(inner, cells, base)
