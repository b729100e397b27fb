"""Adjustments as linear and mixed-integer programmes, solved by HiGHS.

What comes back is believed only after it has been checked in whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.adjustment.problem import Adjustment
from diskret.deadline import NEVER, Deadline
from diskret.solver import Solver, Status

#: Further from a whole number than this, a cell is a fraction.
_FRACTION = 1e-6
#: What one programme may take, counted alike on every computer, some five minutes: pivots of the
#: simplex method in fractions, fewer in a programme of so many columns; in whole numbers turns of
#: the search times columns, and turns at least.
_PIVOTS, _WIDE = 12_000_000, 50_000
_TURNS, _FEWEST_TURNS = 10_000_000, 50
#: How far around a fractional solution whole numbers are looked for.
_AROUND = (1, 4, 32)


@dataclass(frozen=True, eq=False)
class Solved:
    """A change in whole numbers, or None, and what is known of others.

    `change`: for all cells of the problem, ``(n,)``, int64; None if none was found.
    `impossible`: there is none.
    `bound`: what every such change costs at least, −inf if unknown.
    """

    change: NDArray[np.int64] | None
    impossible: bool = False
    bound: float = -np.inf


def solve(
    problem: Adjustment,
    direction: NDArray[np.int8],
    *,
    deadline: Deadline = NEVER,
    nodes: int | None = None,
    among: NDArray[np.bool_] | None = None,
    start: NDArray[np.int64] | None = None,
) -> Solved:
    """The cheapest change with given directions.

    `problem`: what is asked. `direction`: 1: up, −1: down, 0: to be found, for each sensitive cell,
    ``(k,)``. With none to be found the programme is a linear one. `deadline`: of the search;
    without one its work alone is bounded. `nodes`: most branches looked at, the same on every
    computer. `among`: cells that may change, bool, ``(n,)``; the others keep their change in
    `start`. None: all. `start`: a change that satisfies everything.
    """
    kept = np.zeros(len(problem.cost), dtype=np.int64) if start is None else start
    movable = (problem.down > 0) | (problem.up > 0)
    if among is not None:
        movable &= among
    model = _Model(problem, direction, np.flatnonzero(movable), kept, nodes, deadline)
    if (direction[model.own] == 0).any():
        return model.whole()
    return model.linear()


class _Model:
    """Columns: rise of each cell, fall of each cell, and 1 for each free direction that is up."""

    def __init__(
        self,
        problem: Adjustment,
        direction: NDArray[np.int8],
        at: NDArray[np.int64],
        kept: NDArray[np.int64],
        nodes: int | None,
        deadline: Deadline,
    ):
        self.problem, self.at, self.kept, self.nodes = problem, at, kept, nodes
        self.deadline = deadline
        self.bound = -np.inf
        self.own = np.flatnonzero(np.isin(problem.cell, at))
        n, place = len(at), np.searchsorted(at, problem.cell[self.own])
        way = direction[self.own]
        low, high = (
            np.zeros(2 * n),
            np.concatenate([problem.up[at], problem.down[at]]).astype(float),
        )
        rising, falling = place[way > 0], place[way < 0]
        low[rising], high[n + rising] = problem.upper[self.own[way > 0]], 0.0
        low[n + falling], high[falling] = problem.lower[self.own[way < 0]], 0.0
        free = self.own[way == 0]
        self.free, self.free_at = free, place[way == 0]
        self.low = np.concatenate([low, 1.0 - problem.may_fall[free]]).astype(np.float64)
        self.high = np.concatenate([high, 1.0 * problem.may_rise[free]]).astype(np.float64)
        self.cost = np.concatenate([problem.cost[at], problem.cost[at], np.zeros(len(free))])
        equations = sparse.csr_array(problem.equations[:, at])
        used = np.flatnonzero(np.diff(equations.indptr))
        self.equations = equations[used].astype(np.int64)
        fixed = kept.copy()
        fixed[at] = 0
        self.right = -(problem.equations.astype(np.int64) @ fixed)[used].astype(np.float64)

    def linear(self) -> Solved:
        """A vertex, and whole numbers around it where it is fractional."""
        solution, status = self._run(self._switches(), self.low, self.high, whole=False)
        if solution is None:
            return Solved(None, status is Status.IMPOSSIBLE)
        n = len(self.at)
        for around in _AROUND:
            near = np.rint(solution)
            fraction = np.abs(solution - near) > _FRACTION
            low, high = self.low.copy(), self.high.copy()
            if fraction.any() or around > 1:
                # first the fractions alone, then everything in a wider neighbourhood
                loose = fraction if around == 1 else np.ones(len(near), dtype=bool)
                low = np.maximum(low, np.where(loose, np.floor(solution) - around + 1, near))
                high = np.minimum(high, np.where(loose, np.ceil(solution) + around - 1, near))
                found, _ = self._run(self._switches(), low, high, whole=True)
                if found is None:
                    continue
                near = np.rint(found)
            change = self._checked(near[:n] - near[n : 2 * n])
            if change is not None:
                return Solved(change)
        return Solved(None)

    def whole(self) -> Solved:
        """Whole numbers and directions at once."""
        solution, status = self._run(self._switches(), self.low, self.high, whole=True)
        if solution is None:
            return Solved(None, status is Status.IMPOSSIBLE)
        n, near = len(self.at), np.rint(solution)
        return Solved(self._checked(near[:n] - near[n : 2 * n]), bound=self.bound)

    def _checked(self, moved: NDArray[np.float64]) -> NDArray[np.int64] | None:
        change = self.kept.copy()
        change[self.at] = moved.astype(np.int64)
        return change if self.problem.satisfied(change) else None

    def _switches(self) -> sparse.csr_array:
        """Rows that tie rise and fall of a cell to its direction d.

        ``rise − upper·d ≥ 0``, ``fall + lower·d ≥ lower``, ``rise − up·d ≤ 0`` and
        ``fall + down·d ≤ down``; made as equations with the equations of the table above.
        """
        problem, cell, n, f = self.problem, self.problem.cell[self.free], len(self.at), self.free
        rows = len(f)
        one = np.ones(rows)

        def block(columns: NDArray[np.int64], factor: NDArray[np.int64]) -> sparse.csr_array:
            line = np.arange(rows)
            entries = np.concatenate([one, factor.astype(float)])
            where = np.concatenate([line, line]), np.concatenate([columns, 2 * n + line])
            return sparse.csr_array((entries, where), shape=(rows, 2 * n + rows))

        fall = n + self.free_at
        return sparse.csr_array(
            sparse.vstack(
                [
                    sparse.hstack(
                        [
                            self.equations,
                            -self.equations,
                            sparse.csr_array((self.equations.shape[0], rows)),
                        ]
                    ),
                    block(self.free_at, -problem.upper[f]),
                    block(fall, problem.lower[f]),
                    block(self.free_at, -problem.up[cell]),
                    block(fall, problem.down[cell]),
                ]
            )
        )

    def _run(
        self,
        matrix: sparse.csr_array,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        whole: bool,
    ) -> tuple[NDArray[np.float64] | None, Status]:
        problem, rows = self.problem, len(self.free)
        nothing, endless = np.zeros(rows), np.full(rows, np.inf)
        lower = problem.lower[self.free].astype(np.float64)
        down = problem.down[problem.cell[self.free]].astype(np.float64)
        solver = Solver(random_seed=1, mip_max_nodes=self.nodes)
        solver.load(
            self.cost,
            matrix,
            columns=(low, high),
            rows=(
                np.concatenate([self.right, nothing, lower, -endless, -endless]),
                np.concatenate([self.right, endless, endless, nothing, down]),
            ),
            whole=whole,
        )
        columns = max(matrix.shape[1], 1)
        status = solver.run(
            self.deadline.seconds() if self.deadline.limited else None,
            pivots=None if whole else int(_PIVOTS / (1 + columns / _WIDE)),
            turns=max(_TURNS // columns, _FEWEST_TURNS) if whole else None,
        )
        self.bound = solver.bound if whole else -np.inf
        if status is Status.OPTIMAL or (whole and solver.feasible):
            return solver.x, status
        return None, status
