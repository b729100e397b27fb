"""Cells set by hand, at the edges: limits, gaps, and what stands in messages and files."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.rules import Apriori, Dominance, MinimumFrequency, PPercent, Request
from diskret.tables import Table

WHY = {"reason": "consent", "who": "Q. Xylander", "date": "2025-12-31"}


def table(values=(1003, 5, 50), decimals=0):
    frame = pa.table({"b": ["A", "B", "C"], "v": list(values), "n": [9, 9, 9]})
    return Table.from_cells(frame, by={"b": None}, value="v", count="n", decimals=decimals)


def listed(*rows):
    return pa.Table.from_pylist([{"b": code, "status": "unsafe", **WHY, **said}
                                 for code, said in rows])  # fmt: skip


# ── levels ──────────────────────────────────────────────────────────────────────────


def test_the_level_of_a_small_sum_is_one_unit():
    found = Apriori(listed(("B", {})))(table())
    assert found.upper.tolist() == [0, 0, 1, 0]


def test_of_a_cell_of_zero_the_level_is_one_unit():
    found = Apriori(listed(("B", {})))(table((7, 0, 3)))
    assert found.upper.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("decimals, last", [(0, 2.0**62), (2, 2.0**62 / 100)])
def test_levels_are_below_2_to_the_62_in_scaled_units(decimals, last):
    below = float(np.nextafter(last, 0))
    rows = listed(("A", {"upper": below}), ("B", {"upper": 1.0}))
    assert Apriori(rows)(table(decimals=decimals)).upper[1] < 2**62
    rows = listed(("A", {"upper": last}), ("B", {"upper": 1.0}))
    with pytest.raises(InputError, match="leaves? the range of 64-bit integers"):
        Apriori(rows)(table(decimals=decimals))


def test_a_range_of_nothing_is_refused():
    with pytest.raises(InputError, match="range="):
        Apriori(listed(("B", {})), range=0)


# ── what is read ────────────────────────────────────────────────────────────────────


def test_a_frame_that_changes_later_changes_nothing():
    frame = pd.DataFrame([{"b": "A", "status": "unsafe", **WHY}])
    rule, same = Apriori(frame), Apriori(frame.copy())
    frame.loc[0, "b"] = "C"
    assert rule.entries.column("b").to_pylist() == ["A"]
    assert rule == same
    assert rule(table()).unsafe.tolist() == [False, True, False, False]


def test_a_day_with_a_time_is_that_day():
    frame = pd.DataFrame([{"b": "A", "status": "unsafe", **WHY}])
    frame["date"] = pd.Timestamp("2025-12-31 10:30")
    kept = Apriori(frame)(table()).entries
    assert kept.column("date").to_pylist() == ["2025-12-31"]


def test_a_status_that_is_no_text_is_refused():
    frame = pa.table({"b": ["A"], "status": [["unsafe"]]})
    with pytest.raises(InputError, match="'status': must be text, not list"):
        Apriori(frame)


@pytest.mark.parametrize(
    "columns, words",
    [
        ({"status": ["unsafe"]}, "missing: 'b', not known: none"),
        ({"b": ["A"], "c": ["x"], "status": ["unsafe"]}, "missing: none, not known: 'c'"),
    ],
)
def test_code_columns_are_the_variables_and_no_more(columns, words):
    frame = pa.table({**columns, **{name: [said] for name, said in WHY.items()}})
    with pytest.raises(InputError, match=words):
        Apriori(frame)(table())


def test_one_wrong_row_is_told_without_counting_and_several_are_counted():
    with pytest.raises(InputError) as told:
        Apriori(pa.table({"b": ["A", "B"], "upper": ["x", "1"]}))
    assert "rows in all" not in str(told.value)
    with pytest.raises(InputError, match="as in 2 rows in all"):
        Apriori(pa.table({"b": ["A", "B"], "upper": ["x", "y"]}))


def test_what_is_kept_stands_in_the_order_of_the_list_with_codes_first():
    frame = pa.table({"date": ["2025-12-31"], "who": ["Q"], "status": ["unsafe"], "b": ["A"],
                      "reason": ["consent"]})  # fmt: skip
    kept = Apriori(frame)(table()).entries
    assert kept.column_names == ["b", "status", "cost", "lower", "upper", "reason", "who", "date"]


def test_an_hst_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"none\.hst: cannot be read \(No such file"):
        Apriori(tmp_path / "none.hst", **WHY)


def test_a_separator_is_one_character(tmp_path):
    path = tmp_path / "some.hst"
    path.write_text("A;;u\n")
    with pytest.raises(InputError, match="separator must be one character, not ';;'"):
        Apriori(path, separator=";;", **WHY)


# ── what cells say of themselves ────────────────────────────────────────────────────


def test_rows_without_a_status_have_no_reason_and_the_file_is_named(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("b,v,secret,level\nA,70,1,\nB,20,,4\nC,9,,\n")
    rule = Apriori.of_cells(
        path, ["b"], status="secret", upper="level", who="A. Meyer", date="2025-12-31"
    )
    assert repr(rule) == "Apriori(cells.csv, range=10)"
    kept = rule(table((70, 20, 9))).entries.to_pylist()
    assert [(row["b"], row["status"], row["upper"]) for row in kept] == [
        ("A", "unsafe", None),
        ("B", None, 4),
    ]
    assert [row["reason"] for row in kept] == ["given in cells.csv", None]
    assert [row["who"] for row in kept] == ["A. Meyer", None]


# ── dates of other kinds ────────────────────────────────────────────────────────────


def test_a_day_of_the_calendar_is_a_date():
    frame = pa.table({"b": ["A"], "status": ["unsafe"], "reason": ["r"], "who": ["w"],
                      "date": [datetime.date(2025, 1, 31)]})  # fmt: skip
    assert Apriori(frame)(table()).entries.column("date").to_pylist() == ["2025-01-31"]


# ── joined rules ────────────────────────────────────────────────────────────────────


@pytest.fixture
def asked():
    frame = pa.table({"c": ["1", "1", "1"], "v": [70, 20, 1], "y": [1, 0, 0]})
    return dk.tabulate(frame, by={"c": None}, value="v", unit=None, request="y")


def test_the_first_reason_is_that_of_the_first_rule_whatever_the_order(asked):
    order = [Dominance(3, 50), PPercent(10), Request(50), MinimumFrequency(9)]
    names = ["dominance", "p_percent", "request", "minimum_frequency"]
    for first, name in enumerate(names):
        rules = order[first:]
        for joined in (rules, rules[::-1]):
            rule = joined[0]
            for other in joined[1:]:
                rule = rule | other
            found = rule(asked)
            assert found.reasons[found.reason[1]] == name


def test_a_rule_of_three_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Dominance(3, 80)
        Dominance(1, 80, quiet=True)
    with pytest.warns(UserWarning, match=r"the \(2,k\) dominance rule") as told:
        Dominance(2, 80)
    assert told[0].filename == __file__
