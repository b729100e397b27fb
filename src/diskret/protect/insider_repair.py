"""The cheapest cells to hide so that some contributors can no longer tell a cell or a sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Open, Proposals, Requirements, UnsafeSums
from diskret.attack.insiders import Coalition
from diskret.attack.short_moves import as_moves
from diskret.attack.shortest import Move, Shortest
from diskret.attack.surroundings import Surroundings
from diskret.errors import InputError, ProtectionError
from diskret.graphs import connected
from diskret.protect.insiders import Asked, InsiderJudge
from diskret.protect.revealed_sums import asking_for, everything_around
from diskret.suppression import Pattern, Problem, Work, modular
from diskret.system.possible import possible_values
from diskret.tables import Publication, Table
from diskret.tables.shares import Shares, names_of, shares_of_cells

#: In larger tables only so many cells around a target may move at first.
_NEAR = 15_000
#: Price of moving the cheapest published cell, beside that of what is hidden anyway.
_DEAR = 1e4
#: Programmes for each wanted move, after which nothing more is published again.
_TIDY = 2


def repaired_against(
    problem: Problem,
    pattern: Pattern,
    found: Sequence[Open],
    asked: Asked,
    judge: InsiderJudge,
    publication: Publication,
    quickly: bool = True,
) -> Pattern:
    """A pattern that hides more, so that nothing found is open to insiders.

    What more is hidden never tells anybody more, so each coalition is repaired once: quickly, by
    the cheapest moves, or by the method that finds patterns, which proves what it does. Where that
    finds none, all around is hidden; whether it was enough is for the attack to tell.
    """
    named = np.unique(np.array([i for one in found for i in one.who], dtype=np.int64))
    tables = list(_shares(judge, publication, asked.names[named]))
    bounds = {
        who: _bounds(problem, tables, asked.names[list(who)]) for who in {one.who for one in found}
    }
    between = asked.unpublished(list(bounds), problem.system.equations)
    fitting = dict.fromkeys(bounds, problem)
    if between is not None:
        for who, (least, high) in list(bounds.items()):
            low = np.maximum(least, between[list(who)].sum(axis=0))
            fitting[who], bounds[who] = _fitting(problem, low), (low, high)
    values = {who: own.system.value for who, own in fitting.items() if own is not problem}
    repair = Repair(problem, pattern.suppressed, values)
    slow = set[Coalition]()
    if quickly:
        wanted = [
            Wanted(one.who, np.array(asked.cells(one)), side * np.array(asked.signs(one)), need)
            for one in found
            for side, need in ((1, one.upper), (-1, one.lower))
            if need > 0
        ]
        # what the longest moves hide serves the shorter ones
        for want in sorted(wanted, key=lambda want: (-want.need, want.who)):
            if not repair.hide(want, *bounds[want.who]):
                slow.add(want.who)
        repair.publish_again(bounds)
    else:
        slow = set(bounds)
    hidden = repair.hidden
    for who in sorted(slow):
        low, high = bounds[who]
        claims = [one for one in found if one.who == who]
        harder = _asking(replace(fitting[who], lower=low, upper=high), claims, asked.target)
        n = len(harder.cost)
        start = np.zeros(n, dtype=bool)
        start[: len(hidden)] = hidden
        if problem.start is not None:
            start[: len(problem.start)] |= problem.start
        try:
            more = modular(replace(harder, start=start, work=Work()))
        except ProtectionError:
            # the bounds are no less than what a coalition knows, and the attack decides
            cells = np.concatenate([asked.cells(one) for one in claims])
            more = everything_around(problem, replace(pattern, suppressed=hidden), cells)
        hidden |= more.suppressed[: len(hidden)]
    # the moves that were found show the attack what is required of the cells hidden for them
    return replace(pattern, suppressed=hidden, proposals=repair.with_moves(pattern.proposals))


@dataclass(frozen=True, eq=False)
class _Shares:
    """What some contributors have in the cells of one table."""

    start: int
    cell: NDArray[np.int64]
    who: NDArray[np.uint64]
    value: NDArray[np.int64]
    number: NDArray[np.int64]
    nonnegative: bool


def _shares(
    judge: InsiderJudge, publication: Publication, who: NDArray[np.uint64]
) -> Iterator[_Shares]:
    """What these have in all cells, published ones too: what is hidden next is known to them."""
    starts = publication.starts.tolist()
    for place, (seat, start) in enumerate(zip(judge.seats, starts, strict=False)):
        if seat.table is None:
            continue
        own = _own(seat.table, who, place)
        mine = np.isin(own.who, who)
        cells, at = np.unique(own.at[mine], return_inverse=True)
        number = shares_of_cells(seat.table, cells, place).number[at]
        yield _Shares(
            start, cells[at], own.who[mine], own.value[mine], number, seat.table.nonnegative
        )


def _bounds(
    problem: Problem, tables: Sequence[_Shares], who: NDArray[np.uint64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a coalition knows of every cell beside the equations."""
    low, high = problem.lower.copy(), problem.upper.copy()
    for of in tables:
        mine = np.isin(of.who, who)
        cells, first, at = np.unique(of.cell[mine], return_index=True, return_inverse=True)
        value, members = (np.bincount(at, weights) for weights in (of.value[mine], None))
        number = of.number[mine][first]
        truth = problem.system.value[of.start + cells]
        alone = np.where(number < 0, value == truth, members == number)
        if of.nonnegative:
            low[of.start + cells] = np.maximum(low[of.start + cells], value)
        low[of.start + cells[alone]] = high[of.start + cells[alone]] = truth[alone]
    return low, high


