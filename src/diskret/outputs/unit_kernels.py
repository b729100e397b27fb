"""Loops over the records of units: how many units each cell has, and what they add to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def _ends(unit: NDArray[np.int32], at: NDArray[np.int32], units: int) -> NDArray[np.int32]:
    """Shape (units + 1,): where the records of each unit that are in a cell begin."""
    begins = np.zeros(units + 1, np.int32)
    for record in range(len(unit)):
        if at[record] >= 0:
            begins[unit[record] + 1] += 1
    for one in range(units):
        begins[one + 1] += begins[one]
    return begins


@kernel
def cells_by_unit(
    unit: NDArray[np.int32], at: NDArray[np.int32], units: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the records of each unit end, and the cell of each; those of none are left out."""
    places = _ends(unit, at, units)
    cells = np.empty(places[units], np.int32)
    for record in range(len(unit)):
        if at[record] >= 0:
            cells[places[unit[record]]] = at[record]
            places[unit[record]] += 1
    return places[:units], cells


@kernel
def values_by_unit(
    unit: NDArray[np.int32], at: NDArray[np.int32], values: NDArray[np.float64], units: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Where the records of each unit end, and value and cell of each, side by side in memory."""
    places = _ends(unit, at, units)
    both = np.empty((places[units], 2))
    for record in range(len(unit)):
        if at[record] >= 0:
            place = places[unit[record]]
            both[place, 0] = values[record]
            both[place, 1] = at[record]
            places[unit[record]] = place + 1
    return places[:units], both


@kernel
def counted(
    ends: NDArray[np.int32], at: NDArray[np.int32], into: NDArray[np.int64], cells: int
) -> NDArray[np.int64]:
    """Shape (cells,): how many units have a record there, `into` which the cells are put."""
    found = np.zeros(cells, np.int64)
    last = np.full(cells, -1, np.int32)
    record = 0
    for unit in range(len(ends)):
        while record < ends[unit]:
            cell = into[at[record]]
            if last[cell] != unit:
                last[cell] = unit
                found[cell] += 1
            record += 1
    return found


@kernel
def added_up(
    ends: NDArray[np.int32],
    both: NDArray[np.float64],
    into: NDArray[np.int64],
    cells: int,
    number: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """What units add to cells: how many, sum of sizes, negative ones, the largest sizes.

    The largest have the shape (number, cells), zero where there is none.
    """
    units = np.zeros(cells, np.int64)
    sizes = np.zeros(cells)
    negative = np.zeros(cells, np.bool_)
    largest = np.zeros((number, cells))
    last = np.full(cells, -1, np.int32)
    sums = np.zeros(cells)
    seen = np.empty(cells, np.int32)
    record = 0
    for unit in range(len(ends)):
        some = 0
        while record < ends[unit]:
            cell = into[int(both[record, 1])]
            if last[cell] != unit:
                last[cell] = unit
                sums[cell] = 0.0
                seen[some] = cell
                some += 1
            sums[cell] += both[record, 0]
            record += 1
        for one in range(some):
            cell = seen[one]
            size = sums[cell]
            units[cell] += 1
            if size < 0:
                negative[cell] = True
                size = -size
            sizes[cell] += size
            rank = number
            while rank > 0 and size > largest[rank - 1, cell]:
                if rank < number:
                    largest[rank, cell] = largest[rank - 1, cell]
                largest[rank - 1, cell] = size
                rank -= 1
    return units, sizes, negative, largest


@kernel
def around(
    ends: NDArray[np.int32],
    both: NDArray[np.float64],
    into: NDArray[np.int64],
    value: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Shape (3, cells): how many units have a record below a value of the cell, at it, above."""
    found = np.zeros((len(value), 3), np.int64)
    last = np.full((len(value), 3), -1, np.int32)
    record = 0
    for unit in range(len(ends)):
        while record < ends[unit]:
            cell = into[int(both[record, 1])]
            # no branches: which side a record is on cannot be foreseen
            side = int(both[record, 0] >= value[cell]) + int(both[record, 0] > value[cell])
            found[cell, side] += last[cell, side] != unit
            last[cell, side] = unit
            record += 1
    return found.T
