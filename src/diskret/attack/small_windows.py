"""Show what is wanted of a large component by moving few unknowns at a time, in small windows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, Point, product, times
from diskret.attack.linear_programme import Answer, LinearProgramme
from diskret.attack.moves import Moves, joined
from diskret.attack.search import Wanted
from diskret.attack.surroundings import Surroundings
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import ContradictionError, ProofError
from diskret.parallel import in_order

#: Unknowns of a block looked at together at first.
_BLOCK = 60
#: Unknowns that may move for what this does not show, how many times more then, and
#: how many at most before all of them may.
_FIRST, _MORE, _LARGEST = 1_500, 4, 10_000
#: An unknown may move by this many times the largest move that is asked for nearby.
_ROOM = 8
#: Unknowns that a random direction has to settle for another one to be tried.
_WORTHWHILE = 4
#: Nodes of branch and bound, in blocks of counts.
_NODES = 200
#: Broken numbers at a vertex of more unknowns beyond which whole ones are not looked for.
_BROKEN = 200
#: Unknowns times questions after which what needs everything to move is given up.
_LARGEST_WORK = 10**6

#: Unknowns and a point of them.
Step = tuple[NDArray[np.int64], Point]


@dataclass(eq=False)
class Shown:
    """What is wanted of the unknowns of a component, and what is shown so far.

    wanted: how far each has to be able to move.
    asked: of which unknowns that matters, bool, ``(n,)``.
    lower, upper: no table goes beyond these, ``(n,)``, float64.
    low, high: the farthest values shown, ``(n,)``, float64.
    """

    wanted: Wanted
    asked: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def open(self, among: NDArray[np.int64] | None = None) -> dict[int, NDArray[np.bool_]]:
        """Which unknowns (among some) still have to move up (1) and down (−1).

        Those for which that is excluded are not open.
        """
        at = slice(None) if among is None else among
        rise, fall, narrow = self._lacking(at)
        up, down = self.high[at] < self.upper[at], self.low[at] > self.lower[at]
        return {1: rise | narrow & up, -1: fall | narrow & down}

    def _lacking(
        self, at: NDArray[np.int64] | slice
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which unknowns still have to rise, to fall and to be wider, as far as they can."""
        low, high, lower, upper = self.low[at], self.high[at], self.lower[at], self.upper[at]
        wanted, asked = self.wanted, self.asked[at]
        rise = asked & (high < wanted.high[at]) & (upper >= wanted.high[at])
        fall = asked & (low > wanted.low[at]) & (lower <= wanted.low[at])
        narrow = asked & (high - low < wanted.width[at]) & (upper - lower >= wanted.width[at])
        return rise, fall, narrow

    def goal(self, unknown: int, sign: int) -> float:
        """The value that an open unknown has to reach on one side, and no farther."""
        rise, fall, narrow = (bool(of[0]) for of in self._lacking(np.array([unknown])))
        width, goals = self.wanted.width[unknown], list[float]()
        if sign > 0:
            goals += [self.wanted.high[unknown]] * rise
            goals += [min(self.low[unknown] + width, self.upper[unknown])] * narrow
            return float(max(goals))
        goals += [self.wanted.low[unknown]] * fall
        goals += [max(self.high[unknown] - width, self.lower[unknown])] * narrow
        return float(min(goals))

    def at(self, unknowns: NDArray[np.int64], mine: NDArray[np.bool_]) -> Shown:
        """The same for some unknowns, only some of which matter, ``mine``."""
        return Shown(
            self.wanted.at(unknowns),
            self.asked[unknowns] & mine,
            self.lower[unknowns],
            self.upper[unknowns],
            self.low[unknowns],
            self.high[unknowns],
        )

    def see(self, unknowns: NDArray[np.int64], value: NDArray[np.float64]) -> bool:
        """Take note of a point's values; whether an open unknown gets farther by it."""
        sides = self.open(unknowns)
        higher = sides[1] & (value > self.high[unknowns])
        lower = sides[-1] & (value < self.low[unknowns])
        self.high[unknowns] = np.maximum(self.high[unknowns], value)
        self.low[unknowns] = np.minimum(self.low[unknowns], value)
        return bool(higher.any() or lower.any())


