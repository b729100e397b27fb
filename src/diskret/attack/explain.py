"""Why each secondary is hidden: what would follow if it alone were published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from diskret.attack.alternatives import Alternatives, Reach, farther, within
from diskret.attack.attacker import Attacker
from diskret.attack.certificate import targets_of
from diskret.attack.equations import Equations, cell_name, equations
from diskret.attack.exact import LIMIT, UNKNOWN, Point, broken_bounds, broken_equations, times
from diskret.attack.examine import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.programme import Programme
from diskret.attack.proof import unmet
from diskret.attack.reduction import Reduction, reduce
from diskret.attack.requirements import Requirements
from diskret.attack.search import Finding, Wanted, search
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together

#: Nodes of branch and bound when possible values of unpublished cells are looked for.
_NODES = 500

Kind = Literal["protects", "hides", "together", "not examined", "elsewhere"]


@dataclass(frozen=True, eq=False)
class Explanations:
    """What each secondary is hidden for. Confidential. In scaled units.

    There is at least one row for each secondary, ``(r,)`` in all. ``protects``: if only this
    secondary were published, the primary `needed_by` would miss its requirement. ``hides``: no
    primary would, but the secondary `needed_by` could be computed exactly. ``together``:
    published alone it would do no harm; cells like it are needed only together with others.
    ``not examined``: the limit was reached first, or the solver gave no answer.

    Parameters
    ----------
    secondary
        Flat (C order) position of the secondary, ascending, ``(r,)``, int64.
    kind
        As above, ``(r,)``.
    needed_by
        Flat position of the cell that needs it, ``(r,)``, int64; −1 if there is none.
    lower, upper
        What the attacker could compute for that cell, ``(r,)``, float64; −inf and inf where
        nothing bounds it, or no cell needs it.
    programmes
        Work done: one for each secondary, and one for each end of an interval that witnesses
        do not settle.
    """

    secondary: NDArray[np.int64]
    kind: tuple[Kind, ...]
    needed_by: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    programmes: int = 0

    def within(self, start: int, stop: int) -> Explanations:
        """The same for one of several tables, at the positions of its own cells.

        Secondaries that only cells of other tables need have the kind ``elsewhere``.
        """
        own = (self.needed_by >= start) & (self.needed_by < stop)
        other = (self.needed_by >= 0) & ~own
        helped = np.isin(self.secondary, self.secondary[own])
        first = np.zeros(len(own), dtype=bool)
        first[np.unique(self.secondary, return_index=True)[1]] = True
        kept = np.flatnonzero(~other | (first & ~helped))
        return Explanations(
            self.secondary[kept] - start,
            tuple("elsewhere" if other[i] else self.kind[i] for i in kept.tolist()),
            np.where(own, self.needed_by - start, -1)[kept],
            np.where(other, -np.inf, self.lower)[kept],
            np.where(other, np.inf, self.upper)[kept],
            self.programmes,
        )

    @property
    def not_examined(self) -> int:
        """Number of secondaries that the limit left unexplained."""
        return self.kind.count("not examined")


def explain(
    published: Published | Publication,
    examination: Examination,
    requirements: Requirements,
    original: NDArray[np.int64],
    attacker: Attacker = Attacker(),
    *,
    about: NDArray[np.int64] | None = None,
    limit: int | None = None,
    progress: Progress = silent,
) -> Explanations:
    """Find out for each secondary which cells need it.

    A secondary is needed by a cell if the same pattern without the secondary, its value
    published, leaves the requirement of that cell unmet (see
    [`unmet`][diskret.attack.proof.unmet]; for counts, witnesses are whole-numbered).

    Parameters
    ----------
    published
        The protected table, or all tables that were attacked together; positions of cells
        count through all of them.
    examination
        Its attack by that attacker; it must meet all requirements. A witness in which the
        secondary has its original value holds after it has been published too, so that much
        is settled without a new linear programme.
    requirements
        The protection levels of the primaries; all other suppressed cells are secondaries.
    original
        Original values in scaled integers, shape of the table; of several tables flat.
    attacker
        Who attacks.
    about
        Positions of the secondaries to explain; None: all.
    limit
        Largest amount of work (see `Explanations.programmes`); None: no limit.
        Small connected parts of the table come first.
    progress
        Told about the task ``"explain"``: secondaries done, and all.

    Raises
    ------
    InputError
        The original values do not belong to the published table, or the attacker's bounds
        exclude them.
    ProofError
        The examination does not meet the requirements, so that nothing can be said of what
        would break them.

    Examples
    --------
    >>> from diskret.attack.examine import examine
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> flat = Hierarchy.flat(["1", "2"])
    >>> value = np.array([[14, 6, 8], [9, 2, 7], [5, 4, 1]])
    >>> hidden = np.array([[False] * 3, [False, True, True], [False, True, True]])
    >>> table = Published(
    ...     "t", (Dimension("x", flat), Dimension("y", flat)), "count", True, 0,
    ...     np.where(hidden, 0, value), hidden, np.zeros((3, 3), dtype=bool),
    ... )
    >>> one = np.array([1])
    >>> levels = Requirements(cell=np.array([4]), lower=one, upper=one, sliding=0 * one)
    >>> found = explain(table, examine(table), levels, value)
    >>> list(zip(found.secondary.tolist(), found.kind, found.needed_by.tolist()))
    [(5, 'protects', 4), (7, 'protects', 4), (8, 'protects', 4)]
    >>> found.lower.tolist(), found.upper.tolist()
    ([2.0, 2.0, 2.0], [2.0, 2.0, 2.0])
    """
    question = _question(published, examination, requirements, original, attacker)
    explained = question.hidden & ~question.primary
    if about is not None:
        explained &= np.isin(question.cell, about)
    secondary = np.flatnonzero(explained)
    found: dict[int, _Answer] = {}
    spent = 0
    for part in _parts(question.reduced):
        alternatives = _alternatives(question, part, examination)
        for s in part.cell[explained[part.cell]].tolist():
            left = None if limit is None else limit - spent
            found[s] = _without(question, part, alternatives, s, left)
            spent += found[s].programmes
            progress("explain", len(found), len(secondary))
    answers = [found[s] for s in secondary.tolist()]
    rows = [len(answer.needed_by) for answer in answers]

    def joined(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([np.empty(0), *arrays])

    needed_by = joined([answer.needed_by for answer in answers]).astype(np.int64)
    return Explanations(
        secondary=np.repeat(question.cell[secondary], rows),
        kind=tuple(a.kind for a, n in zip(answers, rows, strict=True) for _ in range(n)),
        needed_by=np.where(needed_by < 0, -1, question.cell[needed_by]),
        lower=joined([answer.lower for answer in answers]),
        upper=joined([answer.upper for answer in answers]),
        programmes=spent,
    )


# ── what is asked ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Question:
    """All unknown cells, ``(k,)``; their positions there are what is meant by "cell" below.

    `hidden` are the suppressed ones; nothing is required of the others.
    """

    cell: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    primary: NDArray[np.bool_]
    truth: NDArray[np.int64]
    targets: Targets
    reduced: Reduction
    whole: bool
    far: int

    def numerators(self, examination: Examination) -> NDArray[np.int64]:
        """The witnesses' numerators for all unknown cells, ``(w, k)``."""
        numerators = np.empty((len(examination.denominator), len(self.cell)), dtype=np.int64)
        numerators[:, self.hidden] = examination.witnesses.toarray()
        if examination.beside is not None:
            numerators[:, ~self.hidden] = examination.beside.toarray()
        return numerators

    def met(self, cell: NDArray[np.int64], reach: Reach) -> NDArray[np.bool_]:
        """Which of some cells reach what is required of them; see `unmet`."""
        low, high = reach
        wanted = self.targets
        reached = (low <= wanted.low[cell]) & (high >= wanted.high[cell])
        return reached & (high - low >= wanted.width[cell])


