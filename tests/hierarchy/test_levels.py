"""Trees from one column for each level."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy

NACE = {
    "section": ["A", "A", "A", "B", "C"],
    "division": ["01", "01", "02", "05", None],
    "class": ["011", "012", "02", "", None],
}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_levels_and_leaves_may_lie_higher(frame):
    tree = Hierarchy.from_levels(frame(NACE))
    assert tree.codes == ("Total", "A", "01", "011", "012", "02", "B", "05", "C")
    assert tree.parent.tolist() == [-1, 0, 1, 2, 2, 1, 0, 6, 0]


def test_a_single_uppermost_code_is_the_total():
    tree = Hierarchy.from_levels({"country": ["DE", "DE"], "state": ["BE", "BB"]}, total="unused")
    assert tree.codes == ("DE", "BE", "BB")


def test_a_single_code_with_nothing_below_is_a_leaf():
    assert Hierarchy.from_levels({"x": ["a"], "y": ["a"]}, total="All").codes == ("All", "a")


def test_a_code_may_go_on_below_its_only_repetition():
    tree = Hierarchy.from_levels({"x": ["A", "A", "B"], "y": ["A", "A", "C"], "z": [1, 2, 3]})
    assert tree.codes == ("Total", "A", "1", "2", "B", "C", "3")
    assert tree.parent.tolist() == [-1, 0, 1, 1, 0, 4, 5]


def test_rows_may_come_twice_and_end_at_codes_that_go_on():
    whole = {"x": ["A", "A", "A"], "y": [None, "1", "1"]}
    assert Hierarchy.from_levels(whole).codes == ("A", "1")


trees = st.integers(1, 25).flatmap(lambda n: st.tuples(*[st.integers(0, i) for i in range(n)]))


@given(trees, st.booleans())
def test_paths_to_the_leaves_give_the_tree_back(above, repeat):
    """Blank and repeated finer columns mean the same."""
    codes = ["T", *(f"c{i}" for i in range(len(above) + 1))]
    parents = [None, "T", *(codes[i] for i in above)]
    tree = Hierarchy.from_parents({"code": codes, "parent": parents})
    depth = int(tree.level.max()) + 1
    rows = []
    for leaf in tree.leaves:
        path = [tree.codes[i] for i in tree.ancestors[leaf][::-1]]
        rows.append(path + [path[-1] if repeat else None] * (depth - len(path)))
    columns = {f"level{i}": list(column) for i, column in enumerate(zip(*rows, strict=True))}
    assert Hierarchy.from_levels(columns) == tree


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": ["A", "B"], "y": ["1", "1"]}, ["more than one parent (1)", "'A' and 'B'", "unique"]),
        (
            {"x": ["A", "A", "B"], "y": ["A", "1", "2"]},
            ["different levels (1)", "'A' in 'x' and 'y'", "rename"],
        ),
        ({"x": ["A", "B"], "y": ["1", "A"]}, ["different levels (1): 'A' in 'x' and 'y'"]),
        ({"x": ["A"], "y": ["1"], "z": ["A"]}, ["different levels (1): 'A' in 'x' and 'z'"]),
        ({"x": [None, "A"], "y": ["1", "2"]}, ["in 1 row", "row 1: 'x' above '1'"]),
        ({"x": [None, "A"], "y": [" ", "2"]}, ["in 1 row", "row 1: all"]),
        ({"x": ["A", "B"], "y": [1.0, None]}, ["1.0 in row 1", "Int64"]),
        ({"x": ["Total", "B"]}, ["'Total'", 'total="All"']),
        ({"x": ["A"], "y": []}, ["differ in length"]),
        ({"x": []}, ["no rows"]),
        ({}, ["no rows"]),
    ],
    ids=str,
)
def test_from_levels_says_what_is_wrong(columns, said):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_levels(columns)
    for part in said:
        assert part in str(caught.value)


def test_what_is_no_frame_is_refused():
    with pytest.raises(HierarchyError, match="one for each level"):
        Hierarchy.from_levels(["A"])
