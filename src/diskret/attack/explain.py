"""Why each secondary is hidden: what would follow if it alone were published."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.attacker import Attacker
from diskret.attack.certificate import targets_of
from diskret.attack.equations import Equations, cell_name, equations
from diskret.attack.exact import LIMIT, UNKNOWN, Point, broken_bounds, broken_equations
from diskret.attack.examination import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.proof import unmet
from diskret.attack.reduction import labels, reduce
from diskret.attack.republished import (
    Alternatives,
    Connected,
    Republished,
    Setting,
    connected_parts,
    farther,
)
from diskret.deadline import OutOfTime
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.parallel import meanwhile
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published, together
from diskret.tables.requirements import Requirements
from diskret.texts.numbers import Count

Kind = Literal["protects", "hides", "contributors", "together", "not examined", "elsewhere"]

#: Nodes of branch and bound when possible values of unpublished cells are looked for.
_NODES = 500
#: Unknowns of a part whose programmes count once.
_LARGE = 1_000
#: Vertices that are looked at for whole numbers where branch and bound finds none.
_VERTICES = 8


@dataclass(frozen=True, eq=False)
class Explanations:
    """What each secondary is hidden for. Confidential. In scaled units.

    There is at least one row for each secondary, ``(r,)`` in all. ``protects``: if only this
    secondary were published, the primary `needed_by` would miss its requirement. ``hides``: no
    primary would, but the secondary `needed_by` could be computed exactly. ``together``:
    published alone it would do no harm; cells like it are needed only together with others.
    ``contributors``: the same, and it was hidden for the sake of cells or sums that contributors
    could tell otherwise. ``not examined``: the limit was reached first, the solver gave no
    answer, or no whole numbers were found for cells that nobody published.

    secondary: flat (C order) position of the secondary, ascending, ``(r,)``, int64.
    kind: as above, ``(r,)``.
    needed_by: flat position of the cell that needs it, ``(r,)``, int64; −1 if there is none.
    lower, upper: what the attacker could compute for that cell, ``(r,)``, float64; −inf and inf
        where nothing bounds it, or no cell needs it.
    programmes: work done: one for each secondary, and one for each end of an interval that
        witnesses do not settle; n² times as many in a part of n thousand unknowns, for there they
        take so much longer.
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

    @classmethod
    def none(cls, secondary: NDArray[np.int64]) -> Explanations:
        """No secondary is explained."""
        k = len(secondary)
        nothing = np.full(k, np.inf)
        return cls(secondary, ("not examined",) * k, np.full(k, -1), -nothing, nothing)

    def for_contributors(self, cells: NDArray[np.int64]) -> Explanations:
        """The same where these cells were hidden because of what contributors could tell."""
        theirs = np.isin(self.secondary, cells)
        kinds = (
            "contributors" if kind == "together" and mine else kind
            for kind, mine in zip(self.kind, theirs.tolist(), strict=True)
        )
        return replace(self, kind=tuple(kinds))

    @property
    def not_examined(self) -> int:
        """Number of secondaries that are left unexplained."""
        return self.kind.count("not examined")


