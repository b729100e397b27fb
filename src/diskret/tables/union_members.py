"""What is known of unions of cells: those who contribute to them, each counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.contributions import Contributions, Measure
from diskret.tables.dimension import Dimension
from diskret.tables.made_of import ANYWHERE
from diskret.tables.table import Table


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which rows (of a list of contributions, or cells) lie in which union.

    unions: how many there are; they are numbered from 1 on, 0 is the total of their table.
    union, row, sign: a pair each, ``(pairs,)``, sorted by union; the sign is 1 or −1.
    """

    unions: int
    union: NDArray[np.int64]
    row: NDArray[np.int64]
    sign: NDArray[np.int64]

    def added(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of a value of each row, whatever its sign."""
        return _sums(self.union, values[self.row], self.unions)


def of_cells(table: Table, pairs: Pairs) -> Table:
    """Unions of cells that have no contributor in common."""

    def added(array: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
        return None if array is None else pairs.added(array.ravel())

    def measure(one: Measure) -> Measure:
        kept = one.largest.shape[-1]
        top = one.largest.reshape(one.sum.size, kept)[pairs.row]
        size = pairs.added(one.magnitude.ravel())
        net = _sums(pairs.union, pairs.sign * one.sum.ravel()[pairs.row], pairs.unions)
        return Measure(
            one.name,
            one.decimals,
            net,
            size,
            _largest(np.repeat(pairs.union, kept), top.ravel(), kept, pairs.unions),
            {
                mark: _most(pairs.union, largest.ravel()[pairs.row], pairs.unions)
                for mark, largest in one.marked.items()
            },
            one.signed or not one.nonnegative or bool((pairs.sign < 0).any()),
        )

    return _table(
        table,
        pairs.unions,
        added(table.count),
        added(table.units),
        added(table.holdings),
        tuple(map(measure, table.measures)),
        {mark: pairs.added(number.ravel()) for mark, number in table.marked.items()},
    )


def of_contributors(table: Table, listed: Contributions, pairs: Pairs) -> Table:
    """Unions of the contributions of single units and holdings."""
    listed.check_marked(table.marked)
    units = None if listed.unit is None else Grouped.of(pairs, listed.unit)
    holdings = None if listed.holding is None else Grouped.of(pairs, listed.holding)
    ranked = units if holdings is None else holdings
    if ranked is None:
        raise InputError("the contributions name neither units nor holdings; give unit= as well")
    marks = {mark: ranked.added(listed.marked[mark][pairs.row]) > 0 for mark in table.marked}

    def measure(one: Measure) -> Measure:
        net = ranked.added(pairs.sign * listed.values[one.name][pairs.row])
        size, kept = np.abs(net), one.largest.shape[-1]
        return Measure(
            one.name,
            one.decimals,
            _sums(ranked.union, net, pairs.unions),
            _sums(ranked.union, size, pairs.unions),
            _largest(ranked.union, size, kept, pairs.unions),
            {
                mark: _most(ranked.union, np.where(there, size, 0), pairs.unions)
                for mark, there in marks.items()
            },
            one.signed or not one.nonnegative or bool((pairs.sign < 0).any()),
        )

    return _table(
        table,
        pairs.unions,
        pairs.added(listed.records),
        None if units is None else units.number,
        None if holdings is None else holdings.number,
        tuple(map(measure, table.measures)),
        {mark: pairs.added(listed.marked[mark]) for mark in table.marked},
    )


def _table(
    table: Table,
    unions: int,
    count: NDArray[np.int64] | None,
    units: NDArray[np.int64] | None,
    holdings: NDArray[np.int64] | None,
    measures: tuple[Measure, ...],
    marked: Mapping[str, NDArray[np.int64]],
) -> Table:
    parent = np.where(np.arange(unions + 1) == 0, -1, 0).astype(np.int32)
    codes = ("Total", *map(str, range(1, unions + 1)))
    return Table(
        dimensions=(Dimension("union", Hierarchy(codes, parent)),),
        count=count,
        units=units,
        holdings=holdings,
        measures=measures,
        contributors=table.contributors,
        vintage=table.vintage,
        where=table.where,
        frame_kind=table.frame_kind,
        chosen=table.chosen,
        marked=marked,
        waiver_note=table.waiver_note,
        made_of=ANYWHERE,
    )


@dataclass(frozen=True, eq=False)
class Grouped:
    """Pairs put together by union and contributor.

    union, who: the union of each group, and the contributor, ``(groups,)``, ascending.
    order, start: the pairs of group i are those at ``order[start[i]:start[i + 1]]``.
    number: how many groups each union has.
    """

    union: NDArray[np.int64]
    who: NDArray[np.uint64]
    order: NDArray[np.int64]
    start: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: Pairs, names: NDArray[np.uint64]) -> Grouped:
        """Group pairs by the names of their rows."""
        who = names[pairs.row]
        order = np.lexsort((who, pairs.union))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(pairs.union[order]) != 0) | (who[order][1:] != who[order][:-1])
        start = np.flatnonzero(new)
        union = pairs.union[order][start]
        number = np.bincount(union, minlength=pairs.unions + 1).astype(np.int64)
        return cls(union, who[order][start], order, start, number)

    def added(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of a value of each pair, by group."""
        if not len(self.start):
            return np.zeros(0, dtype=np.int64)
        return np.add.reduceat(values[self.order], self.start)


def _sums(union: NDArray[np.int64], values: NDArray[np.int64], unions: int) -> NDArray[np.int64]:
    total = np.zeros(unions + 1, dtype=np.int64)
    np.add.at(total, union, values)
    return total


def _most(union: NDArray[np.int64], values: NDArray[np.int64], unions: int) -> NDArray[np.int64]:
    most = np.zeros(unions + 1, dtype=np.int64)
    np.maximum.at(most, union, values)
    return most


def _largest(
    union: NDArray[np.int64], sizes: NDArray[np.int64], kept: int, unions: int
) -> NDArray[np.int64]:
    """The largest values of each union, descending, ``(1 + unions, kept)``."""
    top = np.zeros((unions + 1, kept), dtype=np.int64)
    order = np.lexsort((-sizes, union))
    union = union[order]
    rank = np.arange(len(union)) - np.searchsorted(union, union)
    there = rank < kept
    top[union[there], rank[there]] = sizes[order][there]
    return top
