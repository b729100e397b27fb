"""The attack on connected cells of which one more is published, by tables that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, UNKNOWN, Point, times
from diskret.attack.examination import Targets
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.reduction import Reduction, labels, reduce
from diskret.attack.search import SearchResult, Wanted, search
from diskret.errors import ContradictionError, ProofError

#: Tables, and deviations in them, kept for looking up again; one found beyond is used once.
_TABLES, _KEPT = 1024, 2 * 10**7
#: How many tables on each side are mixed, and with how many on the other.
_MIXED, _PARTNERS = 200, 6

#: The lowest and the highest value of each cell.
Reach = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Setting:
    """All unknown cells, ``(k,)``; their positions there are what is meant by "cell" below.

    `hidden` are the suppressed ones; nothing is required of the others. `completed` says of
    each cell whether its `truth` is known: no possible values may have been found of cells that
    nobody published.
    """

    cell: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    primary: NDArray[np.bool_]
    truth: NDArray[np.int64]
    completed: NDArray[np.bool_]
    targets: Targets
    reduced: Reduction
    whole: bool
    far: int

    def met(self, cell: NDArray[np.int64], reach: Reach) -> NDArray[np.bool_]:
        """Which of some cells reach what is required of them."""
        return self.targets.at(cell).reached(*reach)


@dataclass(frozen=True, eq=False)
class Connected:
    """Cells that equations connect: their unknowns and rows in the reduced equations."""

    cell: NDArray[np.int64]
    unknown: NDArray[np.int64]
    row: NDArray[np.int64]


def connected_parts(reduced: Reduction) -> Iterator[Connected]:
    """The connected parts of the table, small ones first."""
    cell_label, row_label = labels(reduced.matrix)
    of_cell = np.append(cell_label, -1)[followed(reduced.link)[0]]
    sizes = np.bincount(of_cell[of_cell >= 0])
    for label in np.lexsort((np.arange(len(sizes)), sizes)).tolist():
        if sizes[label]:
            yield Connected(
                np.flatnonzero(of_cell == label),
                np.flatnonzero(cell_label == label),
                np.flatnonzero(row_label == label),
            )


def followed(link: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The unknown that each cell follows, -1 for one that cannot move, and its sign."""
    moves = np.diff(link.indptr) > 0
    unknown, sign = np.full(len(moves), -1), np.zeros(len(moves), dtype=np.int64)
    unknown[moves], sign[moves] = link.indices, link.data
    return unknown, sign


