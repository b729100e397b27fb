"""Which published cells are one and the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from diskret.attack.all_cells import Grid, world
from diskret.attack.shared import ties
from diskret.tables import Publication


def same_cells(publication: Publication) -> NDArray[np.int64]:
    """A number for each cell of all tables, ``(n,)``: equal for cells with one definition.

    An only child is the same cell as its parent.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension, Published
    >>> def shown(*codes: str) -> Published:
    ...     tree = Hierarchy.flat(codes)
    ...     value, no = np.ones(len(tree), dtype=np.int64), np.zeros(len(tree), dtype=bool)
    ...     return Published("", (Dimension("x", tree),), "count", True, 0, value, no, no)
    >>> same_cells(Publication((shown("a", "b"), shown("b", "c")))).tolist()
    [0, 1, 2, 0, 2, 3]
    """
    seen = world(publication)
    pairs = [
        tie.cells
        for tie in ties(seen)
        if tie.cells.shape[1] == 2 and tie.signs.sum() == 0 and not tie.rest
    ]
    pairs += [_only_children(grid, axis) for grid in seen.grids for axis in range(len(grid.axes))]
    alike = np.concatenate(pairs)
    n = seen.public + seen.latent
    links = sparse.coo_array((np.ones(len(alike)), (alike[:, 0], alike[:, 1])), shape=(n, n))
    label = connected_components(links, directed=False)[1]
    return label[: seen.public].astype(np.int64)


def _only_children(grid: Grid, axis: int) -> NDArray[np.int64]:
    """Cells along an axis with the only part that they have, ``(r, 2)``."""
    parent = grid.axes[axis].parent
    above, first, parts = np.unique(parent[1:], return_index=True, return_counts=True)
    alone = parts == 1
    whole = np.take(grid.number, above[alone], axis=axis)
    part = np.take(grid.number, 1 + first[alone], axis=axis)
    return np.stack((whole.ravel(), part.ravel()), axis=1)
