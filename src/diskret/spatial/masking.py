"""Points moved or put together, and among how many places each one hides."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError, ProtectionError
from diskret.io import to_arrow
from diskret.io.columns import column, numbers
from diskret.io.returned import returned
from diskret.keys import SecretKeys, keyed_numbers
from diskret.spatial.grid import EUROPE, Grid
from diskret.spatial.mask_matching import possible_together
from diskret.spatial.metres import PER_METRE, millimetres
from diskret.spatial.systems import transformed
from diskret.texts import words_in
from diskret.texts.numbers import Count

#: How often a ring is widened to hide among enough places: each time twice as wide.
_WIDENINGS = 4
#: So many times the places that a point has to hide among are wanted in a ring, if they are there.
_ROOMS = (2, 1)
#: Whole metres are what is returned, so a ring is so much wider in millimetres.
_ROUNDED = 708


@dataclass(frozen=True)
class Ring:
    """Points move to anywhere in a ring around them, each part of it equally likely.

    Parameters
    ----------
    inner, outer
        Metres, 0 ≤ inner < outer. ``inner=0``: a disc, in which a point may stay where it was.
    """

    inner: float
    outer: float

    def __post_init__(self) -> None:
        if not 0 <= self.inner < self.outer < 1e7:
            raise InputError(
                f"inner={self.inner!r} and outer={self.outer!r} make no ring; give metres with "
                "0 <= inner < outer"
            )


@dataclass(frozen=True, eq=False)
class Masked:
    """Points that may stand for others, and what they hide. Confidential but for `frame`.

    Parameters
    ----------
    frame
        The records with other coordinates, of the kind that came in; nothing stands there for
        points that hide among too few.
    places
        Shape ``(records,)``: among how many places each shown point hides; 0 where none is shown.
        Who knows all places and the method, but not the keys, and looks at one point is sure of
        its place with no more than one in so many.
    together
        Shape ``(records,)``: from how many places it may have come, at least, if all shown points
        are fitted to different places at once. Of many places only some are looked at.
    hidden
        How many records have no coordinates now.
    moved
        Shape ``(records,)``: by how many metres.
    """

    frame: Any
    places: NDArray[np.float64]
    together: NDArray[np.int64]
    hidden: int
    moved: NDArray[np.float64] = field(repr=False)

    def summary(self, language: str = "en") -> str:
        """How many are hidden, among how many places the others hide, and how far they moved."""
        words = words_in(language, "spatial")
        shown = self.places > 0
        least = int(self.places[shown].min(initial=np.inf)) if shown.any() else 0
        middle = float(np.median(self.places[shown])) if shown.any() else 0.0
        far = float(np.median(self.moved[shown])) if shown.any() else 0.0
        return words.said(
            "masked", number=int(shown.sum()), least=least, middle=f"{middle:.0f}", far=f"{far:.0f}"
        ) + (" " + words.said("masked hidden", number=self.hidden) if self.hidden else "")

    def claim(self, language: str = "en") -> tuple[str, ...]:
        """What is claimed and what is not, in sentences, ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        return tuple(words[f"masking.{one}"] for one in ("sure", "together", "again", "others"))


