"""Loops of the search: where the cells of combinations are, and which combinations lie near."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel


@kernel
def place(row, values, maps, index):
    """Cells of a combination in all tables."""
    for t in range(len(maps.base)):
        index[t] = maps.base[t]
    for g in range(len(maps.width)):
        start, size = maps.first[g], maps.first[g + 1] - maps.first[g]
        key = maps.key_first[g] + values[row, g] * size
        for p in range(size):
            index[np.uintp(maps.tables[np.uintp(start + p)])] += maps.key[np.uintp(key + p)]


@kernel
def add_counts(values, count, sign, maps, state):
    """Add the counts of combinations to the states of their cells."""
    index = np.empty(len(maps.base), dtype=np.int32)
    for row in range(len(count)):
        if count[row]:
            place(row, values, maps, index)
            for t in range(len(index)):
                state[index[t]] += sign * count[row]


@kernel
def nearest(i, values, weight, window, near, away):
    """Find the next rows of a block that lie nearest to row i, nearest first; how many.

    How far two rows are from each other: in how many tables the groups stand in which they differ,
    a table with two of these counted twice. That is told from the values alone.

    values: groups of each row, ``(rows, G)``; weight: tables of each group. Only the next `window`
    rows are looked at. near: space for the rows that are found; away: for how far they are.
    """
    groups, most = values.shape[1], len(near)
    found = 0
    for j in range(i + 1, min(i + 1 + window, len(values))):
        far = np.int32(0)
        for g in range(groups):
            far += weight[g] * np.int32(values[i, g] != values[j, g])
        if found == most and far >= away[found - 1]:
            continue
        found = min(found + 1, most)
        p = found - 1
        while p > 0 and away[p - 1] > far:
            away[p], near[p] = away[p - 1], near[p - 1]
            p -= 1
        away[p], near[p] = far, j
    return found
