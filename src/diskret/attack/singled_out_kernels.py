"""Loops of the search for sets of atoms that published cells single out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def _inverse(value: int) -> int:
    result, power, base = 1, 2**31 - 3, value
    while power > 0:
        if power & 1:
            result = result * base % (2**31 - 1)
        base = base * base % (2**31 - 1)
        power >>= 1
    return result


@kernel
def eliminate(matrix: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bring a matrix to reduced rows modulo the prime; which rows they were, and the pivots."""
    prime = 2**31 - 1
    number, width = matrix.shape
    order = np.arange(number)
    pivots = np.empty(min(number, width), np.int64)
    rank = 0
    for row in range(number):
        # rows before are reduced: what is left of this one says whether it is new
        for done in range(rank):
            factor = matrix[row, pivots[done]]
            if factor:
                for at in range(width):
                    if matrix[done, at]:
                        matrix[row, at] = (matrix[row, at] - factor * matrix[done, at]) % prime
        pivot = -1
        for at in range(width):
            if matrix[row, at]:
                pivot = at
                break
        if pivot < 0:
            continue
        inverse = _inverse(matrix[row, pivot])
        for at in range(width):
            kept = matrix[row, at] * inverse % prime
            matrix[row, at] = 0
            matrix[rank, at] = kept
        order[rank], pivots[rank] = row, pivot
        for done in range(rank):
            factor = matrix[done, pivot]
            if factor:
                for at in range(width):
                    if matrix[rank, at]:
                        matrix[done, at] = (matrix[done, at] - factor * matrix[rank, at]) % prime
        rank += 1
    return order[:rank], pivots[:rank]


@kernel
def _holds(
    vector: NDArray[np.int64], rows: NDArray[np.int64], pivots: NDArray[np.int64], scale: int
) -> bool:
    """Whether a vector is a combination of rows."""
    for at in range(len(vector)):
        found = 0
        for row in range(len(pivots)):
            if rows[row, at]:
                found += rows[row, at] * vector[pivots[row]]
        if found != scale * vector[at]:
            return False
    return True


