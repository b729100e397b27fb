"""Attack a pattern as it would be published: its cells, sums of them, and all contributors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    Proposals,
    Requirements,
    UnsafeSums,
    examine,
    show_sums,
    targets_of,
    unmet,
    unmet_sums,
)
from diskret.attack.earlier_tables import unclaimed_cells
from diskret.protect.parts import PartsJudge
from diskret.protect.revealed_sums import Judge, asking_for, cleared
from diskret.suppression import Pattern, Problem, propose
from diskret.tables import Earlier, Publication

if TYPE_CHECKING:
    from diskret.attack import InsidersWithstood, Open, Withstood
    from diskret.attack.component import Attacked
    from diskret.protect.insiders import Asked, InsiderJudge

#: With more suppressed cells the attack is shown alternative tables to check.
_LARGE = 5_000
#: Share of the time left for alternative tables.
_PROPOSE = 0.3
#: A pattern is not tidied again if less time is left than so many attacks took.
_AMPLE = 8


@dataclass(frozen=True, eq=False)
class Terms:
    """What is proven, and against whom; see [`prove`][diskret.protect.prove.prove].

    required: what the tables ask for.
    """

    required: Requirements
    attacker: Attacker
    public: Callable[[NDArray[np.bool_]], Publication]
    earlier: Sequence[Earlier]
    judge: Judge | None
    parts: PartsJudge | None
    insiders: InsiderJudge | None


@dataclass(frozen=True, eq=False)
class Found:
    """What the attack on a pattern found.

    problem, pattern: what was attacked: extended until nothing that everybody can compute is
        unsafe, and asking for the open sums.
    unclaimed: see `Proven`.
    missed: which suppressed cells can be narrowed down too far, bool.
    unsafe: the unsafe sums; None if no contributor attacks. open_sums: which of them can be told
        too closely, bool; none where cells are missed.
    asked, withstood: what contributors were asked, and what a certificate says of it. told: what
        they can tell, of which nothing matters where cells or sums fail already.
    hurried: whether too little time is left to look for a cheaper pattern.
    all_intervals: the same attack on all cells; None if they have their intervals.
    """

    problem: Problem
    pattern: Pattern
    published: Publication
    examination: Examination
    unclaimed: NDArray[np.int64]
    missed: NDArray[np.bool_]
    unsafe: UnsafeSums | None
    all_intervals: Callable[[], Examination] | None
    open_sums: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    asked: Asked | None = None
    told: Sequence[Open] = ()
    withstood: InsidersWithstood | None = None
    hurried: bool = False

    @property
    def open(self) -> bool:
        """Whether anything is."""
        return bool(self.missed.any() or self.open_sums.any() or self.told)

    @property
    def examined(self) -> Examination:
        """The attack, with the intervals of all cells."""
        if self.all_intervals is None:
            return self.examination
        last = self.all_intervals()  # all that is claimed is shown already
        return self.examination.with_tables(last.witnesses).narrowed(last)


class PatternAttack:
    """Attacks on one pattern after the other; each uses what the last one showed."""

    def __init__(self, terms: Terms):
        self._terms = terms
        self._attacked: dict[bytes, Attacked] = {}
        self._withstood: Withstood | None = None
        # cells of earlier tables that everything new together cannot keep uncertain
        self._lost = np.zeros(0, dtype=np.int64)

    def __call__(self, problem: Problem, pattern: Pattern) -> Found:
        """Extend the pattern by what is unsafe and can be computed from it, and attack it."""
        terms, deadline, unsafe = self._terms, problem.deadline, None
        if terms.judge is not None or terms.parts is not None:
            problem, pattern, unsafe = cleared(
                problem, pattern, terms.public, terms.judge, terms.parts
            )
        published = terms.public(pattern.suppressed)
        original = problem.system.value[: published.starts[-1]]
        before = unclaimed_cells(published, terms.earlier, terms.required)
        unclaimed = np.union1d(before, self._lost)
        targets = targets_of(published, original, terms.required, unclaimed)
        attack = partial(
            examine,
            published,
            terms.attacker,
            original=original,
            proposals=_proposals(problem, pattern),
            progress=problem.progress,
            earlier=self._attacked,
            deadline=deadline,
        )
        # contributors are asked about several patterns: of the last one alone intervals are told
        waiting = terms.insiders is not None and not deadline.limited
        examination = attack(targets, quick=deadline.limited or waiting)
        if waiting and unmet(examination, targets).any():
            waiting, examination = False, attack(targets)
        missed = unmet(examination, targets)
        late = _secondaries_before(published, terms.required, examination.cell[missed])
        if len(late):
            self._lost = np.union1d(self._lost, _beyond_help(problem, terms, late))
            unclaimed = np.union1d(unclaimed, self._lost)
            missed = unmet(examination, targets_of(published, original, terms.required, unclaimed))
        seen = (published, examination, unclaimed, missed, unsafe)
        found = Found(problem, pattern, *seen, attack if waiting else None)
        return found if unsafe is None or missed.any() else self._with_sums(found, unsafe)

    def _with_sums(self, found: Found, unsafe: UnsafeSums) -> Found:
        """The same with what is told of unsafe sums, and to contributors."""
        problem, published, insiders = found.problem, found.published, self._terms.insiders
        original = problem.system.value[: published.starts[-1]]
        open_sums = found.open_sums
        if insiders is not None:  # what shows sums to outsiders serves contributors, too
            found = self._with_contributors(found, insiders, unsafe)
            sides = replace(unsafe, sliding=np.zeros_like(unsafe.sliding))
            open_sums = unmet_sums(found.examination, sides, original)
        if not open_sums.any():
            how = unsafe, original, problem.progress, problem.deadline
            examination = show_sums(published, found.examination, self._terms.attacker, *how)
            found = replace(found, examination=examination)
            open_sums = unmet_sums(examination, unsafe, original)
        if not open_sums.any():
            return replace(found, open_sums=open_sums)
        asking = asking_for(problem, unsafe.only(open_sums))
        return replace(found, problem=asking, open_sums=open_sums, told=())

    def _with_contributors(self, found: Found, insiders: InsiderJudge, unsafe: UnsafeSums) -> Found:
        problem, published, deadline = found.problem, found.published, found.problem.deadline
        original = problem.system.value[: published.starts[-1]]
        required = self._terms.required
        progress, left = deadline.watched(problem.progress), deadline.seconds()
        examination = found.examination
        while True:
            examination, withstood, asked = insiders.attack(
                *(published, examination, required, unsafe, original),
                *(progress, self._withstood, deadline),
                outsider_first=True,
            )
            self._withstood = withstood
            known = published, required, unsafe, original, progress, deadline
            if not insiders.already(withstood.open, asked, *known):
                break
        # what shows a pattern shows all that it grows to, too
        hurried = deadline.limited and deadline.seconds() < _AMPLE * (left - deadline.seconds())
        return replace(
            found,
            examination=examination,
            asked=asked,
            told=withstood.open,
            withstood=insiders.withstood(withstood, asked),
            hurried=hurried,
        )


def _proposals(problem: Problem, pattern: Pattern) -> Proposals | None:
    """Alternative tables for the attack to check: those of the method, if it told some."""
    if pattern.proposals is not None:
        return pattern.proposals
    limited = problem.deadline.limited
    if not limited and np.count_nonzero(pattern.suppressed) <= _LARGE:
        return None
    within = replace(problem, deadline=problem.deadline.share(_PROPOSE))
    return propose(within, pattern.suppressed)


def _secondaries_before(
    published: Publication, requirements: Requirements, failing: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Those of some cells that are secondaries of earlier tables."""
    before = failing[failing >= published.starts[len(published.own)]]
    return before[~np.isin(before, requirements.cell)]


def _beyond_help(problem: Problem, terms: Terms, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some cells that are known exactly even if all is hidden that may be."""
    published = terms.public(~problem.frozen)
    original = problem.system.value[: published.starts[-1]]
    nothing = cells[:0]
    others = np.setdiff1d(np.flatnonzero(published.suppressed), cells)
    targets = targets_of(
        published, original, Requirements(nothing, nothing, nothing, nothing), others
    )
    found = examine(
        published,
        terms.attacker,
        targets,
        original=original,
        progress=problem.progress,
        deadline=problem.deadline,
    )
    known = found.cell[unmet(found, targets)]
    if len(known):
        problem.deadline.check()  # else what was not shown in time would be given up
    return known