def show(
    programme: Callable[[Deadline], LinearProgramme] | None,
    base: NDArray[np.int64],
    matrix: sparse.csr_array,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    shown: Shown,
    whole: bool,
    tick: Callable[[int], None],
    deadline: Deadline = NEVER,
) -> Moves:
    """Look for moves that show what is open, first in small windows, then in larger ones.

    In a window few unknowns move and all others keep the value of a known table, so that every
    point of the window is one of the whole component.

    programme: makes a programme of the whole component, for what no window shows; None: that is
        left.
    base: a table that satisfies all equations and bounds, ``(n,)``, int64.
    shown: what is wanted and shown; brought up to date.
    deadline: nothing more is looked for then; what was found counts.
    """
    n = len(base)
    windows = _Windows(base, matrix, lower, upper, whole, deadline)
    found: list[Moves] = []

    def look(pieces: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> None:
        jobs = [(window, shown.at(window, np.isin(window, mine))) for window, mine in pieces]
        for steps in in_order(lambda job: windows.look(*job), jobs):
            for unknowns, point in steps:
                if shown.see(unknowns, point.numerator / point.denominator):
                    found.append(_as_moves(base, unknowns, point))
            tick(0)
            if deadline.passed:
                return

    near = Surroundings(matrix)
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    left = _either(shown.open())
    for block in near.blocks(_BLOCK):
        mine = block[left[block]]
        if len(mine):
            pieces.append((near.unknowns(near.rows(mine)), mine))
    look(pieces)
    size = _FIRST
    while size < min(n, _LARGEST) and not deadline.passed:
        look(_around(near, np.flatnonzero(_either(shown.open())), size, n))
        size *= _MORE
    left = np.flatnonzero(_either(shown.open()))[: max(1, _LARGEST_WORK // n)]
    if len(left) and programme is not None and not deadline.passed:
        everything = np.arange(n)
        mine = np.isin(everything, left)
        all_of_it = programme(deadline)
        all_of_it.bounded = True
        with suppress(ContradictionError, ProofError, OutOfTime):
            all_of_it.begin()
        questions = _Questions(all_of_it, shown.at(everything, mine), whole)
        for point in questions.settle():
            if shown.see(everything, point.numerator / point.denominator):
                found.append(_as_moves(base, everything, point))
    return joined(found, n)


def _either(sides: dict[int, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return sides[1] | sides[-1]


def _around(
    near: Surroundings, open_: NDArray[np.int64], size: int, n: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Windows of a size around open unknowns; those near the middle are looked at together."""
    left = np.zeros(n, dtype=bool)
    left[open_] = True
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for unknown in open_.tolist():
        if left[unknown]:
            middle = near.grown(np.array([unknown]), max(1, size // 16))
            mine = middle[left[middle]]
            left[mine] = False
            pieces.append((near.grown(mine, size), mine))
    return pieces


def _as_moves(base: NDArray[np.int64], unknowns: NDArray[np.int64], point: Point) -> Moves:
    step = point.numerator - times(base[unknowns], point.denominator)
    moved = np.flatnonzero(step)
    row = np.zeros(len(moved), dtype=np.int64)
    steps = sparse.csr_array((step[moved], (row, unknowns[moved])), shape=(1, len(base)))
    return Moves(steps, np.array([point.denominator]))


class _Windows:
    """Programmes in which all but some unknowns keep their value."""

    def __init__(
        self,
        base: NDArray[np.int64],
        matrix: sparse.csr_array,
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        whole: bool,
        deadline: Deadline,
    ):
        self._deadline = deadline
        self.base, self.lower, self.upper, self.whole = base, lower, upper, whole
        self._by_row, self._by_column = matrix, sparse.csc_array(matrix)

    def look(self, window: NDArray[np.int64], shown: Shown) -> list[Step]:
        """Points of a window for what is open in it."""
        inside = sparse.csr_array(self._by_column[:, window])
        inside = sparse.csr_array(inside[np.flatnonzero(np.diff(inside.indptr))])
        base = self.base[window]
        room = min(_ROOM * _largest_need(shown, base), LIMIT // 4)
        low, high = self.lower[window], self.upper[window]
        if self._deadline.passed:
            return []
        programme = LinearProgramme(
            inside,
            product(inside, base).astype(np.int64),
            np.where(low > base - room, low, base - room),
            np.where(high < base + room, high, base + room),
            base,
            self._deadline,
            bounded=True,
        )
        return [(window, point) for point in _Questions(programme, shown, self.whole).settle()]


def _largest_need(shown: Shown, base: NDArray[np.int64]) -> int:
    """How far the farthest open unknown has to move, at least 1."""
    need = 1
    for sign, open_ in shown.open().items():
        for unknown in np.flatnonzero(open_).tolist():
            need = max(need, abs(int(shown.goal(unknown, sign)) - int(base[unknown])))
    return need


class _Questions:
    """Questions to one programme, many at once and then one by one, until nothing is open."""

    def __init__(self, programme: LinearProgramme, shown: Shown, whole: bool):
        self.programme, self.shown, self.whole = programme, shown, whole
        self.every = np.arange(len(programme.lower))
        self.random = np.random.default_rng(0)
        self.points: list[Point] = []

    def settle(self) -> list[Point]:
        """The points that show something new.

        There is a table, so a solver that finds none has lost its way: what it found before
        counts all the same.
        """
        with suppress(ContradictionError, ProofError, OutOfTime):
            self._settle()
        return self.points

    def _settle(self) -> None:
        gained = _WORTHWHILE
        while gained >= _WORTHWHILE:
            gained = self._sweep()
        for sign in (1, -1):
            for unknown in np.flatnonzero(self.shown.open()[sign]).tolist():
                if self.shown.open()[sign][unknown]:
                    self._ask(unknown, sign)

    def _keep(self, point: Point | None) -> None:
        if point is None or (self.whole and point.denominator > 1):
            return
        if self.shown.see(self.every, point.numerator / point.denominator):
            self.points.append(point)

    def _farthest(self, direction: NDArray[np.float64]) -> Answer | None:
        """None if the solver is in trouble; a table is known, so there is an answer."""
        with suppress(ContradictionError, ProofError):
            return self.programme.farthest(direction)
        return None

    def _take(self, answer: Answer | None) -> None:
        if answer is None or not answer.bounded:
            return
        self._keep(answer.point)
        if self._nearly_whole(answer) and answer.broken.any():
            self._keep(self.programme.whole_near(answer.vertex, {}))

    def _nearly_whole(self, answer: Answer) -> bool:
        """Whether whole numbers are looked for around a vertex."""
        few = len(self.every) <= _FIRST or int(answer.broken.sum()) <= _BROKEN
        return self.whole and answer.bounded and few

    def _sweep(self) -> int:
        """Move all that is open at once; how much that shows."""
        up, down = self.shown.open().values()
        before = int(up.sum() + down.sum())
        if before < _WORTHWHILE:
            return 0
        either = self.random.choice([-1.0, 1.0], len(up))
        self._take(self._farthest(np.where(up & down, either, up.astype(float) - down)))
        up, down = self.shown.open().values()
        return before - int(up.sum() + down.sum())

    def _ask(self, unknown: int, sign: int) -> None:
        direction = np.zeros(len(self.every))
        direction[unknown] = sign
        answer = self._farthest(direction)
        self._take(answer)
        if answer is None or not (self._nearly_whole(answer) and self.shown.open()[sign][unknown]):
            return
        goal = int(self.shown.goal(unknown, sign))
        if sign * (answer.vertex[unknown] - goal) > -1e-6:
            self._keep(self.programme.whole_near(answer.vertex, {unknown: goal}))
            if self.shown.open()[sign][unknown] and len(self.every) <= _FIRST:
                self._keep(self.programme.farthest_whole(unknown, sign, _NODES))
