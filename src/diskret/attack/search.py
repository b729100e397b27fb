"""How far each unknown of one component can move, with points that show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from diskret.attack.exact import LIMIT, UNKNOWN, Point
from diskret.attack.linear_programme import Answer, LinearProgramme
from diskret.attack.solver import doubt
from diskret.errors import ContradictionError

#: Steps from a vertex to a simpler one, and faces on which to look for it.
_STEPS = 10
_FACES = 3
#: Bounds that a random direction has to show for another one to be tried.
_WORTHWHILE = 4
#: How much more the unknown in question counts than the pull towards the first vertex.
_STRONGER = 1000.0
#: Unknowns up to which simple points are sought at all ends, not only where they are wanted.
_SMALL = 150
#: Nodes of branch and bound over a whole component.
_NODES = 500


@dataclass(frozen=True, eq=False)
class Wanted:
    """How far each unknown should be able to move, ``(n,)``, int64 each; see `Targets`."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    width: NDArray[np.int64]

    def at(self, unknown: NDArray[np.int64]) -> Wanted:
        """The same for some of the unknowns."""
        return Wanted(self.low[unknown], self.high[unknown], self.width[unknown])


@dataclass(eq=False)
class SearchResult:
    """What is known about the unknowns of a component; grows while they are searched.

    lower, upper: no table goes beyond these, ``(n,)``, float64.
    low, high: the farthest values that points show, ``(n,)``, float64; made by `add`.
    shows_low, shows_high: which point shows them, ``(n,)``, int64; -1 for none.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    points: list[Point] = field(default_factory=list[Point])

    def __post_init__(self) -> None:
        n = len(self.lower)
        self.low, self.high = np.full(n, np.inf), np.full(n, -np.inf)
        self.shows_low, self.shows_high = np.full(n, -1), np.full(n, -1)

    def add(self, point: Point) -> None:
        """Keep a point if it shows something new."""
        value = point.numerator / point.denominator
        lower, higher = value < self.low, value > self.high
        if lower.any() or higher.any():
            self.shows_low[lower] = self.shows_high[higher] = len(self.points)
            self.low[lower], self.high[higher] = value[lower], value[higher]
            self.points.append(point)

    @property
    def needed(self) -> list[Point]:
        """The points that show an extreme value of some unknown."""
        shown = np.union1d(self.shows_low, self.shows_high)
        return [self.points[i] for i in shown.tolist() if i >= 0]

    def shown(self, unknown: int, sign: int) -> bool:
        """Whether a point lies on the bound of an unknown."""
        if sign > 0:
            return bool(self.high[unknown] >= self.upper[unknown])
        return bool(self.low[unknown] <= self.lower[unknown])

    def tighten(self, unknown: int, sign: int, value: float) -> None:
        """No table takes an unknown beyond a value."""
        if sign > 0:
            self.upper[unknown] = min(self.upper[unknown], value)
        else:
            self.lower[unknown] = max(self.lower[unknown], value)


def search(
    programme: LinearProgramme,
    whole: bool,
    far: int,
    asked: NDArray[np.bool_],
    wanted: Wanted | None = None,
    tick: Callable[[int], None] = lambda done: None,
    known: Sequence[Point] = (),
    enough: bool = False,
) -> SearchResult:
    """Find the interval of every unknown of a component, and points at its ends.

    whole: only points of whole numbers count, and bounds are rounded inwards.
    far: how far an unknown without end is moved to show that it has none.
    asked: whose intervals are of interest, bool, ``(n,)``. What is found about the others is true,
        but need not be all.
    wanted: where to try harder, by branch and bound, if points fall short. The bounds do not depend
        on it.
    known: exact tables that are known already; what they show is not asked again.
    enough: whether nothing more is asked of an unknown once points show what is wanted of it.
    """
    questions = _Search(programme, whole, far, asked)
    for point in known:
        questions.finding.add(point)
    return questions.run(wanted, tick, enough)


class _Search:
    """The steps of a search; they share a programme, a first vertex and what was found."""

    def __init__(self, programme: LinearProgramme, whole: bool, far: int, asked: NDArray[np.bool_]):
        self.programme, self.whole, self.far, self.asked = programme, whole, far, asked
        self.finding = SearchResult(
            np.where(programme.lower > -UNKNOWN, programme.lower, -np.inf),
            np.where(programme.upper < UNKNOWN, programme.upper, np.inf),
        )
        self.size = len(programme.lower)
        self.random = np.random.default_rng(0)
        self.pull = self._towards_simple_vertex()
        self._keep(programme.farthest(self.pull).point)
        self.home = programme.basis()

    def run(self, wanted: Wanted | None, tick: Callable[[int], None], enough: bool) -> SearchResult:
        """Settle every question, the cheap ones first."""
        endless = {sign: self._endless(sign) for sign in (1, -1)}
        self._sweep()
        for unknown in range(self.size):
            for sign in (1, -1):
                settled = endless[sign][unknown] or self.finding.shown(unknown, sign)
                if enough and wanted is not None:
                    settled |= self._met(unknown, wanted)
                if self.asked[unknown] and not settled:
                    self._ask(unknown, sign, wanted)
            tick(2)
        if wanted is not None:
            self._try_harder(wanted)
        return self.finding

    def _keep(self, point: Point | None) -> None:
        if point is not None and (point.denominator == 1 or not self.whole):
            self.finding.add(point)

    # ── where questions start ───────────────────────────────────────────────────────

    def _towards_simple_vertex(self) -> NDArray[np.float64]:
        """A direction whose end is a vertex of whole numbers, or nearly so.

        Questions that start there end at vertices that are mostly whole, too. To find it, go
        on from whole numbers near any vertex to a vertex of the face they lie on.
        """
        programme = self.programme
        answer = self._walk(programme)
        for _ in range(_FACES):
            if not answer.broken.any():
                break
            point = programme.whole_near(answer.vertex, {})
            if point is None:
                point = self._farthest_whole(programme, 0, 0)
            if point is None:
                break
            self._keep(point)
            programme = self.programme.face(point)
            answer = self._walk(programme)
        x = np.rint(answer.vertex)
        at_bounds = (x == self.programme.upper).astype(float) - (x == self.programme.lower)
        return at_bounds * (1 + self.random.random(self.size))

    def _farthest_whole(self, programme: LinearProgramme, unknown: int, sign: int) -> Point | None:
        """As of the programme; that there are no whole numbers contradicts counts alone."""
        try:
            return programme.farthest_whole(unknown, sign, _NODES)
        except ContradictionError:
            if self.whole:
                raise
            return None

    def _walk(self, programme: LinearProgramme) -> Answer:
        """From a random vertex to one with fewer broken numbers."""
        answer = programme.farthest(self.random.choice([-1.0, 1.0], self.size))
        basis = programme.basis()
        for attempt in range(_STEPS):
            broken = answer.broken
            if not broken.any():
                break
            direction = np.where(broken, self.random.choice([-1.0, 1.0], self.size), 0.0)
            if attempt % 2:
                direction[self.random.random(self.size) < 0.5] = 0.0
            other = programme.farthest(direction, basis)
            if other.broken.sum() <= broken.sum():
                answer, basis = other, programme.basis()
        return answer

    # ── many questions at once ──────────────────────────────────────────────────────

    def _endless(self, sign: int) -> NDArray[np.bool_]:
        """Unknowns that a ray shows to have no end on one side; one ray shows it for many."""
        endless = np.zeros(self.size, dtype=bool)
        open_ = self.asked & np.isinf(self.finding.upper if sign > 0 else self.finding.lower)
        while (open_ & ~endless).any():
            answer = self.programme.farthest(sign * (open_ & ~endless).astype(float))
            if answer.ray is None or not (open_ & ~endless & (sign * answer.ray > 0)).any():
                break
            self._follow(answer.ray)
            endless |= sign * answer.ray > 0
        return endless

    def _follow(self, ray: NDArray[np.int64]) -> None:
        if self.finding.points:
            start = self.finding.points[0]
            steps = self.far * start.denominator
            longest = float(np.abs(ray).max()) * steps + float(np.abs(start.numerator).max())
            there = Point(start.numerator + steps * ray, start.denominator)
            if longest < LIMIT and self.programme.holds(there):
                self._keep(there)

    def _sweep(self) -> None:
        """Random directions, as long as each shows several bounds."""
        found = self.finding
        gained = _WORTHWHILE
        while gained >= _WORTHWHILE:
            up = self.asked & (found.high < found.upper) & np.isfinite(found.upper)
            down = self.asked & (found.low > found.lower) & np.isfinite(found.lower)
            either = self.random.choice([-1.0, 1.0], self.size)
            direction = np.where(up & down, either, up.astype(float) - down)
            self._keep(self.programme.farthest(direction, self.home).point)
            still_up, still_down = found.high < found.upper, found.low > found.lower
            gained = (up & ~still_up).sum() + (down & ~still_down).sum()

    # ── one question ────────────────────────────────────────────────────────────────

    def _ask(self, unknown: int, sign: int, wanted: Wanted | None) -> None:
        answer = self.programme.farthest(self._towards(unknown, sign), self.home)
        if not answer.bounded:
            if answer.ray is not None:
                self._follow(answer.ray)
            return
        self.finding.tighten(unknown, sign, self._end(answer, unknown, sign))
        self._keep(answer.point)
        if self.finding.shown(unknown, sign):
            return
        of_use = wanted is not None and self._worth_trying(unknown, sign, wanted)
        if self.size <= _SMALL or of_use:
            self._end_simply(unknown, sign)

    def _towards(self, unknown: int, sign: float) -> NDArray[np.float64]:
        direction = np.zeros(self.size)
        direction[unknown] = sign
        return direction

    def _end(self, answer: Answer, unknown: int, sign: int) -> float:
        """The value of the unknown at its end, rounded inwards for whole numbers."""
        if answer.point is None:
            value = float(answer.vertex[unknown])
            near = round(value)
            if abs(value - near) <= doubt(answer.vertex[unknown]):
                return float(near)
            return float(floor(value) if sign > 0 else ceil(value)) if self.whole else value
        numerator, denominator = int(answer.point.numerator[unknown]), answer.point.denominator
        if self.whole:
            return float(sign * (sign * numerator // denominator))
        return numerator / denominator

    def _end_simply(self, unknown: int, sign: int) -> None:
        """Look for simpler numbers with the unknown at its end and most others where they were."""
        direction = self.pull + self._towards(unknown, sign * _STRONGER)
        near = self.programme.farthest(direction, self.home)
        self._keep(near.point)
        end = float((self.finding.upper if sign > 0 else self.finding.lower)[unknown])
        if not self.finding.shown(unknown, sign) and end.is_integer():
            self._keep(self.programme.whole_near(near.vertex, {unknown: int(end)}))

    def _met(self, unknown: int, wanted: Wanted) -> bool:
        low, high = self.finding.low[unknown], self.finding.high[unknown]
        far = low <= wanted.low[unknown] and high >= wanted.high[unknown]
        return bool(far and high - low >= wanted.width[unknown])

    # ── the last resort ─────────────────────────────────────────────────────────────

    def _try_harder(self, wanted: Wanted) -> None:
        """Branch and bound where points fall short of what is wanted and the bound does not."""
        for unknown, sign in product(np.flatnonzero(self.asked).tolist(), (1, -1)):
            if self._worth_trying(unknown, sign, wanted):
                self._keep(self._farthest_whole(self.programme, unknown, sign))

    def _worth_trying(self, unknown: int, sign: int, wanted: Wanted) -> bool:
        """Whether a better point may exist on one side, and would be of use."""
        found = self.finding
        bound = found.upper[unknown] if sign > 0 else found.lower[unknown]
        if np.isinf(bound) or found.shown(unknown, sign):
            return False
        if found.high[unknown] - found.low[unknown] < wanted.width[unknown]:
            return True
        if sign > 0:
            return bool(found.high[unknown] < wanted.high[unknown] <= bound)
        return bool(found.low[unknown] > wanted.low[unknown] >= bound)
