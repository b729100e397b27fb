"""What a code tree promises to the rest of the system."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy


@st.composite
def trees(draw):
    """Trees in which every code may have any earlier code as its parent, depth first."""
    size = draw(st.integers(1, 30))
    children = [[] for _ in range(size)]
    for code in range(1, size):
        children[draw(st.integers(0, code - 1))].append(code)
    order, parent, waiting = [], [], [(0, -1)]
    while waiting:
        code, above = waiting.pop()
        waiting += [(child, len(order)) for child in children[code]]
        order.append(f"c{code}")
        parent.append(above)
    return Hierarchy(tuple(order), np.array(parent, dtype=np.int32))


@given(trees())
def test_children_and_parents_agree(tree):
    pairs = {(int(child), i) for i, below in enumerate(tree.children) for child in below}
    assert pairs == {(i, int(above)) for i, above in enumerate(tree.parent) if above >= 0}


@given(trees())
def test_leaves_are_the_codes_without_children(tree):
    assert tree.leaves.tolist() == [i for i, below in enumerate(tree.children) if len(below) == 0]
    assert tree.is_leaf.sum() == len(tree.leaves)


@given(trees())
def test_ancestors_lead_to_the_total(tree):
    for i, chain in enumerate(tree.ancestors):
        assert chain[0] == i
        assert chain[-1] == 0
        assert tree.parent[chain[:-1]].tolist() == chain[1:].tolist()
        assert len(chain) == tree.level[i] + 1


@given(trees())
def test_equal_trees_have_equal_hashes(tree):
    again = Hierarchy(tree.codes, tree.parent.copy(), {tree.total: "all"})
    assert again == tree
    assert hash(again) == hash(tree)


def test_other_parents_make_another_tree():
    one = Hierarchy(("T", "a", "b"), np.array([-1, 0, 0]))
    two = Hierarchy(("T", "a", "b"), np.array([-1, 0, 1]))
    assert one != two


@pytest.mark.parametrize(
    ("codes", "parent"),
    [
        ((), []),
        (("T", "a"), [-1]),
        (("T", "a"), [0, 0]),
        (("T", "a", "a"), [-1, 0, 0]),
        (("T", "a", "b"), [-1, 2, 0]),
        (("T", "a"), [-1, -1]),
    ],
    ids=["empty", "lengths", "no total", "twice", "child first", "two totals"],
)
def test_what_is_no_tree_is_refused(codes, parent):
    with pytest.raises(HierarchyError):
        Hierarchy(codes, np.array(parent, dtype=np.int32))
