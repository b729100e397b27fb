"""Where the places of a map lie: squares that ids of cells tell, or borders of areas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.spatial.areas import Areas, Ring
from diskret.spatial.grid import EUROPE, Grid
from diskret.spatial.systems import one_system
from diskret.texts.numbers import Count

_CELL = re.compile(
    r"(?:[A-Z]{2}_)?(CRS3035RES(\d+)m|(\d+)(km|m)|OWN(\d+)SIZE(\d+)m)N-?\d{1,9}E-?\d{1,9}"
)


@dataclass(frozen=True, eq=False)
class Outlines:
    """Places with their outlines.

    Parameters
    ----------
    crs
        EPSG number of the reference system.
    squares
        Shape (places, 3): west, south and width in metres; None: `rings` are given.
    rings
        For each place its rings, see [`Areas`][diskret.spatial.Areas]; none for squares.
    """

    crs: int
    squares: NDArray[np.int64] | None
    rings: tuple[tuple[Ring, ...], ...] = ()

    def polygons(self, place: int) -> list[list[Ring]]:
        """Closed polygons of a place, each its outer ring to the left, then its holes to the right.

        As GeoJSON, GeoPackage and GeoParquet have them.
        """
        if self.squares is not None:
            west, south, width = self.squares[place].tolist()
            east, north = west + width, south + width
            corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
            return [[np.array(corners, np.float64)]]
        return _nested(self.rings[place])


def is_grid(codes: Sequence[str]) -> bool:
    """Whether all codes are ids of cells of a grid."""
    return bool(codes) and all(_CELL.fullmatch(code) for code in codes)


def grid_of(code: str) -> Grid:
    """The grid that a cell is of, with the spelling of its id.

    Raises
    ------
    InputError
        It is no id of a cell.
    """
    return _grid(*_parts(code))


def outlines_of_cells(codes: Sequence[str]) -> Outlines:
    """Squares of cells, of one width or of several, by their ids alone.

    Raises
    ------
    InputError
        A code is no id of a cell, or cells are of two reference systems.

    Examples
    --------
    >>> outlines_of_cells(["1kmN2684E4334", "OWN3035SIZE2000mN2684000E4336000"]).squares.tolist()
    [[4334000, 2684000, 1000], [4336000, 2684000, 2000]]
    """
    return Outlines(one_system(grid.crs for grid in _kinds(codes)), squares_of_cells(codes))


def squares_of_cells(codes: Sequence[str]) -> NDArray[np.int64]:
    """Shape (cells, 3): west, south and width of each in metres.

    Raises
    ------
    InputError
        A code is no id of a cell.
    """
    squares = np.empty((len(codes), 3), np.int64)
    for grid, places in _kinds(codes).items():
        south, west = grid.corners([codes[at] for at in places])
        squares[places] = np.stack([west, south, np.full(len(places), grid.size)], axis=1)
    return squares


def outlines_of_areas(codes: Sequence[str], areas: Areas) -> Outlines:
    """Borders of areas, in the order of the codes.

    Raises
    ------
    InputError
        An area is not there; the first ones are named.
    """
    place = {code: at for at, code in enumerate(areas.codes)}
    missing = [code for code in codes if code not in place]
    if missing:
        number = Count(len(missing))
        raise InputError(
            f"{number} {number:code has|codes have} no borders "
            f"({', '.join(map(repr, missing[:3]))}); add {number:it|them} to the areas"
        )
    return Outlines(areas.crs, None, tuple(areas.rings[place[code]] for code in codes))


def _kinds(codes: Sequence[str]) -> dict[Grid, list[int]]:
    """The grids that cells are of, each made once, with the places of their cells."""
    same = dict[tuple[str | None, ...], list[int]]()
    for at, code in enumerate(codes):
        same.setdefault(_parts(code), []).append(at)
    kinds = dict[Grid, list[int]]()
    for parts, places in same.items():
        kinds.setdefault(_grid(*parts), []).extend(places)
    return kinds


def _parts(code: str) -> tuple[str | None, ...]:
    """What an id says of its grid."""
    found = _CELL.fullmatch(code)
    if found is None:
        raise InputError(f"{code!r} is no id of a cell of a grid")
    return found.groups()[1:]


def _grid(
    long: str | None, short: str | None, unit: str | None, crs: str | None, own: str | None
) -> Grid:
    if long:
        return Grid(int(long))
    if short:
        return Grid(int(short) * (1_000 if unit == "km" else 1), spelling="short")
    return Grid(int(own or 0), int(crs or EUROPE))


def _nested(rings: Sequence[Ring]) -> list[list[Ring]]:
    """Rings as polygons: those that lie in an odd number of others are holes of the smallest."""
    inside = [[other for other in rings if other is not one and _in(one, other)] for one in rings]
    found = [
        [_turned(one, 1)] for one, around in zip(rings, inside, strict=True) if not len(around) % 2
    ]
    outer = [one for one, around in zip(rings, inside, strict=True) if not len(around) % 2]
    for one, around in zip(rings, inside, strict=True):
        if len(around) % 2:
            here = [at for at, own in enumerate(outer) if any(own is other for other in around)]
            smallest = min(here, key=lambda at: abs(_area(outer[at])))
            found[smallest].append(_turned(one, -1))
    return found


def _in(one: Ring, other: Ring) -> bool:
    """Whether a ring lies in another one, by the middle of one of its sides."""
    x, y = (one[0] + one[1]) / 2
    begin, end = other, np.roll(other, -1, axis=0)
    crossing = (begin[:, 1] > y) != (end[:, 1] > y)
    begin, end = begin[crossing], end[crossing]
    at = begin[:, 0] + (y - begin[:, 1]) / (end[:, 1] - begin[:, 1]) * (end[:, 0] - begin[:, 0])
    return bool((at > x).sum() % 2)


def _area(ring: Ring) -> float:
    x, y = (ring - ring[0]).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def _turned(ring: Ring, sign: int) -> Ring:
    """Closed, to the left (1) or to the right (-1)."""
    turned = ring if _area(ring) * sign >= 0 else ring[::-1]
    return np.concatenate([turned, turned[:1]])
