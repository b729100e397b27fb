"""Cheapest cubes of a table, compiled: see `cubes`."""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.kernel import kernel

#: Leaves below a code, and ways along each variable, that are compared for one cell.
_OWN = 3
#: Cubes that one movement is put together from, at most.
_PARTS = 6


@kernel
def _line(
    base: int,
    code: int,
    stride: int,
    parent: Any,
    leaves: Any,
    group: Any,
    price: Any,
    room_plus: Any,
    room_minus: Any,
    need: float,
    most: int,
    totals: bool,
) -> Any:
    """The cheapest ways to move a cell along one variable; totals above move if nothing else does.

    Each way is a row: the codes that rise, −1, the codes that fall, −1. Returns ways and number.
    """
    depth = 0
    for leaf in leaves:
        at, steps = leaf, 0
        while at >= 0:
            steps += 1
            at = parent[at]
        depth = max(depth, steps)
    width = 2 * depth + 2
    origin = base - code * stride
    # leaves below the code: the cheapest chains from it down
    own = np.full(_OWN, -1)
    own_cost = np.full(_OWN, np.inf)
    beside = np.full(most, -1)
    beside_cost = np.full(most, np.inf)
    for leaf in leaves:
        at, cost, room, inside = leaf, 0.0, np.inf, False
        while at >= 0:
            if at == code:
                inside = True
                break
            at = parent[at]
        if inside:
            at = leaf
            while at != code:
                g = group[origin + at * stride]
                if g < 0:
                    room = 0.0
                    break
                cost += price[g]
                room = min(room, room_plus[g])
                at = parent[at]
            if room <= 0:
                continue
            if room < need:  # better than nothing, if nothing else has more room
                cost += 1e15 * (1 + (need - room) / need)
            for k in range(_OWN):
                if cost < own_cost[k]:
                    for j in range(_OWN - 1, k, -1):
                        own[j], own_cost[j] = own[j - 1], own_cost[j - 1]
                    own[k], own_cost[k] = leaf, cost
                    break
            continue
        # the lowest code above both; those of the cell below it rise, those of the other fall
        top = leaf
        while True:
            up, above = code, False
            while up >= 0:
                if up == top:
                    above = True
                    break
                up = parent[up]
            if above:
                break
            g = group[origin + top * stride]
            if g < 0:
                room = 0.0
                break
            cost += price[g]
            room = min(room, room_minus[g])
            top = parent[top]
        if room <= 0:
            continue
        at = parent[code]
        while at != top:
            g = group[origin + at * stride]
            if g < 0:
                room = 0.0
                break
            cost += price[g]
            room = min(room, room_plus[g])
            at = parent[at]
        if room <= 0:
            continue
        if room < need:
            cost += 1e15 * (1 + (need - room) / need)
        if cost < beside_cost[most - 1]:
            for k in range(most):
                if cost < beside_cost[k]:
                    for j in range(most - 1, k, -1):
                        beside[j], beside_cost[j] = beside[j - 1], beside_cost[j - 1]
                    beside[k], beside_cost[k] = leaf, cost
                    break
    ways = np.full((_OWN * most + 1, width), -1)
    number = 0
    whole = parent[code] < 0
    if totals and not whole and own[0] >= 0:
        place, at = 0, own[0]
        while at >= 0:
            ways[number, place] = at
            place += 1
            at = parent[at]
        number += 1
    for b in range(1 if whole else most):
        if not whole and beside[b] < 0:
            break
        for a in range(_OWN):
            if own[a] < 0 or number > most:
                break
            top = -1
            if not whole:
                top = beside[b]
                while True:
                    up, above = code, False
                    while up >= 0:
                        if up == top:
                            above = True
                            break
                        up = parent[up]
                    if above:
                        break
                    top = parent[top]
            place, at = 0, own[a]
            while at != top:
                ways[number, place] = at
                place += 1
                at = parent[at]
            place += 1
            if not whole:
                at = beside[b]
                while at != top:
                    ways[number, place] = at
                    place += 1
                    at = parent[at]
            number += 1
    return ways, number


