"""The search for the smallest sets of keys in which a record is alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def minimal_uniques(
    codes: NDArray[np.int32],
    count: NDArray[np.int64],
    width: int,
    matches: bool,
    largest: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover - compiled
    """Classes of one record, and the smallest sets of keys (bits) in which they are alone.

    `codes` has a row for each key, -1 where missing, and is less than `width`; `count` says how
    many records a class has. `matches`: a missing value agrees with every value. At most `largest`
    keys make a set.

    Sets of keys are walked depth-first: from a set to itself and one key below its lowest. So
    every set comes after all its subsets, and a set in which a class is alone is smallest if no
    set found before is part of it. On the way classes are split into those that agree in the
    set; who is alone is left behind, and so are groups in which everybody is a class of several
    records. A class that takes part only because its missing value agrees is written as -1 - i.
    """
    keys, n = codes.shape
    member = np.empty((largest, n), dtype=np.int32)  # the group that agrees in the set
    split = np.empty((largest, n), dtype=np.int32)  # the same, put together by the next key
    size = np.zeros(largest, dtype=np.int64)
    known = np.zeros(largest, dtype=np.int64)  # so many of `split` have a value
    at = np.zeros(largest, dtype=np.int64)  # so many of those are done
    key = np.zeros(largest, dtype=np.int64)  # the next key
    upper = np.zeros(largest, dtype=np.int64)  # keys from here on are in the set or passed
    mask = np.zeros(largest, dtype=np.int64)
    often = np.zeros(width, dtype=np.int64)
    place = np.zeros(width, dtype=np.int64)
    met = np.empty(width, dtype=np.int64)
    newest = np.full(n, -1, dtype=np.int64)  # last set found for a class, then the one before …
    before = np.empty(1024, dtype=np.int64)
    found = np.empty(1024, dtype=np.int64)
    sets = np.empty(1024, dtype=np.int64)
    total = 0

    for i in range(n):
        member[0, i] = i if count[i] == 1 else -1 - i
    size[0], upper[0] = n, keys
    depth = 0
    while depth >= 0:
        if at[depth] < known[depth]:
            column = codes[key[depth] - 1]
            start = at[depth]
            first = split[depth, start]
            shown = column[first if first >= 0 else -1 - first]
            end = start
            alive = False
            while end < known[depth]:
                i = split[depth, end]
                if column[i if i >= 0 else -1 - i] != shown:
                    break
                alive = alive or i >= 0
                end += 1
            at[depth] = end
            if not alive:
                continue
            unknown = size[depth] - known[depth] if matches else 0
            here = mask[depth] | (np.int64(1) << (key[depth] - 1))
            if end - start + unknown == 1:
                smallest = True
                entry = newest[first]
                while entry >= 0:
                    if sets[entry] & here == sets[entry]:
                        smallest = False
                        break
                    entry = before[entry]
                if smallest:
                    if total == len(found):
                        before = np.concatenate((before, np.empty_like(before)))
                        found = np.concatenate((found, np.empty_like(found)))
                        sets = np.concatenate((sets, np.empty_like(sets)))
                    before[total], found[total], sets[total] = newest[first], first, here
                    newest[first] = total
                    total += 1
            elif depth + 1 < largest and key[depth] > 1:
                below = depth + 1
                for j in range(start, end):
                    member[below, j - start] = split[depth, j]
                for j in range(unknown):
                    i = split[depth, known[depth] + j]
                    member[below, end - start + j] = i if i < 0 else -1 - i
                size[below] = end - start + unknown
                upper[below] = key[depth] - 1
                key[below] = known[below] = at[below] = 0
                mask[below] = here
                depth = below
        elif key[depth] < upper[depth]:
            column = codes[key[depth]]
            key[depth] += 1
            different = 0
            for j in range(size[depth]):
                i = member[depth, j]
                code = column[i if i >= 0 else -1 - i]
                if code >= 0:
                    if often[code] == 0:
                        met[different] = code
                        different += 1
                    often[code] += 1
            start = 0
            for j in range(different):
                place[met[j]] = start
                start += often[met[j]]
                often[met[j]] = 0
            known[depth], at[depth] = start, 0
            for j in range(size[depth]):
                i = member[depth, j]
                code = column[i if i >= 0 else -1 - i]
                if code >= 0:
                    split[depth, place[code]] = i
                    place[code] += 1
                else:
                    split[depth, start] = i
                    start += 1
        else:
            depth -= 1
    return found[:total], sets[:total]
