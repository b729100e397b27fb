"""Moves of connected cells: how far they take claims, and who can rule out how much of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.insider_moves import SPARE, entries
from diskret.attack.short_moves import as_moves
from diskret.attack.shortest import LARGEST, Move, room

if TYPE_CHECKING:
    from diskret.attack.insiders import Insiders

#: Numbers that are made at a time.
_ROOM = 2**21


class Contributors:
    """Who contributes what to some cells, and what each knows of them.

    names: who they are, ascending, int64.
    first: where the entries of each begin, ``(names + 1,)``; entries go by contributor and cell.
    name, column: contributor and cell of each entry, by their places here.
    alone: whether nobody else is in the cell of an entry.
    slack: how far the cell can fall for the contributor, inf without end.
    """

    def __init__(
        self,
        insiders: Insiders,
        by_cell: sparse.csc_array,
        cells: NDArray[np.int64],
        truth: NDArray[np.int64],
    ):
        entry, column = entries(by_cell, cells)
        order = np.argsort(by_cell.indices[entry], kind="stable")
        entry, self.column = entry[order], column[order]
        self.names, first = np.unique(by_cell.indices[entry], return_index=True)
        self.first = np.append(first, len(entry))
        self.name = np.repeat(np.arange(len(self.names)), np.diff(self.first))
        value, truth = by_cell.data[entry], truth[self.column]
        self.alone = lone(insiders.number[cells][self.column], value, truth)
        slack = room(truth, value, truth)[0]
        self.slack = np.where(insiders.bounded[cells][self.column], slack, np.inf)
        self._of_cell = np.argsort(self.column, kind="stable")
        self._cell_first = np.searchsorted(self.column[self._of_cell], np.arange(len(cells) + 1))
        #: how many know each cell, ``(cells,)``
        self.known_by = np.bincount(self.column, self.alone, minlength=len(cells))

    def inside(self, member: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """To which sums of cells somebody contributes, and who."""
        there = sparse.csr_array(
            (np.ones(len(self.name), np.float32), (self.column, self.name)),
            shape=(member.shape[1], len(self.names)),
        )
        return sparse.csr_array(abs(member).astype(np.float32) @ there).nonzero()

    def left(
        self, cell: NDArray[np.int64], moved: NDArray[np.float64], whole: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Entries of moves that somebody can rule out: which, who, and how much is left then."""
        start = self._cell_first[cell]
        number = self._cell_first[cell + 1] - start
        again = np.repeat(np.arange(len(cell)), number)
        before = np.cumsum(number) - number
        entry = self._of_cell[np.arange(len(again)) + (start - before)[again]]
        moved, slack = moved[again], self.slack[entry]
        alone = self.alone[entry]
        bad = np.flatnonzero((moved < -slack) | alone)
        if whole:
            left = np.zeros(len(bad))
        else:
            left = np.where(alone[bad], 0, slack[bad] / -moved[bad] * (1 - SPARE))
        return again[bad], self.name[entry[bad]], left


