"""Parts of categories that nobody published, but that published cells reveal by subtraction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from diskret.attack.all_cells import AllCells, all_cells, remembered
from diskret.attack.attacker import Attacker
from diskret.attack.axes import Axis, Meaning, axes_of
from diskret.attack.equations import cell_name, equations
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.reduction import reduce
from diskret.attack.ties import numbered
from diskret.tables import Publication

_Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parts:
    """Cells that nobody published, and whose value everybody can compute. Confidential.

    table: position of a table that holds each part, ``(p,)``, int64.
    value: in scaled units, ``(p,)``, int64; not 0 for counts: nobody is there.
    cells: positions of two published cells whose difference a part is, ``(p, 2)``, int64; -1 where
        more of them are needed.
    names, codes, meanings: ``meanings[codes[i, j]]`` is what part i is restricted to in the
        variable ``names[j]``: base codes, or None for everything.
    filters: table → variables that it filters by but does not show, with what the filter lets
        through.
    """

    table: NDArray[np.int64]
    value: NDArray[np.int64]
    cells: NDArray[np.int64]
    names: tuple[str, ...]
    codes: _Codes
    meanings: tuple[Meaning, ...]
    filters: Mapping[int, Mapping[str, Meaning]] = field(
        default_factory=dict[int, Mapping[str, Meaning]]
    )

    def __len__(self) -> int:
        return len(self.table)

    def only(self, which: NDArray[np.bool_]) -> Parts:
        """Some of them."""
        return replace(
            self,
            table=self.table[which],
            value=self.value[which],
            cells=self.cells[which],
            codes=self.codes[which],
        )

    def inside(self, part: int) -> dict[str, frozenset[str]]:
        """The base codes that a part is restricted to, by variable."""
        of = ((n, self.meanings[c]) for n, c in zip(self.names, self.codes[part], strict=True))
        return {name: meaning for name, meaning in of if meaning is not None}

    def cuts_filter(self, part: int) -> bool:
        """Whether a part has only some of the records that its table's filter lets through."""
        inside = self.inside(part)
        let_through = self.filters.get(int(self.table[part]), {})
        return any(inside.get(name) != codes for name, codes in let_through.items())

    def key(self, publication: Publication, part: int) -> tuple[object, ...]:
        """What a part is, whatever is suppressed."""
        table = publication.tables[self.table[part]]
        return table.measure, table.vintage, frozenset(self.inside(part).items())

    def name(self, publication: Publication, part: int) -> str:
        """A part in words, e.g. ``age=15-17 (minors: age=0-17 without working: age=0-14)``."""
        own = ", ".join(f"{n}={'+'.join(sorted(c))}" for n, c in sorted(self.inside(part).items()))
        if self.cells[part, 0] < 0:
            return f"{own} (from several cells of {publication.tables[self.table[part]].name})"
        whole, other = (cell_name(publication, int(cell)) for cell in self.cells[part])
        return f"{own} ({whole} without {other})"


@dataclass(frozen=True)
class JudgedParts:
    """How many revealed parts a rule has judged, and of how many it could tell nothing."""

    judged: int
    unjudged: int


@remembered
def overlapping(publication: Publication) -> bool:
    """Whether groupings of the tables cut through each other.

    They do not if each category of one is a part of a category of the other, or consists of
    some of them.
    """
    axes = axes_of(publication.tables)
    if all(len(axis.parent) == axis.public for own in axes for axis in own):
        return False
    alike: defaultdict[str, dict[tuple[Meaning, ...], None]] = defaultdict(dict)
    for axis in (axis for own in axes for axis in own):
        alike[axis.name][_leaves(axis)] = None
    return any(_cut(*pair) for same in alike.values() for pair in permutations(same, 2))


def may_have_parts(publication: Publication) -> bool:
    """Whether there may be parts: of overlapping groupings, or in earlier tables only bounded.

    The cells of such a table were never judged. So what later tables tell of them is judged like a
    part that nobody published.
    """
    earlier = publication.tables[len(publication.own) :]
    return overlapping(publication) or any(table.of_changed is not None for table in earlier)


def _leaves(axis: Axis) -> tuple[Meaning, ...]:
    """What the categories without published parts stand for."""
    parents = set(axis.parent[: axis.public].tolist())
    return tuple(m for i, m in enumerate(axis.meaning[: axis.public]) if i not in parents)


def _cut(one: Sequence[Meaning], other: Sequence[Meaning]) -> bool:
    """Whether categories are neither within one of another grouping nor some of them."""
    category = {base: i for i, codes in enumerate(other) for base in codes or ()}
    size = [len(codes or ()) for codes in other]
    for codes in one:
        inside = Counter(category.get(base) for base in codes or ())
        if len(inside) > 1 and any(i is None or n < size[i] for i, n in inside.items()):
            return True
    return False