def explain(
    published: Published | Publication,
    examination: Examination,
    requirements: Requirements,
    original: NDArray[np.int64],
    attacker: Attacker = Attacker(),
    *,
    about: NDArray[np.int64] | None = None,
    unclaimed: NDArray[np.int64] | None = None,
    limit: int | None = None,
    progress: Progress = silent,
) -> Explanations:
    """Find out for each secondary which cells need it.

    A secondary is needed by a cell if the same pattern without the secondary, its value
    published, leaves the requirement of that cell unmet (see
    [`unmet`][diskret.attack.proof.unmet]; for counts, witnesses are whole-numbered).

    published: the protected table, or all tables that were attacked together; positions of cells
        count through all of them.
    examination: its attack by that attacker; it must meet all requirements. A witness in which the
        secondary has its original value holds after it has been published too, so that much is
        settled without a new linear programme.
    requirements: the protection levels of the primaries; all other suppressed cells are
        secondaries.
    original: original values in scaled integers, shape of the table; of several tables flat.
    about: positions of the secondaries to explain; None: all.
    limit: largest amount of work (see `Explanations.programmes`); None: no limit. Small connected
        parts of the table come first.
    """
    asked = np.setdiff1d(examination.cell, requirements.cell)
    if about is not None:
        asked = np.intersect1d(asked, about)
    found: dict[int, _Answer] = {}
    spent = 0

    def tell(_: int = 0) -> None:
        progress("explain", len(found), len(asked))

    how = published, examination, requirements, original, attacker, unclaimed
    try:
        setting = meanwhile(lambda: setting_of(*how), tell)
    except OutOfTime:
        return Explanations.none(asked)
    explained = setting.hidden & np.isin(setting.cell, asked)
    secondary = np.flatnonzero(explained)
    with suppress(OutOfTime):  # what was found is told, and the rest is not examined
        for part in connected_parts(setting.reduced):
            own = part.cell[explained[part.cell]].tolist()
            counts = max(1, len(part.unknown) // _LARGE) ** 2
            # nobody knows a table from which to start, or there is no work left for it
            unknown = not setting.completed[part.cell].all()
            if not own or unknown or (limit is not None and limit - spent < counts):
                continue
            alternatives = _alternatives(setting, part, examination)
            for s in own:
                left = None if limit is None else (limit - spent) // counts
                found[s] = _without(setting, part, alternatives, s, left, tell)
                spent += counts * found[s].programmes
                tell()
    unknown_reason = _nobody("not examined", 0)
    answers = [found.get(s, unknown_reason) for s in secondary.tolist()]
    rows = [len(answer.needed_by) for answer in answers]

    def joined(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.concatenate([np.empty(0), *arrays])

    needed_by = joined([answer.needed_by for answer in answers]).astype(np.int64)
    return Explanations(
        secondary=np.repeat(setting.cell[secondary], rows),
        kind=tuple(a.kind for a, n in zip(answers, rows, strict=True) for _ in range(n)),
        needed_by=np.where(needed_by < 0, -1, setting.cell[needed_by]),
        lower=joined([answer.lower for answer in answers]),
        upper=joined([answer.upper for answer in answers]),
        programmes=spent,
    )


def _alternatives(setting: Setting, part: Connected, examination: Examination) -> Alternatives:
    """What the attack has shown of a part already."""
    found = Alternatives(setting.truth[part.cell], setting.whole)
    for table in examination.witnesses.different(part.cell, found.room):
        found.add(table)
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
    setting: Setting,
    part: Connected,
    alternatives: Alternatives,
    secondary: int,
    limit: int | None,
    tick: Callable[[int], None],
) -> _Answer:
    """Who needs one secondary, asking primaries first."""
    if limit is not None and limit < 1:
        return _nobody("not examined", 0)
    still = int(np.searchsorted(part.cell, secondary))
    reach = alternatives.reach(still)
    others = part.cell != secondary
    primary = setting.primary[part.cell]
    attack: Republished | None = None
    spent = 1
    kinds: tuple[tuple[Kind, NDArray[np.bool_]], ...] = (
        ("protects", primary),
        ("hides", ~primary & others & setting.hidden[part.cell]),
    )
    for kind, who in kinds:
        asked = who & ~setting.met(part.cell, reach)
        reach = farther(reach, alternatives.mixed(still, np.flatnonzero(asked)))
        asked = who & ~setting.met(part.cell, reach)
        if not asked.any():
            continue
        attack = attack or Republished(setting, part, alternatives, secondary)
        cost = 2 * attack.unknowns(asked)
        if limit is not None and spent + cost > limit:
            return _nobody("not examined", spent)
        spent += cost
        try:
            lower, upper, reach = attack.intervals(asked, reach, tick)
        except (ContradictionError, ProofError):
            # the original values are a solution, so the solver has lost its way
            return _nobody("not examined", spent)
        failing = np.flatnonzero(asked & ~setting.met(part.cell, reach))
        if len(failing):
            needed_by = part.cell[failing].astype(np.float64)
            return _Answer(kind, spent, needed_by, lower[failing], upper[failing])
    return _nobody("together", spent)


def setting_of(
    given: Published | Publication,
    examination: Examination,
    requirements: Requirements,
    original: NDArray[np.int64],
    attacker: Attacker,
    unclaimed: NDArray[np.int64] | None = None,
) -> Setting:
    """The setting of an examination that met all requirements."""
    published = together(given)
    known = equations(published)
    original = np.asarray(original, dtype=np.int64).ravel()
    lower, upper = unknown_bounds(published, known, attacker, original)
    truth, completed = _completed(known, lower, upper, original)
    point = Point(truth, 1)
    equation = broken_equations(known.matrix, known.right, point)
    wrong = np.union1d(known.matrix[equation].indices, broken_bounds(lower, upper, point))
    open_ended = np.abs(known.matrix).T @ (np.abs(known.matrix) @ ~completed > 0) > 0
    wrong = wrong[~open_ended[wrong]]
    if len(wrong):
        names = "; ".join(cell_name(published, int(known.cell[i])) for i in wrong[:5])
        number = Count(len(wrong))
        raise InputError(
            f"table {published.name!r}: the original values of {number} suppressed "
            f"{number:cell|cells} contradict the published values or what the attacker is assumed "
            f"to know, e.g. {names}; pass the values that the table was made from"
        )
    targets = targets_of(published, original, requirements, unclaimed)
    missed = unmet(examination, targets)
    if missed.any():
        number = Count(missed.sum())
        raise ProofError(
            f"table {published.name!r}: {number} suppressed {number:cell misses|cells miss} "
            f"{number:its|their} requirements already, so nothing can be said of what each "
            f"secondary does for {number:it|them}; protect the table first"
        )
    finite = [bound[np.abs(bound) < UNKNOWN] for bound in (lower, upper)]
    asked = [a[np.abs(a) < LIMIT] for a in (targets.low, targets.high, targets.width)]
    largest = max(int(np.abs(a).max(initial=1)) for a in (np.asarray(original), *finite, *asked))
    return Setting(
        cell=known.cell,
        hidden=known.hidden,
        primary=np.isin(known.cell, requirements.cell),
        truth=truth,
        completed=completed,
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
    known: Equations,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    original: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Original values of the unknown cells, and where they are known.

    Of cells that nobody published, these are possible values, if whole ones are found.
    """
    truth = np.zeros(len(known.cell), dtype=np.int64)
    shown = ~known.latent
    truth[shown] = original[known.cell[shown]]
    completed = shown.copy()
    among = np.flatnonzero(known.latent)
    inside = sparse.csr_array(known.matrix[:, among])
    label, row_label = labels(inside)
    for one in np.unique(label).tolist():
        part = np.flatnonzero(label == one)
        rows = np.flatnonzero(row_label == one)
        rest = known.right[rows] - known.matrix[rows] @ truth
        cells = among[part]
        matrix = sparse.csr_array(inside[rows][:, part])
        found = _possible(matrix, rest, lower[cells], upper[cells])
        if found is not None:
            truth[cells], completed[cells] = found, True
    return truth, completed


def _possible(
    matrix: sparse.csr_array,
    right: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """Whole numbers that satisfy equations and bounds, if some are found."""
    directions = np.random.default_rng(0).integers(-9, 10, (_VERTICES, len(lower)))
    try:
        programme = LinearProgramme(matrix, right, lower, upper, bounded=True)
        point = programme.farthest_whole(0, 0, _NODES)
        for direction in directions.astype(np.float64):
            if point is not None and point.denominator == 1:
                break
            # branch and bound does not reach large numbers, but many corners are whole
            point = programme.farthest(direction).point
    except (ContradictionError, ProofError):
        return None  # the original values say whether the published ones are to blame
    return point.numerator if point is not None and point.denominator == 1 else None
