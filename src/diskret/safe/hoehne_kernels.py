"""The steps of Höhne's heuristic, combination by combination."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel

#: More than any cell can hold.
_FAR = 1 << 40


@kernel
def alone(
    order: NDArray[np.int64],
    index: NDArray[np.int32],
    counted: NDArray[np.int32],
    unit: NDArray[np.int64],
    count: NDArray[np.int64],
    minimum: int,
    high: NDArray[np.bool_],
    limit: NDArray[np.int32],
    off: NDArray[np.int32],
    y: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Give each combination in turn the safe frequency that lowers Σ d² most, within the limits.

    `order`: combinations in the order in which they are treated. `index`, `counted`, `unit`: cells
    of combinations, and what a record adds to them, as in `Cells`. `count`: original frequencies.
    `minimum`: the smallest frequency. `high`: which combinations prefer the larger of two equally
    good frequencies. `limit`: largest deviation of each cell, either way. `off`, `y`: deviations
    and frequencies, brought up to date. Frequencies that no safe one can replace within the limits
    stay as they are.
    """
    for j in order:
        s1, s2, up, down = np.int64(0), np.int64(0), np.int64(_FAR), np.int64(_FAR)
        for t in range(len(unit)):
            c, w = index[j, t], counted[j, unit[t]]
            if w == 1:
                s1 += off[c]
                s2 += 1
                up = min(up, np.int64(limit[c] - off[c]))
                down = min(down, np.int64(limit[c] + off[c]))
            elif w > 1:
                s1 += w * np.int64(off[c])
                s2 += w * np.int64(w)
                up = min(up, np.int64(limit[c] - off[c]) // w)
                down = min(down, np.int64(limit[c] + off[c]) // w)
            if up == 0 and down == 0:
                break
        now = y[j]
        safe = now == 0 or now >= minimum
        best, chosen = np.int64(0), now
        # 0, then from the minimum to a little above the original frequency
        for value in range(minimum - 1, count[j] + minimum + 1):
            new = np.int64(value) if value >= minimum else np.int64(0)
            step = new - now
            if step > up or -step > down:
                continue
            change = 2 * step * s1 + step * step * s2
            if change < best or (not safe and (chosen == now or (change == best and high[j]))):
                best, chosen = change, new
        if chosen != now:
            y[j] = chosen
            for t in range(len(unit)):
                off[index[j, t]] += counted[j, unit[t]] * (chosen - now)


@kernel
def in_pairs(
    member: NDArray[np.int64],
    first: NDArray[np.int64],
    index: NDArray[np.int32],
    counted: NDArray[np.int32],
    unit: NDArray[np.int64],
    minimum: int,
    shift: int,
    tries: int,
    few: int,
    limit: NDArray[np.int32],
    off: NDArray[np.int32],
    y: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Let combinations of a group hand over records, so that more frequencies are safe.

    `member`, `first`: combinations of group g: ``member[first[g]:first[g + 1]]``. `shift`: partners
    that are passed over, counted from the next in the group on. `tries`, `few`: partners that are
    tried for a combination whose frequency is not safe, and for others. `index`, `counted`, `unit`,
    `minimum`, `limit`, `off`, `y`: as in `alone`.
    """
    for g in range(len(first) - 1):
        size = first[g + 1] - first[g]
        if size == 1:
            continue
        for place in range(size):
            j = member[first[g] + place]
            bad = 0 < y[j] < minimum
            least, best, partner, given = 0, np.int64(0), np.int64(-1), np.int64(0)
            for i in range(min(tries if bad else few, size - 1)):
                distance = 1 + (shift + i) % (size - 1)
                k = member[first[g] + (place + distance) % size]
                s1, s2, up, down = np.int64(0), np.int64(0), np.int64(_FAR), np.int64(_FAR)
                for t in range(len(unit)):
                    c, e = index[j, t], index[k, t]
                    v, w = np.int64(counted[j, unit[t]]), np.int64(counted[k, unit[t]])
                    if c == e:
                        v -= w
                        w = np.int64(0)
                    if v == 0 and w == 0:
                        continue
                    s1 += v * off[c] - w * off[e]
                    s2 += v * v + w * w
                    above, below = np.int64(limit[c] - off[c]), np.int64(limit[c] + off[c])
                    if v < 0:
                        above, below = below, above
                    if v != 0:
                        up = min(up, above if abs(v) == 1 else above // abs(v))
                        down = min(down, below if abs(v) == 1 else below // abs(v))
                    above, below = np.int64(limit[e] + off[e]), np.int64(limit[e] - off[e])
                    if w != 0:
                        up = min(up, above if w == 1 else above // w)
                        down = min(down, below if w == 1 else below // w)
                    if up == 0 and down == 0:
                        break
                up = min(up, y[k], np.int64(2 * minimum))
                down = min(down, y[j], np.int64(2 * minimum))
                before = int(bad) + int(0 < y[k] < minimum)
                for step in range(-down, up + 1):
                    unsafe = int(0 < y[j] + step < minimum) + int(0 < y[k] - step < minimum)
                    change = 2 * step * s1 + step * step * s2
                    fewer = unsafe - before
                    if fewer < least or (fewer == least and change < best):
                        least, best, partner, given = fewer, change, k, np.int64(step)
            if partner >= 0:
                y[j] += given
                y[partner] -= given
                for t in range(len(unit)):
                    off[index[j, t]] += counted[j, unit[t]] * given
                    off[index[partner, t]] -= counted[partner, unit[t]] * given
