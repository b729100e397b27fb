"""Loops of the search: small changes, one after the other."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel
from diskret.safe.cost_kernels import (
    cost_exchanged,
    cost_of,
    parts_alone,
    parts_apart,
    parts_looked_up,
)
from diskret.safe.place_kernels import nearest, place, place_next
from diskret.safe.sums_kernels import sum_alone, sum_exchanged, sum_handed, sum_place

_UNIT = 1.0 / 9007199254740992.0
#: Changes that cost so many times the temperature are not drawn at all.
_HOPELESS = 40.0


@kernel
def _step(random):
    """The next state of a xorshift generator (Marsaglia 2003)."""
    random ^= random << np.uint64(13)
    random ^= random >> np.uint64(7)
    random ^= random << np.uint64(17)
    return random


@kernel
def _seeded(seed):
    """A state that differs from those of other seeds in about half of its bits."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@kernel
def start(order, values, original, minimum, maps, slope, state, sums, off, prices, count):
    """Each combination in turn becomes 0 or frequent enough, whichever costs its cells less."""
    index = np.empty(len(maps.base), dtype=np.int32)
    several = len(sums.base)
    cell, amount = np.empty(several, dtype=np.int64), np.empty(several, dtype=np.int64)
    for row in order:
        sum_place(row, -1, 0, values, sums, cell, amount)
        place(row, values, maps, index)
        first, second = 0, 0
        for t in range(len(index)):
            s = state[index[t]]
            first += slope[s, 0]
            second += slope[s, 1]
        x = original[row]
        best, least = 0, 0
        for i in range(-1, minimum + 1):
            y = x + i if i >= 0 else 0
            if y < minimum and y != 0:
                continue
            e = y - x
            cost = e * first + e * e * second + sum_alone(cell, amount, e, off, prices)
            if i < 0 or cost < least:
                best, least = y, cost
        count[row] = best
        if best != x:
            for t in range(len(index)):
                state[index[t]] += best - x
            for s in range(several):
                off[cell[s]] += (best - x) * amount[s]


@kernel
def _drawn(random):
    """A number from 0 to 1, without 1."""
    return (random >> np.uint64(11)) * _UNIT


@kernel
def _occurs(row, g, value, values, maps):
    """Whether a value goes together with each other value of a combination."""
    for h in range(len(maps.width)):
        if h != g:
            at = maps.together_first[g, h] + value * maps.width[h] + values[row, h]
            if not maps.together[at]:
                return False
    return True


@kernel
def _worth(cost, heat, draw):
    """Whether a change is made at a temperature, given a number from 0 to 1."""
    return cost <= 0 or (cost < _HOPELESS * heat and draw < np.exp(-cost / heat))


@kernel
def _chance(cost, heat):
    """How often a change is made, relative to the cheapest one."""
    return np.exp(-cost / heat) if cost < _HOPELESS * heat else 0.0


@kernel
def _handed(
    apart, a, b, most_a, most_b, minimum, growth, cell, amount, off, prices, heat, draw, costs
):
    """How many records the second row hands to the first, drawn by their costs; and the cost.

    costs: space for the numbers, what each costs, and how often it is drawn.
    """
    far, several = len(growth) // 2, cell.shape[1]
    lowest, highest = max(-far, -a), min(far, b)
    least, n = 0.0, 0
    for e in range(lowest, highest + 1):
        x, y = a + e, b - e
        cost = 0.0
        if e != 0:
            if (0 < x < minimum) or (0 < y < minimum):
                continue
            if x > max(most_a, a) or y > max(most_b, b):
                continue
            cost = cost_of(apart, e, growth)
            if several:
                cost += sum_handed(cell[0], amount[0], cell[1], amount[1], e, off, prices)
        costs[0, n], costs[1, n] = e, cost
        least = min(least, cost)
        n += 1
    total = 0.0
    for k in range(n):
        costs[2, k] = _chance(costs[1, k] - least, heat)
        total += costs[2, k]
    draw *= total
    for k in range(n):
        draw -= costs[2, k]
        if draw < 0:
            return np.int64(costs[0, k]), costs[1, k]
    return 0, 0.0


@kernel
def _noted(found, r, q, g, e, cost, moves, limits):
    """Note a change that may be carried out if it costs no more then; how many there are."""
    moves[found, 0], moves[found, 1], moves[found, 2], moves[found, 3] = r, q, g, e
    limits[found] = max(cost, 0.0)
    return found + 1


