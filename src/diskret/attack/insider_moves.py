"""Alternative tables, and which contributors contradict them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN, Point, product, times
from diskret.graphs import connected

if TYPE_CHECKING:
    from diskret.attack.insiders import Coalition, Insiders

#: Numbers that are computed, not exact, have to hold with this much to spare.
SPARE = 1e-12
#: How many tables at the end count as recent.
_RECENT = 16


class Shown:
    """Alternative tables as differences from the original one.

    known: the equations; parts of a table that no equation connects become tables of their own.
    truth: original values of the unknown cells; of unpublished ones 0, as nobody knows them.
    insiders: who contributes, and the targets.
    whole: tables must consist of whole numbers, so none is moved towards the original one.
    """

    def __init__(self, known: Equations, truth: NDArray[np.int64], insiders: Insiders, whole: bool):
        self.truth, self.insiders, self.whole = truth, insiders, whole
        self.latent = known.latent
        self._matrix = known.matrix
        k, targets = len(truth), insiders.target.shape[0]
        self._moved = np.zeros((64, k))
        self._reach = np.zeros((64, targets))
        self._cells = np.zeros(64, dtype=np.int64)
        self._size = 0
        self._known: set[bytes] = set()
        self._by_cell = sparse.csc_array(insiders.own)
        self._target = sparse.csr_array(insiders.target.T)
        self._largest = _largest(self._by_cell, insiders.coalition)

    def add(self, table: Point, apart: bool = True) -> None:
        """Keep a table, in parts that nothing connects or as it is."""
        difference = table.numerator - times(self.truth, table.denominator)
        fraction = np.asarray(difference % table.denominator != 0, dtype=bool)
        moved = np.asarray(difference / table.denominator, dtype=np.float64)
        # never told larger than it is
        rounded = fraction | (np.abs(moved) >= 2.0**53)
        moved = np.where(rounded, moved - 4 * np.spacing(np.abs(moved)), moved)
        for cells in self._parts(moved) if apart else [np.flatnonzero(moved)]:
            mark = cells.tobytes() + moved[cells].tobytes()
            if mark not in self._known:
                self._known.add(mark)
                self._append(cells, moved[cells], difference[cells], table.denominator)

    def _parts(self, moved: NDArray[np.float64]) -> list[NDArray[np.int64]]:
        cells = np.flatnonzero(moved)
        if not len(cells) or self.latent.any():
            return [cells] if len(cells) else []
        among = abs(self._matrix[:, cells])
        label = connected(among.T @ among)
        order = np.argsort(label, kind="stable")
        return np.split(cells[order], np.flatnonzero(np.diff(label[order])) + 1)

    def _append(
        self,
        cells: NDArray[np.int64],
        moved: NDArray[np.float64],
        difference: NDArray[Any],
        unit: int,
    ) -> None:
        if self._size == len(self._moved):
            self._moved = np.concatenate((self._moved, np.zeros_like(self._moved)))
            self._reach = np.concatenate((self._reach, np.zeros_like(self._reach)))
            self._cells = np.concatenate((self._cells, np.zeros_like(self._cells)))
        at = self._size
        self._moved[at, cells] = moved
        total = product(sparse.csr_array(self._target[cells].T), difference)
        reach = np.asarray(total / unit, dtype=np.float64)
        exact = np.asarray(total % unit == 0, dtype=bool) & (np.abs(reach) < 2.0**52)
        self._reach[at] = np.where(exact, reach, reach * (1 - SPARE))
        self._cells[at] = len(cells)
        self._size += 1

    # ── what a coalition knows ───────────────────────────────────────────────────────

    def own(self, who: Coalition) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Cells of a coalition, what it has there, and where it is alone."""
        rows = self.insiders.own[list(who)]
        cells, place = np.unique(rows.indices, return_inverse=True)
        value = np.zeros(len(cells), dtype=np.int64)
        np.add.at(value, place, rows.data)
        number = self.insiders.number[cells]
        alone = np.bincount(place, minlength=len(cells)) == number
        return cells, value, alone | ((number < 0) & (value == self.truth[cells]))

    def bounds_of(
        self, who: Coalition, bounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What a coalition knows of each unknown cell beside the equations."""
        low, high = bounds[0].copy(), bounds[1].copy()
        if who:
            cells, value, alone = self.own(who)
            alone &= ~self.latent[cells]
            bounded = self.insiders.bounded[cells]
            least = np.where(bounded, value, -UNKNOWN)
            low[cells] = np.maximum(low[cells], np.where(alone, self.truth[cells], least))
            high[cells] = np.minimum(high[cells], np.where(alone, self.truth[cells], UNKNOWN))
        return low, high

    def share(self, who: Coalition, first: int, stop: int) -> NDArray[np.float64]:
        """How much of the way to some tables a coalition cannot rule out, 0 to 1."""
        if not who:
            return np.ones(stop - first)
        cells, value, alone = self.own(who)
        alone &= ~self.latent[cells]
        moved = self._moved[first:stop, cells]
        slack = (self.truth[cells] - value).astype(np.float64)
        bad = (moved < -slack) & self.insiders.bounded[cells]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(bad, np.maximum(slack / -moved * (1 - SPARE), 0), 1.0)
        part[:, self.latent[cells]] = ~bad[:, self.latent[cells]]
        part = np.where(alone & (moved != 0), 0.0, part)
        least = part.min(axis=1, initial=1.0)
        return np.where(least < 1, 0.0, least) if self.whole else least

    def proving(
        self,
        who: Coalition,
        claims: Sequence[tuple[int, int]],
        wanted: NDArray[np.int64],
        recent: bool = False,
    ) -> NDArray[np.int64]:
        """A table that proves each claim, that with the fewest cells; −1 where there is none.

        With `recent` only the tables found last are looked at.
        """
        first = max(0, self._size - _RECENT) if recent else 0
        if self._size == first:
            return np.full(len(claims), -1)
        target, side = np.array(claims, dtype=np.int64).reshape(-1, 2).T
        share = self.share(who, first, self._size)
        use = np.flatnonzero(share > 0)
        if not len(use):
            return np.full(len(claims), -1)
        found = np.full(len(claims), -1)
        most = np.where(side > 0, self.insiders.most[1][target], self.insiders.most[0][target])
        for start in range(0, len(claims), 256):
            part = slice(start, start + 256)
            at = np.ix_(first + use, target[part])
            reach = self._reach[at] * side[part] * share[use, None]
            enough = reach >= wanted[part]
            # one that goes as far as anybody can ask for, if there is one
            price = self._cells[first + use, None] + np.where(reach < most[part], 10**9, 0)
            price = np.where(enough, price, np.iinfo(np.int64).max)
            best = price.argmin(axis=0)
            there = enough[best, np.arange(reach.shape[1])]
            found[part] = np.where(there, first + use[best], -1)
        return found

    def many(self, claim: tuple[int, int], place: int, number: int) -> bool:
        """Whether more contributors than a number contradict a table."""
        return len(self.contradicting((), claim, place)) > number

    def contradicting(self, who: Coalition, claim: tuple[int, int], place: int) -> list[int]:
        """Who, joining a coalition, may contradict what a table proves; perhaps too many.

        All coalitions in which nobody is of these are proven by the same table.
        """
        t, side = claim
        insiders, room = self.insiders, self.insiders.coalition - len(who)
        start, stop = insiders.target.indptr[t : t + 2]
        inside = insiders.target.indices[start:stop].astype(np.int64)
        if (insiders.target.data[start:stop] < 0).any():
            # who is in what is left of a published cell may be in no hidden one
            inside = np.union1d(inside, np.flatnonzero(self.latent))
        most = int(insiders.most[0 if side < 0 else 1][t])
        if place < 0:
            return [i for i in _names(self._by_cell, inside) if i not in who]
        reach = side * self._reach[place, t]
        needed = min(1.0, most / reach) if reach > 0 and not self.whole else 1.0
        cells = np.flatnonzero(self._moved[place])
        if self.latent.any():
            cells = np.union1d(cells, np.flatnonzero(self.latent))
        moved = self._moved[place, cells] * needed
        has = np.zeros(len(self.truth), dtype=np.int64)
        present = np.zeros(len(self.truth), dtype=np.int64)
        if who:
            rows = insiders.own[list(who)]
            np.add.at(has, rows.indices, rows.data)
            np.add.at(present, rows.indices, 1)
        others = self._largest[room - 1][cells] if room > 1 else np.zeros(len(cells), np.int64)
        allowed = (self.truth[cells] + moved) - has[cells] - others
        if needed < 1:
            allowed = allowed - np.abs(allowed) * 1e-9
        falls = insiders.bounded[cells] & ((moved < 0) | self.latent[cells])
        allowed = np.where(falls, allowed, np.inf)
        number = insiders.number[cells]
        few = (number >= 0) & (number - present[cells] <= room) & (moved != 0)
        few |= (number < 0) & (moved != 0)
        few &= ~self.latent[cells]
        entry, again = entries(self._by_cell, cells)
        value, name = self._by_cell.data[entry], self._by_cell.indices[entry]
        bites = (value > allowed[again]) | few[again]
        found = np.unique(name[bites])
        if reach * self.share(who, place, place + 1)[0] < most:
            # what proves it for these may be too short for them and somebody who is in it
            inside_too = np.array(_names(self._by_cell, inside), dtype=found.dtype)
            found = np.union1d(found, inside_too)
        return [i for i in found.tolist() if i not in who]


def _names(by_cell: sparse.csc_array, cells: NDArray[np.int64]) -> list[int]:
    """Who contributes to some cells."""
    entry, _ = entries(by_cell, cells)
    return np.unique(by_cell.indices[entry]).tolist()


def entries(
    by_cell: sparse.csc_array, cells: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Entries of some columns, and which of the columns each belongs to."""
    first = by_cell.indptr[cells].astype(np.int64)
    number = by_cell.indptr[cells + 1] - first
    again = np.repeat(np.arange(len(cells)), number)
    before = np.cumsum(number) - number
    return np.arange(len(again)) + (first - before)[again], again


def _largest(by_cell: sparse.csc_array, coalition: int) -> list[NDArray[np.int64]]:
    """The sum of the 0, 1, … largest contributions to each cell, up to one less than pool."""
    k = by_cell.shape[1]
    column = np.repeat(np.arange(k), np.diff(by_cell.indptr))
    order = np.lexsort((-by_cell.data, column))
    rank = np.arange(len(order)) - by_cell.indptr[column[order]]
    sums = [np.zeros(k, dtype=np.int64)]
    for i in range(coalition - 1):
        more = sums[-1].copy()
        there = order[rank == i]
        np.add.at(more, column[there], np.maximum(by_cell.data[there], 0))
        sums.append(more)
    return sums
