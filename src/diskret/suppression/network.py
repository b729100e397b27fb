"""Suppression in networks: unsafe cells are protected by cheapest cycles, without programmes."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.blame import refuse_fixed
from diskret.suppression.certify import shown_alone
from diskret.suppression.changeable import Changeable, changeable, prices
from diskret.suppression.changes import Change, Reach, checked, part
from diskret.suppression.cycles import Cycles, Flow, arcs_of, refuse_several
from diskret.suppression.greedy import safe
from diskret.suppression.problem import Pattern, Problem
from diskret.system.equations import RectangularCells


def network(problem: Problem) -> Pattern:
    """Find a safe pattern of a table that is a network, by shortest paths.

    A table of two variables, at most one of which has more than one level below its total, is a
    network: each cell leads from one equation to another, and what moves a cell without
    breaking an equation is a sum of cycles through it. Each primary cell that the primary cells
    alone do not protect gets, largest need first, the cheapest cycles that move it as far as
    required up and down; cells that are hidden already cost nothing. At the end every
    secondary, dearest first, is published again unless a requirement needs it. Three variables,
    two hierarchies, or several tables that are tied to each other are refused by an `InputError`.

    References
    ----------
    Castro (2007), "A shortest-paths heuristic for statistical data protection in positive
    tables", INFORMS Journal on Computing 19(4), 520-533.

    Notes
    -----
    Different from there: tables with a
    hierarchy; a single cycle that serves both directions is compared with sums of cycles for
    each, in which later ones may undo earlier ones; and the final tidying up. Flows in networks
    are whole numbers by themselves.
    """
    table = problem.system.cells
    if not isinstance(table, RectangularCells):
        raise refuse_several(len(table))
    arcs = arcs_of(table)
    cells = changeable(problem)
    refuse_fixed(problem, cells)
    certified = shown_alone(problem, cells)
    hidden = cells.primary | cells.started
    cycles = Cycles(arcs, cells.group, cells.down, cells.up, prices(problem), hidden)
    hidden, changes = _protected(problem, cells, cycles, hidden, certified.copy())
    return safe(problem, cells, hidden, certified, changes).pattern(problem, cells, "network")


def _protected(
    problem: Problem,
    cells: Changeable,
    cycles: Cycles,
    hidden: NDArray[np.bool_],
    reach: Reach,
) -> tuple[NDArray[np.bool_], list[Change]]:
    """Hide cycles until every requirement is met that any can meet, or time is over."""
    todo = np.flatnonzero(reach.missing(cells))
    todo = todo[np.argsort(-cells.need[todo], kind="stable")]
    here = part(cells, np.ones(len(hidden), dtype=bool))
    hidden, changes = hidden.copy(), list[Change]()
    for done, group in enumerate(todo.tolist()):
        problem.progress("suppress", done, len(todo))
        if problem.seconds() <= 0:
            return hidden, changes
        problem.work.step()
        for flow in _cheapest(cycles, cells, reach, group):
            proposal = np.zeros(len(hidden))
            proposal[flow.group] = flow.distance
            for change in checked(here, proposal[here.cell]):
                reach.add(change)
                changes.append(change)
                hidden[change.cell] = True
                cycles.hide(change.cell)
    if len(todo):
        problem.progress("suppress", len(todo), len(todo))
    return hidden, changes


def _cheapest(cycles: Cycles, cells: Changeable, reach: Reach, group: int) -> Iterator[Flow]:
    """Flows that move a group as far as required, one by one; the caller hides each."""
    up, down = _open(cells.above, reach.up, group), _open(cells.below, reach.down, group)
    yield from _up_and_down(cycles, group, up, down)

    def missing() -> int:
        return max(int(cells.width[group] - reach.width[group]), 0)

    if missing():
        rise = cycles.one_way(group, int(reach.up[group]) + missing())
        most = inf if rise is None else rise.cost
        fall = cycles.one_way(group, -int(reach.down[group]) - missing(), most)
        either = fall or rise
        if either is None:
            # neither side alone is enough: as far up as possible, then down for the rest
            either = cycles.furthest(group, int(reach.up[group]) + missing())
        if either is not None:
            yield either
    if missing():
        rest = cycles.one_way(group, -int(reach.down[group]) - missing())
        if rest is not None:
            yield rest


def _up_and_down(cycles: Cycles, group: int, up: int, down: int) -> Iterator[Flow]:
    """The cheaper of one cycle for both directions and a flow of its own for each."""
    if not up or not down:
        flow = cycles.one_way(group, up or -down) if up or down else None
        if flow is not None:
            yield flow
        return
    cycle = cycles.both_ways(group, up, down)
    most = inf if cycle is None else cycle.cost
    rise = cycles.one_way(group, up, most)
    if rise is not None:
        cycles.hide(rise.new)
        fall = cycles.one_way(group, -down, most - rise.cost)
        cycles.charge(rise.new)
        if fall is not None:
            yield rise
            yield fall
            return
    if cycle is not None:
        yield cycle.times(up)
        yield cycle.times(-down)


def _open(needed: NDArray[np.int64], shown: NDArray[np.int64], group: int) -> int:
    """How far a group must still be shown to move in a direction; 0 if it is."""
    return int(needed[group]) if shown[group] < needed[group] else 0
