"""Square grids, official ones and others: ids of cells, their corners, trees of coarser cells."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import as_codes, total_code
from diskret.parameters import Declared, Whole
from diskret.texts.numbers import Count

#: ETRS89-LAEA, the reference system of the official European grid.
EUROPE = 3035
#: Widths in metres of the official grid that statistics use.
OFFICIAL = (100, 1_000, 10_000, 100_000)
#: Metres between which points of the official grid lie: north, east. Degrees are none of them.
_EXTENT = {"north": (900_000, 5_500_000), "east": (900_000, 7_400_000)}
_ANYWHERE = (-100_000_000, 100_000_000)
_NUMBERS = r"N(-?\d{1,9})E(-?\d{1,9})"


@dataclass(frozen=True)
class Grid(Declared):
    """A grid of squares, and how its cells are called.

    Cells of the official European grid (ETRS89-LAEA, widths of 100 m, 1, 10 and 100 km) have ids
    by their south-western corner, as the INSPIRE rules write them: ``long``,
    ``CRS3035RES1000mN2684000E4334000``, or ``short``, ``1kmN2684E4334``. Any other grid, of 2 or
    5 km or in a national reference system, has ids of its own that nobody takes for official ones:
    ``OWN25832SIZE5000mN5710000E365000``.

    A point on a border belongs to the cell to the north or east of it. So cells never
    overlap, and each lies in just one cell of any grid whose width is a multiple of its own.

    Parameters
    ----------
    size
        Width of a cell in metres, a whole number ≥ 1.
    crs
        EPSG number of the reference system, one in metres.
    spelling
        How official ids are written.

    References
    ----------
    Commission Regulation (EU) No 1089/2010, annex II 2.2.1; Regulation (EU) 2018/1799, article 3
    (ids and extent of the 1 km grid).

    Examples
    --------
    >>> Grid(1_000).ids([2684010.5], [4334999]).to_pylist()
    ['CRS3035RES1000mN2684000E4334000']
    >>> Grid(1_000, spelling="short").coarser(10_000).ids([2684010.5], [4334999]).to_pylist()
    ['10kmN268E433']
    >>> Grid(5_000, crs=25832).ids([5712345], [367890]).to_pylist()
    ['OWN25832SIZE5000mN5710000E365000']
    """

    size: Annotated[int, Whole(1)]
    crs: Annotated[int, Whole(1)] = EUROPE
    spelling: Literal["long", "short"] = "long"

    @property
    def official(self) -> bool:
        """Whether its cells are those of the official European grid."""
        return self.crs == EUROPE and self.size in OFFICIAL

    def coarser(self, size: int) -> Grid:
        """The grid of wider cells in which the cells of this one lie as a whole.

        Parameters
        ----------
        size
            Its width in metres, a multiple of this one's.

        Raises
        ------
        InputError
            It is no multiple.
        """
        wider = Grid(size, self.crs, self.spelling)
        if wider.size % self.size or wider.size == self.size:
            raise InputError(
                f"cells of {self.size} m do not lie in cells of {size} m as a whole; a coarser "
                f"width is {self.size} m times 2, 3 or more"
            )
        return wider

    @property
    def beginning(self) -> str:
        """What the ids of all its cells begin with."""
        if not self.official:
            return f"OWN{self.crs}SIZE{self.size}m"
        if self.spelling == "long":
            return f"CRS{self.crs}RES{self.size}m"
        return f"{self.size // 1000}km" if self.size >= 1000 else f"{self.size}m"

    @property
    def unit(self) -> int:
        """How many metres one of the numbers in ids stands for."""
        return self.size if self.official and self.spelling == "short" else 1

    @property
    def extent(self) -> dict[str, tuple[int, int]]:
        """Metres between which points must lie, those of the end left out: north, east."""
        return _EXTENT if self.official else {"north": _ANYWHERE, "east": _ANYWHERE}

    def ids(self, north: Any, east: Any) -> pa.Array:
        """The cells in which points lie.

        Parameters
        ----------
        north, east
            Shape ``(n,)``: metres in the grid's reference system.

        Raises
        ------
        InputError
            A number is missing, infinite or outside of the grid's extent; the first row is named.
        """
        corners = [self._corner(north, "north"), self._corner(east, "east")]
        return self.ids_of_corners(*corners)

    def _corner(self, metres: Any, which: str) -> NDArray[np.int64]:
        given = np.asarray(metres, np.float64)
        low, high = self.extent[which]
        wrong = np.flatnonzero(~((given >= low) & (given < high)))
        if len(wrong):
            at = int(wrong[0])
            number = Count(len(wrong))
            raise InputError(
                f"{number} {number:point lies|points lie} nowhere on the grid, the first in row "
                f"{at + 1}: {which} = {float(given[at])!r}; it must be a number of metres from "
                f"{low:,} to {high:,}. Correct these rows or leave them out; coordinates of "
                "another reference system, such as degrees, need its number: crs="
            )
        # whole metres first: a quotient of such numbers never rounds over a border
        return np.floor(given).astype(np.int64) // self.size * self.size

    def ids_of_corners(self, south: NDArray[np.int64], west: NDArray[np.int64]) -> pa.Array:
        """Ids of cells by their corners; each is written once, however many points it has."""
        if not len(south):
            return pa.array([], pa.string())
        down, left = south // self.size, west // self.size
        key = (down - down.min()) * (int(left.max() - left.min()) + 1) + left - left.min()
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        number = [pa.array(one[first] // self.unit).cast(pa.string()) for one in (south, west)]
        texts = pc.binary_join_element_wise(f"{self.beginning}N", number[0], "E", number[1], "")
        return texts.take(pa.array(which.reshape(-1)))

    def corners(self, ids: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """South-western corners of cells in metres: north, then east.

        Parameters
        ----------
        ids
            Shape ``(n,)``; official ids in either spelling, with a country before them or not.

        Raises
        ------
        InputError
            An id is none of this grid; the first ones are named.

        Examples
        --------
        >>> north, east = Grid(1_000).corners(["1kmN2684E4334", "DE_CRS3035RES1000mN939000E8000"])
        >>> north.tolist(), east.tolist()
        ([2684000, 939000], [4334000, 8000])
        """
        return self._read(as_codes(list(ids), "ids"))[1:]

    def _read(self, ids: Sequence[str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """Country and ``_``, or nothing, and corner of each cell."""
        spellings = ("long", "short") if self.official else ("long",)
        grids = [Grid(self.size, self.crs, spelling) for spelling in spellings]
        begins = "|".join(re.escape(grid.beginning) for grid in grids)
        parts = pc.extract_regex(
            pa.array(ids, pa.string()),
            f"^(?P<country>(?:[A-Z]{{2}}_)?)(?P<begins>{begins})"
            + _NUMBERS.replace("(-", "(?P<north>-", 1).replace("E(-", "E(?P<east>-")
            + "$",
        )
        valid = parts.is_valid().to_numpy(zero_copy_only=False)
        if valid.all():
            begin = np.asarray(parts.field("begins").to_numpy(zero_copy_only=False))
            metres = np.select(
                [begin == grid.beginning for grid in grids], [grid.unit for grid in grids]
            )
            south, west = (
                parts.field(name).cast(pa.int64()).to_numpy() * metres for name in ("north", "east")
            )
            valid = (south % self.size == 0) & (west % self.size == 0)
            if valid.all():
                return parts.field("country").to_pylist(), south, west
        wrong = np.flatnonzero(~valid)
        examples = ", ".join(repr(ids[at]) for at in wrong[:3])
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:id is no cell|ids are no cells} of a grid of {self.size} m in "
            f"EPSG:{self.crs} ({examples}); such a cell is called {grids[0].beginning}N…E… by its "
            f"south-western corner, whole multiples of {self.size} m"
        )

    def tree(self, ids: Any, coarser: Iterable[int] = (), total: str = "Total") -> Hierarchy:
        """Cells below the coarser cells in which they lie.

        Parameters
        ----------
        ids
            Cells in which there may be anybody: a column of a frame, or a list; each may come
            often. Cells of a country (``DE_`` before the id) lie in coarser cells of this country.
        coarser
            Widths of the coarser grids in metres, each a multiple of the finer one's.
        total
            Code of all cells together.

        Raises
        ------
        InputError
            An id is none of this grid, one cell is written in two ways, or a width is no multiple.

        Examples
        --------
        >>> tree = Grid(1_000, spelling="short").tree(["1kmN2684E4334", "1kmN2689E4330"], [10_000])
        >>> tree.codes, tree.parent.tolist()
        (('Total', '10kmN268E433', '1kmN2684E4334', '1kmN2689E4330'), [-1, 0, 1, 1])
        """
        codes = _different(ids)
        country, south, west = self._read(codes)
        return _tree(self._with(coarser), codes, country, (south, west), total)

    def tree_of_corners(
        self,
        south: NDArray[np.int64],
        west: NDArray[np.int64],
        coarser: Iterable[int] = (),
        total: str = "Total",
    ) -> Hierarchy:
        """The same for cells by their corners in metres, each there once."""
        codes = self.ids_of_corners(south, west).to_pylist()
        return _tree(self._with(coarser), codes, [""] * len(codes), (south, west), total)

    def _with(self, coarser: Iterable[int]) -> list[Grid]:
        """Coarser grids, the coarsest first, and this one."""
        grids: list[Grid] = [self]
        for size in sorted(set(coarser)):
            grids.append(grids[-1].coarser(size))
        return grids[::-1]


def _tree(
    grids: Sequence[Grid],
    codes: list[str],
    country: Sequence[str],
    corner: tuple[NDArray[np.int64], NDArray[np.int64]],
    total: str,
) -> Hierarchy:
    south, west = corner
    nation = np.zeros(len(codes), np.int64)
    if any(country):
        nations = {name: at for at, name in enumerate(sorted(set(country)))}
        nation = np.fromiter((nations[name] for name in country), np.int64, len(country))
    places = [(south // grid.size, west // grid.size) for grid in grids]
    order = np.lexsort([axis for place in reversed(places) for axis in reversed(place)] + [nation])
    # a code begins, of the coarsest grid first, where its place differs from that before it
    begins = np.ones((len(codes), len(grids)), bool)
    for level, place in enumerate(places):
        step = [axis[order] for axis in (nation, *place)]
        begins[1:, level] = np.any([axis[1:] != axis[:-1] for axis in step], axis=0)
    begins = np.maximum.accumulate(begins, axis=1)
    twice = np.flatnonzero(~begins[:, -1])
    if len(twice):
        same = [codes[order[at]] for at in (twice[0] - 1, twice[0])]
        raise InputError(f"{same[0]!r} and {same[1]!r} are one cell; write its id in one way")
    return _depth_first(grids, codes, country, order, begins, corner, total)


def _depth_first(
    grids: Sequence[Grid],
    codes: Sequence[str],
    country: Sequence[str],
    order: NDArray[np.int64],
    begins: NDArray[np.bool_],
    corner: tuple[NDArray[np.int64], NDArray[np.int64]],
    total: str,
) -> Hierarchy:
    """The tree of cells in some order; `begins`: which codes of each grid begin with each cell."""
    place = np.cumsum(begins.reshape(-1)).reshape(begins.shape)
    found = np.empty(int(begins.sum()) + 1, object)
    parent = np.zeros(len(found), np.int32)
    above = np.zeros(len(order), np.int64)
    for level, grid in enumerate(grids):
        first = order[begins[:, level]]
        if level == len(grids) - 1:
            texts = [codes[at] for at in first]
        else:
            south, west = (axis[first] // grid.size * grid.size for axis in corner)
            written = grid.ids_of_corners(south, west).to_pylist()
            texts = [country[at] + text for at, text in zip(first, written, strict=True)]
        here = place[:, level][begins[:, level]]
        found[here] = texts
        parent[here] = above[begins[:, level]]
        above = here[np.cumsum(begins[:, level]) - 1]
    found[0] = total_code(total, found[1:].tolist())
    parent[0] = -1
    return Hierarchy(tuple(found.tolist()), parent)


def _different(ids: Any) -> list[str]:
    """Each id once; columns of any frame are looked through where they are."""
    try:
        ids = nw.from_native(ids, series_only=True, allow_series=True).unique().to_list()
    except TypeError:
        ids = ids.to_pylist() if isinstance(ids, pa.Array) else list(ids)
    return sorted(set(as_codes(ids, "ids")))
