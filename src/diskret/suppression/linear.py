"""Linear programs over changes of cells, solved by HiGHS.

A solution is a *proposal*: nothing here is believed before `exact` has checked it in
whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import ProtectionError
from diskret.solver import Solver, Status, pivots_for, turns_for

#: What a programme costs beside its pivots, as many of them.
_SET_UP = 50
#: An amount of work (see `Program`) that takes less than a second.
QUANTUM = 1e8
#: Seconds by which clocks may differ.
_GRACE = 0.05
#: With costs that bound the objective, "unbounded or infeasible" can only be the latter.
_NONE = (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS)
_ENDED = (Status.OUT_OF_TIME, Status.OUT_OF_WORK)


class Program:
    """``min cost @ x`` subject to ``equations @ x = 0`` and bounds; starts with x = 0 only.

    `equations`: shape ``(m, k)``; one column for each variable. `unit`: the solver computes in this
    many units of x, a power of two: its tolerances are made for numbers that are neither tiny nor
    huge. `seconds`: time left for an answer; None: all that it takes.

    `work`: what its answers took, in pivots times columns: a measure of time that is the same on
    every computer. `endless`: whether answers in fractions may take all the work that they need;
    else it is bounded, as it always is for whole numbers. `cut_short`: whether the last answer is
    None, or not the best, because time or work ran out, which says nothing of what there is.
    """

    def __init__(
        self,
        equations: sparse.csr_array,
        unit: float = 1.0,
        seconds: Callable[[], float] | None = None,
    ):
        by_column = sparse.csc_array(equations, dtype=np.float64)
        by_column.sort_indices()
        self._solver = Solver(presolve="off", solver="simplex")
        self._solver.load(0, by_column, columns=(0, 0), rows=(0, 0))
        self._unit = unit
        self._seconds = seconds
        self._columns = equations.shape[1]
        self.work = 0
        self.endless = False
        self.cut_short = False

    def bound(
        self, index: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Set the bounds of some variables."""
        self._solver.bound_columns(index, lower / self._unit, upper / self._unit)

    def price(self, index: NDArray[np.int64], cost: NDArray[np.float64]) -> None:
        """Set the costs of some variables."""
        self._solver.price_columns(index, cost)

    def solve(self, cold: bool = False) -> NDArray[np.float64] | None:
        """A best vertex, or None if no solution exists, or time or work runs out.

        `cold`: start from the slack basis: faster than the last basis when both costs and bounds
        have changed, as it is dual feasible for costs ≥ 0.
        """
        if cold:
            self._solver.forget()
        left = self._left()
        self.cut_short = left is not None and left <= 0
        if self.cut_short:
            return None
        status = self._run()
        if status not in (Status.OPTIMAL, *_ENDED, *_NONE):
            self._solver.forget()
            status = self._run()
        self.cut_short = status in _ENDED
        if status is not Status.OUT_OF_TIME:
            self.work += (_SET_UP + self._solver.pivots) * self._columns
        return None if self.cut_short else self._answer(status)

    def _run(self) -> Status:
        # an answer that takes too long comes when nobody has time left, never earlier
        left = self._left()
        pivots = None if self.endless else pivots_for(self._columns)
        return self._solver.run(None if left is None else max(left, 0.0) + _GRACE, pivots=pivots)

    def _left(self) -> float | None:
        left = inf if self._seconds is None else self._seconds()
        return None if left == inf else left

    def duals(self) -> NDArray[np.float64]:
        """What the best vertex just found would gain by each equation's right-hand side."""
        return self._solver.row_duals

    def solve_whole(self, seconds: float) -> NDArray[np.float64] | None:
        """A best solution in whole numbers; where time or work runs out, the best found if any."""
        solver = self._solver
        solver.forget()
        solver.set(presolve="choose", mip_rel_gap=0.0)
        solver.all_whole(True)
        status = solver.run(seconds, turns=turns_for(self._columns))
        self.cut_short = status in _ENDED
        if not self.cut_short:
            answer = self._answer(status)
        else:
            answer = solver.x * self._unit if solver.feasible else None
        solver.all_whole(False)
        solver.set(presolve="off")
        solver.forget()
        return answer

    def _answer(self, status: Status) -> NDArray[np.float64] | None:
        if status is Status.OPTIMAL:
            return self._solver.x * self._unit
        if status in _NONE:
            return None
        raise ProtectionError(
            "the linear solver found neither a solution nor that there is none "
            f"({self._solver.said}); values of very different size may be "
            "the reason: fewer decimals, or a looser bound in the attacker, help"
        )
