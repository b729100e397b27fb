"""Which of many earlier tables can say anything of new ones that is not known already."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from diskret.hierarchy import Hierarchy
from diskret.tables.meanings import Meaning, side_by_side
from diskret.tables.published import Published
from diskret.tables.ties import MeasureSum

#: Groups of tables with no more cells than this are read as a whole.
_FEW = 20_000


def tied_by_unknowns(
    tables: Sequence[Published], new: int, sums: Sequence[MeasureSum] = ()
) -> list[int]:
    """Positions of the tables that unknown values tie to the first `new` ones; these, too.

    Two tables whose common cells are published in both say nothing of each other's hidden
    cells: every equation between them holds between published values. So a table is left out
    unless a common cell is hidden in one of them, their groupings cut through each other,
    they have different filters, or a sum ties their measures; or it is tied so to a table that
    is not left out ([decision 21](../decisions/0021-beside-earlier-releases.md)). A definition is
    compared by a hash, and a wrong hit only keeps a table.

    Parameters
    ----------
    tables
        New tables, then earlier ones that are tied to them by measure and population.
    new
        Number of new ones.
    sums
        Equations between measures.
    """
    if sum(table.value.size for table in tables) <= _FEW:
        return list(range(len(tables)))
    meanings = _Meanings(tables)
    pairs = np.array(_loosely_tied(tables, sums, meanings), dtype=np.int64).reshape(-1, 2)
    first, second, cells = pairs[:, 0], pairs[:, 1], 0
    table, cell = _hidden_in_common(tables, meanings)
    cells = int(cell.max(initial=-1)) + 1
    n = len(tables)
    links = sparse.coo_array(
        (
            np.ones(len(first) + len(table)),
            (np.concatenate((first, table)), np.concatenate((second, n + cell))),
        ),
        shape=(n + cells, n + cells),
    )
    label = csgraph.connected_components(links, directed=False)[1][:n]
    return np.flatnonzero(np.isin(label, label[:new])).tolist()


def _loosely_tied(
    tables: Sequence[Published], sums: Sequence[MeasureSum], meanings: _Meanings
) -> list[tuple[int, int]]:
    """Pairs of tables that more than common cells may tie."""
    return [
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(tables), 2)
        if one.vintage == other.vintage
        and (
            any({one.measure, other.measure} <= {s.total, *s.parts} for s in sums)
            or (one.measure == other.measure and (one.where != other.where or meanings.cut(i, j)))
        )
    ]


def _hidden_in_common(
    tables: Sequence[Published], meanings: _Meanings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Table and number of each cell that is unknown in some table, wherever it stands."""
    marks = [meanings.marks(i) for i in range(len(tables))]
    unknown = [
        mark[(t.suppressed if t.rounding == 1 else ~t.empty).ravel()]
        for mark, t in zip(marks, tables, strict=True)
    ]
    hidden = np.unique(np.concatenate(unknown))
    every = np.concatenate(marks)
    table = np.repeat(np.arange(len(tables)), [len(mark) for mark in marks])
    at = np.searchsorted(hidden, every)
    found = at < len(hidden)
    found[found] = hidden[at[found]] == every[found]
    return table[found], at[found]


class _Meanings:
    """What the codes of all tables stand for, and a hash of each cell's definition."""

    def __init__(self, tables: Sequence[Published]):
        self._tables = tables
        self._sides = side_by_side(tables)
        self._known: dict[tuple[str, Meaning], np.uint64] = {}
        self._cuts: dict[tuple[object, ...], bool] = {}

    def marks(self, table: int) -> NDArray[np.uint64]:
        """A hash of the definition of each cell, flat, uint64."""
        seen = self._tables[table]
        total = np.array([_mark(seen.measure, frozenset([seen.vintage]))])
        for name, side in self._sides[table].items():
            axis = np.array([self._mark(name, meaning) for meaning in side.meaning], np.uint64)
            total = (total[:, None] + axis[None, :]).ravel()
        return total

    def _mark(self, name: str, meaning: Meaning) -> np.uint64:
        if meaning is None:
            return np.uint64(0)
        if (name, meaning) not in self._known:
            self._known[name, meaning] = _mark(name, meaning)
        return self._known[name, meaning]

    def cut(self, one: int, other: int) -> bool:
        """Whether a leaf of one table is no code of the other, and is cut by its leaves."""
        trees = [{d.name: d.hierarchy for d in self._tables[i].dimensions} for i in (one, other)]
        return any(
            self._cut(name, (trees[0][name], one), (trees[1][name], other))
            for name in trees[0].keys() & trees[1].keys()
        )

    def _cut(self, name: str, one: tuple[Hierarchy, int], other: tuple[Hierarchy, int]) -> bool:
        meant = [self._sides[i][name].meaning for _, i in (one, other)]
        if meant[0] == meant[1]:
            return False
        key = name, frozenset(meant)
        if key not in self._cuts:
            (first, second), pair = meant, (one[0], other[0])
            self._cuts[key] = _cuts(pair[0], first, second, pair[1]) or _cuts(
                pair[1], second, first, pair[0]
            )
        return self._cuts[key]


def _cuts(
    one: Hierarchy, first: Sequence[Meaning], second: Sequence[Meaning], other: Hierarchy
) -> bool:
    known, leaf_of = set(second), dict[str, int]()
    for leaf in np.flatnonzero(other.is_leaf).tolist():
        leaf_of |= dict.fromkeys(second[leaf] or (), leaf)
    return any(
        first[leaf] not in known and len({leaf_of.get(base) for base in first[leaf] or ()}) > 1
        for leaf in np.flatnonzero(one.is_leaf).tolist()
    )


def _mark(name: str, codes: frozenset[str]) -> np.uint64:
    """64 bits of a hash of a restriction."""
    text = "\0".join([name, *sorted(codes)]).encode()
    return np.frombuffer(hashlib.blake2b(text, digest_size=8).digest(), dtype="<u8")[0]
