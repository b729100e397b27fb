"""What an attacker knows of each cell before looking at any equation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack.all_cells import all_cells
from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text
from diskret.io.placed import placed
from diskret.tables import Publication, Published
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack.attacker import Attacker

_Side = Literal["lower", "upper"]


def attacker_bounds(
    published: Published, attacker: Attacker, original: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds that an attacker puts on every cell, suppressed or not, from outside knowledge.

    Values are multiples of 10**-decimals, so bounds are rounded inwards to such multiples.

    original: original values in scaled integers, shape of the table; needed (and used) only for
        ``attacker.relative`` and for bounds with ``attacker.mistaken="drop"``.

    Returns lower and upper bounds: scaled units, shape of the table, whole float64; −inf and inf
    where nothing is known.
    """
    lower = np.full(published.shape, -np.inf)
    upper = np.full(published.shape, np.inf)
    if published.nonnegative or published.frequency:
        lower[...] = 0
    if attacker.zeros_known and published.frequency:
        lower[published.suppressed | (published.value > 0)] = 1
    if attacker.relative is not None:
        low, high = _relative(attacker.relative, original)
        lower, upper = np.maximum(lower, low), np.minimum(upper, high)
    if attacker.lower is not None:
        known = _inwards(published, attacker.lower, "lower")
        lower = np.fmax(lower, _believed(known, attacker, original, np.greater))
    if attacker.upper is not None:
        known = _inwards(published, attacker.upper, "upper")
        upper = np.fmin(upper, _believed(known, attacker, original, np.less))
    crossed = np.flatnonzero(lower > upper)
    if len(crossed):
        at = np.unravel_index(crossed[0], published.shape)
        codes = [d.hierarchy.codes[i] for d, i in zip(published.dimensions, at, strict=True)]
        number = Count(len(crossed))
        raise InputError(
            f"the attacker's bounds exclude each other in {number} {number:cell|cells}, e.g. in "
            f"{codes}: lower {lower[at]:g}, upper {upper[at]:g} (in units of "
            f"10**-{published.decimals}); give a lower bound that is not above the upper one"
        )
    return lower, upper