def _fitting(problem: Problem, low: NDArray[np.float64]) -> Problem:
    """The problem with other possible values of unpublished cells, which keep to bounds."""
    system = problem.system
    if (system.value >= low).all():
        return problem
    n = len(system.value) - len(system.lowest)
    known, least = system.value[:n], np.maximum(system.lowest, low[n:])
    # values that are not found in time, or not at all, are left as they are
    with suppress(InputError, ProtectionError):
        value = np.append(known, possible_values(system.equations, known, least, problem.deadline))
        if not (system.equations.astype(np.int64) @ value).any() and (value >= low).all():
            return replace(problem, system=replace(system, value=value))
    np.minimum(low, system.value, out=low)  # the attack tells whether it was enough
    return problem


def _own(table: Table, who: NDArray[np.uint64], place: int) -> Shares:
    """The shares of some contributors in all cells, perhaps of others too."""
    listed, names = table.contributions, names_of(table)
    if listed is not None and names is not None:
        mine = np.isin(names, who)
        few = replace(
            listed,
            leaf=listed.leaf[mine],
            unit=None if listed.unit is None else listed.unit[mine],
            holding=None if listed.holding is None else listed.holding[mine],
            records=listed.records[mine],
            values={name: of[mine] for name, of in listed.values.items()},
            marked={name: of[mine] for name, of in listed.marked.items()},
        )
        table = replace(table, contributions=few)
    return shares_of_cells(table, np.arange(int(np.prod(table.shape))), place)


def _asking(problem: Problem, claims: Sequence[Open], target: sparse.csr_array) -> Problem:
    """The problem with nothing required but what is open."""
    none = np.zeros(0, dtype=np.int64)
    problem = replace(problem, requirements=Requirements(none, none, none, none))
    rows = np.array([one.target for one in claims])
    levels = np.array([(one.lower, one.upper, 0) for one in claims], dtype=np.int64)
    single = np.diff(target[rows].indptr) == 1
    if not single.all():
        sums = UnsafeSums(sparse.csr_array(target[rows[~single]]), *levels[~single].T.copy())
        problem = asking_for(problem, sums)
    cell = target[rows[single]].indices.astype(np.int64)
    needs = problem.requirements
    order = np.argsort(np.append(cell, needs.cell), kind="stable")
    joined = (
        np.append(levels[single][:, i], getattr(needs, of))[order]
        for i, of in enumerate(("lower", "upper", "sliding"))
    )
    return replace(problem, requirements=Requirements(np.append(cell, needs.cell)[order], *joined))


