"""The choice of groups to hide, as a 0-1 program that learns what patterns must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.solver import Solver, Status, pivots_for, turns_for

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

    `x`: ``(g,)``; None if no choice is better than what was asked for, or time or work ran out.
    `bound`: no choice costs less.
    """

    x: NDArray[np.float64] | None
    bound: float


class Master:
    """``min cost @ x`` subject to the cuts, ``0 <= x <= 1``.

    `cost`: cost of hiding each group, ``(g,)``. `fixed`: groups that are hidden anyway, bool,
    ``(g,)``. `nodes`, `turns`: size, and turns (see `Solver`), at which the search for a whole
    choice is given up; None: never.
    """

    def __init__(
        self,
        cost: NDArray[np.float64],
        fixed: NDArray[np.bool_],
        nodes: int | None = None,
        turns: int | None = None,
    ):
        self._nodes, self._turns = nodes, turns
        g = len(cost)
        self._g = g
        self._cost = np.where(fixed, 0.0, cost)
        self._solver = Solver(presolve="off", solver="simplex")
        nothing_yet = sparse.csc_array((0, g))
        self._solver.load(self._cost, nothing_yet, columns=(fixed, 1), rows=(0, 0))
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
        group = np.concatenate([cut.group for cut in cuts])
        weight = np.concatenate([cut.weight for cut in cuts])
        first = np.append(0, np.cumsum(sizes))
        matrix = sparse.csr_array((weight, group, first), shape=(len(cuts), self._g))
        self._solver.add_rows(np.array([cut.least for cut in cuts], dtype=np.float64), matrix)

    def best_within(
        self, base: NDArray[np.bool_], free: NDArray[np.bool_], seconds: float, gap: float
    ) -> NDArray[np.float64] | None:
        """The best whole choice that differs from another in some groups only, or None.

        None as well where time, or a counted amount of work if nothing else is limited, runs out.

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
        solver = Solver(mip_max_nodes=self._nodes, mip_rel_gap=gap)
        rows = least[needed], np.inf
        solver.load(self._cost[column], matrix, columns=(0, 1), rows=rows, whole=True)
        solver.start(base[column])
        turns = self._turns
        if turns is None and seconds == np.inf:
            turns = turns_for(len(column))
        if solver.run(seconds, turns=turns) is not Status.OPTIMAL:
            return None
        x = np.where(free, 0.0, base)
        x[column] = np.rint(solver.x)
        return x

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
        self._solver.bound_columns(group, 0, 0)

    def release(self, group: int) -> None:
        """Let a group be chosen that was hidden anyway."""
        self._solver.bound_columns(np.array([group]), 0, 1)

    def relaxed(self, seconds: float) -> tuple[Choice, NDArray[np.float64]]:
        """The best choice in fractions, and the reduced cost of each group.

        If that takes more than a counted amount of work nothing is known; the next call goes on.
        """
        status = self._solver.run(seconds, pivots=pivots_for(self._g))
        if status is Status.OPTIMAL:
            x = np.clip(self._solver.x, 0, 1)
            return Choice(x, self._solver.objective), self._solver.reduced_costs
        impossible = status in (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS)
        return Choice(None, np.inf if impossible else -np.inf), np.zeros(self._g)

    def whole(self, seconds: float, start: NDArray[np.bool_], gap: float) -> Choice:
        """The best choice of 0 or 1, up to this share of its cost, or that is found in time.

        `start` is a choice known to satisfy all cuts.
        """
        solver = Solver(mip_max_nodes=self._nodes, mip_rel_gap=gap)
        solver.load_from(self._solver)
        solver.all_whole(True)
        if not np.any(start & (self.upper == 0)):
            solver.start(start)
        status = solver.run(seconds, turns=self._turns)
        if status is Status.IMPOSSIBLE:
            return Choice(None, np.inf)
        bound, found = solver.bound, np.isfinite(solver.objective)
        ended = status in (Status.OUT_OF_TIME, Status.OUT_OF_WORK)
        if status is not Status.OPTIMAL and not (ended and found):
            return Choice(None, bound if np.isfinite(bound) else -np.inf)
        return Choice(np.rint(solver.x), bound)
