"""Who contributes how much to cells and to sums of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError
from diskret.tables.boxes import Restriction, ranges
from diskret.tables.contributions import Contributions, Measure
from diskret.tables.table import Table
from diskret.tables.union_members import Grouped
from diskret.tables.unions import pairs_of, pairs_of_parts

#: Numbers of those who are not listed: the place of the table, then leaf cell and rank.
_PLACE, _RANKS = 2**48, 64


@dataclass(frozen=True, eq=False)
class Shares:
    """The contributions to some sets of cells, one of each contributor. Confidential.

    at, who: which set, ascending, and the contributor's number, ``(e,)``, int64 and uint64.
    value: what it contributes, scaled, ``(e,)``, int64; to a frequency table its records.
    protected, asked: whether it has not consented to publication, and whether it asked for
        protection, bool, ``(e,)``.
    number: how many contribute to each set, ``(n,)``, int64; −1 if nobody knows.
    size: sum of the absolute values of all contributions, ``(n,)``, int64; also of those that are
        not listed.
    """

    at: NDArray[np.int64]
    who: NDArray[np.uint64]
    value: NDArray[np.int64]
    protected: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    number: NDArray[np.int64]
    size: NDArray[np.int64]


def shares(table: Table, member: sparse.csr_array, place: int = 0, variable: str = "") -> Shares:
    """The contributions to sets of cells of a table; cells of a set must not overlap.

    With `Table.contributions` every contributor is listed. Without, those are whose size the
    table knows: the largest of each cell without parts, each taken for another one.

    table: without weights.
    member: which cells each set consists of, ``(n, cells)``, entries 1.
    place: which of several tables this is: who is not listed is another one in each.
    variable: another measure to look at; "": the one to protect.

    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "sales": [9, 8], "x1": [6, 8]})
    >>> table = Table.from_cells(cells, by={"region": None}, value="sales", largest=["x1"])
    >>> found = shares(table, sparse.csr_array(np.eye(3, dtype=np.int64)))
    >>> found.at.tolist(), found.value.tolist(), found.size.tolist()
    ([0, 0, 1, 2], [6, 8, 6, 8], [17, 9, 8])
    """
    measure = table.measure
    if variable:
        measure = next(one for one in table.measures if one.name == variable)
    if table.contributions is None:
        return _by_size(table, measure, member, place)
    return _listed(table, table.contributions, measure, member, place)


def shares_of_cells(table: Table, cells: NDArray[np.int64], place: int) -> Shares:
    """Who contributes to each of some cells of a table; `place` as in `shares`."""
    n = len(cells)
    member = sparse.csr_array(
        (np.ones(n, np.int64), cells, np.arange(n + 1)), shape=(n, int(np.prod(table.shape)))
    )
    return shares(table, member, place)


def shares_of_parts(
    table: Table,
    parts: Sequence[Restriction],
    meaning: Mapping[str, Mapping[str, frozenset[str]]],
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Who has what in parts of a table that lists its contributions: part, contributor, value.

    Parameters and errors as of `diskret.tables.unions.union_table_of_parts`.
    """
    listed, names = table.contributions, names_of(table)
    if listed is None or names is None:
        raise InputError("the table does not list who contributes to it; list contributions")
    pairs = pairs_of_parts(table, parts, meaning)
    found = Grouped.of(pairs, names)
    values = listed.records if table.frequency else listed.values[table.measure.name]
    return found.union - 1, found.who, found.added(values[pairs.row])


def names_of(table: Table) -> NDArray[np.uint64] | None:
    """Who contributes, for each entry of the list of contributions; None if there is no list."""
    listed = table.contributions
    if listed is None:
        return None
    return listed.unit if listed.holding is None else listed.holding


