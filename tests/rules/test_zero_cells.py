"""The zero rule: a sum of 0 that has contributors is unsafe, an empty cell is not."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError
from diskret.rules import MinimumFrequency, ZeroCells
from diskret.tables import Table


def tax(values, counts, decimals=0):
    frame = pa.table(
        {"b": [f"b{i}" for i in range(len(values))], "tax": values, "n": counts, "x1": values}
    )
    return Table.from_cells(
        frame, by={"b": None}, value="tax", count="n", largest=["x1"], decimals=decimals
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6))
def test_it_hits_zeros_with_contributors_and_nothing_else(cells):
    values = [value if count else 0 for value, count in cells]
    sensitivity = ZeroCells(10)(tax(values, [count for _, count in cells]))
    expected = [v == 0 and c > 0 for v, (_, c) in zip(values, cells, strict=True)]
    assert sensitivity.unsafe[1:].tolist() == expected
    assert sensitivity.upper[1:].tolist() == [10 * hit for hit in expected]
    assert not sensitivity.lower.any()  # everybody knows that nothing is below 0


def test_the_level_is_in_published_units_and_rounded_up():
    assert ZeroCells(0.25)(tax([0, 5], [2, 2], decimals=1)).upper[1] == 3
    assert ZeroCells(4)(tax([0, 5], [2, 2], decimals=2)).upper[1] == 400


def test_contributions_that_cancel_are_no_zero():
    records = pa.table({"b": ["A", "A", "B"], "v": [5, -5, 0]})
    table = dk.tabulate(records, by={"b": None}, value="v", unit=None)
    sensitivity = ZeroCells(10)(table)
    assert sensitivity.unsafe.tolist() == [False, False, True]
    # where contributions may be negative, 0 is no bound
    assert (sensitivity.lower[2], sensitivity.upper[2]) == (10, 10)


def test_without_counts_every_zero_is_empty():
    frame = pa.table({"b": ["A", "B"], "tax": [0, 7]})
    table = Table.from_cells(frame, by={"b": None}, value="tax")
    assert not ZeroCells(10)(table).unsafe.any()


def test_it_is_shown_last():
    joined = (ZeroCells(10) | MinimumFrequency(3))(tax([0, 0, 9], [2, 4, 5]))
    assert [joined.reasons[r] for r in joined.reason[1:3]] == ["minimum_frequency", "zero"]


def test_a_hidden_zero_may_be_as_much_as_the_level():
    frame = pa.table(
        {
            "b": [*"AAABBBCCC"],
            "s": [*"123" * 3],
            "tax": [0, 40, 60, 30, 50, 20, 90, 80, 0],
            "n": [4, 5, 6, 5, 5, 5, 7, 7, 0],
        }
    )
    table = Table.from_cells(frame, by={"b": None, "s": None}, value="tax", count="n")
    result = dk.suppress(table, ZeroCells(25))
    found = {(c["b"], c["s"]): c for c in dk.attack.intervals(result.published).to_pylist()}
    assert found["A", "1"]["lower"] == 0
    assert found["A", "1"]["upper"] >= 25
    assert result.status[3, 3] == "empty"


def test_a_table_of_counts_is_refused():
    table = Table.from_cells(pa.table({"b": ["A"], "n": [0]}), by={"b": None}, count="n")
    with pytest.raises(InputError, match="frequency table"):
        ZeroCells(10)(table)


@pytest.mark.parametrize("level", [0, -1, float("inf"), float("nan"), True, "10"])
def test_a_bad_level_is_named(level):
    with pytest.raises(InputError, match="level= must be a number above 0"):
        ZeroCells(level)
