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

from diskret.errors import HierarchyError
from diskret.graphs import connected
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.population import Bounds, pieces
from diskret.tables.published import Published
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum
from diskret.texts.numbers import Count

#: What a code stands for: a set of base codes, or None for everything.
Meaning = frozenset[str] | None
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


# ── what codes of one variable stand for ──────────────────────────────────────────────
# A code is what it consists of: the texts of the records below it. Names of categories tell
# nothing: two groups of one name are two, and one group under two names is one.


@dataclass(frozen=True, eq=False)
class Shown:
    """Codes as a table shows them, or as its filter asks for them.

    `tree`: A tree, or the codes of a filter. `recorded`: whether the finest codes are known to be
    texts of the records, as in tables that were tabulated. Else they may be groups that another
    table shows under this name.
    """

    tree: Hierarchy | tuple[str, ...]
    recorded: bool

    @property
    def content(self) -> tuple[object, ...]:
        """What makes two of them the same."""
        if isinstance(self.tree, tuple):
            return self.tree, self.recorded
        members = tuple(sorted(self.tree.members.items()))
        return self.tree.codes, self.tree.parent.tobytes(), members, self.recorded

    def texts(self) -> list[frozenset[str]]:
        """The finest codes of each code, as this table knows them; of a tree the total's first."""
        if isinstance(self.tree, tuple):
            return [frozenset([code]) for code in self.tree]
        return [frozenset(self.tree.leaves_below(i)) for i in range(len(self.tree))]

    def groups(self, texts: Sequence[frozenset[str]]) -> dict[str, int]:
        """The categories below the total that are more than a finest code: name → position."""
        if isinstance(self.tree, tuple):
            return {}
        codes = enumerate(self.tree.codes)
        return {code: i for i, code in codes if i > 0 and texts[i] != frozenset([code])}


def base_codes(shown: Sequence[Shown]) -> list[tuple[frozenset[str], ...]]:
    """The finest codes, known from any of the tables, that each code of each table stands for.

    Of a tree the total comes first. A finest code that is no text of the records for certain is
    the group of this name in another tree; unless its own tree shows parts of that group beside
    it, for then it is something else.

    >>> fine = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))
    >>> coarse = Hierarchy.flat(["01", "02"])
    >>> sorted(base_codes([Shown(coarse, False), Shown(fine, True)])[0][1])
    ['011', '012']
    >>> sorted(base_codes([Shown(coarse, True), Shown(fine, True)])[0][1])
    ['01']
    """
    place: dict[object, int] = {}
    number = [place.setdefault(one.content, len(place)) for one in shown]
    different = [shown[number.index(i)] for i in range(len(place))]
    found = _Reading(different)
    every = [tuple(found.code(i, at) for at in range(len(t))) for i, t in enumerate(found.texts)]
    if found.doubtful:
        many = Count(len(found.doubtful))
        raise HierarchyError(
            f"{many} {many:code stands|codes stand} for one category in one table and for several "
            f"in another: {some(sorted(map(repr, found.doubtful)))}; give combined categories "
            "codes of their own, or tabulate the tables from records"
        )
    return [every[i] for i in number]


class _Reading:
    """What the codes of different trees stand for, each found once."""

    def __init__(self, shown: Sequence[Shown]):
        self.texts = [one.texts() for one in shown]
        self.doubtful: set[str] = set()
        self._recorded = [one.recorded for one in shown]
        self._every = [frozenset[str]().union(*texts) for texts in self.texts]
        self._groups: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for i, one in enumerate(shown):
            for name, at in one.groups(self.texts[i]).items():
                self._groups[name].append((i, at))
        self._known: dict[tuple[int, str], frozenset[str]] = {}

    def code(self, table: int, at: int) -> frozenset[str]:
        own = self.texts[table][at]
        if self._recorded[table] or self._groups.keys().isdisjoint(own):
            return own
        return frozenset[str]().union(*(self._text(table, text) for text in own))

    def _text(self, table: int, text: str) -> frozenset[str]:
        key = table, text
        if key not in self._known:
            self._known[key] = frozenset([text])  # also what ends a group that is part of itself
            beside = self._every[table] - {text}
            named = (
                [(i, at) for i, at in self._groups[text] if beside.isdisjoint(self.texts[i][at])]
                if text in self._groups
                else []
            )
            meant = {self.code(i, at) for i, at in named}
            if len(meant) > 1 or any(text in self.texts[i][at] for i, at in named):
                self.doubtful.add(text)
            elif meant:
                self._known[key] = meant.pop()
        return self._known[key]