@dataclass(frozen=True, eq=False)
class Reached:
    """How far all moves take all claims, and how much of each is left for whom.

    far: ``(claims, moves)``.
    share: how much of a move a contributor cannot rule out, where that is not all of it,
        ``(moves, names)``, columns ascending; an entry may be 0.
    """

    far: sparse.csr_array
    share: sparse.csr_array

    def ruled_out(self, enough: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Claims that some move takes far enough, and who can rule out some of each such move."""
        claims, far = self.far.shape[0], self.far
        row = np.repeat(np.arange(claims), np.diff(far.indptr))
        full = far.copy()
        full.data = (far.data >= enough[row]).astype(np.float32)
        full.eliminate_zeros()
        share = self.share
        against = sparse.csr_array(
            (np.ones(share.nnz, np.float32), share.indices, share.indptr), shape=share.shape
        )
        ruled_out = sparse.csr_array(full @ against)
        claim = np.repeat(np.arange(claims), np.diff(ruled_out.indptr))
        every = ruled_out.data >= np.diff(full.indptr)[claim]
        return claim[every], ruled_out.indices[every].astype(np.int64)

    def best(self, claim: NDArray[np.int64], name: NDArray[np.int64]) -> NDArray[np.float64]:
        """How far any move goes as far as these contributors cannot rule it out, ``(q,)``."""
        far, share, names = self.far, self.share, self.share.shape[1]
        row = np.repeat(np.arange(share.shape[0]), np.diff(share.indptr))
        key = row * names + share.indices
        best = np.zeros(len(claim))
        start = far.indptr[claim]
        number = far.indptr[claim + 1] - start
        for part in np.split(
            np.arange(len(claim)), np.flatnonzero(np.diff(np.cumsum(number) // _ROOM)) + 1
        ):
            again = np.repeat(part, number[part])
            before = np.cumsum(number[part]) - number[part]
            entry = np.arange(len(again)) + np.repeat(start[part] - before, number[part])
            wanted = far.indices[entry] * names + name[again]
            at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
            left = np.where(key[at] == wanted, share.data[at], 1.0) if len(key) else 1.0
            np.maximum.at(best, again, far.data[entry] * left)
        return best


class PieceMoves:
    """Moves of connected cells that are at hand.

    Steps must be below `LARGEST`, so that every number here is exact.

    member: the cells of each claim and which way each has to move, 1 or −1, ``(claims, cells)``.
    best: how far any move takes each claim, ``(claims,)``.
    spare: numbers of those that nothing relies on.
    """

    def __init__(self, member: sparse.csr_array, contributors: Contributors, whole: bool):
        self.member, self._contributors, self._whole = member, contributors, whole
        self._of_claim = sparse.csc_array(member)
        self.best = np.zeros(member.shape[0])
        self.moves: list[Move] = []
        self._given = self._far([])
        self.spare = set[int]()
        self._moving: defaultdict[int, list[int]] = defaultdict(list)
        # how far each move that was added takes claims
        self._goes: dict[int, dict[int, float]] = {}
        self._share: dict[int, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}

    def add_given(self, moves: Sequence[Move]) -> None:
        """Keep moves of tables at hand, before others, as far as steps are small enough."""
        moves = [move for move in moves if np.abs(move.step).max() < LARGEST]
        far = self._given = self._far(moves)
        row = np.repeat(np.arange(far.shape[0]), np.diff(far.indptr))
        np.maximum.at(self.best, row, far.data)
        self.moves = moves

    def add(self, move: Move) -> int:
        """Keep a move; its number."""
        for cell in move.cell.tolist():
            self._moving[cell].append(len(self.moves))
        far, touched = self.reach(move)
        self.best[touched] = np.maximum(self.best[touched], far)
        self._goes[len(self.moves)] = dict(zip(touched.tolist(), far.tolist(), strict=True))
        self.moves.append(move)
        return len(self.moves) - 1

    def moving(self, cells: NDArray[np.int64], since: int) -> list[int]:
        """Moves that were added of any of these cells, from a number on."""
        return sorted({i for cell in cells.tolist() for i in self._moving[cell] if i >= since})

    def reach(self, move: Move) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How far a move takes claims, and which."""
        entry, again = entries(self._of_claim, move.cell)
        touched, place = np.unique(self._of_claim.indices[entry], return_inverse=True)
        sums = np.zeros(len(touched), dtype=np.int64)
        np.add.at(sums, place, self._of_claim.data[entry] * move.step[again])
        return _told(sums, move.unit), touched

    def reached(self) -> Reached:
        """The same of all moves, and who can rule out how much of each."""
        every = as_moves(self.moves, self.member.shape[1])
        steps = every.steps
        row = np.repeat(np.arange(steps.shape[0]), np.diff(steps.indptr))
        names = max(1, len(self._contributors.names))
        moved = steps.data / every.denominator[row]
        again, name, left = self._contributors.left(steps.indices, moved, self._whole)
        share, there = _least(left, row[again] * names + name)
        row, column = np.divmod(there, names)
        start = np.searchsorted(row, np.arange(steps.shape[0] + 1))
        shape = steps.shape[0], len(self._contributors.names)
        far = [self._given, self._far(self.moves[self._given.shape[1] :])]
        together = sparse.csr_array(sparse.hstack(far, format="csr"))
        return Reached(together, sparse.csr_array((share, column, start), shape=shape))

    def _far(self, moves: Sequence[Move]) -> sparse.csr_array:
        """How far moves take claims, ``(claims, moves)``."""
        every = as_moves(moves, self.member.shape[1])
        sums = sparse.csr_array(self.member @ every.steps.T)
        far = _told(sums.data, every.denominator[sums.indices])
        return sparse.csr_array((far, sums.indices, sums.indptr), shape=sums.shape)

    def short(
        self,
        claim: int,
        rows: NDArray[np.int64],
        name: NDArray[np.int64],
        need: NDArray[np.int64],
        moves: Sequence[int],
    ) -> NDArray[np.int64]:
        """Which of some contributors rule out too much of each of some moves that were added.

        A move that is enough for one of them is no longer to spare.
        """
        for i in moves:
            goes = self._goes[i].get(claim, 0.0)
            if goes > 0 and len(rows):
                part, who = self._share_of(i)
                short = goes < need[rows]
                if len(who):
                    at = np.minimum(np.searchsorted(who, name[rows]), len(who) - 1)
                    left = np.where(who[at] == name[rows], part[at], 1.0)
                    short = goes * left < need[rows]
                if not short.all():
                    self.spare.discard(i)
                rows = rows[short]
        return rows

    def _share_of(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How much of a move those cannot rule out who can rule out some of it, and who."""
        if number not in self._share:
            move = self.moves[number]
            _, name, left = self._contributors.left(move.cell, move.step / move.unit, self._whole)
            self._share[number] = _least(left, name)
        return self._share[number]


def lone(
    number: NDArray[np.int64], value: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where a contributor is alone: nobody else is there, or nothing is left for others."""
    return (number == 1) | ((number < 0) & (value == truth))


def _least(
    value: NDArray[np.float64], key: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The least value of each key, and the keys, ascending."""
    if not len(key):
        return value, key
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    return np.minimum.reduceat(value[order], first), key[first]


def _told(sums: NDArray[np.int64], unit: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Whole numbers over a unit, never more than they are."""
    exact = (np.abs(sums) < 2**52) & (sums % unit == 0)
    return np.where(exact, sums / unit, sums / unit - np.abs(sums / unit) * SPARE)
