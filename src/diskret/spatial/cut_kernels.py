"""Loops over the graph in which areas overlap: its blocks, and all its small cuts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel, typed

_NONE, _ONE = typed(0), typed(1)


@kernel
def blocks(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    roots: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The block of each edge, and the order in which a search from the roots meets the nodes.

    Halves ``2 e`` and ``2 e + 1`` of an edge lead to ``head``; `out` lists those of each node.
    """
    nodes = len(begins) - 1
    met = np.full(nodes, -1)
    low = np.zeros(nodes, np.int64)
    came = np.full(nodes, -1)
    place = begins[:-1].copy()
    block = np.full(len(head) // 2, -1)
    edges = np.empty(len(head) // 2, np.int64)
    path = np.empty(nodes, np.int64)
    clock, found = 0, 0
    for root in roots:
        if met[root] >= 0:
            continue
        top, stacked = 0, 0
        path[0] = root
        met[root] = low[root] = clock
        clock += 1
        while top >= 0:
            node = path[top]
            if place[node] < begins[node + 1]:
                half = out[place[node]]
                place[node] += 1
                if came[node] >= 0 and half == came[node] ^ 1:
                    continue
                other = head[half]
                if met[other] < 0:
                    edges[stacked] = half >> 1
                    stacked += 1
                    met[other] = low[other] = clock
                    clock += 1
                    came[other] = half
                    top += 1
                    path[top] = other
                elif met[other] < met[node]:
                    edges[stacked] = half >> 1
                    stacked += 1
                    low[node] = min(low[node], met[other])
                continue
            top -= 1
            if top < 0:
                break
            above = path[top]
            low[above] = min(low[above], low[node])
            if low[node] >= met[above]:  # nothing below leads past `above`
                last = came[node] >> 1
                while True:
                    stacked -= 1
                    block[edges[stacked]] = found
                    if edges[stacked] == last:
                        break
                found += 1
    return block, met


@kernel
def _path(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    left: NDArray[np.float64],
    state: NDArray[np.int64],
    queue: NDArray[np.int64],
    last: int,
    came: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Look for a way with room from the first nodes of the queue to one of state 2.

    `came` says of each node that was met by which half; it is -1 of all others. Returns where the
    way ends (-1: there is none), how many nodes are in the queue then, and the steps taken.
    """
    for at in range(last):
        came[queue[at]] = -2
    first, steps = 0, 0
    while first < last:
        node = queue[first]
        first += 1
        for at in range(begins[node], begins[node + 1]):
            half = out[at]
            steps += 1
            other = head[half]
            if left[half] > 0 and came[other] == -1:
                came[other] = half
                queue[last] = other
                last += 1
                if state[other] == 2:
                    return int(other), last, steps
    return -1, last, steps


@kernel
def _push(
    head: NDArray[np.int64],
    left: NDArray[np.float64],
    came: NDArray[np.int64],
    end: int,
    used: NDArray[np.int64],
    changed: int,
) -> tuple[float, NDArray[np.int64], int]:
    """Let flow as much as there is room for on a way; `used` lists halves whose room changed.

    Returns how much that is, and the list with its new length. An endless way changes nothing.
    """
    more, node = np.inf, end
    while came[node] >= 0:
        more = min(more, float(left[came[node]]))
        node = head[came[node] ^ 1]
    node = end
    while more < np.inf and came[node] >= 0:
        half = came[node]
        left[half] -= more
        left[half ^ 1] += more
        if changed == len(used):
            used = np.concatenate((used, np.empty(len(used), np.int64)))
        used[changed] = half
        changed += 1
        node = head[half ^ 1]
    return more, used, changed


@kernel
def _flow(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    left: NDArray[np.float64],
    room: NDArray[np.float64],
    state: NDArray[np.int64],
    inside: NDArray[np.int64],
    size: int,
    bound: float,
    queue: NDArray[np.int64],
    came: NDArray[np.int64],
    used: NDArray[np.int64],
) -> tuple[float, int, NDArray[np.int64]]:
    """How much flows from nodes `inside` to those of state 2, up to the bound; steps taken.

    `left` is what is left of the room of each half, and is `room` again at the end; `used` is
    memory for a list, returned as it has grown.
    """
    flow, steps, changed, end = 0.0, 0, _NONE, 0
    while flow < bound and end >= 0:
        queue[:size] = inside[:size]
        end, last, looked = _path(begins, out, head, left, state, queue, size, came)
        steps += looked
        if end >= 0:
            more, used, changed = _push(head, left, came, end, used, changed)
            flow += more
        came[queue[:last]] = -1
    for at in range(changed):
        half = used[at]
        left[half], left[half ^ 1] = room[half], room[half ^ 1]
    return flow, steps, used


@kernel
def cuts_below(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    room: NDArray[np.float64],
    bound: float,
    most: int,
    work: int,
) -> tuple[bool, NDArray[np.int64], NDArray[np.int64], int]:
    """All ways to part a graph in two that each hold together, the room between below the bound.

    The side that is told does not hold node 0. `room` of a half is what its being cut costs; an
    infinite one must not lead out of that side.

    Returns whether all were found with no more `work` and no more than `most`, where the nodes of
    each begin, the nodes, and the work.
    """
    nodes = len(begins) - 1
    left = room.copy()
    state = np.zeros(nodes, np.int64)  # 0: open, 1: on this side, 2: on the other one
    state[0] = 2
    inside = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    came = np.full(nodes, -1)
    seen = np.zeros(nodes, np.int64)
    used = np.empty(64, np.int64)
    tried = np.empty(nodes + 1, np.int64)
    phase = np.empty(nodes + 1, np.int64)
    ends = np.zeros(16, np.int64)
    told = np.empty(64, np.int64)
    found, length, done, mark = 0, 0, 0, 0
    for start in range(1, nodes):
        state[start] = 1
        inside[0], size, depth = start, _ONE, -1
        look = True
        while True:
            if look:
                flow, steps, used = _flow(
                    begins, out, head, left, room, state, inside, size, bound, queue, came, used
                )
                done += steps
                look = flow < bound
            if look:  # what is on the other side must hold together, now and later
                mark += 1
                first, last = 0, 1
                queue[0] = 0
                seen[0] = mark
                while first < last:
                    node = queue[first]
                    first += 1
                    for at in range(begins[node], begins[node + 1]):
                        other = head[out[at]]
                        done += 1
                        if state[other] != 1 and seen[other] != mark:
                            seen[other] = mark
                            queue[last] = other
                            last += 1
                for node in range(nodes):
                    if state[node] == 2 and seen[node] != mark:
                        look = False
                        break
                done += nodes
            if look:
                choice = -1
                for at in range(size):
                    node = inside[at]
                    for place in range(begins[node], begins[node + 1]):
                        if state[head[out[place]]] == 0:
                            choice = head[out[place]]
                            break
                    if choice >= 0:
                        break
                if choice >= 0:
                    depth += 1
                    tried[depth], phase[depth] = choice, 1
                    state[choice] = 1
                    inside[size] = choice
                    size += 1
                    continue
                if found == most:
                    return False, ends[: found + 1], told[:length], done
                if found + 2 > len(ends):
                    ends = np.concatenate((ends, np.zeros(len(ends), np.int64)))
                while length + size > len(told):
                    told = np.concatenate((told, np.empty(len(told), np.int64)))
                told[length : length + size] = inside[:size]
                length += size
                found += 1
                ends[found] = length
            if done > work:
                return False, ends[: found + 1], told[:length], done
            while depth >= 0 and phase[depth] == 2:
                state[tried[depth]] = 0
                depth -= 1
            if depth < 0:
                break
            size -= 1
            phase[depth] = 2
            state[tried[depth]] = 2
            look = True
        state[start] = 2
    return True, ends[: found + 1], told[:length], done


@kernel
def side_of(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    starts: NDArray[np.int64],
    cut: NDArray[np.int64],
    seen: NDArray[np.bool_],
    severed: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The nodes that hang together with the starts where edges are cut; marks stay as they are."""
    severed[cut] = True
    nodes = np.empty(max(2 * len(starts), 16), np.int64)
    last = 0
    for start in starts:
        if not seen[start]:
            seen[start] = True
            nodes[last] = start
            last += 1
    first = 0
    while first < last:
        node = nodes[first]
        first += 1
        for at in range(begins[node], begins[node + 1]):
            other = head[out[at]]
            if not severed[out[at] >> 1] and not seen[other]:
                seen[other] = True
                if last == len(nodes):
                    nodes = np.concatenate((nodes, np.empty(len(nodes), np.int64)))
                nodes[last] = other
                last += 1
    severed[cut] = False
    seen[nodes[:last]] = False
    return nodes[:last]


@kernel
def parted(
    begins: NDArray[np.int64],
    out: NDArray[np.int64],
    head: NDArray[np.int64],
    left: NDArray[np.float64],
    source: int,
    target: int,
    enough: float,
    state: NDArray[np.int64],
    queue: NDArray[np.int64],
    came: NDArray[np.int64],
    work: int,
) -> tuple[float, NDArray[np.int64], NDArray[np.int64], int]:
    """How much flows from one node to another, up to `enough`.

    `left` is the room of each half, less what flows through it at the end; `state` is 0 and
    `came` -1 everywhere, before and after.

    Returns the flow, the nodes on the side of the source if no more flows, the halves
    whose room changed, and the steps taken; fewer than none if they were too many.
    """
    flow, steps, changed = 0.0, 0, _NONE
    used = np.empty(64, np.int64)
    side = queue[:0].copy()
    state[target] = 2
    while True:
        queue[0] = source
        end, last, looked = _path(begins, out, head, left, state, queue, _ONE, came)
        steps += looked
        if end >= 0:
            more, used, changed = _push(head, left, came, end, used, changed)
            flow += more
        came[queue[:last]] = -1
        if end < 0:
            side = queue[:last].copy()
            break
        if flow >= enough:
            break
        if steps > work:
            steps = -1
            break
    state[target] = 0
    return flow, side, used[:changed], steps