@kernel
def _cube(
    base: int,
    codes: Any,
    strides: Any,
    parents: Any,
    parent_starts: Any,
    leaves: Any,
    leaf_starts: Any,
    group: Any,
    price: Any,
    room_plus: Any,
    room_minus: Any,
    need: float,
    most: int,
    totals: bool,
) -> Any:
    """The cheapest cube with room for a movement, or else the one with most room.

    Returns its cells, the sign of each, and its room; no cells if there is none.
    """
    d = len(codes)
    numbers = np.zeros(d, np.int64)
    all_ways = []
    for k in range(d):
        ways, number = _line(
            base,
            codes[k],
            strides[k],
            parents[parent_starts[k] : parent_starts[k + 1]],
            leaves[leaf_starts[k] : leaf_starts[k + 1]],
            group,
            price,
            room_plus,
            room_minus,
            need,
            most,
            totals,
        )
        if number == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0
        all_ways.append(ways)
        numbers[k] = number
    total = 1
    for k in range(d):
        total *= numbers[k]
    size = 1
    for k in range(d):
        size *= all_ways[k].shape[1]
    best_cells, best_signs = np.zeros(0, np.int64), np.zeros(0, np.int64)
    best_cost, best_room = np.inf, 0.0
    cell = np.zeros(size, np.int64)
    sign = np.zeros(size, np.int64)
    more = np.zeros(size, np.int64)
    more_sign = np.zeros(size, np.int64)
    for choice in range(total):
        rest, count = choice, 1
        cell[0], sign[0] = 0, 1
        for k in range(d):
            way = all_ways[k][rest % numbers[k]]
            rest //= numbers[k]
            filled, falling = 0, False
            for entry in range(len(way)):
                code = way[entry]
                if code < 0:
                    if falling:
                        break
                    falling = True
                    continue
                for i in range(count):
                    more[filled] = cell[i] + code * strides[k]
                    more_sign[filled] = -sign[i] if falling else sign[i]
                    filled += 1
            count = filled
            for i in range(count):
                cell[i], sign[i] = more[i], more_sign[i]
        cost, room = 0.0, np.inf
        for i in range(count):
            g = group[cell[i]]
            if g < 0:
                room = 0.0
                break
            cost += price[g]
            room = min(room, room_plus[g] if sign[i] > 0 else room_minus[g])
            if room <= 0:
                break
        if room <= 0:
            continue
        if room >= need:
            better = best_room < need or cost < best_cost
        else:
            better = room > best_room
        if better:
            best_cost, best_room = cost, room
            best_cells, best_signs = cell[:count].copy(), sign[:count].copy()
    return best_cells, best_signs, best_room


@kernel
def movement(
    base: int,
    codes: Any,
    strides: Any,
    parents: Any,
    parent_starts: Any,
    leaves: Any,
    leaf_starts: Any,
    group: Any,
    price: Any,
    room_plus: Any,
    room_minus: Any,
    need: int,
    most: int,
    totals: bool,
) -> Any:
    """Groups and steps that move a cell up by `need`, from one cube or several; none: empty.

    `base`: the cell. `codes`: its code of each variable, ``(d,)``. `strides`: of the table.
    `parents`, `leaves`: of all variables, one behind the other, each from its start, ``(d + 1,)``.
    `group`: of each cell, −1 if it cannot change. `price`:
    of hiding each group. `room_plus`, `room_minus`: how far each can move with the cell and against
    it, float64; changed and set back. `most`: ways compared along each variable. `totals`: whether
    those above may move, too.
    """
    moved = [np.int64(0) for _ in range(0)]
    steps = [np.int64(0) for _ in range(0)]
    left = need
    for _ in range(_PARTS):
        cells, signs, room = _cube(
            base,
            codes,
            strides,
            parents,
            parent_starts,
            leaves,
            leaf_starts,
            group,
            price,
            room_plus,
            room_minus,
            float(left),
            most,
            totals,
        )
        if len(cells) == 0 or room < 1:
            break
        far = left if room >= left else np.int64(np.floor(room))
        seen = set([np.int64(-1)])
        for i in range(len(cells)):
            g = group[cells[i]]
            if g in seen:  # aliases: the same group more than once, in the same direction
                continue
            seen.add(g)
            moved.append(g)
            steps.append(signs[i] * far)
            room_plus[g] -= signs[i] * far
            room_minus[g] += signs[i] * far
        left -= far
        if left == 0:
            break
    for i in range(len(moved)):
        room_plus[moved[i]] += steps[i]
        room_minus[moved[i]] -= steps[i]
    if left > 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.array(moved), np.array(steps)
