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
    Proposals,
    Requirements,
    UnsafeSums,
    cell_name,
    examine,
    show_sums,
    targets_of,
    unmet,
    unmet_sums,
)
from diskret.attack.component import Attacked
from diskret.attack.earlier_tables import unclaimed_cells
from diskret.attack.examine import narrowed
from diskret.deadline import OutOfTime
from diskret.errors import ProofError, ProtectionError
from diskret.protect.parts import PartsJudge
from diskret.protect.revealed_sums import (
    Judge,
    asking_for,
    cleared,
    everything_around,
    extended,
)
from diskret.suppression import Pattern, Problem, propose
from diskret.tables import Earlier, Publication
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack import InsidersWithstood, Open, Withstood
    from diskret.protect.insiders import Asked, InsiderJudge

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
#: Attacks on sums of cells that contributors may know; what is hidden for some reveals others.
_ROUNDS = 20
#: A pattern is not tidied again if less time is left than so many attacks took.
_AMPLE = 8
#: Repairs against insiders by the cheapest moves alone.
_QUICK = 3
_EXAMPLES = 5
#: Cells that are added up, and cells that are taken away.
_Cells = tuple[list[int], list[int]]
#: With more suppressed cells the attack is shown alternative tables to check.
_LARGE = 5_000
#: Shares of the time left for alternative tables, and for intervals once all is proven.
_PROPOSE, _INTERVALS = 0.3, 0.7


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
    try:
        proven = _proven(
            of_tables,
            problem,
            pattern,
            attacker,
            public,
            finer,
            earlier,
            judge,
            parts,
            insiders,
        )
    except OutOfTime as error:
        raise OutOfTime(
            "time limit too short: a pattern was found, but that it protects every cell could not "
            "be proven in time. Nothing was published; allow more time"
            + (", or protect against the outsider alone, attacker=dk.Attacker()" if judge else "")
        ) from error
    if not problem.deadline.limited or problem.deadline.passed:
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


