"""Unions of cells are what their contributors, counted one by one, are together."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import diskret as dk
from diskret.errors import InputError
from diskret.tables import Table
from diskret.tables.unions import union_table, union_table_of_parts, unions_exact


def a_file(**more):
    frame = pa.table(
        {
            "region": ["N", "S", "W", "Total"],
            "value": [10, 8, 4, 22],
            "firms": [3, 2, 1, 6],
            "x1": [6, 5, 4, 6],
            "x2": [3, 3, None, 5],
            **more,
        }
    )
    return Table.from_cells(
        frame, by={"region": None}, value="value", count="firms", largest=["x1", "x2"]
    )


def member(*rows):
    return sparse.csr_array(np.array(rows))


def test_contributors_of_different_cells_of_a_file_are_taken_for_different():
    table = a_file()
    assert not unions_exact(table)
    made = union_table(table, member([0, 1, 0, 1], [1, 0, -1, 0], [0, 0, 0, 0]))
    assert made.count.tolist() == made.units.tolist() == [0, 4, 4, 0]
    assert made.measure.sum.tolist() == [0, 14, 14, 0]
    assert made.measure.magnitude.tolist() == [0, 14, 14, 0]
    assert made.measure.largest.tolist() == [[0, 0], [6, 4], [6, 4], [0, 0]]


def test_of_a_cell_as_much_is_known_as_the_file_tells_of_it():
    # only the total names its largest: a union with it knows them, its parts do not
    table = a_file(x1=[None, None, None, 20], x2=[None, None, None, 1])
    made = union_table(table, member([1, 0, 0, 0], [0, 1, 1, 1]))
    assert made.measure.largest.tolist() == [[0, 0], [20, 1], [0, 0]]


def test_a_part_that_no_table_shows():
    tree = dk.Hierarchy.from_prefix(["A1", "A2", "B1"], (1, 1))
    frame = pa.table({"nace": ["A1", "A2", "B1"], "size": ["s", "s", "l"], "n": [4, 2, 1]})
    table = Table.from_cells(frame, by={"nace": tree, "size": None}, count="n")
    parts = [
        {"nace": frozenset({"A2", "B1"})},
        {"nace": frozenset({"A2", "B1", "Z9"}), "size": frozenset({"s"})},
        {"size": None},
    ]
    assert union_table_of_parts(table, parts).count.tolist() == [0, 3, 2, 7]
    with pytest.raises(InputError, match="does not have: 'age'; it has 'nace', 'size'"):
        union_table_of_parts(table, [{"age": frozenset({"1"})}])


def test_a_part_of_a_code_is_refused_unless_the_code_is_whole():
    frame = pa.table({"region": ["N", "S", "W"], "n": [4, 2, 1]})
    table = Table.from_cells(frame, by={"region": None}, count="n")
    table = table.recode("region", {"N+S": ["N", "S"]})
    both, one = frozenset({"N", "S"}), frozenset({"N", "W"})
    assert union_table_of_parts(table, [{"region": both}]).count.tolist() == [0, 6]
    with pytest.raises(InputError, match=r"1 categories of 'region'.*'N', 'S'.*finer codes"):
        union_table_of_parts(table, [{"region": one}])
    # what another table tells of a code
    meaning = {"region": {"W": frozenset({"W1", "W2"})}}
    found = union_table_of_parts(table, [{"region": frozenset({"W1", "W2"})}], meaning)
    assert found.count.tolist() == [0, 1]
    with pytest.raises(InputError, match="finer codes"):
        union_table_of_parts(table, [{"region": frozenset({"W1"})}], meaning)


def test_overlapping_cells_are_refused():
    with pytest.raises(InputError, match=r"1 unions hold .*region=S; the cells .* not overlap"):
        union_table(a_file(), member([0, 1, 0, 0], [1, 0, 1, 0]))


def test_a_matrix_of_another_table_is_refused():
    with pytest.raises(InputError, match="each of the table's 4 cells, not by 3"):
        union_table(a_file(), member([0, 1, 0]))


def test_weighted_tables_are_refused():
    records = pa.table({"region": ["N", "S"], "v": [5, 3], "w": [2, 1]})
    table = dk.tabulate(records, by={"region": None}, value="v", weight="w")
    with pytest.raises(InputError, match="weighted table cannot be judged"):
        union_table(table, member([0, 1, 1]))
