"""Contributors who know what is theirs: who they are, what they must not learn, and repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

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
    examine,
    unknown_cells,
    withstand_insiders,
)
from diskret.attack.earlier_tables import with_own_hidden
from diskret.attack.insiders import Coalition
from diskret.deadline import NEVER, Deadline
from diskret.progress import Progress
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.insider_rests import (
    CountedRests,
    RestsOfTables,
    as_targets,
    judged_by_contributors,
    unsafe_rests,
)
from diskret.protect.known_contributions import Elsewhere, contributing, present
from diskret.protect.plan import TableToProtect
from diskret.protect.unpublished_cells import Unpublished
from diskret.protect.unpublished_cells import unpublished as unpublished_of
from diskret.rules import Rule, Sensitivity
from diskret.rules.insiders import Judged, Known, added, by_hand, judged_by, largest_coalition
from diskret.tables import Publication, Table
from diskret.tables.shares import names_of, place_of, shares
from diskret.tables.unions import union_table

#: A contributor's name, and where it may be if it is not known where: −1, or one of the places.
_Somebody = tuple[int, int]
#: Contributors, cells, and a side: 1 up, −1 down.
_Told = tuple[tuple[_Somebody, ...], tuple[int, ...], int]


@dataclass(frozen=True, eq=False)
class Seat:
    """One table of a publication, with those who contribute to it.

    table: its values; None if nobody knows who contributed.
    rule: what judges its cells; None: nothing is asked of them.
    strict: whether each target's own level is asked for in place of what the rule says, as long as
        somebody else contributes: more than any rule asks for.
    """

    table: Table | None
    rule: Rule | None
    strict: bool = False


@dataclass(frozen=True, eq=False)
class InsiderJudge:
    """Who the insiders of some tables are, and what must stay uncertain to them.

    seats: the tables in the order of the publication.
    attacker: a contributor.
    coalition: how many pool what they know.
    """

    seats: Sequence[Seat]
    attacker: Attacker
    coalition: int
    _between: list[Unpublished | None] = field(default_factory=list[Unpublished | None], repr=False)
    _rests: list[list[RestsOfTables]] = field(default_factory=list[list[RestsOfTables]], repr=False)
    gave_up: set[_Told] = field(default_factory=set[_Told], repr=False)

    def rests(self, publication: Publication, original: NDArray[np.int64]) -> list[RestsOfTables]:
        """What is left beside filters and unsafe, whatever is hidden."""
        if not self._rests:
            tables = [seat.table for seat in self.seats]
            rules = [seat.rule for seat in self.seats]
            self._rests.append(unsafe_rests(tables, rules, publication, original))
        return self._rests[0]

    def between(self, publication: Publication, original: NDArray[np.int64]) -> Unpublished | None:
        """What contributors have in cells that nobody published, whatever is hidden."""
        if not self._between:
            tables = [seat.table for seat in self.seats]
            self._between.append(unpublished_of(tables, publication, original, self.coalition))
        return self._between[0]

    def already(
        self,
        told: Sequence[Open],
        asked: Asked,
        publication: Publication,
        required: Requirements,
        unsafe: UnsafeSums,
        original: NDArray[np.int64],
        progress: Progress,
        deadline: Deadline = NEVER,
    ) -> bool:
        """Give up what contributors can tell from earlier releases alone; whether that is anything.

        Nothing that is hidden in new tables could take it back.
        """
        if not publication.beside or not told:
            return False
        alone = with_own_hidden(publication)
        found = examine(
            alone, self.attacker, original=original, progress=progress, deadline=deadline
        )
        whole = alone, found, required, unsafe, original
        _, known, then = self.attack(*whole, progress, deadline=deadline)
        open_ = {entry for one in known.open for entry in then.told(one)}
        more = open_ & {entry for one in told for entry in asked.told(one)}
        self.gave_up.update(more)
        return bool(more)

    def attack(
        self,
        publication: Publication,
        examination: Examination,
        required: Requirements,
        unsafe: UnsafeSums,
        original: NDArray[np.int64],
        progress: Progress,
        before: Withstood | None = None,
        deadline: Deadline = NEVER,
        outsider_first: bool = False,
    ) -> tuple[Examination, Withstood, Asked]:
        """The same examination with what it takes to withstand insiders, and what they can tell.

        `before` is what was found when other cells were hidden. With `outsider_first` nobody else
        is asked where an outsider can tell something. Raises OutOfTime: the deadline has passed.
        """
        asked = _asked(self, publication, required, unsafe, original)
        whom = self.attacker, asked.insiders
        examination, found = withstand_insiders(
            publication, examination, *whom, original, progress, before, deadline, outsider_first
        )
        return examination, found, asked

    def withstood(self, found: Withstood, asked: Asked) -> InsidersWithstood:
        """What a certificate says of an attack that nobody got through."""
        unlisted = tuple(i for i, seat in enumerate(self.seats) if seat.table is None)
        untold = asked.between is not None and not asked.between.complete
        already = bool(self.gave_up)
        return InsidersWithstood(
            asked.insiders, found.asked, unlisted, untold, asked.names, already
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """The insiders of a publication and their targets.

    insiders: as the attack sees them.
    names: the number of each contributor, uint64.
    target: the targets as sums of all cells, ``(t, n)``, entries 1, and −1 for what is taken away.
    between: what contributors have in unpublished cells; None if there are none.
    row: of each contributor there, −1 for none.
    """

    insiders: Insiders
    names: NDArray[np.uint64]
    target: sparse.csr_array
    between: Unpublished | None = None
    row: NDArray[np.int64] | None = None

    def unpublished(
        self, coalitions: Sequence[Coalition], equations: sparse.csr_array
    ) -> sparse.csr_array | None:
        """What the members of coalitions have in the unpublished cells of other equations.

        A row for each contributor, see `Unpublished.in_others`; None if there are none.
        """
        if self.between is None or self.row is None:
            return None
        who = np.unique(np.array([one for own in coalitions for one in own], dtype=np.int64))
        who = who[self.row[who] >= 0]
        cell, at, value = self.between.in_others(self.row[who], equations)
        shape = len(self.names), equations.shape[1]
        return sparse.csr_array((value, (who[at], cell)), shape=shape)

    def cells(self, one: Open) -> list[int]:
        """The cells of a target."""
        return self.target[[one.target]].indices.tolist()

    def signs(self, one: Open) -> list[int]:
        """For each of its cells 1, or −1 where it is taken away."""
        return self.target[[one.target]].data.tolist()

    def told(self, one: Open) -> list[_Told]:
        """Who can tell which cells on which sides, whatever their numbers."""
        who = _somebody(self.names, self.row, np.array(one.who, dtype=np.int64))
        cells = _marked(self.cells(one), self.signs(one))
        sides = ((-1, one.lower), (1, one.upper))
        return [(who, cells, side) for side, level in sides if level > 0]


def insider_judge(
    to_protect: Sequence[TableToProtect],
    attacker: Attacker,
    before: EarlierTables,
) -> InsiderJudge:
    """Who the insiders of these tables are."""
    tables = contributing([one.table for one in to_protect], before)
    seats = [Seat(table, o.rule) for table, o in zip(tables, to_protect, strict=False)]
    for e, table in zip(before.earlier, tables[len(to_protect) :], strict=True):
        rules = [o.rule for o in to_protect if o.table.measure.name == e.published.measure]
        rule = rules[0] if rules and not isinstance(rules[0], Sensitivity) else None
        if e.unsafe is None or table is None:  # it was protected against an outsider
            seats.append(Seat(table, None))
            continue
        room = np.zeros((*table.shape, rule.largest if rule else 0), dtype=np.int64)
        measures = tuple(replace(m, largest=room) for m in table.measures)
        seats.append(Seat(replace(table, measures=measures), rule))
    coalition = max(largest_coalition(one.rule, attacker.coalition) for one in to_protect)
    return InsiderJudge(seats, attacker, coalition)


# ── who is asked about what ─────────────────────────────────────────────────────────


def _asked(
    judge: InsiderJudge,
    publication: Publication,
    required: Requirements,
    unsafe: UnsafeSums,
    original: NDArray[np.int64],
) -> Asked:
    cell, free = unknown_cells(publication)
    ends = list(pairwise(publication.starts.tolist()))
    rests = judge.rests(publication, original)
    target, most = _targets(required, unsafe, rests, int(publication.starts[-1]))
    tables = [seat.table for seat in judge.seats]
    between = judge.between(publication, original)
    there = present(tables, publication, cell, free, between)
    names = there.names
    owed: list[_OfTable] = []
    sums = target.shape[0] - sum(len(of.rests) for of in rests)
    for place, (seat, (start, stop)) in enumerate(zip(judge.seats, ends, strict=True)):
        rows = np.flatnonzero(np.diff(target[:sums, start:stop].indptr))
        if len(rows) and seat.table is not None and (seat.rule is not None or seat.strict):
            member = sparse.csr_array(target[rows][:, start:stop])
            owed.append(_of_table(judge, seat.table, seat.rule, member, rows, place, most))
    counted: list[tuple[NDArray[np.int64], CountedRests]] = []
    for of, rows in zip(rests, _numbered(rests, sums), strict=True):
        known = judged_by_contributors(of)
        if known is None:
            counted.append((rows, CountedRests.of(of, between, there)))
            continue
        none = np.zeros(len(rows), dtype=np.int64)
        least = none if of.bounded else None
        owed.append(_OfTable(rows, *known, (none, none), of.rests.value, least, None))
    elsewhere = None if between is None else Elsewhere.of(between, there, target, publication, cell)
    place = np.full(int(max(publication.starts[-1], cell.max(initial=0) + 1)), -1)
    place[cell] = np.arange(len(cell))
    unknown = place[target.indices] >= 0  # a rest is what is left of a published cell, too
    first = np.searchsorted(np.flatnonzero(unknown), target.indptr)
    narrow = sparse.csr_array(
        (target.data[unknown], place[target.indices[unknown]], first),
        shape=(target.shape[0], len(cell)),
    )
    told = np.diff(first) == 0  # everybody can compute it: rules have judged it already
    most = np.where(told, 0, most[0]), np.where(told, 0, most[1])
    number_of = dict[tuple[int, ...], int]()
    if judge.gave_up:
        for i in range(target.shape[0]):
            row = slice(*target.indptr[i : i + 2].tolist())
            number_of[_marked(target.indices[row].tolist(), target.data[row].tolist())] = i

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
                nowhere = np.zeros(used.shape, dtype=bool)
                if elsewhere is not None and one.place is not None:
                    nowhere = elsewhere.sure(at[here], coalition[here])
                lower[here], upper[here] = one.level(
                    np.searchsorted(one.rows, at[here]), name, used, nowhere
                )
        for rows, left in counted:
            here = np.flatnonzero(np.isin(at, rows))
            if len(here):
                who = coalition[here]
                nowhere = np.zeros(who.shape, dtype=bool)
                if elsewhere is not None:
                    nowhere = elsewhere.sure(at[here], who)
                lower[here], upper[here] = left.level(at[here] - rows[0], who, nowhere)
        # who has nothing to do with a rest is asked what its rules ask of a cell
        nobody = (at >= sums) & (coalition < 0).all(axis=1)
        lower, upper = np.where(nobody, most[0][at], lower), np.where(nobody, most[1][at], upper)
        for who, cells, side in judge.gave_up:
            for i in np.flatnonzero(at == number_of.get(cells, -1)).tolist():
                if _somebody(names, there.row, coalition[i][coalition[i] >= 0]) == who:
                    (lower if side < 0 else upper)[i] = 0
        return np.minimum(lower, most[0][at]), np.minimum(upper, most[1][at])

    insiders = Insiders(
        there.own, there.number, judge.coalition, narrow, most, level, there.bounded
    )
    return Asked(insiders, names, target, between, there.row)


def _somebody(
    names: NDArray[np.uint64], row: NDArray[np.int64] | None, who: NDArray[np.int64]
) -> tuple[_Somebody, ...]:
    """What contributors are known by in attacks on more or fewer tables."""
    place = np.full(len(who), -1) if row is None else row[who]
    return tuple(sorted(zip(names[who].tolist(), place.tolist(), strict=True)))


def _marked(cells: Sequence[int], signs: Sequence[int]) -> tuple[int, ...]:
    """A target as numbers that no other one has: a rest may be that of one cell."""
    return tuple(sorted(c if s > 0 else ~c for c, s in zip(cells, signs, strict=True)))


def _numbered(rests: Sequence[RestsOfTables], sums: int) -> list[NDArray[np.int64]]:
    """The numbers of rests as targets; they stand behind cells and sums."""
    ends = sums + np.cumsum([0, *(len(of.rests) for of in rests)])
    return [np.arange(start, stop) for start, stop in pairwise(ends.tolist())]


def _targets(
    required: Requirements, unsafe: UnsafeSums, rests: Sequence[RestsOfTables], cells: int
) -> tuple[sparse.csr_array, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Unsafe cells, unsafe sums and unsafe rests, and their levels."""
    own = np.flatnonzero(required.cell < cells)
    n = len(own)
    alone = sparse.csr_array(
        (np.ones(n, np.int64), required.cell[own], np.arange(n + 1)), shape=(n, cells)
    )
    left = as_targets(rests, cells)
    members = sparse.vstack([alone, unsafe.member, left.member], format="csr")
    lower = np.concatenate((required.lower[own], unsafe.lower, left.lower))
    upper = np.concatenate((required.upper[own], unsafe.upper, left.upper))
    return sparse.csr_array(members, dtype=np.int64), (lower, upper)


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
        self,
        at: NDArray[np.int64],
        who: NDArray[np.uint64],
        used: NDArray[np.bool_],
        nowhere: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lower and upper level where these are the insiders; `nowhere`: known not to be there."""
        none = np.zeros(len(at), dtype=np.int64)
        found = np.max([none, *(one.level(at, who, used) for one in self.judged)], axis=0)
        lower, upper = (np.maximum(found, hand[at]) for hand in self.hand)
        known = self.known
        entry, there = known.entries(at, who, used)
        open_ = known.open(at, who, used)
        if self.place is not None:  # nobody knows who of others is meant
            place = np.where(used, place_of(who), place_of(who[:, :1]))
            open_ &= (~used | nowhere | (place == self.place)).all(axis=1)
            open_ &= (place == place[:, :1]).all(axis=1)  # else they may be one and the same
        if self.least is not None:
            own = added(known.shares.value, entry, there)
            lower = np.minimum(lower, self.value[at] - np.maximum(own, self.least[at]))
        return np.where(open_, np.maximum(lower, 0), 0), np.where(open_, upper, 0)


def _of_table(
    judge: InsiderJudge,
    table: Table,
    rule: Rule | None,
    member: sparse.csr_array,
    rows: NDArray[np.int64],
    place: int,
    most: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> _OfTable:
    cells = np.diff(member.indptr)
    none = np.zeros(len(rows), dtype=np.int64)
    judged: Sequence[Judged] = ()
    levels = most[0][rows], most[1][rows]
    hand = None
    if rule is not None:
        judged = judged_by(rule, table, union_table(table, member), member, place)
        hand, levels = by_hand(rule, table), (none, none)
    if hand is not None:
        alone, first = cells == 1, member.indices[member.indptr[:-1]]
        levels = np.where(alone, hand[0][first], 0), np.where(alone, hand[1][first], 0)
    least = None
    if table.nonnegative:
        least = cells if judge.attacker.zeros_known and table.frequency else none
    only = None if names_of(table) is not None else place
    # a rule that looks at no contributors judges no unions
    known = Known(shares(table, member, place), table.frequency, table.measure.decimals, 1)
    return _OfTable(rows, judged, known, levels, member @ table.measure.sum.ravel(), least, only)