def place_of(who: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The place of the table in which those who are not listed contribute."""
    return (who // np.uint64(_PLACE)).astype(np.int64) - 1


def cell_of(who: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The cell of their table in which those who are not listed contribute."""
    return (who % np.uint64(_PLACE)).astype(np.int64) // _RANKS


def called_at(who: NDArray[np.uint64], place: int) -> NDArray[np.uint64]:
    """What those who are not listed are called where their table has another place."""
    return who % np.uint64(_PLACE) + np.uint64((place + 1) * _PLACE)


def _listed(
    table: Table, listed: Contributions, measure: Measure, member: sparse.csr_array, place: int
) -> Shares:
    names = names_of(table)
    if names is None:
        return _by_size(replace(table, contributions=None), measure, member, place)
    pairs = pairs_of(table, member)
    found = Grouped.of(pairs, names)
    counts = table.frequency and measure.name == table.measure.name
    value = found.added((listed.records if counts else listed.values[measure.name])[pairs.row])

    def marked(mark: str) -> NDArray[np.bool_]:
        listed.check_marked([mark])
        return found.added(listed.marked[mark][pairs.row]) > 0

    asked = np.zeros(len(value), dtype=bool)
    for mark in ("request", "request 2"):
        if mark in table.marked:
            asked |= marked(mark)
    size = np.zeros(member.shape[0], dtype=np.int64)
    np.add.at(size, found.union - 1, np.abs(value))
    return Shares(
        found.union - 1,
        found.who,
        value,
        marked("no_waiver") if "no_waiver" in table.marked else np.ones(len(value), dtype=bool),
        asked,
        found.number[1:],
        size,
    )


def _by_size(table: Table, measure: Measure, member: sparse.csr_array, place: int) -> Shares:
    """The largest contributors of each leaf cell, in all sets that it is part of."""
    count = _number(table)
    pairs = pairs_of(table, member)
    leaf = np.unique(pairs.row)
    cell, rank, value = _known(table, measure, leaf, count)
    start = np.searchsorted(cell, np.arange(measure.sum.size + 1))
    row, again = ranges(start, pairs.row)
    at = pairs.union[again] - 1
    order = np.lexsort((row, at))
    row, at = row[order], at[order]
    who = (place + 1) * _PLACE + cell[row] * _RANKS + rank[row]
    number = np.full(member.shape[0], -1) if count is None else member @ count
    protected = np.ones(len(row), dtype=bool)
    if "no_waiver" in table.marked:  # only the largest contribution without a waiver is known
        number_of = table.marked["no_waiver"].ravel()[cell[row]]
        if "no_waiver" in measure.marked:
            protected = value[row] <= measure.marked["no_waiver"].ravel()[cell[row]]
            protected &= number_of > 0
        else:  # counted records are alike
            protected = rank[row] < number_of
    asked = np.zeros(len(row), dtype=bool)
    for mark in ("request", "request 2"):
        if mark in table.marked:
            asked |= table.marked[mark].ravel()[cell[row]] > 0
    return Shares(
        at,
        who.astype(np.uint64),
        value[row],
        protected,
        asked,
        np.asarray(number, dtype=np.int64),
        np.asarray(member @ measure.magnitude.ravel(), dtype=np.int64),
    )


def _number(table: Table) -> NDArray[np.int64] | None:
    """How many contribute to each cell, flat."""
    named = {"holdings": table.holdings, "units": table.units}
    count = None if table.frequency else named.get(table.contributors)
    count = table.count if count is None else count
    return None if count is None else count.ravel()


def _known(
    table: Table, measure: Measure, leaf: NDArray[np.int64], count: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cell, rank and value of the contributors of leaf cells whose value is known."""
    value = measure.sum.ravel()[leaf]
    if table.frequency:
        top = np.ones((len(leaf), _RANKS), dtype=np.int64)
    else:
        top = measure.largest.reshape(measure.sum.size, -1)[leaf][:, :_RANKS]
    there = top != 0
    if count is not None:
        there = np.arange(top.shape[1]) < count[leaf, None]
        alone = count[leaf] == 1  # its value is that of the cell
        if not top.shape[1]:
            top, there = np.zeros((len(leaf), 1), np.int64), np.zeros((len(leaf), 1), dtype=bool)
        top = np.where(alone[:, None] & (np.arange(top.shape[1]) == 0), value[:, None], top)
        there[:, 0] |= alone
    at, rank = np.nonzero(there)
    return leaf[at], rank, top[at, rank]
