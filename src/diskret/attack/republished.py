"""The attack on a connected part of a table in which one more cell is published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.alternatives import Alternatives, Reach, farther, within
from diskret.attack.exact import LIMIT, UNKNOWN, Point, times
from diskret.attack.programme import Programme
from diskret.attack.reduction import Reduction, labels, reduce
from diskret.attack.search import Finding, Wanted, search
from diskret.attack.targets import Question
from diskret.errors import ContradictionError, ProofError


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
    sizes = np.bincount(of_cell[of_cell >= 0], minlength=int(cell_label.max(initial=-1)) + 1)
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
        question: Question,
        part: Connected,
        alternatives: Alternatives,
        secondary: int,
    ):
        base = question.reduced
        self.question, self.part, self.alternatives = question, part, alternatives
        # cell = sign * z + offset, one z for each cell
        follows, sign = followed(base.link)
        self.z = np.searchsorted(part.unknown, follows[part.cell])
        self.sign, self.offset = sign[part.cell], base.offset[part.cell]
        truth = np.zeros(len(part.unknown), dtype=np.int64)
        truth[self.z] = self.sign * (question.truth[part.cell] - self.offset)
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
        self, asked: NDArray[np.bool_], reach: Reach
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Reach]:
        """Lower and upper ends of the asked cells, and what tables show of all cells."""
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
                finding = self._search(members, rows, wanted.at(members), wanted_y[members])
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
    ) -> Finding:
        """Search one component; where the solver loses its way, again from the original values."""

        def found(centre: NDArray[np.int64] | None) -> Finding:
            programme = Programme(
                sparse.csr_array(self.reduced.matrix[rows][:, members]),
                self.reduced.right[rows],
                self.reduced.lower[members],
                self.reduced.upper[members],
                centre,
            )
            question = self.question
            return search(programme, question.whole, question.far, asked, wanted)

        try:
            return found(None)
        except (ContradictionError, ProofError):
            return found(self.truth[members])

    def _ends(self, member: NDArray[np.int64]) -> list[Point]:
        """Both ends of an unknown that no equation restrains."""
        low, high, far = self.reduced.lower[member], self.reduced.upper[member], self.question.far
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
        targets = self.question.targets
        low, high = (np.clip(a[cell], -edge, edge) for a in (targets.low, targets.high))
        np.minimum.at(wanted.low, y, np.where(sign > 0, low - start, start - high))
        np.maximum.at(wanted.high, y, np.where(sign > 0, high - start, start - low))
        np.maximum.at(wanted.width, y, targets.width[cell])
        return wanted
