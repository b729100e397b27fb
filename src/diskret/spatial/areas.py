"""Areas with borders: districts, postal areas, any polygons; which of them a point lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy.codes import as_codes
from diskret.spatial.grid import EUROPE
from diskret.spatial.metres import LONGEST, PER_METRE, millimetres
from diskret.texts.numbers import Count

Ring = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Areas:
    """Polygons with codes, such as municipalities or postal areas.

    Coordinates are taken to the millimetre, and all is computed in whole numbers from there on. So
    areas that have a border in common, with the same corners, never share a point nor leave one
    out: a point on a border belongs to the area to the north or east of it.

    Parameters
    ----------
    codes
        What the areas are called, each code once.
    rings
        For each area its rings, each of shape ``(n, 2)``: east and north in metres. Borders of all
        its parts and of holes in them, in any order and direction: inside is what an odd
        number of rings goes around.
    crs
        EPSG number of the reference system, one in metres.

    Raises
    ------
    InputError
        A code comes twice, a ring has fewer than three corners, or a coordinate is no number; the
        area is named.

    Examples
    --------
    >>> west = [(0, 0), (500, 0), (500, 1000), (0, 1000)]
    >>> east = [(500, 0), (900, 0), (900, 1000), (500, 1000)]
    >>> Areas(("W", "E"), [[west], [east]]).ids([10, 10, 10], [499.9, 500, 950]).to_pylist()
    ['W', 'E', None]
    """

    codes: tuple[str, ...]
    rings: Any
    crs: int = EUROPE

    def __post_init__(self) -> None:
        codes = tuple(as_codes(list(self.codes), "codes"))
        if len(set(codes)) < len(codes):
            twice = next(code for code in codes if codes.count(code) > 1)
            raise InputError(f"area {twice!r} comes twice; put its rings together")
        if len(self.rings) != len(codes):
            number = Count(len(codes))
            raise InputError(
                f"there are {number} {number:code|codes} and {len(self.rings)} lists of rings"
            )
        if not codes:
            raise InputError("there is no area; give at least one code with its rings")
        read = [
            tuple(_ring(ring, code) for ring in own)
            for code, own in zip(codes, self.rings, strict=True)
        ]
        for code, own in zip(codes, read, strict=True):
            if not own:
                raise InputError(f"area {code!r} has no ring; leave it out or give its border")
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "rings", tuple(read))

    def __len__(self) -> int:
        return len(self.codes)

    def ids(self, north: Any, east: Any) -> pa.Array:
        """The areas in which points lie; null for those outside of all.

        Parameters
        ----------
        north, east
            Shape ``(n,)``: metres in the reference system of the areas.

        Raises
        ------
        InputError
            A number is missing or infinite, or a point lies in two areas; the first row is named.
        """
        from diskret.spatial.area_kernels import containing

        y, x = millimetres(north, "north"), millimetres(east, "east")
        first, second = containing(x, y, *self._index)
        wrong = np.flatnonzero(second >= 0)
        if len(wrong):
            at = int(wrong[0])
            both = [self.codes[int(one[at])] for one in (first, second)]
            number = Count(len(wrong))
            raise InputError(
                f"{number} {number:point lies|points lie} in two areas, the first in row "
                f"{at + 1}: {both[0]!r} and {both[1]!r}; areas of one geography must not overlap, "
                "so make two of them"
            )
        return pa.array(self.codes, pa.string()).take(pa.array(first, mask=first < 0))

    def check(self) -> Areas:
        """Refuse areas whose own borders cross each other, as those of damaged files do.

        What is inside of such a border is defined (see `rings`), but hardly what somebody meant.
        Borders that touch in a corner or run along each other are allowed.

        Returns
        -------
        Areas
            These.

        Raises
        ------
        InputError
            Two pieces of a border cross between their ends; area and places are named.

        Examples
        --------
        >>> Areas(["A"], [[[(0, 0), (10, 10), (10, 0), (0, 10)]]]).check()
        Traceback (most recent call last):
        ...
        diskret.errors.InputError: borders of area 'A' cross each other: that from (0.0, 0.0) to ...
        """
        from diskret.spatial.area_kernels import crossing

        edges, area = _edges(self.codes, self.rings, level=True)
        order = np.lexsort([edges[:, 1], area])
        begins = np.searchsorted(area, np.arange(len(self) + 1)).astype(np.int64)
        one, other = crossing(edges[order], begins)
        if one < 0:
            return self
        ends = [
            tuple(tuple(end) for end in (edges[order[at]] / PER_METRE).reshape(2, 2).tolist())
            for at in (one, other)
        ]
        raise InputError(
            f"borders of area {self.codes[int(area[order[one]])]!r} cross each other: that from "
            f"{ends[0][0]} to {ends[0][1]} and that from {ends[1][0]} to {ends[1][1]} (east, "
            "north); put the border right, e.g. by the function make_valid of a program of "
            "geography"
        )

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north end of all areas, in metres."""
        corners = np.concatenate([ring for own in self.rings for ring in own])
        west, south, east, north = (*corners.min(axis=0), *corners.max(axis=0))
        return float(west), float(south), float(east), float(north)

    @cached_property
    def _index(self) -> tuple[NDArray[np.int64], ...]:
        edges, area = _edges(self.codes, self.rings)
        number = len(self.codes)
        box = np.empty((number, 4), np.int64)
        ends = np.searchsorted(area, np.arange(number))
        box[:, 0] = np.minimum.reduceat(np.minimum(edges[:, 0], edges[:, 2]), ends)
        box[:, 1] = np.minimum.reduceat(edges[:, 1], ends)
        box[:, 2] = np.maximum.reduceat(np.maximum(edges[:, 0], edges[:, 2]), ends)
        box[:, 3] = np.maximum.reduceat(edges[:, 3], ends)
        many = np.maximum(np.bincount(area, minlength=number) // 4, 1)
        height = -(-(box[:, 3] - box[:, 1]) // many)
        many = -(-(box[:, 3] - box[:, 1]) // height)
        strips = np.stack([np.cumsum(many) - many, height], axis=1)
        low = (edges[:, 1] - box[area, 1]) // height[area] + strips[area, 0]
        high = (edges[:, 3] - 1 - box[area, 1]) // height[area] + strips[area, 0]
        which, at = _ranges(low, high)
        begins, listed = _listed(at, which, int(many.sum()))
        raster, cells = _raster(box)
        return (raster, *cells, box, strips, begins, edges[listed])


def _ring(given: Any, code: str) -> Ring:
    ring = np.array(given, np.float64)
    if ring.ndim != 2 or ring.shape[1] != 2 or not np.isfinite(ring).all():
        raise InputError(
            f"a ring of area {code!r} is no list of corners (east, north) in metres; each is two "
            "numbers"
        )
    if np.abs(ring).max(initial=0.0) >= LONGEST:
        raise InputError(
            f"a corner of area {code!r} lies {np.abs(ring).max():,.0f} m from the origin; "
            "corners are metres of a reference system, less than 100,000 km from its origin"
        )
    if len(ring) and (ring[0] == ring[-1]).all():
        ring = ring[:-1]
    if len(np.unique(ring, axis=0)) < 3:
        raise InputError(f"a ring of area {code!r} has fewer than three corners; leave it out")
    ring.setflags(write=False)
    return ring


def _edges(
    codes: Sequence[str],
    rings: Sequence[Sequence[Ring]],
    level: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (edges, 4): x, y, x, y in millimetres, upwards; the area of each.

    `level`: whether those are among them that lead neither up nor down.
    """
    flat = [ring for own in rings for ring in own]
    size = np.array([len(ring) for ring in flat])
    corner = np.rint(np.concatenate(flat) * PER_METRE).astype(np.int64)
    ends = np.cumsum(size)
    following = np.arange(1, len(corner) + 1)
    following[ends - 1] = ends - size
    edges = np.concatenate([corner, corner[following]], axis=1)
    area = np.repeat(np.arange(len(rings)), [sum(map(len, own)) for own in rings])
    if np.abs(edges[:, :2] - edges[:, 2:]).max() >= 2**31:
        at = int(np.abs(edges[:, :2] - edges[:, 2:]).max(axis=1).argmax())
        raise InputError(
            f"a border of area {codes[area[at]]!r} runs straight for more than 2,147 km; "
            "put corners between its ends"
        )
    down = edges[:, 1] > edges[:, 3]
    edges[down] = edges[down][:, [2, 3, 0, 1]]
    sloping = edges[:, 1] != edges[:, 3]
    flat_areas = np.setdiff1d(np.arange(len(rings)), area[sloping])
    if len(flat_areas):
        raise InputError(f"area {codes[flat_areas[0]]!r} has no width; leave it out")
    return (edges, area) if level else (edges[sloping], area[sloping])


def _ranges(
    low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All numbers from low to high, for each pair; which pair each belongs to."""
    size = high - low + 1
    which = np.repeat(np.arange(len(low)), size)
    return which, np.arange(size.sum()) - np.repeat(np.cumsum(size) - size - low, size)


def _listed(
    place: NDArray[np.int64], what: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the things of each place begin in a list, and the list."""
    order = np.argsort(place, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=number))])
    return begins.astype(np.int64), what[order]


def _raster(
    box: NDArray[np.int64],
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Squares over all areas, some four for each, and the areas whose boxes meet each."""
    west, south = box[:, 0].min(), box[:, 1].min()
    across, up = int(box[:, 2].max() - west), int(box[:, 3].max() - south)
    width = max(int(np.sqrt(across * up / (4 * len(box)))), max(across, up) // 4_000, 1)
    columns, rows = -(-across // width), -(-up // width)
    raster = np.array([west, south, width, columns, rows], np.int64)
    which, row = _ranges((box[:, 1] - south) // width, (box[:, 3] - 1 - south) // width)
    again, column = _ranges((box[which, 0] - west) // width, (box[which, 2] - 1 - west) // width)
    cell = row[again] * columns + column
    return raster, _listed(cell, which[again], columns * rows)
