"""Attack a connected part of a publication: all of it, or of a large one what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, UNKNOWN, Point
from diskret.attack.linear_programme import Answer, LinearProgramme
from diskret.attack.moves import Moves, completed, joined, packed, possible
from diskret.attack.search import Wanted, search
from diskret.attack.small_windows import Shown, show
from diskret.attack.surroundings import outer_bounds
from diskret.attack.witnesses import Witnesses
from diskret.deadline import NEVER, Deadline, OutOfTime

#: Questions times squared unknowns, over all components, up to which the exact interval of every
#: unknown is computed; some ten seconds.
EXACT_WORK = 2.0 * 10**10
#: Unknowns up to which a search begins with nothing.
_SMALL = 250
#: Broken numbers at a vertex up to which whole ones are looked for around it.
_BROKEN = 100


@dataclass(frozen=True, eq=False)
class Component:
    """Unknowns that equations connect, and these equations; see `LinearProgramme`."""

    unknown: NDArray[np.int64]
    matrix: sparse.csr_array
    right: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]

    def programme(self, deadline: Deadline = NEVER) -> LinearProgramme:
        """The linear programme of all of it."""
        return LinearProgramme(self.matrix, self.right, self.lower, self.upper, deadline=deadline)

    def mark(
        self,
        exact: bool,
        asked: NDArray[np.bool_],
        start: Start,
        wanted: Wanted | None,
        whole: bool,
        far: int,
    ) -> bytes:
        """The same for all attacks of which everything is the same, wherever the unknowns stand."""
        mark = blake2b(repr((self.matrix.shape, exact, whole, far, wanted is None)).encode())
        claimed = () if wanted is None else (wanted.low, wanted.high, wanted.width)
        moves = start.proposed
        for array in (
            *(self.matrix.indptr, self.matrix.indices, self.matrix.data),
            *(self.right, self.lower, self.upper, asked, start.value, start.given, *claimed),
            *(moves.steps.indptr, moves.steps.indices, moves.steps.data, moves.denominator),
        ):
            mark.update(repr((len(array), array.dtype)).encode())
            mark.update(array.tobytes())
        return mark.digest()


@dataclass(frozen=True, eq=False)
class Start:
    """What is known of a component before it is attacked. Confidential.

    value, given: original values of the unknowns, and where these are known, ``(n,)``.
    proposed: moves from the original values that may show something.
    """

    value: NDArray[np.int64]
    given: NDArray[np.bool_]
    proposed: Moves


@dataclass(frozen=True, eq=False)
class Attacked:
    """What an attack on a component found.

    lower, upper: no table goes beyond these, ``(n,)``, float64.
    points: tables that show it.
    exact: whether some table reaches, or comes close to, all these bounds of asked unknowns.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    points: Sequence[Point] | Witnesses
    exact: bool


