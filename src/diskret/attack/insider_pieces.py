"""Single contributors against the connected pieces of a table, by moves of few cells.

Cells that no equation connects move independently, so each piece is gone through by itself. A
move of few cells is ruled out by few contributors, and two moves that nobody rules out both prove
a claim against everybody. So each claim gets a shortest move. Contributors who rule out all moves
of a claim get one more for all of them together; where there is none, for half of them each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import Point, times
from diskret.attack.insider_moves import SPARE, entries
from diskret.attack.insider_quads import Quads
from diskret.attack.insider_search import Search
from diskret.attack.short_moves import put_together, taken_apart
from diskret.attack.shortest import Move, Shortest, room
from diskret.graphs import connected
from diskret.progress import Progress, silent

if TYPE_CHECKING:
    from diskret.attack.insiders import Insiders

#: Numbers that are made at a time.
_ROOM = 2**21
#: Sums that fall short by less than this may be far enough.
_SURE = 1e-6
#: Who is an outsider.
_NOBODY = -1


@dataclass(frozen=True, eq=False)
class Claims:
    """Contributors (−1: an outsider), targets, sides (1 up, −1 down), how far, ``(q,)`` each."""

    who: NDArray[np.int64]
    target: NDArray[np.int64]
    side: NDArray[np.int64]
    need: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.who)

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Claims:
        """Some of them."""
        return Claims(self.who[chosen], self.target[chosen], self.side[chosen], self.need[chosen])


@dataclass(frozen=True, eq=False)
class Settled:
    """New tables, open claims, who was looked at with which target, targets left out."""

    tables: list[Point]
    open: list[Claims]
    asked: set[tuple[int, int]]
    left: NDArray[np.int64]


def settle_pieces(
    known: Equations,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    truth: NDArray[np.int64],
    tables: Sequence[Point],
    insiders: Insiders,
    whole: bool,
    search: Search,
    progress: Progress = silent,
    before: Sequence[Point] = (),
) -> Settled:
    """Prove the claims of an outsider and of every single contributor; parameters as `withstand`.

    Targets that belong to several pieces, or to one with cells that nobody published, are left
    out.
    """
    near = abs(known.matrix)
    label = connected(near.T @ near).astype(np.int64)
    left = _left_out(insiders.target, label, known.latent)
    by_target, by_cell = sparse.csc_array(insiders.target), sparse.csc_array(insiders.own)
    by_column = sparse.csc_array(known.matrix)
    view = _View(known, bounds, truth, insiders, whole, search)
    order = np.argsort(label, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    given = [
        taken_apart(known.matrix, label, truth, tables),
        # however long these are, no shorter ones were found
        taken_apart(known.matrix, label, truth, before, longest=len(label)),
    ]
    tables = [*tables, *before]
    found: list[Claims] = []
    new: list[Move] = []
    asked = set[tuple[int, int]]()
    for done, cells in enumerate(pieces):
        progress("attack", done, len(pieces))
        targets = np.setdiff1d(by_target[:, cells].indices, left)
        if not len(targets):
            continue
        piece = _Piece(cells, targets, view, tables, by_cell, by_column)
        piece.add_given([move for moves in given for move in moves.get(int(label[cells[0]]), [])])
        number = len(piece.moves)
        found.append(piece.settle())
        asked |= piece.asked
        new += [
            Move(cells[move.cell], move.step, move.unit)
            for i, move in enumerate(piece.moves[number:], number)
            if i not in piece.spare
        ]
    return Settled(put_together(new, known.matrix, truth), found, asked, left)


def _left_out(
    target: sparse.csr_array, label: NDArray[np.int64], latent: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Targets in several pieces, or in one with cells that nobody published."""
    unclear = np.zeros(int(label.max(initial=-1)) + 1, dtype=bool)
    unclear[label[latent]] = True
    row = np.repeat(np.arange(target.shape[0]), np.diff(target.indptr))
    of = label[target.indices]
    first = of[np.minimum(target.indptr[:-1][row], len(of) - 1)] if len(of) else of
    return np.unique(row[(of != first) | unclear[of]])


