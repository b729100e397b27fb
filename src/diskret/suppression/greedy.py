"""A safe pattern from any pattern: hide what is missing, publish what is not needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.suppression.blame import unprotectable
from diskret.suppression.blocks import Blocks
from diskret.suppression.blockwise import hide_in_blocks
from diskret.suppression.cleanup import clean_up
from diskret.suppression.exact import Change, Reach, part
from diskret.suppression.problem import Problem
from diskret.suppression.reduce import Changeable
from diskret.suppression.search import Search, fulfil


def safe(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: Sequence[Change] = (),
    price: NDArray[np.float64] | None = None,
    blocks: Blocks | None = None,
    tidy_until: float | None = None,
) -> tuple[NDArray[np.bool_], bool]:
    """Hide the cheapest groups until all is shown, then publish again what is not needed.

    Parameters
    ----------
    problem
        For the deadline, progress and messages.
    cells
        The groups and their requirements.
    hidden
        Groups that are free of charge at first, primaries included, bool, ``(g,)``.
    certified
        What is shown by changes of primary groups alone.
    changes
        Changes within `hidden` that are known already.
    price
        Prices for the search alone, float64 > 0, ``(g,)``; by default those of `cells`.
    blocks
        Where to look first, if not in the whole table.
    tidy_until
        Value of ``time.monotonic()`` after which nothing more is published again, if that is
        before the deadline.

    Returns
    -------
    hidden, complete
        The pattern, and False if the publishing was cut short.

    Raises
    ------
    ProtectionError
        A group cannot be protected, or the deadline passed before all were.
    """
    search = cells if price is None else replace(cells, price=price)
    hidden, shown = _hide(problem, search, hidden, certified, changes, blocks)
    hidden, shown, complete = clean_up(problem, cells, hidden, certified, shown, blocks, tidy_until)
    hidden = moved(cells, shown)
    while (exact := _exact_secondaries(cells, hidden, certified, shown)).any():
        cells = replace(cells, width=np.maximum(cells.width, exact))
        hidden, shown = _hide(problem, cells, hidden, certified, shown, blocks)
    return hidden, complete


def _hide(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: Sequence[Change],
    blocks: Blocks | None,
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Add the cheapest cells to a pattern until every requirement is shown to hold."""
    reach, hidden, changes = certified.copy(), hidden.copy(), list(changes)
    for change in changes:
        reach.add(change)

    todo = np.flatnonzero(reach.missing(cells))
    if blocks is not None and len(todo):
        changes += hide_in_blocks(problem, cells, blocks, hidden, reach)
        todo = np.flatnonzero(reach.missing(cells))
    if len(todo) == 0:
        return hidden, changes
    todo = todo[np.argsort(-cells.need[todo], kind="stable")]
    here = part(cells, np.ones(len(hidden), dtype=bool))
    search = Search(here, hidden[here.cell], cells.price[here.cell])

    for done, group in enumerate(todo.tolist()):
        problem.progress("suppress", done, len(todo))
        if not reach.misses(cells, group):
            continue
        problem.work.step()
        asked = problem.seconds() > 0
        for change in fulfil(search, cells, reach, group, problem.seconds) if asked else ():
            new = change.cell[~hidden[change.cell]]
            hidden[new] = True
            search.hide(np.searchsorted(here.cell, new))
            changes.append(change)
        if reach.misses(cells, group):
            if problem.seconds() > 0:
                raise unprotectable(problem, _originals(problem, cells, group))
            raise ProtectionError(
                f"time limit too short: {len(todo) - done} of {len(todo)} cells were still to be "
                "protected; allow more time, or a larger budget"
            )
    problem.progress("suppress", len(todo), len(todo))
    return hidden, changes


def moved(cells: Changeable, changes: Sequence[Change]) -> NDArray[np.bool_]:
    """The primary groups and all that the changes move; nothing else needs to be hidden."""
    out = cells.primary.copy()
    for change in changes:
        out[change.cell] = True
    return out


def _exact_secondaries(
    cells: Changeable, hidden: NDArray[np.bool_], certified: Reach, changes: list[Change]
) -> NDArray[np.bool_]:
    """Secondaries that move by less than a unit, in fractions, in all changes."""
    reach = certified.copy()
    for change in changes:
        reach.add(change)
    return hidden & ~cells.primary & (reach.width < 1)


def _originals(problem: Problem, cells: Changeable, group: int) -> list[int]:
    """The cells of a group to name in a message: the primary ones if there are any."""
    members = np.flatnonzero(cells.group == group)
    primary = members[np.isin(members, problem.requirements.cell)]
    return (primary if len(primary) else members[:1]).tolist()
