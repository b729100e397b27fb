"""Tables counted from records agree with counting by hand."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret.tables.counted as module
from diskret.errors import InputError
from diskret.tables.counted import (
    combined,
    compare_all_counts,
    compare_counts,
    counted,
    counted_all,
)
from diskret.tables.lists import each, table_lists, variables

RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["N", "S", "W", None]),
        st.sampled_from([1, 2, 30, None]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=30,
)
TABLES = st.lists(st.lists(st.sampled_from(["town", "age"]), unique=True), min_size=1, max_size=4)


def records(rows):
    town, age, flats = zip(*rows, strict=True)
    kinds = (pa.string(), pa.int64(), pa.int64())
    columns = [pa.array(v, kind) for v, kind in zip((town, age, flats), kinds, strict=True)]
    return pa.table(dict(zip(("town", "age", "flats"), columns, strict=True)))


def by_hand(table, columns, counter):
    found = Counter()
    for row in table.to_pylist():
        cell = tuple(None if row[c] is None else str(row[c]) for c in columns)
        found[cell] += row[counter] if counter else 1
    return {cell: count for cell, count in found.items() if count}


def cells(both):
    """Cell → counts before and after."""
    values = [
        [None if code == 0 else known[code - 1].as_py() for code in codes.tolist()]
        for known, codes in zip(both.categories, both.codes, strict=True)
    ]
    names = list(zip(*values, strict=True)) if values else [()] * len(both.before)
    counts = zip(both.before.tolist(), both.after.tolist(), strict=True)
    return dict(zip(names, counts, strict=True))


@given(RECORDS, RECORDS, TABLES, st.sampled_from(["", "flats"]), st.sampled_from([0, 2**23]))
def test_two_files_side_by_side(first, second, tables, counter, dense):
    before, after = records(first), records(second)
    lists = table_lists({counter: tables})
    names = variables(lists)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DENSE", dense)
        found = combined(after, names)
        together = list(compare_all_counts(counted_all(combined(before, names), lists), found))
    assert found.records == after.num_rows
    assert [(one.columns, one.counter) for one in together] == each(lists)
    for one in together:
        was = by_hand(before, one.columns, counter)
        now = by_hand(after, one.columns, counter)
        expected = {cell: (was.get(cell, 0), now.get(cell, 0)) for cell in {*was, *now}}
        assert cells(one) == expected
        for cell, (count, _) in expected.items():
            at = one.at(dict(zip(one.columns, cell, strict=True)))
            assert one.before[at] == count
        if one.columns:
            assert one.at(dict.fromkeys(one.columns, "elsewhere")) == -1


@given(RECORDS)
def test_more_combinations_than_numbers(rows):
    table = records(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGEST", 4)
        few = combined(table, ["town", "age", "flats"])
    expected = Counter(tuple(map(str, row.values())) for row in table.to_pylist())
    assert sorted(few.count.tolist()) == sorted(expected.values())
    found = counted(few, ["age"])
    assert dict(zip(found.values[0].to_pylist(), found.count.tolist(), strict=True)) == {
        cell[0]: count for cell, count in by_hand(table, ["age"], "").items()
    }


@pytest.mark.parametrize("values", [[1, None], [1, -1], ["a", "b"]])
def test_a_counting_variable_holds_whole_numbers(values):
    found = combined(pa.table({"n": pa.array(values), "town": ["N", "S"]}), ["n", "town"])
    with pytest.raises(InputError, match="counting variable 'n'"):
        counted(found, ["town"], "n")


def test_a_variable_that_the_other_file_lacks_is_named():
    one = combined(pa.table({"a": ["x"], "b": ["y"]}), ["a", "b"])
    other = combined(pa.table({"a": ["x"]}), ["a"])
    with pytest.raises(InputError, match=r"no variable 'b'; the table \('a', 'b'\)"):
        compare_counts(counted(one, ["a", "b"]), other)


@pytest.mark.parametrize("given_", ["age", 3, [3], [("a", "a")], [[("a",)]]])
def test_lists_that_are_none_are_refused(given_):
    with pytest.raises(InputError, match="tables="):
        table_lists(given_)