def exact_ones(components: Sequence[Component], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which components are small enough for all their intervals to be computed, the smallest first.

    The work is counted, not timed, and does not depend on what is claimed, so that everybody
    who attacks the same publication decides alike.

    asked: whose intervals matter, bool, of all unknowns.
    """
    work = np.array([2.0 * asked[c.unknown].sum() * len(c.unknown) ** 2 for c in components])
    order = np.argsort(work, kind="stable")
    exact = np.zeros(len(components), dtype=bool)
    exact[order] = np.cumsum(work[order]) <= EXACT_WORK
    return exact


def attack_component(
    component: Component,
    exact: bool,
    asked: NDArray[np.bool_],
    start: Start,
    wanted: Wanted | None,
    whole: bool,
    far: int,
    tick: Callable[[int], None],
    deadline: Deadline = NEVER,
) -> Attacked:
    """Find the interval of every asked unknown, or outer bounds of it.

    Bounds do not depend on what is wanted, nor on the start. With outer bounds points are
    sought only for what is wanted, near the original table where that is known.

    asked: whose intervals matter, bool, ``(n,)``.
    wanted: how far unknowns should be able to move, if anybody wants to know.
    far: how far an unknown without end is moved to show that it has none.
    deadline: raises `OutOfTime` then.
    """
    if exact:
        points = _points_before(component, asked, start, wanted, whole, tick, deadline)
        finding = search(component.programme(deadline), whole, far, asked, wanted, tick, points)
        return Attacked(finding.lower, finding.upper, finding.needed, True)
    n = len(component.unknown)
    lower, upper = np.empty(n), np.empty(n)
    for block, low, high in outer_bounds(
        component.matrix, component.right, component.lower, component.upper, asked, deadline
    ):
        lower[block], upper[block] = low, high
        tick(2 * len(block))
    base = completed(component.programme(deadline), start.value, start.given)
    proposed = start.proposed
    if base is None:
        vertex = component.programme(deadline).begin()  # is there any table at all?
        base, proposed = _near(component, vertex, deadline), joined([], n)
        if base is None:
            points = [] if whole or vertex.point is None else [vertex.point]
            return Attacked(lower, upper, points, False)
    points = _points_around(
        component, base, proposed, asked, (lower, upper), wanted, whole, tick, deadline
    )
    deadline.check()  # points that were not looked for are no answer
    return Attacked(lower, upper, points, False)


def shown_in_time(
    component: Component,
    exact: bool,
    asked: NDArray[np.bool_],
    start: Start,
    wanted: Wanted | None,
    whole: bool,
    far: int,
    tick: Callable[[int], None],
    deadline: Deadline,
) -> Attacked:
    """What single equations say of a component, and points for what is wanted, as time permits.

    Bounds depend on the publication alone, so everybody finds the same; points that are missing
    are for the judge of the attack to see. Parameters as of `attack_component`.
    """
    bounds = _known_bounds(component)
    nothing = Attacked(*bounds, [], False)
    try:
        base = completed(component.programme(deadline), start.value, start.given)
        if base is None:
            # totals were rounded on their own: the original values are no table to begin with
            if exact:
                none = replace(start, proposed=joined([], len(component.unknown)))
                return replace(
                    attack_component(
                        component, True, asked, none, wanted, whole, far, tick, deadline
                    ),
                    lower=bounds[0],
                    upper=bounds[1],
                    exact=False,
                )
            base = _near(component, component.programme(deadline).begin(), deadline)
            start = replace(start, proposed=joined([], len(component.unknown)))
        if base is None:
            return nothing
    except OutOfTime:
        return nothing
    points = _points_around(
        component, base, start.proposed, asked, bounds, wanted, whole, tick, deadline
    )
    tick(2 * len(component.unknown))
    return replace(nothing, points=points)


def _points_around(
    component: Component,
    base: NDArray[np.int64],
    proposed: Moves,
    asked: NDArray[np.bool_],
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
    wanted: Wanted | None,
    whole: bool,
    tick: Callable[[int], None],
    deadline: Deadline,
) -> Sequence[Point] | Witnesses:
    """Points near a table that show what is wanted, by moves that are proposed or looked for."""
    if wanted is None:
        return [Point(base, 1)]
    known = _kept(component, proposed, base, whole)
    shown = Shown(wanted, asked, *bounds, *known.extremes(base))
    moves = _moves_wanted(component, base, shown, whole, tick, component.programme, deadline)
    return packed(joined([known, moves], len(base))).tables(base)


def _known_bounds(component: Component) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return (
        np.where(component.lower > -UNKNOWN, component.lower, -np.inf),
        np.where(component.upper < UNKNOWN, component.upper, np.inf),
    )


def _points_before(
    component: Component,
    asked: NDArray[np.bool_],
    start: Start,
    wanted: Wanted | None,
    whole: bool,
    tick: Callable[[int], None],
    deadline: Deadline,
) -> list[Point]:
    """Points near the original table that spare a search what they show."""
    n = len(component.unknown)
    sought = wanted if n > _SMALL else None
    if sought is None and not start.proposed.steps.shape[0]:
        return []
    base = completed(component.programme(deadline), start.value, start.given)
    if base is None:
        return []
    moves = _kept(component, start.proposed, base, whole)
    if sought is not None:
        shown = Shown(sought, asked, *_known_bounds(component), *moves.extremes(base))
        more = _moves_wanted(component, base, shown, whole, tick, None, deadline)
        moves = joined([moves, more], n)
    return packed(moves).points(base)


def _kept(component: Component, moves: Moves, base: NDArray[np.int64], whole: bool) -> Moves:
    """The possible ones among moves that were proposed, as far as they show something."""
    if whole:
        moves = moves.only(moves.denominator == 1)
    found = possible(moves, base, component.matrix, component.lower, component.upper)
    return found.only(found.farthest(base))


def _moves_wanted(
    component: Component,
    base: NDArray[np.int64],
    shown: Shown,
    whole: bool,
    tick: Callable[[int], None],
    programme: Callable[[Deadline], LinearProgramme] | None,
    deadline: Deadline = NEVER,
) -> Moves:
    """Moves that show what is open, where numbers are small enough to be added up."""
    matrix, lower, upper = component.matrix, component.lower, component.upper
    if not _adds_up(matrix, base):
        return joined([], len(base))
    return show(programme, base, matrix, lower, upper, shown, whole, tick, deadline)


def _near(
    component: Component, vertex: Answer, deadline: Deadline = NEVER
) -> NDArray[np.int64] | None:
    """Whole numbers that satisfy everything, not far from a vertex, or None."""
    point = vertex.point
    if (point is None or point.denominator > 1) and int(vertex.broken.sum()) <= _BROKEN:
        point = component.programme(deadline).whole_near(vertex.vertex, {})
    return point.numerator if point is not None and point.denominator == 1 else None


def _adds_up(matrix: sparse.csr_array, base: NDArray[np.int64]) -> bool:
    """Whether windows of a table can be added up in 64-bit integers."""
    terms = int(np.diff(matrix.indptr).max(initial=1)) * int(np.abs(matrix.data).max(initial=1))
    return float(np.abs(base).max(initial=0)) * terms < LIMIT // 4
