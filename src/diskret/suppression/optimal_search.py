"""How `optimal` closes the gap between the best pattern and what every pattern costs at least."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Proposals
from diskret.errors import ProtectionError
from diskret.parallel import meanwhile
from diskret.progress import silent
from diskret.suppression.attack_cuts import Attacks
from diskret.suppression.blocks import Blocks
from diskret.suppression.certify import proposals_of, show
from diskret.suppression.changes import Change, part
from diskret.suppression.cheapest_so_far import CheapestSoFar
from diskret.suppression.greedy import Prepared, Safe, safe
from diskret.suppression.judged_choice import judge
from diskret.suppression.problem import Pattern, Problem, Work
from diskret.suppression.surroundings import neighbours
from diskret.suppression.zero_one_program import Cut, Master

_Found = TypeVar("_Found")
#: Whole choices are best up to this share of the gap that is open, or of their cost.
_ROUGH, _FINE = 0.1, 2e-5
#: Connected groups of cells beyond which nothing is asked of all of them at once.
_LARGE = 4_000
#: Nodes of a search for a whole choice where its end is counted; work of one of its turns, for each
#: column.
_NODES, _TURN = 300, 2_000
#: Share of the time that the fractions leave to others, where it is limited.
KEPT = 0.4
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
#: A share of the gap; once the bound rises by less, fractions are good enough to guide a pattern.
_SETTLING = 0.05


class Closing:
    """The best pattern so far, the bound so far, and the program between them."""

    def __init__(self, problem: Problem, known: Prepared):
        self.problem = problem
        self.cells, self.certified = known.cells, known.certified
        cells = self.cells
        self.best = CheapestSoFar(problem, cells)
        self.free = (self.best.cost == 0) & ~cells.primary
        self.pool = ThreadPoolExecutor(1)
        self.pending: list[tuple[Future[Safe | None], Work]] = []
        self.blocks = Blocks(problem.system.tables, cells.group)
        self.quiet = replace(problem, progress=silent)
        self.start = inf
        self.kept = 0.0

    def seconds(self) -> float:
        """Time left."""
        return self.problem.seconds()

    def left(self) -> float:
        """The share of the time, or of the work of programmes, that is left."""
        time = self.seconds() / self.start if 0 < self.start < inf else 1.0
        effort = self.problem.work.effort
        return time if effort is None else min(time, effort.left)

    def _ends(self, kept: float) -> bool:
        """Whether no more than this share is left, or nothing."""
        return self.left() <= kept or self.seconds() <= 0

    def _to_attack(self) -> float:
        """Time left for attacks: none where what is left is to make patterns."""
        return 0.0 if self._ends(self.kept) else self.seconds()

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

    def run(self, kept: float = KEPT) -> None:
        """Raise the bound and lower the cost until they meet or time is up.

        `kept`: share of the time or work that the first fractions leave to others, if it is
        limited.
        """
        if self.best.safe and self.best.proven:
            return
        shown = self.certified.copy()
        if self.free.any():
            known = self.cells.primary | self.free
            show(self.cells, known, shown, seconds=self.seconds, waiting=self._tell)
        fixed = self.cells.primary | self.free
        totals = np.bincount(
            self.cells.equations.indices[self.cells.equations.data > 0], minlength=len(fixed)
        )
        later = 1 + totals + self.cells.ties
        surcharge = _SURCHARGE * later / later.max(initial=1)
        nodes = _NODES if self.problem.work.counted else None
        effort = self.problem.work.effort
        turns = None if effort is None else int(_SLICE * effort.most / (_TURN * len(fixed)))
        cost = self.best.cost
        self.master = Master(np.where(cost > 0, cost + surcharge, 0), fixed, nodes, turns)
        self.attacks = Attacks(self.cells, shown, fixed, self._to_attack)
        self.master.add(self.attacks.of_rows())
        self.start = self.seconds()
        x, settled = self._fractions(kept)
        if np.all((x < 1e-6) | (x > 1 - 1e-6)):
            cuts, hidden = self._aloud(lambda: self._judge(x > 0.5))
            self.master.add(cuts)
            if hidden is not None:
                self._accept(hidden)
        if self.best.safe:
            self._repair_meanwhile(x)
        else:
            self._repair(x)
            if not self.best.safe:
                self.begin()
        if not settled:
            if effort is not None:
                return  # what is left is not enough for another pattern
            x, settled = self._fractions(0.0)
            self._repair(x)
        self._drop(*self._relaxed()[1:])
        self.covered = self.attacks.fixed.copy()
        self.slice = 1.0 if self.start == inf else _SLICE
        while not self.best.proven and self.seconds() > 0:
            if not self._whole():
                break
        self._settle()

    def finish(self) -> None:
        """Publish again what nothing needs, if there is time and that was not done yet."""
        # the cheapest pattern hides nothing in vain but what is free
        needed = self.best.proven and not self.free.any()
        if self.best.tidy or needed or self.seconds() <= 0:
            return
        changes: list[Change] = []
        before = self.best.hidden
        if not self._large(before):
            reach = self.certified.copy()
            changes = self._aloud(
                lambda: show(self.cells, before, reach, False, seconds=self.seconds)
            )
        # a solver in trouble, or time that runs out, leaves the pattern as it is
        with suppress(ProtectionError):
            found = self._aloud(
                lambda: safe(
                    self.quiet, self.cells, before, self.certified, changes, blocks=self.blocks
                )
            )
            self.best.exchange(found.hidden, proposals_of(self.cells, found.changes))

    def _raise(self, bound: float) -> None:
        self.best.at_least(bound / (1 + _SURCHARGE))
        self._tell()

    def _tell(self) -> None:
        self.problem.progress("prove", self.best.percent, 100)

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

        Returns the last choice, and False if only so large a share is left as is to be kept.
        """
        stalled, self.kept = 0, kept
        x = np.zeros(len(self.best.cost))
        while not self.best.proven and stalled < _STALLED:
            if self._ends(kept):
                break
            before = self.best.lower
            found, bound, reduced = self._relaxed()
            if found is None:
                break
            x = found
            gap = min(self.best.upper - before, before)
            stalled = 0 if self.best.lower - before > _RISE * gap else stalled + 1
            self._drop(bound, reduced)
            cuts = self._aloud(
                lambda x=x: self.attacks.companions(x) + self.attacks.of_fractions(x)
            )
            if not cuts:
                break
            self.master.add(cuts)
            if self.best.lower - before < _SETTLING * gap:
                self._repair_if_idle(x)
        settled = not self._ends(kept)
        self.kept = 0.0
        return x, settled

    def _whole(self) -> bool:
        """A choice of 0 or 1, and what it lacks; False if time ran out."""
        open_share = (self.best.upper - self.best.lower) / self.best.upper
        gap = max(open_share * _ROUGH, _FINE)
        before = self.best.lower
        self.problem.work.step()
        seconds = self.slice * self.seconds()
        choice = self._aloud(lambda: self.master.whole(seconds, self.best.hidden, gap))
        self._settle()
        self._raise(choice.bound)
        if choice.x is None or self.best.proven:
            return choice.x is not None or choice.bound == inf
        cuts = self._lacking(choice.x)
        if cuts:
            self.master.add(cuts)
            self._complete(choice.x > 0.5)
            self._repair_meanwhile(choice.x, tidy=not self._ends(_LAST))
            # blocks are worth while once the whole program is slow
            if self.best.lower - before < _SLOW * self.best.upper:
                self._settle()
                self._improve()
            self._fractions(_LAST)
            return True
        cost, some = self.best.upper, self.slice < 1.0
        whole = choice.x > 0.5
        cuts, hidden = self._aloud(lambda: self._judge(whole))
        self.master.add(cuts)
        if hidden is not None:
            self._accept(hidden)
        # where time was too short to find another choice, all of it is given
        self.slice = 1.0
        # a solver that says nothing new would say the same again
        new = self.best.upper < cost or self.best.lower > before or some
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

    def _improve(self) -> None:
        """Look for cheaper patterns that differ from the best one in a block only.

        Blocks begin with the dearest groups that no block has covered yet. Tables of which a
        block is no small part are left to the whole program, and so is a small gap.
        """
        candidate = (self.master.upper > 0) & ~self.attacks.fixed
        near = self.best.upper - self.best.lower < _SMALL_GAP * self.best.upper
        if near or np.count_nonzero(candidate) < _SMALL_PART * _BLOCK:
            return
        by_group = sparse.csc_array(self.cells.equations)
        for _ in range(_BLOCKS):
            left = np.flatnonzero(self.best.hidden & candidate & ~self.covered)
            if len(left) == 0:
                # all of the pattern was covered: once more from the beginning
                self.covered = self.attacks.fixed.copy()
            if len(left) == 0 or self._ends(_LAST) or self.best.proven:
                return
            centre = int(left[np.argmax(self.best.cost[left])])
            here = neighbours(self.cells.equations, by_group, centre, candidate, _BLOCK)
            self.covered |= here
            self._improve_within(here)

    def _improve_within(self, here: NDArray[np.bool_]) -> None:
        """The best pattern that differs in a block, if a few choices lead to one."""
        for tries in range(1, _TRIES + 1):
            self.problem.work.step()
            self._tell()
            seconds = (1 - _LAST / self.left()) * self.seconds()
            choice = self._aloud(
                lambda seconds=seconds: self.master.best_within(
                    self.best.hidden, here, seconds, _BLOCK_GAP
                )
            )
            if choice is None or self._ends(_LAST):
                return
            # a choice that hides less than the pattern does, but lacks something
            if not self.best.clearly_takes(choice > 0.5):
                return
            cuts = self._lacking(choice)
            if not cuts:
                whole = choice > 0.5
                cuts, hidden = self._aloud(lambda whole=whole: self._judge(whole))
                if hidden is not None:
                    self._accept(hidden)
                    return
            elif tries % _COMPLETE == 0:
                self._repair(choice, tidy=False)
            self.master.add(cuts)

    def _drop(self, bound: float, reduced: NDArray[np.float64]) -> None:
        """Leave out what can only be part of patterns that are hardly cheaper than the best."""
        rest = self.best.target * (1 + _SURCHARGE) - bound
        beyond = (reduced > rest + 1e-6) & (self.master.upper > 0) & ~self.attacks.fixed
        if beyond.any():
            self.best.dropped = min(self.best.dropped, self.best.target)
            self.master.publish(np.flatnonzero(beyond))

    def _repair(self, x: NDArray[np.float64], tidy: bool = True) -> None:
        """A safe pattern near a choice in fractions, if there is time and need for one."""
        if not ((self.best.safe and self.best.proven) or self.seconds() <= 0):
            self._take(self._aloud(lambda: self._repaired(self.quiet, x, tidy)))

    def _repair_meanwhile(self, x: NDArray[np.float64], tidy: bool = True) -> None:
        """The same while other things are done, until it is asked for.

        Not where steps are counted: what is cut off must not depend on who is faster.
        """
        if self.problem.work.counted:
            self._repair(x, tidy)
        elif not self.best.proven and self.seconds() > 0:
            # two counting at the same time would miscount
            own = replace(self.quiet, work=Work())
            self.pending.append((self.pool.submit(self._repaired, own, x, tidy), own.work))

    def _repair_if_idle(self, x: NDArray[np.float64]) -> None:
        """The same where another core would have nothing to do, and there is time to end it."""
        idle = all(future.done() for future, _ in self.pending) and not self._ends(_LAST)
        if idle and self.best.safe and not self.problem.work.counted:
            self._settle()
            self._repair_meanwhile(x)

    def _settle(self) -> None:
        """Wait for the patterns that are being made, if there are any."""
        pending, self.pending = self.pending, []
        for future, work in pending:
            self._take(self._aloud(future.result))
            self.problem.work.step(work.done)

    def _take(self, found: Safe | None) -> None:
        if found is not None and self.best.takes(found.hidden):
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
        if not self.best.safe:
            asked = max(int(np.count_nonzero(self.certified.missing(self.cells))), 1)
            self.problem.progress("suppress", asked, asked)
        self.best.accept(hidden, tidy, proposals)

    def _judge(self, chosen: NDArray[np.bool_]) -> tuple[Sequence[Cut], NDArray[np.bool_] | None]:
        """What a whole choice lacks, or its pattern; a large one is not judged but completed."""
        if self.seconds() <= 0:
            return [], None
        if self._large(chosen | self.cells.primary | self.free):
            self._repair(chosen.astype(np.float64))
            return [], None
        found = judge(self.cells, self.certified, chosen, self.free, self.seconds)
        for group in found.charged:
            self._charge(group)
        return found.cuts, found.hidden

    def _large(self, hidden: NDArray[np.bool_]) -> bool:
        """Whether too much is connected for programs of all that is hidden."""
        return bool(np.bincount(part(self.cells, hidden).component).max(initial=0) > _LARGE)

    def _charge(self, group: int) -> None:
        """Let the program choose whether a free group is hidden."""
        if self.free[group]:
            self.free[group] = False
            self.attacks.fixed[group] = False
            self.master.release(group)
