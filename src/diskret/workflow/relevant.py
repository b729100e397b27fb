"""Which of many earlier tables can say anything of new ones that is not known already."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from diskret.hierarchy import Hierarchy
from diskret.hierarchy.meaning import base_codes
from diskret.population import Bounds, Condition, pieces
from diskret.tables import MeasureSum, Published

#: Groups of tables with no more cells than this are read as a whole.
_FEW = 20_000

Meaning = frozenset[str] | None


def relevant(tables: Sequence[Published], new: int, sums: Sequence[MeasureSum] = ()) -> list[int]:
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
            or (
                one.measure == other.measure
                and (one.where != other.where or meanings.cut(one, other))
            )
        )
    ]


def _hidden_in_common(
    tables: Sequence[Published], meanings: _Meanings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Table and number of each cell that is unknown in some table, wherever it stands."""
    marks = [meanings.marks(table) for table in tables]
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
        trees: defaultdict[str, dict[int, Hierarchy]] = defaultdict(dict)
        asked: defaultdict[str, dict[Condition, None]] = defaultdict(dict)
        for table in tables:
            for dimension in table.dimensions:
                trees[dimension.name][_sign(dimension.hierarchy)] = dimension.hierarchy
            for name, condition in table.where:
                asked[name][condition] = None
        self._bases: dict[str, Mapping[str, frozenset[str]]] = {
            name: base_codes(list(of.values())) for name, of in trees.items()
        }
        self._asked: dict[tuple[str, Condition], frozenset[str]] = {}
        for name, conditions in asked.items():
            known = self._bases.get(name, {})
            shown = [base for codes in known.values() for base in codes]
            for condition, kept in zip(conditions, pieces([*conditions], shown), strict=True):
                if not isinstance(condition, Bounds):
                    kept = frozenset(base for code in kept for base in known.get(code, [code]))
                self._asked[name, condition] = kept
        self._axes: dict[tuple[str, int, Meaning], tuple[list[Meaning], NDArray[np.uint64]]] = {}
        self._cuts: dict[tuple[str, int, int], bool] = {}

    def marks(self, table: Published) -> NDArray[np.uint64]:
        """A hash of the definition of each cell, flat, uint64."""
        filters = {name: self._asked[name, asked] for name, asked in table.where}
        total = np.array([_mark(table.measure, frozenset([table.vintage]))])
        for dimension in table.dimensions:
            only = filters.pop(dimension.name, None)
            axis = self._axis(dimension.name, dimension.hierarchy, only)[1]
            total = (total[:, None] + axis[None, :]).ravel()
        return total + sum((_mark(name, codes) for name, codes in filters.items()), np.uint64(0))

    def cut(self, one: Published, other: Published) -> bool:
        """Whether a leaf of one table is no code of the other, and is cut by its leaves."""
        theirs = {d.name: d.hierarchy for d in other.dimensions}
        return any(
            self._cut(d.name, d.hierarchy, theirs[d.name])
            for d in one.dimensions
            if d.name in theirs
        )

    def _cut(self, name: str, one: Hierarchy, other: Hierarchy) -> bool:
        if one is other:
            return False
        signs = _sign(one), _sign(other)
        key = name, min(signs), max(signs)
        if key not in self._cuts:
            first, second = (self._axis(name, tree, None)[0] for tree in (one, other))
            cuts = _cuts(one, first, second, other), _cuts(other, second, first, one)
            self._cuts[key] = any(cuts)
        return self._cuts[key]

    def _axis(
        self, name: str, tree: Hierarchy, only: Meaning
    ) -> tuple[list[Meaning], NDArray[np.uint64]]:
        """What each code stands for within a filter, and its hash; 0 for everything."""
        key = name, _sign(tree), only
        if key not in self._axes:
            bases = self._bases[name]
            below = [bases[code] if only is None else bases[code] & only for code in tree.codes[1:]]
            meant = [only, *below]
            marks = [np.uint64(0) if m is None else _mark(name, m) for m in meant]
            self._axes[key] = meant, np.array(marks, dtype=np.uint64)
        return self._axes[key]


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


def _sign(tree: Hierarchy) -> int:
    return hash((tree.codes, tree.parent.tobytes(), tuple(sorted(tree.members.items()))))


def _mark(name: str, codes: frozenset[str]) -> np.uint64:
    """64 bits of a hash of a restriction."""
    text = "\0".join([name, *sorted(codes)]).encode()
    return np.frombuffer(hashlib.blake2b(text, digest_size=8).digest(), dtype="<u8")[0]
