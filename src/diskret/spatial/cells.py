"""Cells of several widths, as merging makes them."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.hierarchy import Hierarchy
from diskret.spatial.grid import Grid
from diskret.spatial.outlines import grid_of
from diskret.spatial.systems import one_system


@dataclass(frozen=True, eq=False)
class Cells:
    """The finest cells of a tree, which may be of several widths.

    Parameters
    ----------
    tree
        Of cells, such as that of a table from [`quadtree`][diskret.spatial.quadtree].

    Raises
    ------
    InputError
        A code is no cell of a grid, or the cells are of two reference systems.

    Examples
    --------
    >>> grid = Grid(1_000, spelling="short")
    >>> tree = Hierarchy.flat(["1kmN2684E4334", "10kmN269E434"])
    >>> Cells(tree).ids([2_684_500, 2_695_000, 9e5], [4_334_500, 4_341_000, 9e5]).to_pylist()
    ['1kmN2684E4334', '10kmN269E434', None]
    """

    tree: Hierarchy

    def __post_init__(self) -> None:
        one_system(grid.crs for grid in self._grids())

    @property
    def codes(self) -> tuple[str, ...]:
        """The finest cells."""
        return tuple(self.tree.codes[at] for at in self.tree.leaves.tolist())

    @property
    def crs(self) -> int:
        """EPSG number of their reference system."""
        return self._grids()[0].crs

    def ids(self, north: Any, east: Any) -> pa.Array:
        """The cells in which points lie; null for those in none.

        Parameters
        ----------
        north, east
            Shape ``(n,)``: metres in the reference system of the cells.

        Raises
        ------
        InputError
            A number is missing, infinite or outside of the grid; the first row is named.
        """
        codes = pa.array(self.codes, pa.string())
        found = pa.nulls(len(np.asarray(north)), pa.string())
        for grid in self._grids():
            ids = grid.ids(north, east)
            there = pc.is_in(ids, codes)
            found = pc.coalesce(found, pc.if_else(there, ids, None))
        return found

    def _grids(self) -> list[Grid]:
        """Those of the cells, the finest first."""
        return sorted({grid_of(code) for code in self.codes}, key=lambda grid: grid.size)