@kernel
def propose(
    rows,
    values,
    count,
    cap,
    minimum,
    maps,
    state,
    slope,
    energy,
    growth,
    heat,
    sums,
    off,
    prices,
    partners,
    rates,
    seed,
    index,
    moves,
    limits,
    tried,
):
    """Changes that seem worth while, of rows that lie near each other; nothing is changed.

    A row is changed alone, or with those `partners` of the next rows that lie nearest. index: space
    for these rows, which tells how many of the next are looked at: their cells, and what
    `parts_alone` tells by table.
    moves: row, partner, group (-1: records), amount. A row that is its own partner changes alone.
    """
    groups = len(maps.width)
    far = len(growth) // 2
    differ = np.empty(groups + 1, dtype=np.int64)
    costs = np.empty((3, 2 * far + 1), dtype=np.float64)
    several = len(sums.base)
    cell, amount = np.empty((4, several), dtype=np.int64), np.empty((4, several), dtype=np.int64)
    random = _seeded(seed)
    found = 0
    own, weight = np.empty((groups, len(rows)), values.dtype), np.empty(groups, dtype=np.int32)
    near, away = np.empty(partners, dtype=np.int64), np.empty(partners, dtype=np.int32)
    around = index.shape[1]
    distance = np.empty(around - 1, dtype=np.int32)
    cells, square, wall = index[0], index[1], index[2]
    parts = np.empty((around, 4), dtype=np.float64)
    for g in range(groups):
        weight[g] = maps.first[g + 1] - maps.first[g] + sums.first[g + 1] - sums.first[g]
    for i in range(len(rows)):
        for g in range(groups):
            own[g, i] = values[rows[i], g]
    known = 0
    for i in range(len(rows)):
        while known < min(i + around, len(rows)):
            at = known % around
            if known:
                cells[at] = cells[(known - 1) % around]
                place_next(rows[known], rows[known - 1], values, maps, cells[at])
            else:
                place(rows[known], values, maps, cells[at])
            alone = parts_alone(cells[at], state, slope, square[at], wall[at])
            parts[at, 0], parts[at, 1], parts[at, 2], parts[at, 3] = alone
            known += 1
        here = i % around
        r, one = rows[i], cells[here]
        a = count[r]
        random = _step(random)
        if a >= minimum and _drawn(random) < rates[0]:
            tried[0] += 1
            random = _step(random)
            e = 1 if random & np.uint64(1) else -1
            if a + e < minimum:
                e = -a
            if e >= -far and a + e <= max(cap[r], a):
                cost = cost_of(parts[here], e, growth)
                if several:
                    sum_place(r, -1, 0, values, sums, cell[0], amount[0])
                    cost += sum_alone(cell[0], amount[0], e, off, prices)
                random = _step(random)
                if _worth(cost, heat, _drawn(random)):
                    found = _noted(found, r, r, -1, e, cost, moves, limits)
        for w in range(nearest(i, own, weight, distance, near, away)):
            there = near[w] % around
            q, two = rows[near[w]], cells[there]
            b = count[q]
            if a + b == 0:
                continue
            if 0 < a <= far and 0 < b <= far and rates[3] > 0:
                n = 0
                for g in range(groups):
                    differ[np.uintp(n)] = g
                    n += values[r, g] != values[q, g]
                if n > 1:
                    random = _step(random)
                    g = differ[np.int64((random >> np.uint64(20)) % np.uint64(n))]
                    v, z = values[r, g], values[q, g]
                    tried[3] += 1
                    cost = float(cost_exchanged(one, two, a, b, g, v, z, maps, state, energy))
                    if several:
                        of = sums, off, prices, cell, amount
                        cost += sum_exchanged(r, q, a, b, g, values, *of)
                    random = _step(random)
                    if _worth(cost, heat, _drawn(random)):
                        if _occurs(r, g, z, values, maps) and _occurs(q, g, v, values, maps):
                            found = _noted(found, r, q, g, 0, cost, moves, limits)
            kind = 1 if a + b > 2 * minimum and a >= minimum and b >= minimum else 2
            random = _step(random)
            if a > 0 and b > 0 and _drawn(random) >= rates[kind]:  # else drawn for the sweep
                continue
            apart = parts_apart(one, two, parts[here], parts[there], square[here], wall[here])
            if apart[1] == 0 and not several:  # they share all cells
                continue
            if several:
                sum_place(r, -1, 0, values, sums, cell[0], amount[0])
                sum_place(q, -1, 0, values, sums, cell[1], amount[1])
            tried[kind] += 1
            random = _step(random)
            most = cap[r], cap[q]
            of = cell, amount, off, prices
            draw = _drawn(random)
            e, cost = _handed(apart, a, b, *most, minimum, growth, *of, heat, draw, costs)
            if e != 0:
                found = _noted(found, r, q, -1, e, cost, moves, limits)
    return found


