"""Random hierarchical tables of counts for the tests of rounding."""

from itertools import product

import pyarrow as pa
from hypothesis import strategies as st

import diskret as dk

KEYS = dk.SecretKeys(bytes(range(32)))
TREES = [
    dk.Hierarchy.flat(["a", "b"]),
    dk.Hierarchy.flat(["a", "b", "c"]),
    dk.Hierarchy.from_prefix(["a1", "a2", "a3", "b1", "b2"], (1, 1)),
    dk.Hierarchy.from_prefix(["a1", "b1", "b2"], (1, 1)),  # an only child
]


@st.composite
def count_tables(draw, most=3, highest=12):
    """A complete table of up to `most` variables."""
    trees = draw(st.lists(st.sampled_from(TREES), min_size=1, max_size=most))
    by = {f"d{i}": tree for i, tree in enumerate(trees)}
    leaves = list(product(*([t.codes[i] for i in t.leaves] for t in trees)))
    size = len(leaves)
    counts = draw(st.lists(st.integers(0, highest), min_size=size, max_size=size))
    return counted(by, leaves, counts)


def counted(by, leaves, counts):
    columns = dict(zip(by, map(list, zip(*leaves, strict=True)), strict=True))
    return dk.Table.from_cells(pa.table({**columns, "n": counts}), by=by, count="n")


def additive(table, value):
    """Whether every total is the sum of its children, written out code by code."""
    for axis, dimension in enumerate(table.dimensions):
        tree = dimension.hierarchy
        for code, children in enumerate(tree.children):
            if len(children):
                total = value.take(code, axis=axis)
                if (total != value.take(children, axis=axis).sum(axis=axis)).any():
                    return False
    return True