def _question(
    given: Published | Publication,
    examination: Examination,
    requirements: Requirements,
    original: NDArray[np.int64],
    attacker: Attacker,
) -> _Question:
    published = together(given)
    known = equations(published)
    original = np.asarray(original, dtype=np.int64).ravel()
    lower, upper = unknown_bounds(published, known, attacker, original)
    truth = _completed(published, known, lower, upper, original)
    point = Point(truth, 1)
    equation = broken_equations(known.matrix, known.right, point)
    wrong = np.union1d(known.matrix[equation].indices, broken_bounds(lower, upper, point))
    if len(wrong):
        names = "; ".join(cell_name(published, int(known.cell[i])) for i in wrong[:5])
        raise InputError(
            f"table {published.name!r}: the original values of {len(wrong):,} suppressed cells "
            "contradict the published values or what the attacker is assumed to know, e.g. "
            f"{names}; pass the values that the table was made from"
        )
    targets = targets_of(published, original, requirements)
    missed = unmet(examination, targets)
    if missed.any():
        raise ProofError(
            f"table {published.name!r}: {int(missed.sum()):,} suppressed cells miss their "
            "requirements already, so nothing can be said of what each secondary does for them; "
            "protect the table first"
        )
    finite = [bound[np.abs(bound) < UNKNOWN] for bound in (lower, upper)]
    asked = [a[np.abs(a) < LIMIT] for a in (targets.low, targets.high, targets.width)]
    largest = max(int(np.abs(a).max(initial=1)) for a in (np.asarray(original), *finite, *asked))
    return _Question(
        cell=known.cell,
        hidden=known.hidden,
        primary=np.isin(known.cell, requirements.cell),
        truth=truth,
        targets=_of_all(targets, known.hidden),
        reduced=reduce(known.matrix, known.right, lower, upper),
        whole=published.tables[0].frequency,
        far=min(10 * largest, LIMIT // 64),
    )


def _of_all(targets: Targets, hidden: NDArray[np.bool_]) -> Targets:
    """Targets of all unknown cells: nothing is asked of those that are not suppressed."""
    far = np.iinfo(np.int64).max
    low, high = np.full(len(hidden), far), np.full(len(hidden), -far)
    width = np.zeros(len(hidden), dtype=np.int64)
    low[hidden], high[hidden], width[hidden] = targets.low, targets.high, targets.width
    return Targets(low, high, width)


def _completed(
    published: Publication,
    known: Equations,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    original: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Original values of the unknown cells; of those that nobody published, possible ones."""
    truth = np.zeros(len(known.cell), dtype=np.int64)
    shown = ~known.latent
    truth[shown] = original[known.cell[shown]]
    if known.latent.any():
        among = np.flatnonzero(known.latent)
        rows = np.flatnonzero(np.diff(known.matrix[:, among].indptr))
        rest = known.right[rows] - known.matrix[rows] @ truth
        inside = sparse.csr_array(known.matrix[rows][:, among])
        point = Programme(inside, rest, lower[among], upper[among]).farthest_whole(0, 0, _NODES)
        if point is not None:
            truth[among] = point.numerator
    return truth


# ── one connected part at a time ─────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Connected:
    """Cells that equations connect: their unknowns and rows in the reduced equations."""

    cell: NDArray[np.int64]
    unknown: NDArray[np.int64]
    row: NDArray[np.int64]


def _parts(reduced: Reduction) -> Iterator[_Connected]:
    """The connected parts of the table, small ones first."""
    cell_label, row_label = _labels(reduced.matrix)
    of_cell = np.append(cell_label, -1)[_followed(reduced.link)[0]]
    sizes = np.bincount(of_cell[of_cell >= 0], minlength=int(cell_label.max(initial=-1)) + 1)
    for label in np.lexsort((np.arange(len(sizes)), sizes)).tolist():
        if sizes[label]:
            yield _Connected(
                np.flatnonzero(of_cell == label),
                np.flatnonzero(cell_label == label),
                np.flatnonzero(row_label == label),
            )


def _followed(link: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The unknown that each cell follows, -1 for one that cannot move, and its sign."""
    moves = np.diff(link.indptr) > 0
    unknown, sign = np.full(len(moves), -1), np.zeros(len(moves), dtype=np.int64)
    unknown[moves], sign[moves] = link.indices, link.data
    return unknown, sign


def _labels(matrix: sparse.csr_array) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """A number for each connected component: of the columns, and of the rows."""
    m = matrix.shape[0]
    graph = sparse.block_array([[sparse.csr_array((m, m)), matrix], [matrix.T, None]])
    _, label = csgraph.connected_components(graph, directed=False)
    return label[m:], label[:m]


def _alternatives(question: _Question, part: _Connected, examination: Examination) -> Alternatives:
    """What the attack has shown of a part already."""
    found = Alternatives(question.truth[part.cell], question.whole)
    shown = question.numerators(examination)[:, part.cell]
    both = np.column_stack((examination.denominator, shown))
    for row in np.unique(both, axis=0):
        found.add(Point(row[1:], int(row[0])))
    return found


@dataclass(frozen=True, eq=False)
class _Answer:
    """Why one secondary is hidden; a row for each cell that needs it, or one without."""

    kind: Kind
    programmes: int
    needed_by: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def _nobody(kind: Kind, programmes: int) -> _Answer:
    one = np.ones(1)
    return _Answer(kind, programmes, -one, -np.inf * one, np.inf * one)


def _without(
    question: _Question,
    part: _Connected,
    alternatives: Alternatives,
    secondary: int,
    limit: int | None,
) -> _Answer:
    """Who needs one secondary, asking primaries first."""
    if limit is not None and limit < 1:
        return _nobody("not examined", 0)
    still = int(np.searchsorted(part.cell, secondary))
    reach = alternatives.reach(still)
    others = part.cell != secondary
    primary = question.primary[part.cell]
    attack: _Attack | None = None
    spent = 1
    kinds: tuple[tuple[Kind, NDArray[np.bool_]], ...] = (
        ("protects", primary),
        ("hides", ~primary & others & question.hidden[part.cell]),
    )
    for kind, who in kinds:
        asked = who & ~question.met(part.cell, reach)
        reach = farther(reach, alternatives.mixed(still, np.flatnonzero(asked)))
        asked = who & ~question.met(part.cell, reach)
        if not asked.any():
            continue
        attack = attack or _Attack(question, part, alternatives, secondary)
        cost = 2 * attack.unknowns(asked)
        if limit is not None and spent + cost > limit:
            return _nobody("not examined", spent)
        spent += cost
        try:
            lower, upper, reach = attack.intervals(asked, reach)
        except (ContradictionError, ProofError):
            # the original values are a solution, so the solver has lost its way
            return _nobody("not examined", spent)
        failing = np.flatnonzero(asked & ~question.met(part.cell, reach))
        if len(failing):
            needed_by = part.cell[failing].astype(np.float64)
            return _Answer(kind, spent, needed_by, lower[failing], upper[failing])
    return _nobody("together", spent)


class _Attack:
    """The attack on a part of the table in which one more cell is published."""

    def __init__(
        self,
        question: _Question,
        part: _Connected,
        alternatives: Alternatives,
        secondary: int,
    ):
        base = question.reduced
        self.question, self.part, self.alternatives = question, part, alternatives
        # cell = sign * z + offset, one z for each cell
        follows, sign = _followed(base.link)
        self.z = np.searchsorted(part.unknown, follows[part.cell])
        self.sign, self.offset = sign[part.cell], base.offset[part.cell]
        truth = np.zeros(len(part.unknown), dtype=np.int64)
        truth[self.z] = self.sign * (question.truth[part.cell] - self.offset)
        lower, upper = base.lower[part.unknown].copy(), base.upper[part.unknown].copy()
        published = self.z[np.searchsorted(part.cell, secondary)]
        lower[published] = upper[published] = truth[published]
        matrix = sparse.csr_array(base.matrix[part.row][:, part.unknown])
        self.reduced = reduce(matrix, base.right[part.row], lower, upper)

        # z = turn * y + shift; no y where z is known by now
        link = sparse.csr_array(self.reduced.link)
        self.y, self.turn = _followed(link)
        moves = self.y >= 0
        self.truth = np.zeros(link.shape[1], dtype=np.int64)
        self.truth[link.indices] = link.data * (truth - self.reduced.offset)[moves]

    def unknowns(self, asked: NDArray[np.bool_]) -> int:
        """How many unknowns the asked cells depend on."""
        y = self.y[self.z[asked]]
        return len(np.unique(y[y >= 0]))

    def intervals(
        self, asked: NDArray[np.bool_], reach: Reach
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], Reach]:
        """Lower and upper ends of the asked cells, and what tables show of all cells."""
        reduced = self.reduced
        lower = np.where(reduced.lower > -UNKNOWN, reduced.lower, -np.inf)
        upper = np.where(reduced.upper < UNKNOWN, reduced.upper, np.inf)
        y = self.y[self.z[asked]]
        wanted_y = np.zeros(len(lower), dtype=bool)
        wanted_y[y[y >= 0]] = True
        column, row = _labels(reduced.matrix)
        wanted = self._wanted(asked)
        for label in np.unique(column[wanted_y]).tolist():
            members, rows = np.flatnonzero(column == label), np.flatnonzero(row == label)
            if len(rows):
                finding = self._search(members, rows, wanted.at(members), wanted_y[members])
                lower[members], upper[members] = finding.lower, finding.upper
                points = finding.needed
            else:
                points = self._ends(members)
            for point in points:
                reach = self._keep(members, point, reach)
        return *self._of_cells(lower, upper, reach), reach

    def _search(
        self,
        members: NDArray[np.int64],
        rows: NDArray[np.int64],
        wanted: Wanted,
        asked: NDArray[np.bool_],
    ) -> Finding:
        """Search one component; where the solver loses its way, again from the original values."""

        def found(centre: NDArray[np.int64] | None) -> Finding:
            programme = Programme(
                sparse.csr_array(self.reduced.matrix[rows][:, members]),
                self.reduced.right[rows],
                self.reduced.lower[members],
                self.reduced.upper[members],
                centre,
            )
            question = self.question
            return search(programme, question.whole, question.far, asked, wanted)

        try:
            return found(None)
        except (ContradictionError, ProofError):
            return found(self.truth[members])

    def _ends(self, member: NDArray[np.int64]) -> list[Point]:
        """Both ends of an unknown that no equation restrains."""
        low, high, far = self.reduced.lower[member], self.reduced.upper[member], self.question.far
        truth = self.truth[member]
        return [
            Point(np.where(low == -UNKNOWN, truth - far, low), 1),
            Point(np.where(high == UNKNOWN, truth + far, high), 1),
        ]

    def _keep(self, members: NDArray[np.int64], point: Point, reach: Reach) -> Reach:
        """Complete a point with original values; it shows how far cells move."""
        unit = point.denominator
        y = times(self.truth, unit)
        y[members] = point.numerator
        moves = self.y >= 0
        z = times(self.reduced.offset, unit)
        z[moves] = z[moves] + self.turn[moves] * y[self.y[moves]]
        cells = self.sign * z[self.z] + times(self.offset, unit)
        if not within(cells):
            return reach
        return farther(reach, self.alternatives.add(Point(cells.astype(np.int64), unit)))

    def _of_cells(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], reach: Reach
    ) -> Reach:
        """Intervals of the unknowns as intervals of the cells."""
        y = self.y[self.z]
        moves, sign = y >= 0, (self.sign * self.turn[self.z])
        start = self.offset + self.sign * self.reduced.offset[self.z].astype(np.float64)
        low, high = start.copy(), start.copy()
        rises = sign[moves] > 0
        low[moves] += np.where(rises, lower[y[moves]], -upper[y[moves]])
        high[moves] += np.where(rises, upper[y[moves]], -lower[y[moves]])
        return np.minimum(low, reach[0]), np.maximum(high, reach[1])

    def _wanted(self, asked: NDArray[np.bool_]) -> Wanted:
        """Targets of the asked cells as targets of the unknowns that they follow."""
        edge = LIMIT // 4
        n = self.reduced.link.shape[1]
        wanted = Wanted(np.full(n, edge), np.full(n, -edge), np.zeros(n, np.int64))
        at = np.flatnonzero(asked & (self.y[self.z] >= 0))
        cell, z = self.part.cell[at], self.z[at]
        y, sign = self.y[z], self.sign[at] * self.turn[z]
        start = self.offset[at] + self.sign[at] * self.reduced.offset[z]
        targets = self.question.targets
        low, high = (np.clip(a[cell], -edge, edge) for a in (targets.low, targets.high))
        np.minimum.at(wanted.low, y, np.where(sign > 0, low - start, start - high))
        np.maximum.at(wanted.high, y, np.where(sign > 0, high - start, start - low))
        np.maximum.at(wanted.width, y, targets.width[cell])
        return wanted
