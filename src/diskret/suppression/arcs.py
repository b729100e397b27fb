"""A table with at most one hierarchy as a network: every cell an arc between two equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.system.cells import RectangularCells

_INSTEAD = "use method='sequential' or method='optimal'"


@dataclass(frozen=True, eq=False)
class Arcs:
    """Arcs that carry the change of a cell from one node to another.

    A change of the table satisfies every equation if and only if at each node as much
    arrives as leaves. No two arcs join the same two nodes.

    Parameters
    ----------
    tail, head
        Nodes that a rise of the cell leads from and to, int64, ``(a,)``.
    cell
        The cell of each arc in C order of the table, -1 for arcs that stand for no cell and
        carry anything; int64, ``(a,)``.
    nodes
        Number of nodes.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    cell: NDArray[np.int64]
    nodes: int


def arcs_of(table: RectangularCells) -> Arcs:
    """The network of a table.

    A leaf r of the hierarchy is one node (its equation over the flat variable), any other code
    p one for each column c (its equation over the children), and one more node, the ground,
    stands for the equation of the total row, which follows from the others like those of
    all rows that are no leaves. A cell in row r leads from the node of r to that of its
    parent in the same column, from the total row to the ground, and in the column of totals
    the other way round.

    Raises
    ------
    InputError
        More than two variables, or two hierarchies with more than one level.
    """
    tree, columns, stride = _oriented(table)
    rows = len(tree)
    ground = rows * columns
    # a leaf needs no node for each column: with a flat variable all its cells meet in one
    node = np.arange(ground, dtype=np.int64).reshape(rows, columns)
    node[tree.leaves] = node[tree.leaves, :1]
    above = np.where(tree.parent[:, None] < 0, ground, node[tree.parent])
    back = np.arange(columns) == 0
    tail, head = np.where(back, above, node), np.where(back, node, above)
    row, column = np.indices((rows, columns))
    cell = row * stride[0] + column * stride[1]
    arcs = tail.ravel(), head.ravel(), cell.ravel()
    if columns == 1:
        # leaves are in no second equation: what they carry comes from the ground, by way of one
        # more node, so that no two arcs join the same nodes even where a total is all there is
        leaf = node[tree.leaves, 0]
        spare = (
            np.append(leaf, ground),
            np.full(len(leaf) + 1, ground + 1),
            np.full(len(leaf) + 1, -1),
        )
        arcs = tuple(np.concatenate(both) for both in zip(arcs, spare, strict=True))
    used, numbered = np.unique(np.stack(arcs[:2]), return_inverse=True)
    ends = numbered.reshape(2, -1).astype(np.int64)
    return Arcs(ends[0], ends[1], arcs[2].astype(np.int64), len(used))


def _oriented(table: RectangularCells) -> tuple[Hierarchy, int, tuple[int, int]]:
    """The hierarchy, the number of columns and the strides of rows and columns."""
    trees = [dimension.hierarchy for dimension in table.dimensions if len(dimension.hierarchy) > 1]
    deep = [int(tree.level.max()) > 1 for tree in trees]
    if len(trees) > 2 or sum(deep) > 1:
        raise InputError(_no_network(table))
    if not trees:
        return table.dimensions[0].hierarchy, 1, (1, 0)
    if len(trees) == 1:
        return trees[0], 1, (1, 0)
    first, second = trees
    if deep[1]:
        return second, len(first), (1, len(second))
    return first, len(second), (len(second), 1)


def _no_network(table: RectangularCells) -> str:
    trees = [
        f"{dimension.name!r} ({int(dimension.hierarchy.level.max())} level(s) below the total)"
        for dimension in table.dimensions
    ]
    return (
        "method='network' protects tables of at most two variables of which at most one has "
        f"more than one level below the total; this one has {len(trees)}: {', '.join(trees)}; "
        + _INSTEAD
    )


def refuse_several(cells: int) -> InputError:
    """The error for cells of several tables that are tied to each other."""
    return InputError(
        f"method='network' protects one table alone, but {cells:,} cells of several tables that "
        f"are tied to each other are to be protected together; {_INSTEAD}"
    )
