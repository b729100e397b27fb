"""The cheapest moves from one distribution to another, with values on a line and beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def cheapest_moves(
    owner: NDArray[np.int64],
    value: NDArray[np.int64],
    share: NDArray[np.float64],
    overall: NDArray[np.float64],
    owners: int,
    beside: int,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Shares times ways, ``(owners,)``; ways on the line are relative to its length, others 1.

    `owner`, `value`, `share`: of each entry, by owners. `overall`: where shares have to come to,
    ``(v,)``; its first `beside` values are no points of the line.

    Whatever leaves the line, or comes to it, costs 1 a unit, wherever it does; over each step of
    the line goes the rest, D less what has left before, R. All that leaves is known, and R only
    ever ascends. So R is above some height from one step on, the one that agrees best with where D
    is above it; the heights of all steps, which are some of those of D, are found by halves.
    """
    v = len(overall)
    steps = max(v - beside - 1, 0)
    total = np.zeros(owners)
    over = np.empty(v)
    surplus, height = np.empty(steps), np.empty(steps)
    low, high = np.empty(steps, dtype=np.int64), np.empty(steps, dtype=np.int64)
    entry = 0
    for i in range(owners):
        for at in range(v):
            over[at] = -overall[at]
        while entry < len(owner) and owner[entry] == i:
            over[value[entry]] += share[entry]
            entry += 1
        onto = 0.0  # what comes to the line on the whole
        far = 0.0
        for at in range(beside):
            onto += over[at]
            far += abs(over[at])
        total[i] = (far + abs(onto)) / 2
        goes = 0.0
        for step in range(steps):
            goes += over[beside + step] if onto < 0 else -over[beside + step]
            surplus[step] = goes
            height[step] = min(max(goes, 0.0), abs(onto))
            low[step], high[step] = 0, steps - 1
        height.sort()
        found = steps < 1
        while not found:
            found = True
            first = 0
            while first < steps:
                last = first + 1
                while last < steps and low[last] == low[first] and high[last] == high[first]:
                    last += 1
                if low[first] == high[first]:
                    first = last
                    continue
                found = False
                at = (low[first] + high[first]) // 2
                turn, best, count = last, 0, 0
                for step in range(last - 1, first - 1, -1):
                    count += 1 if surplus[step] > height[at] else -1
                    if count > best:
                        turn, best = step, count
                high[first:turn] = at
                low[turn:last] = at + 1
                first = last
        moved = 0.0
        for step in range(steps):
            moved += abs(surplus[step] - height[low[step]])
        if steps:
            total[i] += moved / steps
    return total
