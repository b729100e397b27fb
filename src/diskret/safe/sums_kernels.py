"""Loops of the search over tables whose counter counts more than 1 for a record."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel
from diskret.safe.costs import NEVER, SCALE, STEEP, TOP


@kernel
def sum_place(row, g, value, values, sums, cell, amount):
    """Cells of a combination, and what a record adds; with another value of group g if g >= 0."""
    for s in range(len(sums.base)):
        cell[s] = sums.base[s]
        own = sums.group[s]
        v = value if own == g else np.int64(values[row, own])
        amount[s] = sums.amount[sums.amount_first[s] + v]
    for h in range(values.shape[1]):
        start, size = sums.first[h], sums.first[h + 1] - sums.first[h]
        v = value if h == g else np.int64(values[row, h])
        key = sums.key_first[h] + v * size
        for p in range(size):
            cell[sums.tables[start + p]] += sums.key[key + p]


@kernel
def _price(at, d, prices):
    """What a deviation of a cell costs."""
    weight = prices.weight[at]
    if weight < 0:
        return 0 if d == 0 else NEVER
    far = d / prices.unit[at]
    up = np.exp(min(STEEP * (far - prices.wall[at]), TOP))
    down = np.exp(min(STEEP * (-far - prices.wall[at]), TOP))
    cost = (weight * far * far + prices.height[at] * (up + down)) * SCALE
    return np.int64(min(np.rint(cost), NEVER))


@kernel
def _moved(at, by, off, prices):
    """What it costs to add to the deviation of a cell."""
    if by == 0:
        return 0
    return _price(at, off[at] + by, prices) - _price(at, off[at], prices)


@kernel
def sum_alone(cell, amount, e, off, prices):
    """What it costs if a combination occurs e times more."""
    cost = 0
    for s in range(len(cell)):
        cost += _moved(cell[s], e * amount[s], off, prices)
    return cost


@kernel
def sum_handed(one, m, two, k, e, off, prices):
    """What it costs if a combination hands e records to another one."""
    cost = 0
    for s in range(len(one)):
        if one[s] == two[s]:
            cost += _moved(one[s], e * (m[s] - k[s]), off, prices)
        else:
            cost += _moved(one[s], e * m[s], off, prices)
            cost += _moved(two[s], -e * k[s], off, prices)
    return cost


@kernel
def sum_exchanged(r, q, a, b, g, values, sums, off, prices, cell, amount):
    """What it costs if two combinations exchange their values of group g.

    cell, amount: space for both before and after, ``(4, S)``; they hold them afterwards.
    """
    v, z = np.int64(values[r, g]), np.int64(values[q, g])
    sum_place(r, -1, 0, values, sums, cell[0], amount[0])
    sum_place(q, -1, 0, values, sums, cell[1], amount[1])
    sum_place(r, g, z, values, sums, cell[2], amount[2])
    sum_place(q, g, v, values, sums, cell[3], amount[3])
    cost = 0
    for s in range(len(sums.base)):
        for i in range(4):
            first, by = True, 0
            for j in range(4):
                if cell[j, s] == cell[i, s]:
                    first = first and j >= i
                    by += amount[j, s] * (a if j % 2 == 0 else b) * (1 if j > 1 else -1)
            if first:
                cost += _moved(cell[i, s], by, off, prices)
    return cost


@kernel
def sum_counts(values, count, sign, sums, off):
    """Add the records of combinations to the deviations of their cells."""
    tables = len(sums.base)
    cell, amount = np.empty(tables, dtype=np.int64), np.empty(tables, dtype=np.int64)
    for row in range(len(count)):
        if count[row]:
            sum_place(row, -1, 0, values, sums, cell, amount)
            for s in range(tables):
                off[cell[s]] += sign * count[row] * amount[s]
