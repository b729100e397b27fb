"""Two maps on one fine grid: what was published of wider cells is spread evenly over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.spatial.grid import Grid
from diskret.spatial.systems import one_system
from diskret.tables import Published, Table
from diskret.texts.numbers import Count

#: Cells of the rectangle around a map.
_MOST = 30_000_000
_BEGINS = (
    r"^(?:[A-Z]{2}_)?(?:(?:CRS3035RES|OWN(?P<crs>\d+)SIZE)(?P<metres>\d+)m"
    r"|(?P<short>\d+)(?P<unit>k?m))N-?\d+E-?\d+$"
)


@dataclass(frozen=True, eq=False)
class Raster:
    """Values of a map before and after protection, cell by cell of the fine grid. Confidential.

    Parameters
    ----------
    before, after
        ``(rows, columns)``, float64; 0 where nobody is. Of tables rows go from south to north.
    land
        Which cells belong to the map, the same shape.
    grid
        The fine grid, and north and east of its south-western corner; None: arrays were compared.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    land: NDArray[np.bool_]
    grid: tuple[Grid, int, int] | None = None


def raster_of_arrays(before: Any, after: Any) -> Raster:
    """Maps as rows and columns; what is withheld (NaN) gets what the others leave of the sum."""
    both = [
        np.ma.filled(np.ma.asanyarray(one).astype(np.float64), np.nan) for one in (before, after)
    ]
    one, other = both
    if one.ndim != 2 or one.shape != other.shape or not one.size:
        raise InputError(
            f"maps are two arrays of the same rows and columns, not {one.shape} and {other.shape}"
        )
    if np.isnan(one).any() or np.isinf(both).any():
        raise InputError("a value of the original map is missing, or one of a map is infinite")
    hidden = np.isnan(other)
    rest = max(float(one.sum() - other[~hidden].sum()), 0.0)
    shared = np.where(hidden, rest / max(int(hidden.sum()), 1), other)
    return Raster(one, shared, np.ones(one.shape, np.bool_))


