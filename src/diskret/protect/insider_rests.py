"""What is left beside filters, as targets of contributors who know what is theirs.

A rest is a cell that nobody published. Where everybody can compute it, rules judge it as any
published cell (`diskret.protect.rests`). An unsafe one that stays hidden must stay as uncertain as
rules ask for, whoever takes out what is his.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Rests, UnsafeSums, beside_filters, revealed_rests
from diskret.attack.earlier_tables import with_own_hidden
from diskret.attack.rests import rests_beside
from diskret.errors import InputError
from diskret.protect.known_contributions import Present
from diskret.protect.rests import counted_rests, judged_rests, model_of
from diskret.protect.unpublished_cells import Unpublished
from diskret.rules import Rule, Sensitivity
from diskret.rules.insiders import Judged, Known, Left, for_insiders, judged_by
from diskret.tables import Publication, Table
from diskret.tables.made_of import MadeOf
from diskret.tables.requirements import stacked
from diskret.tables.rests import beyond_whole, listed_rests, wholes_of
from diskret.tables.shares import shares


@dataclass(frozen=True, eq=False)
class RestsOfTables:
    """Unsafe rests of the same tables, and what judges them. Confidential.

    rests: which.
    rules: those for their measure.
    wholes: the cells in which they lie.
    sums: the same as sums of the cells of all tables, entries 1 and −1, with their levels.
    listed: who contributes to them, behind an empty total; None if nobody lists it, for counts
        alone.
    bounded: whether no contribution is negative.
    """

    rests: Rests
    rules: Sequence[Rule]
    wholes: MadeOf
    sums: UnsafeSums
    listed: Table | None
    bounded: bool


def unsafe_rests(
    tables: Sequence[Table | None],
    rules: Sequence[Rule | None],
    publication: Publication,
    original: NDArray[np.int64],
) -> list[RestsOfTables]:
    """The rests that rules find unsafe, whatever is hidden.

    Left out are those that nobody can judge by its contributors, and those that earlier tables
    reveal by themselves.

    tables, rules: the tables of the publication with those who contribute, and what judges their
        cells; None where nobody knows.
    publication: only its structure matters.
    original: values of the cells of all tables.
    """
    if not beside_filters(publication):
        return []
    known = set[tuple[int, ...]]()
    if publication.beside:
        before = revealed_rests(with_own_hidden(publication))
        known = {tuple(cells) for rests in before for cells in rests.cells.tolist()}
    found: list[RestsOfTables] = []
    for every in rests_beside(publication, original):
        told = [tuple(cells) not in known for cells in every.cells.tolist()]
        rests = every.only(np.array(told, dtype=bool))
        own = [table for table in (tables[i] for i in rests.tables) if table is not None]
        if not len(rests) or len(own) < len(rests.tables):
            continue
        used = _rules(own[0], tables, rules)
        cells = rests.cells - publication.starts[[*rests.tables]]
        inside = ~beyond_whole(own, cells)
        rests, cells = rests.only(inside), cells[inside]
        if not len(rests):
            continue
        sensitivity, _ = judged_rests(used, own, rests, cells)
        if sensitivity is None or not sensitivity.unsafe.any():
            continue
        bad = sensitivity.unsafe[1:]
        rests, cells = rests.only(bad), cells[bad]
        lower, upper, sliding = (
            levels[1:][bad]
            for levels in (sensitivity.lower, sensitivity.upper, sensitivity.sliding)
        )
        bounded = all(table.nonnegative for table in own)
        listed = None
        with suppress(InputError):
            listed = listed_rests(model_of(used, own), own, cells)
        if listed is None and not (own[0].frequency and bounded):
            continue
        if bounded:
            lower = np.minimum(lower, rests.value)
        sums = UnsafeSums(rests.member(int(publication.starts[-1])), lower, upper, sliding)
        wholes = wholes_of(own, cells)
        found.append(RestsOfTables(rests, used, wholes, sums, listed, bounded))
    return found


def _rules(
    table: Table, tables: Sequence[Table | None], rules: Sequence[Rule | None]
) -> tuple[Rule, ...]:
    """The rules for tables of the same measure."""
    every = {
        id(rule): rule
        for one, rule in zip(tables, rules, strict=True)
        if one is not None and rule is not None and one.measure.name == table.measure.name
    }
    return () if any(isinstance(r, Sensitivity) for r in every.values()) else (*every.values(),)


def as_targets(found: Sequence[RestsOfTables], cells: int) -> UnsafeSums:
    """All of them as sums of so many cells."""
    return stacked([one.sums for one in found], cells)


def judged_by_contributors(of: RestsOfTables) -> tuple[list[Judged], Known] | None:
    """What judges rests whose contributors are listed, and who these are."""
    table = of.listed
    if table is None:
        return None
    n = len(of.rests)
    member = sparse.csr_array(
        (np.ones(n, np.int64), np.arange(1, n + 1), np.arange(n + 1)), shape=(n, n + 1)
    )
    judged = [one for rule in of.rules for one in judged_by(rule, table, table, member)]
    return judged, Known(shares(table, member), table.frequency, table.measure.decimals, 1)


@dataclass(frozen=True, eq=False)
class CountedRests:
    """What is owed in rests of counts, whose records nobody lists.

    number: how many records are left, ``(r,)``.
    rules: what judges them, what it finds unsafe and where it holds, ``(r,)``.
    inside, own: contributor and rest as one number, ascending, and how many of these records are
        his.
    unsure: the same numbers where that is not known for certain.
    told: for each place whether it is known who of its contributors is in a rest, ``(p, r)``.
    place: the place of each contributor, −1 for none.
    """

    number: NDArray[np.int64]
    rules: Sequence[tuple[Any, NDArray[np.bool_], NDArray[np.bool_]]]
    inside: NDArray[np.int64]
    own: NDArray[np.int64]
    unsure: NDArray[np.int64]
    told: NDArray[np.bool_]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, found: RestsOfTables, between: Unpublished | None, there: Present) -> CountedRests:
        """As far as it follows from what contributors have in unpublished cells."""
        table = counted_rests(found.rests.value, found.wholes)
        rules = [
            (one, unsafe, held)
            for rule in found.rules
            for one, unsafe, held, shadow in for_insiders(rule, table)
            if not shadow
        ]
        people, n = len(there.names), len(found.rests)
        place = np.full(people, -1)
        if between is None:
            none, nowhere = np.zeros(0, dtype=np.int64), np.zeros((1, n), dtype=bool)
            return cls(found.rests.value, rules, none, none, none, nowhere, place)
        member = found.sums.member
        number = np.full(len(between.names), -1)
        rows = there.row >= 0
        number[there.row[rows]] = np.flatnonzero(rows)
        used = number >= 0
        places = list(between.told)
        place[number[used]] = [places.index(p) for p in between.place[used].tolist()]
        told = np.zeros((len(places) + 1, n), dtype=bool)
        for i, of in enumerate(places):
            untold = np.ones(member.shape[1], dtype=np.int64)
            untold[between.told[of][between.told[of] < member.shape[1]]] = 0
            told[i] = abs(member) @ untold == 0
        amounts = between.amounts
        some = used[amounts.who] & (amounts.cell < member.shape[1])
        at = number[amounts.who[some]], amounts.cell[some]
        shape = people, member.shape[1]
        low, high = (
            sparse.csr_array((of[some], at), shape=shape) for of in (amounts.low, amounts.high)
        )
        whole, taken = (sparse.csr_array(member * side).maximum(0).T for side in (1, -1))
        inside, own = _entries(low @ whole - high @ taken)
        unsure, _ = _entries((high - low) @ abs(member).T)
        return cls(found.rests.value, rules, inside, own, unsure, told, place)

    def level(
        self, at: NDArray[np.int64], who: NDArray[np.int64], nowhere: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lower and upper level where these are the insiders; 0 if it is not clear who is left.

        nowhere: whether they are known to be in no part of a rest, ``(q, m)``.
        """
        used, n = (who >= 0) & ~nowhere, len(self.number)
        name = np.where(used, who, 0)
        unsure = np.isin(name * n + at[:, None], self.unsure)
        place = self.place[name] if len(self.place) else np.full(who.shape, -1)
        first = place[:, :1]
        sure = ~used | (self.told[place, at[:, None]] & ~unsure & (place == first))
        own = np.zeros(len(at), dtype=np.int64)
        for column in range(who.shape[1]):
            wanted = name[:, column] * n + at
            there = np.minimum(np.searchsorted(self.inside, wanted), max(len(self.inside) - 1, 0))
            if len(self.inside):
                mine = used[:, column] & (self.inside[there] == wanted)
                own += np.where(mine, self.own[there], 0)
        others = np.maximum(self.number[at] - own, 0)
        largest = np.minimum(others, 1)
        found = np.zeros(len(at), dtype=np.int64)
        for rule, unsafe, held in self.rules:
            top = (np.arange(max(1, rule.largest)) < others[:, None]).astype(np.int64)
            nobody = np.zeros(len(at), dtype=bool)
            left = Left(largest, others - largest, own, own, top, nobody, True, 0)
            level = rule.for_insiders(left, unsafe[at])
            found = np.maximum(found, np.where(held[at], level, 0))
        found = np.where(sure.all(axis=1) & (others > 0), found, 0)
        return np.minimum(found, others), found


def _entries(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column of what is not 0 as one number, ascending, and the values."""
    found = sparse.csr_array(matrix)
    found.sum_duplicates()
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    some = found.data != 0
    return (row * found.shape[1] + found.indices)[some], found.data[some]
