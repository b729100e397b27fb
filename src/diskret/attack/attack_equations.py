"""Attack equations between unknown cells: an interval of each, and tables that show it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.component import (
    Attacked,
    Component,
    Start,
    attack_component,
    exact_ones,
    shown_in_time,
)
from diskret.attack.equations import Equations, cell_name, equations
from diskret.attack.exact import LIMIT, UNKNOWN, Point
from diskret.attack.examination import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.moves import Moves, Proposals, joined, proposed_moves, starting_table
from diskret.attack.put_together import ComponentPoints, put_together
from diskret.attack.reduction import Reduction, reduce
from diskret.attack.search import Wanted
from diskret.attack.witnesses import Witnesses
from diskret.deadline import NEVER, Deadline
from diskret.errors import ContradictionError, InputError
from diskret.graphs import connected
from diskret.parallel import in_order, meanwhile
from diskret.progress import Progress, silent
from diskret.tables import Publication
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.attack.attacker import Attacker


def known_beforehand(
    publication: Publication, attacker: Attacker, original: NDArray[np.int64] | None
) -> tuple[Equations, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The equations between unknown cells, and their bounds; changed values are refused."""
    for table in publication.tables:
        if table.changed:
            raise InputError(
                f"the values of {table.name!r} were changed before they were published, so no "
                "equation between them tells anything; attack what they stand for: "
                "tables.perturbed.stands_for(published, dk.Perturbed(...))"
            )
    known = equations(publication)
    return known, unknown_bounds(publication, known, attacker, original)


def attack_equations(
    publication: Publication,
    known: Equations,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    targets: Targets | None,
    progress: Progress = silent,
    *,
    original: NDArray[np.int64] | None = None,
    proposals: Proposals | None = None,
    earlier: dict[bytes, Attacked] | None = None,
    deadline: Deadline = NEVER,
    quick: bool = False,
) -> Examination:
    """The attacker's intervals, with witnesses, from equations and bounds of the unknown cells.

    known, bounds: the intervals are those of the cells that `Equations.hidden` marks.
    quick: only what single equations say, which takes no time; then `deadline` ends the search for
        witnesses. Else raises `OutOfTime` at the deadline.
    """
    lower, upper = bounds

    def begin() -> None:
        progress("attack", 0, 2 * len(lower))

    begin()
    reduced = meanwhile(lambda: reduce(known.matrix, known.right, lower, upper), begin)
    if len(reduced.impossible):
        raise _contradiction(publication, known.cell[reduced.impossible])

    whole = publication.tables[0].frequency
    asked = np.zeros(reduced.link.shape[1], dtype=bool)
    asked[reduced.link[np.flatnonzero(known.hidden)].indices] = True
    far = _far(publication, reduced, targets)
    wanted = None if targets is None else _wanted(reduced, known, targets)
    value, given = starting_table(original, known, reduced)
    proposed = meanwhile(
        lambda: _proposed(proposals, publication, known, reduced, original is not None), begin
    )
    low = np.where(reduced.lower > -UNKNOWN, reduced.lower, -np.inf)
    high = np.where(reduced.upper < UNKNOWN, reduced.upper, np.inf)
    exact = np.ones(len(low), dtype=bool)
    settled: deque[int] = deque()
    done = 0

    def tell() -> None:
        nonlocal done
        while settled:
            done += settled.popleft()
        progress("attack", done, 2 * len(low))

    def settle(number: int) -> None:
        if not quick:
            deadline.check()
        settled.append(number)

    def attacked(component: Component, exactly: bool) -> Attacked:
        own = component.unknown
        start = Start(value[own], given[own], proposed.of(own))
        claimed = None if wanted is None else wanted.at(own)
        how = exactly, asked[own], start, claimed, whole, far
        if quick:
            return shown_in_time(component, *how, settle, deadline)
        if earlier is None or not exactly:
            return attack_component(component, *how, settle, deadline)
        mark = component.mark(*how)
        if mark in earlier:
            settled.append(2 * len(own))
        else:
            earlier[mark] = attack_component(component, *how, settle, deadline)
        return earlier[mark]

    loose, components = _components(reduced)
    parts = [ComponentPoints(loose, _ends(reduced, loose, far))]
    settled.append(2 * len(loose))
    exactly = exact_ones(components, asked)
    small = [c for c, chosen in zip(components, exactly, strict=True) if chosen]
    large = [c for c, chosen in zip(components, exactly, strict=True) if not chosen]
    # large ones use all cores themselves
    results = chain(
        in_order(lambda component: attacked(component, True), small, tell),
        in_order(lambda component: attacked(component, False), large, tell, workers=1),
    )
    for component in (*small, *large):
        own = component.unknown
        try:
            found = next(results)
        except ContradictionError as error:
            cells = np.unique(reduced.link[:, own].nonzero()[0])
            raise _contradiction(publication, known.cell[cells]) from error
        low[own], high[own], exact[own] = found.lower, found.upper, found.exact
        parts.append(ComponentPoints(own, found.points))
        tell()
    tell()

    witnesses = meanwhile(lambda: put_together(parts, known, reduced, bounds), tell)
    return replace(_examination(known, reduced, low, high, exact, witnesses), quick=quick)


