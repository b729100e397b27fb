"""Which published cells are to blame if a hidden cell can be narrowed down too far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from diskret.attack.attacker import Attacker
from diskret.attack.equations import Equations, equations
from diskret.attack.exact import UNKNOWN
from diskret.attack.knowledge import unknown_bounds
from diskret.errors import ProofError
from diskret.graphs import connected
from diskret.tables import Publication

#: Nodes of branch and bound for one end of a count.
_NODES = 2_000


@dataclass(frozen=True)
class Need:
    """How far a cell has to be able to move, as in `Targets`: values in scaled units."""

    low: float
    high: float
    width: float

    def met(self, lower: float, upper: float) -> bool:
        """Whether an interval is as wide as required, up to the solver's last digits."""
        slack = 1e-6 * max([1.0, *(abs(e) for e in (lower, upper) if np.isfinite(e))])
        reached = lower <= self.low + slack and upper >= self.high - slack
        return reached and upper - lower >= self.width - 2 * slack


@dataclass(frozen=True)
class Culprits:
    """Why a cell can be narrowed down.

    cells: positions of published cells, ascending: with these published the requirement is not met.
        Empty if it is not met even without all of them, or if the programmes do not show that it is
        unmet.
    irreducible: whether it is met without any one of them; False if work ended the search.
    """

    cells: tuple[int, ...] = ()
    irreducible: bool = True


class Opened:
    """An attack in which chosen published cells can be taken back one by one.

    publication: what the world sees if nothing of `chosen` is published: these are suppressed.
    chosen: positions of these cells, ascending.
    low, high: what would be known of each if it were published: twice its value, or half a unit of
        rounding around it.

    work: unknown cells in all linear programmes so far.
    """

    def __init__(
        self,
        publication: Publication,
        chosen: NDArray[np.int64],
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        attacker: Attacker,
        original: NDArray[np.int64] | None = None,
    ):
        self.known: Equations = equations(publication)
        self.chosen, self.low, self.high = chosen, low, high
        lower, upper = unknown_bounds(publication, self.known, attacker, original)
        self.lower = np.where(lower > -UNKNOWN, lower, -np.inf).astype(float)
        self.upper = np.where(upper < UNKNOWN, upper, np.inf).astype(float)
        at = np.searchsorted(self.known.cell, chosen)
        # what is assumed of hidden cells may be wrong of those that are only imagined hidden
        self.lower[at] = np.minimum(self.lower[at], low)
        self.upper[at] = np.maximum(self.upper[at], high)
        self.whole = publication.tables[0].frequency
        self.work = 0
        m, n = self.known.matrix.shape
        graph = sparse.block_array([[None, self.known.matrix], [self.known.matrix.T, None]])
        label = connected(graph) if m else np.arange(n)
        self.row, self.column = label[:m], label[m:]

    def touched(self, below: int) -> NDArray[np.int64]:
        """Positions of the unknown cells that equations connect with one below a position."""
        return self.known.cell[np.isin(self.column, self.column[self.known.cell < below])]

    def blame(self, cell: int, need: Need, limit: float) -> Culprits:
        """A set of chosen cells whose publication leaves a cell's need unmet.

        A deletion filter over those cells that a dual solution of the linear programmes rests
        on: all others may be taken back without changing its value.

        cell: position of the cell.

        Deletion filter: Chinneck and Dravnieks (1991), "Locating minimal infeasible constraint
        sets in linear programs", ORSA Journal on Computing 3(2), 157-168. The set is
        irreducible as far as the solver's word goes; a smaller one may exist.
        """
        asked = _Asked(self, int(np.searchsorted(self.known.cell, cell)))

        def met(published: NDArray[np.int64]) -> bool:
            self.work += 2 * len(asked.column)
            return need.met(*asked.ends(published, whole))

        whole = False
        self.work += 2 * len(asked.column)
        lower, upper, left = asked.supported()
        if need.met(lower, upper):
            # then at most reasoning in whole numbers narrows it down
            whole, left = self.whole, asked.chosen
            if not whole or met(left):
                return Culprits()
        elif met(left):
            left = asked.chosen  # the solver's dual solution was not exact enough
        if not met(left[:0]):
            return Culprits()
        for one in left.tolist():
            if self.work >= limit:
                return Culprits(asked.positions(left), irreducible=False)
            fewer = left[left != one]
            if not met(fewer):
                left = fewer
        return Culprits(asked.positions(left))


class _Asked:
    """One cell and all that equations connect with it; positions are among these."""

    def __init__(self, opened: Opened, cell: int):
        self.column = np.flatnonzero(opened.column == opened.column[cell])
        rows = np.flatnonzero(opened.row == opened.column[cell])
        self._matrix = sparse.csr_array(opened.known.matrix[rows][:, self.column], dtype=float)
        self._right = opened.known.right[rows].astype(float)
        self._lower, self._upper = opened.lower[self.column], opened.upper[self.column]
        self._goal = (self.column == cell).astype(float)
        own = np.isin(opened.chosen, opened.known.cell[self.column])
        self._position = opened.known.cell[self.column]
        self.chosen = np.searchsorted(self._position, opened.chosen[own])
        self._low, self._high = self._lower.copy(), self._upper.copy()
        self._low[self.chosen] = np.maximum(self._low[self.chosen], opened.low[own])
        self._high[self.chosen] = np.minimum(self._high[self.chosen], opened.high[own])

    def positions(self, chosen: NDArray[np.int64]) -> tuple[int, ...]:
        """Where chosen cells stand in the publication, ascending."""
        return tuple(sorted(self._position[chosen].tolist()))

    def ends(self, published: NDArray[np.int64], whole: bool) -> tuple[float, float]:
        """The interval of the cell if these cells are published."""
        low, high = self._bounds(published)
        found: list[float] = []
        for sign in (1.0, -1.0):
            if not whole:
                found.append(sign * self._solve(sign, low, high)[0])
                continue
            answer = milp(
                sign * self._goal,
                constraints=LinearConstraint(self._matrix, self._right, self._right),
                bounds=Bounds(low, high),
                integrality=np.ones(len(low)),
                options={"node_limit": _NODES},
            )
            end = answer.mip_dual_bound if answer.x is None else answer.fun
            found.append(sign * (-np.inf if end is None else float(end)))
        return found[0], found[1]

    def supported(self) -> tuple[float, float, NDArray[np.int64]]:
        """The interval if all chosen cells are published, and those that it rests on."""
        low, high = self._bounds(self.chosen)
        lower, below = self._solve(1.0, low, high)
        upper, above = self._solve(-1.0, low, high)
        rests = (below | above)[self.chosen]
        return lower, -upper, self.chosen[rests]

    def _bounds(
        self, published: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high = self._lower.copy(), self._upper.copy()
        low[published], high[published] = self._low[published], self._high[published]
        return low, high

    def _solve(
        self, sign: float, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.bool_]]:
        """The least of ``sign · cell``, and the bounds that it rests on."""
        answer = linprog(
            sign * self._goal,
            A_eq=self._matrix,
            b_eq=self._right,
            bounds=np.column_stack((low, high)),
            method="highs",
        )
        if answer.status == 3:
            return -np.inf, np.zeros(len(low), dtype=bool)
        if answer.status != 0:
            raise ProofError(f"the linear solver ended without an answer: {answer.message}")
        duals = np.abs(answer.lower.marginals) + np.abs(answer.upper.marginals)
        return float(answer.fun), duals > 1e-9
