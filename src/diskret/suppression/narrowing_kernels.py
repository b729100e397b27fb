"""Bounds of movements, narrowed by one equation after the other; compiled: see `narrowing`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel

#: Bounds are whole numbers; what is nearer than this is equal.
_NEAR = 0.5
#: The share of its width by which an interval has to become narrower to be worth another look.
_WORTH = 1e-3


class Rows(NamedTuple):
    """Equations, row by row and column by column, as compressed sparse matrices."""

    start: NDArray[Any]
    member: NDArray[Any]
    weight: NDArray[np.float64]
    column_start: NDArray[Any]
    row: NDArray[Any]


class Bounds(NamedTuple):
    """How far groups can move, ``(g,)``, and what was changed last, to take it back.

    `group`, `low`, `high`: groups that were changed, and the bounds that they had.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    group: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@kernel
def _sums(equation: int, rows: Any, bounds: Any) -> Any:
    """Least and most of a sum, and how many of its terms have no end."""
    least, most, endless_least, endless_most = 0.0, 0.0, 0, 0
    for e in range(rows.start[equation], rows.start[equation + 1]):
        j, weight = rows.member[e], rows.weight[e]
        low, high = weight * bounds.lower[j], weight * bounds.upper[j]
        if weight < 0:
            low, high = high, low
        if low == -np.inf:
            endless_least += 1
        else:
            least += low
        if high == np.inf:
            endless_most += 1
        else:
            most += high
    return least, most, endless_least, endless_most


@kernel
def narrow(
    changed: Any, rows: Any, bounds: Any, used: int, queue: Any, queued: Any, most: int
) -> Any:
    """Narrow bounds by single equations, beginning with those of some groups.

    `changed`: these groups. `used`: how many changes of bounds are noted already. `queue`,
    `queued`: room for the equations to look at. `most`: entries of equations that are looked at.

    Gives whether no movement is possible, how many changes are noted, and entries looked at.
    """
    queued[:] = False
    first, count, seen = 0, 0, 0
    for g in changed:
        for q in range(rows.column_start[g], rows.column_start[g + 1]):
            if not queued[rows.row[q]]:
                queued[rows.row[q]] = True
                queue[count] = rows.row[q]
                count += 1
    while count > 0 and seen < most:
        equation = queue[first]
        first = (first + 1) % len(queue)
        count -= 1
        queued[equation] = False
        size = rows.start[equation + 1] - rows.start[equation]
        seen += 2 * size
        least, largest, endless_least, endless_most = _sums(equation, rows, bounds)
        if endless_least == 0 and least > _NEAR:
            return True, used, seen
        if endless_most == 0 and largest < -_NEAR:
            return True, used, seen
        if endless_least > 1 and endless_most > 1:
            continue
        for e in range(rows.start[equation], rows.start[equation + 1]):
            j, weight = rows.member[e], rows.weight[e]
            low, high = weight * bounds.lower[j], weight * bounds.upper[j]
            if weight < 0:
                low, high = high, low
            # the other terms of the sum lie between these, so this one between their opposites
            new_low, new_high = low, high
            if endless_least == 0:
                new_high = min(new_high, low - least)
            elif endless_least == 1 and low == -np.inf:
                new_high = min(new_high, -least)
            if endless_most == 0:
                new_low = max(new_low, high - largest)
            elif endless_most == 1 and high == np.inf:
                new_low = max(new_low, -largest)
            if new_low > new_high + _NEAR:
                return True, used, seen
            enough = _WORTH * (high - low) if high < np.inf and low > -np.inf else 0.0
            if high - new_high <= enough + _NEAR and new_low - low <= enough + _NEAR:
                continue
            if used == len(bounds.group):
                return False, used, seen
            bounds.group[used] = j
            bounds.low[used], bounds.high[used] = bounds.lower[j], bounds.upper[j]
            used += 1
            if weight < 0:
                new_low, new_high = new_high, new_low
            bounds.lower[j], bounds.upper[j] = new_low / weight, new_high / weight
            for q in range(rows.column_start[j], rows.column_start[j + 1]):
                other = rows.row[q]
                seen += 1
                if not queued[other]:
                    queued[other] = True
                    queue[(first + count) % len(queue)] = other
                    count += 1
            seen += size
            least, largest, endless_least, endless_most = _sums(equation, rows, bounds)
    return False, used, seen


@kernel
def take_back(bounds: Any, used: int, until: int) -> int:
    """Undo the last changes of bounds, until so many are left."""
    while used > until:
        used -= 1
        j = bounds.group[used]
        bounds.lower[j], bounds.upper[j] = bounds.low[used], bounds.high[used]
    return used


@kernel
def first_impossible(
    groups: Any, needs: Any, rows: Any, bounds: Any, used: int, queue: Any, queued: Any, most: int
) -> Any:
    """The first of some groups that cannot move as far as required, as far as equations tell.

    `needs`: how far each has to move down, up and altogether, ``(3, s)``; the others as in
    `narrow`. Gives its place among the groups, or -1, and entries looked at.
    """
    seen = 0
    for place in range(len(groups)):
        group = groups[place]
        low, high = bounds.lower[group], bounds.upper[group]
        below, above = -needs[0, place], needs[1, place]
        if high - low < needs[2, place] or high < above or low > below:
            return place, seen
        for upwards in (True, False):
            if (above if upwards else -below) <= 0 or used == len(bounds.group):
                continue
            bounds.group[used], bounds.low[used], bounds.high[used] = group, low, high
            if upwards:
                bounds.lower[group] = max(low, above)
            else:
                bounds.upper[group] = min(high, below)
            broken, now, looked = narrow(
                groups[place : place + 1], rows, bounds, used + 1, queue, queued, most
            )
            seen += looked
            take_back(bounds, now, used)
            if broken:
                return place, seen
    return -1, seen
