"""The part of a published table that fits on a terminal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.tables import Published

ROWS = 30
COLUMNS = 12


@dataclass(frozen=True, eq=False)
class Crosstab:
    """A two-dimensional part of a table: the first dimension down, the last one across.

    Parameters
    ----------
    rows, columns
        Positions of the codes shown, the total first; a table of one dimension has a
        single column.
    at
        Position of the one code shown of each dimension between.
    cell
        Flat positions of the cells shown, shape ``(len(rows), len(columns))``.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    at: tuple[int, ...]
    cell: NDArray[np.int64]


def crosstab(published: Published, rows: int = ROWS, columns: int = COLUMNS) -> Crosstab:
    """Choose what to show: upper levels of large trees, totals of the dimensions between.

    Where that shows no suppressed cell, the dimensions between stand at the codes that show
    most of them, for a table without any is not what one wants to see.
    """
    trees = [d.hierarchy for d in published.dimensions]
    down = upper_codes(trees[0], rows)
    across = upper_codes(trees[-1], columns) if len(trees) > 1 else np.zeros(1, dtype=np.int64)
    between = published.shape[1:-1]
    flat = np.arange(published.value.size).reshape(published.shape[0], *between, -1)
    part = flat[down][..., across]
    hidden = published.suppressed.ravel()[part].sum(axis=(0, -1)).ravel()
    best = 0 if hidden[0] else int(hidden.argmax())
    at = tuple(int(i) for i in np.unravel_index(best, between))
    return Crosstab(down, across, at, part[(slice(None), *at, slice(None))])


def upper_codes(tree: Hierarchy, limit: int) -> NDArray[np.int64]:
    """Positions of the codes down to the deepest level that fits, or some of the first one."""
    depths = range(1, int(tree.level.max(initial=0)) + 1)
    fitting = [depth for depth in depths if np.sum(tree.level <= depth) <= limit]
    return np.flatnonzero(tree.level <= max(fitting, default=1))[:limit]