@kernel
def _fits(count, minimum):
    """Whether a count is 0 or large enough."""
    return count == 0 or count >= minimum


@kernel
def carry_out(
    found,
    moves,
    limits,
    values,
    count,
    minimum,
    maps,
    state,
    slope,
    energy,
    growth,
    sums,
    off,
    prices,
    done,
):
    """Carry out proposed changes one after the other, if they still cost no more."""
    tables = len(maps.base)
    far = len(growth) // 2
    one, two = np.empty(tables, dtype=np.int32), np.empty(tables, dtype=np.int32)
    square, wall = np.empty(tables, dtype=np.int32), np.empty(tables, dtype=np.int32)
    unlike = np.empty(tables + 1, dtype=np.int32)
    several = len(sums.base)
    cell, amount = np.empty((4, several), dtype=np.int64), np.empty((4, several), dtype=np.int64)
    placed = -1  # the row whose cells `one` holds
    for i in range(found):
        r, q, g, e = moves[i, 0], moves[i, 1], moves[i, 2], moves[i, 3]
        a, b = count[r], count[q]
        if g >= 0:
            fits = values[r, g] != values[q, g] and 0 < a <= far and 0 < b <= far
        else:
            fits = _fits(a + e, minimum) and (r == q or _fits(b - e, minimum))
        if not fits:
            continue
        if placed < 0:
            place(r, values, maps, one)
        else:
            place_next(r, placed, values, maps, one)
        placed = r
        two[:] = one
        place_next(q, r, values, maps, two)
        if several:
            sum_place(r, -1, 0, values, sums, cell[0], amount[0])
            sum_place(q, -1, 0, values, sums, cell[1], amount[1])
        if r == q:
            cost = cost_of(parts_alone(one, state, slope, square, wall), e, growth)
            if cost + sum_alone(cell[0], amount[0], e, off, prices) > limits[i]:
                continue
            done[0] += 1
            count[r] = a + e
            for t in range(tables):
                state[np.uintp(one[t])] += e
            for s in range(several):
                off[cell[0, s]] += e * amount[0, s]
        elif g < 0:
            apart, n = parts_looked_up(one, two, state, slope, unlike)
            cost = cost_of(apart, e, growth)
            cost += sum_handed(cell[0], amount[0], cell[1], amount[1], e, off, prices)
            if cost > limits[i]:
                continue
            done[1 if e * e < minimum * minimum else 2] += 1
            count[r], count[q] = a + e, b - e
            for p in range(n):
                t = np.uintp(unlike[np.uintp(p)])
                state[np.uintp(one[t])] += e
                state[np.uintp(two[t])] -= e
            for s in range(several):
                off[cell[0, s]] += e * amount[0, s]
                off[cell[1, s]] -= e * amount[1, s]
        else:
            v, z = values[r, g], values[q, g]
            cost = cost_exchanged(one, two, a, b, g, v, z, maps, state, energy)
            cost += sum_exchanged(r, q, a, b, g, values, sums, off, prices, cell, amount)
            if cost > limits[i]:
                continue
            if not (_occurs(r, g, z, values, maps) and _occurs(q, g, v, values, maps)):
                continue
            done[3] += 1
            values[r, g], values[q, g] = z, v
            placed = -1
            first = maps.first[g]
            size = maps.first[g + 1] - first
            kv, kz = maps.key_first[g] + v * size, maps.key_first[g] + z * size
            for p in range(size):
                t = maps.tables[first + p]
                move = maps.key[kz + p] - maps.key[kv + p]
                state[one[t]] -= a
                state[one[t] + move] += a
                state[two[t]] -= b
                state[two[t] - move] += b
            for s in range(several):
                off[cell[0, s]] -= a * amount[0, s]
                off[cell[1, s]] -= b * amount[1, s]
                off[cell[2, s]] += a * amount[2, s]
                off[cell[3, s]] += b * amount[3, s]
