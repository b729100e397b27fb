"""The cheapest pattern that a search has found so far, and what every pattern costs at least."""

from __future__ import annotations

from math import ceil, gcd, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Proposals
from diskret.suppression.changeable import Changeable
from diskret.suppression.problem import Problem

#: A pattern is taken for the cheapest if no other costs less by more than this share.
_GAP = 1e-4


class CheapestSoFar:
    """A pattern, its cost, and the bound.

    Costs are in units of the least positive one (`scale`), without what every pattern costs
    (`constant`: aliases of primary cells).

    `cost`: cost of hiding each group, ``(g,)``. `step`: the least difference between two patterns,
    if costs are whole; else 0. `hidden`: the pattern, bool, ``(g,)``: everything, until a safe one
    is known (`safe`). `upper`, `lower`: what it costs, and what every pattern does at least.
    `tidy`: whether all of it is needed. `proposals`: what shows that it is safe, if that is known.
    `dropped`: what a pattern with a group that was left out costs at least.
    """

    def __init__(self, problem: Problem, cells: Changeable):
        cost = problem.cost.copy()
        cost[problem.requirements.cell] = 0
        inside = cells.group >= 0
        of_group = np.bincount(cells.group[inside], cost[inside], len(cells.down))
        self.constant = float(of_group[cells.primary].sum())
        of_group[cells.primary] = 0
        positive = of_group[of_group > 0]
        self.scale = float(positive.min(initial=inf)) if len(positive) else 1.0
        self.cost = of_group / self.scale
        self._whole = _step(positive)
        self.step = self._whole / self.scale
        # nothing is known yet that costs less than to hide everything
        self.hidden, self.safe = np.ones(len(cells.down), dtype=bool), False
        self.upper = self.cost_of(self.hidden)
        self.tidy = False
        self.proposals: Proposals | None = None
        self.lower = 0.0
        self.dropped = inf

    @property
    def target(self) -> float:
        """A bound that proves the pattern to be the cheapest."""
        return min(self.upper * (1 - _GAP), self.upper - 0.99 * self.step) if self.upper else 0.0

    @property
    def proven(self) -> bool:
        """Whether no pattern is cheaper."""
        return self.lower >= self.target

    @property
    def percent(self) -> int:
        """How much of the cost is proven to be needed, 0 to 100."""
        return min(int(100 * self.lower / (self.upper or 1)), 100)

    @property
    def bound(self) -> float:
        """The bound in the problem's own costs; rounded up if these are whole."""
        bound = min(self.lower, self.upper) * self.scale
        if self._whole:
            bound = self._whole * ceil(bound / self._whole * (1 - 1e-9) - 1e-6)
        return bound + self.constant

    def cost_of(self, hidden: NDArray[np.bool_]) -> float:
        """What a pattern costs."""
        return float(self.cost[hidden].sum())

    def takes(self, hidden: NDArray[np.bool_]) -> bool:
        """Whether a safe pattern would be the cheapest so far, or the first."""
        return not self.safe or self.cost_of(hidden) < self.upper

    def clearly_takes(self, hidden: NDArray[np.bool_]) -> bool:
        """Whether a pattern is cheaper by more than rounding explains."""
        return self.cost_of(hidden) <= self.upper - max(0.5 * self.step, 1e-9 * self.upper)

    def accept(
        self, hidden: NDArray[np.bool_], tidy: bool = False, proposals: Proposals | None = None
    ) -> None:
        """Take note of a safe pattern."""
        if self.takes(hidden):
            self.hidden, self.upper, self.safe = hidden, self.cost_of(hidden), True
            self.tidy, self.proposals = tidy, proposals

    def exchange(self, hidden: NDArray[np.bool_], proposals: Proposals) -> None:
        """Take a part of the pattern, which is safe as well, unless it costs more."""
        if self.cost_of(hidden) <= self.upper:
            self.hidden, self.upper = hidden, self.cost_of(hidden)
            self.proposals = proposals

    def at_least(self, bound: float) -> None:
        """No pattern costs less than this."""
        self.lower = max(self.lower, min(bound, self.dropped, self.upper))


def _step(cost: NDArray[Any]) -> float:
    """The least difference between the costs of two patterns, if costs are whole; else 0."""
    if len(cost) == 0 or cost.max() > 2**46 or np.any(cost != np.rint(cost)):
        return 0.0
    return float(gcd(*cost.astype(np.int64).tolist()))
