"""Loops of a cheapest flow over a grid: from cells with too much to cells with too little."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def cheapest_flow(
    excess: NDArray[np.float64],
    price: NDArray[np.int64],
    columns: int,
    down: NDArray[np.int64],
    right: NDArray[np.int64],
    length: NDArray[np.int64],
    dust: float,
    work: int,
) -> tuple[NDArray[np.float64], int]:
    """What flows along the first half of the steps from each cell, and the work that is left.

    Step ``k`` goes `down` and `right` so many cells, step ``k + half`` goes back. In turns: which
    distance, by reduced costs, is the least from a cell with too much to one with too
    little; then flow along steps without reduced costs. `price` is where prices begin and where
    they end: they never differ by more than the length of a step between two cells.
    `excess` is what is left, no more than `dust` in each cell unless the work, steps looked at,
    ended before.
    """
    cells, steps = len(excess), len(length)
    half = steps // 2
    rows = cells // columns
    flow = np.zeros((cells, half))
    far = np.zeros(cells, np.int64)
    seen = np.zeros(cells, np.int64)
    done = np.zeros(cells, np.int64)
    dead = np.zeros(cells, np.int64)
    on_path = np.zeros(cells, np.bool_)
    place = np.zeros(cells, np.int64)
    path = np.empty(cells, np.int64)
    came = np.empty(cells, np.int64)
    settled = np.empty(cells, np.int64)
    circle = 2 * length.max() + 1
    first = np.full(circle, -1)
    entry = np.empty(4 * cells + 64, np.int64)
    after = np.empty(4 * cells + 64, np.int64)
    turn = 0
    while work > 0:
        turn += 1
        pushed, closed, waiting, found, distance = 0, 0, 0, False, 0
        first[:] = -1
        for at in range(cells):
            if excess[at] > dust:
                far[at], seen[at] = 0, turn
                entry[pushed], after[pushed] = at, first[0]
                first[0] = pushed
                pushed += 1
                waiting += 1
        while waiting and not found:
            bucket = distance % circle
            while first[bucket] >= 0:
                at = entry[first[bucket]]
                first[bucket] = after[first[bucket]]
                waiting -= 1
                if done[at] == turn:
                    continue
                done[at] = turn
                if excess[at] < -dust:
                    found = True
                    break
                settled[closed] = at
                closed += 1
                row, column = at // columns, at % columns
                for step in range(steps):
                    r, c = row + down[step], column + right[step]
                    if r < 0 or r >= rows or c < 0 or c >= columns:
                        continue
                    other = r * columns + c
                    if done[other] == turn:
                        continue
                    if step < half:
                        back = flow[at, step] < 0
                    else:
                        back = flow[other, step - half] > 0
                    cost = (-length[step] if back else length[step]) + price[at] - price[other]
                    reach = distance + cost
                    if seen[other] != turn or reach < far[other]:
                        seen[other] = turn
                        far[other] = reach
                        if pushed == len(entry):
                            longer, wider = (
                                np.empty(2 * pushed, np.int64),
                                np.empty(2 * pushed, np.int64),
                            )
                            longer[:pushed], wider[:pushed] = entry, after
                            entry, after = longer, wider
                        entry[pushed], after[pushed] = other, first[reach % circle]
                        first[reach % circle] = pushed
                        pushed += 1
                        waiting += 1
            if not found:
                distance += 1
        work -= closed * steps
        if not found:
            break
        for i in range(closed):
            price[settled[i]] += far[settled[i]] - distance
        for source in range(cells):
            if excess[source] <= dust or dead[source] == turn:
                continue
            top = 0
            path[0] = source
            on_path[source] = True
            while top >= 0:
                at = path[top]
                if excess[at] < -dust:
                    amount = min(excess[source], -excess[at])
                    for i in range(top):
                        step, one, two = came[i + 1], path[i], path[i + 1]
                        if step < half and flow[one, step] < 0:
                            amount = min(amount, -flow[one, step])
                        elif step >= half and flow[two, step - half] > 0:
                            amount = min(amount, flow[two, step - half])
                    for i in range(top):
                        step, one, two = came[i + 1], path[i], path[i + 1]
                        if step < half:
                            flow[one, step] += amount
                        else:
                            flow[two, step - half] -= amount
                    excess[source] -= amount
                    excess[at] += amount
                    for i in range(1, top + 1):
                        on_path[path[i]] = False
                    top = 0
                    if excess[source] <= dust:
                        break
                    continue
                moved = False
                row, column = at // columns, at % columns
                while place[at] < steps:
                    work -= 1
                    step = place[at]
                    r, c = row + down[step], column + right[step]
                    if r >= 0 and r < rows and c >= 0 and c < columns:
                        other = r * columns + c
                        if seen[other] == turn and dead[other] != turn and not on_path[other]:
                            if step < half:
                                back = flow[at, step] < 0
                            else:
                                back = flow[other, step - half] > 0
                            cost = -length[step] if back else length[step]
                            if cost + price[at] == price[other]:
                                top += 1
                                path[top] = other
                                came[top] = step
                                on_path[other] = True
                                moved = True
                                break
                    place[at] += 1
                if not moved:
                    dead[at] = turn
                    on_path[at] = False
                    top -= 1
            on_path[source] = False
        place[:] = 0
    return flow, work


@kernel
def lowered(
    price: NDArray[np.int64],
    columns: int,
    down: NDArray[np.int64],
    right: NDArray[np.int64],
    length: NDArray[np.int64],
) -> None:
    """Lower prices until they differ by no more than the length of a step between two cells."""
    cells = len(price)
    rows = cells // columns
    changed = True
    while changed:
        changed = False
        for sweep in range(2):
            for i in range(cells):
                at = i if sweep == 0 else cells - 1 - i
                row, column = at // columns, at % columns
                for step in range(len(length)):
                    r, c = row + down[step], column + right[step]
                    if r >= 0 and r < rows and c >= 0 and c < columns:
                        most = price[r * columns + c] + length[step]
                        if price[at] > most:
                            price[at] = most
                            changed = True
