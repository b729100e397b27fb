"""Attack what would be published, and repair it until nothing can be narrowed down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Examination,
    Requirements,
    Targets,
    UnsafeSums,
    cell_name,
    examine,
    show_sums,
    targets_of,
    unmet,
    unmet_sums,
)
from diskret.errors import ProofError, ProtectionError
from diskret.suppression import Method, Pattern, Problem, modular, propose
from diskret.tables import Publication
from diskret.workflow.revealed import Judge, again, asking_for, cleared, extended

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
#: Attacks on sums of cells that contributors may know; what is hidden for some reveals others.
_ROUNDS = 20
_EXAMPLES = 5
#: With more suppressed cells the attack is shown alternative tables to check.
_LARGE = 5_000


@dataclass(frozen=True, eq=False)
class Proven:
    """What can be published, and the attack that it withstands.

    Parameters
    ----------
    published
        The tables.
    examination, targets
        The attack, and what it was to show.
    unsafe
        The unsafe sums that were shown to be uncertain enough; None if no contributor attacks.
    repaired
        How often the pattern was extended.
    """

    published: Publication
    examination: Examination
    targets: Targets
    unsafe: UnsafeSums | None
    repaired: int


def prove(
    problem: Problem,
    pattern: Pattern,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    judge: Judge | None = None,
    method: Method = modular,
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
    judge
        Which sums of suppressed cells are unsafe, if a contributor attacks.
    method
        Finds another pattern where everybody can compute an unsafe sum.

    Raises
    ------
    ProtectionError
        Even what the rule asks for is impossible.
    ProofError
        Some cells can be narrowed down too far after all repairs.
    """
    missed = open_sums = np.empty(0, dtype=bool)
    unsafe: UnsafeSums | None = None
    unrepaired: ProtectionError | None = None
    published = public(pattern.suppressed)
    original = problem.system.value[: published.starts[-1]]
    required = problem.requirements
    failed = 0
    for repaired in range(1 + len(_REPAIRS) if judge is None else _ROUNDS):
        if judge is not None:
            # what had to be repaired must not be chosen anew
            anew = None if repaired else method
            problem, pattern, unsafe = cleared(problem, pattern, anew, public, judge)
        published = public(pattern.suppressed)
        targets = targets_of(published, original, required)
        large = np.count_nonzero(pattern.suppressed) > _LARGE
        examination = examine(
            published,
            attacker,
            targets,
            original=original,
            proposals=propose(problem, pattern.suppressed) if large else None,
            progress=problem.progress,
        )
        missed, open_sums = unmet(examination, targets), open_sums[:0]
        if unsafe is not None and not missed.any():
            examination = show_sums(
                published, examination, attacker, unsafe, original, problem.progress
            )
            open_sums = unmet_sums(examination, unsafe, original)
            if open_sums.any():
                problem = asking_for(problem, unsafe.only(open_sums))
        if not missed.any() and not open_sums.any():
            return Proven(published, examination, targets, unsafe, repaired)
        if failed == len(_REPAIRS):
            break
        factor = _REPAIRS[failed]
        if not missed.any():
            first = repaired == 0
            pattern = (
                again(problem, pattern, method) if first else extended(problem, pattern, keep=True)
            )
            continue
        stronger = _stronger(problem.requirements, examination.cell[missed], factor)
        failed += 1
        try:
            harder = replace(problem, requirements=stronger)
            pattern = extended(harder, pattern, keep=judge is not None)
        except ProtectionError as error:
            if factor == 1:  # even what the rule asks for is impossible
                raise
            unrepaired = error
            break
    failing = [[int(cell)] for cell in np.flatnonzero(published.suppressed)[missed]]
    if unsafe is not None and not failing:
        rows = np.split(unsafe.member.indices, unsafe.member.indptr[1:-1])
        failing = [rows[i].tolist() for i in np.flatnonzero(open_sums).tolist()]
    shown = "; ".join(
        " + ".join(cell_name(published, cell) for cell in cells) for cells in failing[:_EXAMPLES]
    )
    raise ProofError(
        f"{len(failing):,} {'cells' if missed.any() else 'sums of cells'} can still be narrowed "
        f"down too far after all repairs: {shown}. Nothing was published; combine categories or "
        "choose another method"
    ) from unrepaired


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
