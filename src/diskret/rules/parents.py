"""The totals a cell belongs to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables import Table

#: Where a cell has no parent; larger than any count.
NO_PARENT = np.iinfo(np.int64).max


def smallest_parent(
    table: Table,
    count: NDArray[np.int64],
    variables: Sequence[str] | None = None,
    at_least: int = 0,
) -> NDArray[np.int64]:
    """The smallest count of a parent of each cell, shape of the table; `NO_PARENT`: it has none.

    A parent is a total of the cell along one or several of the `variables` (None: all) that is not
    the same cell and counts `at_least` so many. No total counts fewer than its parts, so what is
    true of the smallest parent decides what is true of any.
    """
    axes = _axes(table, variables)
    # the smallest count among a cell itself and all its totals
    above = np.where(count >= at_least, count, NO_PARENT)
    for axis in axes:
        hierarchy = table.dimensions[axis].hierarchy
        along = np.moveaxis(above, axis, 0)
        for level in range(1, int(hierarchy.level.max()) + 1):
            codes = np.flatnonzero(hierarchy.level == level)
            along[codes] = np.minimum(along[codes], along[hierarchy.parent[codes]])
    smallest = np.full(table.shape, NO_PARENT)
    for axis in axes:
        parent = nearest_parent(table.dimensions[axis].hierarchy)
        codes = np.flatnonzero(parent >= 0)
        along, source = np.moveaxis(smallest, axis, 0), np.moveaxis(above, axis, 0)
        along[codes] = np.minimum(along[codes], source[parent[codes]])
    return smallest


def nearest_parent(hierarchy: Hierarchy) -> NDArray[np.int32]:
    """For each code the nearest code above that has several children, −1 if there is none.

    >>> tree = Hierarchy.from_parents({"code": ["T", "A", "b", "a1"], "parent": [None, *"TTA"]})
    >>> tree.codes
    ('T', 'A', 'a1', 'b')
    >>> nearest_parent(tree).tolist()
    [-1, 0, 0, 0]
    """
    nearest = hierarchy.parent.copy()
    for i, parent in enumerate(hierarchy.parent.tolist()):
        if parent >= 0 and len(hierarchy.children[parent]) == 1:
            nearest[i] = nearest[parent]
    return nearest


def same_cell(hierarchy: Hierarchy) -> NDArray[np.int64]:
    """For each code the lowest code that is the same: below it as long as there is one child.

    >>> tree = Hierarchy.from_parents({"code": ["T", "A", "b", "a1"], "parent": [None, *"TTA"]})
    >>> same_cell(tree).tolist()
    [0, 2, 2, 3]
    """
    same = np.arange(len(hierarchy), dtype=np.int64)
    for i in range(len(hierarchy) - 1, -1, -1):
        if len(hierarchy.children[i]) == 1:
            same[i] = same[hierarchy.children[i][0]]
    return same


def _axes(table: Table, variables: Sequence[str] | None) -> list[int]:
    names = [dimension.name for dimension in table.dimensions]
    if variables is None:
        return list(range(len(names)))
    unknown = [name for name in variables if name not in names]
    if unknown:
        raise InputError(
            f"variables= names {len(unknown)} that the table does not have: "
            f"{', '.join(map(repr, unknown))}; it has {', '.join(map(repr, names))}"
        )
    return [names.index(name) for name in dict.fromkeys(variables)]
