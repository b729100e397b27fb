"""The cheapest keys to hide for one item after another, however many keys there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.suppression.problem import Condition, Items
from diskret.progress import Progress, silent

Sets = NDArray[np.int64]
Numbers = NDArray[np.float64]

#: Sets of keys that are looked at for one item before the best so far is taken.
_STEPS = 5_000
#: So many times what is missing are the nearest among which a first solution is looked for.
_NEAREST = 4
#: Sums of prices that differ by less are compared once more, exactly.
_SAME = 1e-9
#: Keys whose prices are looked up together.
_TOGETHER = 12


def one_by_one(
    items: Items,
    conditions: Sequence[Condition],
    price: Numbers,
    short: NDArray[np.bool_],
    progress: Progress = silent,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """What some items hide so that what they show is common enough, at the lowest price.

    Whoever is to agree with an item differs from it in some keys, and all of these must be hidden.
    So what is hidden is the union of such sets of keys, as many as are needed, and unions are
    tried from the cheapest on (A*: what is still missing costs at least as much as the farthest of
    the nearest who are enough). Of equal prices that comes first whose number of bits is smallest,
    as in an enumeration of all sets.

    Parameters
    ----------
    items
        All items.
    conditions
        How many have to agree in which keys.
    price
        Of a value of each key, ``(m,)``; inf: never hidden. At most 62 keys.
    short
        Which conditions do not hold for an item as it is, ``(t, c)``. Every item must be able to
        satisfy all of them.
    progress
        Told how many items are done.

    Returns
    -------
    tuple of numpy.ndarray
        What each item hides, ``(c, m)``, and for which items a cheaper set may exist, ``(c,)``,
        because the search was ended.
    """
    from diskret.microdata.suppression import gap_kernels

    prices = _Prices(price)
    subset = [_bits(one.of) for one in conditions]
    groups = np.arange(int(items.group.max(initial=0)) + 2)
    start: list[int] = np.searchsorted(items.group, groups).tolist()
    home: list[int] = items.group.tolist()
    hidden = np.zeros(items.codes.shape, dtype=np.bool_)
    unproven = np.zeros(len(items.codes), dtype=np.bool_)
    todo = np.flatnonzero(short.any(axis=0))
    for done, item in enumerate(todo.tolist()):
        first, end = start[home[item]], start[home[item] + 1]
        differ = gap_kernels.differences(items.codes, item, first, end)
        needs = [
            (subset[t], int(items.need[t, item])) for t in np.flatnonzero(short[:, item]).tolist()
        ]
        found, proven = _cheapest(differ, items.count[first:end], needs, prices)
        hidden[item] = found >> np.arange(len(price)) & 1
        unproven[item] = not proven
        progress("suppress", done + 1, len(todo))
    return hidden, unproven


@dataclass(frozen=True, eq=False)
class _Part:
    """What one condition of an item needs."""

    sets: Sets  # the keys in which others differ from it, (d,)
    count: NDArray[np.int64]  # how many others do, (d,)
    need: int  # how many of them have to agree

    def lacks(self, hidden: int) -> int:
        """How many more have to agree once some keys are hidden."""
        return self.need - int(self.count[(self.sets & ~hidden) == 0].sum())


class _Prices:
    """Prices of sets of keys; sets are numbers of bits."""

    def __init__(self, price: Numbers) -> None:
        self.fixed = _bits(np.flatnonzero(~np.isfinite(price)).tolist())
        self._price = [float(one) if np.isfinite(one) else 0.0 for one in price]
        self._tables: list[Numbers] = []
        for start in range(0, len(price), _TOGETHER):
            table = np.zeros(1)
            for one in self._price[start : start + _TOGETHER]:
                table = np.concatenate([table, table + one])
            self._tables.append(table)

    def of(self, sets: Sets) -> Numbers:
        """Of many sets, up to rounding; of keys that are never hidden: 0."""
        made = np.zeros(len(sets))
        for at, table in enumerate(self._tables):
            made += table.take(sets >> at * _TOGETHER & len(table) - 1)
        return made

    def exactly(self, chosen: int) -> float:
        """Of one set, added up in the order of the keys."""
        total = 0.0
        for q, one in enumerate(self._price):
            if chosen >> q & 1:
                total += one
        return total

    def dearest_first(self, chosen: int) -> Iterator[int]:
        """The keys of a set, each as a set."""
        keys = [q for q in range(len(self._price)) if chosen >> q & 1]
        for q in sorted(keys, key=lambda q: -self._price[q]):
            yield 1 << q


def _bits(keys: Sequence[int]) -> int:
    return sum(1 << q for q in keys)


def _cheapest(
    differ: Sets, count: NDArray[np.int64], needs: Sequence[tuple[int, int]], prices: _Prices
) -> tuple[int, bool]:
    """The cheapest set that satisfies some conditions, and whether that is certain."""
    whole = [_part(differ & subset, count, need, prices) for subset, need in needs]
    known = _greedy(whole, prices)
    limit = prices.exactly(known) * (1 + _SAME)
    parts = [_within(part, prices, limit) for part in whole]
    for key in prices.dearest_first(known):
        if all(part.lacks(known & ~key) <= 0 for part in parts):
            known &= ~key
    return _searched(parts, prices, known)


def _part(sets: Sets, count: NDArray[np.int64], need: int, prices: _Prices) -> _Part:
    possible = (sets & prices.fixed) == 0
    return _Part(sets[possible], count[possible], need)


def _within(part: _Part, prices: _Prices, limit: float) -> _Part:
    """The sets that cost no more than a limit, equal ones together."""
    near = prices.of(part.sets) <= limit
    sets, at = np.unique(part.sets[near], return_inverse=True)
    count = np.bincount(at, weights=part.count[near]).astype(np.int64)
    return _Part(sets, count, part.need)


def _greedy(parts: Sequence[_Part], prices: _Prices) -> int:
    """Hide for one condition after another what brings the next nearest in."""
    hidden = 0
    for part in parts:
        cost = prices.of(part.sets & ~hidden)
        most = _NEAREST * part.need
        if len(cost) > most:
            near = np.argpartition(cost, most)[:most]
            part = _Part(part.sets[near], part.count[near], part.need)
        while part.lacks(hidden) > 0:
            left = part.sets & ~hidden
            left = left[left != 0]
            hidden |= int(left[np.argmin(prices.of(left))])
    return hidden


def _searched(parts: Sequence[_Part], prices: _Prices, known: int) -> tuple[int, bool]:
    """The cheapest set, or the best that was found in so many steps; `known` satisfies all."""
    best = (prices.exactly(known), known)
    heap = [(0.0, 0.0, 0)]
    seen = {0}
    for _ in range(_STEPS):
        if not heap or heap[0][0] > best[0] * (1 + _SAME):
            return best[1], True
        _, total, hidden = heappop(heap)
        worst = _worst(parts, prices, hidden)
        if worst is None:
            best = min(best, (total, hidden))
            continue
        bound, left = worst
        limit = best[0] * (1 + _SAME)
        if total + bound > limit:
            continue
        left = left[prices.of(left) <= limit - total]
        for union in np.unique(left | hidden).tolist():
            if union not in seen:
                seen.add(union)
                price = prices.exactly(union)
                heappush(heap, (max(total + bound * (1 - _SAME), price), price, union))
    return best[1], False


def _worst(parts: Sequence[_Part], prices: _Prices, hidden: int) -> tuple[float, Sets] | None:
    """What the dearest condition still costs at least, and what may be hidden for it."""
    found: tuple[float, Sets] | None = None
    for part in parts:
        left = part.sets & ~hidden
        there = left != 0
        lacks = part.need - int(part.count[~there].sum())
        if lacks <= 0:
            continue
        left, count = left[there], part.count[there]
        cost = prices.of(left)
        order = np.argsort(cost, kind="stable")
        enough = int(np.searchsorted(np.cumsum(count[order]), lacks))
        if enough == len(order):  # whoever could still help is dearer than the best so far
            return np.inf, left
        if found is None or cost[order[enough]] > found[0]:
            found = float(cost[order[enough]]), left
    return found
