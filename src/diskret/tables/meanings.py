"""What codes of several tables mean side by side, and which tables unknown cells tie."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.graphs import connected
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.table_circles import Meaning
from diskret.population import Bounds, pieces
from diskret.tables.base_codes import Shown, base_codes
from diskret.tables.published import Published
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum

#: Groups of tables with no more cells than this are read as a whole.
_FEW = 20_000


@dataclass(frozen=True, eq=False)
class Side:
    """A variable of one table, beside others.

    meaning: what each code stands for within the filter, the total's first.
    absent: what other tables show of the variable and nobody of this table's population is in.
    texts: all texts of the variable that there are; empty if this table does not tell.
    """

    meaning: tuple[Meaning, ...]
    absent: frozenset[str]
    texts: frozenset[str] = frozenset()


def side_by_side(tables: Sequence[Table | Published]) -> list[dict[str, Side]]:
    """The variables of each table, those of its filter last.

    Whether a code of one table is that of another follows from the texts of the records that
    they stand for, see `base_codes`. A table that was
    tabulated shows all texts that its records have, so others are nobody's there.
    """
    names = dict.fromkeys(name for table in tables for name in _variables(table))
    sides = {name: _sides(tables, name) for name in names}
    return [{name: sides[name][i] for name in _variables(t)} for i, t in enumerate(tables)]


def codes_left_out(table: Table | Published, side: Side) -> tuple[int, ...]:
    """Positions of the codes of a variable of which the table's filter lets nobody through.

    Codes that are not texts of records may be other words for what the filter asks for.
    """
    if not (table.recorded and table.where):
        return ()
    return tuple(i for i, meaning in enumerate(side.meaning) if meaning == frozenset())


def filters_what_it_shows(table: Table | Published) -> bool:
    """Whether a filter asks for codes of a variable that the table shows."""
    return not table.where.asked.keys().isdisjoint(d.name for d in table.dimensions)


def cells_left_out(table: Table) -> NDArray[np.bool_]:
    """The cells of codes that the table's filter leaves out, in its shape: all know they are empty.

    >>> from diskret.tables.dimension import Dimension
    >>> from diskret.population import Population
    >>> from diskret.hierarchy import Hierarchy
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> north = Population.of({"region": "N"})
    >>> cells_left_out(Table((region,), np.array([5, 5, 0]), where=north, recorded=True)).tolist()
    [False, False, True]
    """
    nowhere = np.zeros(table.shape, dtype=bool)
    if filters_what_it_shows(table):
        [sides] = side_by_side([table])
        for axis, dimension in enumerate(table.dimensions):
            codes = list(codes_left_out(table, sides[dimension.name]))
            np.moveaxis(nowhere, axis, 0)[codes] = True
    return nowhere


def common_cells(
    one: Table | Published, other: Table | Published
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells that two tables of one measure and vintage have in common, whatever their filters.

    A filter for one code of a variable selects as the code does, and one for all texts that
    there are selects as the total does.

    Returns positions in C order in the one and in the other table, int64,
        of the same length.

    >>> from diskret.tables.dimension import Dimension
    >>> from diskret.population import Population
    >>> from diskret.hierarchy import Hierarchy
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> sex = Dimension("sex", Hierarchy.flat(["f", "m"]))
    >>> count = np.ones((3, 3), dtype=np.int64)
    >>> men = Table((region,), count[0], where=Population.of({"sex": "m"}))
    >>> [cells.tolist() for cells in common_cells(Table((region, sex), count), men)]
    [[2, 5, 8], [0, 1, 2]]
    """
    sides = side_by_side([one, other])
    shapes = [tuple(len(d) for d in table.dimensions) for table in (one, other)]
    at = [np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        pairs = _alike(*(own.get(name) for own in sides))
        for i, table in enumerate((one, other)):
            names = [d.name for d in table.dimensions]
            step = 0
            if name in names:
                step = int(np.prod(shapes[i][names.index(name) + 1 :], dtype=np.int64))
            at[i] = (at[i][:, None] + pairs[i] * step).ravel()
    return at[0], at[1]


_EVERYTHING = Side((None,), frozenset())


def _alike(one: Side | None, other: Side | None) -> NDArray[np.int64]:
    """Positions of the codes of two tables that select the same records, ``(2, codes)``."""
    both = one or _EVERYTHING, other or _EVERYTHING
    absent = both[0].absent | both[1].absent
    # whoever knows all texts that there are knows what everything is
    texts = next((side.texts for side in both if side.texts), None)
    found: list[list[Meaning]] = [
        [texts and texts - absent if m is None else m - absent for m in side.meaning]
        for side in both
    ]
    at: defaultdict[Meaning, list[int]] = defaultdict(list)
    for j, its in enumerate(found[1]):
        at[its].append(j)
    pairs = [(i, j) for i, mine in enumerate(found[0]) for j in at.get(mine, [])]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T


def _variables(table: Table | Published) -> list[str]:
    own = [dimension.name for dimension in table.dimensions]
    return own + [name for name, _ in table.where if name not in own]


def _sides(tables: Sequence[Table | Published], name: str) -> dict[int, Side]:
    """What a variable is in the tables that have it."""
    trees = {i: d.hierarchy for i, t in enumerate(tables) for d in t.dimensions if d.name == name}
    asked = {i: t.where.asked[name] for i, t in enumerate(tables) if name in t.where.asked}
    lists = {i: codes for i, codes in asked.items() if not isinstance(codes, Bounds)}
    recorded = {i for i, table in enumerate(tables) if table.recorded}
    every = [*trees.items(), *lists.items()]
    read = base_codes([Shown(codes, i in recorded) for i, codes in every])
    bases = dict(zip(trees, read, strict=False))
    let = {i: _union(own) for i, own in zip(lists, read[len(trees) :], strict=True)}
    known = _union([*(own[0] for own in bases.values()), *let.values()])
    bounds = [i for i in asked if i not in lists]
    let |= dict(zip(bounds, pieces([asked[i] for i in bounds], sorted(known)), strict=True))
    everything = _union(
        [*(bases[i][0] for i in recorded & {*bases}), *(let[i] for i in recorded & {*let})]
    )

    def side(i: int) -> Side:
        only = let.get(i)
        if i not in bases:
            return Side((only,), frozenset())
        inside = bases[i] if only is None else [codes & only for codes in bases[i]]
        around = everything if only is None else only & everything
        if i not in recorded:
            return Side((only, *inside[1:]), frozenset())
        texts = everything if only is None else frozenset[str]()
        return Side((only, *inside[1:]), around - bases[i][0], texts)

    return {i: side(i) for i in {*bases, *let}}


def _union(codes: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*codes)


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

    tables: new tables, then earlier ones that are tied to them by measure and population.
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
    label = connected(links)[:n]
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
    hashes = [meanings.hashes(i) for i in range(len(tables))]
    unknown = [
        mark[(t.suppressed if t.rounding == 1 else ~t.empty).ravel()]
        for mark, t in zip(hashes, tables, strict=True)
    ]
    hidden = np.unique(np.concatenate(unknown))
    every = np.concatenate(hashes)
    table = np.repeat(np.arange(len(tables)), [len(mark) for mark in hashes])
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

    def hashes(self, table: int) -> NDArray[np.uint64]:
        """A hash of the definition of each cell, flat, uint64."""
        seen = self._tables[table]
        total = np.array([_hash(seen.measure, frozenset([seen.vintage]))])
        for name, side in self._sides[table].items():
            axis = np.array([self._hash(name, meaning) for meaning in side.meaning], np.uint64)
            total = (total[:, None] + axis[None, :]).ravel()
        return total

    def _hash(self, name: str, meaning: Meaning) -> np.uint64:
        if meaning is None:
            return np.uint64(0)
        if (name, meaning) not in self._known:
            self._known[name, meaning] = _hash(name, meaning)
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


def _hash(name: str, codes: frozenset[str]) -> np.uint64:
    """64 bits of a hash of a restriction."""
    text = "\0".join([name, *sorted(codes)]).encode()
    return np.frombuffer(hashlib.blake2b(text, digest_size=8).digest(), dtype="<u8")[0]
