"""The method for those who do not choose one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.suppression.modular import modular
from diskret.suppression.optimal import optimal
from diskret.suppression.problem import Pattern, Problem, Work
from diskret.suppression.sequential import sequential

#: Up to so many cells the cheapest pattern is looked for, with so many steps for the proof.
_LARGEST, _STEPS = 2_000, 300
#: Up to so many cells the pattern costs no more than that of `sequential`.
_SEQUENTIAL = 3_000


def auto(problem: Problem) -> Pattern:
    """Find the cheapest pattern where that is quick, else a good one.

    Up to 3,000 cells it is never dearer than that of
    [`sequential`][diskret.suppression.sequential], which comes first and whose steps do not count.

    Parameters
    ----------
    problem
        With a deadline or a budget it is solved by [`optimal`][diskret.suppression.optimal];
        without, up to 2,000 cells by `optimal` with 300 steps after its first patterns, and
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
    size = len(problem.cost)
    # of no account: what it costs is known from the table, so budgets mean the proof
    first = sequential(replace(problem, work=Work())) if size <= _SEQUENTIAL else None
    if problem.limited:
        return optimal(problem, first=first)
    if size <= _LARGEST:
        return optimal(problem, _STEPS, first)
    found = modular(problem)
    return found if first is None else min(found, first, key=lambda one: _cost(problem, one))


def _cost(problem: Problem, pattern: Pattern) -> float:
    return float(np.sum(problem.cost[pattern.suppressed]))
