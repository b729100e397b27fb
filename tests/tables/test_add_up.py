"""Totals are the sums of their parts, however wide a table is beside its tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.hierarchy import Hierarchy
from diskret.tables.add_up import add_up


@examples(100)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 3, 400]), st.booleans())
def test_each_total_is_the_sum_of_the_leaves_below_it(draw, wide, text_of_large):
    parent = [-1]
    for at in range(1, draw.randint(2, 30)):
        # depth first: the parent is on the way from the code before to the root
        way, above = [at - 1], parent[at - 1]
        while above >= 0:
            way.append(above)
            above = parent[above]
        parent.append(draw.choice(way))
    tree = Hierarchy(tuple(f"c{at}" for at in range(len(parent))), np.array(parent, np.int32))
    leaf = tree.is_leaf
    dense = np.zeros((len(tree), wide), object if text_of_large else np.int64)
    for at in np.flatnonzero(leaf):
        dense[at] = [draw.randint(-9, 9) + (2**70 if text_of_large else 0) for _ in range(wide)]
    wanted = dense.copy()
    for at in range(len(tree) - 1, 0, -1):
        wanted[parent[at]] = wanted[parent[at]] + wanted[at]
    assert (add_up(dense, [tree]) == wanted).all()
    other = np.ascontiguousarray(np.where(leaf[:, None], wanted, 0).T)
    flat = Hierarchy.flat([f"x{at}" for at in range(wide)])
    both = np.zeros((len(flat), len(tree)), dense.dtype)
    both[1:] = other
    assert (add_up(both, [flat, tree])[0] == wanted.sum(axis=1)).all()


@pytest.mark.parametrize("wide", [1, 400])
def test_a_tree_of_its_root_alone_stays(wide):
    tree = Hierarchy(("Total",), np.array([-1], np.int32))
    assert add_up(np.full((1, wide), 7), [tree]).tolist() == [[7] * wide]
