"""The search for small counts to round up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel, typed

_TWO, _FOUR = typed(2), typed(4)


@kernel
def _flip(
    i: int,
    step: int,
    start: NDArray[np.int64],
    cell: NDArray[np.int64],
    rest: NDArray[np.int64],
    power: int,
) -> int:  # pragma: no cover - compiled
    """By how much Σ rest**power changes if count `i` is moved by `step`."""
    change = 0
    for at in range(start[i], start[i + 1]):
        old = rest[cell[at]] * rest[cell[at]]
        new = rest[cell[at]] + step
        new *= new
        if power == 4:
            old, new = old * old, new * new
        change += new - old
    return int(change)


@kernel
def round_small(
    small: NDArray[np.int64],
    base: int,
    order: NDArray[np.int64],
    start: NDArray[np.int64],
    cell: NDArray[np.int64],
    rest: NDArray[np.int64],
    high: NDArray[np.bool_],
    sweeps: int,
) -> None:  # pragma: no cover - compiled
    """Round each small count to 0 or the base so that no sum strays far; fills `rest`, `high`.

    `small` are the counts, `order` the order to decide in; count ``i`` stands in the cells
    ``cell[start[i]:start[i + 1]]``. `rest` is what cells are off by, `high` which counts were
    rounded up.
    """
    for place in range(len(order)):  # one after the other, whichever strays less
        i = order[place]
        count = int(small[i])
        up = _flip(i, base - count, start, cell, rest, _TWO)
        down = _flip(i, -count, start, cell, rest, _TWO)
        high[i] = up < down
        step = base - count if high[i] else -count
        for at in range(start[i], start[i + 1]):
            rest[cell[at]] += step
    for power in (_TWO, _FOUR):  # the fourth power minds the largest most
        for _ in range(sweeps):
            moved = 0
            for place in range(len(order)):
                i = order[place]
                step = -base if high[i] else base
                if _flip(i, step, start, cell, rest, power) < 0:
                    moved += 1
                    high[i] = not high[i]
                    for at in range(start[i], start[i + 1]):
                        rest[cell[at]] += step
            if moved == 0:
                break


@kernel
def swap_small(
    base: int,
    start: NDArray[np.int64],
    cell: NDArray[np.int64],
    first: NDArray[np.int64],
    member: NDArray[np.int64],
    rest: NDArray[np.int64],
    high: NDArray[np.bool_],
    sweeps: int,
    tries: int,
) -> None:  # pragma: no cover - compiled
    """Let counts of the worst cells change places with neighbours, while the worst gets better.

    Cell ``c`` holds the counts ``member[first[c]:first[c + 1]]``; else as in `round_small`.
    """
    for _ in range(sweeps):
        worst = 0
        for c in range(len(rest)):
            worst = max(worst, abs(rest[c]))
        moved = False
        for c in range(len(rest)):
            if abs(rest[c]) < worst or worst < base:
                continue
            left = tries
            for m in range(first[c], first[c + 1]):
                i = member[m]
                if abs(rest[c]) < worst or left <= 0:
                    break
                if high[i] != (rest[c] > 0):
                    continue
                step = -base if high[i] else base
                alone = _flip(i, step, start, cell, rest, _FOUR)
                for at in range(start[i], start[i + 1]):
                    rest[cell[at]] += step
                best, partner = -alone, -1
                for at in range(start[i], start[i + 1]):
                    near = cell[at]
                    if near == c or first[near + 1] - first[near] > 64:
                        continue
                    for k in range(first[near], first[near + 1]):
                        j = member[k]
                        if high[j] == high[i]:
                            continue
                        left -= 1
                        change = _flip(j, -step, start, cell, rest, _FOUR)
                        if change < best:
                            best, partner = change, j
                if partner >= 0:
                    high[i] = not high[i]
                    high[partner] = not high[partner]
                    for at in range(start[partner], start[partner + 1]):
                        rest[cell[at]] -= step
                    moved = True
                elif alone < 0:
                    high[i] = not high[i]
                    moved = True
                else:
                    for at in range(start[i], start[i + 1]):
                        rest[cell[at]] -= step
        if not moved:
            return