def raster_of_tables(
    before: Table, after: Any, dimension: str, land: Iterable[str] | None
) -> Raster:
    """The same of tables by grid cell, other variables at their total."""
    original = shown_values(before, dimension, "the original")
    published = shown_values(after, dimension, "what is published")
    if original[0] != published[0]:
        raise InputError(
            f"the original holds {original[0]!r} and what is published {published[0]!r}; "
            "compare maps of one measure, a result that counts units with its own `.table`"
        )
    leaves = [_Leaves.of(tree) for _, tree, _, _ in (original, published)]
    size = int(min(one.size.min() for one in leaves))
    base = Grid(size, leaves[0].crs)
    codes = None if land is None else sorted(set(land))
    lie = list(leaves)
    if codes is not None:
        lie.append(_Leaves.of_codes(codes, np.arange(len(codes))))
    one_system(one.crs for one in lie)
    for one in lie:
        wrong = (one.size % size != 0) | (one.south % size != 0) | (one.west % size != 0)
        if wrong.any():
            raise InputError(
                f"cells of {int(one.size[wrong][0])} m do not consist of cells of {size} m, the "
                "finest on these maps"
            )
    south, west = (min(int(getattr(one, side).min()) for one in lie) for side in ("south", "west"))
    north = max(int((one.south + one.size).max()) for one in lie)
    east = max(int((one.west + one.size).max()) for one in lie)
    shape = ((north - south) // size, (east - west) // size)
    if shape[0] * shape[1] > _MOST:
        raise InputError(
            f"the map has {shape[0]:,} × {shape[1]:,} cells of {size} m around it, more than "
            f"{_MOST:,}; compare parts of it, islands far away by themselves"
        )
    whole = np.ones(shape, np.bool_)
    if codes is not None:
        whole = lie[-1].spread(np.ones(len(codes)), whole, (south, west), size) > 0
    made = list[NDArray[np.float64]]()
    for one, (_, tree, values, shown) in zip(leaves, (original, published), strict=True):
        number = one.number(whole, (south, west), size)
        drawn = _drawn(tree, values, shown, one, number)
        made.append(one.spread(drawn, whole, (south, west), size))
    return Raster(made[0], made[1], whole, (base, south, west))


def cell_widths(table: Table, dimension: str) -> list[int]:
    """Widths in metres of the cells of each level below the total, the coarsest first."""
    _, tree, _, _ = shown_values(table, dimension, "the original")
    found = list[int]()
    for level in range(1, int(tree.level.max()) + 1):
        here = np.flatnonzero(tree.level == level)
        sizes = _Leaves.of_codes([tree.codes[at] for at in here.tolist()], here).size
        if len(set(sizes.tolist())) > 1:
            raise InputError(
                f"cells {level} steps below the total have several widths; give the table of the "
                "finest cells, before they were merged"
            )
        found.append(int(sizes[0]))
    return found


def shown_values(
    one: Any, dimension: str, which: str
) -> tuple[str, Hierarchy, NDArray[np.float64], NDArray[np.bool_]]:
    """Measure, tree, values of its codes, and which of them are shown."""
    if isinstance(one, Table):
        name, decimals = one.measure.name, one.measure.decimals
        values, shown = one.measure.sum, np.ones(one.shape, np.bool_)
    else:
        published = getattr(one, "published", one)
        if not isinstance(published, Published):
            raise InputError(
                f"{which} is a dk.Table, the result of a method or a dk.Published, not "
                f"{type(one).__name__!r}"
            )
        name, decimals = published.measure, published.decimals
        values, shown = published.value, ~published.suppressed
        one = published
    names = [found.name for found in one.dimensions]
    if dimension not in names:
        raise InputError(f"{which} has no dimension {dimension!r}; it has {', '.join(names)}")
    axis = names.index(dimension)
    at = tuple(slice(None) if place == axis else 0 for place in range(len(names)))
    return name, one.dimensions[axis].hierarchy, values[at] / 10.0**decimals, shown[at]


def _drawn(
    tree: Hierarchy,
    values: NDArray[np.float64],
    shown: NDArray[np.bool_],
    leaves: _Leaves,
    number: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Values of the leaves as a reader draws them.

    A withheld one gets its part, by area, of what the others leave of the coarser cell around.
    """
    area = np.zeros(len(tree))
    area[leaves.at] = number
    by_level = [np.flatnonzero(tree.level == level) for level in range(int(tree.level.max()) + 1)]
    told = np.where(shown, values, 0.0)
    for here in reversed(by_level[1:]):
        np.add.at(area, tree.parent[here], area[here])
    if not shown[0]:
        told[0] = told[leaves.at].sum()
    for here in by_level[1:]:
        above = tree.parent[here]
        rest, room = told.copy(), np.zeros(len(tree))
        np.subtract.at(rest, above, told[here])
        hidden = here[~shown[here]]
        np.add.at(room, tree.parent[hidden], area[hidden])
        over = tree.parent[hidden]
        told[hidden] = np.maximum(rest[over], 0) * area[hidden] / np.maximum(room[over], 1)
    return told[leaves.at]


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The finest cells of a tree: where they stand in it, their widths and corners in metres."""

    at: NDArray[np.int64]
    crs: int
    size: NDArray[np.int64]
    south: NDArray[np.int64]
    west: NDArray[np.int64]

    @classmethod
    def of(cls, tree: Hierarchy) -> _Leaves:
        at = np.asarray(tree.leaves, np.int64)
        return cls.of_codes([tree.codes[one] for one in at.tolist()], at)

    @classmethod
    def of_codes(cls, codes: list[str], at: NDArray[np.int64]) -> _Leaves:
        parts = pc.extract_regex(pa.array(codes, pa.string()), _BEGINS)
        read = parts.is_valid().to_numpy(zero_copy_only=False)
        if not len(codes) or not read.all():
            examples = ", ".join(repr(codes[one]) for one in np.flatnonzero(~read)[:3].tolist())
            raise InputError(f"these are no cells of a grid: {examples or 'none at all'}")
        crs, metres, short, unit = (
            parts.field(name).to_numpy(zero_copy_only=False)
            for name in ("crs", "metres", "short", "unit")
        )
        times = np.where(unit == "km", 1000, 1)
        size = np.where(short != "", short, metres).astype(np.int64) * times
        system = one_system(np.where(crs != "", crs, "3035").astype(np.int64).tolist())
        south, west = np.empty((2, len(codes)), np.int64)
        for width in np.unique(size).tolist():
            those = np.flatnonzero(size == width)
            grid = Grid(width, system)
            south[those], west[those] = grid.corners([codes[one] for one in those.tolist()])
        return cls(at, system, size, south, west)

    def number(
        self, land: NDArray[np.bool_], corner: tuple[int, int], base: int
    ) -> NDArray[np.int64]:
        """How many fine cells of the land lie in each."""
        found = np.zeros(len(self.at), np.int64)
        for those, rows, columns in self._fine(corner, base):
            found[those] = land[rows, columns].sum(axis=(1, 2))
        if not found.all():
            number = Count((found == 0).sum())
            raise InputError(
                f"{number} {number:cell|cells} on the map {number:lies|lie} in none of land=; it "
                "must have every cell in which anybody is"
            )
        return found

    def spread(
        self,
        values: NDArray[np.float64],
        land: NDArray[np.bool_],
        corner: tuple[int, int],
        base: int,
    ) -> NDArray[np.float64]:
        """Values on the fine grid, the same in all cells of the land that lie in one."""
        share = values / self.number(land, corner, base)
        made = np.zeros(land.shape)
        for those, rows, columns in self._fine(corner, base):
            made[rows, columns] = np.where(land[rows, columns], share[those, None, None], 0)
        return made

    def _fine(self, corner: tuple[int, int], base: int) -> Any:
        for width in np.unique(self.size).tolist():
            those = np.flatnonzero(self.size == width)
            steps = np.arange(width // base)
            row = (self.south[those] - corner[0]) // base
            column = (self.west[those] - corner[1]) // base
            yield those, row[:, None, None] + steps[:, None], column[:, None, None] + steps