@kernel
def _listed(
    matrix: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What is not zero in some columns: where each row begins, which column, and the value."""
    begins = np.zeros(len(matrix) + 1, np.int64)
    for row in range(len(matrix)):
        begins[row + 1] = begins[row]
        for at in range(len(columns)):
            if matrix[row, columns[at]]:
                begins[row + 1] += 1
    place = np.empty(begins[-1], np.int64)
    value = np.empty(begins[-1], np.int64)
    for row in range(len(matrix)):
        last = begins[row]
        for at in range(len(columns)):
            if matrix[row, columns[at]]:
                place[last], value[last] = at, matrix[row, columns[at]]
                last += 1
    return begins, place, value


@kernel
def _apart(
    target: int,
    inside: NDArray[np.int64],
    has: NDArray[np.float64],
    net: NDArray[np.float64],
    top: NDArray[np.float64],
) -> tuple[float, float, float]:
    """What a unit has, what is left besides it and the next largest, and what these have."""
    top[:] = 0.0
    own, size = 0.0, 0.0
    for one in inside:
        value = has[one] + abs(net[one, 0]) + abs(net[one, 1])
        size += value
        if one == target:
            own = value
            continue
        for at in range(len(top)):
            if value > top[at]:
                value, top[at] = top[at], value
    return own, size - own - top.sum() - 1e-9 * size, top.sum()


@kernel
def search(
    rows: NDArray[np.int64],
    pivots: NDArray[np.int64],
    scale: int,
    old_rows: NDArray[np.int64],
    old_pivots: NDArray[np.int64],
    old_scale: int,
    new_rows: NDArray[np.int64],
    new_pivots: NDArray[np.int64],
    new_scale: int,
    begins: NDArray[np.int64],
    unit: NDArray[np.int64],
    amount: NDArray[np.float64],
    cancels: NDArray[np.bool_],
    spare: NDArray[np.float64],
    total: NDArray[np.float64],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    signed: bool,
    most: int,
    threshold: int,
    others: int,
    share: float,
    together: float,
    nodes: int,
) -> tuple[int, NDArray[np.int64], int]:
    """Try every set of atoms from each start on; see `diskret.attack.singled_out`.

    Returns 1: found, 0: there is none, -1: there were more `nodes`; the set; its units.
    """
    atoms = rows.shape[1]
    deepest = 64
    row_of = np.full(atoms, -1)
    for row in range(len(pivots)):
        row_of[pivots[row]] = row
    free = np.flatnonzero(row_of < 0)
    free_of = np.full(atoms, -1)
    for at in range(len(free)):
        free_of[free[at]] = at
    # how the atom of each row changes each equation, by rows and by equations, without zeros
    row_begins, row_at, row_value = _listed(rows, free)
    begins_of, rows_of, effect_of = _listed(rows[:, free].T.copy(), np.arange(len(pivots)))

    vector = np.zeros(atoms, np.int64)
    left = np.zeros(len(free), np.int64)  # what is missing in each equation
    barred = np.zeros((atoms, 2 * most + 1), np.int64)
    has = np.zeros(len(total))
    times = np.zeros(len(total), np.int64)
    # what a unit has in atoms that are added, and in those that are subtracted, may cancel out
    net = np.zeros((len(total), 2))
    inside = np.empty(len(total), np.int64)
    count = 0
    size = 0.0
    width = 2 * most * (len(pivots) + 1)
    choice = np.empty((deepest + 1, width), np.int64)
    way = np.empty((deepest + 1, width), np.int64)
    number = np.zeros(deepest + 1, np.int64)
    tried = np.zeros(deepest + 1, np.int64)
    best = np.zeros(atoms, np.int64)
    fewest = threshold
    result = 0
    visited = 0
    top = np.empty(others)
    alone = np.bincount(unit, minlength=len(total))  # atoms that each unit is in

    for start in range(len(starts)):
        target = targets[start]
        if start > 0 and target != targets[start - 1]:
            barred[:] = 0
        bound = 0.0
        depth = 0
        number[0], tried[0] = most, 0
        for at in range(most):
            choice[0, at], way[0, at] = starts[start], at + 1
        while depth >= 0:
            if tried[depth] > 0:  # take back what was tried last; it is not tried again below
                atom, sign = choice[depth, tried[depth] - 1], way[depth, tried[depth] - 1]
                vector[atom] = 0
                barred[atom, sign + most] += 1
                if row_of[atom] >= 0:
                    for at in range(row_begins[row_of[atom]], row_begins[row_of[atom] + 1]):
                        left[row_at[at]] += sign * row_value[at]
                else:
                    left[free_of[atom]] -= sign * scale
                for at in range(begins[atom], begins[atom + 1]):
                    if cancels[unit[at]]:
                        net[unit[at], int(sign > 0)] -= abs(sign) * amount[at]
                    else:
                        has[unit[at]] -= abs(sign * amount[at])
                        size -= abs(sign * amount[at])
                    times[unit[at]] -= 1
                    if times[unit[at]] == 0:
                        has[unit[at]] = 0.0
                        net[unit[at]] = 0.0
                        for place in range(count - 1, -1, -1):
                            if inside[place] == unit[at]:
                                inside[place] = inside[count - 1]
                                break
                        count -= 1
                if count == 0:
                    size = 0.0
            if tried[depth] == number[depth]:
                for at in range(number[depth]):
                    barred[choice[depth, at], way[depth, at] + most] -= 1
                depth -= 1
                continue
            atom, sign = choice[depth, tried[depth]], way[depth, tried[depth]]
            tried[depth] += 1
            if depth == 0 and target >= 0:  # the most that others may have besides
                often = sign if alone[target] == 1 else most
                bound = often * share * total[target] * (1 + together * others)
            vector[atom] = sign
            if row_of[atom] >= 0:
                for at in range(row_begins[row_of[atom]], row_begins[row_of[atom] + 1]):
                    left[row_at[at]] -= sign * row_value[at]
            else:
                left[free_of[atom]] += sign * scale
            for at in range(begins[atom], begins[atom + 1]):
                if times[unit[at]] == 0:
                    inside[count] = unit[at]
                    count += 1
                if cancels[unit[at]]:
                    net[unit[at], int(sign > 0)] += abs(sign) * amount[at]
                else:
                    has[unit[at]] += abs(sign * amount[at])
                    size += abs(sign * amount[at])
                times[unit[at]] += 1
            visited += 1
            if visited > nodes:
                return -1, best, fewest
            # can anything that holds these atoms still be unsafe?
            rest, tops = 0.0, 0.0
            if target < 0:
                if count >= fewest:
                    continue
            else:
                top[:] = 0.0
                larger = False
                for place in range(count):
                    one = inside[place]
                    if one == target:
                        continue
                    value = has[one]
                    if value > most * total[target]:
                        larger = True
                        break
                    for at in range(others):
                        if value > top[at]:
                            value, top[at] = top[at], value
                if larger:
                    continue
                for at in range(others):
                    tops += top[at]
                rest = size - has[target] - tops - 1e-9 * size
                if rest >= bound:
                    continue
            # an equation that does not hold yet, with the fewest atoms that could mend it
            wrong, least, looked = -1, width + 1, 0
            for at in range(len(free)):
                if left[at] == 0:
                    continue
                looked += 1
                if looked > 100:  # of so many one is as good as the best
                    break
                ways = 0
                if vector[free[at]] == 0 and spare[free[at]] >= 0:
                    ways += 1
                for place in range(begins_of[at], begins_of[at + 1]):
                    candidate = pivots[rows_of[place]]
                    if vector[candidate] == 0 and spare[candidate] >= 0:
                        if target < 0 or spare[candidate] < bound:
                            ways += 1
                            if ways >= least:
                                break
                if ways < least:
                    wrong, least = at, ways
                    if ways <= 1:
                        break
            if wrong < 0:  # the cells single this set out
                if _holds(vector, old_rows, old_pivots, old_scale):
                    continue
                if _holds(vector, new_rows, new_pivots, new_scale):
                    continue
                if target >= 0:
                    own, rest, tops = _apart(target, inside[:count], has, net, top)
                    if rest >= share * (own + together * tops):
                        continue
                result = 1
                best[:] = vector
                if target >= 0:
                    return 1, best, count
                fewest = count
                continue
            if least == 0:
                continue
            if depth == deepest:
                return -1, best, fewest
            depth += 1
            found = 0
            for place in range(begins_of[wrong] - 1, begins_of[wrong + 1]):
                own = place < begins_of[wrong]
                candidate = free[wrong] if own else pivots[rows_of[place]]
                if vector[candidate] != 0 or spare[candidate] < 0:
                    continue
                if target >= 0 and spare[candidate] >= bound:
                    continue
                step = -scale if own else effect_of[place]
                for much in range(1, most + 1):
                    for turned in range(2 if signed else 1):
                        taken = much * (1 - 2 * turned)
                        if barred[candidate, taken + most]:
                            continue
                        if least == 1 and taken * step != left[wrong]:
                            continue  # nothing else could mend the equation
                        choice[depth, found], way[depth, found] = candidate, taken
                        found += 1
            number[depth], tried[depth] = found, 0
        # whatever holds this start has been tried
        for at in range(2 * most + 1):
            barred[starts[start], at] += 1
    return result, best, fewest
