"""Cheaper patterns within a pattern: its changes are looked for again, in other orders.

What the first groups need is hidden without knowing what later ones will need, so a pattern found
group by group hides much in vain, most of all where a few cells hold most of the total. Once a
pattern is known it is small, and to look for all changes within it again takes a fraction of
the time. Work is counted, not timed, so that the same pattern is found on every computer.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Change, Part, Reach, moved, part, part_of
from diskret.suppression.linear import QUANTUM
from diskret.suppression.problem import Problem
from diskret.suppression.search import Search, fulfil

#: The share of the cost that a quantum of work has to save.
_WORTH = 0.005
#: Rounds at most.
_ROUNDS = 12
#: Orders differ from that of the needs by factors of e to a normal number times this.
_SPREAD = 4.0
#: Connected groups of cells beyond which nothing is asked of all of them at once.
_LARGE = 4_000


def cheaper(
    problem: Problem,
    cells: Changeable,
    certified: Reach,
    hidden: NDArray[np.bool_],
    changes: Sequence[Change],
    until: float | None = None,
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Look for a cheaper pattern within one, while that saves enough.

    Each connected part of the pattern is improved alone. A round takes all its groups that are
    not protected by primary cells alone, in a drawn order that favours large needs; for each of
    them the cheapest changes within the pattern are hidden, what is used already being free. The
    cheapest pattern so far is the one in which the next round looks; the first that saves little
    is the last.

    `hidden`: a pattern that meets all requirements, bool, ``(g,)``. `changes`: within it; with
    `certified` they show that. `until`: value of ``time.monotonic()`` at which to stop, if that is
    before time is up. Gives a pattern that costs no more, and its changes.
    """
    here = part(cells, hidden)
    label = np.full(len(hidden), -1)
    label[here.cell] = here.component
    inside: defaultdict[int, list[Change]] = defaultdict(list)
    for change in changes:
        own = label[change.cell]
        for component in np.unique(own).tolist():
            inside[component].append(change.only(own == component))
    found: list[Change] = []
    asked = certified.missing(cells, here.cell)
    for component in np.unique(here.component[asked]).tolist():
        groups = here.cell[here.component == component]
        found += _improved(problem, cells, certified, groups, inside[component], until)
    return moved(cells, found), found


def _improved(
    problem: Problem,
    cells: Changeable,
    certified: Reach,
    inside: NDArray[np.int64],
    changes: list[Change],
    until: float | None,
) -> list[Change]:
    """The changes of the cheapest pattern found in one component."""
    cost = _cost(cells, changes)
    if len(inside) > _LARGE or cost == 0:
        return changes
    random = np.random.default_rng(0)
    need = np.log(np.maximum(cells.need, 1))
    for _ in range(_ROUNDS):
        order = need + _SPREAD * random.standard_normal(len(need))
        again = _again(problem, cells, certified, part_of(cells, inside), order, changes, until)
        if again is None:
            break
        found, work = again
        price = _cost(cells, found)
        saved = 1 - price / cost
        if saved > 0:
            changes, cost = found, price
            inside = inside[moved(cells, changes)[inside]]
        if cost == 0 or saved < _WORTH * work / QUANTUM:
            break
    return changes


def _again(
    problem: Problem,
    cells: Changeable,
    certified: Reach,
    here: Part,
    order: NDArray[np.float64],
    known: Sequence[Change],
    until: float | None,
) -> tuple[list[Change], int] | None:
    """Changes for all groups of a part, those of highest `order` first; and what that took.

    `known`: changes that are enough; they are taken for groups of which the programme finds none.
    None: time is up.
    """
    reach, used = certified.copy(), cells.primary | cells.started
    search = Search(here, used[here.cell], cells.price[here.cell], problem.deadline.seconds)
    todo = here.cell[reach.missing(cells, here.cell)]
    changes: list[Change] = []
    by_group: defaultdict[int, list[Change]] | None = None

    def take(change: Change) -> None:
        new = change.cell[~used[change.cell]]
        used[new] = True
        search.hide(np.searchsorted(here.cell, new))
        changes.append(change)

    for done, group in enumerate(todo[np.argsort(-order[todo], kind="stable")].tolist()):
        problem.progress("cheaper", done, len(todo))
        if not reach.misses(cells, group):
            continue
        if problem.seconds() <= 0 or (until is not None and time.monotonic() > until):
            return None
        problem.work.step()
        for change in fulfil(search, cells, reach, group):
            take(change)
        if not reach.misses(cells, group):
            continue
        if by_group is None:
            by_group = defaultdict(list)
            for change in known:
                for cell in change.cell.tolist():
                    by_group[cell].append(change)
        for change in by_group[group]:
            reach.add(change)
            take(change)
            if not reach.misses(cells, group):
                break
    problem.progress("cheaper", len(todo), len(todo))
    return changes, search.work


def _cost(cells: Changeable, changes: Sequence[Change]) -> float:
    """What hiding all that these changes move costs."""
    return float(cells.price[moved(cells, changes) & ~cells.primary].sum())
