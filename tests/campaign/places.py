"""Where values lie in the intervals that are published for them: anywhere, over many cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from campaign.cases import Case
from campaign.oracle import apart
from campaign.programme import Floats
from campaign.world import Shown, World

_TINY = 1e-6
#: Fewer than these tell nothing.
_FEWEST = 150

#: Width of an interval, place of the value in it, and whether it is a count of level 1.
Place = tuple[float, float, bool]


def places(case: Case, tables: Sequence[Shown]) -> list[Place]:
    """The places of values in intervals that nothing but a draw can have made so narrow.

    Whatever place was drawn, such an interval lies within what the table and all other intervals
    tell; of cells that move together one is looked at, for they share a draw. So to look at it, or
    not, says nothing of its place.
    """
    found: list[Place] = []
    small = case.rule and not case.summed and "level" not in dict(case.rule)
    for own in apart([table for table in tables if table.bounds]):
        world = World(case, own)
        for row, width in _narrow(world):
            place = float(world.true[row] - world.lower[row])
            found.append((width, place, bool(small)))
    return found


def _narrow(world: World) -> Iterator[tuple[int, float]]:
    lower, upper = world.lower.copy(), world.upper.copy()
    # how far a changed value is off follows the law of the change
    changed = {
        row
        for table, own in zip(world.tables, world.of, strict=True)
        if table.noisy
        for row in own.values()
    }
    for rows in _together(world):
        row = rows[0]
        if not changed.isdisjoint(rows.tolist()):
            continue
        width = float(upper[row] - lower[row])
        if world.shown[row] or not np.isfinite(width) or width <= 0:
            continue
        low, high = lower.copy(), upper.copy()
        low[rows], high[rows] = -np.inf, np.inf
        floor = world.programme.floor
        world.programme.within(low, high, floor)
        goal = world.rows[row]
        ends = [sign * world.programme.smallest(sign * goal).value for sign in (1, -1)]
        world.programme.within(lower, upper, floor)
        if ends[0] <= world.true[row] - width and world.true[row] + width <= ends[1]:
            yield row, width


def _together(world: World) -> list[NDArray[np.int64]]:
    """Hidden cells, those together of which one follows from another."""
    hidden = np.flatnonzero(~world.shown)
    shown = world.rows[world.shown]
    loose: Floats = null_space(shown) if len(shown) else np.eye(world.rows.shape[1])
    ways = world.rows[hidden] @ loose
    left = [i for i, way in enumerate(ways) if np.abs(way).max(initial=0) > _TINY]
    found: list[NDArray[np.int64]] = []
    while left:
        first = ways[left[0]]
        size = np.linalg.norm(first) * np.linalg.norm(ways[left], axis=1)
        alike = np.abs(np.abs(ways[left] @ first) - size) < _TINY * size
        found.append(hidden[[i for i, own in zip(left, alike, strict=True) if own]])
        left = [i for i, own in zip(left, alike, strict=True) if not own]
    return found


def places_tell(found: Sequence[Sequence[float]]) -> tuple[bool, str]:
    """Whether intervals point at values: by their middle, or by ends that are drawn less often."""
    told = f"{len(found):,} values in narrow intervals"
    if len(found) < _FEWEST:
        return False, told
    width, place, count = np.array(found, dtype=float).T
    share = place / width - 0.5
    off = abs(share.mean()) / (share.std() + 1e-9) * len(share) ** 0.5
    # of a value that lies anywhere but in the outer quarters it would be 1/48
    spread = share.var() * 48
    width, place = width[count > 0], place[count > 0]
    each = 1 / (width - 1)  # of the places from 1 on
    sure = (each * (1 - each)).sum() ** 0.5 + 1e-9
    ends = [(int((place == at).sum()), each.sum()) for at in (1, width - 1)]
    told += f": mean place {share.mean() + 0.5:.3f}, spread {spread:.2f}, at the ends "
    told += " and ".join(f"{seen} where {expected:.0f} are expected" for seen, expected in ends)
    rare = any(abs(seen - expected) > 5 * sure for seen, expected in ends)
    return off > 5 or spread < 0.75 or rare, told