def unknown_bounds(
    publication: Publication,
    known: Equations,
    attacker: Attacker,
    original: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds of the unknown cells, int64 with ``-UNKNOWN`` and ``UNKNOWN``.

    They come from outside knowledge, from published rounding and from published intervals; and what
    no record can be in is 0, whatever its intervals say.
    Bounds that an attacker is assumed to know a priori are about tables that are published now.
    `original` holds the values of all tables one after the other, or is None.
    """
    lows: list[NDArray[np.int64]] = []
    highs: list[NDArray[np.int64]] = []
    for table, start in zip(publication.tables, publication.starts.tolist(), strict=False):
        own = None
        if original is not None:
            own = original.ravel()[start : start + table.value.size].reshape(table.shape)
        now = start < publication.starts[len(publication.own)]
        about = attacker.about(table.name) if now else attacker.about_earlier()
        if table.of_changed is not None:  # zeros of changed values are not told apart
            about = replace(about, zeros_known=False)
        lower, upper = attacker_bounds(table, about, own)
        low, high = _public_bounds(table)
        lows.append(np.maximum(_whole(lower), low).ravel())
        highs.append(np.minimum(_whole(upper), high).ravel())
    seen = known.cell[~known.latent]
    public_low, public_high = np.concatenate(lows), np.concatenate(highs)
    vacant = all_cells(publication).vacant
    public_low[vacant] = public_high[vacant] = 0
    return (
        np.append(public_low[seen], np.where(known.free, -UNKNOWN, 0)),
        np.append(public_high[seen], np.full(len(known.free), UNKNOWN)),
    )


def _whole(bounds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Bounds as int64; none, and what no value reaches, is beyond `LIMIT`."""
    return np.clip(bounds, -UNKNOWN, UNKNOWN).astype(np.int64)


def _public_bounds(table: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What rounding and published intervals say: half a unit around each rounded value."""
    low = np.where(table.suppressed, -UNKNOWN, table.value - table.half_unit)
    high = np.where(table.suppressed, UNKNOWN, table.value + table.half_unit)
    if table.lower is not None:
        low[table.suppressed] = np.maximum(table.lower[table.suppressed], -UNKNOWN)
    if table.upper is not None:
        high[table.suppressed] = np.minimum(table.upper[table.suppressed], UNKNOWN)
    return low, high


def _relative(
    percent: float, original: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if original is None:
        raise InputError(
            "an attacker who knows every value up to a percentage (relative=) can be tried only "
            "by the office: pass the original values, or state the bounds as lower= and upper="
        )
    share = Fraction(str(percent)) / 100
    # |value| * share, rounded down and exact
    exact = np.abs(original).astype(object)
    radius = np.minimum(exact * share.numerator // share.denominator, UNKNOWN).astype(np.int64)
    return np.maximum(original - radius, -UNKNOWN), np.minimum(original + radius, UNKNOWN)


def _believed(
    known: NDArray[np.float64],
    attacker: Attacker,
    original: NDArray[np.int64] | None,
    excludes: np.ufunc,
) -> NDArray[np.float64]:
    """Bounds without those that exclude the true value, if these are to be dropped."""
    if attacker.mistaken == "refuse":
        return known
    if original is None:
        raise InputError(
            "bounds that exclude the true value are dropped (mistaken='drop'), and only the office "
            "knows which: pass the original values, or use mistaken='refuse'"
        )
    return np.where(excludes(known, original), np.nan, known)


def _inwards(published: Published, bounds: Any, side: _Side) -> NDArray[np.float64]:
    """Bounds in scaled units, rounded to the next possible value; NaN where nothing is known."""
    if callable(bounds):
        known = np.asarray(bounds(published), dtype=np.float64)
        if known.shape != published.shape:
            raise InputError(
                f"the attacker's {side} bounds have shape {known.shape}, the table has "
                f"{published.shape}"
            )
    else:
        known = _from_frame(published, bounds, side)
    scaled = known * 10.0**published.decimals
    near = np.rint(scaled)
    with np.errstate(invalid="ignore"):
        # as far as the last digits of a float64 can have come from binary fractions
        written_so = np.abs(scaled - near) <= np.maximum(1e-9, 4 * np.spacing(np.abs(near)))
    return np.where(written_so, near, np.ceil(scaled) if side == "lower" else np.floor(scaled))


def _from_frame(published: Published, frame: Any, side: _Side) -> NDArray[np.float64]:
    with placed(frame):
        return _placed_bounds(published, to_arrow(frame, (side,))[0], side)


def _placed_bounds(published: Published, table: pa.Table, side: _Side) -> NDArray[np.float64]:
    needed = [*(d.name for d in published.dimensions), side]
    missing = [name for name in needed if name not in table.column_names]
    if missing:
        raise InputError(
            f"the attacker's {side} bounds need the columns {', '.join(map(repr, needed))}; "
            f"missing: {', '.join(map(repr, missing))}"
        )
    at: list[NDArray[np.int64]] = []
    for dimension in published.dimensions:
        codes = code_text(table.column(dimension.name), dimension.name).to_pylist()
        unknown = [code for code in codes if code not in dimension.hierarchy.position]
        if unknown:
            number = Count(len(unknown))
            raise InputError(
                f"the attacker's {side} bounds name {number} {number:code|codes} of "
                f"{dimension.name!r} that the table does not have, e.g. "
                f"{', '.join(map(repr, unknown[:5]))}"
            )
        at.append(np.array([dimension.hierarchy.position[code] for code in codes], np.int64))
    known = np.full(published.shape, np.nan)
    values = table.column(side).cast(pa.float64()).to_numpy()
    if side == "lower":
        np.fmax.at(known, tuple(at), values)
    else:
        np.fmin.at(known, tuple(at), values)
    return known
