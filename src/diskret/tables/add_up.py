"""Arrays over a complete table: its size, its leaves, and totals that add them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.dimension import Dimension

_MAX_CELLS = 200_000_000


def check_size(dimensions: tuple[Dimension, ...]) -> tuple[int, ...]:
    """The shape of the table; refuses one that could not be held in memory."""
    shape = tuple(len(d) for d in dimensions)
    cells = int(np.prod([int(n) for n in shape], dtype=object)) if shape else 1
    if cells > _MAX_CELLS:
        sizes = " × ".join(f"{d.name} {len(d)}" for d in dimensions)
        raise InputError(
            f"the table would have {cells:,} cells ({sizes}); at most {_MAX_CELLS:,} are "
            "possible: use fewer dimensions or coarser codes"
        )
    return shape


def add_up(dense: NDArray[Any], trees: list[Hierarchy]) -> NDArray[Any]:
    """Fill all totals with the sums of their parts, in place; leaves must be filled."""
    for axis, tree in enumerate(trees):
        along = np.moveaxis(dense, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                along[code] = along[children].sum(axis=0, dtype=dense.dtype)
    return dense


def merge_up(top: NDArray[np.int64], trees: list[Hierarchy]) -> NDArray[np.int64]:
    """Fill the largest contributions of all totals from those of their parts, in place."""
    kept = top.shape[-1]
    if kept == 0:
        return top
    for axis, tree in enumerate(trees):
        along = np.moveaxis(top, axis, 0)
        for code in range(len(tree) - 1, -1, -1):
            children = tree.children[code]
            if len(children):
                along[code] = largest_of(along[children])
    return top


def largest_of(parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest of several cells' largest, ``(cells, …, k)`` → ``(…, k)``, descending.

    Right where no contributor is in two of the cells.
    """
    kept = parts.shape[-1]
    if kept == 0:
        return parts[0]
    together = np.moveaxis(parts, 0, -2)
    return descending(together.reshape(*together.shape[:-2], -1), kept)


def descending(values: NDArray[np.int64], kept: int) -> NDArray[np.int64]:
    """The largest values of each line, ``(…, n)`` → ``(…, kept)``, descending."""
    if values.shape[-1] > 4 * kept:
        values = np.partition(values, values.shape[-1] - kept, axis=-1)[..., -kept:]
    return np.sort(values, axis=-1)[..., ::-1][..., :kept]


def leaf_mask(dimensions: tuple[Dimension, ...]) -> NDArray[np.bool_]:
    """The combinations of leaves, shape of the table."""
    leaf = np.zeros(tuple(len(d) for d in dimensions), dtype=bool)
    leaf[np.ix_(*(d.hierarchy.is_leaf for d in dimensions))] = True
    return leaf
