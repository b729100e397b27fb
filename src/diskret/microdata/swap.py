"""Swapping: records exchange values in pairs, so that every distribution stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Rows = NDArray[np.intp]
Pairs = tuple[Rows, Rows]


def partners(
    values: Rows,
    levels: Sequence[Rows],
    chance: NDArray[np.float64],
    risky: Flags,
    part: Flags,
    rng: np.random.Generator,
) -> Rows:
    """Pair records that exchange their values.

    Records are drawn, and pairs are formed among them, first in the finest groups, then in the
    next coarser ones. Pairs are drawn at random, but equal values are not exchanged: of the records
    drawn in a group as many find a partner with another value as possible. For risky records
    that find none a partner is drawn that was not drawn at first.

    `values`: a number for each value, or combination of values, that is exchanged as one, ``(n,)``.
    `levels`: for each record its group, each ``(n,)``; from fine to coarse. The last are the
    strata, across which nothing is exchanged. `chance`: probability of each record to be drawn,
    ``(n,)``. `risky`: records that are drawn in any case, ``(n,)``. `part`: records that take part,
    ``(n,)``. Returns for each record the one whose values it gets, ``(n,)``; itself where nothing
    is exchanged. Each is the partner of its partner.
    """
    found = np.arange(len(values))
    free = _drawn(values, levels[-1], chance, risky, part, rng)
    idle = part.copy()
    for group in levels:
        for pairs in _rounds(values, group, free, idle, risky, rng):
            left, right = pairs
            found[left], found[right] = right, left
            for flags in (free, idle):
                flags[left] = flags[right] = False
    return found


def _drawn(
    values: Rows,
    strata: Rows,
    chance: NDArray[np.float64],
    risky: Flags,
    part: Flags,
    rng: np.random.Generator,
) -> Flags:
    """The records that look for a partner; an even number in each stratum where that is possible.

    Each is drawn with its probability, and of each stratum and value as many as can be expected
    (up to one): probabilities are added up in the order of strata and values, and who reaches the
    next whole number is drawn. The order of strata and values is itself drawn. Where the number
    is odd, a further record joins or one leaves, which is equally likely: so records of small
    strata are exchanged as often as others. Risky ones never leave.
    """
    size, width = (int(one.max(initial=-1)) + 1 for one in (strata, values))
    order = rng.permutation(np.flatnonzero(part & ~risky))
    block = rng.permutation(size)[strata[order]] * width + rng.permutation(width)[values[order]]
    order = order[np.argsort(block, kind="stable")]
    reached = np.floor(np.cumsum(chance[order]) + rng.random())
    drawn = part & risky
    drawn[order] = np.diff(reached, prepend=0) > 0
    odd = np.bincount(strata[drawn], minlength=size) % 2 == 1
    more = odd & (rng.random(size) < 0.5)
    join = np.flatnonzero(part & ~drawn & (chance > 0) & more[strata])
    leave = np.flatnonzero(drawn & ~risky & (odd & ~more)[strata])
    drawn[_one_of_each(join, strata, rng)] = True
    drawn[_one_of_each(leave, strata, rng)] = False
    return drawn


def _rounds(
    values: Rows, group: Rows, free: Flags, idle: Flags, risky: Flags, rng: np.random.Generator
) -> Iterator[Pairs]:
    """Pairs within groups; whoever takes them marks them as no longer free and idle."""
    yield _paired(values, group, np.flatnonzero(free), risky, rng)
    while True:
        needing = np.flatnonzero(free & risky)
        others = np.flatnonzero(idle & ~(free & risky))
        pairs = _helped(values, group, needing, others, rng)
        if not len(pairs[0]):
            return
        yield pairs


def _paired(values: Rows, group: Rows, rows: Rows, risky: Flags, rng: np.random.Generator) -> Pairs:
    """As many pairs with different values as possible among some records of each group."""
    rows = rng.permutation(rows)
    # of an odd number the last one finds nobody, which should be none at risk
    last = np.zeros(len(rows), dtype=bool)
    safe = np.flatnonzero(~risky[rows])
    last[safe[np.unique(group[rows[safe]], return_index=True)[1]]] = True
    rows = rows[np.lexsort((last, group[rows]))]
    rank = place_in_group(group[rows])
    second = np.flatnonzero(rank % 2 == 1)
    left, right = rows[second - 1], rows[second]
    equal = values[left] == values[right]
    alone = np.delete(rows, np.concatenate([second - 1, second]))
    again = _turned(values, group, np.concatenate([left[equal], right[equal], alone]), rng)
    left, right = np.concatenate([[left[~equal], right[~equal]], again], axis=1)
    return _broken(values, group, left, right)


def _turned(values: Rows, group: Rows, rows: Rows, rng: np.random.Generator) -> NDArray[np.intp]:
    """Pairs among records of each group, ``(2, pairs)``; of an odd number one finds nobody.

    Of records sorted by value, in a drawn order of values, each meets the one half a turn away:
    both are equal only if more than half of the group are, and then whoever finds nobody is one
    of these.
    """
    shuffled = rng.permutation(int(values.max(initial=-1)) + 1)
    rows = rows[np.lexsort((shuffled[values[rows]], group[rows]))]
    rank = place_in_group(group[rows])
    size = np.bincount(group[rows], minlength=1)[group[rows]]
    at = np.flatnonzero(rank < size // 2)
    return np.stack([rows[at], rows[at + (size[at] + 1) // 2]])


def _broken(values: Rows, group: Rows, left: Rows, right: Rows) -> Pairs:
    """Equal pairs, and others without that value, become pairs that differ; the rest is left out.

    The equal pairs of a group all have the same value.
    """
    equal = values[left] == values[right]
    same = np.full(int(group.max(initial=-1)) + 1, -1, dtype=values.dtype)
    same[group[left[equal]]] = values[left[equal]]
    one = same[group[left]]
    stuck = np.flatnonzero(equal)
    open_ = np.flatnonzero(~equal & (one >= 0) & (values[left] != one) & (values[right] != one))
    first, second = _zipped(group[left[stuck]], group[left[open_]])
    stuck, open_ = stuck[first], open_[second]
    right[stuck], left[open_] = left[open_], right[stuck]
    keep = values[left] != values[right]
    return left[keep], right[keep]


def _helped(
    values: Rows, group: Rows, needing: Rows, others: Rows, rng: np.random.Generator
) -> Pairs:
    """Partners with another value for records that need one, in each group as far as they go.

    What is left of a group after pairs were formed has one value.
    """
    needing, others = rng.permutation(needing), rng.permutation(others)
    value = np.full(int(group.max(initial=-1)) + 1, -1, dtype=values.dtype)
    value[group[needing]] = values[needing]
    others = others[value[group[others]] >= 0]
    others = others[np.argsort(values[others] == value[group[others]], kind="stable")]
    first, second = _zipped(group[needing], group[others])
    left, right = needing[first], others[second]
    keep = values[left] != values[right]
    return left[keep], right[keep]


def _one_of_each(rows: Rows, group: Rows, rng: np.random.Generator) -> Rows:
    """One record at random of each group that has any."""
    rows = rng.permutation(rows)
    return rows[np.unique(group[rows], return_index=True)[1]]


def _zipped(one: Rows, other: Rows) -> Pairs:
    """Places in two lists of groups: the first of a group with the first of it, and so on."""
    width = len(one) + len(other) + 1
    order, turn = np.argsort(one, kind="stable"), np.argsort(other, kind="stable")
    numbers = (
        one[order] * width + place_in_group(one[order]),
        other[turn] * width + place_in_group(other[turn]),
    )
    _, first, second = np.intersect1d(*numbers, assume_unique=True, return_indices=True)
    return order[first], turn[second]


def place_in_group(group: Rows) -> Rows:
    """Place of each in its group, from 0; groups come one after another."""
    at = np.arange(len(group))
    start = np.flatnonzero(np.diff(group, prepend=-1))
    return at - np.repeat(start, np.diff(start, append=len(group)))
