"""Sequential suppression: protect one primary cell after the other, then tidy up."""

from __future__ import annotations

from diskret.suppression.blame import refuse_fixed
from diskret.suppression.certify import certify
from diskret.suppression.greedy import safe
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.reduce import changeable


def sequential(problem: Problem) -> Pattern:
    """Find a safe pattern quickly: greedy by linear programs, then publish what is not needed.

    Each primary cell that the primary cells alone do not protect gets, largest need first,
    the cheapest changes of the table that move it as far as required; the cells
    moved become secondaries. At the end every secondary, dearest first, is published again
    unless a requirement needs it. Whatever counts as protection is a change of the table
    that was checked in whole numbers.

    Parameters
    ----------
    problem
        Cells that `problem.start` suppresses without being primary are free of charge at
        first and are published again where no requirement needs them.

    Returns
    -------
    Pattern
        All requirements hold, and every secondary can take values at least one scaled unit
        apart. `complete` is False if the deadline fell into the final tidying up.

    Raises
    ------
    ProtectionError
        A primary cell cannot be protected, e.g. because of frozen cells; or the deadline
        passed before a safe pattern was found.
    InputError
        The attacker's bounds exclude an original value.

    Notes
    -----
    Cheapest changes by linear programs: Kelly, Golden and Assad (1992), "Cell suppression:
    disclosure protection for sensitive tabular data", Networks 22(4), 397-417, and Fischetti
    and Salazar (2001), Management Science 47(7), 1008-1027.

    Examples
    --------
    A total of 11 and its parts 1, 4 and 6: the 1 is hidden, and the cheapest company for it
    is the 4.

    >>> import numpy as np
    >>> from diskret.attack import Requirements
    >>> from diskret.system import System
    >>> from diskret.tables import Dimension, Table
    >>> from diskret.hierarchy import Hierarchy
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
    >>> sequential(problem).suppressed.tolist()
    [False, True, True, False]
    """
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    certified = certify(cells, cells.primary)
    hidden, complete = safe(problem, cells, cells.primary | cells.started, certified)
    return Pattern(cells.of_cells(hidden), "sequential", complete)
