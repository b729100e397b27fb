"""Cells of a grid as a column that is computed where the records lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy

Numbers = NDArray[np.int64]
#: East and north in one reference system to east and north in another.
Moved = Callable[
    [NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]
]


@dataclass(frozen=True, eq=False)
class ComputedCells:
    """A column of cells, told by the coordinates of a record.

    A cell has a number, which engines compute: how far its south-western corner lies to the north
    of that of the extent, times the width of the extent, plus how far to the east, in metres.

    `name`: of the column. `x`, `y`: columns of the coordinates. `size`: width of a cell in metres.
    `east`, `north`: metres between which points must lie, those of the end left out. `ids`: what
    cells are called, by their corners, south and west. `tree`: their tree, by the same, and the
    code of the total. `moved`: brings coordinates to the system of the grid; None: they are in it.
    """

    name: str
    x: str
    y: str
    size: int
    east: tuple[int, int]
    north: tuple[int, int]
    ids: Callable[[Numbers, Numbers], pa.Array]
    tree: Callable[[Numbers, Numbers, str], Hierarchy]
    moved: Moved | None = None

    @property
    def origin(self) -> tuple[int, int]:
        """South and west of the cell that has the number 0."""
        return tuple(low // self.size * self.size for low in (self.north[0], self.east[0]))  # pyright: ignore[reportReturnType]

    @property
    def width(self) -> int:
        """By how much the numbers of two cells differ that lie a metre further north."""
        return self.east[1] - self.origin[1]

    def corners(self, number: Numbers) -> tuple[Numbers, Numbers]:
        """South and west of cells by their numbers."""
        south, west = self.origin
        return number // self.width + south, number % self.width + west

    def numbers(self, east: NDArray[np.float64], north: NDArray[np.float64]) -> pa.Array:
        """The numbers of the cells in which points lie; null for those that lie in none."""
        if self.moved is not None:
            east, north = self.moved(east, north)
        inside = (east >= self.east[0]) & (east < self.east[1])
        inside &= (north >= self.north[0]) & (north < self.north[1])
        up, right = (
            np.floor(np.where(inside, metres, low)).astype(np.int64) - low
            for metres, low in zip((north, east), self.origin, strict=True)
        )
        number = (up - up % self.size) * self.width + right - right % self.size
        return pa.array(number, mask=~inside)
