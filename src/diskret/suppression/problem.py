"""The question a suppression method answers, and its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Proposals, Requirements
from diskret.deadline import NEVER, Deadline
from diskret.effort import Effort
from diskret.progress import Progress, silent
from diskret.system import System


@dataclass(eq=False)
class Work:
    """How much a method has done, and may do: the same on every computer, unlike time.

    `budget`: number of steps after which a method returns the best safe pattern it has, or None. A
    step is a cell to be protected, a cell to be published again, or a round of proof. `done`: steps
    so far. `effort`: what programmes may take, if that ends it, too.
    """

    budget: int | None = None
    done: int = 0
    effort: Effort | None = None

    @property
    def left(self) -> bool:
        """Whether more may be done."""
        if self.effort is not None and self.effort.left <= 0:
            return False
        return self.budget is None or self.done < self.budget

    @property
    def counted(self) -> bool:
        """Whether an end is counted, so that what is done must not depend on who is faster."""
        return self.budget is not None or self.effort is not None

    def step(self, steps: int = 1) -> None:
        """Count what has been done."""
        self.done += steps


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be protected, from whom, and at what price cells can be hidden.

    `system`: cells and equations. All arrays below have one entry for each cell, ``(n,)``.
    `requirements`: the primary cells with their levels; these are always suppressed.
    `cost`: price of suppressing a cell, float64 ≥ 0.
    `frozen`: cells that must stay published, bool; empty cells too, unless a rule lets them hide.
    `lower`, `upper`: what the attacker knows of each cell a priori, in scaled units, float64 (−inf
        / inf where nothing is known).
    `integer`: the attacker knows that values are whole scaled units (frequency tables).
    `start`: A pattern to start from: cells already decided to be suppressed, bool, or None.
    `known`: changes of cells that are suppressed by `start`, which may show what is required; each
        is checked. None: nobody knows any.
    `deadline`: after it a method returns the best safe pattern it has; if it has none, the quickest
        one that there is.
    `work`: counts the steps done, and says how many may be.
    `ties`: which of several cells at equal cost is hidden rather: the one with the smaller number,
        float64 from 0 to 1, or None. Being no total counts for more.
    """

    system: System
    requirements: Requirements
    cost: NDArray[np.float64]
    frozen: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: bool = False
    start: NDArray[np.bool_] | None = None
    known: Proposals | None = None
    deadline: Deadline = NEVER
    ties: NDArray[np.float64] | None = None
    work: Work = field(default_factory=Work)
    progress: Progress = field(default=silent)

    @property
    def tied(self) -> bool:
        """Whether there is not just one table, so that no cubes stand for a first pattern."""
        return len(self.system.tables) != 1

    @property
    def limited(self) -> bool:
        """Whether a deadline or a budget ends the search."""
        return self.deadline.limited or self.work.budget is not None

    def waiting(self) -> None:
        """Report that the search has not begun to hide anything yet, but goes on."""
        self.progress("suppress", 0, max(len(self.requirements.cell), 1))

    def seconds(self) -> float:
        """Time left; 0 if the budget is used up, inf if nothing limits it."""
        return self.deadline.seconds() if self.work.left else 0.0


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which cells are suppressed.

    `suppressed`: one bool for each cell of the system, primaries included.
    `method`: name of the method that found it.
    `complete`: False if a deadline cut short the search for a cheaper pattern.
    `bound`: what every safe pattern costs at least (`Problem.cost` of its secondaries), up to the
        tolerances of the solver; None if the method does not ask.
    `proposals`: alternative tables that show what is required, for the attack to check; None: it
        has to look for them. Methods tell them where time is limited.
    """

    suppressed: NDArray[np.bool_]
    method: str
    complete: bool = True
    bound: float | None = None
    proposals: Proposals | None = None


class Method(Protocol):
    """What every method does with a problem, whichever cells it chooses.

    Parameters
    ----------
    problem
        Cells that `problem.start` suppresses without being primary are free of charge at
        first and are published again where no requirement needs them.

    Returns
    -------
    Pattern
        All requirements hold, and every secondary can take values at least one scaled unit
        apart. `complete` is False if the deadline or the budget fell into the final tidying up.

    Raises
    ------
    ProtectionError
        A primary cell cannot be protected, e.g. because of frozen cells; or the deadline or
        budget ended before a safe pattern was found, and cubes gave none either.
    InputError
        The attacker's bounds exclude an original value.

    Examples
    --------
    A total of 11 and its parts 1, 4 and 6: with the 1 at least one more has to go, and none is
    cheaper than the 4. `optimal` proves that.

    >>> import numpy as np
    >>> from diskret.attack import Proposals, Requirements
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.suppression import auto, hypercube, modular, network, optimal, sequential
    >>> from diskret.system import System
    >>> from diskret.tables import Dimension, Table
    >>> sizes = Hierarchy(("Total", "S", "M", "L"), np.array([-1, 0, 0, 0]))
    >>> system = System.of_table(Table((Dimension("size", sizes),), np.array([11, 1, 4, 6])))
    >>> one = np.array([1])
    >>> problem = Problem(
    ...     system=system,
    ...     requirements=Requirements(cell=one, lower=one, upper=one, sliding=0 * one),
    ...     cost=system.value.astype(float),
    ...     frozen=system.value == 0,
    ...     lower=np.zeros(4),
    ...     upper=np.full(4, np.inf),
    ...     integer=True,
    ... )
    >>> for method in (auto, sequential, modular, hypercube, network, optimal):
    ...     pattern = method(problem)
    ...     print(*pattern.suppressed.tolist(), pattern.method, pattern.bound)
    False True True False optimal 4.0
    False True True False sequential None
    False True True False modular None
    False True True False hypercube None
    False True True False network None
    False True True False optimal 4.0
    """

    def __call__(self, problem: Problem, /) -> Pattern:
        """Choose the cells to hide."""
        ...