def mask(
    records: Any,
    how: Ring | Grid,
    *,
    population: Any = None,
    least: int = 1,
    few: str = "hide",
    x: str = "x",
    y: str = "y",
    crs: int = EUROPE,
    keys: SecretKeys | str | PathLike[str] | None = None,
) -> Masked:
    """Move points, or put them together, so that each may stand for others.

    All records at one place move together, since the mean of several moves would tell the place.
    How a place moves follows from it, the width of its ring and the office's keys, so masking again
    gives the same points. Where more places are known than before a ring may be narrower; then the
    place moves anew.

    Parameters
    ----------
    records
        Any frame that [`tabulate`][diskret.tabulate] takes into memory, or the path of a file.
    how
        A [`Ring`][diskret.spatial.Ring] (donut masking, or a disc), or a
        [`Grid`][diskret.spatial.Grid] to whose middles of cells points are put.
    population
        A frame with the same columns `x` and `y`: all places where somebody may live. None: those
        of the records, which is right only where these are everybody.
    least
        Among how many places each shown point must hide, ≥ 1. Rings are widened where people live
        far apart: that of a place becomes twice, up to 16 times as wide until twice as many
        places are in it, or at least as many.
    few
        What becomes of points that hide among fewer all the same: ``"hide"`` (no coordinates) or
        ``"refuse"``.
    x, y
        Columns of the coordinates: east or longitude, and north or latitude.
    crs
        EPSG number of their reference system; degrees and others need the extra ``geo``. With a
        grid in metres: distances are those of ETRS89-LAEA, or of the grid.
    keys
        The office's keys; see [`SecretKeys`][diskret.SecretKeys].

    Returns
    -------
    Masked
        Records with other coordinates, whole metres (or degrees with six decimals).

    Raises
    ------
    InputError
        A coordinate is missing or none, an option is unknown, or a record's place is none of the
        population's.
    ProtectionError
        ``few="refuse"``, and a point hides among too few.

    References
    ----------
    K. H. Hampton et al. (2010), Mapping health data: improved privacy protection with donut method
    geomasking, American Journal of Epidemiology 172. W. B. Allshouse et al. (2010), Geomasking
    sensitive health data and privacy protection: an evaluation using an E911 database, Geocarto
    International 25 (k as it is counted among places).

    Examples
    --------
    >>> import diskret as dk
    >>> land = dk.datasets.country(2_000)
    >>> keys = dk.SecretKeys(bytes(range(32)))
    >>> masked = mask(land.persons, Ring(100, 500), least=5, keys=keys)
    >>> bool((masked.places[masked.places > 0] >= 5).all())
    True
    """
    if few not in ("hide", "refuse"):
        raise InputError(f"few must be 'hide' or 'refuse', not {few!r}")
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:  # pyright: ignore
        raise InputError(f"least must be a whole number from 1 upwards, not {least!r}")
    system = how.crs if isinstance(how, Grid) else EUROPE if crs == 4326 else crs
    table, kind = to_arrow(records, numbers=(x, y))
    given = _metres(table, x, y, crs, system)
    everybody = given
    if population is not None:
        everybody = _metres(to_arrow(population, numbers=(x, y))[0], x, y, crs, system)
    places, which = np.unique(np.concatenate([everybody, given]), axis=0, return_inverse=True)
    own = which.reshape(-1)[len(everybody) :]
    _check_population(which.reshape(-1)[: len(everybody)], own, len(places))
    used = np.zeros(len(places), bool)
    used[own] = True
    if isinstance(how, Grid):
        new, hides = _snapped(places, how)
        seen = used & (hides >= least)
        together = hides.astype(np.int64)
    else:
        new, hides, level = _thrown(places, how, least, SecretKeys.load(keys))
        seen = used & (hides >= least)
        together = _together(places, new, how, level, seen, least)
        if (few_left := seen & (together < least)).any():
            seen &= ~few_left
            together = _together(places, new, how, level, seen, least)
    short = ~seen
    if few == "refuse" and short[own].any():
        number = Count(short[own].sum())
        raise ProtectionError(
            f"{number} {number:point hides|points hide} among fewer than {least} places, the "
            f"first in row {int(np.flatnonzero(short[own])[0]) + 1}; widen the ring or the cells, "
            f"or leave {number:it|them} out: few='hide'"
        )
    moved = np.hypot(*(new - places).T / PER_METRE)
    shown = np.where(short, 0.0, hides)[own]
    east, north = new[own].T / PER_METRE
    if system != crs:
        east, north = (np.round(one, 6) for one in transformed(east, north, system, crs))
    for name, values in ((x, east), (y, north)):
        at = table.column_names.index(name)
        table = table.set_column(at, name, pa.array(values, mask=shown == 0))
    frame = returned(records, kind, table, {x, y})
    return Masked(
        frame, shown, np.where(short, 0, together)[own], int((shown == 0).sum()), moved[own]
    )


def _metres(table: pa.Table, x: str, y: str, crs: int, system: int) -> NDArray[np.int64]:
    """Shape (records, 2): east and north in millimetres."""
    east, north = (numbers(column(table, one), one) for one in (x, y))
    if crs != system:
        wrong = np.flatnonzero(~(np.isfinite(east) & np.isfinite(north)))
        if len(wrong):
            number = Count(len(wrong))
            raise InputError(
                f"{number} {number:point lies|points lie} nowhere, the first in row "
                f"{int(wrong[0]) + 1}; correct these rows or leave them out"
            )
        east, north = transformed(east, north, crs, system)
    return np.stack([millimetres(east, x), millimetres(north, y)], axis=1)


def _check_population(everybody: NDArray[np.intp], own: NDArray[np.intp], places: int) -> None:
    known = np.zeros(places, bool)
    known[everybody] = True
    wrong = np.flatnonzero(~known[own])
    if len(wrong):
        number = Count(len(wrong))
        raise InputError(
            f"{number} {number:record lies|records lie} at places that are none of the "
            f"population's, the first in row {int(wrong[0]) + 1}; give all places where somebody "
            "may live: population="
        )


