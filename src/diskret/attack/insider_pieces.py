"""Single contributors against the connected pieces of a table, by moves of few cells.

Cells that no equation connects move independently, so each piece is gone through by itself. A
move of few cells is ruled out by few contributors, and two moves that nobody rules out both prove
a claim against everybody. So each claim gets a shortest move. Contributors who rule out all moves
of a claim get one more for all of them together; where there is none, for half of them each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import Point, times
from diskret.attack.insider_quads import Quads
from diskret.attack.insider_search import Search
from diskret.attack.piece_moves import Contributors, PieceMoves
from diskret.attack.short_moves import put_together, taken_apart
from diskret.attack.shortest import LARGEST, Move, Shortest, room
from diskret.graphs import connected
from diskret.progress import Progress, silent

if TYPE_CHECKING:
    from diskret.attack.insiders import Insiders

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
    outsider_first: bool = False,
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
    order = np.argsort(label, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    given = [
        taken_apart(known.matrix, label, truth, tables),
        # however long these are, no shorter ones were found
        taken_apart(known.matrix, label, truth, before, longest=len(label)),
    ]
    tables = [*tables, *before]
    found: list[Claims] = []
    attacked: list[_Piece] = []
    done = 0

    def tell() -> None:
        progress("attack", done, len(pieces))

    view = _View(known, bounds, truth, insiders, whole, search, tell)
    for done, cells in enumerate(pieces):
        progress("attack", done, len(pieces))
        targets = np.setdiff1d(by_target[:, cells].indices, left)
        if not len(targets):
            continue
        piece = _Piece(cells, targets, view, tables, by_cell, by_column)
        of_piece = (of.get(int(label[cells[0]]), []) for of in given)
        found.append(piece.withstand_outsiders([move for of in of_piece for move in of]))
        attacked.append(piece)
    if insiders.coalition and not (outsider_first and any(map(len, found))):
        for done, piece in enumerate(attacked):
            progress("attack", done, len(pieces))
            found.append(piece.withstand_contributors())
    new = [move for piece in attacked for move in piece.new_moves()]
    asked = set[tuple[int, int]]().union(*(piece.asked for piece in attacked))
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
    """What all pieces have in common; `tell` reports that the attack goes on."""

    known: Equations
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]]
    truth: NDArray[np.int64]
    insiders: Insiders
    whole: bool
    search: Search
    tell: Callable[[], None]


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
        self.contributors = Contributors(insiders, by_cell, cells, self.truth)
        # claims
        most = insiders.most
        self.target = np.concatenate((targets[most[1][targets] > 0], targets[most[0][targets] > 0]))
        rising = int((most[1][targets] > 0).sum())
        self.side = np.where(np.arange(len(self.target)) < rising, 1, -1)
        self.most = np.where(self.side > 0, most[1][self.target], most[0][self.target])
        member = sparse.csr_array(insiders.target[self.target][:, cells])
        self.member = sparse.csr_array(member * self.side[:, None])
        self.at_hand = PieceMoves(self.member, self.contributors, view.whole)
        self.asked = set[tuple[int, int]]()
        inside = sparse.csr_array(by_column[:, cells])
        inside = sparse.csr_array(inside[np.flatnonzero(np.diff(inside.indptr))])
        self._inside = inside
        self._quads = Quads(inside)

    def withstand_outsiders(self, given: Sequence[Move]) -> Claims:
        """What is open to somebody who contributes nothing; `given`: moves to begin with."""
        self.at_hand.add_given(given)
        self._given = len(self.at_hand.moves)
        for claim in np.lexsort((-self.most, np.diff(self.member.indptr))).tolist():
            self._find(claim, int(self.most[claim]))
        # an outsider may be owed less than others are, down to nothing
        short = np.flatnonzero(self.at_hand.best < self.most)
        owed = self._owed(short, np.full((len(short), 1), _NOBODY))
        for claim, need in zip(short.tolist(), owed.tolist(), strict=True):
            if need < self.most[claim]:
                self._find(claim, need)
        outside = self.at_hand.best[short] < owed
        self._short = short[~outside], owed[~outside]
        self.__dict__.pop("_programme", None)  # there may be thousands of pieces
        nobody = np.full(int(outside.sum()), _NOBODY)
        return self._open(short[outside], nobody, owed[outside])

    def withstand_contributors(self) -> Claims:
        """What is open to single contributors, of all that is not open to an outsider."""
        claim, name, need = self._unproven(*self._short)
        open_ = self._prove(claim, name, need)
        self.__dict__.pop("_programme", None)
        return self._open(claim[open_], self.contributors.names[name[open_]], need[open_])

    def _open(
        self, claim: NDArray[np.int64], who: NDArray[np.int64], need: NDArray[np.int64]
    ) -> Claims:
        return Claims(who, self.target[claim], self.side[claim], need)

    def new_moves(self) -> Iterator[Move]:
        """The moves found that something relies on, of all unknown cells."""
        for i, move in enumerate(self.at_hand.moves[self._given :], self._given):
            if i not in self.at_hand.spare:
                yield Move(self.cells[move.cell], move.step, move.unit)

    def _owed(self, claim: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.int64]:
        """How far claims have to move where these are the insiders, ``(q, 1)``."""
        lower, upper = self.view.insiders.level(self.target[claim], who)
        return np.where(self.side[claim] > 0, upper, lower)

    def _find(self, claim: int, need: int) -> None:
        """Find a move of a claim that goes so far, or else as far as one at hand."""
        if self.at_hand.best[claim] >= need:
            return
        found, _ = self._look(claim, need, [])
        move = self._farthest_given(claim) if found is None else None
        if move is not None:
            found = self.at_hand.add(move)
        if found is not None:
            self._back(self.at_hand.moves[found])

    def _back(self, move: Move, spare: bool = False) -> None:
        """Keep the opposite of a move if it is possible and shows more, or to spare."""
        back = Move(move.cell, -move.step, move.unit)
        inside = (back.step <= self.up[move.cell] * move.unit) & (
            move.step <= self.down[move.cell] * move.unit
        )
        if not inside.all():
            return
        far, touched = self.at_hand.reach(back)
        best = self.at_hand.best[touched]
        more = (far > best) & (best < self.most[touched])
        if spare or more.any():
            number = self.at_hand.add(back)
            if spare:
                self.at_hand.spare.add(number)

    def _farthest_given(self, claim: int) -> Move | None:
        """The part of the table at hand that goes farthest, long as it may be."""
        cells, signs = self._members(claim)
        best, farthest = None, 0.0
        for table in self.tables:
            step = table.numerator[self.cells] - times(self.truth, table.denominator)
            far = float((signs * step[cells]).sum() / table.denominator)
            if far > farthest and step.dtype == np.int64 and np.abs(step).max() < LARGEST:
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
        reached, names = self.at_hand.reached(), self.contributors.names
        enough = self.most.copy()
        enough[short] = np.where(owed > 0, owed, enough[short])
        claim, name = reached.ruled_out(enough)
        # who is in a target may be owed more than an outsider, others are not
        among, inside = self.contributors.inside(self.member[short])
        pair = np.append(claim * len(names) + name, short[among] * len(names) + inside)
        claim, name = np.divmod(np.unique(pair), max(1, len(names)))
        self.asked |= set(zip(names[name].tolist(), self.target[claim].tolist(), strict=True))
        need = self._owed(claim, names[name][:, None])
        some = need > 0
        claim, name, need = claim[some], name[some], need[some]
        left = reached.best(claim, name) < need
        return claim[left], name[left], need[left]

    def _prove(
        self, claim: NDArray[np.int64], name: NDArray[np.int64], need: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Find moves for claims of contributors, several of them at once; what is open then."""
        old = len(self.at_hand.moves)
        still_short = partial(self.at_hand.short, name=name, need=need)
        open_: list[int] = []
        of_claim = np.split(np.arange(len(claim)), np.flatnonzero(np.diff(claim)) + 1)
        # what moves far for one moves others far enough, too
        for rows in sorted(of_claim, key=lambda rows: -int(need[rows].max(initial=0))):
            if not len(rows):
                continue
            of = int(claim[rows[0]])
            cells, _ = self._members(of)
            waiting = [still_short(of, rows, moves=self.at_hand.moving(cells, old))]
            while waiting:
                rows = waiting.pop()
                if not len(rows):
                    continue
                found, why = self._look(of, int(need[rows].max()), name[rows].tolist())
                number = len(rows)
                if found is not None:
                    self._back(self.at_hand.moves[found], spare=True)
                    waiting = [still_short(of, left, moves=[found]) for left in waiting]
                    rows = still_short(of, rows, moves=[found])
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
        who = self.contributors
        first, last = who.first[name[rows]], who.first[name[rows] + 1]
        entry = np.repeat(first - np.append(0, np.cumsum(last - first)[:-1]), last - first)
        entry += np.arange(len(entry))
        column, alone = who.column[entry], who.alone[entry]
        up = np.where(alone, 0, self.up[column])
        down = np.where(alone, 0, np.minimum(self.down[column], who.slack[entry]))
        own = _times(rising[column], up) + _times(falling[column], down)
        at = np.repeat(np.arange(len(rows)), last - first)
        endless = np.isinf(room)
        number = endless.sum() - np.bincount(at, endless[column], minlength=len(rows))
        number += np.bincount(at, np.isinf(own), minlength=len(rows))
        less = np.where(endless, 0, room)[column] - np.where(np.isinf(own), 0, own)
        most = np.where(endless, 0, room).sum() - np.bincount(at, less, minlength=len(rows))
        return (number == 0) & (most < need[rows] * (1 - _SURE) - _SURE)

    # ── programmes ───────────────────────────────────────────────────────────────────

    @cached_property
    def _programme(self) -> Shortest:
        """The one for all questions; of many pieces none is left to ask."""
        return Shortest(self._inside, deadline=self.view.search.deadline)

    def _look(
        self, claim: int, need: int, names: list[int]
    ) -> tuple[int | None, NDArray[np.float64] | None]:
        """Keep a move that goes far enough and that none of some contributors can rule out.

        Its number, or None and the weights that say why there is none, see `Shortest`.
        """
        self.view.tell()
        cells, signs = self._members(claim)
        down, up = self.down.copy(), self.up.copy()
        who = self.contributors
        for name in names:
            own = slice(who.first[name], who.first[name + 1])
            column, alone = who.column[own], who.alone[own]
            down[column] = np.minimum(down[column], who.slack[own])
            down[column[alone]] = up[column[alone]] = 0
        if float(np.where(signs > 0, up[cells], down[cells]).sum()) < need:
            weights = np.zeros(len(self.cells))
            weights[cells] = signs
            return None, weights
        quad = None
        if len(cells) == 1 and need < LARGEST:
            quad = self._quad(int(cells[0]), int(signs[0]), need, down, up)
        if quad is not None:
            return self.at_hand.add(quad), None
        move, none = self._programme.look(cells, signs, need, down, up)
        if not none and (move is None or (self.view.whole and move.unit > 1)):
            move = self._searched(cells, signs, need, down, up)
        if none or move is None:
            return None, self._programme.weights
        return self.at_hand.add(move), None

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
        best = possible[self.contributors.known_by[cells[possible]].sum(axis=1).argmin()]
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
        if np.abs(step).max() >= LARGEST:
            return None
        return Move(np.flatnonzero(step), step[step != 0].astype(np.int64), point.denominator)


def _times(weight: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted rooms, nothing of one without end if its weight is 0."""
    return np.where(weight > 0, weight * np.where(weight > 0, room, 0), 0)


def _at(
    truth: NDArray[np.int64], distance: NDArray[np.float64], bound: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Bounds at a distance from the values, or those that are given where there is none."""
    end = np.isfinite(distance)
    return np.where(end, truth + np.where(end, distance, 0).astype(np.int64), bound)
