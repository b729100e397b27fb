"""Tables of the search that add up more than 1 for a record, such as persons of a dwelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.safe.cells import Cells
from diskret.safe.costs import EXACT, HEIGHT, USUAL, Margin
from diskret.safe.problem import SafeProblem

#: Weight of a cell that has to stay empty.
EMPTY = -1.0


class SumMaps(NamedTuple):
    """Arrays that tell the cells of a combination, and what it adds to them.

    `base`, `first`, `tables`, `key_first`, `key`: as in `diskret.safe.layout.Maps`, for these
        tables alone.
    `group`: group of variables that tells how much a record counts in a table, ``(S,)``, int64.
    `amount_first`, `amount`: ``amount[amount_first[s] + v]`` is how much it counts in table s with
        value v of this group; int64.
    """

    base: NDArray[np.int64]
    first: NDArray[np.int64]
    tables: NDArray[np.int32]
    key_first: NDArray[np.int64]
    key: NDArray[np.int32]
    group: NDArray[np.int64]
    amount_first: NDArray[np.int64]
    amount: NDArray[np.int64]


class SumPrices(NamedTuple):
    """What deviations cost: weight · d² + height · (exp(s · (d - wall)) + exp(s · (-d - wall))).

    s is `diskret.safe.costs.STEEP`.

    `weight`: of the squares, `EMPTY` for cells that stay empty; `height`, `wall`: where costs grow
    exponentially; `unit`: d is the deviation divided by it; all ``(M,)``, float64.
    """

    weight: NDArray[np.float64]
    height: NDArray[np.float64]
    wall: NDArray[np.float64]
    unit: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums:
    """These tables as the search sees them.

    A deviation is measured in what a record of the table counts (root mean square over those that
    count at all), so that a record that is moved weighs about as much as in a table of records.

    `maps`: from values to cells and amounts.
    `size`: number of possible cells, M.
    `seen`: cells whose deviations are looked at, ``(C,)``, int64; in the same order `usual`, what
        a record counts there, float64, `allowance`, int64, in the counter's own unit, and `margin`,
        whether the table has one variable at most.
    `exact`: cells that keep their sums, int64.
    """

    maps: SumMaps
    size: int
    seen: NDArray[np.int64]
    usual: NDArray[np.float64]
    allowance: NDArray[np.int64]
    margin: NDArray[np.bool_]
    exact: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.maps.base)

    def prices(self, unit: float, wall: float | None, margin: Margin) -> SumPrices:
        """What deviations cost; the arguments are as in `diskret.safe.potential.potential`."""
        weight, height = np.full(self.size, EMPTY), np.zeros(self.size)
        walls, units = np.zeros(self.size), np.ones(self.size)
        allowance = self.allowance / self.usual / unit
        eased = (USUAL / np.maximum(USUAL + allowance, 1.0)) ** 2
        weight[self.seen] = eased * np.where(self.margin, margin.weight, 1.0)
        height[self.seen] = 0.0 if wall is None else HEIGHT
        walls[self.seen] = np.where(self.margin, margin.wall, wall or 0.0) + allowance
        units[self.seen] = unit * self.usual
        kept = self.exact[weight[self.exact] != EMPTY]
        weight[kept], height[kept] = EXACT, 0.0
        return SumPrices(weight, height, walls, units)

    def over(self, off: NDArray[np.int64]) -> NDArray[np.int64]:
        """By how many records' worth the cells that are seen deviate, less what is free.

        `off`: deviation of each possible cell, ``(M,)``, int64.
        """
        return np.ceil((np.abs(off[self.seen]) - self.allowance) / self.usual).astype(np.int64)

    def records(self, off: NDArray[np.int64]) -> int:
        """Σ abs(d) of these cells, in records' worth."""
        return int(np.ceil(np.abs(off[self.seen]) / self.usual).sum())


def summed(problem: SafeProblem, t: int) -> bool:
    """Whether a record may count more than 1 in table t."""
    counter = problem.tables[t].counter
    return counter is not None and problem.sizes[counter] > 2


def sum_cells(problem: SafeProblem, known: Cells, maps: SumMaps, at: list[int], size: int) -> Sums:
    """Find the cells of tables `at`, which have `size` possible ones."""
    mine = np.isin(known.table, at)
    place = np.full(len(problem.tables), -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    cell = maps.base[place[known.table[mine]]] + known.key[mine]
    usual = np.ones(len(problem.tables))
    for t in at:
        counted = problem.codes[:, problem.tables[t].counter].astype(np.float64)
        times = problem.count[counted > 0].sum()
        if times:
            usual[t] = np.sqrt((problem.count * counted**2).sum() / times)
    margin = np.array([len(table.columns) < 2 for table in problem.tables], dtype=np.bool_)
    there, table = known.original[mine] > 0, known.table[mine]
    return Sums(
        maps,
        size,
        cell[there],
        usual[table[there]],
        known.allowance[mine][there],
        margin[table[there]],
        cell[known.exact[mine]],
    )
