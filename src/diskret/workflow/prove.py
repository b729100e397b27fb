"""Attack what would be published, and repair it until nothing can be narrowed down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    Requirements,
    Targets,
    cell_name,
    examine,
    targets_of,
    unmet,
)
from diskret.errors import ProofError, ProtectionError
from diskret.release import Earlier
from diskret.suppression import Pattern, Problem, Work, modular, propose
from diskret.tables import Publication
from diskret.workflow.beside import unclaimed_cells

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
_EXAMPLES = 5
#: With more suppressed cells the attack is shown alternative tables to check.
_LARGE = 5_000


@dataclass(frozen=True, eq=False)
class Proven:
    """What can be published, and the attack that it withstands.

    Parameters
    ----------
    publication
        The new tables and what was published before.
    examination
        The attack on it.
    targets
        What this had to show.
    unclaimed
        Suppressed cells of earlier tables of which nothing is claimed, see `unclaimed_cells`;
        also those that everything new together could not keep uncertain.
    repaired
        How often the pattern was extended.
    """

    publication: Publication
    examination: Examination
    targets: Targets
    unclaimed: NDArray[np.int64]
    repaired: int


def prove(
    problem: Problem,
    pattern: Pattern,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    finer: Callable[[], Problem] | None = None,
    earlier: Sequence[Earlier] = (),
) -> Proven:
    """Attack a pattern as it would be published, and extend it until every requirement holds.

    Parameters
    ----------
    problem
        What is required.
    pattern
        A pattern for it.
    attacker
        Against whom to prove.
    public
        What the world sees when these cells are suppressed.
    finer
        Makes the same problem with more unpublished cells behind, for repairs.
    earlier
        What the world saw before: the last tables of the publication.

    Raises
    ------
    ProtectionError
        Even what the rule asks for is impossible.
    ProofError
        Some cells can be narrowed down too far after all repairs.
    """
    missed: NDArray[np.bool_] = np.empty(0, dtype=bool)
    unrepaired: ProtectionError | None = None
    published = public(pattern.suppressed)
    original = problem.system.value[: published.starts[-1]]
    lost = np.zeros(0, dtype=np.int64)
    for repaired, factor in enumerate((*_REPAIRS, 0)):
        published = public(pattern.suppressed)
        unclaimed = unclaimed_cells(published, earlier, problem.requirements)
        unclaimed = np.union1d(unclaimed, lost)
        targets = targets_of(published, original, problem.requirements, unclaimed)
        large = np.count_nonzero(pattern.suppressed) > _LARGE
        examination = examine(
            published,
            attacker,
            targets,
            original=original,
            proposals=propose(problem, pattern.suppressed) if large else None,
            progress=problem.progress,
        )
        missed = unmet(examination, targets)
        late = _secondaries_before(published, problem.requirements, examination.cell[missed])
        if len(late):
            lost = np.union1d(lost, _beyond_help(problem, attacker, public, late))
            unclaimed = np.union1d(unclaimed, lost)
            targets = targets_of(published, original, problem.requirements, unclaimed)
            missed = unmet(examination, targets)
        if not missed.any():
            return Proven(published, examination, targets, unclaimed, repaired)
        if factor:
            failing = examination.cell[missed]
            stronger = _stronger(problem.requirements, failing, factor)
            problem, finer = problem if finer is None else finer(), None
            start = (
                np.zeros(len(problem.cost), dtype=bool)
                if problem.start is None
                else problem.start.copy()
            )
            start[: len(original)] |= pattern.suppressed[: len(original)]
            # whatever limits the search for a cheap pattern, a safe one has to be found
            extended = replace(
                problem, requirements=stronger, start=start, deadline=None, work=Work()
            )
            try:
                pattern = sound(problem, modular(extended))
            except ProtectionError as error:
                if factor == 1:  # even what the rule asks for is impossible
                    raise
                unrepaired = error
                break
    cells = np.flatnonzero(published.suppressed)[missed]
    shown = "; ".join(cell_name(published, int(c)) for c in cells[:_EXAMPLES])
    raise ProofError(
        f"{len(cells):,} cells can still be narrowed down too far after all repairs: "
        f"{shown}. Nothing was published; combine categories or choose another method"
    ) from unrepaired


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
    found = examine(published, attacker, targets, original=original)
    return found.cell[unmet(found, targets)]


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


def sound(problem: Problem, pattern: Pattern) -> Pattern:
    """Refuse a pattern that breaks the contract of methods.

    Raises
    ------
    ProofError
        The pattern publishes unsafe cells, or hides some that must stay published.
    """
    suppressed = pattern.suppressed
    if suppressed.shape != problem.frozen.shape or suppressed.dtype != bool:
        raise ProofError(f"method {pattern.method!r} returned no pattern for this table")
    if not suppressed[problem.requirements.cell].all():
        raise ProofError(f"method {pattern.method!r} would publish unsafe cells")
    if np.any(suppressed & problem.frozen):
        raise ProofError(f"method {pattern.method!r} suppresses cells that must stay published")
    return pattern