class Republished:
    """The attack on a part of the table in which one more cell is published."""

    def __init__(
        self,
        setting: Setting,
        part: Connected,
        alternatives: Alternatives,
        secondary: int,
    ):
        base = setting.reduced
        self.setting, self.part, self.alternatives = setting, part, alternatives
        # cell = sign * z + offset, one z for each cell
        follows, sign = followed(base.link)
        self.z = np.searchsorted(part.unknown, follows[part.cell])
        self.sign, self.offset = sign[part.cell], base.offset[part.cell]
        truth = np.zeros(len(part.unknown), dtype=np.int64)
        truth[self.z] = self.sign * (setting.truth[part.cell] - self.offset)
        lower, upper = base.lower[part.unknown].copy(), base.upper[part.unknown].copy()
        published = self.z[np.searchsorted(part.cell, secondary)]
        lower[published] = upper[published] = truth[published]
        matrix = sparse.csr_array(base.matrix[part.row][:, part.unknown])
        self.reduced = reduce(matrix, base.right[part.row], lower, upper)

        # z = turn * y + shift; no y where z is known by now
        link = sparse.csr_array(self.reduced.link)
        self.y, self.turn = followed(link)
        moves = self.y >= 0
        self.truth = np.zeros(link.shape[1], dtype=np.int64)
        self.truth[link.indices] = link.data * (truth - self.reduced.offset)[moves]

    def unknowns(self, asked: NDArray[np.bool_]) -> int:
        """How many unknowns the asked cells depend on."""
        y = self.y[self.z[asked]]
        return len(np.unique(y[y >= 0]))

    def intervals(
        self,
        asked: NDArray[np.bool_],
        reach: Reach,
        tick: Callable[[int], None] = lambda done: None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Reach]:
        """Lower and upper ends of the asked cells, and what tables show of all cells.

        tick: told after each programme; what it raises ends the attack.
        """
        reduced = self.reduced
        lower = np.where(reduced.lower > -UNKNOWN, reduced.lower, -np.inf)
        upper = np.where(reduced.upper < UNKNOWN, reduced.upper, np.inf)
        y = self.y[self.z[asked]]
        wanted_y = np.zeros(len(lower), dtype=bool)
        wanted_y[y[y >= 0]] = True
        column, row = labels(reduced.matrix)
        wanted = self._wanted(asked)
        for label in np.unique(column[wanted_y]).tolist():
            members, rows = np.flatnonzero(column == label), np.flatnonzero(row == label)
            if len(rows):
                finding = self._search(members, rows, wanted.at(members), wanted_y[members], tick)
                lower[members], upper[members] = finding.lower, finding.upper
                points = finding.needed
            else:
                points = self._ends(members)
            for point in points:
                reach = self._keep(members, point, reach)
        return *self._of_cells(lower, upper, reach), reach

    def _search(
        self,
        members: NDArray[np.int64],
        rows: NDArray[np.int64],
        wanted: Wanted,
        asked: NDArray[np.bool_],
        tick: Callable[[int], None],
    ) -> SearchResult:
        """Search one component; where the solver loses its way, again from the original values."""

        def found(centre: NDArray[np.int64] | None) -> SearchResult:
            programme = LinearProgramme(
                sparse.csr_array(self.reduced.matrix[rows][:, members]),
                self.reduced.right[rows],
                self.reduced.lower[members],
                self.reduced.upper[members],
                centre,
                bounded=True,
            )
            setting = self.setting
            how = setting.whole, setting.far, asked, wanted, tick
            return search(programme, *how, enough=True)

        try:
            return found(None)
        except (ContradictionError, ProofError):
            return found(self.truth[members])

    def _ends(self, member: NDArray[np.int64]) -> list[Point]:
        """Both ends of an unknown that no equation restrains."""
        low, high, far = self.reduced.lower[member], self.reduced.upper[member], self.setting.far
        truth = self.truth[member]
        return [
            Point(np.where(low == -UNKNOWN, truth - far, low), 1),
            Point(np.where(high == UNKNOWN, truth + far, high), 1),
        ]

    def _keep(self, members: NDArray[np.int64], point: Point, reach: Reach) -> Reach:
        """Complete a point with original values; it shows how far cells move."""
        unit = point.denominator
        y = times(self.truth, unit)
        y[members] = point.numerator
        moves = self.y >= 0
        z = times(self.reduced.offset, unit)
        z[moves] = z[moves] + self.turn[moves] * y[self.y[moves]]
        cells = self.sign * z[self.z] + times(self.offset, unit)
        if not within(cells):
            return reach
        return farther(reach, self.alternatives.add(Point(cells.astype(np.int64), unit)))

    def _of_cells(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], reach: Reach
    ) -> Reach:
        """Intervals of the unknowns as intervals of the cells."""
        y = self.y[self.z]
        moves, sign = y >= 0, (self.sign * self.turn[self.z])
        start = self.offset + self.sign * self.reduced.offset[self.z].astype(np.float64)
        low, high = start.copy(), start.copy()
        rises = sign[moves] > 0
        low[moves] += np.where(rises, lower[y[moves]], -upper[y[moves]])
        high[moves] += np.where(rises, upper[y[moves]], -lower[y[moves]])
        return np.minimum(low, reach[0]), np.maximum(high, reach[1])

    def _wanted(self, asked: NDArray[np.bool_]) -> Wanted:
        """Targets of the asked cells as targets of the unknowns that they follow."""
        edge = LIMIT // 4
        n = self.reduced.link.shape[1]
        wanted = Wanted(np.full(n, edge), np.full(n, -edge), np.zeros(n, np.int64))
        at = np.flatnonzero(asked & (self.y[self.z] >= 0))
        cell, z = self.part.cell[at], self.z[at]
        y, sign = self.y[z], self.sign[at] * self.turn[z]
        start = self.offset[at] + self.sign[at] * self.reduced.offset[z]
        targets = self.setting.targets
        low, high = (np.clip(a[cell], -edge, edge) for a in (targets.low, targets.high))
        np.minimum.at(wanted.low, y, np.where(sign > 0, low - start, start - high))
        np.maximum.at(wanted.high, y, np.where(sign > 0, high - start, start - low))
        np.maximum.at(wanted.width, y, targets.width[cell])
        return wanted


