"""Why each secondary is hidden: what would follow if it alone were published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.attack.alternatives import Alternatives, farther
from diskret.attack.attacker import Attacker
from diskret.attack.exact import Point
from diskret.attack.examination import Examination
from diskret.attack.republished import Connected, Republished, connected_parts
from diskret.attack.targets import Question, question_of
from diskret.errors import ContradictionError, ProofError
from diskret.progress import Progress, silent
from diskret.tables import Publication, Published
from diskret.tables.requirements import Requirements

Kind = Literal["protects", "hides", "contributors", "together", "not examined", "elsewhere"]


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
    unclaimed
        As given to [`targets_of`][diskret.attack.certificate.targets_of].
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
    question = question_of(published, examination, requirements, original, attacker, unclaimed)
    explained = question.hidden & ~question.primary
    if about is not None:
        explained &= np.isin(question.cell, about)
    secondary = np.flatnonzero(explained)
    found: dict[int, _Answer] = {}
    spent = 0
    for part in connected_parts(question.reduced):
        if not question.completed[part.cell].all():
            # nobody knows a table from which to start
            left_out = part.cell[explained[part.cell]].tolist()
            found |= dict.fromkeys(left_out, _nobody("not examined", 0))
            continue
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


def _alternatives(question: Question, part: Connected, examination: Examination) -> Alternatives:
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
    question: Question,
    part: Connected,
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
    attack: Republished | None = None
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
        attack = attack or Republished(question, part, alternatives, secondary)
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
