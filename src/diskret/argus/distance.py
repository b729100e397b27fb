"""Costs by distance: cells near an unsafe one are cheap to hide, so that secondaries lie close."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy

#: Rows that are compared at once, so that large variables stay within memory.
_AT_ONCE = 2_000_000


def steps_between(tree: Hierarchy) -> NDArray[np.int64]:
    """How many steps any two codes are apart, shape ``(codes, codes)``.

    Codes below the same one are as many steps apart as in its list; a code is one step away from
    the one above it, and what lies elsewhere as many as the way there takes.

    >>> tree = Hierarchy.flat(["a", "b", "c"])
    >>> steps_between(tree).tolist()
    [[0, 1, 1, 1], [1, 0, 1, 2], [1, 1, 0, 1], [1, 2, 1, 0]]
    """
    rank = np.zeros(len(tree), dtype=np.int64)
    for children in tree.children:
        rank[children] = np.arange(len(children))
    depth = int(tree.level.max()) + 1
    above = np.full((depth + 1, len(tree)), -1)  # by level; one row more, of nothing
    for code, way in enumerate(tree.ancestors):
        above[: len(way), code] = way[::-1]
    length = tree.level + 1
    common = np.zeros((len(tree), len(tree)), dtype=np.int64)
    for line in above[:depth]:
        common += (line[:, None] == line[None]) & (line[:, None] >= 0)
    codes = np.arange(len(tree))
    one, other = above[common, codes[:, None]], above[common, codes[None]]
    aside = np.where((one >= 0) & (other >= 0), np.abs(rank[one] - rank[other]) - 2, 0)
    return length[:, None] + length[None] - 2 * common + aside


def costs_by_distance(
    unsafe: NDArray[np.bool_],
    trees: Sequence[Hierarchy],
    distances: Sequence[Sequence[float]],
) -> NDArray[np.float64]:
    """What hiding each cell costs: that of the way to the nearest unsafe cell.

    Along every variable the steps to it cost what `distances` says of 1, 2, … steps, and the last
    of them beyond. Costs of the variables are added up.

    Returns
    -------
    float64 array
        Shape of `unsafe`; 1 everywhere if nothing is unsafe.

    Examples
    --------
    >>> tree = Hierarchy.flat(["a", "b", "c"])
    >>> unsafe = np.array([False, True, False, False])
    >>> costs_by_distance(unsafe, [tree], [(1, 3)]).tolist()
    [1.0, 0.0, 1.0, 3.0]
    """
    if not unsafe.any():
        return np.ones(unsafe.shape)
    cost = np.where(unsafe, 0.0, np.inf)
    for axis, (tree, of_steps) in enumerate(zip(trees, distances, strict=True)):
        price = np.array([0.0, *of_steps])
        apart = price[np.minimum(steps_between(tree), len(of_steps))]
        lines = np.moveaxis(cost, axis, -1)
        flat = lines.reshape(-1, len(tree))
        near = np.empty_like(flat)
        each = max(_AT_ONCE // max(apart.size, 1), 1)
        for first in range(0, len(flat), each):
            part = flat[first : first + each]
            near[first : first + each] = (part[:, None, :] + apart[None]).min(axis=-1)
        cost = np.moveaxis(near.reshape(lines.shape), -1, axis)
    return np.ascontiguousarray(cost)
