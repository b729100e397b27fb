"""Auditing what others published."""

import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import AdditivityError, ContradictionError, InputError
from diskret.protect.audit import audit

MEINDL = [
    ("1", "A", "x"), ("1", "B", "50"), ("1", "C", "x"), ("1", "Total", "80"),
    ("2", "A", "x"), ("2", "B", "19"), ("2", "C", "x"), ("2", "Total", "49"),
    ("3", "A", "17"), ("3", "B", "32"), ("3", "C", "12"), ("3", "Total", "61"),
    ("Total", "A", "45"), ("Total", "B", "101"), ("Total", "C", "44"), ("Total", "Total", "190"),
]  # fmt: skip


def published(rows):
    r, c, v = zip(*rows, strict=True)
    return pa.table({"r": r, "c": c, "v": v})


def changed(**cells):
    return published([(r, c, cells.get(f"{r}{c}", v)) for r, c, v in MEINDL])


BY = {"r": None, "c": None}


def test_intervals_of_the_course():
    report = audit(published(MEINDL), BY, "v")
    assert (report.cells, report.suppressed, report.exact) == (16, 4, 0)
    got = {(c["r"], c["c"]): (c["lower"], c["upper"]) for c in report.frame.to_pylist()}
    assert got["1", "A"] == (0, 28) and got["2", "C"] == (2, 30)


def test_what_is_not_told_in_time_is_bounded_by_single_equations():
    table = published([(r, c, v if "Total" in (r, c) else "x") for r, c, v in MEINDL])
    calm, late = (audit(table, BY, "v", time_limit=limit) for limit in (None, -1))
    assert (calm.outer, late.outer) == (0, 9)
    assert "as time was limited" in late.lines[-1] and "time" not in "".join(calm.lines)
    for cell, wide in zip(calm.frame.to_pylist(), late.frame.to_pylist(), strict=True):
        assert wide["lower"] <= cell["lower"] <= cell["upper"] <= wide["upper"]


def test_a_single_suppressed_cell_is_recomputed():
    report = audit(changed(**{"1C": "10", "2A": "8", "2C": "22"}), BY, "v")
    assert report.exact == 1
    assert report.frame.to_pylist() == [{"r": "1", "c": "A", "lower": 20, "upper": 20}]
    assert "r=1, c=A: 20" in "\n".join(report.lines)


def test_hidden_values_may_be_negative_where_this_is_said():
    report = audit(published(MEINDL), BY, "v", signed=True)
    bounds = {(row["lower"], row["upper"]) for row in report.frame.to_pylist()}
    assert bounds == {(None, None)}
    with pytest.raises(InputError, match="never negative"):
        audit(published(MEINDL), BY, "v", signed=True, frequency=True)


def test_columns_without_their_trees_are_refused():
    with pytest.raises(InputError, match="by= is a column and its code tree for each dimension"):
        audit(published(MEINDL), [*BY], "v")


def test_contradictions_are_said_to_be_contradictions():
    with pytest.raises((ContradictionError, AdditivityError), match="3"):
        audit(changed(**{"3B": "33"}), BY, "v")
    with pytest.raises(ContradictionError):
        audit(changed(**{"1Total": "40"}), BY, "v")


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (changed(**{"3B": "?"}), "'\\?'.*suppressed="),
        (changed(**{"3B": "32,5"}), "32,5"),
        (published(MEINDL[1:]), "1 cell is not in the table: r=1, c=A"),
    ],
)
def test_unreadable_tables_are_explained(table, what):
    with pytest.raises(InputError, match=what):
        audit(table, BY, "v")


def test_decimals_and_nulls():
    table = pa.table({"r": ["a", "b", "Total"], "v": [None, 1.25, 3.5]})
    report = audit(table, {"r": None}, "v")
    assert report.frame.to_pylist() == [{"r": "a", "lower": 2.25, "upper": 2.25}]


def test_what_suppress_releases_is_never_exact():
    cells = pa.table({"r": ["a", "a", "b", "b"], "c": ["x", "y", "x", "y"], "n": [1, 5, 6, 7]})
    table = dk.Table.from_cells(cells, by={"r": None, "c": None}, count="n")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    report = audit(result.public, BY, "count")
    assert report.suppressed == 4 and report.exact == 0