def _proposed(
    proposals: Proposals | None,
    publication: Publication,
    known: Equations,
    reduced: Reduction,
    original: bool,
) -> Moves:
    """What was proposed, as moves of the unknowns."""
    if proposals is None:
        return joined([], reduced.link.shape[1])
    if not original:
        raise InputError(
            "proposals are differences from the original values; pass these as original="
        )
    return proposed_moves(proposals, int(publication.starts[-1]), known, reduced)


def _examination(
    known: Equations,
    reduced: Reduction,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    exact: NDArray[np.bool_],
    witnesses: Witnesses,
) -> Examination:
    """Intervals of the unknowns as intervals of the cells, joined with the witnesses."""
    shown_low, shown_high = witnesses.extremes()

    lower = reduced.offset.astype(np.float64)
    upper = lower.copy()
    linked, unknown = reduced.link.nonzero()
    sign = reduced.link.data
    lower[linked] += np.where(sign > 0, low[unknown], -high[unknown])
    upper[linked] += np.where(sign > 0, high[unknown], -low[unknown])
    ends = np.ones(len(known.cell), dtype=bool)
    ends[linked] = exact[unknown]
    return Examination(
        cell=known.cell[known.hidden],
        lower=np.minimum(lower[known.hidden], shown_low),
        upper=np.maximum(upper[known.hidden], shown_high),
        witness_lower=shown_low,
        witness_upper=shown_high,
        witnesses=witnesses,
        exact=ends[known.hidden],
    )


def _contradiction(publication: Publication, cells: NDArray[np.int64]) -> ContradictionError:
    shown = cells[cells < publication.starts[-1]]
    names = "; ".join(cell_name(publication, int(cell)) for cell in shown[:5])
    number = Count(len(cells))
    return ContradictionError(
        f"table {publication.name!r}: no values of the unknown cells satisfy all equations and "
        f"bounds; {number} {number:cell is|cells are} involved, e.g. {names}. An attack on values "
        "that contradict each other proves nothing: correct the published values or the bounds"
    )


# ── from cells to unknowns ───────────────────────────────────────────────────────────


def _wanted(reduced: Reduction, known: Equations, targets: Targets) -> Wanted:
    """Targets of suppressed cells as targets of the unknowns that they follow."""
    limit = LIMIT // 4
    low, high, width = (
        np.clip(array, -limit, limit) for array in (targets.low, targets.high, targets.width)
    )
    link = reduced.link[np.flatnonzero(known.hidden)]
    cell, unknown = link.nonzero()
    falling, offset = link.data < 0, reduced.offset[known.hidden][cell]
    n = link.shape[1]
    wanted = Wanted(np.full(n, limit), np.full(n, -limit), np.zeros(n, np.int64))
    np.minimum.at(wanted.low, unknown, np.where(falling, offset - high[cell], low[cell] - offset))
    np.maximum.at(wanted.high, unknown, np.where(falling, offset - low[cell], high[cell] - offset))
    np.maximum.at(wanted.width, unknown, width[cell])
    return wanted


def _far(publication: Publication, reduced: Reduction, targets: Targets | None) -> int:
    """A distance that takes every unknown beyond all published values, bounds and targets."""
    shown = publication.value[~publication.suppressed]
    sizes = [np.abs(shown).max(initial=1), np.abs(reduced.offset).max(initial=0)]
    for bound in (reduced.lower, reduced.upper):
        sizes.append(np.abs(bound[np.abs(bound) < UNKNOWN]).max(initial=0))
    if targets is not None:
        sizes += [a.max(initial=0) for a in (-targets.low, targets.high, targets.width)]
    return min(10 * max(int(size) for size in sizes), LIMIT // 64)


def _components(reduced: Reduction) -> tuple[NDArray[np.int64], list[Component]]:
    """Unknowns without equations, and the connected components of the others."""
    matrix = reduced.matrix
    m, n = matrix.shape
    graph = sparse.block_array([[None, matrix], [matrix.T, None]])
    label = connected(graph)
    used = np.isin(np.arange(n), matrix.indices)
    components: list[Component] = []
    for number in np.unique(label[m:][used]):
        members = np.flatnonzero(label == number)
        rows, unknown = members[members < m], members[members >= m] - m
        components.append(
            Component(
                unknown,
                sparse.csr_array(matrix[rows][:, unknown]),
                reduced.right[rows],
                reduced.lower[unknown],
                reduced.upper[unknown],
            )
        )
    return np.flatnonzero(~used), components


def _ends(reduced: Reduction, loose: NDArray[np.int64], far: int) -> list[Point]:
    """Two points with all unknowns that no equation restrains at their ends."""
    lower, upper = reduced.lower[loose], reduced.upper[loose]
    no_lower, no_upper = lower == -UNKNOWN, upper == UNKNOWN
    low = np.where(no_lower, np.where(no_upper, 0, upper) - far, lower)
    high = np.where(no_upper, np.where(no_lower, 0, lower) + far, upper)
    return [Point(low, 1), Point(high, 1)]