class Alternatives:
    """Tables that agree with everything public, the original one among them.

    A table in which a cell has its original value is still possible after that value has been
    published, so the others move at least as far as in all such tables. Where values need not
    be whole, so is the mean of two tables, weighted so that the cell has its original value in
    it: equations are linear, and bounds leave no gaps.

    truth: the original values, ``(n,)``, int64.
    whole: only whole numbers are possible: tables are not mixed.
    room: how many of them are kept at most.

    >>> known = Alternatives(np.array([5, 8, 2]), whole=False)
    >>> _ = [known.add(Point(np.array(table), 1)) for table in ([6, 7, 2], [1, 8, 6])]
    >>> low, high = known.reach(2)
    >>> low.tolist(), high.tolist()
    ([5.0, 7.0, 2.0], [6.0, 8.0, 2.0])

    Four parts of the first table and one of the second leave the first cell at 5:

    >>> low, high = known.mixed(0, np.array([1, 2]))
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([5.0, 7.2, 2.0], [5.0, 8.0, 2.8])
    """

    def __init__(self, truth: NDArray[np.int64], whole: bool):
        self.truth, self.whole = truth, whole
        self._moved = np.zeros((8, len(truth)))
        self._size = 0
        self.room = max(1, min(_TABLES, _KEPT // max(len(truth), 1)))
        self.add(Point(truth, 1))

    def add(self, table: Point) -> Reach:
        """Keep a table, if there is room for it; how far cells move in it alone."""
        # the difference is exact, so it is zero if and only if nothing moved
        difference = table.numerator - times(self.truth, table.denominator)
        moved = difference.astype(np.float64) / table.denominator
        fraction = difference % table.denominator != 0
        moved -= np.where(fraction, 2 * np.sign(moved) * np.spacing(np.abs(moved)), 0)
        if self._size < self.room:
            if self._size == len(self._moved):
                self._moved = np.concatenate((self._moved, np.zeros_like(self._moved)))
            self._moved[self._size] = moved
            self._size += 1
        return self.values(np.minimum(moved, 0), np.maximum(moved, 0))

    def reach(self, still: int) -> Reach:
        """How far cells move in tables that leave one of them where it is."""
        moved = self._moved[: self._size]
        moved = moved[moved[:, still] == 0]
        return self.values(moved.min(axis=0), moved.max(axis=0))

    def mixed(self, still: int, cells: NDArray[np.int64]) -> Reach:
        """The same, of some cells, for means of a table that raises one and one that lowers it.

        Only some pairs are tried: of tables that move these cells little for each unit of the
        cell that is to stand still. Not to be asked of whole numbers.
        """
        low, high = np.zeros(len(self.truth)), np.zeros(len(self.truth))
        at = self._moved[: self._size, still]
        if self.whole or not len(cells) or not ((at > 0).any() and (at < 0).any()):
            return self.values(low, high)
        sides: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        for side in (at > 0, at < 0):
            moved, by = self._moved[: self._size][side][:, cells], at[side]
            effort = np.sqrt(np.abs(moved)).mean(axis=1) / np.sqrt(np.abs(by))
            chosen = np.argsort(effort, kind="stable")[:_MIXED]
            sides.append((moved[chosen], by[chosen, None]))
        for (these, up), (others, down) in (sides, sides[::-1]):
            for partner, fall in zip(others[:_PARTNERS], down[:_PARTNERS], strict=True):
                # neither weight is 1 less the other one, which would lose its digits
                first, second = -fall / (up - fall) * these, up / (up - fall) * partner
                both = first + second
                doubt = 1e-14 * (np.abs(first) + np.abs(second))
                low[cells] = np.minimum(low[cells], (both + doubt).min(axis=0, initial=0))
                high[cells] = np.maximum(high[cells], (both - doubt).max(axis=0, initial=0))
        return self.values(low, high)

    def values(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Reach:
        """Deviations as values; what is rounded is rounded towards the original value."""
        ends: list[NDArray[np.float64]] = []
        for moved, inwards in ((low, 1), (high, -1)):
            value = self.truth + moved
            size = np.maximum(np.abs(value), np.abs(self.truth))
            exact = (moved == np.rint(moved)) & (size < 2.0**52)
            ends.append(np.where(exact, value, value + inwards * 4 * np.spacing(size)))
        return ends[0], ends[1]


def within(numerator: NDArray[np.int64]) -> bool:
    """Whether numbers, perhaps Python's own, are small enough for int64 arithmetic."""
    return float(np.abs(numerator).max(initial=0)) < LIMIT


def farther(one: Reach, other: Reach) -> Reach:
    """The lower of the low ends and the higher of the high ones."""
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
