"""Linear programs over changes of cells, solved by HiGHS.

A solution is a *proposal*: nothing here is believed before `exact` has checked it in
whole numbers.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import ProtectionError

_STATUS = highspy.HighsModelStatus
#: With costs that bound the objective, "unbounded or infeasible" can only be the latter.
_NONE = (_STATUS.kInfeasible, _STATUS.kUnboundedOrInfeasible)


class Program:
    """``min cost @ x`` subject to ``equations @ x = 0`` and bounds; starts with x = 0 only.

    `equations`: shape ``(m, k)``; one column for each variable. `unit`: the solver computes in this
    many units of x, a power of two: its tolerances are made for numbers that are neither tiny nor
    huge.
    """

    def __init__(self, equations: sparse.csr_array, unit: float = 1.0):
        rows, columns = equations.shape
        by_column = sparse.csc_array(equations, dtype=np.float64)
        by_column.sort_indices()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = columns, rows
        program.col_cost_ = program.col_lower_ = program.col_upper_ = np.zeros(columns)
        program.row_lower_ = program.row_upper_ = np.zeros(rows)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.num_col_, program.a_matrix_.num_row_ = columns, rows
        program.a_matrix_.start_ = by_column.indptr
        program.a_matrix_.index_ = by_column.indices
        program.a_matrix_.value_ = by_column.data
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        # not "threads": HiGHS fails if another model of the process asked for another number
        solver.setOptionValue("parallel", "off")
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("solver", "simplex")
        solver.passModel(program)
        self._solver = solver
        self._columns = columns
        self._unit = unit

    def bound(
        self, index: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]
    ) -> None:
        """Set the bounds of some variables."""
        self._solver.changeColsBounds(
            len(index), index.astype(np.int32), lower / self._unit, upper / self._unit
        )

    def price(self, index: NDArray[np.int64], cost: NDArray[np.float64]) -> None:
        """Set the costs of some variables."""
        self._solver.changeColsCost(len(index), index.astype(np.int32), cost)

    def solve(self, cold: bool = False) -> NDArray[np.float64] | None:
        """A best vertex, or None if no solution exists.

        `cold`: start from the slack basis: faster than the last basis when both costs and bounds
        have changed, as it is dual feasible for costs ≥ 0.
        """
        if cold:
            self._solver.clearSolver()
        self._solver.run()
        status = self._solver.getModelStatus()
        if status != _STATUS.kOptimal and status not in _NONE:
            self._solver.clearSolver()
            self._solver.run()
            status = self._solver.getModelStatus()
        return self._answer(status)

    def duals(self) -> NDArray[np.float64]:
        """What the best vertex just found would gain by each equation's right-hand side."""
        return np.array(self._solver.getSolution().row_dual)

    def solve_whole(self, seconds: float) -> NDArray[np.float64] | None:
        """A best solution in whole numbers; None if there is none or time runs out."""
        everything = np.arange(self._columns, dtype=np.int32)
        solver = self._solver
        solver.clearSolver()
        solver.setOptionValue("presolve", "choose")
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
        solver.changeColsIntegrality(
            self._columns, everything, np.ones(self._columns, dtype=np.uint8)
        )
        solver.run()
        status = solver.getModelStatus()
        answer = None if status == _STATUS.kTimeLimit else self._answer(status)
        solver.changeColsIntegrality(
            self._columns, everything, np.zeros(self._columns, dtype=np.uint8)
        )
        solver.setOptionValue("time_limit", float("inf"))
        solver.setOptionValue("presolve", "off")
        solver.clearSolver()
        return answer

    def _answer(self, status: highspy.HighsModelStatus) -> NDArray[np.float64] | None:
        if status == _STATUS.kOptimal:
            return np.array(self._solver.getSolution().col_value) * self._unit
        if status in _NONE:
            return None
        raise ProtectionError(
            "the linear solver found neither a solution nor that there is none "
            f"({self._solver.modelStatusToString(status)}); values of very different size may be "
            "the reason: fewer decimals, or a looser bound in the attacker, help"
        )
