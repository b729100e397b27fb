"""The method for those who do not choose one."""

from __future__ import annotations

from diskret.suppression.modular import modular
from diskret.suppression.optimal import optimal
from diskret.suppression.problem import Pattern, Problem

#: Up to so many cells the cheapest pattern is looked for, with so many steps for the proof.
_LARGEST, _STEPS = 2_000, 300


def auto(problem: Problem) -> Pattern:
    """Find the cheapest pattern where that is quick, else a good one.

    Parameters
    ----------
    problem
        With a deadline or a budget it is solved by [`optimal`][diskret.suppression.optimal];
        without, up to 2,000 cells by `optimal` with 300 steps after its first pattern, and
        larger ones by [`modular`][diskret.suppression.modular].

    Returns
    -------
    Pattern
        That of the method chosen, which `Pattern.method` names.

    Raises
    ------
    ProtectionError, InputError
        As these methods.
    """
    if problem.limited:
        return optimal(problem)
    if len(problem.cost) > _LARGEST:
        return modular(problem)
    return optimal(problem, _STEPS)
