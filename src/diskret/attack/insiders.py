"""What contributors learn of others who take their own contributions out of everything.

Some contributors S know what is theirs in every cell, and in which cells nobody else is. Their
attack is the outsider's with ``x = c_S`` where S is alone and ``x ≥ c_S`` elsewhere. An alternative
table that keeps to this proves that S cannot tell; and so does a table that keeps to it only
after it is moved some way towards the original one, if it still goes far enough then. So tables
that show what an outsider cannot tell are tried first, and programmes are solved for those S alone
that they leave open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.attacker import Attacker
from diskret.attack.equations import Equations, equations
from diskret.attack.exact import Point, times
from diskret.attack.examination import Examination
from diskret.attack.insider_moves import Shown
from diskret.attack.insider_pieces import Claims, settle_pieces
from diskret.attack.insider_search import Search
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.moves import packed, possible
from diskret.attack.short_moves import as_moves, taken_apart
from diskret.deadline import NEVER, Deadline
from diskret.graphs import connected
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together

#: Contributors, by their numbers, ascending.
Coalition = tuple[int, ...]
#: Lower and upper levels of questions: a target each, and contributors, −1 for none.
Levels = Callable[
    [NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.int64], NDArray[np.int64]]
]
#: A table that more contributors contradict is replaced by a shorter move, if there is one.
_MANY = 40


@dataclass(frozen=True, eq=False)
class Insiders:
    """Who contributes what to the unknown cells, and what must stay uncertain. Confidential.

    own: contributions, ``(contributors, k)``, int64 CSR in the order of `Equations.cell`; an entry
        that is 0 says that somebody is in a cell with nothing.
    number: how many contribute to each cell, ``(k,)``, int64; −1 if nobody knows, then those are
        alone who contribute all of it.
    coalition: how many contributors pool what they know; 0: an outsider alone attacks.
    target: cells, sums and rests that are unsafe, ``(t, k)``, int64 CSR of ones, and −1 for what is
        taken away.
    most: lower and upper level of each that nobody is owed more than, ``(t,)``, int64.
    level: what is owed to others where these contributors are the insiders.
    bounded: whether contributions are at least 0, so that a cell is at least what S has in it,
        bool, ``(k,)``.
    """

    own: sparse.csr_array
    number: NDArray[np.int64]
    coalition: int
    target: sparse.csr_array
    most: tuple[NDArray[np.int64], NDArray[np.int64]]
    level: Levels
    bounded: NDArray[np.bool_]


@dataclass(frozen=True)
class Open:
    """Contributors to whom a cell or sum is not uncertain enough. Confidential.

    who: the contributors.
    target: the cell or sum, by its number.
    lower, upper: how far down and up it would have to be able to move; 0 on a side that holds.
    """

    who: Coalition
    target: int
    lower: int
    upper: int


@dataclass(frozen=True, eq=False)
class InsidersWithstood:
    """What was asked of insiders, all of it proven. Confidential.

    insiders: who they are, and what must stay uncertain.
    asked: how many pairs of a target and a coalition were looked at one by one; a table at hand
        proves all others at once.
    unlisted: positions of tables whose contributors nobody knows: everybody is an outsider there.
    untold: whether it does not follow from the contributions to the tables what all have in cells
        that no table shows.
    names: the number of each contributor, uint64.
    already: whether some could tell something from earlier releases alone, which nothing takes
        back.
    hidden: cells that were hidden because of what they could tell otherwise, int64.
    """

    insiders: Insiders
    asked: int
    unlisted: tuple[int, ...] = ()
    untold: bool = False
    names: NDArray[np.uint64] | None = None
    already: bool = False
    hidden: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def coalition(self) -> int:
        """How many contributors pool what they know."""
        return self.insiders.coalition


@dataclass(frozen=True, eq=False)
class Withstood:
    """The result: tables that show what insiders cannot tell, and what they can.

    tables: further alternative tables of all unknown cells.
    open: what no table shows.
    looked: coalitions and targets that were looked at one by one; the tables prove all others at
        once, whatever is owed there.
    cell: positions of the unknown cells, as of `Equations`.
    """

    tables: list[Point]
    open: list[Open]
    looked: set[tuple[Coalition, int]]
    cell: NDArray[np.int64]

    @property
    def asked(self) -> int:
        """How many pairs of a coalition and a target were looked at."""
        return len(self.looked)


#: Coalition → targets and sides (1 up, −1 down).
_Queue = dict[Coalition, list[tuple[int, int]]]


def withstand(
    known: Equations,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    truth: NDArray[np.int64],
    tables: Sequence[Point],
    insiders: Insiders,
    whole: bool,
    progress: Progress = silent,
    before: Sequence[Point] = (),
    deadline: Deadline = NEVER,
    outsider_first: bool = False,
) -> Withstood:
    """Look for tables that show that no coalition can tell a target too closely.

    known, bounds: equations and bounds of the outsider's attack.
    truth: original values of the unknown cells, ``(k,)``; of unpublished ones 0.
    tables: alternative tables that satisfy both.
    insiders: who contributes, and what is required.
    whole: values are whole numbers.
    before: further alternative tables, that the same attack made when less was hidden.
    deadline: raises `OutOfTime` then.
    outsider_first: where something is open to an outsider nobody else is asked.
    """
    search = Search(known, bounds, truth, whole, deadline)
    pieces = settle_pieces(
        known, bounds, truth, tables, insiders, whole, search, progress, before, outsider_first
    )
    if insiders.coalition > 1:  # what no single one can tell, several may
        pieces = replace(pieces, left=np.arange(insiders.target.shape[0]))
    enough = outsider_first and any(map(len, pieces.open))
    if enough or not len(pieces.left):
        opened = _together(_opened(pieces.open))
        return Withstood(pieces.tables, opened, _looked(pieces.asked), known.cell)
    shown = Shown(known, truth, insiders, whole)
    for table in (*tables, *before, *pieces.tables):
        shown.add(table)
    work = _Work(shown, search, insiders)
    sides = ((1, insiders.most[1]), (-1, insiders.most[0]))
    queue: _Queue = {
        (): [(t, side) for side, most in sides for t in pieces.left[most[pieces.left] > 0].tolist()]
    }
    for size in range(insiders.coalition + 1):
        if outsider_first and work.open:
            break
        following: defaultdict[Coalition, set[tuple[int, int]]] = defaultdict(set)
        levels = work.levels(queue)
        for done, (who, claims) in enumerate(sorted(queue.items())):
            progress("attack", done, len(queue))
            for claim, place in work.settle(who, claims, levels).items():
                if size < insiders.coalition:
                    for other in shown.contradicting(who, claim, place):
                        following[tuple(sorted((*who, other)))].add(claim)
        queue = {who: sorted(claims) for who, claims in following.items()}
    return Withstood(
        [*pieces.tables, *work.new],
        _together([*_opened(pieces.open), *work.open]),
        _looked(pieces.asked) | {(who, t) for who, t, _ in work.asked},
        known.cell,
    )


def _looked(pairs: set[tuple[int, int]]) -> set[tuple[Coalition, int]]:
    return {((who,) if who >= 0 else (), t) for who, t in pairs}


def _opened(claims: Sequence[Claims]) -> list[Open]:
    return [
        Open((who,) if who >= 0 else (), t, *((0, need) if side > 0 else (need, 0)))
        for one in claims
        for who, t, side, need in zip(
            *(of.tolist() for of in (one.who, one.target, one.side, one.need)), strict=True
        )
    ]


class _Work:
    """Questions about coalitions, settled by tables at hand or by new ones."""

    def __init__(self, shown: Shown, search: Search, insiders: Insiders):
        self.shown, self.search, self.insiders = shown, search, insiders
        self.new: list[Point] = []
        self.open: list[Open] = []
        self.asked: dict[tuple[Coalition, int, int], int] = {}

    def levels(self, queue: _Queue) -> dict[tuple[Coalition, int, int], int]:
        """What each coalition's claims ask for."""
        rows = [(who, t, side) for who, claims in queue.items() for t, side in claims]
        if not rows:
            return {}
        most = max(1, *(len(who) for who, _, _ in rows))
        names = np.array([who + (-1,) * (most - len(who)) for who, _, _ in rows], dtype=np.int64)
        lower, upper = self.insiders.level(np.array([t for _, t, _ in rows]), names)
        wanted = np.where(np.array([side for _, _, side in rows]) > 0, upper, lower).tolist()
        found = dict(zip(rows, wanted, strict=True))
        self.asked |= found
        return found

    def settle(
        self,
        who: Coalition,
        claims: Sequence[tuple[int, int]],
        levels: Mapping[tuple[Coalition, int, int], int],
    ) -> dict[tuple[int, int], int]:
        """Which table proves each claim, −1 where nothing is asked for; others become open."""
        proven: dict[tuple[int, int], int] = {}
        wanted = np.array([levels[who, t, side] for t, side in claims], dtype=np.int64)
        place = self.shown.proving(who, claims, wanted)
        for i, (t, side) in enumerate(claims):
            need = int(wanted[i])
            if need <= 0:
                proven[t, side] = -1
                continue
            if not who:  # a shorter one may have been found in the meantime
                place[i] = self.shown.proving(who, [(t, side)], wanted[i : i + 1])[0]
            elif place[i] < 0:
                place[i] = self.shown.proving(who, [(t, side)], wanted[i : i + 1], recent=True)[0]
            many = not who and self.insiders.coalition > 0
            if place[i] < 0 or (many and self.shown.many((t, side), int(place[i]), _MANY)):
                most = int(self.insiders.most[0 if side < 0 else 1][t])
                # what goes as far as anybody is owed serves others, too, if there is any
                for far in (need,) if who else dict.fromkeys((most, need)):
                    place[i] = self._look(who, (t, side), far, need, int(place[i]))
                    if place[i] >= 0:
                        break
            if place[i] < 0:
                lower, upper = (need, 0) if side < 0 else (0, need)
                self.open.append(Open(who, t, lower, upper))
            else:
                proven[t, side] = int(place[i])
        return proven

    def _look(self, who: Coalition, claim: tuple[int, int], far: int, need: int, had: int) -> int:
        """Solve for a table that proves a claim; the place of what proves it, or −1."""
        t, side = claim
        low, high = self.shown.bounds_of(who, self.search.bounds)
        target = self.insiders.target
        own = slice(target.indptr[t], target.indptr[t + 1])
        signs = target.data[own] * side
        point = self.search.look(target.indices[own], signs, far, low, high, near=had >= 0)
        if point is None:
            return had
        self.new.append(point)
        for apart in (True, False):  # a sum may need several parts
            self.shown.add(point, apart)
            found = int(self.shown.proving(who, [claim], np.array([need]), recent=apart)[0])
            if found >= 0:
                return found
        return had


