"""Numbers of combinations of leaves follow the order of positions."""

import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from diskret.engines.codes import mappings, positions, resolve
from diskret.hierarchy import Hierarchy


@st.composite
def trees(draw):
    """A random tree: each code hangs below an earlier one."""
    size = draw(st.integers(1, 7))
    parent = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, size)]
    return Hierarchy(tuple(f"c{i}" for i in range(size)), np.array(parent))


def found(tree):
    codes = [tree.codes[p] for p in tree.leaves]
    return pa.table({"raw": codes, "records": [1] * len(codes)})


@given(st.lists(trees(), max_size=3))
def test_numbers_count_the_combinations_in_order(hierarchies):
    tables = mappings([found(tree) for tree in hierarchies], hierarchies)
    parts = [table["leaf"].to_pylist() for table in tables]
    numbers = [sum(combination) for combination in itertools.product(*parts)]
    assert numbers == list(range(len(numbers)))
    expected = list(itertools.product(*[tree.leaves.tolist() for tree in hierarchies]))
    assert positions(np.array(numbers), hierarchies).tolist() == [list(row) for row in expected]


def test_spellings_of_one_code_are_one_leaf():
    tree = Hierarchy.flat(["1", "01"])
    raw = pa.table({"raw": ["1", " 01", "01 ", "01"], "records": [1, 2, 3, 4]})
    assert resolve("c", raw, tree) is tree
    (mapping,) = mappings([raw], [tree])
    assert mapping["leaf"].to_pylist() == [1, 0, 0, 0]


def test_large_tables_have_64_bit_numbers():
    tree = Hierarchy.flat(range(50_000))
    first, second = mappings([found(tree)] * 2, [tree] * 2)
    assert first["leaf"].type == second["leaf"].type == pa.int64()
    assert first["leaf"][-1].as_py() + second["leaf"][-1].as_py() == 50_000**2 - 1
