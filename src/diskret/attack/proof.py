"""Judge an examination by its witnesses, which anyone can check, never by a solver's word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.attacker import Attacker
from diskret.attack.equations import cell_name, equations
from diskret.attack.exact import Point, broken_bounds, broken_equations
from diskret.attack.examination import Examination, Targets, extremes
from diskret.attack.knowledge import unknown_bounds
from diskret.errors import VerificationError
from diskret.tables import Publication, Published, together


def unmet(examination: Examination, targets: Targets) -> NDArray[np.bool_]:
    """Which suppressed cells miss their target, as far as witnesses show, ``(k,)``.

    >>> from scipy import sparse
    >>> one = np.array([1.0])
    >>> found = Examination(
    ...     np.array([4]), 0 * one, 9 * one, 2 * one, 9 * one,
    ...     sparse.csr_array(np.array([[2], [9]])), np.array([1, 1]),
    ... )
    >>> unmet(found, Targets(low=np.array([1]), high=np.array([9]), width=np.array([1])))
    array([ True])
    """
    low, high = examination.witness_lower, examination.witness_upper
    reached = (low <= targets.low) & (high >= targets.high)
    return ~(reached & (high - low >= targets.width))


def recheck(
    published: Published | Publication,
    examination: Examination,
    attacker: Attacker = Attacker(),
    *,
    original: NDArray[np.int64] | None = None,
) -> None:
    """Check all witnesses of an examination anew, exactly, against what is published.

    examination: its result, or what a file says it was.
    """
    published = together(published)
    known = equations(published)
    lower, upper = unknown_bounds(published, known, attacker, original)
    witnesses, denominator = examination.witnesses, examination.denominator
    cell = known.cell[known.hidden]
    if not np.array_equal(cell, examination.cell):
        raise VerificationError(
            f"the witnesses are about {len(examination.cell)} suppressed cells, but table "
            f"{published.name!r} has others ({len(cell)})"
        )
    others = len(known.cell) - len(cell)
    beside = examination.beside
    if beside is None:
        beside = sparse.csr_array((len(denominator), 0), dtype=np.int64)
    fits = witnesses.shape == (len(denominator), len(cell))
    if not fits or beside.shape != (len(denominator), others) or np.any(denominator < 1):
        raise VerificationError(
            f"witnesses of shape {witnesses.shape} (and {beside.shape[1]} unpublished values, "
            f"not {others}) do not belong to {len(cell)} suppressed "
            f"cells and {len(denominator)} positive denominators"
        )
    if published.tables[0].frequency and np.any(denominator != 1):
        raise VerificationError("a witness of a frequency table must consist of whole numbers")
    for row, unit in enumerate(denominator.tolist()):
        numerator = np.empty(len(known.cell), dtype=np.int64)
        numerator[known.hidden] = witnesses[[row]].toarray()[0]
        numerator[~known.hidden] = beside[[row]].toarray()[0]
        point = Point(numerator, unit)
        equation = broken_equations(known.matrix, known.right, point)
        if len(equation):
            cells = known.matrix[equation[:1]].indices[:5]
            raise _refused(published, row, "breaks an equation between", known.cell[cells])
        outside = broken_bounds(lower, upper, point)
        if len(outside):
            raise _refused(published, row, "leaves the bounds of", known.cell[outside[:5]])
    low, high = extremes(witnesses, denominator)
    claimed_too_much = (examination.witness_lower < low) | (examination.witness_upper > high)
    if claimed_too_much.any():
        names = _names(published, cell[claimed_too_much][:5])
        raise VerificationError(
            f"for {claimed_too_much.sum()} cells no witness shows the values that are claimed, "
            f"e.g. {names}"
        )


def _refused(
    published: Publication, row: int, what: str, cells: NDArray[np.int64]
) -> VerificationError:
    return VerificationError(
        f"witness {row} of table {published.name!r} is none: it {what} {_names(published, cells)}"
    )


def _names(published: Publication, cells: NDArray[np.int64]) -> str:
    return "; ".join(cell_name(published, int(cell)) for cell in cells)