@dataclass(frozen=True, eq=False)
class _View:
    """What all pieces have in common."""

    known: Equations
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    truth: NDArray[np.int64]
    insiders: Insiders
    whole: bool
    search: Search


class _Piece:
    """Connected cells, those who contribute to them, and moves of these cells alone."""

    def __init__(
        self,
        cells: NDArray[np.int64],
        targets: NDArray[np.int64],
        view: _View,
        tables: Sequence[Point],
        by_cell: sparse.csc_array,
        by_column: sparse.csc_array,
    ):
        insiders = view.insiders
        self.cells, self.view, self.tables = cells, view, tables
        self.truth = view.truth[cells]
        self.down, self.up = room(self.truth, view.bounds[0][cells], view.bounds[1][cells])
        # what each contributes, by contributor and then by cell
        entry, column = entries(by_cell, cells)
        order = np.argsort(by_cell.indices[entry], kind="stable")
        entry, self.column = entry[order], column[order]
        self.names, first = np.unique(by_cell.indices[entry], return_index=True)
        self.first = np.append(first, len(entry))
        self.name = np.repeat(np.arange(len(self.names)), np.diff(self.first))
        value = by_cell.data[entry]
        self.alone = lone(insiders.number[cells][self.column], value, self.truth[self.column])
        slack = room(self.truth[self.column], value, self.truth[self.column])[0]
        self.slack = np.where(insiders.bounded[cells][self.column], slack, np.inf)
        self.of_cell = np.argsort(self.column, kind="stable")
        self.cell_first = np.searchsorted(self.column[self.of_cell], np.arange(len(cells) + 1))
        # claims
        most = insiders.most
        self.target = np.concatenate((targets[most[1][targets] > 0], targets[most[0][targets] > 0]))
        rising = int((most[1][targets] > 0).sum())
        self.side = np.where(np.arange(len(self.target)) < rising, 1, -1)
        self.most = np.where(self.side > 0, most[1][self.target], most[0][self.target])
        member = sparse.csr_array(insiders.target[self.target][:, cells])
        self.member = sparse.csr_array(member * self.side[:, None])
        self.of_claim = sparse.csc_array(self.member)
        self.best = np.zeros(len(self.target))
        self.moves: list[Move] = []
        # opposites of moves that nothing relies on
        self.spare = set[int]()
        self.moving: defaultdict[int, list[int]] = defaultdict(list)
        # how far each move that was added takes claims
        self._goes: dict[int, dict[int, float]] = {}
        self._share: dict[int, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
        self.asked = set[tuple[int, int]]()
        inside = sparse.csr_array(by_column[:, cells])
        inside = sparse.csr_array(inside[np.flatnonzero(np.diff(inside.indptr))])
        self._programme = Shortest(inside, deadline=view.search.deadline)
        self._quads = Quads(inside)
        # how many know each cell
        self.known_by = np.bincount(self.column, self.alone, minlength=len(cells))

    def settle(self) -> Claims:
        """What is open after all."""
        for claim in np.lexsort((-self.most, np.diff(self.member.indptr))).tolist():
            self._withstand_outsiders(claim, int(self.most[claim]))
        # an outsider may be owed less than others are, down to nothing
        short = np.flatnonzero(self.best < self.most)
        nobody = np.full((len(short), 1), _NOBODY)
        owed = self._owed(short, nobody)
        for claim, need in zip(short.tolist(), owed.tolist(), strict=True):
            if need < self.most[claim]:
                self._withstand_outsiders(claim, need)
        outside = self.best[short] < owed
        claim = name = need = open_ = np.zeros(0, dtype=np.int64)
        if self.view.insiders.coalition:
            claim, name, need = self._unproven(short[~outside], owed[~outside])
            open_ = self._prove(claim, name, need)
        which = np.append(short[outside], claim[open_])
        return Claims(
            np.append(nobody[outside], self.names[name[open_]]),
            self.target[which],
            self.side[which],
            np.append(owed[outside], need[open_]),
        )

    def _owed(self, claim: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far claims have to move where these are the insiders, ``(q, 1)``."""
        lower, upper = self.view.insiders.level(self.target[claim], who)
        return np.where(self.side[claim] > 0, upper, lower)

    # ── moves at hand ────────────────────────────────────────────────────────────────

    def add_given(self, moves: Sequence[Move]) -> None:
        """Keep the moves of tables at hand."""
        if not moves:
            return
        reach = sparse.csr_array(self.member.astype(np.float64) @ self._steps(moves).T)
        unit = np.array([move.unit for move in moves], dtype=np.int64)[reach.indices]
        reach.data = _told(np.rint(reach.data * unit), unit)
        row = np.repeat(np.arange(reach.shape[0]), np.diff(reach.indptr))
        np.maximum.at(self.best, row, reach.data)
        self.moves += moves

    def add(self, move: Move) -> int:
        """Keep a move; its number."""
        for cell in move.cell.tolist():
            self.moving[cell].append(len(self.moves))
        far, touched = self._reach(move.cell, move.step, move.unit)
        self.best[touched] = np.maximum(self.best[touched], far)
        self._goes[len(self.moves)] = dict(zip(touched.tolist(), far.tolist(), strict=True))
        self.moves.append(move)
        return len(self.moves) - 1

    def _reach(
        self, cell: NDArray[np.int64], step: NDArray[np.int64], unit: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """How far a move takes claims, and which."""
        entry, again = entries(self.of_claim, cell)
        touched, place = np.unique(self.of_claim.indices[entry], return_inverse=True)
        sums = np.bincount(place, self.of_claim.data[entry] * step[again].astype(np.float64))
        return _told(sums.astype(np.float64), unit), touched

    def _steps(self, moves: Sequence[Move]) -> sparse.csr_array:
        """Moves as they are, ``(w, cells)``."""
        start = np.cumsum([0, *(len(move.cell) for move in moves)])
        none = np.zeros(0)
        return sparse.csr_array(
            (
                np.concatenate([none, *(move.step / move.unit for move in moves)]),
                np.concatenate([none.astype(np.int64), *(move.cell for move in moves)]),
                start,
            ),
            shape=(len(moves), len(self.cells)),
        )

    def shares(self, steps: sparse.csr_array) -> sparse.csr_array:
        """How much of each move each contributor cannot rule out, ``(w, names)``.

        Only where that is less than all of it; an entry may be 0.
        """
        row = np.repeat(np.arange(steps.shape[0]), np.diff(steps.indptr))
        again, name, left = self._ruled_out(steps.indices, steps.data)
        share, there = _least(left, row[again] * max(1, len(self.names)) + name)
        row, column = np.divmod(there, max(1, len(self.names)))
        start = np.searchsorted(row, np.arange(steps.shape[0] + 1))
        return sparse.csr_array((share, column, start), shape=(steps.shape[0], len(self.names)))

    def _ruled_out(
        self, cell: NDArray[np.int64], moved: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Which entries of moves whom leaves how much of it, where that is not all."""
        start = self.cell_first[cell]
        number = self.cell_first[cell + 1] - start
        again = np.repeat(np.arange(len(cell)), number)
        before = np.cumsum(number) - number
        entry = self.of_cell[np.arange(len(again)) + (start - before)[again]]
        moved, slack = moved[again], self.slack[entry]
        alone = self.alone[entry]
        bad = np.flatnonzero((moved < -slack) | alone)
        if self.view.whole:
            left = np.zeros(len(bad))
        else:
            left = np.where(alone[bad], 0, slack[bad] / -moved[bad] * (1 - SPARE))
        return again[bad], self.name[entry[bad]], left

    # ── claims ───────────────────────────────────────────────────────────────────────

    def _withstand_outsiders(self, claim: int, need: int) -> None:
        """Find a move of a claim that goes so far, or else as far as one at hand."""
        if self.best[claim] >= need:
            return
        found, _ = self._look(claim, need, [])
        move = self._farthest_given(claim) if found is None else None
        if move is not None:
            found = self.add(move)
        if found is not None:
            self._back(self.moves[found])

    def _back(self, move: Move, spare: bool = False) -> None:
        """Keep the opposite of a move if it is possible and shows more, or to spare."""
        back = Move(move.cell, -move.step, move.unit)
        inside = (back.step <= self.up[move.cell] * move.unit) & (
            move.step <= self.down[move.cell] * move.unit
        )
        if not inside.all():
            return
        far, touched = self._reach(back.cell, back.step, back.unit)
        more = (far > self.best[touched]) & (self.best[touched] < self.most[touched])
        if spare or more.any():
            number = self.add(back)
            if spare:
                self.spare.add(number)

    def _farthest_given(self, claim: int) -> Move | None:
        """The part of the table at hand that goes farthest, long as it may be."""
        cells, signs = self._members(claim)
        best, farthest = None, 0.0
        for table in self.tables:
            step = table.numerator[self.cells] - times(self.truth, table.denominator)
            far = float((signs * step[cells]).sum() / table.denominator)
            if far > farthest and step.dtype == np.int64 and np.abs(step).max() < 2**46:
                best, farthest = Move(np.flatnonzero(step), step[step != 0], table.denominator), far
        return best

    def _members(self, claim: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cells of a claim, and which way each has to move."""
        own = slice(*self.member.indptr[claim : claim + 2].tolist())
        return self.member.indices[own].astype(np.int64), self.member.data[own]

    def _unproven(
        self, short: NDArray[np.int64], owed: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Claims that contributors rule out with all moves at hand: claim, who, how far.

        short, owed: claims that no move takes as far as anybody can be owed, and how far an
            outsider is owed, which some move shows.
        """
        steps = self._steps(self.moves)
        reach = sparse.csr_array(self.member.astype(np.float64) @ steps.T)
        unit = np.array([move.unit for move in self.moves], dtype=np.int64)[reach.indices]
        reach.data = _told(np.rint(reach.data * unit), unit)
        row = np.repeat(np.arange(reach.shape[0]), np.diff(reach.indptr))
        enough = self.most.copy()
        enough[short] = np.where(owed > 0, owed, enough[short])
        full = reach.copy()
        full.data = (reach.data >= enough[row]).astype(np.float32)
        full.eliminate_zeros()
        share = self.shares(steps)
        against = sparse.csr_array(
            (np.ones(share.nnz, np.float32), share.indices, share.indptr), shape=share.shape
        )
        ruled_out = sparse.csr_array(full @ against)
        claim = np.repeat(np.arange(len(self.target)), np.diff(ruled_out.indptr))
        every = ruled_out.data >= np.diff(full.indptr)[claim]
        # who is in a target may be owed more than an outsider, others are not
        within, inside = self._inside(short)
        pair = np.union1d(
            claim[every] * len(self.names) + ruled_out.indices[every],
            short[within] * len(self.names) + inside,
        )
        claim, name = np.divmod(pair, max(1, len(self.names)))
        self.asked |= set(zip(self.names[name].tolist(), self.target[claim].tolist(), strict=True))
        need = self._owed(claim, self.names[name][:, None])
        claim, name, need = claim[need > 0], name[need > 0], need[need > 0]
        short_ = self._best_left(reach, share, claim, name) < need
        return claim[short_], name[short_], need[short_]

    def _inside(self, claim: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of some claims' cells somebody contributes to, and who."""
        there = sparse.csr_array(
            (np.ones(len(self.name), np.float32), (self.column, self.name)),
            shape=(len(self.cells), len(self.names)),
        )
        return sparse.csr_array(abs(self.member[claim]).astype(np.float32) @ there).nonzero()

    def _best_left(
        self,
        reach: sparse.csr_array,
        share: sparse.csr_array,
        claim: NDArray[np.int64],
        name: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """How far any move goes as far as these contributors cannot rule it out, ``(q,)``."""
        row = np.repeat(np.arange(share.shape[0]), np.diff(share.indptr))
        key = row * len(self.names) + share.indices
        best = np.zeros(len(claim))
        start = reach.indptr[claim]
        number = reach.indptr[claim + 1] - start
        for part in np.split(
            np.arange(len(claim)), np.flatnonzero(np.diff(np.cumsum(number) // _ROOM)) + 1
        ):
            again = np.repeat(part, number[part])
            before = np.cumsum(number[part]) - number[part]
            entry = np.arange(len(again)) + np.repeat(start[part] - before, number[part])
            wanted = reach.indices[entry] * len(self.names) + name[again]
            at = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
            left = np.where(key[at] == wanted, share.data[at], 1.0) if len(key) else 1.0
            np.maximum.at(best, again, reach.data[entry] * left)
        return best

    def _prove(
        self, claim: NDArray[np.int64], name: NDArray[np.int64], need: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Find moves for claims of contributors, several of them at once; what is open then."""
        old = len(self.moves)
        open_: list[int] = []
        of_claim = np.split(np.arange(len(claim)), np.flatnonzero(np.diff(claim)) + 1)
        # what moves far for one moves others far enough, too
        for rows in sorted(of_claim, key=lambda rows: -int(need[rows].max(initial=0))):
            if not len(rows):
                continue
            of = int(claim[rows[0]])
            cells, _ = self._members(of)
            since = sorted({i for cell in cells.tolist() for i in self.moving[cell] if i >= old})
            waiting = [self._short(of, rows, name, need, since)]
            while waiting:
                rows = waiting.pop()
                if not len(rows):
                    continue
                found, why = self._look(of, int(need[rows].max()), name[rows].tolist())
                number = len(rows)
                if found is not None:
                    self._back(self.moves[found], spare=True)
                    waiting = [self._short(of, left, name, need, [found]) for left in waiting]
                    rows = self._short(of, rows, name, need, [found])
                elif why is not None:  # what keeps all of them from it keeps some, and others, too
                    ruled = [self._impossible(why, left, name, need) for left in (rows, *waiting)]
                    open_ += np.concatenate(
                        [left[no] for left, no in zip((rows, *waiting), ruled, strict=True)]
                    ).tolist()
                    waiting = [left[~no] for left, no in zip(waiting, ruled[1:], strict=True)]
                    rows = rows[~ruled[0]]
                if number == 1:
                    open_ += rows.tolist()
                elif 0 < len(rows) < number and found is None:
                    waiting.append(rows)
                elif len(rows):
                    rows = rows[np.argsort(need[rows], kind="stable")]
                    waiting += [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
        return np.array(open_, dtype=np.int64)

    def _impossible(
        self,
        weights: NDArray[np.float64],
        rows: NDArray[np.int64],
        name: NDArray[np.int64],
        need: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Which contributors leave too little room for a sum of moves to be as far as they need.

        Duality: what is wanted is the sum of all cells' moves, weighted, and each has its room.
        """
        rising, falling = np.maximum(weights, 0), np.maximum(-weights, 0)
        # the room that nobody knows more of, and what each knows less
        room = _times(rising, self.up) + _times(falling, self.down)
        first, last = self.first[name[rows]], self.first[name[rows] + 1]
        entry = np.repeat(first - np.append(0, np.cumsum(last - first)[:-1]), last - first)
        entry += np.arange(len(entry))
        column, alone = self.column[entry], self.alone[entry]
        up = np.where(alone, 0, self.up[column])
        down = np.where(alone, 0, np.minimum(self.down[column], self.slack[entry]))
        own = _times(rising[column], up) + _times(falling[column], down)
        at = np.repeat(np.arange(len(rows)), last - first)
        endless = np.isinf(room)
        number = endless.sum() - np.bincount(at, endless[column], minlength=len(rows))
        number += np.bincount(at, np.isinf(own), minlength=len(rows))
        less = np.where(endless, 0, room)[column] - np.where(np.isinf(own), 0, own)
        most = np.where(endless, 0, room).sum() - np.bincount(at, less, minlength=len(rows))
        return (number == 0) & (most < need[rows] * (1 - _SURE) - _SURE)

    def _short(
        self,
        claim: int,
        rows: NDArray[np.int64],
        name: NDArray[np.int64],
        need: NDArray[np.int64],
        moves: Sequence[int],
    ) -> NDArray[np.int64]:
        """Which of some contributors rule out too much of each of some moves that were added."""
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
            _, name, left = self._ruled_out(move.cell, move.step / move.unit)
            self._share[number] = _least(left, name)
        return self._share[number]

    # ── programmes ───────────────────────────────────────────────────────────────────

    def _look(
        self, claim: int, need: int, names: list[int]
    ) -> tuple[int | None, NDArray[np.float64] | None]:
        """Keep a move that goes far enough and that none of some contributors can rule out.

        Its number, or None and the weights that say why there is none, see `Shortest`.
        """
        cells, signs = self._members(claim)
        down, up = self.down.copy(), self.up.copy()
        for name in names:
            own = slice(self.first[name], self.first[name + 1])
            column = self.column[own]
            down[column] = np.minimum(down[column], self.slack[own])
            down[column[self.alone[own]]] = up[column[self.alone[own]]] = 0
        if float(np.where(signs > 0, up[cells], down[cells]).sum()) < need:
            weights = np.zeros(len(self.cells))
            weights[cells] = signs
            return None, weights
        quad = self._quad(int(cells[0]), int(signs[0]), need, down, up) if len(cells) == 1 else None
        if quad is not None:
            return self.add(quad), None
        move, none = self._programme.look(cells, signs, need, down, up)
        if not none and (move is None or (self.view.whole and move.unit > 1)):
            move = self._searched(cells, signs, need, down, up)
        if none or move is None:
            return None, self._programme.weights
        return self.add(move), None

    def _quad(
        self,
        cell: int,
        sign: int,
        need: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
    ) -> Move | None:
        """One of four cells, each as far as the claim goes: no programme has to look for it."""
        cells, ways = self._quads.moves(cell)
        if not len(cells):
            return None
        far = np.where(ways * sign > 0, up[cells], down[cells]) >= need
        possible = np.flatnonzero(far.all(axis=1))
        if not len(possible):
            return None
        best = possible[self.known_by[cells[possible]].sum(axis=1).argmin()]
        if not self._quads.holds(cells[best], ways[best]):
            return None
        order = np.argsort(cells[best])
        return Move(cells[best][order], (ways[best] * (sign * need))[order], 1)

    def _searched(
        self,
        cells: NDArray[np.int64],
        signs: NDArray[np.int64],
        need: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
    ) -> Move | None:
        """The same by a search that finds whole numbers, and exact ones where these are large."""
        view = self.view
        low, high = view.bounds[0].copy(), view.bounds[1].copy()
        low[self.cells] = _at(self.truth, -down, low[self.cells])
        high[self.cells] = _at(self.truth, up, high[self.cells])
        point = view.search.look(self.cells[cells], signs, need, low, high)
        if point is None:
            return None
        step = point.numerator[self.cells] - times(self.truth, point.denominator)
        return Move(np.flatnonzero(step), step[step != 0].astype(np.int64), point.denominator)


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


def _times(weight: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted rooms, nothing of one without end if its weight is 0."""
    return np.where(weight > 0, weight * np.where(weight > 0, room, 0), 0)


def _at(
    truth: NDArray[np.int64], distance: NDArray[np.float64], bound: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Bounds at a distance from the values, or those that are given where there is none."""
    end = np.isfinite(distance)
    return np.where(end, truth + np.where(end, distance, 0).astype(np.int64), bound)


def _told(sums: NDArray[np.float64], unit: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Whole numbers over a unit, never more than they are."""
    exact = (np.abs(sums) < 2.0**52) & (sums % unit == 0)
    return np.where(exact, sums / unit, sums / unit - np.abs(sums / unit) * SPARE)


def lone(
    number: NDArray[np.int64], value: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where a contributor is alone: nobody else is there, or nothing is left for others."""
    return (number == 1) | ((number < 0) & (value == truth))
