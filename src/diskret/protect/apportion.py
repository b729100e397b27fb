"""What somebody has in cells that nobody tabulated, as far as equations tell it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.tables.boxes import ranges

#: No bound at all.
ENDLESS = np.int64(2**61)
_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Amounts:
    """Who has at least and at most how much where, one entry a pair; who is not named has nothing.

    who, cell: the contributor's number, and the cell, ``(e,)``, int64.
    low, high: scaled units, ``(e,)``, int64.
    """

    who: NDArray[np.int64]
    cell: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.who)

    def only(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Amounts:
        """Some of them."""
        return Amounts(self.who[which], self.cell[which], self.low[which], self.high[which])

    def and_(self, other: Amounts) -> Amounts:
        """Both."""
        names = ("who", "cell", "low", "high")
        return Amounts(*(np.append(getattr(self, n), getattr(other, n)) for n in names))

    @classmethod
    def exactly(
        cls, who: NDArray[np.int64], cell: NDArray[np.int64], value: NDArray[np.int64]
    ) -> Amounts:
        """Amounts that are known."""
        return cls(who, cell, value, value)


@dataclass(frozen=True, eq=False)
class Apportioned:
    """Amounts in all cells that could be bounded, ``done`` says which, bool ``(n,)``."""

    amounts: Amounts
    done: NDArray[np.bool_]


def apportion(
    equations: sparse.csr_array,
    known: Amounts,
    given: NDArray[np.bool_],
    most: NDArray[np.int64],
) -> Apportioned:
    """Bounds of what contributors have in all other cells, where nobody has less than nothing.

    equations: ``equations @ amounts`` is zero for each contributor, ``(m, n)``, entries 1 and -1.
    given: which cells these are, ``(n,)``.
    most: what nobody has more than in a cell, ``(n,)``.

    >>> one = np.array([0])
    >>> whole, women = Amounts.exactly(one, one, one + 9), Amounts.exactly(one, one + 1, one + 4)
    >>> rest = sparse.csr_array(np.array([[1, -1, -1]]))
    >>> found = apportion(rest, whole.and_(women), np.array([1, 1, 0], bool), np.full(3, ENDLESS))
    >>> found.amounts.low.tolist()
    [9, 4, 5]
    """
    rows = sparse.csr_array(equations, dtype=np.int64)
    amounts, done = known, given.copy()
    while True:
        cells, more = _next(rows, amounts, given, done, most)
        if not len(cells):
            break
        done[cells] = True
        amounts = amounts.and_(more)
    return Apportioned(tightened(rows, amounts, given, done), done)


def exactly_told(equations: sparse.csr_array, given: NDArray[np.bool_]) -> bool:
    """Whether amounts in all other cells follow from those in given ones, whatever these are."""
    rows = sparse.csr_array(equations)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    told = given.copy()
    while True:
        open_ = np.bincount(row, ~told[rows.indices], minlength=rows.shape[0])
        alone = ~told[rows.indices] & (open_[row] == 1)
        if not alone.any():
            return bool(told.all())
        told[rows.indices[alone]] = True


def _next(
    rows: sparse.csr_array,
    amounts: Amounts,
    given: NDArray[np.bool_],
    done: NDArray[np.bool_],
    most: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Amounts]:
    """Cells that stand alone against cells that are done, and the most that anybody has there."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    cell, sign = rows.indices.astype(np.int64), rows.data
    side = 2 * row + (sign > 0)
    open_ = np.bincount(side, ~done[cell], minlength=2 * rows.shape[0])
    ready = np.flatnonzero(~done[cell] & (open_[side ^ 1] == 0))
    if not len(ready):
        return np.zeros(0, dtype=np.int64), amounts.only(np.zeros(0, dtype=np.int64))
    # each ready entry with all cells of its row that count: the other side's, and known ones
    term, again = ranges(rows.indptr, row[ready])
    counts = (sign[term] != sign[ready][again]) | given[cell[term]]
    counts &= cell[term] != cell[ready][again]
    term, again = term[counts], again[counts]
    order, start = _by_cell(amounts, len(done))
    at, of = ranges(start, cell[term])
    entry, again = order[at], again[of]
    opposite = sign[term][of] != sign[ready][again]
    value = np.where(opposite, amounts.high[entry], -amounts.low[entry])
    person, total = _added(again, amounts.who[entry], value)
    # of all equations the closest; nobody has anything where one of them says so
    target = cell[ready][person[:, 0]]
    total = np.minimum(total, most[target])
    order = np.lexsort((person[:, 1], target))
    target, who, total = target[order], person[order, 1], total[order]
    new = np.append(True, (np.diff(target) != 0) | (np.diff(who) != 0))[: len(target)]
    first = np.flatnonzero(new)
    cells, equations = np.unique(cell[ready], return_counts=True)
    if not len(first):
        return cells, amounts.only(np.zeros(0, dtype=np.int64))
    often = np.diff(np.append(first, len(target)))
    high = np.minimum.reduceat(total, first)
    target, who = target[first], who[first]
    stays = (often == equations[np.searchsorted(cells, target)]) & (high > 0)
    high = high[stays]
    return cells, Amounts(who[stays], target[stays], np.zeros_like(high), high)


