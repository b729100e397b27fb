"""What contributors have in cells that no table shows but that tie tables together.

These are what is left beside a filter, the parts of categories that overlap, combinations of codes
of several tables, and what is left of a sum of measures. Whoever contributes knows what is theirs
there, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import all_cells
from diskret.attack.axes import Axis
from diskret.attack.equations import Equations, every_equation
from diskret.errors import InputError
from diskret.graphs import connected
from diskret.protect.apportion import (
    ENDLESS,
    Amounts,
    alternatives,
    apportion,
    exactly_told,
    forced,
)
from diskret.protect.parts import finest_meanings
from diskret.tables import Publication, Table
from diskret.tables.boxes import ranges
from diskret.tables.meanings import side_by_side
from diskret.tables.shares import cell_of, names_of, shares_of_cells, shares_of_parts

#: Numbers of records of a cell that are not listed, see `diskret.tables.shares`.
_RANKS = 64
#: Amounts of alternatives at a time.
_MOST = 2_000_000


@dataclass(frozen=True, eq=False)
class Unpublished:
    """What contributors have in the cells of equations with unpublished cells. Confidential.

    names, copy: a row each: a contributor, and which of the places it may be in; 0 is the first.
    amounts: what the rows have; cells are the positions among the attacker's cells.
    place: in which table each row's contributor is known, −1: in all that list them.
    told: place → cells of which it is known what its contributors have, ascending.
    complete: whether everything follows from the contributions to the tables, whatever these are.
    public: number of published cells; positions from here on are those of cells that nobody
        published.
    """

    names: NDArray[np.uint64]
    copy: NDArray[np.int64]
    amounts: Amounts
    place: NDArray[np.int64]
    told: dict[int, NDArray[np.int64]]
    complete: bool
    public: int

    def at_least(
        self, cell: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Row, column and value of what is had in some cells, given ascending."""
        column = np.searchsorted(cell, self.amounts.cell)
        there = (column < len(cell)) & (self.amounts.low > 0)
        there[there] = cell[column[there]] == self.amounts.cell[there]
        return self.amounts.who[there], column[there], self.amounts.low[there]

    def in_others(
        self, rows: NDArray[np.int64], equations: sparse.csr_array
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """What some rows have at least in unpublished cells of other equations.

        equations: of the same published cells, which come first, and of others.
        """
        cells = equations.shape[1]
        by_cell = sparse.csc_array(equations)
        touched = np.unique(by_cell[:, self.public :].indices)
        inside = sparse.csr_array(equations[touched])
        most = np.full(cells, ENDLESS)
        found: list[Amounts] = []
        for place, told in self.told.items():
            own = rows[self.place[rows] == place]
            given = np.zeros(cells, dtype=bool)
            given[told[told < self.public]] = True
            number = np.full(len(self.names), -1)
            number[own] = np.flatnonzero(self.place[rows] == place)
            amounts = self.amounts.only(
                (number[self.amounts.who] >= 0) & (self.amounts.cell < self.public)
            )
            known = replace(amounts, who=number[amounts.who])
            found.append(apportion(inside, known, given, most).amounts)
        every = [
            np.concatenate([np.zeros(0, np.int64), *(getattr(one, of) for one in found)])
            for of in ("cell", "who", "low")
        ]
        there = (every[0] >= self.public) & (every[2] > 0)
        return every[0][there], every[1][there], every[2][there]


def unpublished(
    tables: Sequence[Table | None],
    publication: Publication,
    original: NDArray[np.int64],
    coalition: int,
) -> Unpublished | None:
    """What contributors have in the unpublished cells of a publication; None if it has none.

    tables: the tables of the publication with those who contribute; None where nobody knows.
    publication: what is attacked; only its structure matters.
    original: original values of the cells of all tables; not used where a table is None.
    """
    every = every_equation(publication)
    if not every.latent.any():
        return None
    of = _Between.of(tables, publication, original)
    found = [of.listed(), *(of.by_size(i, coalition) for i in of.unlisted)]
    shift = np.cumsum([0, *(len(one.names) for one in found)])
    amounts = [
        replace(one.amounts, who=one.amounts.who + s) for one, s in zip(found, shift, strict=False)
    ]
    joined = amounts[0]
    for more in amounts[1:]:
        joined = joined.and_(more)
    return Unpublished(
        np.concatenate([one.names for one in found]),
        np.concatenate([one.copy for one in found]),
        replace(joined, cell=of.cell[joined.cell]),
        np.concatenate([one.place for one in found]),
        {place: of.cell[cells] for one in found for place, cells in one.told.items()},
        all(one.complete for one in found) and all(t is not None for t in tables),
        int(publication.starts[-1]),
    )


@dataclass(frozen=True, eq=False)
class _Between:
    """The equations with unpublished cells, and what is known of them.

    rows: the equations, a column for each cell of them.
    cell: the position of each column among the attacker's cells, ascending; the first `public` ones
        are cells of tables.
    table: the table of each of these.
    most: what nobody has more than, a column each.
    original: the values of all cells of the tables.
    same: what each of these cells is the same as: equal numbers.
    """

    tables: Sequence[Table | None]
    publication: Publication
    original: NDArray[np.int64]
    same: NDArray[np.int64]
    rows: sparse.csr_array
    cell: NDArray[np.int64]
    table: NDArray[np.int64]
    most: NDArray[np.int64]

    @classmethod
    def of(
        cls, tables: Sequence[Table | None], publication: Publication, original: NDArray[np.int64]
    ) -> _Between:
        every = every_equation(publication)
        matrix = sparse.csc_array(every.matrix)
        free = np.zeros(len(every.cell), dtype=bool)
        free[every.latent] = every.free
        touched = np.unique(matrix[:, np.flatnonzero(every.latent)].indices)
        signed = np.unique(matrix[:, np.flatnonzero(free)].indices)
        touched = np.setdiff1d(touched, signed)
        used = np.unique(every.matrix[touched].indices)
        # and those between the same cells: who is in one part of something is in no other
        size = np.diff(every.matrix.indptr)
        inside = np.diff(sparse.csr_array(matrix[:, used]).indptr) == size
        inside[signed] = False
        rows = sparse.csr_array(every.matrix[np.flatnonzero(inside & (size > 0))][:, used])
        cell = every.cell[used]
        shown = cell[cell < publication.starts[-1]]
        table = np.searchsorted(publication.starts, shown, side="right") - 1
        most = np.full(len(cell), ENDLESS)
        sure = np.array([t is not None and t.nonnegative for t in tables])[table]
        value = np.asarray(original)[shown]
        nobody = np.zeros_like(shown)
        columns = np.flatnonzero(sure)
        given = np.zeros(len(cell), dtype=bool)
        given[columns] = True
        # all together are bounded in the same way as each
        truth = apportion(
            rows, Amounts.exactly(nobody[columns], columns, value[columns]), given, most
        )
        most[truth.done] = 0
        most[truth.amounts.cell] = truth.amounts.high
        known, same = np.asarray(original), _same(every, int(publication.starts[-1]))
        return cls(tables, publication, known, same, rows, cell, table, most)

    @property
    def public(self) -> int:
        """How many of the columns are cells of tables."""
        return len(self.table)

    @property
    def unlisted(self) -> list[int]:
        """Tables whose contributors are known by their size alone."""
        return [i for i, t in enumerate(self.tables) if t is not None and names_of(t) is None]

    def _shares(
        self, place: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
        """Column, contributor and value of what is known in a table."""
        table = self.tables[place]
        own = np.flatnonzero(self.table == place)
        if table is None or not len(own):
            none = np.zeros(0, dtype=np.int64)
            return none, none.astype(np.uint64), none
        found = shares_of_cells(table, self.cell[own] - self.publication.starts[place], place)
        some = found.value != 0
        return own[found.at[some]], found.who[some], found.value[some]

    def _given(self, places: Sequence[int]) -> NDArray[np.bool_]:
        given = np.zeros(len(self.cell), dtype=bool)
        given[: self.public] = np.isin(self.table, places)
        return given

    def listed(self) -> Unpublished:
        """Of contributors who are listed, in whatever tables."""
        places = [i for i, t in enumerate(self.tables) if t is not None and names_of(t) is not None]
        none = np.zeros(0, dtype=np.int64)
        given = self._given(places)
        blocks = [(none, none.astype(np.uint64), none), *(self._shares(i) for i in places)]
        for columns, at, who, value in self._parts(places):
            given[columns] = True
            blocks.append((columns[at], who, value))
        column, who, value = (np.concatenate(of) for of in zip(*blocks, strict=True))
        names, row = np.unique(who, return_inverse=True)
        found = apportion(
            self.rows, Amounts.exactly(row.astype(np.int64), column, value), given, self.most
        )
        first = np.zeros(len(names), dtype=np.int64)
        exact = not len(places) or exactly_told(self.rows, given)
        return self._made(names, first, found.amounts, found.done, -1, exact)

    def _made(
        self,
        names: NDArray[np.uint64],
        copy: NDArray[np.int64],
        amounts: Amounts,
        done: NDArray[np.bool_],
        place: int,
        complete: bool,
    ) -> Unpublished:
        return Unpublished(
            names,
            copy,
            amounts,
            np.full(len(names), place),
            {place: np.flatnonzero(done)},
            complete,
            self.public,
        )

    def by_size(self, place: int, coalition: int) -> Unpublished:
        """Of those whose size alone a table tells, each of them in this table alone."""
        table = self.tables[place]
        column, who, value = self._shares(place)
        given = self._given([place])
        if table is None or not table.frequency:
            names, row = np.unique(who, return_inverse=True)
            known = Amounts.exactly(row.astype(np.int64), column, value)
            found = apportion(self.rows, known, given, self.most)
            first = np.zeros(len(names), dtype=np.int64)
            exact = exactly_told(self.rows, given)
            return self._made(names, first, found.amounts, found.done, place, exact)
        # records of one cell are alike
        first, number = np.unique(who // np.uint64(_RANKS), return_inverse=True)
        ranks = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(ranks, number, (who % np.uint64(_RANKS)).astype(np.int64) + 1)
        one = np.flatnonzero(who % np.uint64(_RANKS) == 0)
        known = Amounts.exactly(number[one].astype(np.int64), column[one], value[one])
        most = np.minimum(self.most, 1)
        found = forced(self.rows, known, given, most)
        amounts, origin, every = alternatives(self.rows, found, given, len(first), _MOST)
        leaf = cell_of(first * np.uint64(_RANKS))
        possible = self._of_somebody(place, leaf[origin], amounts, found.done)
        amounts = amounts.only(possible[amounts.who])
        amounts = replace(amounts, who=(np.cumsum(possible) - 1)[amounts.who])
        origin = origin[possible]
        # as many in each place as there can be, up to as many as pool what they know
        room = np.full(len(origin), ENDLESS)
        there = amounts.low > 0
        np.minimum.at(room, amounts.who[there], self.most[amounts.cell[there]])
        room = np.minimum(room, max(1, coalition))
        kind = np.repeat(np.arange(len(origin)), room)
        turn = np.arange(len(kind)) - np.repeat(np.cumsum(room) - room, room)
        order = np.lexsort((kind, turn, origin[kind]))
        kind = kind[order]
        of = origin[kind]
        at = np.arange(len(kind)) - np.searchsorted(of, of)
        single = coalition <= 1
        kept = single | (at < ranks[of])  # several of one name are one who may be in several places
        kind, of, at = kind[kept], of[kept], at[kept]
        names = first[of] * np.uint64(_RANKS) + (at % ranks[of]).astype(np.uint64)
        by_kind = np.argsort(amounts.who, kind="stable")
        ends = np.searchsorted(amounts.who[by_kind], np.arange(len(origin) + 1))
        entry, row = ranges(ends, kind)
        own = amounts.only(by_kind[entry])
        own = replace(own, who=row)
        return self._made(names, at // ranks[of], own, found.done, place, every and single)

    def _of_somebody(
        self, place: int, leaf: NDArray[np.int64], amounts: Amounts, done: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Whether each table counts somebody in just those cells that a record has to be in.

        place, leaf: the table of the records, and the cell of each there.
        amounts: where it has to be beside that, in cells of the equations; of others nothing is
            known.
        """
        size = len(self.original)
        used, alike = np.random.default_rng(1).integers(0, 2**64, (2, size), dtype=np.uint64)
        alike = alike[self.same]  # sums of these marks tell sets of cells
        shown = amounts.only((amounts.low > 0) & (amounts.cell < self.public))
        starts = self.publication.starts.tolist()
        possible = np.ones(len(leaf), dtype=bool)
        home, at = self.tables[place], slice(starts[place], starts[place + 1])
        for i, (table, start, stop) in enumerate(
            zip(self.tables, starts, starts[1:], strict=False)
        ):
            if home is None or table is None or not table.frequency or i == place:
                continue
            here, there = self.same[start:stop], self.same[at]
            in_both = np.where(np.isin(here, there), alike[start:stop], 0)
            own = self.cell[: self.public][(self.table == i) & done[: self.public]]
            in_both[own - start] += used[own]
            finest = reduce(np.logical_and.outer, [d.hierarchy.is_leaf for d in table.dimensions])
            counted = finest.ravel() & (self.original[start:stop] > 0)
            known = _all_around(table, in_both)[counted]
            told = _all_around(home, np.where(np.isin(there, here), alike[at], 0))[leaf]
            mine = shown.only(self.table[shown.cell] == i)
            np.add.at(told, mine.who, used[self.cell[mine.cell]])
            possible &= (told == 0) | np.isin(told, known)
        possible[amounts.who[amounts.low < amounts.high]] = True  # nobody looked to the end
        return possible

    def _parts(
        self, places: Sequence[int]
    ) -> Iterator[
        tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]
    ]:
        """Parts of categories as far as a list tells them: columns, and who has what."""
        seen = all_cells(self.publication)
        sides = side_by_side(self.publication.tables)
        for place in places:
            table, grid = self.tables[place], seen.grids[place]
            if table is None or all(len(a.parent) == a.public for a in grid.axes):
                continue
            meaning = finest_meanings(table, sides[place])
            known = [_known_codes(table, axis, meaning) for axis in grid.axes]
            number = grid.number[np.ix_(*known)]
            cells = np.flatnonzero(np.isin(number, self.cell[self.public :]))
            if not len(cells):
                continue
            codes = np.unravel_index(cells, number.shape)
            names = {d.name for d in table.dimensions}
            inside = [
                (axis.name, [axis.meaning[k] for k in own[at].tolist()])
                for axis, own, at in zip(grid.axes, known, codes, strict=True)
                if axis.name in names
            ]
            parts = [{name: of[i] for name, of in inside} for i in range(len(cells))]
            columns = np.searchsorted(self.cell, number.ravel()[cells])
            yield columns, *shares_of_parts(table, parts, meaning)


def _known_codes(
    table: Table, axis: Axis, meaning: Mapping[str, Mapping[str, frozenset[str]]]
) -> NDArray[np.int64]:
    """The codes of an axis of which a list of contributions tells who is in them."""
    shown = np.arange(axis.public)
    if axis.name not in {d.name for d in table.dimensions}:
        return shown[:1]  # of a filter only all that it lets through
    found = shown.tolist()
    for code in range(axis.public, len(axis.parent)):
        with suppress(InputError):  # it was tabulated by codes that lie partly in this one
            shares_of_parts(table, [{axis.name: axis.meaning[code]}], meaning)
            found.append(code)
    return np.array(found, dtype=np.int64)


def _same(every: Equations, cells: int) -> NDArray[np.int64]:
    """Numbers of the first cells, equal where an equation of two says that they are the same."""
    size = np.diff(every.matrix.indptr)
    pairs = sparse.csr_array(every.matrix[np.flatnonzero(size == 2)])
    first, second = every.cell[pairs.indices.reshape(-1, 2).T]
    opposite = pairs.data.reshape(-1, 2).sum(axis=1) == 0
    public = opposite & (first < cells) & (second < cells)
    links = np.ones(int(public.sum()), np.int8), (first[public], second[public])
    graph = sparse.coo_array(links, shape=(cells, cells))
    return connected(graph).astype(np.int64)


def _all_around(table: Table, marks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """For each cell the sum of the marks of all cells that it is a part of, and its own."""
    found = marks.reshape(table.shape).copy()
    for axis, dimension in enumerate(table.dimensions):
        along = np.moveaxis(found, axis, 0)
        with np.errstate(over="ignore"):  # marks go round
            for code, parent in enumerate(dimension.hierarchy.parent.tolist()):
                if parent >= 0:
                    along[code] += along[parent]
    return found.ravel()
