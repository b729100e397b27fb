"""Attack what would be published, and repair it until nothing can be narrowed down."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    JudgedParts,
    Requirements,
    UnsafeSums,
    cell_name,
)
from diskret.attack.examine import narrowed
from diskret.deadline import OutOfTime
from diskret.errors import ProofError, ProtectionError
from diskret.parallel import stage
from diskret.progress import Progress
from diskret.protect.attack_pattern import Found, PatternAttack, Terms
from diskret.protect.parts import PartsJudge
from diskret.protect.revealed_sums import JUDGING, Judge, everything_around, extended
from diskret.suppression import Pattern, Problem
from diskret.tables import Earlier, Publication
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack import InsidersWithstood, Open
    from diskret.protect.insiders import Asked, InsiderJudge

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
#: Attacks on sums of cells that contributors may know; what is hidden for some reveals others.
_ROUNDS = 20
#: Repairs against insiders by the cheapest moves alone.
_QUICK = 3
_EXAMPLES = 5
#: Cells that are added up, and cells that are taken away.
_Cells = tuple[list[int], list[int]]
#: Share of the time left for intervals once all is proven.
_INTERVALS = 0.7


@dataclass(frozen=True, eq=False)
class Proven:
    """What can be published, and the attack that it withstands.

    publication: the new tables and what was published before.
    examination: the attack.
    unclaimed: suppressed cells of earlier tables of which nothing is claimed, see
        `unclaimed_cells`; also those that everything new together could not keep uncertain.
    unsafe: the unsafe sums that were shown to be uncertain enough; None if no contributor attacks.
    repaired: how often the pattern was extended.
    parts: the parts of categories that are revealed; None if no categories overlap.
    insiders: what was asked of insiders; None if no contributor attacks.
    rests: what is revealed beside filters; None if none lies beside a whole table.
    crossed: what is revealed between variables of different tables; None if all have the same.
    """

    publication: Publication
    examination: Examination
    unclaimed: NDArray[np.int64]
    unsafe: UnsafeSums | None
    repaired: int
    parts: JudgedParts | None
    insiders: InsidersWithstood | None = None
    rests: JudgedParts | None = None
    crossed: JudgedParts | None = None


def prove(
    of_tables: Problem,
    problem: Problem,
    pattern: Pattern,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    finer: Callable[[], Problem] | None = None,
    earlier: Sequence[Earlier] = (),
    judge: Judge | None = None,
    parts: PartsJudge | None = None,
    insiders: InsiderJudge | None = None,
) -> Proven:
    """Attack a pattern as it would be published, and extend it until every requirement holds.

    of_tables: what the tables ask for.
    problem: the same with the sums and parts that the method was told of.
    public: what the world sees when these cells are suppressed.
    finer: makes the same problem with more unpublished cells behind, for repairs.
    earlier: what the world saw before: the last tables of the publication.
    judge: which sums of suppressed cells are unsafe, if a contributor attacks.
    parts: which parts of categories and rests beside filters that are revealed are unsafe, if there
        are any.
    insiders: who contributes, and what must stay uncertain to them, if a contributor attacks.

    Under the problem's deadline witnesses come first; intervals get what time is left after them.
    Raises OutOfTime: the proof was not finished by then.
    """
    required = of_tables.requirements
    terms = Terms(required, attacker, public, earlier, judge, parts, insiders)
    deadline, before = problem.deadline, problem.deadline.taken()
    try:
        proven = _Course(terms, problem, pattern, finer).run()
    except OutOfTime as error:
        took = ""
        if deadline.limited:
            more = deadline.taken() - before
            took = f" (of {deadline.given:g} s the pattern took {before:.1f}, the proof {more:.1f})"
        raise OutOfTime(
            "time limit too short: a pattern was found, but that it protects every cell could not "
            f"be proven in time{took}. Nothing was published; allow more time"
            + (", or protect against the outsider alone, attacker=dk.Attacker()" if judge else "")
        ) from error
    if not deadline.limited or deadline.passed:
        return proven
    return replace(proven, examination=_narrowed(proven, problem, attacker))


def _narrowed(proven: Proven, problem: Problem, attacker: Attacker) -> Examination:
    """The attack with the intervals that all equations tell, if there is time for them."""
    return narrowed(
        proven.examination,
        proven.publication,
        attacker,
        original=problem.system.value[: proven.publication.starts[-1]],
        progress=problem.progress,
        deadline=problem.deadline.share(_INTERVALS),
    )


class _Course:
    """A pattern that is attacked and extended in turn."""

    def __init__(
        self,
        terms: Terms,
        problem: Problem,
        pattern: Pattern,
        finer: Callable[[], Problem] | None,
    ):
        self.terms, self.problem, self.pattern, self.finer = terms, problem, pattern, finer
        self.attack = PatternAttack(terms)
        self.growing = terms.judge is not None or terms.parts is not None
        # cells hidden so that contributors can tell nothing, and how often that was tried
        self.because = np.zeros(0, dtype=np.int64)
        self.tries = 0
        # which of the repairs comes next, and why there is none any more
        self.failed = 0
        self.unrepaired: ProtectionError | None = None
        self.tidied = False

    def run(self) -> Proven:
        """Attack and extend until nothing is open."""
        most = _ROUNDS if self.growing else 2 + len(_REPAIRS)
        repaired, found = 0, self._attacked()
        while found.open:
            if repaired + 1 == most or not self._extended(found):
                raise _refusal(found) from self.unrepaired
            repaired += 1
            self.problem.deadline.check()
            found = self._attacked()
        parts, rests, crossed = _judged(found.published, self.terms.parts, self.problem.progress)
        withstood = found.withstood
        if withstood is not None:
            hidden = self.because[found.published.suppressed[self.because]]
            withstood = replace(withstood, hidden=hidden)
        return Proven(
            found.published,
            found.examined,
            found.unclaimed,
            found.unsafe,
            repaired,
            parts,
            withstood,
            rests,
            crossed,
        )

    def _attacked(self) -> Found:
        found = self.attack(self.problem, self.pattern)
        self.problem, self.pattern = found.problem, found.pattern
        self.tidied |= found.hurried
        return found

    def _extended(self, found: Found) -> bool:
        """Hide more where the attack got through; whether more was to be hidden."""
        before, insiders = self.pattern.suppressed, self.terms.insiders
        if insiders and found.asked and found.told:
            self.tries += 1
            self.pattern = _against_contributors(
                self.problem, self.pattern, found, found.asked, insiders, self.tries <= _QUICK
            )
            n = len(found.published.suppressed)
            more = np.flatnonzero(self.pattern.suppressed[:n] & ~before[:n])
            self.because = np.union1d(self.because, more)
        elif found.missed.any() and self.failed < len(_REPAIRS):
            self._repair(found)
        elif not (found.missed.any() or self.tidied):
            # with all sums asked for, what was hidden for some may be needed no more
            self.tidied = True
            self.pattern = extended(self.problem, self.pattern, keep=False)
        elif self.failed < len(_REPAIRS):
            self.pattern = extended(self.problem, self.pattern, keep=True)
        else:
            self.pattern = everything_around(self.problem, self.pattern, _open_cells(found))
            return not np.array_equal(self.pattern.suppressed, before)
        return True

    def _repair(self, found: Found) -> None:
        """Ask for more where cells are missed."""
        self.tidied = True  # what had to be hidden for a repair stays
        if self.finer is not None:
            # what is asked of sums is found out again
            self.problem, self.finer = self.finer(), None
            shown = self.pattern.suppressed[: len(found.published.suppressed)]
            self.pattern = replace(self.pattern, suppressed=shown, proposals=None)
        factor = _REPAIRS[self.failed]
        failing = found.examination.cell[found.missed]
        stronger = _stronger(self.problem.requirements, failing, factor)
        self.failed += 1
        try:
            harder = replace(self.problem, requirements=stronger)
            self.pattern = extended(harder, self.pattern, keep=self.growing)
        except ProtectionError as error:
            if factor == 1:  # even what the rule asks for is impossible
                raise
            self.unrepaired, self.failed = error, len(_REPAIRS)


def _open_cells(found: Found) -> NDArray[np.int64]:
    """Cells that fail the attack, and those of sums that do."""
    cells = found.examination.cell[found.missed]
    if found.unsafe is None or not found.open_sums.any():
        return cells
    return np.union1d(cells, found.unsafe.only(found.open_sums).member.indices)


def _refusal(found: Found) -> ProofError:
    """What is said after all repairs."""
    failing: list[_Cells] = []
    what, by = "cells or sums", " by contributors"
    if found.missed.any():
        what, by = "cells", ""
        failing = [([cell], []) for cell in found.examination.cell[found.missed].tolist()]
    elif found.unsafe is not None and found.open_sums.any():
        what, by = "sums of cells", ""
        rows = np.split(found.unsafe.member.indices, found.unsafe.member.indptr[1:-1])
        failing = [(rows[i].tolist(), []) for i in np.flatnonzero(found.open_sums).tolist()]
    elif found.asked is not None:
        failing = _told_cells(found.told, found.asked)
    return ProofError(
        f"{len(failing):,} {what} can still be narrowed down too far{by} after all repairs: "
        f"{_named(found.published, failing)}. Nothing was published; combine categories or choose "
        "another method"
    )


def _told_cells(told: Sequence[Open], asked: Asked) -> list[_Cells]:
    """The cells and sums that contributors can tell, each once."""
    signed = dict.fromkeys(tuple(zip(asked.cells(o), asked.signs(o), strict=True)) for o in told)
    return [([c for c, s in of if s > 0], [c for c, s in of if s < 0]) for of in signed]


def _against_contributors(
    problem: Problem,
    pattern: Pattern,
    found: Found,
    asked: Asked,
    insiders: InsiderJudge,
    quickly: bool,
) -> Pattern:
    """Hide more where contributors can tell too much; `quickly`: by cheap moves alone."""
    from diskret.protect.insider_repair import repaired_against

    told, published = found.told, found.published
    repaired = repaired_against(problem, pattern, told, asked, insiders, published, quickly=quickly)
    if quickly or not np.array_equal(pattern.suppressed, repaired.suppressed):
        return repaired
    # what proves too little must not refuse before all is hidden
    failing = _told_cells(told, asked)
    cells = np.array(sum((a + b for a, b in failing), []), dtype=np.int64)
    more = everything_around(problem, repaired, cells)
    if np.array_equal(pattern.suppressed, more.suppressed):
        number = Count(len(failing))
        raise ProofError(
            f"{number} {number:cell or sum|cells or sums} can be narrowed down too far by "
            "contributors even if all is hidden that may be: "
            f"{_named(published, failing)}. Nothing was published; combine categories, publish "
            "without one of the tables, or assume less knowledge of the attacker"
        )
    return more


def _named(published: Publication, failing: Sequence[_Cells]) -> str:
    """The first of some cells, sums of cells, and rests."""

    def names(cells: Sequence[int], between: str) -> str:
        return between.join(cell_name(published, cell) for cell in cells)

    return "; ".join(
        names(cells, " + ") + (f" without {names(taken, ' and ')}" if taken else "")
        for cells, taken in failing[:_EXAMPLES]
    )


def _judged(
    published: Publication, parts: PartsJudge | None, progress: Progress
) -> tuple[JudgedParts | None, JudgedParts | None, JudgedParts | None]:
    """What was judged of revealed parts, rests, and rests between variables; none is unsafe."""
    if parts is None:
        return None, None, None
    found = stage(partial(parts, published), progress, JUDGING)
    if len(found.sums):
        number = Count(len(found.sums))
        raise ProofError(
            f"{number} unsafe {number:part of a category or rest|parts of categories or rests} "
            f"beside filters or other variables {number:is|are} revealed by subtraction: "
            f"{found.named}. Nothing was published"
        )
    if found.rests is not None and found.rests.unjudged:
        number = Count(found.rests.unjudged)
        warnings.warn(
            f"{number} {number:difference|differences} between cells and the same cells of a "
            f"filter can be computed, and who contributes to {number:it|them} is not known well "
            "enough: nothing is claimed of what is left beside these filters. Tabulate the "
            "records with unit= and contributions=True, or publish without one of the tables",
            stacklevel=2,
        )
    if found.alone:
        warnings.warn(
            "categories of one variable lie in those of another one, as everybody can look up, and "
            f"what is left beside them holds one or two records: {found.alone}. No rule could "
            "judge that; give the rule itself in place of a sensitivity, leave weight= out, or "
            "publish one of the variables only",
            stacklevel=2,
        )
    return found.judged, found.rests, found.crossed


def _stronger(requirements: Requirements, failing: NDArray[np.int64], factor: int) -> Requirements:
    """Ask for more where the attack got through; failing secondaries get a level of their own."""
    cell = np.union1d(requirements.cell, failing)
    at = np.searchsorted(cell, requirements.cell)

    def spread(levels: NDArray[np.int64]) -> NDArray[np.int64]:
        out = np.zeros(len(cell), dtype=np.int64)
        out[at] = levels
        return np.where(np.isin(cell, failing), out * factor, out)

    sliding = np.maximum(spread(requirements.sliding), np.where(np.isin(cell, failing), factor, 0))
    return Requirements(cell, spread(requirements.lower), spread(requirements.upper), sliding)
