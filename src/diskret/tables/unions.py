"""Unions of cells: which records a sum of cells is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.tables.boxes import (
    Boxes,
    Restriction,
    boxes_of_cells,
    boxes_of_restrictions,
    leaves_in_boxes,
    ranges,
)
from diskret.tables.contributions import Contributions
from diskret.tables.made_of import ANYWHERE, MadeOf, behind_total
from diskret.tables.table import Table
from diskret.tables.union_members import Pairs, of_cells, of_contributors
from diskret.texts.numbers import Count

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
    leaves = _leaves(table)
    of_used, used = _used(table, member)
    net = _net(of_used, boxes_of_cells(table.dimensions, leaves.by, used), leaves)
    cells = made_of(table, member)
    if table.contributions is None and not (of_used.data < 0).any():
        # of a cell at least as much is known as of its leaves
        return replace(of_cells(table, _pairs(of_used, used)), made_of=cells)
    return replace(_unions(table, net, leaves), made_of=cells)


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
        `diskret.tables.base_codes.base_codes` finds them, where `parts` name codes that are
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
    return _unions(table, *_net_of_parts(table, parts, meaning or {}))


def made_of(table: Table, member: Any) -> MadeOf:
    """The cells of a table that unions are made of; of unions of unions nobody knows them.

    member: as of `union_table`.
    """
    if table.made_of is not None:
        return ANYWHERE
    cells = behind_total(sparse.csr_array(member))
    return MadeOf(table.dimensions, table.where, table.recorded, cells)


def pairs_of(table: Table, member: Any) -> Pairs:
    """Which listed contributions lie in which union; without a list, which leaf cells.

    Parameters and errors as of `union_table`.
    """
    leaves = _leaves(table)
    of_used, used = _used(table, member)
    net = _net(of_used, boxes_of_cells(table.dimensions, leaves.by, used), leaves)
    return _pairs(net, leaves.row, leaves.start)


def pairs_of_parts(
    table: Table,
    parts: Sequence[Restriction],
    meaning: Mapping[str, Mapping[str, frozenset[str]]],
) -> Pairs:
    """The same of parts; parameters and errors as of `union_table_of_parts`."""
    net, leaves = _net_of_parts(table, parts, meaning)
    return _pairs(net, leaves.row, leaves.start)


# ── what unions consist of ──────────────────────────────────────────────────────────


def _used(table: Table, member: Any) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """The unions in terms of the cells that they use, and these cells."""
    member = sparse.csr_array(member, copy=True)
    member.eliminate_zeros()
    cells = int(np.prod(table.shape))
    if member.shape[1] != cells:
        raise InputError(
            f"unions of cells are told by a column for each of the table's {cells:,} cells, "
            f"not by {member.shape[1]:,}"
        )
    used, column = np.unique(member.indices, return_inverse=True)
    signs, shape = member.data.astype(np.int64), (member.shape[0], len(used))
    return sparse.csr_array((signs, column, member.indptr), shape=shape), used


@dataclass(frozen=True, eq=False)
class _Leaves:
    """Distinct leaf combinations, and where what is known of them stands.

    by: variable → leaf codes.
    leaf: number of each combination's codes, ``(combinations, d)``.
    start, row: what is known of combination i: rows ``row[start[i]:start[i + 1]]`` of the list of
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


def _net_of_parts(
    table: Table,
    parts: Sequence[Restriction],
    meaning: Mapping[str, Mapping[str, frozenset[str]]],
) -> tuple[sparse.csr_array, _Leaves]:
    """Which leaf combinations each part consists of."""
    leaves = _leaves(table)
    boxes = boxes_of_restrictions(table.dimensions, leaves.by, parts, meaning)
    number = np.arange(len(parts) + 1)
    ones = np.ones(len(parts), dtype=np.int64)
    alone = sparse.csr_array((ones, number[:-1], number), shape=(len(parts), len(parts)))
    return _net(alone, boxes, leaves), leaves


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
        number = Count(len(unions))
        raise InputError(
            f"{number} {number:union holds|unions hold} the same records more than once, e.g. "
            f"those of {'; '.join(examples)}; the cells of a union must not overlap"
        )
    return net


def _pairs(
    net: sparse.csr_array, row: NDArray[np.int64], start: NDArray[np.int64] | None = None
) -> Pairs:
    """The pairs of a matrix whose column i stands for row i, or for those from its start on."""
    union = np.repeat(np.arange(1, net.shape[0] + 1), np.diff(net.indptr))
    if start is None:
        return Pairs(net.shape[0], union, row[net.indices], net.data)
    at, pair = ranges(start, net.indices)
    return Pairs(net.shape[0], union[pair], row[at], net.data[pair])


def _unions(table: Table, net: sparse.csr_array, leaves: _Leaves) -> Table:
    pairs = _pairs(net, leaves.row, leaves.start)
    if table.contributions is None:
        return of_cells(table, pairs)
    return of_contributors(table, table.contributions, pairs)
