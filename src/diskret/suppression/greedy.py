"""Greedy suppression: hide the cheapest cells that are missing, publish what is not needed.

`sequential` looks for them in the whole table, `modular` near each unsafe cell first, in parts of
the table, on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.deadline import OutOfTime
from diskret.errors import ProtectionError
from diskret.suppression.blame import refuse_fixed, unprotectable
from diskret.suppression.blocks import Blocks, hide_in_blocks
from diskret.suppression.certify import changes_of, proposals_of, shown_alone
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import Change, Reach, moved, part
from diskret.suppression.cheaper import cheaper
from diskret.suppression.cleanup import End, clean_up
from diskret.suppression.cubes import hide_in_cubes
from diskret.suppression.problem import Pattern, Problem
from diskret.suppression.search import Search, fulfil
from diskret.texts.numbers import Count

#: Work (see `Program`) of programmes of the whole table, after which cubes are tried first.
_WORK = 2 * 10**10


def sequential(problem: Problem) -> Pattern:
    """Find a safe pattern quickly: greedy by linear programs, then publish what is not needed.

    Each primary cell that the primary cells alone do not protect gets, largest need first,
    the cheapest changes of the table that move it as far as required; the cells
    moved become secondaries. Then secondaries, dearest first, are published again unless a
    requirement needs them, while a fixed amount of work saves 0.4 % of the cost; when it saves
    less, the changes are looked for again within the pattern, in other orders, while that
    makes it cheaper. Whatever counts as protection is a change of the table that was checked in
    whole numbers.

    References
    ----------
    Cheapest changes by linear programs: Kelly, Golden and Assad (1992), "Cell suppression:
    disclosure protection for sensitive tabular data", Networks 22(4), 397-417, and Fischetti
    and Salazar (2001), Management Science 47(7), 1008-1027.
    """
    return in_sequence(problem, prepared(problem))


@dataclass(frozen=True, eq=False)
class Prepared:
    """The groups of a problem, and what its primary groups alone can show."""

    cells: Changeable
    certified: Reach


def prepared(problem: Problem) -> Prepared:
    """Look at a problem before anything is hidden; refuses what cannot be solved."""
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    return Prepared(cells, shown_alone(problem, cells))


def in_sequence(problem: Problem, known: Prepared) -> Pattern:
    """[`sequential`][diskret.suppression.sequential], of a problem that was looked at before."""
    cells = known.cells
    found = safe(problem, cells, cells.primary | cells.started, known.certified)
    return found.pattern(problem, cells, "sequential")


def modular(problem: Problem) -> Pattern:
    """Find a safe pattern of a large table quickly.

    Like [`sequential`][diskret.suppression.sequential], but changes are searched in the smallest
    block of the table around a cell first: all cells whose codes lie below its codes'
    parents. What happens there leaves all totals outside as they are, so blocks with no cell in
    common are searched at the same time. A cell that its block cannot protect is asked for in
    ever larger ones, at last in the whole table; the protection is that of every other
    method. In large patterns a cell may stay hidden that could only be published by changes across
    large parts of the table. The pattern does not depend on the number of cores.

    References
    ----------
    The idea of protecting subtable by subtable is that of HITAS (de Wolf 2002, "HiTaS: a
    heuristic approach to cell suppression in hierarchical tables", LNCS 2316, 74-82), which
    goes from the top down and has to come back; changes that leave all margins alone need
    not.
    """
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    hidden, changes = cells.primary | cells.started, list[Change]()
    if problem.known is None:
        # what random directions leave open is asked for in the blocks, at no more cost
        certified = shown_alone(problem, cells, one_by_one=False)
    else:
        known = changes_of(cells, problem.known)
        alone = [change for change in known if cells.primary[change.cell].all()]
        certified = Reach(len(cells.down), alone)
        changes = [c for c in known if hidden[c.cell].all() and not cells.primary[c.cell].all()]
    blocks = Blocks(problem.system.tables, cells.group)
    found = safe(problem, cells, hidden, certified, changes, blocks=blocks)
    return found.pattern(problem, cells, "modular")


def untidied(problem: Problem) -> Pattern:
    """The first safe pattern of [`modular`][diskret.suppression.modular]: it hides some more."""
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    certified = shown_alone(problem, cells, one_by_one=False)
    blocks = Blocks(problem.system.tables, cells.group)
    hidden, found = _hide(problem, cells, cells.primary | cells.started, certified, (), blocks)
    return Safe(hidden, False, [*certified.by, *found]).pattern(problem, cells, "untidied")


@dataclass(frozen=True, eq=False)
class Safe:
    """Groups to hide, bool, ``(g,)``.

    `complete`: false if the publishing of what need not be hidden was cut short. `changes`: they
    show every requirement.
    """

    hidden: NDArray[np.bool_]
    complete: bool
    changes: Sequence[Change]

    def pattern(self, problem: Problem, cells: Changeable, method: str) -> Pattern:
        """As a method gives it."""
        proposals = proposals_of(cells, self.changes)  # else the attack looks for the same again
        hidden = cells.of_cells(self.hidden)
        return Pattern(hidden, method, self.complete, proposals=proposals)


def safe(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: Sequence[Change] = (),
    price: NDArray[np.float64] | None = None,
    blocks: Blocks | None = None,
    tidy_until: float | None = None,
) -> Safe:
    """Hide the cheapest groups until all is shown, then publish again what is not needed.

    Once that saves little, a cheaper pattern is looked for within the one found.

    `hidden`: groups that are free of charge at first, primaries included, bool, ``(g,)``. `price`:
    prices for the search alone, float64 > 0, ``(g,)``; by default those of `cells`. `blocks`: where
    to look first, if not in the whole table. `tidy_until`: value of ``time.monotonic()`` after
    which nothing more is published again, if that is before the deadline. Raises ProtectionError: a
    group cannot be protected, or time was up before all were, and cubes do not protect the rest.
    """
    search = cells if price is None else replace(cells, price=price)
    hidden, shown = _hide(problem, search, hidden, certified, changes, blocks)
    needed = np.zeros(len(hidden), dtype=bool)

    def tidied() -> tuple[NDArray[np.bool_], list[Change], End]:
        return clean_up(problem, cells, hidden, certified, shown, blocks, tidy_until, needed)

    hidden, shown, end = tidied()
    if end is End.POOR and price is None and problem.known is None:
        before = np.count_nonzero(hidden)
        hidden, shown = cheaper(problem, cells, certified, hidden, shown, tidy_until)
        # of the same pattern the next work would save no more than the last
        if np.count_nonzero(hidden) < before:
            hidden, shown, end = tidied()
    hidden = moved(cells, shown)
    while (exact := _exact_secondaries(cells, hidden, certified, shown)).any():
        cells = replace(cells, width=np.maximum(cells.width, exact))
        hidden, shown = _hide(problem, cells, hidden, certified, shown, blocks)
    return Safe(hidden, end is not End.TIME, [*certified.by, *shown])


def _hide(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: Sequence[Change],
    blocks: Blocks | None,
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Add the cheapest cells to a pattern until every requirement is shown to hold."""
    reach, hidden, found = certified.copy(), hidden.copy(), list(changes)
    for change in found:
        reach.add(change)

    todo = np.flatnonzero(reach.missing(cells))
    if blocks is not None and len(todo):
        found += hide_in_blocks(problem, cells, blocks, hidden, reach)
        todo = np.flatnonzero(reach.missing(cells))
    if len(todo) == 0:
        return hidden, found
    todo = todo[np.argsort(-cells.need[todo], kind="stable")]
    here = part(cells, np.ones(len(hidden), dtype=bool))
    search = Search(here, hidden[here.cell], cells.price[here.cell], problem.deadline.seconds)

    def late() -> bool:
        """Whether time is up, which cubes do not need; a budget says what was to be done."""
        return problem.deadline.passed and problem.work.left

    def look(group: int) -> None:
        """Add the cheapest changes found that move a group as far as required."""
        for change in fulfil(search, cells, reach, group, problem.seconds):
            new = change.cell[~hidden[change.cell]]
            hidden[new] = True
            search.hide(np.searchsorted(here.cell, new))
            found.append(change)

    def ask(group: int) -> None:
        """Protect a group with a bounded amount of work, or else whatever it takes."""
        look(group)
        if not (search.cut_short and reach.misses(cells, group) and problem.seconds() > 0):
            return
        by_cubes(np.array([group]))
        if reach.misses(cells, group):
            with search.all_it_takes():
                look(group)

    def by_cubes(groups: NDArray[np.int64]) -> None:
        cubes = hide_in_cubes(problem, cells, hidden, reach, groups)
        found.extend(cubes)
        search.hide(np.flatnonzero(moved(cells, cubes)[here.cell]))

    tired = False
    for done, group in enumerate(todo.tolist()):
        problem.progress("suppress", done, len(todo))
        if search.work > _WORK and not tired:
            tired = True
            by_cubes(todo[done:])
        if not reach.misses(cells, group):
            continue
        if late():
            break
        problem.work.step()
        if problem.seconds() > 0:
            ask(group)
        if reach.misses(cells, group):
            if problem.seconds() > 0:
                refusal = _given_up if search.cut_short else unprotectable
                raise refusal(problem, _originals(problem, cells, group))
            if not late():
                raise _too_short(problem, len(todo) - done, len(todo))
    if late():
        found += hide_in_cubes(problem, cells, hidden, reach, todo)
        left = int(np.count_nonzero(reach.missing(cells, todo)))
        if left:
            raise _too_short(problem, left, len(todo))
    problem.progress("suppress", len(todo), len(todo))
    return hidden, found


def _given_up(problem: Problem, candidates: Sequence[int]) -> ProtectionError:
    """A search ended without saying whether there is a way."""
    cell = candidates[0]
    return ProtectionError(
        f"{problem.system.cells[cell]} = {problem.system.value[cell]}: no change of the table was "
        "found that protects it, within the work that one search is allowed; combine categories, "
        "or let frozen cells be suppressed"
    )


def _too_short(problem: Problem, left: int, number: int) -> OutOfTime:
    deadline = problem.deadline
    when = f" after {deadline.taken():.1f} of {deadline.given:g} s" if deadline.limited else ""
    return OutOfTime(
        f"time limit too short: {left} of {number} cells {Count(left):was|were} still to be "
        f"protected{when}; allow more time, or a larger budget"
    )


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
