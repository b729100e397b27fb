"""Sequential suppression: protect one primary cell after the other, then tidy up."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.suppression.certify import certify
from diskret.suppression.cleanup import clean_up
from diskret.suppression.exact import Change, Reach, part
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.reduce import Changeable, changeable, unprotectable
from diskret.suppression.search import Search, fulfil


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
    certified = certify(cells, cells.primary)
    hidden, changes = _hide(problem, cells, cells.primary | cells.started, certified, [])
    hidden, changes, complete = clean_up(
        cells, hidden, certified, changes, problem.deadline, problem.progress
    )
    hidden = _moved(cells, changes)
    while (exact := _exact_secondaries(cells, hidden, certified, changes)).any():
        cells = replace(cells, width=np.maximum(cells.width, exact))
        hidden, changes = _hide(problem, cells, hidden, certified, changes)
    inside = cells.group >= 0
    suppressed = np.zeros(len(cells.group), dtype=bool)
    suppressed[inside] = hidden[cells.group[inside]]
    return Pattern(suppressed, "sequential", complete)


def _hide(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: list[Change],
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Add the cheapest cells to a pattern until every requirement is shown to hold."""
    reach, hidden, changes = certified.copy(), hidden.copy(), list(changes)
    for change in changes:
        reach.add(change)
    todo = np.flatnonzero(reach.missing(cells))
    if len(todo) == 0:
        return hidden, changes
    need = np.maximum.reduce([cells.below[todo], cells.above[todo], cells.width[todo] // 2])
    todo = todo[np.argsort(-need, kind="stable")]
    here = part(cells, np.ones(len(hidden), dtype=bool))
    search = Search(here, hidden[here.cell], cells.price[here.cell])

    def seconds() -> float:
        return inf if problem.deadline is None else problem.deadline - time.monotonic()

    for done, group in enumerate(todo.tolist()):
        problem.progress("suppress", done, len(todo))
        if not reach.misses(cells, group):
            continue
        for change in fulfil(search, cells, reach, group, seconds) if seconds() > 0 else ():
            new = change.cell[~hidden[change.cell]]
            hidden[new] = True
            search.hide(np.searchsorted(here.cell, new))
            changes.append(change)
        if reach.misses(cells, group):
            if seconds() > 0:
                raise unprotectable(problem, _original(problem, cells, group))
            raise ProtectionError(
                f"time limit too short: {len(todo) - done} of {len(todo)} cells were still to be "
                "protected; allow more time"
            )
    problem.progress("suppress", len(todo), len(todo))
    return hidden, changes


def _moved(cells: Changeable, changes: list[Change]) -> NDArray[np.bool_]:
    """The primary groups and all that the changes move; nothing else needs to be hidden."""
    moved = cells.primary.copy()
    for change in changes:
        moved[change.cell] = True
    return moved


def _exact_secondaries(
    cells: Changeable, hidden: NDArray[np.bool_], certified: Reach, changes: list[Change]
) -> NDArray[np.bool_]:
    """Secondaries that move by less than a unit, in fractions, in all changes."""
    reach = certified.copy()
    for change in changes:
        reach.add(change)
    return hidden & ~cells.primary & (reach.width < 1)


def _original(problem: Problem, cells: Changeable, group: int) -> int:
    """A cell of a group to name in a message: a primary one if there is any."""
    members = np.flatnonzero(cells.group == group)
    primary = members[np.isin(members, problem.requirements.cell)]
    return int(primary[0] if len(primary) else members[0])
