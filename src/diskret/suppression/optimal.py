"""Optimal suppression: the cheapest safe pattern, with a proof that none is cheaper."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from math import ceil, gcd, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.progress import silent
from diskret.suppression.blame import refuse_fixed
from diskret.suppression.certify import certify, show
from diskret.suppression.exact import part
from diskret.suppression.greedy import moved, safe
from diskret.suppression.master import Cut, Master
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.reduce import changeable
from diskret.suppression.search import Search, fulfil
from diskret.suppression.separate import Attacks

#: A pattern is taken for the cheapest if no other costs less by more than this share.
_GAP = 1e-4
#: Whole choices are best up to this share of the gap that is open, or of their cost.
_ROUGH, _FINE = 0.1, 2e-5
#: Share of the time that the fractions leave to others, where it is limited.
_KEPT = 0.4
#: Surcharge, as a share of the least cost, that decides between equal patterns.
_SURCHARGE = 1e-5
#: Rounds in which the bound hardly rises, after which fractions are given up.
_STALLED = 4


def optimal(problem: Problem) -> Pattern:
    """Find the cheapest safe pattern, and prove that none is cheaper.

    A 0-1 program chooses the groups to hide. It knows only some inequalities at first; attacks
    on its choices, first in fractions, then whole, give those that it lacks, until its
    cheapest choice is safe. Choices in fractions guide the search for patterns, which begins
    with that of `sequential`.

    Parameters
    ----------
    problem
        Cells that cost nothing are free: they are hidden where that spares others, and
        published where no requirement needs them.

    Returns
    -------
    Pattern
        All requirements hold, and every secondary can take values at least one scaled unit
        apart. No safe pattern costs less than `bound`. `complete` is False if the deadline
        came before the cost was within 0.01 % of it, or nearer than whole costs can differ.

    Raises
    ------
    ProtectionError
        A primary cell cannot be protected, e.g. because of frozen cells; or the deadline
        passed before a safe pattern was found.
    InputError
        The attacker's bounds exclude an original value.

    Notes
    -----
    Cuts from the attackers' linear programs, their strengthening, and heuristics guided by
    fractions: Fischetti and Salazar (2001), "Solving the cell suppression problem on tabular
    data with linear constraints", Management Science 47(7), 1008-1027.

    Examples
    --------
    A total of 11 and its parts 1, 4 and 6: with the 1 at least one more has to go, and none is
    cheaper than the 4.

    >>> import numpy as np
    >>> from diskret.attack import Requirements
    >>> from diskret.system import System
    >>> from diskret.tables import Dimension, Table
    >>> from diskret.hierarchy import Hierarchy
    >>> sizes = Hierarchy(("Total", "S", "M", "L"), np.array([-1, 0, 0, 0]))
    >>> system = System.of_table(Table((Dimension("size", sizes),), np.array([11, 1, 4, 6])))
    >>> one = np.array([1])
    >>> problem = Problem(
    ...     system=system,
    ...     requirements=Requirements(cell=one, lower=one, upper=one, sliding=0 * one),
    ...     cost=system.value.astype(float),
    ...     frozen=system.value == 0,
    ...     lower=np.zeros(4),
    ...     upper=np.full(4, np.inf),
    ...     integer=True,
    ... )
    >>> pattern = optimal(problem)
    >>> pattern.suppressed.tolist(), pattern.bound
    ([False, True, True, False], 4.0)
    """
    search = _Search(problem)
    # a solver in trouble ends the search: the pattern is safe, and the bound holds
    with suppress(ProtectionError):
        search.run()
    return Pattern(
        search.cells.of_cells(search.hidden),
        "optimal",
        complete=search.lower >= search.target,
        bound=search.bound,
    )


class _Search:
    """The best pattern so far, the bound so far, and the program between them.

    Costs are in units of the least positive one (`scale`), without what every pattern costs
    (`constant`: aliases of primary cells).
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.cells = cells = changeable(problem)
        refuse_fixed(problem, cells)
        self.certified = certify(cells, cells.primary)
        cost = problem.cost.copy()
        cost[problem.requirements.cell] = 0
        inside = cells.group >= 0
        of_group = np.bincount(cells.group[inside], cost[inside], len(cells.down))
        self.constant = float(of_group[cells.primary].sum())
        of_group[cells.primary] = 0
        positive = of_group[of_group > 0]
        self.scale = float(positive.min(initial=inf)) if len(positive) else 1.0
        self.cost = of_group / self.scale
        self.whole = _step(positive)
        self.step = self.whole / self.scale
        self.free = (self.cost == 0) & ~cells.primary
        self.hidden, _ = safe(problem, cells, cells.primary | cells.started, self.certified)
        self.upper = self._cost_of(self.hidden)
        self.lower = 0.0
        # any pattern with a group that was dropped costs at least this
        self.dropped = inf
        self.quiet = replace(problem, progress=silent)

    @property
    def target(self) -> float:
        """A bound that proves the pattern to be the cheapest."""
        return min(self.upper * (1 - _GAP), self.upper - 0.99 * self.step) if self.upper else 0.0

    @property
    def bound(self) -> float:
        """The bound in the problem's own costs; rounded up if these are whole."""
        bound = min(self.lower, self.upper) * self.scale
        if self.whole:
            bound = self.whole * ceil(bound / self.whole * (1 - 1e-9) - 1e-6)
        return bound + self.constant

    def seconds(self) -> float:
        """Time left."""
        deadline = self.problem.deadline
        return inf if deadline is None else deadline - time.monotonic()

    def run(self) -> None:
        """Raise the bound and lower the cost until they meet or time is up."""
        if self.lower >= self.target:
            return
        shown = self.certified.copy()
        show(self.cells, self.cells.primary | self.free, shown)
        fixed = self.cells.primary | self.free
        totals = np.bincount(
            self.cells.equations.indices[self.cells.equations.data > 0], minlength=len(fixed)
        )
        later = 1 + totals + self.cells.ties
        surcharge = _SURCHARGE * later / later.max(initial=1)
        self.master = Master(np.where(self.cost > 0, self.cost + surcharge, 0), fixed)
        self.attacks = Attacks(self.cells, shown, fixed)
        self.master.add(self.attacks.of_rows())
        # under a deadline, keep time to make patterns of what the fractions say
        kept = 0.0 if self.problem.deadline is None else _KEPT * self.seconds()
        x, settled = self._fractions(kept)
        self._repair(x)
        if not settled:
            x, settled = self._fractions(0.0)
            self._repair(x)
        self._drop(*self._relaxed()[1:])
        while self.lower < self.target and self.seconds() > 0:
            if not self._whole():
                break

    def _raise(self, bound: float) -> None:
        self.lower = max(self.lower, min(bound / (1 + _SURCHARGE), self.dropped, self.upper))
        self.problem.progress("prove", min(int(100 * self.lower / (self.upper or 1)), 100), 100)

    def _relaxed(self) -> tuple[NDArray[np.float64] | None, float, NDArray[np.float64]]:
        """The best choice in fractions if there is any, its bound, and reduced costs."""
        choice, reduced = self.master.relaxed(self.seconds())
        self._raise(choice.bound)
        return choice.x, choice.bound, reduced

    def _fractions(self, kept: float) -> tuple[NDArray[np.float64], bool]:
        """Cuts from choices in fractions, until they hardly raise the bound any more.

        Returns the last choice, and False if only so many seconds are left as are to be kept.
        """
        stalled = 0
        x = np.zeros(len(self.cost))
        while self.lower < self.target and stalled < _STALLED:
            if self.seconds() <= kept:
                return x, False
            before = self.lower
            found, bound, reduced = self._relaxed()
            if found is None:
                break
            x = found
            stalled = 0 if self.lower - before > 1e-3 * (self.upper - before) else stalled + 1
            self._drop(bound, reduced)
            cuts = self.attacks.companions(x)
            cuts += self.attacks.of_choice(x, whole=False)
            if not cuts:
                break
            self.master.add(cuts)
        return x, True

    def _whole(self) -> bool:
        """A choice of 0 or 1, and what it lacks; False if time ran out."""
        open_share = (self.upper - self.lower) / self.upper
        gap = max(open_share * _ROUGH, _FINE)
        choice = self.master.whole(self.seconds(), self.hidden, gap)
        self._raise(choice.bound)
        if choice.x is None or self.lower >= self.target:
            return choice.x is not None or choice.bound == inf
        cuts = self.attacks.companions(choice.x) + self.attacks.of_choice(choice.x, whole=True)
        if not cuts:
            cuts, hidden = self._judge(choice.x > 0.5)
            if hidden is not None:
                self._accept(hidden)
        else:
            self._repair(choice.x)
        self.master.add(cuts)
        return True

    def _drop(self, bound: float, reduced: NDArray[np.float64]) -> None:
        """Leave out what can only be part of patterns that are hardly cheaper than the best."""
        rest = self.target * (1 + _SURCHARGE) - bound
        beyond = (reduced > rest + 1e-6) & (self.master.upper > 0) & ~self.attacks.fixed
        if beyond.any():
            self.dropped = min(self.dropped, self.target)
            self.master.publish(np.flatnonzero(beyond))

    def _repair(self, x: NDArray[np.float64]) -> None:
        """A safe pattern near a choice in fractions, if there is time and need for one."""
        if self.lower >= self.target or self.seconds() <= 0:
            return
        hidden = self.cells.primary | self.free | (x > 0.9)
        price = self.cells.price * np.maximum(1 - x, 0.02)
        reach = self.certified.copy()
        changes = show(self.cells, hidden, reach, one_by_one=False)
        try:
            hidden, _ = safe(self.quiet, self.cells, hidden, self.certified, changes, price)
        except ProtectionError:
            return
        self._accept(hidden)

    def _accept(self, hidden: NDArray[np.bool_]) -> None:
        cost = self._cost_of(hidden)
        if cost < self.upper:
            self.hidden, self.upper = hidden, cost

    def _cost_of(self, hidden: NDArray[np.bool_]) -> float:
        return float(self.cost[hidden].sum())

    def _judge(self, chosen: NDArray[np.bool_]) -> tuple[list[Cut], NDArray[np.bool_] | None]:
        """Whether a whole choice is safe, by exact changes; if not, what it lacks.

        What fails within a choice fails within every part of it, so at least one other group
        must be hidden, or the secondary that fails must not.
        """
        cells = self.cells
        allowed = chosen | cells.primary | self.free
        reach = self.certified.copy()
        changes = show(cells, allowed, reach)
        here = part(cells, allowed)
        search = Search(here, np.ones(len(here.cell), dtype=bool), np.zeros(len(here.cell)))
        others = np.flatnonzero(~allowed)
        ones = np.ones(len(others))
        for group in np.flatnonzero(reach.missing(cells)).tolist():
            changes += fulfil(search, cells, reach, group, self.seconds)
            if reach.misses(cells, group):
                return ([Cut(others, ones, 1.0)] if self.seconds() > 0 else []), None
        secondary = np.flatnonzero((moved(cells, changes) | chosen) & ~cells.primary)
        width = cells.width.copy()
        width[secondary] = np.maximum(width[secondary], 1)
        strict = replace(cells, width=width)
        cuts: list[Cut] = []
        for group in secondary.tolist():
            if reach.misses(strict, group):
                changes += fulfil(search, strict, reach, group, self.seconds)
            if reach.misses(strict, group) and self.seconds() > 0:
                order = np.argsort(np.append(others, group))
                weight = np.append(ones, -1.0)[order]
                cuts.append(Cut(np.append(others, group)[order], weight, 0.0))
                self._charge(group)
        return cuts, None if cuts or self.seconds() <= 0 else moved(cells, changes)

    def _charge(self, group: int) -> None:
        """Let the program choose whether a free group is hidden."""
        if self.free[group]:
            self.free[group] = False
            self.attacks.fixed[group] = False
            self.master.release(group)


def _step(cost: NDArray[Any]) -> float:
    """The least difference between the costs of two patterns, if costs are whole; else 0."""
    if len(cost) == 0 or cost.max() > 2**46 or np.any(cost != np.rint(cost)):
        return 0.0
    return float(gcd(*cost.astype(np.int64).tolist()))
