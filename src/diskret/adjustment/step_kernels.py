"""Loops over cells and what lies above them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def choose_directions(
    order: NDArray[np.int64],
    start: NDArray[np.int64],
    above: NDArray[np.int64],
    rise: NDArray[np.int64],
    fall: NDArray[np.int64],
    cost: NDArray[np.float64],
    upper: NDArray[np.int64],
    lower: NDArray[np.int64],
    short: float,
    sweeps: int,
    way: NDArray[np.int8],
    moved: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Turn one cell after the other to where all cells above it move least, until none turns.

    `above[start[i]:start[i + 1]]` are the cells that cell ``i`` of `order` moves, itself included;
    `rise` and `fall` say how far, −1 where it must not. `upper` and `lower` are what a cell must
    move, −1 where it need not; what is missing costs `short` times its price. `way` and
    `moved`, the state, are changed in place.
    """
    for _ in range(sweeps):
        turned = False
        for i in order:
            if rise[i] < 0 or fall[i] < 0:
                if way[i] != 0:
                    continue
            best, chosen = np.inf, np.int8(0)
            now = np.int64(0)
            if way[i] > 0:
                now = rise[i]
            elif way[i] < 0:
                now = -fall[i]
            for candidate in (way[i], np.int8(1), np.int8(-1)):
                if candidate == 0 or (candidate > 0 and rise[i] < 0):
                    continue
                if candidate < 0 and fall[i] < 0:
                    continue
                then = rise[i] if candidate > 0 else -fall[i]
                price = 0.0
                for k in range(start[i], start[i + 1]):
                    cell = above[k]
                    at = moved[cell] - now + then
                    price += cost[cell] * abs(at)
                    gap = np.int64(-1)
                    if upper[cell] >= 0:
                        gap = max(upper[cell] - at, np.int64(0))
                    if lower[cell] >= 0:
                        other = max(lower[cell] + at, np.int64(0))
                        gap = other if gap < 0 else min(gap, other)
                    if gap > 0:
                        price += short * cost[cell] * gap
                if price < best - 1e-9:
                    best, chosen = price, candidate
            if chosen != way[i] and chosen != 0:
                then = rise[i] if chosen > 0 else -fall[i]
                for k in range(start[i], start[i + 1]):
                    moved[above[k]] += then - now
                way[i] = chosen
                turned = True
        if not turned:
            return


@kernel
def settle(
    start: NDArray[np.int64],
    above: NDArray[np.int64],
    floor: int,
    sweeps: int,
    inner: NDArray[np.int64],
    off: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Move inner cells by whole steps as long as that brings all cells nearer to their targets.

    Nearer is a smaller sum of squares of `off`, value minus target of each cell. The cells that
    inner cell ``i`` is part of are ``above[start[i]:start[i + 1]]``. `inner`, nowhere below
    `floor`, and `off` are changed in place.
    """
    for _ in range(sweeps):
        moved = False
        for i in range(len(inner)):
            pull = 0.0
            for k in range(start[i], start[i + 1]):
                pull += off[above[k]]
            step = max(np.int64(np.rint(-pull / (start[i + 1] - start[i]))), floor - inner[i])
            # not for rounding errors, or two cells could take turns for ever
            if step * (step * (start[i + 1] - start[i]) + 2 * pull) < -1e-6:
                inner[i] += step
                for k in range(start[i], start[i + 1]):
                    off[above[k]] += step
                moved = True
        if not moved:
            return
