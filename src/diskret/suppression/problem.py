"""The question a suppression method answers, and its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Requirements
from diskret.progress import Progress, silent
from diskret.system import System


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be protected, from whom, and at what price cells can be hidden.

    Parameters
    ----------
    system
        Cells and equations. All arrays below have one entry for each cell, ``(n,)``.
    requirements
        The primary cells with their levels; these are always suppressed.
    cost
        Price of suppressing a cell, float64 ≥ 0.
    frozen
        Cells that must stay published, bool; empty cells too, unless a rule lets them hide.
    lower, upper
        What the attacker knows of each cell a priori, in scaled units, float64
        (−inf / inf where nothing is known).
    integer
        The attacker knows that values are whole scaled units (frequency tables).
    start
        A pattern to start from: cells already decided to be suppressed, bool, or None.
    deadline
        Value of ``time.monotonic()`` after which a method returns the best safe pattern
        it has, or None.
    ties
        Which of several cells at equal cost is hidden rather: the one with the smaller
        number, float64 from 0 to 1, or None. Being no total counts for more.
    """

    system: System
    requirements: Requirements
    cost: NDArray[np.float64]
    frozen: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: bool = False
    start: NDArray[np.bool_] | None = None
    deadline: float | None = None
    ties: NDArray[np.float64] | None = None
    progress: Progress = field(default=silent)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which cells are suppressed.

    Parameters
    ----------
    suppressed
        One bool for each cell of the system, primaries included.
    method
        Name of the method that found it.
    complete
        False if a deadline cut short the search for a cheaper pattern.
    bound
        What every safe pattern costs at least (`Problem.cost` of its secondaries), up to the
        tolerances of the solver; None if the method does not ask.
    """

    suppressed: NDArray[np.bool_]
    method: str
    complete: bool = True
    bound: float | None = None


Method = Callable[[Problem], Pattern]
