"""The shortest move of some cells: it changes few others, so few contributors can rule it out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, UNKNOWN
from diskret.attack.reduction import reduce
from diskret.attack.solver import OutOfWork, Status, run_in_time, solver_of
from diskret.deadline import NEVER, Deadline

#: Nobody needs cells to move more often as far as the one that is asked about.
_FAR = 2.0**20
#: Vertices of these programmes are whole or have small denominators.
_MULTIPLES = range(1, 61)
#: Numerators up to here keep every sum and product below exact in 64 bits.
LARGEST = 2.0**46
#: There is no move.
_NONE = (Status.kInfeasible, Status.kUnboundedOrInfeasible)
#: Cells that move by less do not move: the solver's tolerance.
_STILL = 1e-5
#: Weights below this are none.
_ZERO = 1e-9


@dataclass(frozen=True, eq=False)
class Move:
    """Some cells change by ``step / unit``, exactly.

    cell: ascending, ``(s,)``, int64.
    step: not 0, ``(s,)``, int64.
    """

    cell: NDArray[np.int64]
    step: NDArray[np.int64]
    unit: int


class Shortest:
    """Moves of connected cells at least total length, one programme for all questions.

    What rises and what falls are variables of their own that begin at 0. So the unchanged table
    is a basis at which only the wanted move is missing, and few pivots lead to the shortest one.
    Cells that equations of two tie to each other are one group there, which has the least room
    that any of them has.

    matrix: equations ``matrix @ move = 0`` with entries 1 and −1, ``(m, n)``.
    price: what it costs to move each cell by one unit, above 0, ``(n,)``; by default 1.
    deadline: a question that is not answered by then ends with `OutOfTime`.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        price: NDArray[np.float64] | None = None,
        deadline: Deadline = NEVER,
    ):
        self._deadline = deadline
        self.matrix = matrix
        n, endless = matrix.shape[1], np.full(matrix.shape[1], UNKNOWN)
        nothing = np.zeros(matrix.shape[0], dtype=np.int64)
        tied = reduce(matrix.astype(np.int64), nothing, -endless, endless)
        self._rows, self._n = tied.matrix.shape
        self._by_group = sparse.csr_array(tied.matrix.T)
        # the cells of each group, and which way each goes with it; others never move
        link = sparse.csc_array(tied.link)
        cell, first, along = link.indices, link.indptr[:-1], link.data > 0
        self._group, self._way = np.full(n, -1), np.zeros(n, dtype=np.int64)
        self._group[cell] = np.repeat(np.arange(self._n), np.diff(link.indptr))
        self._way[cell] = link.data
        # where groups rise and fall, of all cells' ways up and down
        self._ways = np.where(
            np.concatenate((along, ~along)), np.tile(cell, 2), np.tile(cell + n, 2)
        )
        self._first = np.append(first, first + len(cell))
        halves = sparse.hstack([tied.matrix, -tied.matrix], format="csc")
        halves.sort_indices()
        self._solver = solver_of(halves, 1.0, presolve="off", solver="simplex")
        #: Weights of all cells' moves whose sum is how far those move that could not be moved far
        #: enough; None if the last question had an answer.
        self.weights: NDArray[np.float64] | None = None
        self._asked, self._same = b"", False
        # as the solver has them: only what changes from question to question is told
        self._room, self._price = np.zeros(2 * self._n), np.ones(2 * self._n)
        self.charge(np.ones(n) if price is None else price)

    def charge(self, price: NDArray[np.float64]) -> None:
        """Set what it costs to move each cell by one unit, above 0, ``(n,)``."""
        price = self._of_groups(np.add, price, price)
        other = np.flatnonzero(price != self._price)
        self._solver.changeColsCost(len(other), other.astype(np.int32), price[other])
        self._price, self._same = price, self._same and not len(other)

    def look(
        self,
        cells: NDArray[np.int64],
        side: int | NDArray[np.int64],
        need: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
    ) -> tuple[Move | None, bool]:
        """The shortest move that takes some cells together up (1) or down (−1) far enough.

        If there is none, `weights` tell why.

        cells, side, need: whose sum has to move, which way, all alike or each its own, and how far,
            at least 1.
        down, up: how far each cell may move, ``(n,)``, inf without end.

        Returns the move, None also if it could not be made exact; and whether there is none.
        """
        unit = 2.0 ** np.floor(np.log2(need))
        signs = np.broadcast_to(side, cells.shape)
        self._ask(cells, signs.astype(np.float64))
        room = np.minimum(self._of_groups(np.minimum, up, down) / unit, _FAR)
        solver = self._solver
        other = np.flatnonzero(room != self._room)
        solver.changeColsBounds(
            len(other), other.astype(np.int32), np.zeros(len(other)), room[other]
        )
        self._room = room
        last = np.array([self._rows], dtype=np.int32)
        solver.changeRowsBounds(1, last, np.array([need / unit]), np.array([np.inf]))
        if not self._same:
            solver.clearSolver()  # the slack basis is nearer than that of another question
        status = self._run()
        if self._same and status not in (Status.kOptimal, *_NONE, Status.kIterationLimit):
            solver.clearSolver()
            status = self._run()
        self._same = True
        none = status in _NONE
        self.weights = self._reason(down, up) if none else None
        value = np.array(solver.getSolution().col_value)
        if status != Status.kOptimal:
            return None, none
        of_groups = value[: self._n] - value[self._n :]
        moved = np.append(of_groups, 0)[self._group] * self._way * unit
        return self._exact(moved, cells, signs, need, down, up), False

    def _run(self) -> Status:
        with suppress(OutOfWork):
            return run_in_time(self._solver, self._deadline, bounded=True)
        return Status.kIterationLimit

    def _ask(self, cells: NDArray[np.int64], signs: NDArray[np.float64]) -> None:
        """Ask about the sum of some cells.

        If it is what was asked about last, only bounds and how far differ: the last basis is still
        dual feasible.
        """
        asked = cells.tobytes() + signs.tobytes()
        if asked == self._asked:
            return
        if self._asked:
            self._solver.deleteRows(1, np.array([self._rows], dtype=np.int32))
        self._asked, self._same = asked, False
        ways = signs * self._way[cells]
        self._wanted = np.bincount(self._group[cells] + 1, ways, minlength=self._n + 1)[1:]
        there = np.flatnonzero(self._wanted)
        at = np.concatenate((there, there + self._n)).astype(np.int32)
        share = self._wanted[there]
        self._solver.addRow(0.0, np.inf, len(at), at, np.append(share, -share))

    def _of_groups(
        self, of: np.ufunc, up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What the ways up and down of all cells have together where groups rise, and fall."""
        both = np.concatenate((up, down))[self._ways]
        return of.reduceat(both, self._first) if len(both) else both

    def _reason(
        self, down: NDArray[np.float64], up: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """What the cells' moves add up to so that it is what was wanted of some, in all moves."""
        _, there, ray = self._solver.getDualRay()
        if not there or abs(ray[-1]) <= _ZERO * np.abs(ray).max():
            return None
        weights = self._by_group @ (np.array(ray[:-1]) / ray[-1]) + self._wanted
        weights[np.abs(weights) <= _ZERO] = 0
        # of each group the cell tells why that has the least room
        own = np.append(weights, 0)[self._group] * self._way
        told = np.flatnonzero(own)
        room = np.where(own > 0, up, down)[told]
        told = told[np.argsort(room, kind="stable")]
        _, least = np.unique(self._group[told], return_index=True)
        of_cells = np.zeros(len(own))
        of_cells[told[least]] = own[told[least]]
        return of_cells

    def _exact(
        self,
        moved: NDArray[np.float64],
        cells: NDArray[np.int64],
        signs: NDArray[np.int64],
        need: int,
        down: NDArray[np.float64],
        up: NDArray[np.float64],
    ) -> Move | None:
        """The same in fractions, if these keep everything and still go far enough."""
        at = np.flatnonzero(np.abs(moved) > _STILL)
        moved, down, up = moved[at], down[at], up[at]
        for unit in _MULTIPLES:
            scaled = np.rint(moved * unit)
            if np.abs(scaled).max(initial=0) > LARGEST:
                return None
            if np.abs(moved * unit - scaled).max(initial=0) > 1e-3:
                continue
            inside = (scaled <= up * unit) & (-scaled <= down * unit)
            step = np.zeros(len(self._group), dtype=np.int64)
            step[at] = scaled
            far = int(step[cells] @ signs) >= need * unit
            if inside.all() and far and not (self.matrix @ step).any():
                cell = np.flatnonzero(step)
                return Move(cell, step[cell], unit)
        return None


def room(
    truth: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far cells may move down and up from their values, inf without bound.

    Never told larger than it is: distances that float64 does not hold exactly become smaller.
    """
    return (
        np.where(low > -LIMIT, _shorter(truth - np.maximum(low, -LIMIT)), np.inf),
        np.where(high < LIMIT, _shorter(np.minimum(high, LIMIT) - truth), np.inf),
    )


def _shorter(distance: NDArray[np.int64]) -> NDArray[np.float64]:
    near = distance.astype(np.float64)
    return np.where(np.abs(near) < 2.0**53, near, np.nextafter(near, 0))
