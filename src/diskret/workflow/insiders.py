"""Contributors who know what is theirs: who they are, what they must not learn, and repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import (
    Attacker,
    Examination,
    Insiders,
    InsidersWithstood,
    Open,
    Requirements,
    UnsafeSums,
    Withstood,
    unknown_cells,
    withstand_insiders,
)
from diskret.progress import Progress
from diskret.rules import Rule, Sensitivity
from diskret.rules.insiders import Judged, Known, by_hand, judged_by, largest_coalition
from diskret.tables import Publication, Table
from diskret.tables.shares import Shares, names_of, place_of, shares
from diskret.tables.unions import union_table
from diskret.workflow.beside import Beside
from diskret.workflow.orders import Order

_NOBODY = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Seat:
    """One table of a publication, with those who contribute to it.

    Parameters
    ----------
    table
        Its values; None if nobody knows who contributed.
    rule
        What judges its cells; None: nothing is asked of them.
    """

    table: Table | None
    rule: Rule | None


@dataclass(frozen=True, eq=False)
class InsiderJudge:
    """Who the insiders of some tables are, and what must stay uncertain to them.

    Parameters
    ----------
    seats
        The tables in the order of the publication.
    attacker
        A contributor.
    coalition
        How many pool what they know.
    """

    seats: Sequence[Seat]
    attacker: Attacker
    coalition: int

    def attack(
        self,
        publication: Publication,
        examination: Examination,
        required: Requirements,
        unsafe: UnsafeSums,
        original: NDArray[np.int64],
        progress: Progress,
        before: Withstood | None = None,
    ) -> tuple[Examination, Withstood, Asked]:
        """The same examination with what it takes to withstand insiders, and what they can tell.

        `before` is what was found when less was hidden.
        """
        cell, free = unknown_cells(publication)
        asked = _asked(self, publication, cell, free, required, unsafe, original)
        examination, found = withstand_insiders(
            publication, examination, self.attacker, asked.insiders, original, progress, before
        )
        return examination, found, asked

    def withstood(self, found: Withstood, asked: Asked) -> InsidersWithstood:
        """What a certificate says of an attack that nobody got through."""
        unlisted = tuple(i for i, seat in enumerate(self.seats) if seat.table is None)
        return InsidersWithstood(asked.insiders, found.asked, unlisted)


@dataclass(frozen=True, eq=False)
class Asked:
    """The insiders of a publication and their targets.

    Parameters
    ----------
    insiders
        As the attack sees them.
    names
        The number of each contributor, uint64.
    target
        The targets as sums of all cells, ``(t, n)``.
    """

    insiders: Insiders
    names: NDArray[np.uint64]
    target: sparse.csr_array

    def cells(self, one: Open) -> list[int]:
        """The cells of a target."""
        return self.target[[one.target]].indices.tolist()


def insider_judge(
    orders: Sequence[Order],
    attacker: Attacker,
    before: Beside,
) -> InsiderJudge | None:
    """Who the insiders of these tables are; None if no contributor attacks."""
    if not attacker.contributor:
        return None
    seats = [
        Seat(replace(o.table, contributions=before.called(o.table.contributions)), o.rule)
        for o in orders
    ]
    for e, table in before.pairs:
        who = before.called(e.contributions, e)
        known = who is not None and e.original is not None and not e.perturbed
        rules = [o.rule for o in orders if o.table.measure.name == e.published.measure]
        rule = rules[0] if rules and not isinstance(rules[0], Sensitivity) else None
        if e.unsafe is None:  # it was protected against an outsider
            rule = None
        if not known or e.weight is not None:
            seats.append(Seat(None, None))
            continue
        room = np.zeros((*table.shape, rule.largest if rule else 0), dtype=np.int64)
        measures = tuple(replace(m, largest=room) for m in table.measures)
        seats.append(Seat(replace(table, measures=measures, contributions=who), rule))
    coalition = max(largest_coalition(order.rule, attacker.coalition) for order in orders)
    return InsiderJudge(seats, attacker, coalition)


# ── who is asked about what ─────────────────────────────────────────────────────────


def _asked(
    judge: InsiderJudge,
    publication: Publication,
    cell: NDArray[np.int64],
    free: NDArray[np.bool_],
    required: Requirements,
    unsafe: UnsafeSums,
    original: NDArray[np.int64],
) -> Asked:
    ends = list(pairwise(publication.starts.tolist()))
    target, most = _targets(required, unsafe, int(publication.starts[-1]))
    who, column, value = list[Any](), list[Any](), list[Any]()
    number = np.full(len(cell), _NOBODY, dtype=np.int64)
    bounded = np.append(np.zeros(len(cell) - len(free), dtype=bool), ~free)
    owed: list[_OfTable] = []
    for place, (seat, (start, stop)) in enumerate(zip(judge.seats, ends, strict=True)):
        if seat.table is None:
            continue
        at = np.flatnonzero((cell >= start) & (cell < stop))
        own = shares_of_cells(seat.table, cell[at] - start, place)
        who.append(own.who)
        column.append(at[own.at])
        value.append(own.value)
        number[at] = own.number
        bounded[at] = seat.table.nonnegative
        rows = np.flatnonzero(np.diff(target[:, start:stop].indptr))
        if len(rows) and seat.rule is not None:
            member = sparse.csr_array(target[rows][:, start:stop])
            owed.append(_of_table(judge, seat.table, seat.rule, member, rows, place, required))
    names, row = np.unique(np.concatenate([np.zeros(0, np.uint64), *who]), return_inverse=True)
    none = np.zeros(0, dtype=np.int64)
    own = _kept(
        row,
        np.concatenate([none, *column]),
        np.concatenate([none, *value]),
        (len(names), len(cell)),
    )
    place = np.full(int(max(publication.starts[-1], cell.max(initial=0) + 1)), -1)
    place[cell] = np.arange(len(cell))
    narrow = sparse.csr_array(
        (target.data, place[target.indices], target.indptr), shape=(target.shape[0], len(cell))
    )

    def level(
        at: NDArray[np.int64], coalition: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lower, upper = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.int64)
        for one in owed:
            here = np.flatnonzero(np.isin(at, one.rows))
            if len(here):
                used = coalition[here] >= 0
                name = (
                    names[np.where(used, coalition[here], 0)]
                    if len(names)
                    else np.zeros(coalition[here].shape, dtype=np.uint64)
                )
                lower[here], upper[here] = one.level(
                    np.searchsorted(one.rows, at[here]), name, used
                )
        return np.minimum(lower, most[0][at]), np.minimum(upper, most[1][at])

    insiders = Insiders(own, number, judge.coalition, narrow, most, level, bounded)
    return Asked(insiders, names, target)


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


def _targets(
    required: Requirements, unsafe: UnsafeSums, cells: int
) -> tuple[sparse.csr_array, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Unsafe cells and unsafe sums, and their levels."""
    own = np.flatnonzero(required.cell < cells)
    n = len(own)
    alone = sparse.csr_array(
        (np.ones(n, np.int64), required.cell[own], np.arange(n + 1)), shape=(n, cells)
    )
    target = sparse.csr_array(sparse.vstack([alone, unsafe.member], format="csr"), dtype=np.int64)
    lower = np.append(required.lower[own], unsafe.lower)
    return target, (lower, np.append(required.upper[own], unsafe.upper))