def revealed_parts(publication: Publication) -> Parts:
    """The parts of overlapping categories that subtraction alone reveals.

    With any codes of the other variables these are

    - what a published cell has beyond another one that lies in it, the same in all variables
      but one;
    - what lies in the same categories of all tables, if the equations between all cells leave it
      a single value.

    Published cells and sums of cells of one table are none of them, unless nothing but intervals
    was ever published of that table. What only common records of three or more tables tell is not
    looked at; what is left beside a filter is a matter of
    `diskret.attack.rests`.

    publication: what the world sees. Where it contradicts itself only differences are found.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension, Published
    >>> root = np.array([-1, 0, 0])
    >>> def shown(name: str, members: dict[str, tuple[str, ...]], *counts: int) -> Published:
    ...     age = Dimension("age", Hierarchy(("Total", *members), root, members=members))
    ...     value, no = np.array([sum(counts), *counts]), np.zeros(3, dtype=bool)
    ...     return Published(name, (age,), "count", True, 0, value, no, no)
    >>> minors = shown("minors", {"0-17": ("0-14", "15-17"), "18+": ()}, 32, 80)
    >>> children = shown("children", {"0-14": (), "15+": ("15-17", "18+")}, 30, 82)
    >>> both = Publication((minors, children))
    >>> parts = revealed_parts(both)
    >>> parts.value.tolist(), parts.name(both, 0)
    ([2], 'age=15-17 (minors: age=0-17 without children: age=0-14)')
    """
    if not may_have_parts(publication):
        return _Found().parts((), ())
    seen = all_cells(publication)
    coded = _Coded.of(seen)
    found = _Found()
    for column in range(len(coded.names)):
        _differences(seen, coded, column, found)
    bounded = np.array([table.of_changed is not None for table in publication.tables])
    judged = (coded.cell < coded.public) & ~bounded[coded.table]
    _atoms(seen, coded, judged, found)
    parts = found.parts(coded.names, tuple(coded.place))
    return replace(_distinct(seen, coded, judged, parts), filters=coded.filters)


# ── what cells are restricted to ────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Coded:
    """The cells of all tables, with the parts of categories.

    names: all variables.
    place: the number of each meaning; None, everything, has 0.
    table, kind, cell: of each cell its table, the number of its measure and vintage, and its
        position among all cells, ``(n,)``.
    codes: the number of what it is restricted to in each variable, ``(n, v)``.
    axes: variable → the axis of each table that has it.
    filters: as of `Parts`.
    """

    names: tuple[str, ...]
    place: dict[Meaning, int]
    table: NDArray[np.int64]
    kind: NDArray[np.int64]
    cell: NDArray[np.int64]
    codes: _Codes
    axes: dict[str, dict[int, Axis]]
    public: int
    filters: dict[int, dict[str, Meaning]]

    @classmethod
    def of(cls, seen: AllCells) -> _Coded:
        grids = seen.grids[: len(seen.publication.tables)]
        axes: dict[str, dict[int, Axis]] = {}
        for i, grid in enumerate(grids):
            for axis in grid.axes:
                axes.setdefault(axis.name, {})[i] = axis
        place: dict[Meaning, int] = {None: 0}
        kinds: dict[tuple[str, str], int] = {}
        blocks: list[_Codes] = []
        for grid in grids:
            own = {a.name: [place.setdefault(m, len(place)) for m in a.meaning] for a in grid.axes}
            mesh = dict(zip(own, np.meshgrid(*own.values(), indexing="ij"), strict=True))
            nothing = np.zeros(grid.number.size, dtype=np.int64)
            columns = [mesh[name].ravel() if name in own else nothing for name in axes]
            blocks.append(np.stack(columns, axis=1))
            kinds.setdefault((grid.table.measure, grid.table.vintage), len(kinds))
        sizes = [grid.number.size for grid in grids]
        kind = [kinds[grid.table.measure, grid.table.vintage] for grid in grids]
        return cls(
            tuple(axes),
            place,
            np.repeat(np.arange(len(grids)), sizes),
            np.repeat(kind, sizes),
            np.concatenate([grid.number.ravel() for grid in grids]),
            np.concatenate(blocks),
            axes,
            seen.public,
            {
                i: {a.name: a.meaning[0] for a in g.axes if a.name not in shown}
                for i, g in enumerate(grids)
                for shown in [{d.name for d in g.table.dimensions}]
            },
        )


# ── which parts everybody can compute ───────────────────────────────────────────────


class _Found:
    """Parts as they are found."""

    def __init__(self) -> None:
        self.blocks: list[tuple[NDArray[np.int64], ...]] = []

    def add(
        self,
        table: NDArray[np.int64],
        value: NDArray[np.int64],
        cells: NDArray[np.int64],
        codes: _Codes,
    ) -> None:
        self.blocks.append((table, value, cells, codes))

    def parts(self, names: tuple[str, ...], meanings: tuple[Meaning, ...]) -> Parts:
        none = np.zeros(0, dtype=np.int64)
        first = (none, none, none.reshape(0, 2), none.reshape(0, len(names)))
        table, value, cells, codes = (
            np.concatenate(columns) for columns in zip(first, *self.blocks, strict=True)
        )
        return Parts(table, value, cells, names, codes, meanings)


