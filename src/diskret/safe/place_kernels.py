"""Loops of the search: where the cells of combinations are, and which combinations lie near."""

# numba compiles these functions; its decorator hides their types.
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import numpy as np

from diskret.kernel import kernel

#: Bits of a key that are sorted by at once.
_DIGIT = 11


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
def place_next(row, before, values, maps, index):
    """The same from the cells of a combination with which it has most values in common."""
    for g in range(len(maps.width)):
        v, u = np.int64(values[row, g]), np.int64(values[before, g])
        if v == u:
            continue
        start, size = maps.first[g], maps.first[g + 1] - maps.first[g]
        key, old = maps.key_first[g] + v * size, maps.key_first[g] + u * size
        for p in range(size):
            move = maps.key[np.uintp(key + p)] - maps.key[np.uintp(old + p)]
            index[np.uintp(maps.tables[np.uintp(start + p)])] += move


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
def sort_rows(rows, values, groups, bits):
    """Places of rows sorted by their values in some groups, the first of them first.

    Equal ones stay in their order. groups, bits: these groups, and how many bits a value of each
    takes, at most 64 together; both int64. A radix sort: digit by digit, the last one first.
    """
    key, order = np.empty(len(rows), dtype=np.uint64), np.arange(len(rows))
    keys, places = np.empty(len(rows), dtype=np.uint64), np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        one = np.uint64(0)
        for j in range(len(groups)):
            one = (one << np.uint64(bits[j])) | np.uint64(values[rows[i], groups[j]])
        key[i] = one
    most = np.uint64((1 << _DIGIT) - 1)
    for shift in range(0, bits.sum(), _DIGIT):
        low = np.uint64(shift)
        start = np.zeros((1 << _DIGIT) + 1, dtype=np.int64)
        for i in range(len(rows)):
            start[((key[i] >> low) & most) + np.uint64(1)] += 1
        for digit in range(1 << _DIGIT):
            start[digit + 1] += start[digit]
        for i in range(len(rows)):
            digit = (key[i] >> low) & most
            at = start[digit]
            keys[at], places[at] = key[i], order[i]
            start[digit] += 1
        key, keys, order, places = keys, key, places, order
    return order


@kernel
def nearest(i, values, weight, far, near, away):
    """Find the next rows of a block that lie nearest to row i, nearest first; how many.

    How far two rows are from each other: in how many tables the groups stand in which they differ,
    a table with two of these counted twice. That is told from the values alone.

    values: groups of each row, ``(G, rows)``; weight: tables of each group. far: space for how far
    the next rows are; so many are looked at. near: space for the rows that are found; away: for
    how far they are.
    """
    groups, rows = values.shape
    following, most = min(len(far), rows - i - 1), len(near)
    for j in range(following):
        far[j] = 0
    for g in range(groups):
        own, one, later = values[g, i], weight[g], values[g, i + 1 : i + 1 + following]
        for j in range(following):
            far[j] += one if later[j] != own else np.int32(0)
    found = 0
    for j in range(following):
        if found == most and far[j] >= away[found - 1]:
            continue
        found = min(found + 1, most)
        p = found - 1
        while p > 0 and away[p - 1] > far[j]:
            away[p], near[p] = away[p - 1], near[p - 1]
            p -= 1
        away[p], near[p] = far[j], i + 1 + j
    return found
