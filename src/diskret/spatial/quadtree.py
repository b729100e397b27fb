"""Cells of different sizes: wider ones where the fine ones are unsafe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy

if TYPE_CHECKING:
    from diskret.tables import Table


def quadtree(
    table: Table,
    rule: Any,
    dimension: str,
    *,
    coarsest: int = 1,
    empty: Literal["show", "merge"] = "show",
) -> Table:
    """Merge unsafe cells with those beside them, level by level, until they are safe.

    From the finest cells upwards: where one of the cells that lie in a coarser one is unsafe, all
    of them are given up for the coarser one. So safe regions keep fine cells. Each coarser cell is
    judged by its own contributors, as the table counts them: cells with the contributions (10, 0)
    and (8, 1) make one whose second largest is 8. In a table by other variables, too, a cell is
    unsafe if it is in any combination with them.

    What is unsafe even at the coarsest size stays, for [`suppress`][diskret.suppress]. Nor does
    a finer cell that was given up stay secret by itself: publish the table that
    this returns, and no other of the same records that shows finer cells.

    Parameters
    ----------
    table
        From [`tabulate`][diskret.tabulate], with a tree of cells such as
        [`Grid.tree`][diskret.spatial.Grid.tree] makes. Widths that double, such as 1, 2, 4 and
        8 km, lose less than ten times as wide ones.
    rule
        When a cell is unsafe.
    dimension
        Name of the dimension of the cells.
    coarsest
        How many steps below the total the coarsest cells lie that may be published instead of
        finer ones, ≥ 0. 1: the coarsest of the tree.
    empty
        Cells of the tree in which nobody is: ``"show"`` that, as long as no cell beside them
        is unsafe, or ``"merge"`` them like unsafe ones, so that no finer cell tells that nobody is
        there.

    Returns
    -------
    Table
        The same table with fewer cells, all of them codes of the tree.

    Raises
    ------
    InputError
        There is no such dimension or level, or `empty` is something else.

    References
    ----------
    J. Höhne and J. Höninger (2014), on grid cells of variable size.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> cells = ["1kmN2684E4334"] * 2 + ["1kmN2684E4335"] * 9 + ["1kmN2690E4340"] * 8
    >>> tree = dk.spatial.Grid(1_000, spelling="short").tree(cells, [10_000])
    >>> fine = dk.tabulate(pa.table({"cell": cells}), by={"cell": tree})
    >>> merged = quadtree(fine, dk.rules.MinimumFrequency(3), "cell")
    >>> [(row["cell"], row["count"]) for row in merged.cells.to_pylist()]
    [('Total', 19), ('10kmN268E433', 11), ('10kmN269E434', 8), ('1kmN2690E4340', 8)]
    """
    axis = next((at for at, d in enumerate(table.dimensions) if d.name == dimension), None)
    if axis is None:
        names = ", ".join(repr(d.name) for d in table.dimensions)
        raise InputError(f"the table has no dimension {dimension!r}; it has {names}")
    tree = table.dimensions[axis].hierarchy
    if not 0 <= coarsest <= int(tree.level.max()):
        raise InputError(
            f"coarsest must be from 0 (the total) to {int(tree.level.max())} (the finest cells), "
            f"not {coarsest}"
        )
    if empty not in ("show", "merge"):
        raise InputError(f"empty must be 'show' or 'merge', not {empty!r}")
    unsafe = np.moveaxis(rule(table).unsafe, axis, 0).reshape(len(tree), -1).any(axis=1)
    if empty == "merge":
        unsafe |= np.moveaxis(table.empty, axis, 0).reshape(len(tree), -1).all(axis=1)
    merged = _merged(tree, unsafe, coarsest)
    if not len(merged):
        return table
    return table.recode(dimension, leaves=[tree.codes[at] for at in merged.tolist()])


def _merged(tree: Hierarchy, unsafe: NDArray[np.bool_], coarsest: int) -> NDArray[np.intp]:
    """Positions of the coarser cells that stand for those in them; none lies in another."""
    alone = tree.is_leaf.copy()  # published as one cell
    for level in range(int(tree.level.max()), coarsest, -1):
        bad = np.flatnonzero((tree.level == level) & alone & unsafe)
        alone[tree.parent[bad]] = True
    given_up = np.zeros(len(tree), bool)  # parents stand before their children
    for level in range(1, int(tree.level.max()) + 1):
        here = np.flatnonzero(tree.level == level)
        above = tree.parent[here]
        given_up[here] = given_up[above] | alone[above]
    return np.flatnonzero(alone & ~tree.is_leaf & ~given_up)
