"""The cheapest cells to hide so that some contributors can no longer tell a cell or a sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from diskret.attack import Open, Requirements, UnsafeSums
from diskret.attack.surroundings import Surroundings
from diskret.suppression import Pattern, Problem, Work, modular
from diskret.tables import Publication, Table
from diskret.tables.shares import Shares, names_of
from diskret.workflow.insiders import Asked, InsiderJudge, shares_of_cells
from diskret.workflow.revealed import asking_for

#: Cells around a target that may move at first; then all may.
_NEAR = 400
#: Price of moving what is hidden anyway, beside that of the cheapest published cell.
_FREE = 1e-4


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
    the cheapest moves, or by the method that finds patterns, which proves what it does.

    Raises
    ------
    ProtectionError
        Some coalition cannot be kept from telling a cell or a sum.
    """
    hidden = pattern.suppressed.copy()
    of_coalition: defaultdict[tuple[int, ...], list[Open]] = defaultdict(list)
    for one in found:
        of_coalition[one.who].append(one)
    repair, everybody = Repair(problem), dict[int, Shares]()
    for who, claims in sorted(of_coalition.items()):
        low, high = _bounds(problem, publication, judge, asked.names[list(who)], everybody)
        if quickly and _hides(repair, hidden, low, high, claims, asked):
            continue
        harder = _asking(replace(problem, lower=low, upper=high), claims, asked.target)
        n = len(harder.cost)
        start = np.zeros(n, dtype=bool)
        start[: len(hidden)] = hidden
        if problem.start is not None:
            start[: len(problem.start)] |= problem.start
        more = modular(replace(harder, start=start, deadline=None, work=Work()))
        hidden |= more.suppressed[: len(hidden)]
    return replace(pattern, suppressed=hidden)


def _hides(
    repair: Repair,
    hidden: NDArray[np.bool_],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    claims: Sequence[Open],
    asked: Asked,
) -> bool:
    """Hide more, so that a coalition can no longer tell its targets; whether that was possible."""
    for one in claims:
        cells = np.array(asked.cells(one), dtype=np.int64)
        more = repair.hide(hidden, low, high, cells, (one.lower, one.upper))
        if more is None:
            return False
        hidden[more] = True
    return True


def _bounds(
    problem: Problem,
    publication: Publication,
    judge: InsiderJudge,
    who: NDArray[np.uint64],
    everybody: dict[int, Shares],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a coalition knows of every cell beside the equations.

    `everybody` keeps the shares in tables without a list, which are the same for all coalitions.
    """
    low, high = problem.lower.copy(), problem.upper.copy()
    for place, (seat, start) in enumerate(
        zip(judge.seats, publication.starts.tolist(), strict=False)
    ):
        if seat.table is None:
            continue
        own = everybody.get(place) or _own(seat.table, who, place)
        if names_of(seat.table) is None:
            everybody[place] = own
        mine = np.isin(own.who, who)
        cells = np.unique(own.at[mine])
        value, members = (
            np.bincount(own.at[mine], weights, minlength=len(own.size))[cells]
            for weights in (own.value[mine], None)
        )
        number = shares_of_cells(seat.table, cells, place).number
        truth = problem.system.value[start + cells]
        alone = np.where(number < 0, value == truth, members == number)
        if seat.table.nonnegative:
            low[start + cells] = np.maximum(low[start + cells], value)
        low[start + cells[alone]] = high[start + cells[alone]] = truth[alone]
    return low, high


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


class Repair:
    """Moves of hidden cells and of as few published ones as possible. Proven by the attack alone.

    Parameters
    ----------
    problem
        Cells, equations and prices.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._near = Surroundings(problem.system.equations)
        self._by_column = sparse.csc_array(problem.system.equations)

    def hide(
        self,
        hidden: NDArray[np.bool_],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cells: NDArray[np.int64],
        levels: tuple[int, int],
    ) -> NDArray[np.int64] | None:
        """What else to hide so that some cells together can move by their levels within bounds.

        Parameters
        ----------
        hidden
            What is hidden already, ``(n,)``.
        low, high
            What the contributors know of each cell, ``(n,)``.
        cells, levels
            The target, and how far it has to move down and up.

        Returns
        -------
        ndarray or None
            Positions; None if nothing helps.
        """
        n = len(hidden)
        more = hidden.copy()
        for side, need in ((-1, levels[0]), (1, levels[1])):
            for size in (_NEAR, n) if need > 0 else ():
                window = self._near.grown(cells, min(size, n))
                moved = self._move(window, more, low, high, cells, side, need)
                if moved is not None:
                    more[moved] = True
                    break
            else:
                if need > 0:
                    return None
        return np.flatnonzero(more & ~hidden)

    def _move(
        self,
        window: NDArray[np.int64],
        hidden: NDArray[np.bool_],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cells: NDArray[np.int64],
        side: int,
        need: int,
    ) -> NDArray[np.int64] | None:
        problem, value = self.problem, self.problem.system.value[window].astype(np.float64)
        inside = sparse.csr_array(self._by_column[:, window])
        inside = inside[np.flatnonzero(np.diff(inside.indptr))]
        target = np.isin(window, cells) * float(side)
        matrix = sparse.vstack([inside, sparse.csr_array(target[None])], format="csr")
        stays = problem.frozen[window] & ~hidden[window]
        up = np.where(stays, 0, (high[window] - value) / need)
        down = np.where(stays, 0, (value - low[window]) / need)
        price = problem.cost[window]
        least = price[price > 0].min(initial=1.0)
        price = np.where(hidden[window], least * _FREE, np.maximum(price, least))
        right = np.zeros(matrix.shape[0])
        right[-1] = 1
        found = linprog(
            np.append(price, price),
            A_eq=sparse.hstack([matrix, -matrix], format="csr"),
            b_eq=right,
            bounds=np.stack((np.zeros(2 * len(window)), np.append(up, down)), axis=1),
            method="highs",
        )
        if found.status != 0:
            return None
        moved = found.x[: len(window)] + found.x[len(window) :] > 1e-7
        return window[moved & ~hidden[window]]
