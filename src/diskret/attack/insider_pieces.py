"""Single contributors against the connected pieces of a table, all claims of a piece at once.

Cells that no equation connects move independently, so each piece is gone through by itself: its
alternative tables, its contributors and its targets are few enough for whole matrices of them.
Programmes are solved for what these leave open alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from diskret.attack.equations import Equations
from diskret.attack.exact import UNKNOWN, Point, times
from diskret.attack.exchanges import exchanges
from diskret.attack.insider_moves import SPARE, entries
from diskret.attack.insider_search import Search
from diskret.attack.programme import Programme
from diskret.errors import ContradictionError, ProofError
from diskret.progress import Progress, silent

if TYPE_CHECKING:
    from diskret.attack.insiders import Insiders

#: Up to so many cells a programme for a piece goes to the end; beyond, a short move is quicker.
_SMALL = 500
#: Claims of a larger piece that exchanges may leave open; with more, all are looked at target by
#: target, which takes fewer programmes there.
_MANY = 10_000
#: Alternative tables that are tried for each claim before all are.
_FIRST = 24
#: Numbers in a matrix that is made at a time.
_ROOM = 2**22


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
) -> Settled:
    """Prove the claims of an outsider and of every single contributor; parameters as `withstand`.

    Targets that belong to several pieces, to a piece with cells that nobody published, or to a
    large one of which exchanges prove too little, are left out.
    """
    near = abs(known.matrix)
    label = csgraph.connected_components(near.T @ near, directed=False)[1].astype(np.int64)
    left = _left_out(insiders.target, label, known.latent)
    moved, exact = _moves(truth, tables)
    by_cell, by_target = sparse.csc_array(insiders.own), sparse.csc_array(insiders.target)
    by_column = sparse.csc_array(known.matrix)
    order = np.argsort(label, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    new: list[tuple[NDArray[np.int64], list[Point]]] = []
    found: list[Claims] = []
    asked = set[tuple[int, int]]()
    for done, cells in enumerate(pieces):
        progress("attack", done, len(pieces))
        targets = np.setdiff1d(by_target[:, cells].indices, left)
        if not len(targets):
            continue
        piece = _Piece(cells, targets, known, bounds, truth, insiders, whole, by_cell, by_column)
        piece.exchange()
        piece.add(*_different(moved[:, cells], exact))
        claims = piece.unproven()
        if len(cells) > _SMALL and len(claims) > _MANY:
            left = np.union1d(left, targets)
            continue
        asked |= piece.asked
        if len(claims):
            open_ = piece.prove(claims, search)
            new.append((cells, piece.points))
            if len(open_):
                found.append(open_)
    return Settled(_packed(new, truth), found, asked, left)


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


def _moves(
    truth: NDArray[np.int64], tables: Sequence[Point]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Differences from the original table, never told larger than they are; which are exact."""
    moved = np.zeros((len(tables), len(truth)))
    exact = np.zeros(len(tables), dtype=bool)
    for i, table in enumerate(tables):
        moved[i], exact[i] = _move(table.numerator, truth, table.denominator)
    return moved, exact


def _move(
    numerator: NDArray[np.int64], truth: NDArray[np.int64], unit: int
) -> tuple[NDArray[np.float64], bool]:
    difference = numerator - times(truth, unit)
    moved = np.asarray(difference / unit, dtype=np.float64)
    if unit == 1 and float(np.abs(moved).sum()) < 2.0**52:
        return moved, True
    return np.where(moved == np.rint(moved), moved, moved - 4 * np.spacing(np.abs(moved))), False


