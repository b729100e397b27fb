"""The search for partners of a rank swap."""

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
