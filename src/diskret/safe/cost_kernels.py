"""Loops of the search: what it costs to change how often combinations occur, or their values."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel


@kernel
def parts_alone(one, state, slope, square, wall):
    """Parts of what a change of a combination costs, summed up over its cells.

    They are factors of e, of e², and of `growth` at e and at -e. square, wall: space for the
    second one, and for the sum of the last two, by table.
    """
    linear, squares, up, walls = 0, 0, 0, 0
    for t in range(len(one)):
        s = np.uintp(state[np.uintp(one[t])])
        square[t] = slope[s, 1]
        wall[t] = slope[s, 3]
        linear += slope[s, 0]
        up += slope[s, 2]
    for t in range(len(one)):
        squares += square[t]
        walls += wall[t]
    return float(linear), float(squares), float(up), float(walls - up)


@kernel
def parts_apart(one, two, first, second, square, wall):
    """What it costs if a combination hands records to another: of cells they do not share alone.

    first, second: parts of the one that receives, and of the other; square, wall: those of the one
    that receives, by table. In cells that both share, parts cancel out or are the same, so
    that no cell has to be looked up for a pair.
    """
    squares, walls = 0, 0
    for t in range(len(one)):
        s, w = square[t], wall[t]
        unlike = one[t] != two[t]
        squares += s if unlike else 0
        walls += w if unlike else 0
    linear = first[0] - second[0]
    up, down = second[3] - first[3] + walls, second[2] - first[2] + walls
    return linear, second[1] - first[1] + 2.0 * squares, up, down


@kernel
def parts_looked_up(one, two, state, slope, tables):
    """The same, looked up; and how many tables these are.

    tables: space for their numbers. Whether a cell is shared cannot be foretold, and a wrong guess
    takes a processor longer than a list.
    """
    n = 0
    for t in range(len(one)):
        tables[np.uintp(n)] = t
        n += one[t] != two[t]
    linear, squares, up, walls = 0, 0, 0, 0
    for p in range(n):
        t = np.uintp(tables[np.uintp(p)])
        s, u = np.uintp(state[np.uintp(one[t])]), np.uintp(state[np.uintp(two[t])])
        linear += slope[s, 0] - slope[u, 0]
        squares += slope[s, 1] + slope[u, 1]
        up += slope[s, 2] + slope[u, 3] - slope[u, 2]
        walls += slope[s, 3] + slope[u, 3]
    return (float(linear), float(squares), float(up), float(walls - up)), n


@kernel
def cost_of(sums, e, growth):
    """What it costs to add e to the deviations that were summed up."""
    far = len(growth) // 2
    return sums[0] * e + sums[1] * e * e + sums[2] * growth[far + e] + sums[3] * growth[far - e]


@kernel
def cost_exchanged(one, two, a, b, g, v, z, maps, state, energy):
    """What it costs if two combinations exchange their values v and z of group g.

    Where only this group tells their cells apart, each goes to that of the other one, so that two
    cells change; else four. Which of the two cannot be foretold, so both are computed alike.
    """
    first = maps.first[g]
    size = maps.first[g + 1] - first
    kv, kz = maps.key_first[g] + v * size, maps.key_first[g] + z * size
    cost = 0
    for p in range(size):
        t = np.uintp(maps.tables[np.uintp(first + p)])
        move = maps.key[np.uintp(kz + p)] - maps.key[np.uintp(kv + p)]
        from_one, from_two = one[t], two[t]
        to_one, to_two = from_one + move, from_two - move
        swap = to_one == from_two
        s, u = state[np.uintp(from_one)], state[np.uintp(from_two)]
        x, y = state[np.uintp(to_one)], state[np.uintp(to_two)]
        more, less = (0 if swap else a), (0 if swap else b)
        cost += energy[np.uintp(s - a + b - less)] - energy[np.uintp(s)]
        cost += energy[np.uintp(u - b + a - more)] - energy[np.uintp(u)]
        cost += energy[np.uintp(x + more)] - energy[np.uintp(x)]
        cost += energy[np.uintp(y + less)] - energy[np.uintp(y)]
    return cost