#: Lower and upper bounds of all cells that a coalition knows.
_Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Wanted:
    """Cells that have to move so far together for a coalition, up (1) or down (−1) each."""

    who: Coalition
    cells: NDArray[np.int64]
    signs: NDArray[np.int64]
    need: int


class Repair:
    """Moves of hidden cells and of as few published ones as possible. Proven by the attack alone.

    problem: cells, equations and prices.
    hidden: what is hidden already, ``(n,)``.
    values: possible values of all cells for coalitions that know others to be impossible.
    """

    def __init__(
        self,
        problem: Problem,
        hidden: NDArray[np.bool_],
        values: Mapping[Coalition, NDArray[np.int64]],
    ):
        self._values = values
        self.problem = problem
        self.hidden = hidden.copy()
        self._before = hidden
        self._near = Surroundings(problem.system.equations)
        self._by_column = sparse.csc_array(problem.system.equations)
        self._value = problem.system.value.astype(np.float64)
        self._all: Shortest | None = None
        # the moves that were found, and the one that each want relies on
        self._moves = _Kept()
        self._use: dict[Wanted, int] = {}
        # for which want each cell was hidden
        self._first: dict[int, Wanted] = {}

    def hide(self, want: Wanted, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
        """Hide more, so that some cells can move within what a coalition knows; if that helps."""
        given = self._given(want, low, high)
        if given is not None:  # what is hidden for others serves these, too
            self._use[want] = given
            return True
        may = ~self.problem.frozen
        may[: len(self.hidden)] |= self.hidden
        for size in (_NEAR, len(may)):
            whole = size >= len(may)
            window = np.arange(len(may)) if whole else self._near.grown(want.cells, size)
            if whole and self._all is None:
                self._all = self._programme(window)
            programme = self._all if whole else None
            found = self._move(want, low, high, may, window, programme or self._programme(window))
            if found is not None:
                self._use[want] = found
                cells = self._moves.of(found).cell
                cells = cells[cells < len(self.hidden)]
                self._first |= dict.fromkeys(cells[~self.hidden[cells]].tolist(), want)
                self.hidden[cells] = True
                return True
            if whole:
                break
        return False

    def publish_again(self, bounds: Mapping[Coalition, _Bounds]) -> None:
        """Publish what was hidden for moves that find another way, the dearest first."""
        added = np.flatnonzero(self.hidden & ~self._before)
        piece_of, left = self._pieces(), _TIDY * len(self._use)
        wants = list(self._use)
        for cell in added[np.argsort(-self.problem.cost[added], kind="stable")].tolist():
            if left < 0:
                return
            self.hidden[cell] = False
            may = self._free()
            found: dict[Wanted, int] = {}
            using = self._moves.using(cell)
            relying = [want for want in wants if self._use[want] in using]
            # who needed it in the first place is the most likely to need it still
            relying.sort(key=lambda want: want is not self._first.get(cell))
            for want in relying:
                other = self._given(want, *bounds[want.who])
                if other is None:
                    left -= 1
                    other = self._move(want, *bounds[want.who], may, *piece_of(want))
                if other is None:
                    self.hidden[cell] = True
                    # what needs this cell needs its neighbours, too: it is asked about first
                    wants.remove(want)
                    wants.insert(0, want)
                    break
                found[want] = other
            else:
                self._use |= found

    def _pieces(self) -> Callable[[Wanted], tuple[NDArray[np.int64], Shortest]]:
        """The cells that may move and are connected with those of a want, and their programme."""
        free = np.flatnonzero(self._free())
        near = abs(sparse.csr_array(self._by_column[:, free]))
        label = connected(near.T @ near)
        known: dict[bytes, tuple[NDArray[np.int64], Shortest]] = {}

        def piece_of(want: Wanted) -> tuple[NDArray[np.int64], Shortest]:
            own = np.unique(label[np.isin(free, want.cells)])
            if own.tobytes() not in known:
                window = free[np.isin(label, own)]
                known[own.tobytes()] = window, self._programme(window)
            return known[own.tobytes()]

        return piece_of

    def with_moves(self, proposals: Proposals | None) -> Proposals | None:
        """Alternative tables of the pattern before, and the moves that are used; None as before."""
        if proposals is None:
            return None
        used = [self._moves.of(number) for number in sorted(set(self._use.values()))]
        moves, cells = as_moves(used, len(self.problem.cost)), proposals.difference.shape[1]
        both = proposals.difference, moves.steps[:, :cells]
        return Proposals(
            sparse.csr_array(sparse.vstack(both, format="csr")),
            np.append(proposals.denominator, moves.denominator),
        )

    def _given(
        self, want: Wanted, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> int | None:
        """A move at hand of cells that may move, which a coalition cannot rule out."""
        value = self._values.get(want.who, self._value)
        return self._moves.serving(want, high - value, value - low, self._free())

    def _free(self) -> NDArray[np.bool_]:
        """What may move: hidden cells, and those that nobody publishes."""
        may = ~self.problem.frozen
        may[: len(self.hidden)] = self.hidden
        return may

    def _move(
        self,
        want: Wanted,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        may: NDArray[np.bool_],
        window: NDArray[np.int64],
        programme: Shortest,
    ) -> int | None:
        """The cheapest move of cells that may, kept; None if there is none."""
        value = self._values.get(want.who, self._value)[window]
        free, price = may[window], self.problem.cost[window]
        up = np.where(free, high[window] - value, 0)
        down = np.where(free, value - low[window], 0)
        dear = np.maximum(price / price[price > 0].min(initial=1.0), 1) * _DEAR
        dear[self._free()[window]] = 1
        programme.charge(dear)
        target = np.flatnonzero(np.isin(window, want.cells))
        order = np.argsort(want.cells)
        signs = want.signs[order][np.searchsorted(want.cells, window[target], sorter=order)]
        move, _ = programme.look(target, signs, want.need, down, up)
        if move is None:
            return None
        return self._moves.add(Move(window[move.cell], move.step, move.unit))

    def _programme(self, window: NDArray[np.int64]) -> Shortest:
        inside = sparse.csr_array(self._by_column[:, window])
        used = np.flatnonzero(np.diff(inside.indptr))
        return Shortest(sparse.csr_array(inside[used]), deadline=self.problem.deadline)


class _Kept:
    """Moves of few cells, to be tried for other coalitions and targets."""

    def __init__(self) -> None:
        self._moves: list[Move] = []
        self._using: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, move: Move) -> int:
        """Keep a move; its number."""
        number = len(self._moves)
        self._moves.append(move)
        for one in move.cell.tolist():
            self._using[one].add(number)
        return number

    def of(self, number: int) -> Move:
        """One of them."""
        return self._moves[number]

    def using(self, cell: int) -> set[int]:
        """The moves of a cell."""
        return self._using.get(cell, set())

    def serving(
        self,
        want: Wanted,
        up: NDArray[np.float64],
        down: NDArray[np.float64],
        may: NDArray[np.bool_],
    ) -> int | None:
        """The shortest move, there or back, that takes cells far enough within bounds.

        None if there is none.
        """
        target = dict(zip(want.cells.tolist(), want.signs.tolist(), strict=True))
        number = sorted(
            {i for cell in target for i in self.using(cell)}, key=lambda i: len(self.of(i).cell)
        )
        for i in number:
            move = self.of(i)
            cell, step = move.cell, move.step / move.unit
            pairs = zip(cell.tolist(), step.tolist(), strict=True)
            far = sum(target[c] * s for c, s in pairs if c in target)
            if abs(far) < want.need or not may[cell].all():
                continue
            step = step if far > 0 else -step
            if (step <= up[cell]).all() and (-step <= down[cell]).all():
                return i if far > 0 else self.add(Move(cell, -move.step, move.unit))
        return None
