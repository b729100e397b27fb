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
    group: of each cell, −1 if it cannot change.
    """

    strides: _Whole
    parents: _Whole
    parent_starts: _Whole
    leaves: _Whole
    leaf_starts: _Whole
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
def _below(low: int, high: int, parent: Any) -> bool:
    """Whether a code is another one or below it."""
    while low >= 0 and low != high:
        low = parent[low]
    return low == high


@kernel
def _meeting(leaf: int, code: int, parent: Any) -> int:
    """The lowest code above both."""
    while not _below(code, leaf, parent):
        leaf = parent[leaf]
    return leaf


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
    depth = 0
    # chains from the code down to a leaf, and from one beside it
    own, own_cost = np.full(_OWN, -1), np.full(_OWN, np.inf)
    beside, beside_cost = np.full(most, -1), np.full(most, np.inf)
    for leaf in leaves:
        at, steps = leaf, 0
        while at >= 0:
            steps += 1
            at = parent[at]
        depth = max(depth, steps)
        if _below(leaf, code, parent):
            cost, room = _chain(leaf, code, origin, stride, parent, group, price, plus, 0.0, np.inf)
            if room > 0:
                _keep(leaf, cost + _short(room, need), own, own_cost)
            continue
        # what lies between rises on the cell's side, and falls on the other
        top = _meeting(leaf, code, parent)
        cost, room = _chain(leaf, top, origin, stride, parent, group, price, minus, 0.0, np.inf)
        if room > 0:
            above = parent[code]
            cost, room = _chain(above, top, origin, stride, parent, group, price, plus, cost, room)
        if room > 0:
            _keep(leaf, cost + _short(room, need), beside, beside_cost)
    ways = np.full((_OWN * most + 1, 2 * depth + 2), -1)
    number = 0
    whole = parent[code] < 0
    if tries.totals and not whole and own[0] >= 0:
        _write(ways[0], 0, own[0], -1, parent)
        number = 1
    for b in range(1 if whole else most):
        if not whole and beside[b] < 0:
            break
        top = -1 if whole else _meeting(beside[b], code, parent)
        for a in range(_OWN):
            if own[a] < 0 or number > most:
                break
            place = _write(ways[number], 0, own[a], top, parent)
            if not whole:
                _write(ways[number], place + 1, beside[b], top, parent)
            number += 1
    return ways, number


@kernel
def _cube(base: int, codes: Any, lattice: Any, groups: Any, need: float, tries: Any) -> Any:
    """The cheapest cube with room for a movement, or else the one with most room.

    Returns its cells, the sign of each, and its room; no cells if there is none.
    """
    d = len(codes)
    numbers = np.zeros(d, np.int64)
    all_ways = []
    total = size = 1
    for k in range(d):
        ways, number = _line(base, k, codes, lattice, groups, need, tries)
        if number == 0:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0
        all_ways.append(ways)
        numbers[k] = number
        total *= number
        size *= ways.shape[1]
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
                    more[filled] = cell[i] + code * lattice.strides[k]
                    more_sign[filled] = -sign[i] if falling else sign[i]
                    filled += 1
            count = filled
            for i in range(count):
                cell[i], sign[i] = more[i], more_sign[i]
        cost, room = 0.0, np.inf
        for i in range(count):
            g = lattice.group[cell[i]]
            if g < 0:
                room = 0.0
                break
            cost += groups.price[g]
            room = min(room, groups.plus[g] if sign[i] > 0 else groups.minus[g])
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
