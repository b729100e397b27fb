"""Rows of a file on their way: sweeps of small changes that become ever more choosy."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parallel import cores
from diskret.progress import Progress
from diskret.safe.checkpoint import Checkpoint, Standing, caps
from diskret.safe.costs import SCALE, Margin, Raised
from diskret.safe.layout import Layout
from diskret.safe.potential import Potential, potential
from diskret.safe.problem import SafeFile, SafeProblem

#: Temperature and wall stay as they are during a stage, and come down from one to the next.
STAGES = 60
#: The least temperature.
_COLD = 0.2
#: If new combinations may come up, they do after so many stages.
_FAITHFUL = 30
#: Tables of one variable weigh at least so much more than others.
_LIGHT = 3.0
#: Next rows in the order of a sweep among which a row looks for those that lie near it.
_WINDOW = 64
#: Of these it is changed together with the nearest ones: so many, and more once new combinations
#: may come up, because then each has several values to exchange.
_PARTNERS, _PARTNERS_NEW = 3, 6
#: Rows that are looked at together, at least and at most, and how many times more in parallel.
_LEAST, _BLOCK, _PARTS = 64, 1024, 8
#: Cells must not deviate by nearly as much as is told apart; this times the minimum is kept free.
_FAR = 12
#: Kinds of changes: alone, by less than the minimum, by more, exchanges. Those that are seldom
#: worth while are tried seldom, but at least so often.
_RARELY = 0.02
_WORTH = 300.0


class _Phase(NamedTuple):
    """How stages that follow each other go; pairs are at first and at last.

    `heat`: temperature for each table.
    `wall`: where the wall is, as a share of the largest deviation.
    `margin`: how much more tables of one variable weigh, which are few and looked at most; for each
        table, because that many others stand against them.
    `late`: the share of the phase after which this begins to change.
    `own`: whether these tables have their own wall, by their own largest deviation.
    """

    heat: tuple[float, float]
    wall: tuple[float, float]
    margin: tuple[float, float]
    late: float = 0.0
    own: tuple[float, float] | None = None


#: Without new combinations: tables of one variable are repaired when the others hardly move.
_ALONE = _Phase((1.8, 0.05), (1.0, 0.4), (0.007, 0.5), 0.75)
#: With new ones, before they come up: a value that is gone then cannot come back.
_BEFORE = _Phase((1.8, 0.03), (1.0, 0.5), (0.02, 0.5))
#: And afterwards: exchanges leave most tables of one variable as they are, and records are handed
#: over at first, so that these tables come first and stay.
_NEW = _Phase((0.05, 0.01), (0.7, 0.3), (0.5, 0.1), own=(0.5, 0.3))


@dataclass(frozen=True)
class Plan:
    """Sweeps of each stage, or the seconds that all take together; a first sweep is always done."""

    sweeps: tuple[int, ...] | None
    seconds: float | None

    def over(self, stage: int, done: int, seconds: float) -> bool:
        """Whether a stage has had its share."""
        if self.sweeps is not None:
            return done >= self.sweeps[stage]
        if not stage and not done:
            return False
        return seconds > (self.seconds or 0.0) * (stage + 1) / STAGES


class Run:
    """One search; rows are combinations that occur not at all or often enough.

    `problem`, `laid`: what is asked, and where its cells are.
    `plan`: how long.
    `checkpoint`: where to go on, and to keep where it stands.
    """

    def __init__(
        self,
        problem: SafeProblem,
        laid: Layout,
        seed: tuple[int, ...],
        plan: Plan,
        progress: Progress,
        checkpoint: Checkpoint | None,
    ):
        self.problem, self.laid, self.seed, self.plan = problem, laid, seed, plan
        self.progress, self.checkpoint = progress, checkpoint
        self.since = time.monotonic()
        at = checkpoint.load(problem, laid, STAGES) if checkpoint is not None else None
        at = self._first() if at is None else at
        self.opened = at.values is not None  # else the rows are those of the problem
        self.values = laid.values if at.values is None else at.values
        self.count, self.cap, self.rates = at.count, at.cap, at.rates
        self.sweeps, self.trace = list(at.sweeps), list(at.trace)
        self.since -= at.seconds
        self.state, self.off = laid.rest.copy(), np.zeros(laid.sums.size, dtype=np.int64)
        if self.opened:
            self._add(laid.values, problem.count, -1)
            self._add(self.values, self.count, 1)
        else:
            self._add(self.values, (self.count - problem.count).astype(np.int32), 1)
        self.trace = self.trace or [self.figures()]
        self.said = self._so_far(min(len(self.trace), STAGES) - 1)
        largest = int(np.abs(self.deviation).max(initial=0))
        if largest + _FAR * problem.minimum > laid.half:
            raise InputError(
                f"cells deviate by {largest} before the search begins, which is more than "
                "it can handle; name fewer or coarser tables"
            )
        rows = len(laid.values)
        self.block = min(max(_LEAST, rows // 8), _BLOCK)
        self.parts = max(1, min(_PARTS, rows // (2 * self.block)))
        self.room = [_Room.of(self.block, len(laid.maps.base)) for _ in range(self.parts)]
        begun = time.monotonic()
        self._compile()
        self.since += time.monotonic() - begun

    def anneal(self) -> None:
        """Go through all stages that are still to be done."""
        with self.pool() as pool:
            for stage in range(len(self.trace) - 1, STAGES):
                self._stage(stage, pool)
        if self.checkpoint is not None:
            self.checkpoint.save(self._standing())

    def pool(self) -> ThreadPoolExecutor:
        """Where parts of the rows are gone through at once."""
        return ThreadPoolExecutor(min(cores(), self.parts))

    @property
    def deviation(self) -> NDArray[np.int64]:
        """That of the cells that are looked at, ``(C,)``."""
        seen = self.laid.seen
        return self.state[seen].astype(np.int64) - self.laid.rest[seen]

    def score(self) -> tuple[int, int, int]:
        """Largest abs(d) - w, how many cells have it, and Σ abs(d); of sums in records' worth."""
        off, sums = np.abs(self.deviation), self.laid.sums
        over = np.concatenate([off - self.laid.allowance, sums.over(self.off)])
        largest = int(over.max()) if len(over) else 0
        return largest, int((over == largest).sum()), int(off.sum()) + sums.records(self.off)

    def broken(self) -> int:
        """Number of cells that are to be kept exactly and are not."""
        exact, sums = self.laid.exact, self.laid.sums.exact
        broken = (self.state[exact] != self.laid.rest[exact]).sum() + (self.off[sums] != 0).sum()
        return int(broken)

    def file(self) -> SafeFile:
        """The rows as a file; equal ones become one combination."""
        there = np.flatnonzero(self.count)
        sweeps, trace = tuple(self.sweeps), tuple(self.trace)
        before = self.problem.codes
        if not self.opened:  # they are distinct, and in their order
            return SafeFile(before[there], self.count[there].astype(np.int64), sweeps, trace)
        codes = np.empty((len(there), len(self.problem.names)), dtype=before.dtype, order="F")
        for g, members in enumerate(self.laid.groups):
            at = self.values[there, g]
            for place, v in enumerate(members):
                codes[:, v] = self.laid.codes[g][at, place]
        order = np.lexsort(codes.T[::-1])
        count = self.count[there][order].astype(np.int64)
        starts = np.zeros(len(order), dtype=np.bool_)
        starts[:1] = True
        for v in range(codes.shape[1]):
            codes[:, v] = codes[order, v]
            starts[1:] |= codes[1:, v] != codes[:-1, v]
        first = np.flatnonzero(starts)
        summed = np.add.reduceat(count, first) if len(first) else count
        return SafeFile(codes[first], summed, sweeps, trace)

    def _add(
        self, values: NDArray[np.unsignedinteger], count: NDArray[np.integer], sign: int
    ) -> None:
        """Add combinations to the states of their cells, or take them away."""
        _place_kernels().add_counts(values, count, sign, self.laid.maps, self.state)
        if len(self.laid.sums):
            _sum_kernels().sum_counts(values, count, sign, self.laid.sums.maps, self.off)

    def _compile(self) -> None:
        """Go through no rows at all: at their first use on a computer loops take seconds."""
        none = mixed(self.values, np.arange(0), self.laid, self.draws())
        costs, heat = self.prices(0)
        self._propose(none, 0, costs, heat, 0, np.zeros((1, 4), dtype=np.int64), 0)
        self._carry_out(0, 0, costs, np.zeros(4, dtype=np.int64))

    # ── sweeps ──────────────────────────────────────────────────────────────────────

    def _first(self) -> Standing:
        """Each combination in a drawn order becomes 0 or frequent enough."""
        problem, laid = self.problem, self.laid
        count = np.zeros(len(problem.count), dtype=np.int32)
        costs = potential(laid, problem.minimum, None)
        asked = laid.values, problem.count, problem.minimum, laid.maps, costs.slope
        sums = laid.sums.maps, np.zeros(laid.sums.size, dtype=np.int64), costs.sums
        order = self.draws().permutation(len(count))
        _kernels().start(order, *asked, laid.rest.copy(), *sums, count)
        return Standing(None, count, caps(problem), (), np.array([1.0, 1.0, 1.0, 0.0]), 0.0, ())

    def _stage(self, stage: int, pool: ThreadPoolExecutor) -> None:
        new = self.problem.new and stage >= _FAITHFUL
        if new and not self.rates[3]:
            self._open()
        costs, heat = self.prices(stage)
        if len(self.sweeps) == stage:
            self.sweeps.append(0)
        while not self.plan.over(stage, self.sweeps[stage], time.monotonic() - self.since):
            at = self._standing(copy=True) if self.checkpoint is not None else None
            try:
                self._sweep(costs, heat, pool)
                self.sweeps[stage] += 1
                at = self._standing()
                self.report(stage)
            except BaseException:
                if self.checkpoint is not None and at is not None:
                    self.checkpoint.save(at)
                raise
            if self.checkpoint is not None:
                self.checkpoint.save_sometimes(at)
        self.trace.append(self.figures())

    def prices(
        self, stage: int, weight: float | None = None, raised: Raised | None = None
    ) -> tuple[Potential, float]:
        """What deviations cost in a stage, and the temperature.

        `weight`: how much more tables of one variable weigh, for each table; None: as much as in
        this stage. `raised`: how cells are treated that have to be mended.
        """
        new = self.problem.new and stage >= _FAITHFUL
        first, last = (_FAITHFUL, STAGES) if new else (0, _FAITHFUL if self.problem.new else STAGES)
        phase = _NEW if new else _BEFORE if self.problem.new else _ALONE
        share = (stage - first) / (last - first - 1)
        late = max(0.0, (share - phase.late) / (1 - phase.late))
        heat = _towards(phase.heat, share) * len(self.problem.tables)
        unit = self.problem.minimum / 3
        wall = _between(phase.wall, share) * max(self.trace[-1][1], 1)
        own = wall
        if phase.own is not None:
            own = _between(phase.own, share) * max(self.largest_of_margins(), 1)
        weight = _towards(phase.margin, late) if weight is None else weight
        margin = Margin(max(weight * len(self.problem.tables), _LIGHT), own / unit)
        costs = potential(self.laid, self.problem.minimum, wall / unit, margin, raised)
        return costs, max(heat, _COLD) * SCALE

    def largest_of_margins(self) -> int:
        """Largest abs(d) - w in tables of one variable."""
        laid, sums = self.laid, self.laid.sums
        off = (np.abs(self.deviation) - laid.allowance)[laid.margin]
        over = sums.over(self.off)[sums.margin]
        return int(np.concatenate([off, over]).max(initial=0))

    def figures(self) -> tuple[int, int, float]:
        """Sweeps so far, the largest abs(d) - w and the mean of abs(d)."""
        largest, _, total = self.score()
        cells = len(self.laid.seen) + len(self.laid.sums.seen)
        return sum(self.sweeps), largest, total / max(cells, 1)

    def _open(self) -> None:
        """From now on new combinations may come up; those that are gone may, too."""
        there = self.count > 0
        self.values, self.count = self.values[there], self.count[there]
        self.cap = self.cap[there]
        self.opened = True
        self.rates = np.ones(4)

    def _sweep(self, costs: Potential, heat: float, pool: ThreadPoolExecutor) -> None:
        """Go through the rows once: propose in parallel, carry out one after the other.

        Rows that are gone can only come back by a change of more records than the minimum, so they
        take part as often as those are worth while.
        """
        number = sum(self.sweeps) + 1
        draws = self.draws(number)
        drawn = draws.random(len(self.count), dtype=np.float32) < self.rates[2]
        rows = np.flatnonzero((self.count > 0) | drawn)
        order = rows[mixed(self.values, rows, self.laid, draws)]
        worth = self.go_through(order, costs, heat, number, pool)
        rates = np.clip(_WORTH * worth, _RARELY, 1.0)
        self.rates = np.where(self.rates > 0, rates, 0.0)
        if self.broken():
            self.rates[0] = 1.0

    def go_through(
        self,
        order: NDArray[np.intp],
        costs: Potential,
        heat: float,
        number: int,
        pool: ThreadPoolExecutor,
    ) -> NDArray[np.float64]:
        """Change rows in this order; which share of each kind of changes was carried out, ``(4,)``.

        `number`: of the draws.
        """
        tried = np.zeros((self.parts, 4), dtype=np.int64)
        done = np.zeros(4, dtype=np.int64)
        for low in range(0, len(order), self.block * self.parts):
            self.progress(*self.said)  # a sweep of many millions takes minutes
            propose = partial(self._propose, order, low, costs, heat, number, tried)
            each = map if self.parts == 1 else pool.map
            found = list(each(propose, range(self.parts)))  # before anything is changed
            for part, number_of in enumerate(found):
                self._carry_out(part, number_of, costs, done)
        return done / np.maximum(tried.sum(axis=0), 1)

    def _propose(
        self,
        order: NDArray[np.intp],
        low: int,
        costs: Potential,
        heat: float,
        number: int,
        tried: NDArray[np.int64],
        part: int,
    ) -> int:
        """Find changes in one block of rows; how many."""
        first, room = low + part * self.block, self.room[part]
        rows = order[first : first + self.block]
        seed = int(self.draws(number, first + 1).integers(1 << 62))
        rows_now = self.values, self.count, self.cap
        now = self.problem.minimum, self.laid.maps, self.state
        price = costs.slope, costs.energy, costs.growth, heat
        sums = self.laid.sums.maps, self.off, costs.sums
        near = _PARTNERS_NEW if self.rates[3] else _PARTNERS
        space = room.index, room.moves, room.limits, tried[part]
        return int(
            _kernels().propose(rows, *rows_now, *now, *price, *sums, near, self.rates, seed, *space)
        )

    def _carry_out(self, part: int, found: int, costs: Potential, done: NDArray[np.int64]) -> None:
        room = self.room[part]
        now = self.values, self.count, self.problem.minimum, self.laid.maps, self.state
        price = costs.slope, costs.energy, costs.growth
        sums = self.laid.sums.maps, self.off, costs.sums
        _kernels().carry_out(found, room.moves, room.limits, *now, *price, *sums, done)

    def draws(self, *of: int) -> np.random.Generator:
        """Draws of their own for each purpose, named by numbers; the seed is that of the search."""
        return np.random.default_rng([*self.seed, *of])

    def _standing(self, copy: bool = False) -> Standing:
        values = None
        if self.opened:
            values = self.values.copy() if copy else self.values
        count = self.count.copy() if copy else self.count
        seconds = time.monotonic() - self.since
        sweeps, trace = tuple(self.sweeps), tuple(self.trace)
        return Standing(values, count, self.cap, sweeps, self.rates, seconds, trace)

    def report(self, stage: int) -> None:
        """Tell how far the search is."""
        self.said = self._so_far(stage)
        self.progress(*self.said)

    def _so_far(self, stage: int) -> tuple[str, int, int]:
        _, largest, mean = self.figures()
        return f"search: largest {largest}, mean {mean:.2f}", stage + 1, STAGES