def _together(found: Sequence[Open]) -> list[Open]:
    """One entry for each coalition and target."""
    sides: dict[tuple[Coalition, int], tuple[int, int]] = {}
    for one in found:
        lower, upper = sides.get((one.who, one.target), (0, 0))
        sides[one.who, one.target] = max(lower, one.lower), max(upper, one.upper)
    return [Open(who, target, *levels) for (who, target), levels in sides.items()]


def withstand_insiders(
    published: Published | Publication,
    examination: Examination,
    attacker: Attacker,
    insiders: Insiders,
    original: NDArray[np.int64],
    progress: Progress = silent,
    before: Withstood | None = None,
    deadline: Deadline = NEVER,
    outsider_first: bool = False,
) -> tuple[Examination, Withstood]:
    """The same examination, with more witnesses where insiders need them, and what is open.

    outsider_first: where something is open to an outsider nobody else is asked.

    Nothing simpler proves what is claimed of insiders, so `OutOfTime` is raised at the deadline.
    """
    publication = together(published)
    tables = list(examination.witnesses)
    known = equations(publication)
    bounds = unknown_bounds(publication, known, attacker, original)
    truth = np.zeros(len(known.cell), dtype=np.int64)
    truth[~known.latent] = np.asarray(original).ravel()[known.cell[~known.latent]]
    old = [] if before is None else list(_still_possible(before, known, bounds, truth))
    whole = publication.tables[0].frequency
    found = withstand(
        known, bounds, truth, tables, insiders, whole, progress, old, deadline, outsider_first
    )
    found = replace(found, tables=[*old, *_completed(found.tables, tables, known, bounds)])
    # they move the original values in few places
    return examination.with_tables(found.tables, Point(truth, 1) if found.tables else None), found


