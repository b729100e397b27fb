"""Trees from lists of codes and from pairs of code and parent."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy


def duckdb_relation(columns):
    table = pa.table(columns)
    return duckdb.connect().from_arrow(table)


FRAMES = {
    "mapping": dict,
    "mapping of arrays": lambda columns: {name: pa.array(c) for name, c in columns.items()},
    "pandas": pd.DataFrame,
    "pandas string": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas category": lambda columns: pd.DataFrame(columns).astype("category"),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": duckdb_relation,
}

by_kind = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def edges(tree):
    return {(tree.codes[i], tree.codes[above]) for i, above in enumerate(tree.parent) if above >= 0}


# ── flat ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "codes",
    [
        ["b ", "01", " 1", "b", "ü"],
        ("ü", "1", "b", "01"),
        {"1", "01", "b", "ü"},
        iter(["1", "01", "b", "ü"]),
        np.array(["1", "01", "b", "ü"]),
        pa.array(["1", "01", "b", "ü"]),
        pa.chunked_array([["1", "01"], ["b", "ü"]]).dictionary_encode(),
        pd.Series(["1", "01", "b", "ü"], dtype="category"),
        pl.Series(["1", "01", "b", "ü"]),
        ["01", 1, "b", "ü"],
    ],
    ids=lambda codes: type(codes).__name__,
)
def test_flat_takes_any_list_of_codes(codes):
    tree = Hierarchy.flat(codes)
    assert tree.codes == ("Total", "01", "1", "b", "ü")
    assert tree.parent.tolist() == [-1, 0, 0, 0, 0]


@given(st.lists(st.text("ab01 ", min_size=1).filter(str.strip)), st.randoms())
def test_flat_does_not_depend_on_the_order(codes, random):
    shuffled = random.sample(codes, len(codes))
    assert Hierarchy.flat(shuffled) == Hierarchy.flat(codes)


@pytest.mark.parametrize("whole", [7, np.int64(7), np.uint8(7)])
def test_whole_numbers_become_text(whole):
    assert Hierarchy.flat([whole]).codes == ("Total", "7")


def test_without_codes_only_the_total_is_left():
    assert Hierarchy.flat([], total="All").codes == ("All",)


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([1.0, 2.0], ["2 of 2", "1.0 in row 1", 'astype("Int64")']),
        ([np.float32(1.5)], ["1 of 1", "in row 1"]),
        (["a", None], ["1 of 2", "null or blank", "row 2"]),
        (["a", float("nan")], ["null or blank", "row 2"]),
        (["a", pd.NA], ["null or blank", "row 2"]),
        (["", " ", "a"], ["2 of 3", "row 1, 2"]),
        ([None] * 7, ["7 of 7", "row 1, 2, 3, 4, 5, …"]),
        ([True], ["True in row 1", "convert them to text"]),
        ([b"a"], ["b'a' in row 1"]),
        (["Total", "a"], ["'Total'", 'total="All"']),
        ([" Total"], ['total="All"']),
        ("abc", ["'abc'", "list"]),
    ],
    ids=str,
)
def test_flat_says_what_is_wrong(codes, said):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.flat(codes)
    for part in said:
        assert part in str(caught.value)


def test_another_total_makes_room_for_the_code():
    assert Hierarchy.flat(["Total", "a"], total="All").codes == ("All", "Total", "a")


@pytest.mark.parametrize("total", ["", "  ", None, 1.5])
def test_the_total_needs_a_code(total):
    with pytest.raises(HierarchyError, match="total"):
        Hierarchy.flat(["a"], total=total)


# ── from_parents ────────────────────────────────────────────────────────────────────


@by_kind
def test_one_root_is_the_total(frame):
    tree = Hierarchy.from_parents(
        frame(
            {
                "code": ["01", " DE", "2", "a", "b"],
                "parent": ["DE", None, "DE", "01 ", "01"],
                "label": ["Süd", "Deutschland", None, "A", " "],
            }
        ),
        total="unused",
    )
    assert tree.codes == ("DE", "01", "a", "b", "2")
    assert tree.parent.tolist() == [-1, 0, 1, 1, 0]
    assert tree.labels == {"01": "Süd", "DE": "Deutschland", "a": "A"}


@by_kind
def test_a_parent_that_is_no_code_is_the_total(frame):
    tree = Hierarchy.from_parents(frame({"code": ["a", "b", "c"], "parent": ["T", "T", "a"]}))
    assert tree.codes == ("T", "a", "c", "b")


@pytest.mark.parametrize(
    "parents", [[None, "", "A"], ["X", "Y", "A"]], ids=["rows without parent", "unknown parents"]
)
def test_several_roots_get_a_new_total(parents):
    tree = Hierarchy.from_parents({"code": ["A", "B", "a"], "parent": parents}, total="All")
    assert tree.total == "All"
    roots = {code for code, above in edges(tree) if above == "All"}
    assert roots == ({"A", "B"} if None in parents else {"X", "Y"})
    assert ("a", "A") in edges(tree)


def test_whole_numbers_in_pandas_are_codes():
    frame = pd.DataFrame({"code": [1, 10, 11], "parent": pd.array([None, 1, 1], dtype="Int64")})
    assert Hierarchy.from_parents(frame).codes == ("1", "10", "11")


def test_a_whole_number_column_with_gaps_is_explained():
    frame = pd.DataFrame({"code": [1, 10], "parent": [None, 1]})
    with pytest.raises(HierarchyError, match=r"'parent'.*1\.0 in row 2.*Int64"):
        Hierarchy.from_parents(frame)


@given(st.integers(0, 25).flatmap(lambda n: st.tuples(*[st.integers(0, i) for i in range(n)])))
def test_every_pair_is_an_edge_of_the_tree(above):
    codes = [f"c{i}" for i in range(len(above) + 1)]
    parents = [None, *(f"c{i}" for i in above)]
    tree = Hierarchy.from_parents({"code": codes, "parent": parents})
    assert edges(tree) == set(zip(codes[1:], parents[1:], strict=True))
    siblings = [[tree.codes[i] for i in below] for below in tree.children]
    assert siblings == [
        [c for c, p in zip(codes, parents, strict=True) if p == code] for code in tree.codes
    ]


@given(st.permutations(list(range(12))))
def test_the_order_of_rows_decides_only_the_order_of_siblings(order):
    codes = [f"c{i}" for i in range(12)]
    parents = [None if i == 0 else f"c{(i - 1) // 2}" for i in range(12)]
    shuffled = {"code": [codes[i] for i in order], "parent": [parents[i] for i in order]}
    tree = Hierarchy.from_parents(shuffled)
    assert edges(tree) == edges(Hierarchy.from_parents({"code": codes, "parent": parents}))


def test_a_deep_chain_is_no_problem():
    codes = [str(i) for i in range(5000)]
    tree = Hierarchy.from_parents({"code": codes[::-1], "parent": [*codes[::-1][1:], None]})
    assert tree.level[-1] == 4999


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"code": ["a", "b"], "parent": ["b", "a"]}, ["cycle", "a → b → a"]),
        ({"code": ["T", "a", "b", "c"], "parent": [None, "b", "c", "b"]}, ["b → c → b"]),
        ({"code": ["T", "a"], "parent": [None, "a"]}, ["a → a"]),
        ({"code": [*"abcdefghij"], "parent": [*"bcdefghija"]}, ["a → b → c → d → e → … → a"]),
        ({"code": ["T", "a", "b"], "parent": [None, "x", "T"]}, ["no codes (1)", "'x'", "'T'"]),
        (
            {"code": ["T", *"abcdefg"], "parent": [None, *"tuvwxyz"]},
            ["no codes (7)", "'t', 'u', 'v', 'w', 'x', …"],
        ),
        (
            {"code": ["a", "a", "b"], "parent": ["T", "b", "T"]},
            ["more than one parent (1)", "'a' below 'T' and 'b'"],
        ),
        ({"code": ["a", "a"], "parent": ["T", None]}, ["'a' below 'T' and none"]),
        (
            {"code": ["a", "a"], "parent": ["T", "T"]},
            ["more than one row (1): 'a'"],
        ),
        ({"code": ["a", "a "], "parent": ["T", "T"]}, ["more than one row"]),
        ({"code": ["a", None], "parent": ["T", "T"]}, ["'code'", "null or blank", "row 2"]),
        ({"code": ["a", "b"]}, ["missing: 'parent'"]),
        ({"Code": ["a"], "parent": ["b"]}, ["missing: 'code'", "there are 'Code', 'parent'"]),
        ({"code": ["a"], "parent": ["b"], "level": [1]}, ["not known: 'level'"]),
        ({"code": ["a", "b"], "parent": ["c"]}, ["differ in length"]),
        ({"code": [], "parent": []}, ["no rows"]),
        ({"code": ["Total", "b"], "parent": [None, None]}, ["'Total'", 'total="All"']),
    ],
    ids=str,
)
def test_from_parents_says_what_is_wrong(columns, said):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_parents(columns)
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize("thing", [3, [("a", "b")], None])
def test_what_is_no_frame_is_refused(thing):
    with pytest.raises(HierarchyError, match="mapping of columns"):
        Hierarchy.from_parents(thing)