def _different(
    moved: NDArray[np.float64], exact: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Without tables that move nothing or the same."""
    some = moved.any(axis=1)
    rows, first = np.unique(moved[some], axis=0, return_index=True)
    return rows, exact[some][first]


def _packed(
    new: Sequence[tuple[NDArray[np.int64], list[Point]]], truth: NDArray[np.int64]
) -> list[Point]:
    """Few tables of all cells in which each new point of a piece stands somewhere."""
    packed: list[Point] = []
    units = sorted({point.denominator for _, points in new for point in points})
    for unit in units:
        of = [(cells, [p for p in points if p.denominator == unit]) for cells, points in new]
        for i in range(max(len(points) for _, points in of)):
            numerator = times(truth, unit)
            for cells, points in of:
                if i < len(points):
                    numerator[cells] = points[i].numerator
            packed.append(Point(numerator, unit))
    return packed


class _Piece:
    """Connected cells, those who contribute to them, and tables of these cells alone."""

    def __init__(
        self,
        cells: NDArray[np.int64],
        targets: NDArray[np.int64],
        known: Equations,
        bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
        truth: NDArray[np.int64],
        insiders: Insiders,
        whole: bool,
        by_cell: sparse.csc_array,
        by_column: sparse.csc_array,
    ):
        self.cells, self.insiders, self.whole = cells, insiders, whole
        self.bounds, self.all_truth, self.right = bounds, truth, known.right
        self.low, self.high, self.truth = bounds[0][cells], bounds[1][cells], truth[cells]
        entry, column = entries(by_cell, cells)
        order = np.argsort(by_cell.indices[entry], kind="stable")
        entry, self.column = entry[order], column[order]
        self.names, self.first = np.unique(by_cell.indices[entry], return_index=True)
        self.value = by_cell.data[entry]
        self.alone = lone(insiders.number[cells][self.column], self.value, self.truth[self.column])
        self.bounded = insiders.bounded[cells][self.column]
        inside = sparse.csr_array(by_column[:, cells])
        self.rows = np.flatnonzero(np.diff(inside.indptr))
        self.matrix = sparse.csr_array(inside[self.rows])
        most = insiders.most
        self.target = np.concatenate((targets[most[1][targets] > 0], targets[most[0][targets] > 0]))
        up = int((most[1][targets] > 0).sum())
        self.side = np.where(np.arange(len(self.target)) < up, 1, -1)
        self.most = np.where(self.side > 0, most[1][self.target], most[0][self.target])
        self.member = sparse.csr_array(insiders.target[self.target][:, cells]).astype(np.float64)
        self.reach = np.zeros((0, len(self.target)))
        self.share = np.zeros((0, len(self.names)))
        self.points: list[Point] = []
        self.asked = set[tuple[int, int]]()
        self._programme: Programme | None = None

    def exchange(self) -> None:
        """Keep the tables in which four cells exchange as much as they can."""
        moves = exchanges(self.matrix)
        most = max(1, _ROOM // max(1, len(self.names), len(self.target), len(self.column)))
        moves = moves[:: max(1, -(-len(moves) // most))]
        if not len(moves):
            return
        moves = np.concatenate((moves, -moves))
        down = np.where(self.low > -UNKNOWN, self.truth - self.low, UNKNOWN)
        up = np.where(self.high < UNKNOWN, self.high - self.truth, UNKNOWN)
        room = np.where(moves < 0, down, np.where(moves > 0, up, UNKNOWN)).min(axis=1)
        far = np.minimum(room, self.most.max(initial=1) if self.whole else 2**50)
        self.add((moves * far[:, None])[far > 0].astype(np.float64), np.ones((far > 0).sum(), bool))

    # ── tables at hand ───────────────────────────────────────────────────────────────

    def add(self, moved: NDArray[np.float64], exact: NDArray[np.bool_]) -> None:
        """Keep tables, ``(w, cells)``, and which of them are whole numbers told exactly."""
        reach = (self.member @ moved.T).T * self.side
        doubt = (self.member @ np.abs(moved).T).T * SPARE
        reach = np.where(exact[:, None], reach, reach - doubt)
        self.reach = np.concatenate((self.reach, reach))
        self.share = np.concatenate((self.share, self.shares(moved)))

    def shares(self, moved: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much of the way to each table each contributor cannot rule out, ``(w, names)``."""
        if not len(self.names):
            return np.zeros((len(moved), 0))
        found = np.empty((len(moved), len(self.names)))
        slack = (self.truth[self.column] - self.value).astype(np.float64)
        step = max(1, _ROOM // len(self.column))
        for start in range(0, len(moved), step):
            of = moved[start : start + step, self.column]
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.maximum(slack / -of * (1 - SPARE), 0)
            part = np.where((of < -slack) & self.bounded, part, 1.0)
            part[self.alone & (of != 0)] = 0
            found[start : start + step] = np.minimum.reduceat(part, self.first, axis=1)
        return np.where(found < 1, 0.0, found) if self.whole else found

    def unproven(self) -> Claims:
        """Claims that no table at hand proves."""
        share = np.append(self.share, np.ones((len(self.share), 1)), axis=1)  # an outsider
        against = np.packbits(share < 1, axis=1)
        order = np.argsort((share < 1).sum(axis=1), kind="stable")
        names = np.append(self.names, -1)
        found: list[Claims] = []
        step = max(1, _ROOM // max(len(names), len(share), _FIRST * against.shape[1]))
        for start in range(0, len(self.target), step):
            claim = np.arange(start, min(start + step, len(self.target)))
            which, table = np.nonzero((self.reach[np.ix_(order, claim)] >= self.most[claim]).T)
            place = np.arange(len(which)) - np.searchsorted(which, which)
            which, table = which[place < _FIRST], order[table[place < _FIRST]]
            bits = np.full((len(claim), against.shape[1]), 255, dtype=np.uint8)
            if len(which):
                there, first = np.unique(which, return_index=True)
                bits[there] = np.bitwise_and.reduceat(against[table], first, axis=0)
            at, who = np.nonzero(np.unpackbits(bits, axis=1, count=len(names)))
            at, best = claim[at], self._best(share, who, claim[at])
            short = np.flatnonzero(best < self.most[at])
            if len(short):
                found.append(self._owed(names[who[short]], at[short], best[short]))
        none = np.zeros(0, dtype=np.int64)
        return Claims(
            *(
                np.concatenate([none, *(getattr(one, of) for one in found)])
                for of in ("who", "target", "side", "need")
            )
        )

    def _best(
        self, share: NDArray[np.float64], who: NDArray[np.int64], at: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """How far any table goes that these contributors cannot rule out."""
        best = np.zeros(len(who))
        if not len(share):
            return best
        step = max(1, _ROOM // len(share))
        share, reach = np.ascontiguousarray(share.T), np.ascontiguousarray(self.reach.T)
        for start in range(0, len(who), step):
            part = slice(start, start + step)
            best[part] = (share[who[part]] * reach[at[part]]).max(axis=1)
        return best

    def _owed(
        self, who: NDArray[np.int64], at: NDArray[np.int64], best: NDArray[np.float64]
    ) -> Claims:
        """Claims that ask for more than that."""
        target, side = self.target[at], self.side[at]
        lower, upper = self.insiders.level(target, who[:, None])
        self.asked |= set(zip(who.tolist(), target.tolist(), strict=True))
        need = np.where(side > 0, upper, lower)
        return Claims(who, target, side, need).only((need > 0) & (best < need))

    # ── programmes ───────────────────────────────────────────────────────────────────

    def prove(self, claims: Claims, search: Search) -> Claims:
        """Solve for tables that prove claims; what is open after that."""
        number = {
            (t, s): i
            for i, (t, s) in enumerate(zip(self.target.tolist(), self.side.tolist(), strict=True))
        }
        at = np.array(
            [
                number[t, s]
                for t, s in zip(claims.target.tolist(), claims.side.tolist(), strict=True)
            ]
        )
        old = len(self.reach)
        open_ = np.zeros(len(claims), dtype=bool)
        order = np.argsort(claims.who, kind="stable")
        ends = np.flatnonzero(np.diff(claims.who[order])) + 1
        for rows in np.split(order, ends):
            who = int(claims.who[rows[0]])
            column = int(np.searchsorted(self.names, who)) if who >= 0 else -1
            low, high = self._known_to(column)
            rows = self._short(rows, column, old, at, claims.need)
            while len(rows):
                first = int(rows[0])
                before = len(self.reach)
                if not self._look(at[first], int(claims.need[first]), low, high, search):
                    open_[first], rows = True, rows[1:]
                    continue
                rows = self._short(rows, column, before, at, claims.need)
                if len(rows) and rows[0] == first:
                    open_[first], rows = True, rows[1:]
        return claims.only(open_)

    def _short(
        self,
        rows: NDArray[np.int64],
        column: int,
        first: int,
        at: NDArray[np.int64],
        need: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Claims of a contributor that the tables from one on do not prove."""
        if len(self.reach) == first:
            return rows
        reach = self.reach[first:, at[rows]]
        if column >= 0:
            reach = reach * self.share[first:, column, None]
        return rows[reach.max(axis=0) < need[rows]]

    def _known_to(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bounds of the cells for one of the contributors, or an outsider (−1)."""
        low, high = self.low.copy(), self.high.copy()
        if column >= 0:
            end = self.first[column + 1] if column + 1 < len(self.first) else len(self.column)
            own = slice(self.first[column], end)
            cells, alone = self.column[own], self.alone[own]
            least = np.where(self.bounded[own], self.value[own], -UNKNOWN)
            truth = self.truth[cells]
            low[cells] = np.maximum(low[cells], np.where(alone, truth, least))
            high[cells] = np.minimum(high[cells], np.where(alone, truth, UNKNOWN))
        return low, high

    def _look(
        self,
        at: int,
        need: int,
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        search: Search,
    ) -> bool:
        """Keep a table within bounds that goes far, if there is one."""
        point = None
        if not self.whole and len(self.cells) <= _SMALL:
            point = self._farthest(at, low, high)
        if point is None:
            every = self.bounds[0].copy(), self.bounds[1].copy()
            every[0][self.cells], every[1][self.cells] = low, high
            of = self.member.indices[self.member.indptr[at] : self.member.indptr[at + 1]]
            found = search.look(self.cells[of], int(self.side[at]), need, *every)
            if found is None:
                return False
            point = Point(found.numerator[self.cells], found.denominator)
        moved, exact = _move(point.numerator, self.truth, point.denominator)
        self.points.append(point)
        self.add(moved[None], np.array([exact]))
        return True

    def _farthest(self, at: int, low: NDArray[np.int64], high: NDArray[np.int64]) -> Point | None:
        """The table that goes farthest, if it is made exact and there is an end."""
        if self._programme is None:
            self._programme = Programme(
                self.matrix, self.right[self.rows], self.low, self.high, centre=self.truth
            )
        programme = self._programme
        programme.within(low, high)
        direction = np.zeros(len(self.cells))
        start, stop = self.member.indptr[at : at + 2]
        direction[self.member.indices[start:stop]] = self.side[at]
        try:
            answer = programme.farthest(direction)
        except (ContradictionError, ProofError):
            return None
        return answer.point if answer.bounded else None


def lone(
    number: NDArray[np.int64], value: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Where a contributor is alone: nobody else is there, or nothing is left for others."""
    return (number == 1) | ((number < 0) & (value == truth))
