"""Unions of cells: what a sum of cells is made of, contributor by contributor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.tables.boxes import (
    Boxes,
    Restriction,
    boxes_of_cells,
    boxes_of_restrictions,
    leaves_in_boxes,
    ranges,
)
from diskret.tables.contributions import Contributions
from diskret.tables.dimension import Dimension
from diskret.tables.table import Measure, Table

_EXAMPLES = 3


def unions_exact(table: Table) -> bool:
    """Whether unions of its cells are judged by who really contributes to them.

    True if the table lists its `Table.contributions`, or if every record is a contributor of
    its own. Otherwise contributors of different cells are taken for different.
    """
    alone = table.contributors == "records" and table.units is None and table.holdings is None
    return table.contributions is not None or alone


def union_table(table: Table, member: Any) -> Table:
    """A table whose cells are unions of cells of another one. Confidential.

    With `Table.contributions` a contributor to several cells of a union counts once, with the
    sum of its contributions. Without, contributors of different cells are taken for
    different (see `unions_exact`): counts and magnitudes are added, and the largest
    contributions are the largest of the cells'. A cell of which a file tells no largest
    contributions counts as one of many small ones, as it does when it is judged alone.

    Parameters
    ----------
    table
        The table; without weights.
    member
        Sparse matrix, ``(unions, cells)``, cells in C order: 1 for a cell that is part of a
        union, −1 for one that is taken away from another. The cells of a union must not
        overlap. Of a record that is in a cell and in one that is taken away nothing is left.

    Returns
    -------
    Table
        One dimension ``"union"``: an empty total, then the unions ``"1"``, ``"2"``, …

    Raises
    ------
    InputError
        Cells of a union overlap; the table is weighted; its contributions do not say who
        asked for protection or consented, or which codes were combined.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.tables import Table
    >>> cells = pa.table({"region": ["N", "S", "W"], "sales": [9, 8, 5], "x1": [6, 7, 5]})
    >>> table = Table.from_cells(cells, by={"region": None}, value="sales", largest=["x1"])
    >>> rest = sparse.csr_array(np.array([[0, 0, 1, 1], [1, -1, 0, 0]]))
    >>> unions = union_table(table, rest)
    >>> unions.measure.sum.tolist(), unions.measure.largest[:, 0].tolist()
    ([0, 13, 13], [0, 7, 7])
    """
    member = sparse.csr_array(member, copy=True)
    member.eliminate_zeros()
    cells = int(np.prod(table.shape))
    if member.shape[1] != cells:
        raise InputError(
            f"unions of cells are told by a column for each of the table's {cells:,} cells, "
            f"not by {member.shape[1]:,}"
        )
    used, column = np.unique(member.indices, return_inverse=True)
    signs = member.data.astype(np.int64)
    shape = (member.shape[0], len(used))
    of_used = sparse.csr_array((signs, column, member.indptr), shape=shape)
    leaves = _leaves(table)
    net = _net(of_used, boxes_of_cells(table.dimensions, leaves.by, used), leaves)
    if table.contributions is None and not (signs < 0).any():
        # of a cell at least as much is known as of its leaves
        return _of_cells(table, _pairs(of_used, used))
    return _unions(table, net, leaves)


def union_table_of_parts(
    table: Table,
    parts: Sequence[Restriction],
    meaning: Mapping[str, Mapping[str, frozenset[str]]] | None = None,
) -> Table:
    """A table of unions that are no cells, e.g. of what two overlapping codes have in common.

    Parameters
    ----------
    table
        As for `diskret.tables.unions.union_table`.
    parts
        For each union the codes of each variable that its records have; None, or nothing
        said: all. A code that occurs nowhere has no records.
    meaning
        Variable → code → the finest codes that it stands for, as
        `diskret.hierarchy.meaning.base_codes` finds them, where `parts` name codes that are
        finer than those of this table.

    Returns
    -------
    Table
        As of `diskret.tables.unions.union_table`.

    Raises
    ------
    InputError
        As there; a part restricts a variable that the table does not have, or contains only
        a part of a code by which it was tabulated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.tables import Table
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [9, 8, 5]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> union_table_of_parts(table, [{"region": frozenset({"N", "W"})}]).count.tolist()
    [0, 14]
    """
    leaves = _leaves(table)
    boxes = boxes_of_restrictions(table.dimensions, leaves.by, parts, meaning or {})
    number = np.arange(len(parts) + 1)
    ones = np.ones(len(parts), dtype=np.int64)
    alone = sparse.csr_array((ones, number[:-1], number), shape=(len(parts), len(parts)))
    return _unions(table, _net(alone, boxes, leaves), leaves)


# ── what unions consist of ──────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Distinct leaf combinations, and where what is known of them stands.

    Parameters
    ----------
    by
        Variable → leaf codes.
    leaf
        Number of each combination's codes, ``(combinations, d)``.
    start, row
        What is known of combination i: rows ``row[start[i]:start[i + 1]]`` of the list of
        contributions, or, where there is none, the cell ``row[i]`` of the table.
    """

    by: Mapping[str, tuple[str, ...]]
    leaf: NDArray[np.int32]
    start: NDArray[np.int64]
    row: NDArray[np.int64]


