"""Searches for partners: of a rank swap, and of households that change places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel

#: Draws for a partner before all free ones are counted.
_TRIES = 32


@kernel
def partners(
    reach: NDArray[np.int64], draws: NDArray[np.uint64]
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """For each rank the one it is exchanged with; itself if no other was left.

    From the lowest rank on, each that is still alone is exchanged with one of the next `reach`
    ranks that are still alone, all of them equally likely. `draws` holds a number for each rank,
    from which further ones are made (SplitMix64).
    """
    n = len(reach)
    other = np.arange(n)
    for i in range(n):
        if other[i] != i or reach[i] == 0:
            continue
        state = draws[i]
        for _ in range(_TRIES):
            state += np.uint64(0x9E3779B97F4A7C15)
            mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            high = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(32)
            j = i + 1 + int((high * np.uint64(reach[i])) >> np.uint64(32))
            if other[j] == j:
                other[i], other[j] = j, i
                break
        if other[i] == i:
            free = 0
            for j in range(i + 1, i + 1 + reach[i]):
                free += other[j] == j
            chosen = int(((draws[i] >> np.uint64(32)) * np.uint64(free)) >> np.uint64(32))
            for j in range(i + 1, i + 1 + reach[i]):
                if other[j] == j:
                    if chosen == 0:
                        other[i], other[j] = j, i
                        break
                    chosen -= 1
    return other


@kernel
def donors(
    needing: NDArray[np.intp],
    ranked: NDArray[np.intp],
    group: NDArray[np.intp],
    groups: int,
    area: NDArray[np.intp],
    free: NDArray[np.bool_],
    most: int,
) -> NDArray[np.intp]:  # pragma: no cover - compiled
    """For each of `needing` the first free one of its group that lives in another area; -1: none.

    `ranked` holds all that may be chosen, the first choice first. Who is taken is no longer
    `free`, and after `most` pairs nobody else is served. The time is linear: in each group `first`
    is the first free one, and all free ones before `other` live in the area of `first`, so both
    only move forward.
    """
    start = np.zeros(groups + 1, dtype=np.int64)
    for one in ranked:
        if free[one]:
            start[group[one] + 1] += 1
    start = np.cumsum(start)
    place = start[:-1].copy()
    listed = np.empty(start[-1], dtype=np.int64)
    for one in ranked:
        if free[one]:
            listed[place[group[one]]] = one
            place[group[one]] += 1
    first, other = start[:-1].copy(), start[:-1].copy()
    found = np.full(len(needing), -1)
    made = 0
    for i in range(len(needing)):
        if made == most:
            break
        one = needing[i]
        if not free[one]:
            continue
        here = group[one]
        end = start[here + 1]
        a = first[here]
        while a < end and not free[listed[a]]:
            a += 1
        b = max(other[here], a)
        while b < end and (not free[listed[b]] or area[listed[b]] == area[listed[a]]):
            b += 1
        first[here], other[here] = a, b
        chosen = b if area[listed[a]] == area[one] else a
        if chosen < end:
            found[i] = listed[chosen]
            free[one] = free[found[i]] = False
            made += 1
    return found
