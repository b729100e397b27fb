"""Coarser tables: what is computed is what the records give, or it is refused."""

from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError
from diskret.tables import Measure, Table

NACE = dk.Hierarchy.from_prefix(["A1", "A2", "A3", "B1", "B2", "C"], (1, 1))
SIZE = dk.Hierarchy.flat(["large", "small"])
MODULUS = 1009

# every example tabulates twice
few = examples(25)
RECODINGS = [
    {"A1": "A1+A3", "A3": "A1+A3"},
    {"B1": "A+B", "B2": "A+B", "A1": "A+B", "A2": "A+B", "A3": "A+B"},
    {"A1": "A2", "A2": "A2", "B1": "B", "B2": "B"},
]
GROUPS = [
    {"A1+A3": ["A1", "A3"]},
    {"A+B": ["A", "B"]},
    {"A2": ["A1", "A2"], "B": ["B1", "B2"]},
]
COARSE = [
    (["A1+A3", "A2", "B1", "B2", "C"], ["A", "A", "B", "B", None]),
    (["A+B", "C"], [None, None]),
    (["A2", "A3", "B", "C"], ["A", "A", None, None]),
]

record = st.tuples(
    st.sampled_from(["A1", "A2", "A3", "B1", "B2", "C"]),
    st.sampled_from(["large", "small"]),
    st.integers(0, 9),
    st.integers(-3, 9),
)