def shares_of_cells(table: Table, cells: NDArray[np.int64], place: int) -> Shares:
    """Who contributes to each of some cells of a table; `place` as in `shares`."""
    n = len(cells)
    member = sparse.csr_array(
        (np.ones(n, np.int64), cells, np.arange(n + 1)), shape=(n, int(np.prod(table.shape)))
    )
    return shares(table, member, place)


@dataclass(frozen=True, eq=False)
class _OfTable:
    """What is owed in the targets of one table: their numbers, and what judges them."""

    rows: NDArray[np.int64]
    judged: Sequence[Judged]
    known: Known
    hand: tuple[NDArray[np.int64], NDArray[np.int64]]
    value: NDArray[np.int64]
    least: NDArray[np.int64] | None
    place: int | None

    def level(
        self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lower and upper level where these are the insiders."""
        none = np.zeros(len(at), dtype=np.int64)
        found = np.max([none, *(one.level(at, who, used) for one in self.judged)], axis=0)
        lower, upper = (np.maximum(found, hand[at]) for hand in self.hand)
        known = self.known
        entry, there = known.entries(at, who, used)
        open_ = known.open(at, who, used)
        if self.place is not None:  # nobody knows who of others is meant
            open_ &= (~used | (place_of(who) == self.place)).all(axis=1)
        if self.least is not None:
            own = np.where(there, known.shares.value[entry], 0).sum(axis=1)
            lower = np.minimum(lower, self.value[at] - np.maximum(own, self.least[at]))
        return np.where(open_, np.maximum(lower, 0), 0), np.where(open_, upper, 0)


def _of_table(
    judge: InsiderJudge,
    table: Table,
    rule: Rule,
    member: sparse.csr_array,
    rows: NDArray[np.int64],
    place: int,
    required: Requirements,
) -> _OfTable:
    judged = judged_by(rule, table, union_table(table, member), member, place)
    cells = np.diff(member.indptr)
    alone, first = cells == 1, member.indices[member.indptr[:-1]]
    hand = by_hand(rule, table)
    none = np.zeros(len(rows), dtype=np.int64)
    levels = none, none
    if hand is not None:
        levels = np.where(alone, hand[0][first], 0), np.where(alone, hand[1][first], 0)
    least = None
    if table.nonnegative:
        least = cells if judge.attacker.zeros_known and table.frequency else none
    only = None if names_of(table) is not None else place
    # a rule that looks at no contributors judges no unions
    known = Known(shares(table, member, place), table.frequency, table.measure.decimals, 1)
    return _OfTable(rows, judged, known, levels, member @ table.measure.sum.ravel(), least, only)
