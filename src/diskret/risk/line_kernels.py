"""The earth mover's distance where some values lie on a line, and others beside it."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def beside_a_line(
    start: NDArray[np.intp],
    value: NDArray[np.intp],
    share: NDArray[np.float64],
    expected: NDArray[np.float64],
    beside: int,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Distance of each class to the file, ``(b,)``; the first values are 1 from all others.

    `beside`: how many values those are. `start`: the first entry of each class. `value`, `share`:
    of each entry. `expected`: shares of the values in the file, ``(v,)``.

    What does not stay among the values beside the line moves for 1 a unit. If the line has more, e,
    that is what leaves it, wherever that is best: with D the cumulated surplus and R what has left
    up to there, ascending from 0 to e, the rest moves for the sum of |D - R|. The best R is the
    isotonic regression of D within 0 and e by absolute differences, whose cost a heap of the
    largest values so far adds up.
    """
    v, b = len(expected), len(start)
    found = np.zeros(b)
    gap = np.empty(v)
    steps = v - beside - 1
    for i in range(b):
        gap[:] = -expected
        end = start[i + 1] if i + 1 < b else len(value)
        for entry in range(start[i], end):
            gap[value[entry]] += share[entry]
        more, less = 0.0, 0.0
        for at in range(beside):
            if gap[at] > 0:
                more += gap[at]
            else:
                less -= gap[at]
        sign = 1.0 if less >= more else -1.0
        leaves = abs(less - more)
        moved, upto = 0.0, 0.0
        heap = [0.0]
        for at in range(beside, v - 1):
            upto += sign * gap[at]
            inside = min(max(upto, 0.0), leaves)
            moved += abs(upto - inside)
            heappush(heap, -inside)
            if -heap[0] > inside:
                moved += -heap[0] - inside
                heappop(heap)
                heappush(heap, -inside)
        found[i] = max(more, less) + (moved / steps if steps > 0 else 0.0)
    return found
