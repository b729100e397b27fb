"""Who contributes what to the cells that an attacker does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.all_cells import all_cells
from diskret.attack.equations import every_equation
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.unpublished_cells import Unpublished
from diskret.tables import Publication, Table
from diskret.tables.boxes import ranges
from diskret.tables.shares import shares_of_cells

#: Contributors, cells and values.
_Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_NOBODY = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Present:
    """The contributors to unknown cells; arrays as of `diskret.attack.insiders.Insiders`.

    names: the number of each contributor, uint64; a record that may be in several places is there
        several times.
    row: of each contributor among those to unpublished cells, −1 for none.
    """

    names: NDArray[np.uint64]
    own: sparse.csr_array
    number: NDArray[np.int64]
    bounded: NDArray[np.bool_]
    row: NDArray[np.int64]


def contributing(tables: Sequence[Table | None], before: EarlierTables) -> list[Table | None]:
    """New tables and earlier ones with their contributors; None where nobody knows these."""
    found = [
        None
        if table is None
        else replace(table, contributions=before.named_alike(table.contributions))
        for table in tables
    ]
    for e, table in before.pairs:
        who = before.named_alike(e.contributions, e)
        known = who is not None and e.original is not None and not e.perturbed
        found.append(replace(table, contributions=who) if known and e.weight is None else None)
    return found


def present(
    tables: Sequence[Table | None],
    publication: Publication,
    cell: NDArray[np.int64],
    free: NDArray[np.bool_],
    between: Unpublished | None,
) -> Present:
    """Who contributes to the unknown cells of a publication.

    between: what is contributed to unpublished cells; None if there are none.
    """
    who, column, value = list[Any](), list[Any](), list[Any]()
    number = np.full(len(cell), _NOBODY, dtype=np.int64)
    bounded = np.append(np.zeros(len(cell) - len(free), dtype=bool), ~free)
    ends = pairwise(publication.starts.tolist())
    for place, (table, (start, stop)) in enumerate(zip(tables, ends, strict=True)):
        if table is None:
            continue
        at = np.flatnonzero((cell >= start) & (cell < stop))
        own = shares_of_cells(table, cell[at] - start, place)
        who.append(own.who)
        column.append(at[own.at])
        value.append(own.value)
        number[at] = own.number
        bounded[at] = table.nonnegative
    names, row = np.unique(np.concatenate([np.zeros(0, np.uint64), *who]), return_inverse=True)
    none = np.zeros(0, dtype=np.int64)
    entries = row, np.concatenate([none, *column]), np.concatenate([none, *value])
    if between is None:
        nowhere = np.full(len(names), -1)
        return Present(names, _kept(*entries, (len(names), len(cell))), number, bounded, nowhere)
    names, entries, number_of = _with_unpublished(names, entries, between, cell)
    row = np.full(len(names), -1)
    row[number_of[number_of >= 0]] = np.flatnonzero(number_of >= 0)
    return Present(names, _kept(*entries, (len(names), len(cell))), number, bounded, row)


def _with_unpublished(
    names: NDArray[np.uint64],
    entries: _Entries,
    between: Unpublished,
    cell: NDArray[np.int64],
) -> tuple[NDArray[np.uint64], _Entries, NDArray[np.int64]]:
    """Contributors and what they have in unknown cells, those included that nobody published.

    A record that may be in several places is several contributors of one name. The last of what
    is returned is the number of each row of `between`, −1 for those who have nothing to do with it.
    """
    row, column, value = between.at_least(cell)
    latent = cell[column] >= between.public
    row, column, value = row[latent], column[latent], value[latent]
    inside = np.zeros(len(between.names), dtype=bool)
    inside[row] = True
    inside = np.isin(between.names, np.append(names, between.names[inside]))
    first, again = inside & (between.copy == 0), np.flatnonzero(inside & (between.copy > 0))
    every = np.union1d(names, between.names[first])
    number = np.full(len(inside), -1)
    number[first] = np.searchsorted(every, between.names[first])
    number[again] = len(every) + np.arange(len(again))
    own = np.searchsorted(every, names)[entries[0]], *entries[1:]
    # what is known of the name is known of each
    order = np.argsort(own[0], kind="stable")
    start = np.searchsorted(own[0][order], np.arange(len(every) + 1))
    at, of = ranges(start, np.searchsorted(every, between.names[again]))
    same = len(every) + of, own[1][order[at]], own[2][order[at]]
    latent = number[row], column, value
    who, where, what = (np.concatenate(each) for each in zip(own, same, latent, strict=True))
    return np.append(every, between.names[again]), (who, where, what), number


def _kept(
    row: NDArray[np.int64],
    column: NDArray[np.int64],
    value: NDArray[np.int64],
    shape: tuple[int, int],
) -> sparse.csr_array:
    """A sparse matrix that keeps entries of 0."""
    order = np.lexsort((column, row))
    start = np.searchsorted(row[order], np.arange(shape[0] + 1))
    return sparse.csr_array((value[order], column[order], start), shape=shape)


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Who is known to be in no cell of a target, also where only the largest are known.

    told: for each contributor and target, whether it is known who of them is there, as the row
        ``place`` of a matrix of places.
    place: the place of each contributor, −1 for none.
    inside: contributor and target as one number, ascending, for those who are there.
    apart: who cannot be in a cell, by the codes and filters of those they are in.
    target: the targets.
    """

    told: NDArray[np.bool_]
    place: NDArray[np.int64]
    inside: NDArray[np.int64]
    apart: _Apart
    target: sparse.csr_array

    @classmethod
    def of(
        cls,
        between: Unpublished,
        present: Present,
        target: sparse.csr_array,
        publication: Publication,
        unknown: NDArray[np.int64],
    ) -> Elsewhere:
        """Of the contributors to unknown cells, and targets as sums of all cells.

        Who is known to be nowhere in a cell is in no part of it.

        unknown: positions of the unknown cells.
        """
        people, rows = len(present.names), present.row >= 0
        number = np.full(len(between.names), -1)
        number[present.row[rows]] = np.flatnonzero(rows)
        used = number >= 0
        places = list(between.told)
        place = np.full(people, -1)
        place[number[used]] = [places.index(p) for p in between.place[used].tolist()]
        around = _around(publication, target)
        amounts = between.amounts
        there = (amounts.high > 0) & (amounts.cell < target.shape[1]) & used[amounts.who]
        who, cell = number[amounts.who[there]], amounts.cell[there]
        told = np.zeros((len(places) + 1, target.shape[0]), dtype=bool)
        inside = [np.zeros(0, dtype=np.int64)]
        for i, of in enumerate(places):
            known = np.zeros(target.shape[1], dtype=np.int64)
            known[between.told[of][between.told[of] < target.shape[1]]] = 1
            number_known = around @ known
            told[i] = abs(target) @ (number_known == 0).astype(np.int64) == 0
            own = (place[who] == i) & (known[cell] > 0)
            at = who[own], cell[own]
            in_these = sparse.csr_array(
                (np.ones(len(at[0]), np.int64), at), shape=(people, target.shape[1])
            )
            # in a cell that is known to hold them and in all known ones around it
            counted = sparse.coo_array(in_these @ around.T)
            full = counted.data == number_known[counted.col]
            perhaps = sparse.csr_array(
                (counted.data[full], (counted.row[full], counted.col[full])),
                shape=in_these.shape,
            )
            found = sparse.coo_array(perhaps @ abs(target).T)
            inside.append(found.row.astype(np.int64) * target.shape[0] + found.col)
        # the places that it may be in are no knowledge, but what its own table tells is
        home = between.place[amounts.who]
        table = np.searchsorted(publication.starts, amounts.cell, side="right") - 1
        surely = (amounts.low > 0) & used[amounts.who] & ((home < 0) | (home == table))
        in_cells = sparse.coo_array(present.own)
        here = np.append(in_cells.row, number[amounts.who[surely]]).astype(np.int64)
        cells = np.append(unknown[in_cells.col], amounts.cell[surely])
        public = cells < between.public
        apart = _Apart.of(publication, here[public], cells[public], people)
        return cls(told, place, np.unique(np.concatenate(inside)), apart, abs(target))

    def sure(self, at: NDArray[np.int64], who: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether contributors are not in targets, ``(q, m)``."""
        there = np.isin(who * self.told.shape[1] + at[:, None], self.inside)
        told = self.told[self.place[who], at[:, None]] & ~there
        # in no target is who can be in none of its cells
        row, column = np.nonzero((who >= 0) & ~told)
        entry, of = ranges(self.target.indptr, at[row])
        cannot = self.apart.from_cells(who[row, column][of], self.target.indices[entry])
        told[row, column] = np.bincount(of, ~cannot, minlength=len(row)) == 0
        return (who >= 0) & told


@dataclass(frozen=True, eq=False)
class _Apart:
    """What is known of contributors and cells, variable by variable.

    kind: number of what each cell stands for, ``(variables, cells)``; −1: everything.
    narrowest: the number of the narrowest of what a contributor is in, ``(variables, people)``.
    disjoint: for each variable numbers of two that nobody can be in both of, as one number,
        ascending.
    kinds: how many numbers each variable has.
    """

    kind: NDArray[np.int64]
    narrowest: NDArray[np.int64]
    disjoint: list[NDArray[np.int64]]
    kinds: list[int]

    @classmethod
    def of(
        cls, publication: Publication, who: NDArray[np.int64], cell: NDArray[np.int64], people: int
    ) -> _Apart:
        """`who` is in `cell`, entry by entry; a table that is read alone tells nothing more."""
        seen = all_cells(publication)
        vintages = list(dict.fromkeys(grid.table.vintage for grid in seen.grids))
        names = list(dict.fromkeys(axis.name for grid in seen.grids for axis in grid.axes))
        kind = np.full((len(names), seen.public + seen.latent), -1)
        vintage = np.zeros(seen.public + seen.latent, dtype=np.int64)
        number: list[dict[frozenset[str], int]] = [{} for _ in names]
        for grid in seen.grids:
            vintage[grid.number] = vintages.index(grid.table.vintage)
            for place, axis in enumerate(grid.axes if len(seen.grids) > 1 else ()):
                v = names.index(axis.name)
                own = np.array(
                    [
                        -1 if codes is None else number[v].setdefault(codes, len(number[v]))
                        for codes in axis.meaning
                    ]
                )
                along = [-1 if d == place else 1 for d in range(len(grid.axes))]
                kind[v][grid.number] = np.broadcast_to(own.reshape(along), grid.number.shape)
        narrowest = np.full((len(names), people), -1)
        disjoint: list[NDArray[np.int64]] = []
        # what is left of sums of cells has no codes, and records of another vintage may have moved
        known = cell < len(vintage)
        known[known] = vintage[cell[known]] == 0
        who, cell = who[known], cell[known]
        for v, of in enumerate(number):
            size = np.array([len(codes) for codes in of], dtype=np.int64)
            mine = kind[v][cell]
            some = mine >= 0
            order = np.lexsort((-size[mine[some]], who[some])) if some.any() else []
            narrowest[v][who[some][order]] = mine[some][order]
            disjoint.append(_disjoint(list(of), np.unique(narrowest[v])))
        kind[:, vintage > 0] = -1
        return cls(kind, narrowest, disjoint, [len(of) for of in number])

    def from_cells(self, who: NDArray[np.int64], cell: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether these contributors cannot be in these cells."""
        found = np.zeros(len(who), dtype=bool)
        for v, kinds in enumerate(self.kinds):
            one, other = self.narrowest[v][who], self.kind[v][cell]
            both = (one >= 0) & (other >= 0)
            found |= both & np.isin(one * kinds + other, self.disjoint[v])
        return found


def _disjoint(codes: Sequence[frozenset[str]], used: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of used sets and others without a common code, as one number, ascending."""
    column = {code: i for i, code in enumerate(dict.fromkeys(c for own in codes for c in own))}
    start = np.cumsum([0, *(len(own) for own in codes)])
    entries = np.array([column[code] for own in codes for code in own], dtype=np.int64)
    inside = sparse.csr_array(
        (np.ones(len(entries), np.int64), entries, start), shape=(len(codes), len(column))
    )
    found: list[NDArray[np.int64]] = []
    for one in used[used >= 0].tolist():
        common = inside @ inside[[one]].toarray()[0]
        found.append(one * len(codes) + np.flatnonzero(common == 0))
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _around(publication: Publication, target: sparse.csr_array) -> sparse.csr_array:
    """For each cell of a target itself and all cells that it is a part of, ones, ``(n, n)``."""
    cells = target.shape[1]
    every = every_equation(publication)
    matrix = every.matrix
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    totals = np.bincount(row, matrix.data > 0, minlength=matrix.shape[0])
    position = every.cell[matrix.indices]
    total = np.full(matrix.shape[0], -1)
    total[row[matrix.data > 0]] = position[matrix.data > 0]
    part = (matrix.data < 0) & (totals[row] == 1) & (position < cells)
    part &= (total[row] >= 0) & (total[row] < cells)
    above = sparse.csr_array(
        (np.ones(int(part.sum()), np.int64), (position[part], total[row[part]])),
        shape=(cells, cells),
    )
    reached = np.zeros(cells, dtype=np.int64)
    reached[np.unique(target.indices)] = 1
    here = sparse.csr_array(sparse.diags_array(reached, dtype=np.int64))
    found = here
    while here.nnz:
        here = sparse.csr_array(here @ above)
        here.data[:] = 1
        found = sparse.csr_array(found + here)
    found.data[:] = 1
    return found