def _proven(
    of_tables: Problem,
    problem: Problem,
    pattern: Pattern,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    finer: Callable[[], Problem] | None,
    earlier: Sequence[Earlier],
    judge: Judge | None,
    parts: PartsJudge | None,
    insiders: InsiderJudge | None,
) -> Proven:
    deadline = problem.deadline
    progress = deadline.watched(problem.progress)
    missed = open_sums = np.empty(0, dtype=bool)
    withstood: InsidersWithstood | None = None
    found: Withstood | None = None
    asked: Asked | None = None
    told: Sequence[Open] = ()
    attacked: dict[bytes, Attacked] = {}
    tries = 0
    failing: list[_Cells] = []
    unsafe: UnsafeSums | None = None
    unrepaired: ProtectionError | None = None
    published = public(pattern.suppressed)
    original = problem.system.value[: published.starts[-1]]
    because = np.zeros(len(original), dtype=bool)
    required = of_tables.requirements
    lost = np.zeros(0, dtype=np.int64)
    failed = 0
    growing = judge is not None or parts is not None
    tidied = False
    for repaired in range(_ROUNDS if growing else 2 + len(_REPAIRS)):
        if repaired:
            deadline.check()
        if growing:
            problem, pattern, unsafe = cleared(problem, pattern, public, judge, parts)
        published = public(pattern.suppressed)
        unclaimed = np.union1d(unclaimed_cells(published, earlier, required), lost)
        targets = targets_of(published, original, required, unclaimed)
        large = bool(np.count_nonzero(pattern.suppressed) > _LARGE)
        attack = partial(
            examine,
            published,
            attacker,
            original=original,
            proposals=_proposals(problem, pattern, large),
            progress=problem.progress,
            earlier=attacked,
            deadline=deadline,
        )
        # contributors are asked about several patterns: of the last one alone intervals are told
        waiting = insiders is not None and not deadline.limited
        examination = attack(targets, quick=deadline.limited or waiting)
        if waiting and unmet(examination, targets).any():
            waiting, examination = False, attack(targets)
        missed, open_sums = unmet(examination, targets), open_sums[:0]
        late = _secondaries_before(published, required, examination.cell[missed])
        if len(late):
            lost = np.union1d(lost, _beyond_help(problem, attacker, public, late))
            unclaimed = np.union1d(unclaimed, lost)
            targets = targets_of(published, original, required, unclaimed)
            missed = unmet(examination, targets)
        if unsafe is not None and not missed.any():
            if insiders is not None:  # what shows sums to outsiders serves contributors, too
                left = deadline.seconds()
                while True:
                    whole = published, examination, required, unsafe, original
                    examination, found, asked = insiders.attack(
                        *whole, progress, found, deadline, outsider_first=True
                    )
                    known = published, required, unsafe, original, progress, deadline
                    if not insiders.already(found.open, asked, *known):
                        break
                if deadline.limited:  # what shows a pattern shows all that it grows to, too
                    tidied |= deadline.seconds() < _AMPLE * (left - deadline.seconds())
                sides = replace(unsafe, sliding=np.zeros_like(unsafe.sliding))
                open_sums = unmet_sums(examination, sides, original)
            if not open_sums.any():
                examination = show_sums(
                    published, examination, attacker, unsafe, original, problem.progress, deadline
                )
                open_sums = unmet_sums(examination, unsafe, original)
            if open_sums.any():
                problem = asking_for(problem, unsafe.only(open_sums))
        if open_sums.any() and not (missed.any() or tidied):
            # with all sums asked for, what was hidden for some may be needed no more
            tidied = True
            pattern = extended(problem, pattern, keep=False)
            continue
        if insiders and found and asked and not (missed.any() or open_sums.any()):
            told = found.open
            withstood = insiders.withstood(found, asked)
            if told:
                tries += 1
                before, failing = pattern.suppressed, _told_cells(told, asked)
                pattern = _against_contributors(
                    problem, pattern, told, asked, insiders, published, quickly=tries <= _QUICK
                )
                because |= pattern.suppressed[: len(original)] & ~before[: len(original)]
                continue
        if not missed.any() and not open_sums.any():
            if waiting:
                last = attack()  # all that is claimed is shown already
                examination = examination.with_tables(last.witnesses).narrowed(last)
            judged = _judged(published, parts)
            if withstood is not None:
                hidden = np.flatnonzero(because & published.suppressed)
                withstood = replace(withstood, hidden=hidden)
            return Proven(
                published,
                examination,
                unclaimed,
                unsafe,
                repaired,
                judged[0],
                withstood,
                *judged[1:],
            )
        if failed == len(_REPAIRS):
            cells = _open_cells(published, missed, unsafe, open_sums)
            more = everything_around(problem, pattern, cells)
            if np.array_equal(more.suppressed, pattern.suppressed):
                break
            pattern = more
            continue
        factor = _REPAIRS[failed]
        if not missed.any():
            pattern = extended(problem, pattern, keep=True)
            continue
        tidied = True  # what had to be hidden for a repair stays
        if finer is not None:
            # what is asked of sums is found out again
            problem, finer = finer(), None
            shown = pattern.suppressed[: len(original)]
            pattern = replace(pattern, suppressed=shown, proposals=None)
        stronger = _stronger(problem.requirements, examination.cell[missed], factor)
        failed += 1
        try:
            harder = replace(problem, requirements=stronger)
            pattern = extended(harder, pattern, keep=growing)
        except ProtectionError as error:
            if factor == 1:  # even what the rule asks for is impossible
                raise
            unrepaired, failed = error, len(_REPAIRS)
    by = " by contributors" if told else ""
    raise _refusal(published, missed, unsafe, open_sums, failing, by) from unrepaired


