"""What was lost in the categorical variables of records."""

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError
from diskret.utility import compare_records
from diskret.utility.categorical import _numbered

VALUES = st.sampled_from(["x", "y", "z", None])
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=30)
NAMES = ["a", "b", "c"]


def file(rows):
    return pa.table(
        {
            name: pa.array(part, pa.string())
            for name, part in zip(NAMES, zip(*rows, strict=True), strict=True)
        }
    )


@given(ROWS, st.data(), st.integers(1, 3))
def test_figures_are_those_of_counting_by_hand(rows, data, size):
    after = data.draw(
        st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=len(rows), max_size=len(rows))
    )
    found = compare_records(file(rows), file(after), NAMES, size=size)
    for at in range(3):
        pairs = [(old[at], new[at]) for old, new in zip(rows, after, strict=True)]
        assert found.changed[at] == sum(old != new and new is not None for old, new in pairs)
        assert found.suppressed[at] == sum(old is not None and new is None for old, new in pairs)
    chosen = [c for width in range(1, size + 1) for c in combinations(range(3), width)]
    assert [table.variables for table in found.tables] == [
        tuple(NAMES[at] for at in one) for one in chosen
    ]
    for table, one in zip(found.tables, chosen, strict=True):
        before, now = (
            Counter(tuple(row[at] for at in one) for row in part) for part in (rows, after)
        )
        assert table.cells == len(before | now)
        assert table.distance == sum(abs(before[cell] - now[cell]) for cell in before | now)
        assert table.moved == table.distance / 2 / len(rows)
        far = sum((before[c] ** 0.5 - now[c] ** 0.5) ** 2 for c in before | now) / 2 / len(rows)
        assert table.hellinger == pytest.approx(far**0.5, abs=1e-7)
    assert found.distance == sum(table.distance for table in found.tables)


def test_tables_with_more_possible_cells_than_numbers_are_counted_by_those_that_occur():
    rng = np.random.default_rng(1)
    before = pa.table({f"v{at}": rng.integers(0, 10**6, 1000) for at in range(8)})
    after = before.set_column(0, "v0", pa.array(np.arange(1000)))
    found = compare_records(before, after, before.column_names, size=8)
    assert found.tables[-1].cells == 2000 and found.tables[-1].hellinger == pytest.approx(1)
    assert [one.tolist() for one in _numbered(np.array([5, 9]), np.array([9, 7]))[:2]] == [
        [0, 2],
        [2, 1],
    ]


def test_recoded_values_are_compared_as_texts():
    found = compare_records(pa.table({"n": [1, 2, 3]}), pa.table({"n": ["1", "2-3", "2-3"]}), ["n"])
    assert found.changed == (2,) and found.distance == 4


def test_sentences_say_the_figures_in_both_languages():
    before = pa.table({"job": ["a"] * 1000, "sex": ["f"] * 1000})
    after = pa.table({"job": ["b"] * 500 + [None] * 250 + ["a"] * 250, "sex": ["f"] * 1000})
    found = compare_records(before, after, ["job", "sex"])
    assert found.lines() == [
        "1,000 records.",
        "job: 500 values changed (50.0 %), 250 suppressed (25.0 %).",
        "sex: no value changed.",
        "Tables of up to 2 variables: 3. The sum of all deviations of their cells is 3,000; on "
        "average 50.00 % of the records are in another cell, at most 75.00 % (job). Hellinger "
        "distance of shares 0.4714 on average.",
    ]
    german = found.lines("de")
    assert german[1] == "job: 500 Werte geändert (50,0 %), 250 gesperrt (25,0 %)."
    assert "höchstens 75,00 % (job)" in german[-1]
    assert found.values.to_pylist()[0] == {"variable": "job", "changed": 500, "suppressed": 250}
    assert found.losses.column("variables").to_pylist() == ["job", "sex", "job x sex"]


ONE = pa.table({"x": [1, 2], "y": [0.5, 1.5]})


@pytest.mark.parametrize(
    ("changed", "variables", "size", "message"),
    [
        (ONE.slice(1), ["x"], 2, "2 records and the changed one 1"),
        (ONE, [], 2, "nothing to compare"),
        (ONE, ["x"], 0, "size="),
        (ONE, ["y"], 2, "numbers with decimals"),
        (ONE, ["q"], 2, "no column 'q'"),
        (ONE, [f"v{at}" for at in range(40)], 4, "102,090 tables"),
    ],
)
def test_what_cannot_be_compared_is_refused(changed, variables, size, message):
    with pytest.raises(DiskretError, match=message):
        compare_records(ONE, changed, variables, size)
