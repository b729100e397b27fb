"""Attack what would be published, and repair it until nothing can be narrowed down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
from diskret.suppression import Pattern, Problem, Work, modular, propose
from diskret.tables import Publication

# Requirements of cells that fail the attack are raised by these factors, in turn.
_REPAIRS = (1, 2, 4)
_EXAMPLES = 5
#: With more suppressed cells the attack is shown alternative tables to check.
_LARGE = 5_000


def prove(
    problem: Problem,
    pattern: Pattern,
    attacker: Attacker,
    public: Callable[[NDArray[np.bool_]], Publication],
    finer: Callable[[], Problem] | None = None,
) -> tuple[Publication, Examination, Targets, int]:
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

    Returns
    -------
    tuple
        What can be published, its examination, the targets that this meets, and how often
        the pattern was extended.

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
    for repaired, factor in enumerate((*_REPAIRS, 0)):
        published = public(pattern.suppressed)
        targets = targets_of(published, original, problem.requirements)
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
        if not missed.any():
            return published, examination, targets, repaired
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