def _open_cells(
    published: Publication,
    missed: NDArray[np.bool_],
    unsafe: UnsafeSums | None,
    open_sums: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Cells that fail the attack, and those of sums that do."""
    cells = np.flatnonzero(published.suppressed)[missed]
    if unsafe is None or not open_sums.any():
        return cells
    return np.union1d(cells, unsafe.only(open_sums).member.indices)


def _refusal(
    published: Publication,
    missed: NDArray[np.bool_],
    unsafe: UnsafeSums | None,
    open_sums: NDArray[np.bool_],
    failing: list[_Cells],
    by: str,
) -> ProofError:
    """What is said after all repairs; `failing`: what contributors could tell last."""
    if missed.any():
        hidden = np.flatnonzero(published.suppressed)
        failing = [([cell], []) for cell in hidden[missed].tolist()]
    elif unsafe is not None and open_sums.any():
        rows = np.split(unsafe.member.indices, unsafe.member.indptr[1:-1])
        failing = [(rows[i].tolist(), []) for i in np.flatnonzero(open_sums).tolist()]
    what = "cells" if missed.any() else "sums of cells" if open_sums.any() else "cells or sums"
    return ProofError(
        f"{len(failing):,} {what} can still be narrowed down too far{by} after all repairs: "
        f"{_named(published, failing)}. Nothing was published; combine categories or choose "
        "another method"
    )


def _told_cells(told: Sequence[Open], asked: Asked) -> list[_Cells]:
    """The cells and sums that contributors can tell, each once."""
    signed = dict.fromkeys(tuple(zip(asked.cells(o), asked.signs(o), strict=True)) for o in told)
    return [([c for c, s in of if s > 0], [c for c, s in of if s < 0]) for of in signed]


def _against_contributors(
    problem: Problem,
    pattern: Pattern,
    told: Sequence[Open],
    asked: Asked,
    insiders: InsiderJudge,
    published: Publication,
    quickly: bool,
) -> Pattern:
    """Hide more, so that contributors can no longer tell these; `quickly`: by cheap moves alone."""
    from diskret.protect.insider_repair import repaired_against

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


def _proposals(problem: Problem, pattern: Pattern, large: bool) -> Proposals | None:
    """Alternative tables for the attack to check: those of the method, if it told some."""
    if pattern.proposals is not None:
        return pattern.proposals
    within = replace(problem, deadline=problem.deadline.share(_PROPOSE))
    return propose(within, pattern.suppressed) if large or problem.deadline.limited else None


def _named(published: Publication, failing: Sequence[_Cells]) -> str:
    """The first of some cells, sums of cells, and rests."""

    def names(cells: Sequence[int], between: str) -> str:
        return between.join(cell_name(published, cell) for cell in cells)

    return "; ".join(
        names(cells, " + ") + (f" without {names(taken, ' and ')}" if taken else "")
        for cells, taken in failing[:_EXAMPLES]
    )


def _judged(
    published: Publication, parts: PartsJudge | None
) -> tuple[JudgedParts | None, JudgedParts | None, JudgedParts | None]:
    """What was judged of revealed parts, rests, and rests between variables; none is unsafe."""
    if parts is None:
        return None, None, None
    found = parts(published)
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


def _secondaries_before(
    published: Publication, requirements: Requirements, failing: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Those of some cells that are secondaries of earlier tables."""
    before = failing[failing >= published.starts[len(published.own)]]
    return before[~np.isin(before, requirements.cell)]


def _beyond_help(
    problem: Problem,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    cells: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Those of some cells that are known exactly even if all is hidden that may be."""
    published = public(~problem.frozen)
    original = problem.system.value[: published.starts[-1]]
    nothing = cells[:0]
    others = np.setdiff1d(np.flatnonzero(published.suppressed), cells)
    targets = targets_of(
        published, original, Requirements(nothing, nothing, nothing, nothing), others
    )
    found = examine(
        published,
        attacker,
        targets,
        original=original,
        progress=problem.progress,
        deadline=problem.deadline,
    )
    known = found.cell[unmet(found, targets)]
    if len(known):
        problem.deadline.check()  # else what was not shown in time would be given up
    return known


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
