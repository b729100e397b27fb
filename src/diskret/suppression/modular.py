"""Modular suppression: protect near each unsafe cell, in parts of the table, on all cores."""

from __future__ import annotations

from diskret.suppression.blame import refuse_fixed
from diskret.suppression.blocks import Blocks
from diskret.suppression.certify import certify
from diskret.suppression.greedy import safe
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.reduce import changeable


def modular(problem: Problem) -> Pattern:
    """Find a safe pattern of a large table quickly.

    Like [`sequential`][diskret.suppression.sequential], but changes are searched in the smallest
    block of the table around a cell first: all cells whose codes lie below its codes'
    parents. What happens there leaves all totals outside as they are, so blocks with no cell in
    common are searched at the same time. A cell that its block cannot protect is asked for in
    ever larger ones, at last in the whole table; the protection is that of every other
    method.

    Parameters
    ----------
    problem
        Cells that `problem.start` suppresses without being primary are free of charge at
        first and are published again where no requirement needs them.

    Returns
    -------
    Pattern
        All requirements hold, and every secondary can take values at least one scaled unit
        apart. It does not depend on the number of cores. `complete` is False if the deadline or
        the budget fell into the final tidying up. In large patterns a cell may stay hidden that
        could only be published by changes across large parts of the table.

    Raises
    ------
    ProtectionError
        A primary cell cannot be protected, e.g. because of frozen cells; or the deadline or
        budget ended before a safe pattern was found.
    InputError
        The attacker's bounds exclude an original value.

    Notes
    -----
    The idea of protecting subtable by subtable is that of HITAS (de Wolf 2002, "HiTaS: a
    heuristic approach to cell suppression in hierarchical tables", LNCS 2316, 74-82), which
    goes from the top down and has to come back; changes that leave all margins alone need
    not.

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
    >>> modular(problem).suppressed.tolist()
    [False, True, True, False]
    """
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    # what random directions leave open is asked for in the blocks, at no more cost
    certified = certify(cells, cells.primary, one_by_one=False)
    blocks = Blocks(problem.system.tables, cells.group)
    hidden, complete = safe(problem, cells, cells.primary | cells.started, certified, blocks=blocks)
    return Pattern(cells.of_cells(hidden), "modular", complete)
