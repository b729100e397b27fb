"""What has to stay uncertain of which cells, and what their original values are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.alternatives import Reach
from diskret.attack.attacker import Attacker
from diskret.attack.certificate import targets_of
from diskret.attack.equations import Equations, cell_name, equations
from diskret.attack.exact import LIMIT, UNKNOWN, Point, broken_bounds, broken_equations
from diskret.attack.examination import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.attack.programme import Programme
from diskret.attack.proof import unmet
from diskret.attack.reduction import Reduction, labels, reduce
from diskret.errors import ContradictionError, InputError, ProofError
from diskret.tables import Publication, Published, together
from diskret.tables.requirements import Requirements

#: Nodes of branch and bound when possible values of unpublished cells are looked for.
_NODES = 500
#: Vertices that are looked at for whole numbers where branch and bound finds none.
_VERTICES = 8


@dataclass(frozen=True, eq=False)
class Question:
    """All unknown cells, ``(k,)``; their positions there are what is meant by "cell" below.

    `hidden` are the suppressed ones; nothing is required of the others. `completed` says of
    each cell whether its `truth` is known: no possible values may have been found of cells that
    nobody published.
    """

    cell: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    primary: NDArray[np.bool_]
    truth: NDArray[np.int64]
    completed: NDArray[np.bool_]
    targets: Targets
    reduced: Reduction
    whole: bool
    far: int

    def numerators(self, examination: Examination) -> NDArray[np.int64]:
        """The witnesses' numerators for all unknown cells, ``(w, k)``."""
        return examination.numerators(self.hidden)

    def met(self, cell: NDArray[np.int64], reach: Reach) -> NDArray[np.bool_]:
        """Which of some cells reach what is required of them; see `unmet`."""
        low, high = reach
        wanted = self.targets
        reached = (low <= wanted.low[cell]) & (high >= wanted.high[cell])
        return reached & (high - low >= wanted.width[cell])


def question_of(
    given: Published | Publication,
    examination: Examination,
    requirements: Requirements,
    original: NDArray[np.int64],
    attacker: Attacker,
    unclaimed: NDArray[np.int64] | None = None,
) -> Question:
    """The question of an examination that met all requirements.

    Raises
    ------
    InputError
        The original values contradict what is published or what the attacker knows.
    ProofError
        The examination does not meet the requirements.
    """
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
        raise InputError(
            f"table {published.name!r}: the original values of {len(wrong):,} suppressed cells "
            "contradict the published values or what the attacker is assumed to know, e.g. "
            f"{names}; pass the values that the table was made from"
        )
    targets = targets_of(published, original, requirements, unclaimed)
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
    return Question(
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
        programme = Programme(matrix, right, lower, upper)
        point = programme.farthest_whole(0, 0, _NODES)
        for direction in directions.astype(np.float64):
            if point is not None and point.denominator == 1:
                break
            # branch and bound does not reach large numbers, but many corners are whole
            point = programme.farthest(direction).point
    except (ContradictionError, ProofError):
        return None  # the original values say whether the published ones are to blame
    return point.numerator if point is not None and point.denominator == 1 else None
