"""The contract of methods, checked."""

from __future__ import annotations

import numpy as np

from diskret.errors import ProofError
from diskret.suppression import Pattern, Problem


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