def tabulated(records, tree, holding=True, unit=True):
    frame = pa.table(
        {
            "nace": pa.array([r[0] for r in records], pa.string()),
            "size": pa.array([r[1] for r in records], pa.string()),
            "unit": pa.array([r[2] for r in records], pa.int64()),
            "holding": pa.array([None if r[2] > 3 else r[2] // 2 for r in records], pa.int64()),
            "key": pa.array([(r[2] * 617 + 401) % MODULUS for r in records], pa.int64()),
            "value": pa.array([r[3] for r in records], pa.int64()),
        }
    )
    return dk.tabulate(
        frame,
        by={"nace": tree, "size": SIZE},
        value="value",
        unit="unit" if unit else None,
        holding="holding" if unit and holding else None,
        record_key="key",
        key_modulus=MODULUS,
        largest=2,
    )


def coarse(which):
    codes, parents = COARSE[which]
    inner = list(dict.fromkeys(parent for parent in parents if parent))
    above = [None, *("Total" for _ in inner), *(parent or "Total" for parent in parents)]
    return dk.Hierarchy.from_parents({"code": ["Total", *inner, *codes], "parent": above})


def same(one, other):
    """Both tables hold the same numbers; codes may stand in another order."""
    order = [other.dimensions[0].hierarchy.position[c] for c in one.dimensions[0].hierarchy.codes]
    for name in ("count", "units", "holdings", "key_sum"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert np.array_equal(mine, theirs[order]), name
    for mine, theirs in zip(one.measures, other.measures, strict=True):
        for name in ("sum", "magnitude", "largest"):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name)[order]), name


def recoded(records, which):
    return [(RECODINGS[which].get(r[0], r[0]), *r[1:]) for r in records]


@few
@given(st.lists(record, min_size=1, max_size=9), st.integers(0, 2), st.booleans())
def test_a_recoded_table_is_that_of_recoded_records_or_refused(records, which, holding):
    table = tabulated(records, NACE, holding)
    try:
        made = table.recode("nace", GROUPS[which])
    except InputError as error:
        assert "Recode the records" in str(error)
    else:
        same(made, tabulated(recoded(records, which), coarse(which), holding))


@few
@given(st.lists(record, min_size=1, max_size=30), st.integers(0, 2))
def test_records_that_are_their_own_units_can_always_be_recoded(records, which):
    made = tabulated(records, NACE, unit=False).recode("nace", GROUPS[which])
    same(made, tabulated(recoded(records, which), coarse(which), unit=False))


@few
@given(st.lists(record, min_size=1, max_size=30))
def test_units_that_stay_on_one_code_can_always_be_recoded(records):
    of_unit = ["A1", "A2", "A3", "B1", "B2", "C"]
    records = [(of_unit[r[2] % 6], *r[1:]) for r in records]
    made = tabulated(records, NACE, holding=False).recode("nace", GROUPS[0])
    same(made, tabulated(recoded(records, 0), coarse(0), holding=False))


@few
@given(st.lists(record, min_size=1, max_size=30))
def test_a_cut_is_always_exact(records):
    tree = dk.Hierarchy.flat(["A", "B", "C"])
    above = [(r[0][0], *r[1:]) for r in records]
    same(tabulated(records, NACE).recode("nace", level=1), tabulated(above, tree))


def test_a_unit_in_two_of_the_combined_codes_is_refused():
    table = tabulated([("A1", "large", 0, 5), ("A3", "large", 0, 5)], NACE, holding=False)
    with pytest.raises(InputError, match=r"units may contribute .*'nace'.*Recode the records"):
        table.recode("nace", {"A1+A3": ["A1", "A3"]})


def test_a_holding_in_two_of_the_combined_codes_is_refused():
    table = tabulated([("A1", "large", 0, 5), ("A3", "large", 1, 5)], NACE)
    with pytest.raises(InputError, match=r"2 combined cells.*nace=A1\+A3.*holdings may"):
        table.recode("nace", {"A1+A3": ["A1", "A3"]})


def test_without_the_refusal_the_number_of_units_would_be_wrong(monkeypatch):
    """Sabotage: the comparison with recoded records finds what the refusal prevents."""
    from diskret.tables.recode import _Along

    monkeypatch.setattr(_Along, "_refuse", lambda *_: None)
    records = [("A1", "large", 0, 5), ("A3", "large", 0, 5)]
    made = tabulated(records, NACE).recode("nace", GROUPS[0])
    with pytest.raises(AssertionError, match="units"):
        same(made, tabulated(recoded(records, 0), coarse(0)))


def a_file(top_total=(6, 5)):
    cells = pa.table(
        {
            "region": ["N", "S", "W", "Total"],
            "value": [10, 8, 4, 22],
            "x1": [6, 5, 4, top_total[0]],
            "x2": [3, 2, 0, top_total[1]],
        }
    )
    return Table.from_cells(cells, by={"region": None}, value="value", largest=["x1", "x2"])


def test_the_largest_of_a_file_are_merged():
    made = a_file().recode("region", {"S+W": ["S", "W"]})
    assert made.measure.largest.tolist() == [[6, 5], [6, 3], [5, 4]]
    assert made.measure.sum.tolist() == [22, 10, 12]
    assert made.nonnegative


def test_the_largest_of_a_total_tell_that_a_unit_is_in_two_parts():
    with pytest.raises(InputError, match="units may contribute"):
        a_file(top_total=(9, 6)).recode("region", {"S+W": ["S", "W"]})


def test_totals_without_largest_tell_nothing():
    made = a_file(top_total=(None, None)).recode("region", {"S+W": ["S", "W"]})
    assert made.measure.largest.tolist()[-1] == [5, 4]


def test_key_sums_near_64_bits_do_not_overflow():
    modulus = 2**63
    keys = np.array([7, 2**63 - 1, 2**63 - 1, 9], dtype=np.uint64)
    table = replace(
        a_file(), measures=(), count=np.array([4, 1, 1, 2]), key_sum=keys, key_modulus=modulus
    )
    made = table.recode("region", {"all but W": ["N", "S"]})
    assert made.key_sum.tolist() == [7, 2**63 - 2, 9]


def test_the_total_may_get_another_code():
    made = a_file().recode("region", {"rest": ["S", "W"]}, total="All")
    assert made.dimensions[0].hierarchy.codes == ("All", "N", "rest")


def test_no_array_of_a_table_is_forgotten():
    """Whoever adds a field must say what recoding does to it."""
    assert {f.name for f in fields(Table)} == {
        *("dimensions", "count", "units", "holdings", "measures", "key_sum", "marked"),
        *("contributors", "key_modulus", "vintage", "frame_kind", "chosen"),  # as they were
        *("where", "waiver_note", "rounding", "weight", "recomputed", "recorded"),  # as they were
        *("shown", "counted", "count_within"),  # refused
        "contributions",  # as they were: a combined code is a set of the old leaf codes
        "asked",  # as it was: the records are the same
        "made_of",  # of combined unions nobody knows the cells
    }
    assert {f.name for f in fields(Measure)} == {
        *("name", "decimals", "sum", "magnitude", "largest", "marked", "signed"),
        "source",  # as it was
    }


def test_counts_of_units_are_not_added_up():
    jobs = pa.table({"person": [1, 1, 2], "region": ["N", "S", "W"]})
    table = dk.tabulate(jobs, by={"region": None}, unit="person")
    assert table.of_units().count.tolist() == [2, 1, 1, 1]
    with pytest.raises(InputError, match="would count twice"):
        table.of_units().recode("region", {"N+S": ["N", "S"]})


def test_the_largest_of_weighted_tables_are_not_combined():
    records = pa.table({"region": ["N", "S", "W"], "v": [5, 3, 2], "w": [2, 1, 4]})
    asked = {"by": {"region": None}, "value": "v", "weight": "w"}
    table = dk.tabulate(records, **asked)
    with pytest.raises(InputError, match="weighted table cannot be combined"):
        table.recode("region", {"N+S": ["N", "S"]})
    assert table.recode("region", level=0).measure.largest.tolist() == [[5, 5, 3]]
    combined = dk.tabulate(records, largest=0, **asked).recode("region", {"N+S": ["N", "S"]})
    assert combined.measure.sum.tolist() == [21, 13, 8]
    assert combined.weight == "w"


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (("size", {"x": ["N", "S"]}), {}, "no dimension 'size'; it has 'region'"),
        (("region",), {}, "needs one of groups="),
        (("region", {"x": ["N", "S"]}), {"level": 0}, "needs one of groups="),
        (("region", {"x": ["N", "S"]}), {"total": "W"}, "also the code of the total"),
    ],
)
def test_recode_says_what_is_wrong(arguments, options, said):
    with pytest.raises(InputError, match=said):
        a_file().recode(*arguments, **options)