@dataclass(frozen=True, eq=False)
class _Room:
    """Space for a block of rows: see `diskret.safe.search_kernels.propose`."""

    index: NDArray[np.int32]
    moves: NDArray[np.int64]
    limits: NDArray[np.float64]

    @classmethod
    def of(cls, rows: int, tables: int) -> _Room:
        most = rows * (2 * _PARTNERS_NEW + 1)
        return cls(
            np.empty((3, _WINDOW + 1, tables), dtype=np.int32),
            np.empty((most, 4), dtype=np.int64),
            np.empty(most),
        )


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share


def _towards(ends: tuple[float, float], share: float) -> float:
    """Between two numbers, by equal factors."""
    return ends[0] * (ends[1] / ends[0]) ** share


def mixed(
    values: NDArray[np.unsignedinteger],
    rows: NDArray[np.intp],
    laid: Layout,
    draws: np.random.Generator,
) -> NDArray[np.intp]:
    """Places of rows sorted by the groups in a drawn order, those of many tables rather first."""
    width = laid.maps.width
    drawn = np.argsort(draws.exponential(size=len(width)) / np.maximum(laid.weight, 1))
    bits = np.array([int(width[g] - 1).bit_length() for g in drawn], dtype=np.int64)
    fit = np.cumsum(bits) <= 64
    return _place_kernels().sort_rows(rows, values, drawn[fit], bits[fit])


def _kernels():  # pyright: ignore[reportUnknownParameterType]
    """The compiled loops, which are slow to load."""
    from diskret.safe import search_kernels

    return search_kernels


def _place_kernels():  # pyright: ignore[reportUnknownParameterType]
    from diskret.safe import place_kernels

    return place_kernels


def _sum_kernels():  # pyright: ignore[reportUnknownParameterType]
    from diskret.safe import sums_kernels

    return sums_kernels