def tightened(
    rows: sparse.csr_array,
    amounts: Amounts,
    given: NDArray[np.bool_],
    done: NDArray[np.bool_],
) -> Amounts:
    """Amounts as close as each equation by itself makes them; those of `given` cells stay."""
    whole = np.bincount(
        np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)),
        ~done[rows.indices],
        minlength=rows.shape[0],
    )
    used = sparse.csc_array(rows[np.flatnonzero(whole == 0)])
    at, pair = ranges(used.indptr, amounts.cell)
    row, plus = used.indices[at].astype(np.int64), used.data[at] > 0
    key = amounts.who[pair] * max(1, used.shape[0]) + row
    group = np.unique(key, return_inverse=True)[1]
    own = ~given[amounts.cell]
    groups = int(group.max(initial=-1)) + 1
    low, high = amounts.low.copy(), amounts.high.copy()
    # what is known is never moved; the smallest equations first would not change the result
    moving = own[pair]
    pair_, group_, plus_ = pair[moving], group[moving], plus[moving]
    for _ in range(_ROUNDS):
        sums = {
            side: [_total(group[mine], of[pair[mine]], groups) for of in (low, high)]
            for side, mine in ((True, plus), (False, ~plus))
        }
        mine = [np.where(plus_, sums[True][i][group_], sums[False][i][group_]) for i in (0, 1)]
        other = [np.where(plus_, sums[False][i][group_], sums[True][i][group_]) for i in (0, 1)]
        new_high, new_low = high.copy(), low.copy()
        np.minimum.at(new_high, pair_, other[1] - (mine[0] - low[pair_]))
        np.maximum.at(new_low, pair_, other[0] - (mine[1] - high[pair_]))
        if np.array_equal(new_high, high) and np.array_equal(new_low, low):
            break
        low, high = new_low, new_high
    return replace(amounts, low=low, high=high)


def _by_cell(amounts: Amounts, cells: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The entries in the order of cells, and where those of each cell start."""
    order = np.argsort(amounts.cell, kind="stable")
    return order, np.searchsorted(amounts.cell[order], np.arange(cells + 1))


def _added(
    what: NDArray[np.int64], who: NDArray[np.int64], value: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sums by both: the pairs ``(g, 2)``, and their sums."""
    people = int(who.max(initial=-1)) + 1
    key, place = np.unique(what * max(1, people) + who, return_inverse=True)
    return np.stack(np.divmod(key, max(1, people)), axis=1), _total(place, value, len(key))


def _total(place: NDArray[np.int64], value: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    total = np.zeros(number, dtype=np.int64)
    np.add.at(total, place, value)
    return total


# ── records, each of which is in one place ──────────────────────────────────────────


def forced(
    equations: sparse.csr_array,
    known: Amounts,
    given: NDArray[np.bool_],
    most: NDArray[np.int64],
) -> Apportioned:
    """As `apportion` for records, of which each counts as 1 in every cell that it is in.

    A record is in everything that a given cell with it is a part of, and the given cells have all
    that there is of their population; so it is in no other such thing.
    """
    rows, own = sparse.csr_array(equations, dtype=np.int64), given
    while True:
        found = apportion(rows, known, given, most)
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        side = 2 * row + (rows.data > 0)
        size = np.bincount(side, minlength=2 * rows.shape[0])
        open_ = ~found.done[rows.indices] & (size[side] == 1)
        some = np.bincount(row, own[rows.indices], minlength=rows.shape[0])
        first = np.flatnonzero(open_ & (some[row] > 0))[:1]
        if not len(first):
            return found
        # whoever is in a part of this cell is in it
        cell, line = int(rows.indices[first[0]]), int(row[first[0]])
        parts = rows.indices[rows.indptr[line] : rows.indptr[line + 1]]
        inside = np.isin(found.amounts.cell, parts[own[parts]])
        who = np.unique(found.amounts.who[inside])
        ones = np.ones_like(who)
        given = found.done.copy()
        given[cell] = True
        known = found.amounts.and_(Amounts.exactly(who, np.full_like(who, cell), ones))


def alternatives(
    equations: sparse.csr_array,
    found: Apportioned,
    given: NDArray[np.bool_],
    people: int,
    limit: int,
) -> tuple[Amounts, NDArray[np.int64], bool]:
    """Every place that a record may be in: amounts of alternatives, of whom each is one.

    The last value says whether these are all; there are more where they would be too many.
    """
    rows, amounts = sparse.csr_array(equations, dtype=np.int64), found.amounts
    origin = np.arange(people)
    while True:
        amounts = tightened(rows, amounts, given, found.done)
        wrong = np.zeros(len(origin), dtype=bool)
        wrong[amounts.who[amounts.low > amounts.high]] = True
        if wrong.any():
            kept = np.cumsum(~wrong) - 1
            amounts = amounts.only(~wrong[amounts.who])
            amounts = replace(amounts, who=kept[amounts.who])
            origin = origin[~wrong]
        open_ = np.flatnonzero(amounts.low < amounts.high)
        if not len(open_):
            return amounts, origin, True
        if len(amounts) > limit:
            return amounts, origin, False
        who, first = np.unique(amounts.who[open_], return_index=True)
        entry = open_[first]
        number = np.full(len(origin), -1)
        number[who] = len(origin) + np.arange(len(who))
        again = amounts.only(number[amounts.who] >= 0)
        at = np.full(len(amounts), -1)
        at[number[amounts.who] >= 0] = np.arange(len(again))
        again = replace(again, who=number[again.who])
        again.high[at[entry]] = 0
        low = amounts.low.copy()
        low[entry] = 1
        amounts = replace(amounts, low=low).and_(again)
        origin = np.append(origin, origin[who])
