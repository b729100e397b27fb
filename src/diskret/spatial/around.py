"""Places near to points: within 500 m of a station."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy.codes import as_codes
from diskret.spatial.grid import EUROPE
from diskret.spatial.metres import LONGEST, PER_METRE, millimetres
from diskret.texts.numbers import Count

#: As many points as can be equally near; more are asked for only where points are looked at anew.
_ASKED = 8
_BLOCK = 500_000


@dataclass(frozen=True, eq=False)
class Around:
    """Circles around points, such as all places within 500 m of a station.

    A place belongs to the nearest of the points if it lies within the radius, the circle itself
    included; of points equally near to the first in the list. Where each point's own circle is
    published, with places that others are nearer to, each point makes a geography of its own.

    Parameters
    ----------
    codes
        What the points are called; one code may stand for several of them.
    north, east
        Shape ``(points,)``: metres in the reference system.
    radius
        How far around them, in metres, > 0. Taken to the millimetre, as all coordinates are.
    crs
        EPSG number of the reference system, one in metres.

    Raises
    ------
    InputError
        Numbers of codes and coordinates differ, a coordinate is no number, or the radius is not
        above 0.

    Examples
    --------
    >>> stations = Around(("S1", "S2"), north=[0, 0], east=[0, 900], radius=500)
    >>> stations.ids([0, 0, 0], [450, 500.5, 1401]).to_pylist()
    ['S1', 'S2', None]
    """

    codes: tuple[str, ...]
    north: Any
    east: Any
    radius: float
    crs: int = EUROPE

    def __post_init__(self) -> None:
        codes = tuple(as_codes(list(self.codes), "codes"))
        places = [millimetres(given, name) for name, given in self._given]
        if not codes or any(place.shape != (len(codes),) for place in places):
            number = Count(len(codes))
            raise InputError(
                f"there are {number} {number:code|codes} for {len(places[0])} north and "
                f"{len(places[1])} east coordinates; each point needs one of each, and there must "
                "be a point"
            )
        if not 0 < self.radius < LONGEST:
            raise InputError(f"radius must be a number of metres above 0, not {self.radius!r}")
        object.__setattr__(self, "codes", codes)

    @property
    def _given(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        return ("north", self.north), ("east", self.east)

    def ids(self, north: Any, east: Any) -> pa.Array:
        """The point to which each place belongs; null for those too far from all.

        Parameters
        ----------
        north, east
            Shape ``(n,)``: metres in the reference system.

        Raises
        ------
        InputError
            A number is missing or infinite; the first row is named.
        """
        from scipy.spatial import KDTree

        points = np.stack([millimetres(given, name) for name, given in self._given], axis=1)
        places = np.stack([millimetres(north, "north"), millimetres(east, "east")], axis=1)
        radius = round(self.radius * PER_METRE)
        tree = KDTree(points.astype(np.float64))
        asked = min(_ASKED, len(points))
        found = np.full(len(places), -1)
        for at in range(0, len(places), _BLOCK):
            some = places[at : at + _BLOCK]
            near = tree.query(
                some.astype(np.float64), asked, distance_upper_bound=(radius + 1) * (1 + 1e-9)
            )[1].reshape(len(some), asked)
            found[at : at + _BLOCK] = _nearest(some, points, near, radius)
        return pa.array(self.codes, pa.string()).take(pa.array(found, mask=found < 0))


def _nearest(
    places: NDArray[np.int64], points: NDArray[np.int64], near: NDArray[np.int64], radius: int
) -> NDArray[np.int64]:
    """The nearest of some points, by whole numbers; -1 where none is within the radius."""
    best = np.full(len(places), -1)
    least = np.full(len(places), np.iinfo(np.int64).max)
    for one in near.T:
        rows = np.flatnonzero(one < len(points))
        away = np.abs(places[rows] - points[one[rows]])
        close = (away <= radius).all(axis=1)
        rows, away = rows[close], away[close]
        distance = (away * away).sum(axis=1)
        which = one[rows]
        better = (distance <= radius * radius) & (
            (distance < least[rows]) | ((distance == least[rows]) & (which < best[rows]))
        )
        rows = rows[better]
        best[rows], least[rows] = which[better], distance[better]
    return best
