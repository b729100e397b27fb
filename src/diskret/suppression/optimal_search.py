"""How `optimal` closes the gap between the best pattern and what every pattern costs at least."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from math import ceil, gcd, inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Proposals
from diskret.errors import ProtectionError
from diskret.parallel import meanwhile
from diskret.progress import silent
from diskret.suppression.attack_cuts import Attacks
from diskret.suppression.blame import refuse_fixed
from diskret.suppression.blocks import Blocks
from diskret.suppression.certify import certify, proposals_of, show
from diskret.suppression.changeable import changeable
from diskret.suppression.changes import Change, moved, part
from diskret.suppression.greedy import Safe, safe
from diskret.suppression.problem import Pattern, Problem, Work
from diskret.suppression.search import Search, fulfil
from diskret.suppression.surroundings import neighbours
from diskret.suppression.zero_one_program import Cut, Master

_Found = TypeVar("_Found")
#: A pattern is taken for the cheapest if no other costs less by more than this share.
_GAP = 1e-4
#: Whole choices are best up to this share of the gap that is open, or of their cost.
_ROUGH, _FINE = 0.1, 2e-5
#: Connected groups of cells beyond which nothing is asked of all of them at once.
_LARGE = 4_000
#: Nodes of a search for a whole choice where steps are counted, not seconds.
_NODES = 300
#: Share of the time that the fractions leave to others, where it is limited.
_KEPT = 0.4
#: Share of it that is left when no more is improved.
_LAST = 0.25
#: Share of the time left for each whole choice.
_SLICE = 0.3
#: Share of the time in which a first pattern is tidied.
_TIDY = 0.05
#: Groups in a block; how many times as many there must be; blocks for each whole choice.
_BLOCK, _SMALL_PART, _BLOCKS = 250, 10, 60
#: Share of the cost up to which a gap is small.
_SMALL_GAP = 0.02
#: Share of the cost; blocks are tried when a whole choice raises the bound by less.
_SLOW = 3e-3
#: Choices in a block, after how many of them one is completed, and how good they are.
_TRIES, _COMPLETE, _BLOCK_GAP = 8, 4, 2e-3
#: Rounds of adding what a whole choice lacks.
_ADDING = 6
#: Surcharge, as a share of the least cost, that decides between equal patterns.
_SURCHARGE = 1e-5
#: Rounds in which the bound rises by less than a share of the gap; then fractions are given up.
_STALLED, _RISE = 4, 3e-3


class Closing:
    """The best pattern so far, the bound so far, and the program between them.

    Costs are in units of the least positive one (`scale`), without what every pattern costs
    (`constant`: aliases of primary cells).
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.cells = cells = changeable(problem)
        refuse_fixed(problem, cells)
        self.certified = certify(
            cells, cells.primary, seconds=problem.seconds, waiting=problem.waiting
        )
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
        self.pool = ThreadPoolExecutor(1)
        self.pending: tuple[Future[Safe | None], Work] | None = None
        # what shows that the pattern is safe, if that is known
        self.proposals: Proposals | None = None
        self.blocks = Blocks(problem.system.tables, cells.group)
        # nothing is known yet that costs less than to hide everything
        self.hidden, self.safe = np.ones(len(cells.down), dtype=bool), False
        self.upper = self._cost_of(self.hidden)
        # whether all of the pattern is needed
        self.tidy = False
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
        return self.problem.seconds()

    def end_after(self, steps: int) -> None:
        """Allow so many steps more, unless the budget allows fewer."""
        given, done = self.problem.work, self.problem.work.done
        ends = done + steps if given.budget is None else min(done + steps, given.budget)
        self.problem = replace(self.problem, work=Work(ends, done))
        self.quiet = replace(self.problem, progress=silent)

    def know(self, pattern: Pattern) -> None:
        """Take note of a safe pattern."""
        hidden = self.cells.primary.copy()
        hidden[self.cells.group[pattern.suppressed & (self.cells.group >= 0)]] = True
        self._accept(hidden, pattern.complete, pattern.proposals)

    def begin(self) -> None:
        """A first safe pattern, quickly.

        Raises ProtectionError: there is none, or time is up.
        """
        cells, seconds = self.cells, self.seconds()
        until = None if seconds == inf else time.monotonic() + _TIDY * seconds
        hidden = cells.primary | cells.started
        self._take(
            safe(self.problem, cells, hidden, self.certified, blocks=self.blocks, tidy_until=until)
        )

    def run(self) -> None:
        """Raise the bound and lower the cost until they meet or time is up."""
        if self.safe and self.lower >= self.target:
            return
        shown = self.certified.copy()
        known = self.cells.primary | self.free
        show(self.cells, known, shown, seconds=self.seconds, waiting=self._tell)
        fixed = self.cells.primary | self.free
        totals = np.bincount(
            self.cells.equations.indices[self.cells.equations.data > 0], minlength=len(fixed)
        )
        later = 1 + totals + self.cells.ties
        surcharge = _SURCHARGE * later / later.max(initial=1)
        nodes = None if self.problem.work.budget is None else _NODES
        self.master = Master(np.where(self.cost > 0, self.cost + surcharge, 0), fixed, nodes)
        self.attacks = Attacks(self.cells, shown, fixed, self.problem.deadline)
        self.master.add(self.attacks.of_rows())
        # under a deadline, keep time to make patterns of what the fractions say
        start = self.seconds()
        x, settled = self._fractions(0.0 if start == inf else _KEPT * start)
        if np.all((x < 1e-6) | (x > 1 - 1e-6)):
            cuts, hidden = self._aloud(lambda: self._judge(x > 0.5))
            self.master.add(cuts)
            if hidden is not None:
                self._accept(hidden)
        self._repair(x, tidy=start == inf or not settled)
        if not self.safe:
            self.begin()
        if not settled:
            x, settled = self._fractions(0.0)
            self._repair(x)
        self._drop(*self._relaxed()[1:])
        self.covered = self.attacks.fixed.copy()
        self.slice = 1.0 if start == inf else _SLICE
        while self.lower < self.target and self.seconds() > 0:
            if not self._whole(0.0 if start == inf else _LAST * start):
                break
        self._settle()

    def finish(self) -> None:
        """Publish again what nothing needs, if there is time and that was not done yet."""
        # the cheapest pattern hides nothing in vain but what is free
        needed = self.lower >= self.target and not self.free.any()
        if self.tidy or needed or self.seconds() <= 0:
            return
        changes: list[Change] = []
        if not self._large(self.hidden):
            reach = self.certified.copy()
            changes = self._aloud(
                lambda: show(self.cells, self.hidden, reach, False, seconds=self.seconds)
            )
        # a solver in trouble, or time that runs out, leaves the pattern as it is
        with suppress(ProtectionError):
            found = self._aloud(
                lambda: safe(
                    self.quiet, self.cells, self.hidden, self.certified, changes, blocks=self.blocks
                )
            )
            if self._cost_of(found.hidden) <= self.upper:
                self.hidden, self.upper = found.hidden, self._cost_of(found.hidden)
                self.proposals = proposals_of(self.cells, found.changes)

    def _raise(self, bound: float) -> None:
        self.lower = max(self.lower, min(bound / (1 + _SURCHARGE), self.dropped, self.upper))
        self._tell()

    def _tell(self) -> None:
        self.problem.progress("prove", min(int(100 * self.lower / (self.upper or 1)), 100), 100)

    def _aloud(self, work: Callable[[], _Found]) -> _Found:
        """Do something that may take long while others are told that the search goes on."""
        return meanwhile(work, self._tell)

    def _relaxed(self) -> tuple[NDArray[np.float64] | None, float, NDArray[np.float64]]:
        """The best choice in fractions if there is any, its bound, and reduced costs."""
        self.problem.work.step()
        choice, reduced = self._aloud(lambda: self.master.relaxed(self.seconds()))
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
            gap = min(self.upper - before, before)
            stalled = 0 if self.lower - before > _RISE * gap else stalled + 1
            self._drop(bound, reduced)
            cuts = self._aloud(
                lambda x=x: self.attacks.companions(x) + self.attacks.of_fractions(x)
            )
            if not cuts:
                break
            self.master.add(cuts)
        return x, True

    def _whole(self, kept: float) -> bool:
        """A choice of 0 or 1, and what it lacks; False if time ran out."""
        open_share = (self.upper - self.lower) / self.upper
        gap = max(open_share * _ROUGH, _FINE)
        before = self.lower
        self.problem.work.step()
        seconds = self.slice * self.seconds()
        choice = self._aloud(lambda: self.master.whole(seconds, self.hidden, gap))
        self._settle()
        self._raise(choice.bound)
        if choice.x is None or self.lower >= self.target:
            return choice.x is not None or choice.bound == inf
        cuts = self._lacking(choice.x)
        if cuts:
            self.master.add(cuts)
            self._complete(choice.x > 0.5)
            self._repair_meanwhile(choice.x, tidy=self.seconds() > kept)
            # blocks are worth while once the whole program is slow
            if self.lower - before < _SLOW * self.upper:
                self._settle()
                self._improve(kept)
            self._fractions(kept)
            return True
        cost, some = self.upper, self.slice < 1.0
        whole = choice.x > 0.5
        cuts, hidden = self._aloud(lambda: self._judge(whole))
        self.master.add(cuts)
        if hidden is not None:
            self._accept(hidden)
        # where time was too short to find another choice, all of it is given
        self.slice = 1.0
        # a solver that says nothing new would say the same again
        new = self.upper < cost or self.lower > before or some
        return bool(cuts) or (hidden is not None and new)

    def _lacking(self, choice: NDArray[np.float64]) -> list[Cut]:
        """What a whole choice lacks, as far as attacks in fractions tell."""
        return self._aloud(lambda: self.attacks.of_choice(choice) + self.attacks.companions(choice))

    def _complete(self, chosen: NDArray[np.bool_]) -> None:
        """What a whole choice lacks even if the cheapest groups are added that it needs."""
        for _ in range(_ADDING):
            more = ~chosen & ~self.attacks.fixed
            choice = self._aloud(
                lambda more=more: self.master.best_within(chosen, more, self.seconds(), _ROUGH)
            )
            if choice is None:
                return
            cuts = self._lacking(choice)
            if not cuts:
                return
            self.master.add(cuts)

    def _improve(self, kept: float) -> None:
        """Look for cheaper patterns that differ from the best one in a block only.

        Blocks begin with the dearest groups that no block has covered yet. Tables of which a
        block is no small part are left to the whole program, and so is a small gap.
        """
        candidate = (self.master.upper > 0) & ~self.attacks.fixed
        near = self.upper - self.lower < _SMALL_GAP * self.upper
        if near or np.count_nonzero(candidate) < _SMALL_PART * _BLOCK:
            return
        by_group = sparse.csc_array(self.cells.equations)
        for _ in range(_BLOCKS):
            left = np.flatnonzero(self.hidden & candidate & ~self.covered)
            if len(left) == 0:
                # all of the pattern was covered: once more from the beginning
                self.covered = self.attacks.fixed.copy()
            if len(left) == 0 or self.seconds() <= kept or self.lower >= self.target:
                return
            centre = int(left[np.argmax(self.cost[left])])
            here = neighbours(self.cells.equations, by_group, centre, candidate, _BLOCK)
            self.covered |= here
            self._improve_within(here, kept)

    def _improve_within(self, here: NDArray[np.bool_], kept: float) -> None:
        """The best pattern that differs in a block, if a few choices lead to one."""
        for tries in range(1, _TRIES + 1):
            self.problem.work.step()
            self._tell()
            choice = self.master.best_within(self.hidden, here, self.seconds() - kept, _BLOCK_GAP)
            if choice is None or self.seconds() <= kept:
                return
            # a choice that hides less than the pattern does, but lacks something
            if self._cost_of(choice > 0.5) > self.upper - max(0.5 * self.step, 1e-9 * self.upper):
                return
            cuts = self._lacking(choice)
            if not cuts:
                cuts, hidden = self._judge(choice > 0.5)
                if hidden is not None:
                    self._accept(hidden)
                    return
            elif tries % _COMPLETE == 0:
                self._repair(choice, tidy=False)
            self.master.add(cuts)

    def _drop(self, bound: float, reduced: NDArray[np.float64]) -> None:
        """Leave out what can only be part of patterns that are hardly cheaper than the best."""
        rest = self.target * (1 + _SURCHARGE) - bound
        beyond = (reduced > rest + 1e-6) & (self.master.upper > 0) & ~self.attacks.fixed
        if beyond.any():
            self.dropped = min(self.dropped, self.target)
            self.master.publish(np.flatnonzero(beyond))

    def _repair(self, x: NDArray[np.float64], tidy: bool = True) -> None:
        """A safe pattern near a choice in fractions, if there is time and need for one."""
        if not ((self.safe and self.lower >= self.target) or self.seconds() <= 0):
            self._take(self._aloud(lambda: self._repaired(self.quiet, x, tidy)))

    def _repair_meanwhile(self, x: NDArray[np.float64], tidy: bool) -> None:
        """The same while other things are done, until it is asked for.

        Not where steps are counted: what is cut off must not depend on who is faster.
        """
        if self.problem.work.budget is not None:
            self._repair(x, tidy)
        elif self.lower < self.target and self.seconds() > 0:
            # two counting at the same time would miscount
            own = replace(self.quiet, work=Work())
            self.pending = self.pool.submit(self._repaired, own, x, tidy), own.work

    def _settle(self) -> None:
        """Wait for the pattern that is being made, if there is one."""
        if self.pending is not None:
            (future, work), self.pending = self.pending, None
            self._take(future.result())
            self.problem.work.step(work.done)

    def _take(self, found: Safe | None) -> None:
        if found is not None and (not self.safe or self._cost_of(found.hidden) < self.upper):
            self._accept(found.hidden, found.complete, proposals_of(self.cells, found.changes))

    def _repaired(self, problem: Problem, x: NDArray[np.float64], tidy: bool) -> Safe | None:
        """A safe pattern near a choice; None if time is up."""
        hidden = self.cells.primary | self.free | (x > 0.9)
        price = self.cells.price * np.maximum(1 - x, 0.02)
        # in a large table programs of all that is hidden take longer than its blocks
        reach = self.certified.copy()
        changes: list[Change] = []
        if not self._large(hidden):
            changes = show(self.cells, hidden, reach, one_by_one=False, seconds=self.seconds)
        until = None if tidy else -inf
        try:
            return safe(
                problem, self.cells, hidden, self.certified, changes, price, self.blocks, until
            )
        except ProtectionError:
            return None

    def _accept(
        self, hidden: NDArray[np.bool_], tidy: bool = False, proposals: Proposals | None = None
    ) -> None:
        cost = self._cost_of(hidden)
        if not self.safe:
            asked = max(int(np.count_nonzero(self.certified.missing(self.cells))), 1)
            self.problem.progress("suppress", asked, asked)
        if cost < self.upper or not self.safe:
            self.hidden, self.upper, self.safe, self.tidy = hidden, cost, True, tidy
            self.proposals = proposals

    def _cost_of(self, hidden: NDArray[np.bool_]) -> float:
        return float(self.cost[hidden].sum())

    def _judge(self, chosen: NDArray[np.bool_]) -> tuple[list[Cut], NDArray[np.bool_] | None]:
        """Whether a whole choice is safe, by exact changes; if not, what it lacks.

        What fails within a choice fails within every part of it, so at least one other group
        must be hidden, or the secondary that fails must not. A large choice is not judged but
        completed.
        """
        if self.seconds() <= 0:
            return [], None
        cells = self.cells
        allowed = chosen | cells.primary | self.free
        if self._large(allowed):
            self._repair(chosen.astype(np.float64))
            return [], None
        reach = self.certified.copy()
        changes = show(cells, allowed, reach, seconds=self.seconds)
        here = part(cells, allowed)
        free = np.ones(len(here.cell), dtype=bool)
        search = Search(here, free, np.zeros(len(here.cell)), self.seconds)
        others = np.flatnonzero(~allowed)
        ones = np.ones(len(others))
        for group in np.flatnonzero(reach.missing(cells)).tolist():
            changes += fulfil(search, cells, reach, group, self.seconds)
            if reach.misses(cells, group):
                # what was cut short says nothing of other patterns
                known = self.seconds() > 0 and not search.cut_short
                return ([Cut(others, ones, 1.0)] if known else []), None
        secondary = np.flatnonzero((moved(cells, changes) | chosen) & ~cells.primary)
        width = cells.width.copy()
        width[secondary] = np.maximum(width[secondary], 1)
        strict = replace(cells, width=width)
        cuts: list[Cut] = []
        for group in secondary.tolist():
            if reach.misses(strict, group):
                changes += fulfil(search, strict, reach, group, self.seconds)
            if reach.misses(strict, group):
                if search.cut_short or self.seconds() <= 0:
                    return cuts, None
                order = np.argsort(np.append(others, group))
                weight = np.append(ones, -1.0)[order]
                cuts.append(Cut(np.append(others, group)[order], weight, 0.0))
                self._charge(group)
        return cuts, None if cuts or self.seconds() <= 0 else moved(cells, changes)

    def _large(self, hidden: NDArray[np.bool_]) -> bool:
        """Whether too much is connected for programs of all that is hidden."""
        return bool(np.bincount(part(self.cells, hidden).component).max(initial=0) > _LARGE)

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
