"""Judge an examination by its witnesses, which anyone can check, never by a solver's word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.attack.attacker import Attacker
from diskret.attack.equations import cell_name, equations
from diskret.attack.exact import broken_bounds, broken_equations
from diskret.attack.examination import Examination, Targets
from diskret.attack.knowledge import unknown_bounds
from diskret.errors import VerificationError
from diskret.tables import Publication, Published, together
from diskret.texts.numbers import Count


def unmet(examination: Examination, targets: Targets) -> NDArray[np.bool_]:
    """Which suppressed cells miss their target, as far as witnesses show, ``(k,)``.

    >>> from diskret.attack.exact import Point
    >>> from diskret.attack.witnesses import Witnesses
    >>> tables = [Point(np.array([2]), 1), Point(np.array([9]), 1)]
    >>> found = Examination.of_witnesses(
    ...     np.array([4]), Witnesses.gathered(tables, np.array([True]))
    ... )
    >>> unmet(found, Targets(low=np.array([1]), high=np.array([9]), width=np.array([1])))
    array([ True])
    """
    return ~targets.reached(examination.witness_lower, examination.witness_upper)


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
    witnesses = examination.witnesses
    cell = known.cell[known.hidden]
    if not np.array_equal(cell, examination.cell):
        raise VerificationError(
            f"the witnesses are about {len(examination.cell)} suppressed cells, but table "
            f"{published.name!r} has others ({len(cell)})"
        )
    if not np.array_equal(witnesses.hidden, known.hidden):
        raise VerificationError(
            f"the witnesses are about {len(witnesses.hidden)} unknown values, of which "
            f"{int(witnesses.hidden.sum())} are suppressed cells; table {published.name!r} has "
            f"other unpublished values ({len(known.hidden)} with the suppressed cells)"
        )
    problem = witnesses.problem()
    if problem:
        raise VerificationError(f"the witnesses of table {published.name!r} are none: {problem}")
    if published.tables[0].frequency and np.any(witnesses.denominator != 1):
        raise VerificationError("a witness of a frequency table must consist of whole numbers")
    for row, point in enumerate(witnesses):  # one after the other: all at once are too many
        equation = broken_equations(known.matrix, known.right, point)
        if len(equation):
            cells = known.matrix[equation[:1]].indices[:5]
            raise _refused(published, row, "breaks an equation between", known.cell[cells])
        outside = broken_bounds(lower, upper, point)
        if len(outside):
            raise _refused(published, row, "leaves the bounds of", known.cell[outside[:5]])
    low, high = witnesses.extremes()
    claimed_too_much = (examination.witness_lower < low) | (examination.witness_upper > high)
    if claimed_too_much.any():
        names = _names(published, cell[claimed_too_much][:5])
        number = Count(claimed_too_much.sum())
        raise VerificationError(
            f"for {number} {number:cell|cells} no witness shows the values that {number:is|are} "
            f"claimed, e.g. {names}"
        )


def _refused(
    published: Publication, row: int, what: str, cells: NDArray[np.int64]
) -> VerificationError:
    return VerificationError(
        f"witness {row} of table {published.name!r} is none: it {what} {_names(published, cells)}"
    )


def _names(published: Publication, cells: NDArray[np.int64]) -> str:
    return "; ".join(cell_name(published, int(cell)) for cell in cells)
