"""Tabulation equals counting by hand, whatever straddles."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError
from diskret.population import Population

NACE = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "A1", "A2", "B1"], "parent": [None, "T", "T", "A", "A", "B"]}
)
SIZE = dk.Hierarchy.flat(["s", "m"])
MODULUS = 1000

record = st.tuples(
    st.sampled_from(["A1", "A2", "B1"]),
    st.sampled_from(["s", "m"]),
    st.integers(0, 5),
    st.integers(-50, 200),
)


@pytest.mark.parametrize("by", [["nace", "size"], "nace", {}, {"nace": "nace.hrc"}])
def test_what_is_no_mapping_to_trees_is_told(by):
    with pytest.raises(InputError, match="by="):
        dk.tabulate(pa.table({"nace": ["A1"], "size": ["s"]}), by=by)


@pytest.mark.parametrize("decimals", ["2", -1, 1.5, True])
def test_decimals_are_whole_numbers(decimals):
    records = pa.table({"size": ["s"], "sales": [1]})
    with pytest.raises(InputError, match="decimals of 'sales'"):
        dk.tabulate(records, by={"size": None}, value="sales", decimals=decimals)


def above(tree, code):
    return [tree.codes[i] for i in tree.ancestors[tree.position[code]]]


class ByHand:
    """One cell, counted record by record."""

    def __init__(self):
        self.count, self.sum, self.units, self.by = 0, 0, set(), defaultdict(int)


def by_hand(records, holding_of):
    cells = defaultdict(ByHand)
    for nace, size, unit, value in records:
        for a in above(NACE, nace):
            for b in above(SIZE, size):
                cell = cells[a, b]
                cell.count += 1
                cell.sum += value
                cell.units.add(unit)
                cell.by[holding_of(unit)] += value
    return cells


@given(st.lists(record, min_size=1, max_size=40), st.booleans())
def test_every_cell_is_what_counting_gives(records, with_holding):
    holdings = {0: "h", 1: "h", 2: None, 3: None, 4: "g", 5: None}

    def holding_of(unit):
        return (holdings[unit] or f"own {unit}") if with_holding else unit

    def key_of(unit):
        return (unit * 617 + 401) % MODULUS

    frame = pa.table(
        {
            "nace": pa.array([r[0] for r in records], pa.string()),
            "size": pa.array([r[1] for r in records], pa.string()),
            "unit": pa.array([r[2] for r in records], pa.int64()),
            "value": pa.array([r[3] for r in records], pa.int64()),
            "holding": pa.array([holdings[r[2]] for r in records], pa.string()),
            "key": pa.array([key_of(r[2]) for r in records], pa.int64()),
        }
    )
    table = dk.tabulate(
        frame,
        by={"nace": NACE, "size": SIZE},
        value="value",
        unit="unit",
        holding="holding" if with_holding else None,
        record_key="key",
        key_modulus=MODULUS,
        largest=2,
    )
    cells = by_hand(records, holding_of)
    for at in np.ndindex(table.shape):
        code = NACE.codes[at[0]], SIZE.codes[at[1]]
        cell = cells[code]
        sizes = sorted((abs(v) for v in cell.by.values()), reverse=True)
        measure = table.measure
        assert table.count[at] == cell.count
        assert table.units[at] == len(cell.units)
        assert measure.sum[at] == cell.sum
        assert measure.magnitude[at] == sum(sizes)
        assert measure.largest[at].tolist() == (sizes + [0, 0])[:2]
        assert table.key_sum[at] == sum(key_of(u) for u in cell.units) % MODULUS
        if with_holding:
            assert table.holdings[at] == len(cell.by)


def test_frequency_table_without_value():
    table = dk.tabulate(pa.table({"size": ["s", "s", "m"]}), by={"size": SIZE})
    assert table.frequency and table.measure.sum.tolist() == [3, 1, 2]


def test_several_measures_are_chosen_by_name():
    frame = pa.table({"size": ["s", "m"], "v": [1, 2], "w": [3, 4]})
    table = dk.tabulate(frame, by={"size": SIZE}, value=["v", "w"])
    assert table["w"].measure.sum.tolist() == [7, 4, 3]
    assert table["count"].frequency
    with pytest.raises(InputError, match=r"table\[name\]"):
        _ = table.measure
    with pytest.raises(InputError, match="'v', 'w'"):
        _ = table["x"]


def test_a_table_keeps_its_filter():
    frame = pa.table({"size": ["s", "s", "m"], "v": [1, 2, 4], "year": ["2024", "2025", "2025"]})
    table = dk.tabulate(frame, by={"size": SIZE}, value="v", where={"year": 2025}, vintage="2025r1")
    assert table.measure.sum.tolist() == [6, 4, 2]
    assert table.where == Population.of({"year": 2025}) and table.vintage == "2025r1"
    assert "where year = 2025" in repr(table)
    result = dk.suppress(table, dk.rules.MinimumFrequency(2))
    assert result.settings["where"] == "year = 2025"


def test_no_largest_contributions_need_be_kept():
    frame = pa.table({"size": ["s", "m"], "v": [1, 2]})
    table = dk.tabulate(frame, by={"size": SIZE}, value="v", largest=0)
    assert table.measure.largest.shape == (3, 0) and table.measure.sum.tolist() == [3, 2, 1]


def test_columns_used_twice_are_refused():
    frame = pa.table({"size": ["s"], "v": [1]})
    with pytest.raises(InputError, match="used twice"):
        dk.tabulate(frame, by={"size": None}, value="size")


def test_too_many_cells_are_refused_before_anything_is_built():
    codes = [f"{i:05}" for i in range(20_000)]
    big = dk.Hierarchy.flat(codes)
    frame = pa.table({"a": ["00001"], "b": ["00002"]})
    with pytest.raises(InputError, match="cells"):
        dk.tabulate(frame, by={"a": big, "b": big})


def test_a_weighted_and_an_unweighted_table_of_the_same_records_are_refused_together():
    frame = pa.table({"size": ["s", "s", "m"], "v": [1, 2, 4], "w": [1, 1, 3]})
    asked = {"by": {"size": SIZE}, "value": "v"}
    weighted, plain = dk.tabulate(frame, weight="w", **asked), dk.tabulate(frame, **asked)
    rule = dk.rules.MinimumFrequency(2)
    with pytest.raises(InputError, match="weighted by 'w' and by nothing"):
        dk.suppress([weighted, plain], rule, name=["a", "b"])
    assert len(dk.suppress([weighted, plain["count"]], rule)) == 2


def test_weighted_sums_are_published_in_fewer_decimals():
    frame = pa.table({"size": ["s", "s", "m"], "v": [1.5, 2.5, 4.0], "w": [1.25, 3.1, 2.0]})
    asked = {"by": {"size": SIZE}, "value": "v", "decimals": 1, "weight_decimals": 2}
    table = dk.tabulate(frame, weight="w", **asked).rounded(1)
    assert table.measure.decimals == 3
    assert table.measure.sum.tolist() == [17625, 8000, 9625]
    result = dk.suppress(table, dk.rules.Dominance(3, 100))
    assert result.public["v"].to_pylist() == [18, 8, 10]
    assert result.settings["weight"] == "w"
