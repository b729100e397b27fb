"""The choice of groups to hide, as a 0-1 program that learns what patterns must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_STATUS = highspy.HighsModelStatus
_Whole, _Real = NDArray[np.int64], NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cut:
    """``weight @ x[group] >= least`` for the 0-1 variables x of every safe pattern.

    `group`: ascending, ``(s,)``. `weight`: float64, ``(s,)``. `least`: the right-hand side.
    """

    group: NDArray[np.int64]
    weight: NDArray[np.float64]
    least: float


@dataclass(frozen=True, eq=False)
class Choice:
    """A best choice as far as known: 1 for a group that is hidden, fractions in between.

    `x`: ``(g,)``; None if no choice is better than what was asked for, or time ran out. `bound`: no
    choice costs less.
    """

    x: NDArray[np.float64] | None
    bound: float


class Master:
    """``min cost @ x`` subject to the cuts, ``0 <= x <= 1``.

    `cost`: cost of hiding each group, ``(g,)``. `fixed`: groups that are hidden anyway, bool,
    ``(g,)``. `nodes`: size at which the search for a whole choice is given up; None: never.
    """

    def __init__(
        self, cost: NDArray[np.float64], fixed: NDArray[np.bool_], nodes: int | None = None
    ):
        self._nodes = nodes
        g = len(cost)
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = g, 0
        program.col_cost_ = np.where(fixed, 0.0, cost)
        program.col_lower_ = fixed.astype(np.float64)
        program.col_upper_ = np.ones(g)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.num_col_, program.a_matrix_.num_row_ = g, 0
        program.a_matrix_.start_ = np.zeros(g + 1, dtype=np.int32)
        self._g = g
        self._solver = _quiet()
        self._solver.setOptionValue("presolve", "off")
        self._solver.setOptionValue("solver", "simplex")
        self._solver.passModel(program)
        self._cost = np.where(fixed, 0.0, cost)
        # cuts not yet among the entries of all
        self._new: list[Cut] = []
        nothing = np.empty(0, dtype=np.int64)
        self._known: tuple[_Whole, _Real, _Whole, _Real]
        self._known = nothing, np.empty(0), nothing, np.empty(0)
        self.upper = np.ones(g)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Demand these of every choice from now on."""
        if not cuts:
            return
        self._new += cuts
        sizes = [len(cut.group) for cut in cuts]
        self._solver.addRows(
            len(cuts),
            np.array([cut.least for cut in cuts], dtype=np.float64),
            np.full(len(cuts), highspy.kHighsInf),
            sum(sizes),
            np.r_[0, np.cumsum(sizes)[:-1]].astype(np.int32),
            np.concatenate([cut.group for cut in cuts]).astype(np.int32),
            np.concatenate([cut.weight for cut in cuts]),
        )

    def best_within(
        self, base: NDArray[np.bool_], free: NDArray[np.bool_], seconds: float, gap: float
    ) -> NDArray[np.float64] | None:
        """The best whole choice that differs from another in some groups only, or None.

        `base`: the other choice, bool, ``(g,)``. `free`: where it can differ, bool, ``(g,)``.
        """
        group, weight, row, least = self._entries()
        inside = free[group]
        least = least - np.bincount(row, np.where(inside, 0, weight * base[group]), len(least))
        # what no choice of free groups can violate says nothing
        worst = np.bincount(row, np.where(inside, np.minimum(weight, 0), 0), len(least))
        needed = least > worst + 1e-9
        at = np.flatnonzero(inside & needed[row])
        position = np.cumsum(needed)[row[at]] - 1
        shape = (int(np.count_nonzero(needed)), self._g)
        column = np.flatnonzero(free & (self.upper > 0))
        matrix = sparse.csr_array((weight[at], (position, group[at])), shape=shape)[:, column]
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(column), shape[0]
        program.col_cost_ = self._cost[column]
        program.col_lower_, program.col_upper_ = np.zeros(len(column)), np.ones(len(column))
        program.row_lower_ = least[needed]
        program.row_upper_ = np.full(shape[0], highspy.kHighsInf)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.num_col_, program.a_matrix_.num_row_ = len(column), shape[0]
        program.a_matrix_.start_ = matrix.indptr
        program.a_matrix_.index_ = matrix.indices
        program.a_matrix_.value_ = matrix.data
        program.integrality_ = [highspy.HighsVarType.kInteger] * len(column)
        solver = self._branching()
        solver.setOptionValue("mip_rel_gap", gap)
        solver.setOptionValue("time_limit", max(seconds, 0.0))
        solver.passModel(program)
        known = highspy.HighsSolution()
        known.col_value = base[column].astype(np.float64).tolist()
        solver.setSolution(known)
        solver.run()
        if solver.getModelStatus() != _STATUS.kOptimal:
            return None
        x = np.where(free, 0.0, base)
        x[column] = np.rint(np.array(solver.getSolution().col_value))
        return x

    def _branching(self) -> highspy.Highs:
        solver = _quiet()
        if self._nodes is not None:
            solver.setOptionValue("mip_max_nodes", self._nodes)
        return solver

    def _entries(self) -> tuple[_Whole, _Real, _Whole, _Real]:
        """Groups, weights and numbers of the cuts, entry by entry, and their right-hand sides."""
        new = self._new
        if new:
            group, weight, row, least = self._known
            first = len(least)
            numbers = np.repeat(range(first, first + len(new)), [len(cut.group) for cut in new])
            self._known = (
                np.concatenate([group, *(cut.group for cut in new)]),
                np.concatenate([weight, *(cut.weight for cut in new)]),
                np.concatenate([row, numbers]),
                np.concatenate([least, [cut.least for cut in new]]),
            )
            self._new = []
        return self._known

    def publish(self, group: NDArray[np.int64]) -> None:
        """Leave these groups out of all choices from now on."""
        self.upper[group] = 0
        self._solver.changeColsBounds(
            len(group), group.astype(np.int32), np.zeros(len(group)), np.zeros(len(group))
        )

    def release(self, group: int) -> None:
        """Let a group be chosen that was hidden anyway."""
        self._solver.changeColBounds(group, 0.0, 1.0)

    def relaxed(self, seconds: float) -> tuple[Choice, NDArray[np.float64]]:
        """The best choice in fractions, and the reduced cost of each group."""
        solver = self._solver
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
        solver.run()
        status = solver.getModelStatus()
        if status == _STATUS.kOptimal:
            solution = solver.getSolution()
            x = np.clip(np.array(solution.col_value), 0, 1)
            value = solver.getInfo().objective_function_value
            return Choice(x, value), np.array(solution.col_dual)
        impossible = status in (_STATUS.kInfeasible, _STATUS.kUnboundedOrInfeasible)
        return Choice(None, np.inf if impossible else -np.inf), np.zeros(self._g)

    def whole(self, seconds: float, start: NDArray[np.bool_], gap: float) -> Choice:
        """The best choice of 0 or 1, up to this share of its cost, or that is found in time.

        `start` is a choice known to satisfy all cuts.
        """
        solver = self._branching()
        solver.setOptionValue("mip_rel_gap", gap)
        solver.setOptionValue("time_limit", max(seconds, 0.0))
        solver.passModel(self._solver.getLp())
        everything = np.arange(self._g, dtype=np.int32)
        solver.changeColsIntegrality(self._g, everything, np.ones(self._g, dtype=np.uint8))
        if not np.any(start & (self.upper == 0)):
            known = highspy.HighsSolution()
            known.col_value = start.astype(np.float64).tolist()
            solver.setSolution(known)
        solver.run()
        status = solver.getModelStatus()
        if status == _STATUS.kInfeasible:
            return Choice(None, np.inf)
        info = solver.getInfo()
        bound = info.mip_dual_bound
        found = np.isfinite(info.objective_function_value)
        if status != _STATUS.kOptimal and not (status == _STATUS.kTimeLimit and found):
            return Choice(None, bound if np.isfinite(bound) else -np.inf)
        return Choice(np.rint(np.array(solver.getSolution().col_value)), bound)


def _quiet() -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    # not "threads": HiGHS fails if another model of the process asked for another number
    solver.setOptionValue("parallel", "off")
    return solver