def _snapped(
    places: NDArray[np.int64], grid: Grid
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The middles of cells, and how many places there are in each."""
    width = grid.size * PER_METRE
    corner = places // width
    _, which, number = np.unique(corner, axis=0, return_inverse=True, return_counts=True)
    return corner * width + width // 2, number[which.reshape(-1)].astype(np.float64)


def _thrown(
    places: NDArray[np.int64], ring: Ring, least: int, keys: SecretKeys
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Where places move to, among how many each of them hides then, and how wide rings are."""
    level = _levels(places, ring, least)
    inner, outer = (one * PER_METRE * 2.0**level for one in (ring.inner, ring.outer))
    purpose = f"masking {ring.inner:.17g} {ring.outer:.17g} {least}"  # 100 metres or 100.0
    name = keyed_numbers(keys, f"{purpose}: east", places[:, 0].astype(np.uint64))
    name ^= places[:, 1].astype(np.uint64)
    angle, share = np.zeros((2, len(places)))
    for width in np.unique(level).tolist():
        # with one direction for two widths, where more places are known, both would tell the place
        own = level == width
        angle[own], share[own] = (
            keyed_numbers(keys, f"{purpose}, widened {width} times: {one}", name[own]) / 2.0**64
            for one in ("angle", "far")
        )
    far = np.sqrt(inner**2 + share * (outer**2 - inner**2))
    turned = 2 * np.pi * angle
    step = np.stack([far * np.cos(turned), far * np.sin(turned)], axis=1)
    new = np.rint((places + step) / PER_METRE).astype(np.int64) * PER_METRE
    return new, _hiding(places, level, ring, new), level


def _levels(places: NDArray[np.int64], ring: Ring, least: int) -> NDArray[np.int64]:
    """How often the ring of each place is widened; it follows from places that everybody knows."""
    from scipy.spatial import KDTree

    level = np.zeros(len(places), np.int64)
    if least < 2:
        return level
    tree = KDTree(places.astype(np.float64))
    left = np.arange(len(places))
    around = np.zeros((len(places), _WIDENINGS + 1), np.int64)
    for times in range(_WIDENINGS + 1):
        around[left, times] = _between(tree, places[left], ring, times)
        left = left[around[left, times] < _ROOMS[0] * least]
        if not len(left):
            break
    for room in reversed(_ROOMS):  # what is wanted goes before what is enough
        enough = around >= room * least
        level = np.where(enough.any(axis=1), enough.argmax(axis=1), level)
    return level


def _between(tree: Any, points: NDArray[np.int64], ring: Ring, level: int) -> NDArray[np.int64]:
    """How many places of a tree lie in the ring around each point."""
    inner, outer = (one * PER_METRE * 2**level for one in (ring.inner, ring.outer))
    at = points.astype(np.float64)
    within = tree.query_ball_point(at, outer + _ROUNDED, workers=-1, return_length=True)
    if inner > _ROUNDED:
        within = within - tree.query_ball_point(
            at, np.nextafter(inner - _ROUNDED, 0), workers=-1, return_length=True
        )
    return np.asarray(within, np.int64)


def _together(
    places: NDArray[np.int64],
    new: NDArray[np.int64],
    ring: Ring,
    level: NDArray[np.int64],
    seen: NDArray[np.bool_],
    least: int,
) -> NDArray[np.int64]:
    """From how many places each shown point may have come, if all are fitted at once."""
    inner, outer = (one * PER_METRE for one in (ring.inner, ring.outer))
    levels = [
        (np.flatnonzero(level == at), inner * 2**at - _ROUNDED, outer * 2**at + _ROUNDED)
        for at in np.unique(level).tolist()
    ]
    return possible_together(places.astype(np.float64), levels, new.astype(np.float64), seen, least)


def _hiding(
    places: NDArray[np.int64], level: NDArray[np.int64], ring: Ring, new: NDArray[np.int64]
) -> NDArray[np.float64]:
    """All that is likely of the place a new point came from, as a number of the likeliest ones.

    A place is as likely as its ring is small, if the point lies in it.
    """
    from scipy.spatial import KDTree

    total, likeliest = np.zeros(len(places)), np.zeros(len(places))
    for times in np.unique(level).tolist():
        tree = KDTree(places[level == times].astype(np.float64))
        number = _between(tree, new, ring, times)
        likely = 4.0**-times
        total += number * likely
        likeliest = np.maximum(likeliest, np.where(number > 0, likely, 0.0))
    return total / likeliest