def _completed(
    found: list[Point],
    tables: Sequence[Point],
    known: Equations,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> list[Point]:
    """Tables found in pieces, with possible values of the unpublished cells of other pieces.

    Nobody knows their original values, so a move of other cells leaves them open.
    """
    if not known.latent.any() or not tables:
        return found
    graph = abs(known.matrix).T @ abs(known.matrix)
    label = connected(graph)
    unclear = np.isin(label, label[known.latent])
    base, whole = tables[0], list[Point]()
    for point in found:
        if not point.solves(known.matrix, known.right, *bounds):
            elsewhere = times(base.numerator, point.denominator)
            here = times(point.numerator, base.denominator)
            numerator = np.where(unclear, elsewhere, here)
            other = Point(numerator, point.denominator * base.denominator)
            if other.solves(known.matrix, known.right, *bounds):
                point = other
        whole.append(point)
    return whole


def _still_possible(
    before: Withstood,
    known: Equations,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
    truth: NDArray[np.int64],
) -> Iterator[Point]:
    """The tables of an attack when other cells were hidden, what is hidden since as it is.

    Of a table that moves cells which are published now, the parts that move others are left.
    """
    place = np.minimum(np.searchsorted(known.cell, before.cell), len(known.cell) - 1)
    there = known.cell[place] == before.cell
    some = list[Point]()
    for table in before.tables:
        numerator = times(truth, table.denominator)
        numerator[place[there]] = table.numerator[there]
        point = Point(numerator, table.denominator)
        if point.solves(known.matrix, known.right, *bounds):
            yield point
        else:
            some.append(point)
    if known.latent.any():  # nobody knows what a move of theirs would start from
        return
    everything = np.zeros(len(truth), dtype=np.int64)
    parts = taken_apart(known.matrix, everything, truth, some, longest=len(truth))
    moves = possible(as_moves(parts.get(0, []), len(truth)), truth, known.matrix, *bounds)
    yield from packed(moves, known.matrix).points(truth)[1:]


def unknown_cells(
    published: Published | Publication,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Positions of the unknown cells, and which of those nobody published may be negative."""
    known = equations(published)
    return known.cell, known.free


def placed_in(insiders: Insiders, before: Publication, now: Publication) -> Insiders:
    """The same insiders of tables that are read beside other ones now.

    insiders: of the unknown cells of `before`.
    before, now: tables are known again by their names; all cells of those of `before` that are
        unknown in `now` have to be unknown there.
    """
    cell, _ = unknown_cells(before)
    place, free = unknown_cells(now)
    shift = np.full(int(before.starts[-1]), -1, dtype=np.int64)
    start_of = dict(zip((t.name for t in now.tables), now.starts.tolist(), strict=False))
    for table, start in zip(before.tables, before.starts.tolist(), strict=False):
        if table.name in start_of:
            own = np.arange(table.value.size)
            shift[start + own] = start_of[table.name] + own
    shown = cell < len(shift)
    to = np.where(shown, shift[np.where(shown, cell, 0)], -1)
    column = np.searchsorted(place, np.maximum(to, 0))
    there = (to >= 0) & (column < len(place)) & (place[np.minimum(column, len(place) - 1)] == to)
    moved = np.flatnonzero(there)
    number = np.full(len(place), np.iinfo(np.int64).max)
    number[column[moved]] = insiders.number[moved]
    bounded = np.append(np.zeros(len(place) - len(free), dtype=bool), ~free)
    bounded[column[moved]] = insiders.bounded[moved]

    def along(matrix: sparse.csr_array) -> sparse.csr_array:
        kept = there[matrix.indices]
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[kept]
        start = np.searchsorted(row, np.arange(matrix.shape[0] + 1))
        entries = matrix.data[kept], column[matrix.indices[kept]], start
        return sparse.csr_array(entries, shape=(matrix.shape[0], len(place)))

    return replace(
        insiders,
        own=along(insiders.own),
        number=number,
        target=along(insiders.target),
        bounded=bounded,
    )