def _differences(seen: AllCells, coded: _Coded, column: int, found: _Found) -> None:
    """What a category has beyond another one, where both are published."""
    of_table = coded.axes[coded.names[column]]
    if not any(len(axis.parent) > axis.public for axis in of_table.values()):
        return
    kinds = dict.fromkeys(axis.meaning[: axis.public] for axis in of_table.values())
    grouping = {codes: i for i, codes in enumerate(kinds)}
    own = np.full(len(seen.publication.tables), -1)
    own[[*of_table]] = [grouping[axis.meaning[: axis.public]] for axis in of_table.values()]
    shown = np.flatnonzero((coded.cell < coded.public) & (own[coded.table] >= 0))
    shown = shown[~seen.unknown[coded.cell[shown]]]
    group, code = own[coded.table[shown]], coded.codes[shown, column]
    others = np.delete(coded.codes[shown], column, axis=1)
    context = numbered(np.column_stack((coded.kind[shown], others)))
    value = seen.value
    name = coded.names[column]
    filters = {int(own[i]) for i, of in coded.filters.items() if name in of}
    for one, other in permutations(grouping, 2):
        if {grouping[one], grouping[other]} <= filters:
            continue  # what is left beside a filter
        at_one, at_other = group == grouping[one], group == grouping[other]
        # nobody has another code; what is left of a category is the others of its own grouping
        everybody = _all(one) if _all(one) != _all(other) else None
        for whole, part in product(one, other):
            said = everybody if whole is None else whole
            if said is None or part is None:
                continue
            # a filter by numbers may let others through than anybody has
            held = part & said if whole is None else part
            if not held or not held < said:
                continue
            rest = said - held
            if _union(rest, one) or _union(rest, other):
                continue
            larger = np.flatnonzero(at_one & (code == coded.place[whole]))
            smaller = np.flatnonzero(at_other & (code == coded.place[part]))
            _, i, j = np.intersect1d(context[larger], context[smaller], return_indices=True)
            first, second = shown[larger[i]], shown[smaller[j]]
            cells = np.stack((coded.cell[first], coded.cell[second]), axis=1)
            codes = coded.codes[first]
            codes[:, column] = coded.place.setdefault(rest, len(coded.place))
            difference = value[cells[:, 0]] - value[cells[:, 1]]
            found.add(coded.table[first], difference, cells, codes)


def _all(grouping: Sequence[Meaning]) -> frozenset[str]:
    return frozenset[str]().union(*(codes for codes in grouping if codes is not None))


def _union(codes: frozenset[str], of: Sequence[Meaning]) -> bool:
    """Whether some codes are together what other codes stand for."""
    return codes == frozenset[str]().union(*(m for m in of if m is not None and m <= codes))


def _atoms(seen: AllCells, coded: _Coded, judged: NDArray[np.bool_], found: _Found) -> None:
    """Parts of categories that all equations together leave a single value."""
    known = equations(seen.publication)
    lower, upper = unknown_bounds(seen.publication, known, Attacker(), None)
    reduced = reduce(known.matrix, known.right, lower, upper)
    if len(reduced.impossible):
        return
    open_to_rules = known.latent | ~np.isin(known.cell, coded.cell[judged])
    fixed = np.flatnonzero((np.diff(reduced.link.indptr) == 0) & open_to_rules)
    value = np.zeros(int(known.cell.max()) + 1, dtype=np.int64)
    value[known.cell[fixed]] = reduced.offset[fixed]
    at = np.flatnonzero(np.isin(coded.cell, known.cell[fixed]))
    nowhere = np.full((len(at), 2), -1)
    found.add(coded.table[at], value[coded.cell[at]], nowhere, coded.codes[at])


def _distinct(seen: AllCells, coded: _Coded, judged: NDArray[np.bool_], parts: Parts) -> Parts:
    """Each part once, without cells that rules have judged and without those that hold nobody."""
    if not len(parts):
        return parts
    tables = seen.publication.tables
    # a count of 0 is nobody; a sum of 0 may be that of somebody who has nothing
    of_people = np.array([t.frequency and seen.nonnegative(t.measure, t.vintage) for t in tables])
    empty = np.concatenate([t.empty.ravel() for t in tables])
    nobody = (parts.cells[:, 0] >= 0) & empty[parts.cells[:, 0]]
    somebody = (parts.value != 0) | ~(of_people[parts.table] | nobody)
    kind = np.zeros(int(coded.table.max()) + 1, dtype=np.int64)
    kind[coded.table] = coded.kind
    rows = np.concatenate((coded.codes[judged], parts.codes))
    kinds = np.concatenate((coded.kind[judged], kind[parts.table]))
    number = numbered(np.column_stack((kinds, rows)))
    _, first = np.unique(number, return_index=True)
    once = np.zeros(len(number), dtype=bool)
    once[first] = True
    return parts.only(once[-len(parts) :] & somebody)
