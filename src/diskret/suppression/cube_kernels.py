"""Cheapest cubes of a table, compiled: see `cubes`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel

#: Leaves below a code, and ways along each variable, that are compared for one cell.
_OWN = 3
#: Cubes that one movement is put together from, at most.
_PARTS = 6

_Whole = NDArray[np.int64]
_Real = NDArray[np.float64]


class Lattice(NamedTuple):
    """The cells of a table of d variables, int64.

    strides: of the table, ``(d,)``.
    parents, leaves: of all variables, one behind the other, each from its start, ``(d + 1,)``.
    depths: most codes one above the other, of each variable, ``(d,)``.
    group: of each cell, −1 if it cannot change.
    """

    strides: _Whole
    parents: _Whole
    parent_starts: _Whole
    leaves: _Whole
    leaf_starts: _Whole
    depths: _Whole
    group: _Whole


class Groups(NamedTuple):
    """What hiding each group costs, and how far it can move with a cell and against it, float64."""

    price: _Real
    plus: _Real
    minus: _Real


class Tries(NamedTuple):
    """Ways compared along each variable, and whether totals above may move."""

    most: int
    totals: bool


@kernel
def _chain(
    low: int,
    high: int,
    origin: int,
    stride: int,
    parent: Any,
    group: Any,
    price: Any,
    room: Any,
    cost: float,
    left: float,
) -> Any:
    """Cost and room of the codes from one to below another, added to those so far."""
    while low != high:
        g = group[origin + low * stride]
        if g < 0:
            return cost, 0.0
        cost += price[g]
        left = min(left, room[g])
        low = parent[low]
    return cost, left


@kernel
def _keep(leaf: int, cost: float, kept: Any, costs: Any) -> None:
    """Keep the cheapest, in their order."""
    for k in range(len(kept)):
        if cost < costs[k]:
            for j in range(len(kept) - 1, k, -1):
                kept[j], costs[j] = kept[j - 1], costs[j - 1]
            kept[k], costs[k] = leaf, cost
            return


@kernel
def _write(way: Any, place: int, low: int, high: int, parent: Any) -> int:
    """Write the codes from one to below another; the place behind them."""
    while low != high:
        way[place] = low
        place += 1
        low = parent[low]
    return place


@kernel
def _short(room: float, need: float) -> float:
    """What is added to the cost of too little room: it is taken if nothing has more."""
    return 1e15 * (1 + (need - room) / need) if room < need else 0.0


@kernel
def _line(base: int, k: int, codes: Any, lattice: Any, groups: Any, need: float, tries: Any) -> Any:
    """The cheapest ways to move a cell along one variable; totals above move if nothing else does.

    Each way is a row: the codes that rise, −1, the codes that fall, −1. Returns ways and number.
    """
    code, stride, group = codes[k], lattice.strides[k], lattice.group
    parent = lattice.parents[lattice.parent_starts[k] : lattice.parent_starts[k + 1]]
    leaves = lattice.leaves[lattice.leaf_starts[k] : lattice.leaf_starts[k + 1]]
    price, plus, minus, most = groups.price, groups.plus, groups.minus, tries.most
    origin = base - code * stride
    above_code = np.zeros(len(parent), np.bool_)
    at = code
    while at >= 0:
        above_code[at] = True
        at = parent[at]
    # chains from the code down to a leaf, and from one beside it
    own, own_cost = np.full(_OWN, -1), np.full(_OWN, np.inf)
    beside, beside_cost = np.full(most, -1), np.full(most, np.inf)
    for leaf in leaves:
        top = leaf
        while not above_code[top]:
            top = parent[top]
        if top == code:
            cost, room = _chain(leaf, code, origin, stride, parent, group, price, plus, 0.0, np.inf)
            if room > 0:
                _keep(leaf, cost + _short(room, need), own, own_cost)
            continue
        if beside_cost[most - 1] == 0.0:  # nothing is cheaper than what is kept
            continue
        # what lies between rises on the cell's side, and falls on the other
        cost, room = _chain(leaf, top, origin, stride, parent, group, price, minus, 0.0, np.inf)
        if room > 0:
            above = parent[code]
            cost, room = _chain(above, top, origin, stride, parent, group, price, plus, cost, room)
        if room > 0:
            _keep(leaf, cost + _short(room, need), beside, beside_cost)
    ways = np.full((_OWN * most + 1, 2 * lattice.depths[k] + 2), -1)
    number = 0
    whole = parent[code] < 0
    if tries.totals and not whole and own[0] >= 0:
        _write(ways[0], 0, own[0], -1, parent)
        number = 1
    for b in range(1 if whole else most):
        if not whole and beside[b] < 0:
            break
        top = -1
        if not whole:
            top = beside[b]
            while not above_code[top]:
                top = parent[top]
        for a in range(_OWN):
            if own[a] < 0 or number > most:
                break
            place = _write(ways[number], 0, own[a], top, parent)
            if not whole:
                _write(ways[number], place + 1, beside[b], top, parent)
            number += 1
    return ways, number


@kernel
def _alone(base: int, k: int, codes: Any, ways: Any, number: int, lattice: Any, groups: Any) -> Any:
    """What each way along a variable costs besides the cell itself, and its room."""
    stride = lattice.strides[k]
    origin = base - codes[k] * stride
    costs, rooms = np.zeros(number), np.full(number, np.inf)
    for w in range(number):
        falling = False
        for code in ways[w]:
            if code < 0:
                if falling:
                    break
                falling = True
                continue
            g = lattice.group[origin + code * stride]
            rooms[w] = min(rooms[w], groups.minus[g] if falling else groups.plus[g])
            if code != codes[k]:
                costs[w] += groups.price[g]
    return costs, rooms


@kernel
def _spread(
    cell: Any, sign: Any, count: int, way: Any, shift: int, stride: int, more: Any, more_sign: Any
) -> int:
    """Each cell with each code of a way; the number of cells that are written."""
    filled = 0
    for i in range(count):
        falling = False
        for code in way:
            if code < 0:
                if falling:
                    break
                falling = True
                continue
            more[filled] = cell[i] + (code - shift) * stride
            more_sign[filled] = -sign[i] if falling else sign[i]
            filled += 1
    return filled


@kernel
def _cube(base: int, codes: Any, lattice: Any, groups: Any, need: float, tries: Any) -> Any:
    """The cheapest cube with room for a movement, or else the one with most room.

    Returns its cells, the sign of each, and its room; no cells if there is none. What cannot be
    better than the best so far is not made: a cube costs at least what its parts do, and has at
    most the room that each of them has.
    """
    d = len(codes)
    numbers = np.zeros(d, np.int64)
    none = np.zeros(0, np.int64)
    all_ways = [np.zeros((0, 0), np.int64) for _ in range(d)]
    all_costs = [np.zeros(0) for _ in range(d)]
    all_rooms = [np.zeros(0) for _ in range(d)]
    outer = size = 1
    for k in np.argsort(np.diff(lattice.leaf_starts)):  # most often the short ones have no way
        ways, number = _line(base, k, codes, lattice, groups, need, tries)
        if number == 0:
            return none, none, 0.0
        all_ways[k] = ways
        all_costs[k], all_rooms[k] = _alone(base, k, codes, ways, number, lattice, groups)
        numbers[k] = number
        outer *= number if k > 0 else 1
        size *= ways.shape[1]
    best_cells, best_signs = none, none
    best_cost, best_room = np.inf, 0.0
    cell, sign = np.zeros(size, np.int64), np.zeros(size, np.int64)
    more, more_sign = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for choice in range(outer):
        # first without the first variable, whose ways are then tried one after the other
        rest, cost, room = choice, 0.0, np.inf
        for k in range(1, d):
            w = rest % numbers[k]
            rest //= numbers[k]
            cost += all_costs[k][w]
            room = min(room, all_rooms[k][w])
        if _hopeless(cost, room, need, best_cost, best_room):
            continue
        cell[0], sign[0], count = base, 1, 1
        rest, radix = choice, outer
        for k in range(d - 1, 0, -1):  # the last variable is the slowest one
            radix //= numbers[k]
            way = all_ways[k][rest // radix]
            rest %= radix
            count = _spread(cell, sign, count, way, codes[k], lattice.strides[k], more, more_sign)
            cell, more = more, cell
            sign, more_sign = more_sign, sign
        cost, room = 0.0, np.inf
        for i in range(count):
            g = lattice.group[cell[i]]
            if g < 0:
                room = 0.0
                break
            cost += groups.price[g]
            room = min(room, groups.plus[g] if sign[i] > 0 else groups.minus[g])
        for w in range(numbers[0]):
            within = min(room, all_rooms[0][w])
            if _hopeless(cost + all_costs[0][w], within, need, best_cost, best_room):
                continue
            full = _spread(
                cell, sign, count, all_ways[0][w], codes[0], lattice.strides[0], more, more_sign
            )
            whole_cost, whole_room = 0.0, np.inf
            for i in range(full):
                g = lattice.group[more[i]]
                if g < 0:
                    whole_room = 0.0
                    break
                whole_cost += groups.price[g]
                whole_room = min(
                    whole_room, groups.plus[g] if more_sign[i] > 0 else groups.minus[g]
                )
                if whole_room <= 0:
                    break
            if whole_room <= 0:
                continue
            if whole_room >= need:
                better = best_room < need or whole_cost < best_cost
            else:
                better = whole_room > best_room
            if better:
                best_cost, best_room = whole_cost, whole_room
                best_cells, best_signs = more[:full].copy(), more_sign[:full].copy()
        if best_cost == 0.0 and best_room >= need:
            break
    return best_cells, best_signs, best_room


@kernel
def _hopeless(cost: Any, room: Any, need: float, best_cost: float, best_room: float) -> bool:
    """Whether what costs at least so much and has at most so much room is not the best.

    Costs are sums in another order than those of whole cubes, so almost equal ones are tried.
    """
    if room <= best_room and room < need:
        return True
    return best_room >= need and (best_cost == 0.0 or cost > best_cost * (1 + 1e-9))


@kernel
def movement(base: int, codes: Any, lattice: Any, groups: Any, need: int, tries: Any) -> Any:
    """Groups and steps that move a cell up by `need`, from one cube or several; none: empty.

    base: the cell. codes: its code of each variable, ``(d,)``. groups: changed and set back.
    """
    moved = [np.int64(0) for _ in range(0)]
    steps = [np.int64(0) for _ in range(0)]
    left = need
    for _ in range(_PARTS):
        cells, signs, room = _cube(base, codes, lattice, groups, float(left), tries)
        if len(cells) == 0 or room < 1:
            break
        far = left if room >= left else np.int64(np.floor(room))
        seen = set([np.int64(-1)])
        for i in range(len(cells)):
            g = lattice.group[cells[i]]
            if g in seen:  # aliases: the same group more than once, in the same direction
                continue
            seen.add(g)
            moved.append(g)
            steps.append(signs[i] * far)
            groups.plus[g] -= signs[i] * far
            groups.minus[g] += signs[i] * far
        left -= far
        if left == 0:
            break
    for i in range(len(moved)):
        groups.plus[moved[i]] += steps[i]
        groups.minus[moved[i]] -= steps[i]
    if left > 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.array(moved), np.array(steps)