def _leaves(table: Table) -> _Leaves:
    if table.weight is not None:
        raise InputError(
            "unions of cells of a weighted table cannot be judged: how often each contribution "
            "counts is known for single cells only; leave weight= out"
        )
    if table.contributions is not None:
        return _listed(table.contributions)
    trees = [d.hierarchy for d in table.dimensions]
    grid = np.meshgrid(*[tree.leaves for tree in trees], indexing="ij")
    cell = np.ravel_multi_index(tuple(axis.ravel() for axis in grid), table.shape)
    if table.count is not None:
        cell = cell[table.count.ravel()[cell] > 0]
    at = np.unravel_index(cell, table.shape)
    number = [np.cumsum(tree.is_leaf, dtype=np.int32) - 1 for tree in trees]
    return _Leaves(
        by={
            d.name: tuple(d.hierarchy.codes[i] for i in d.hierarchy.leaves.tolist())
            for d in table.dimensions
        },
        leaf=np.stack([n[p] for n, p in zip(number, at, strict=True)], axis=1),
        start=np.arange(len(cell) + 1),
        row=cell,
    )


def _listed(listed: Contributions) -> _Leaves:
    number = np.zeros(len(listed.leaf), dtype=np.int64)
    for axis, codes in enumerate(listed.by.values()):
        number = number * len(codes) + listed.leaf[:, axis]
    found, first, combination = np.unique(number, return_index=True, return_inverse=True)
    row = np.argsort(combination, kind="stable")
    start = np.searchsorted(combination[row], np.arange(len(found) + 1))
    return _Leaves(listed.by, listed.leaf[first], start, row)


def _net(of_boxes: sparse.csr_array, boxes: Boxes, leaves: _Leaves) -> sparse.csr_array:
    """Which leaf combinations each union consists of."""
    net = sparse.csr_array(of_boxes @ leaves_in_boxes(boxes, leaves.leaf))
    net.eliminate_zeros()
    wrong = np.flatnonzero(np.abs(net.data) > 1)
    if len(wrong):
        unions = np.unique(np.searchsorted(net.indptr, wrong, side="right"))
        examples = [
            ", ".join(
                f"{name}={of[i]}" for (name, of), i in zip(leaves.by.items(), at, strict=True)
            )
            for at in leaves.leaf[net.indices[wrong[:_EXAMPLES]]].tolist()
        ]
        raise InputError(
            f"{len(unions):,} unions hold the same records more than once, e.g. those of "
            f"{'; '.join(examples)}; the cells of a union must not overlap"
        )
    return net


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Which rows (of a list of contributions, or cells) lie in which union.

    Parameters
    ----------
    unions
        How many there are; they are numbered from 1 on, 0 is the total of their table.
    union, row, sign
        A pair each, ``(pairs,)``, sorted by union; the sign is 1 or −1.
    """

    unions: int
    union: NDArray[np.int64]
    row: NDArray[np.int64]
    sign: NDArray[np.int64]

    def added(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of a value of each row, whatever its sign."""
        return _sums(self.union, values[self.row], self.unions)


def _pairs(
    net: sparse.csr_array, row: NDArray[np.int64], start: NDArray[np.int64] | None = None
) -> _Pairs:
    """The pairs of a matrix whose column i stands for row i, or for those from its start on."""
    union = np.repeat(np.arange(1, net.shape[0] + 1), np.diff(net.indptr))
    if start is None:
        return _Pairs(net.shape[0], union, row[net.indices], net.data)
    at, pair = ranges(start, net.indices)
    return _Pairs(net.shape[0], union[pair], row[at], net.data[pair])


def _unions(table: Table, net: sparse.csr_array, leaves: _Leaves) -> Table:
    pairs = _pairs(net, leaves.row, leaves.start)
    if table.contributions is None:
        return _of_cells(table, pairs)
    return _of_contributors(table, table.contributions, pairs)


# ── what is known of them ───────────────────────────────────────────────────────────


def _of_cells(table: Table, pairs: _Pairs) -> Table:
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


def _of_contributors(table: Table, listed: Contributions, pairs: _Pairs) -> Table:
    """Unions of the contributions of single units and holdings."""
    unknown = [name for name in table.marked if name not in listed.marked]
    if unknown:
        raise InputError(
            "the contributions of the table do not say who asked for protection or consented "
            f"({', '.join(unknown)}), so unions of its cells cannot be judged; tabulate the "
            "records again with contributions=True"
        )
    units = None if listed.unit is None else _Grouped.of(pairs, listed.unit)
    holdings = None if listed.holding is None else _Grouped.of(pairs, listed.holding)
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
    )


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Pairs put together by union and contributor.

    Parameters
    ----------
    union
        The union of each group, ``(groups,)``, ascending.
    order, start
        The pairs of group i are those at ``order[start[i]:start[i + 1]]``.
    number
        How many groups each union has.
    """

    union: NDArray[np.int64]
    order: NDArray[np.int64]
    start: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: _Pairs, names: NDArray[np.uint64]) -> _Grouped:
        """Group pairs by the names of their rows."""
        who = names[pairs.row]
        order = np.lexsort((who, pairs.union))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(pairs.union[order]) != 0) | (who[order][1:] != who[order][:-1])
        start = np.flatnonzero(new)
        union = pairs.union[order][start]
        number = np.bincount(union, minlength=pairs.unions + 1).astype(np.int64)
        return cls(union, order, start, number)

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
