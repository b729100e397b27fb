"""Which frozen cells are to blame if a cell cannot be protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Requirements
from diskret.errors import ProtectionError
from diskret.suppression.changeable import Changeable, changeable
from diskret.suppression.changes import Reach, part
from diskret.suppression.problem import Problem
from diskret.suppression.search import Search, fulfil
from diskret.texts.lists import first_of

_EXAMPLES = 5
#: Groups of cells in all programs of one search together, and programs at least and at most.
_WORK, _FEWEST, _MOST = 20_000_000, 20, 1_000


@dataclass(frozen=True)
class Blame:
    """Why a cell cannot be protected.

    `cells`: frozen cells, ascending: with them published and every other cell hidden that may be,
    protection is impossible; with any one of them released it is possible. `irreducible`: false if
    time or work ended the search: `cells` make protection impossible, but some of them may not be
    needed for that. `empty`: without any frozen cell, empty cells (values of 0) that stay published
    are to blame.
    """

    cells: tuple[int, ...] = ()
    irreducible: bool = True
    empty: bool = False


def refuse_fixed(problem: Problem, cells: Changeable) -> None:
    """Refuse primary cells that can have no other value, whatever is suppressed.

    Raises ProtectionError: names one of them and the frozen cells to blame.
    """
    primary = problem.requirements.cell
    fixed = primary[cells.group[primary] < 0]
    if len(fixed):
        raise unprotectable(problem, [int(fixed[0])])


def unprotectable(problem: Problem, candidates: Sequence[int]) -> ProtectionError:
    """The error for cells of which no pattern protects all: need, and what stands in the way."""
    cell = next((c for c in candidates if not _possible_at_all(problem, c)), candidates[0])
    found = blame(problem, cell)
    cells, value = problem.system.cells, problem.system.value
    if found.cells:
        names = first_of([f"{cells[j]} = {value[j]}" for j in found.cells], _EXAMPLES)
        reason = (
            f"frozen cells to blame: {len(found.cells):,}, {names}; let at least one of them be "
            "suppressed"
        )
        if not found.irreducible:
            reason += "; time or work ended the search for fewer"
    elif found.empty:
        reason = (
            "no frozen cell is to blame: empty cells are never suppressed, and without them the "
            "other cells leave too little room"
        )
    else:
        reason = "no frozen cell is to blame; assume less knowledge of the attacker"
    scale = changeable(problem).scale
    if scale > 1:
        reason += (
            f"; levels are so large that changes are counted in multiples of {scale:,}, which "
            "rounds small levels up: publish fewer decimals"
        )
    return ProtectionError(
        f"{cells[cell]} = {value[cell]} cannot be protected: its value must be able to move "
        f"{_need(problem, cell)} (in scaled units), but even with every cell suppressed that is "
        f"not frozen it cannot ({reason}, or combine categories)",
        found.cells,
    )


def blame(problem: Problem, cell: int) -> Blame:
    """An irreducible set of frozen cells that keep a cell from being protected.

    A deletion filter: frozen cells are released one after the other, cheapest first; one
    whose release makes protection possible is kept frozen, and is part of the set. Cells
    that are released stay so. As a pattern with more cells hidden protects no less, whole
    runs of cells are released at once with the same outcome.

    What is possible is shown by checked changes: in whole numbers where the problem asks for
    them. That something is impossible is the solver's word. Frozen cells with a value of 0 are
    empty cells that stay published by policy; they are never released.

    Chinneck and Dravnieks (1991), "Locating minimal infeasible constraint sets in linear programs",
    ORSA Journal on Computing 3(2), 157-168.
    """
    empty = problem.frozen & (problem.system.value == 0)
    frozen = np.flatnonzero(problem.frozen & ~empty)
    question = _Question(problem, empty, cell)
    if not question.possible(frozen[:0]):
        nothing_stays = _Question(problem, np.zeros_like(empty), cell)
        return Blame(empty=nothing_stays.possible(frozen[:0]))
    # a cell that cannot change even if nothing is frozen is not to blame
    left = frozen[question.cells.group[frozen] >= 0]
    left = left[np.argsort(problem.cost[left], kind="stable")]
    if question.possible(left):
        return Blame()
    kept = left[:0]
    run = 1
    while len(left):
        if question.exhausted:
            return Blame(_ascending(kept, left), irreducible=False)
        released = left[:run]
        if not question.possible(np.concatenate((kept, left[run:]))):
            # a test that was cut short proves nothing
            if question.exhausted:
                return Blame(_ascending(kept, left), irreducible=False)
            left, run = left[run:], 2 * run
        elif len(released) == 1:
            kept, left = np.append(kept, released), left[1:]
        else:
            run = max(len(released) // 2, 1)
    return Blame(_ascending(kept))


class _Question:
    """Whether a cell can move as far as required while only some frozen cells are published."""

    def __init__(self, problem: Problem, stays: NDArray[np.bool_], cell: int):
        nothing = np.zeros(0, dtype=np.int64)
        released = replace(
            problem,
            frozen=stays,
            requirements=Requirements(nothing, nothing, nothing, nothing),
            start=None,
        )
        cells = changeable(released, _levels(problem, cell))
        self.group = int(cells.group[cell])
        self.cells = _asking(problem, cells, self.group, cell)
        self._seconds = problem.seconds
        self._here = part(cells, np.ones(len(cells.down), dtype=bool))
        k = len(self._here.cell)
        free = np.zeros(k, dtype=bool)
        self._search = Search(self._here, free, cells.price[self._here.cell], self._seconds)
        self._left = min(max(_WORK // max(k, 1), _FEWEST), _MOST)

    @property
    def exhausted(self) -> bool:
        """Whether time or work is used up."""
        return self._left <= 0 or self._seconds() <= 0

    def possible(self, frozen: NDArray[np.int64]) -> bool:
        """Whether checked changes meet the requirement while these cells are published."""
        self._left -= 1
        groups = self.cells.group[frozen]
        if self.group < 0 or self.group in groups:
            return False
        fixed = np.flatnonzero(np.isin(self._here.cell, groups))
        reach = Reach(len(self.cells.down))
        self._search.publish(fixed)
        for _ in fulfil(self._search, self.cells, reach, self.group, self._seconds):
            pass  # each change is noted in reach
        self._search.publish(fixed, False)
        if self._search.cut_short and reach.misses(self.cells, self.group):
            self._left = 0  # a question without an answer ends the search
        return not reach.misses(self.cells, self.group)


def _asking(problem: Problem, cells: Changeable, group: int, cell: int) -> Changeable:
    """The same groups with the requirement of one cell, and no other."""
    if group < 0:
        return cells
    below, above, width = cells.below.copy(), cells.above.copy(), cells.width.copy()
    levels = _levels(problem, cell)
    below[group], above[group], width[group] = (-(-level // cells.scale) for level in levels)
    return replace(cells, below=below, above=above, width=width)


def _possible_at_all(problem: Problem, cell: int) -> bool:
    """Whether a cell can be protected if everything is hidden that is not frozen."""
    nothing = np.zeros(0, dtype=np.int64)
    return _Question(problem, problem.frozen, cell).possible(nothing)


def _levels(problem: Problem, cell: int) -> tuple[int, int, int]:
    """Lower, upper and sliding level; a cell that is no primary must not be exact either."""
    requirements = problem.requirements
    i = np.flatnonzero(requirements.cell == cell)
    if len(i) == 0:
        return 0, 0, 1
    at = int(i[0])
    width = max(int(requirements.sliding[at]), 1)
    return int(requirements.lower[at]), int(requirements.upper[at]), width


def _need(problem: Problem, cell: int) -> str:
    if cell not in problem.requirements.cell:
        return "by 1, as it is hidden to protect others"
    lower, upper, width = _levels(problem, cell)
    in_all = f" and by {width} in all" if width > lower + upper else ""
    return f"down by {lower} and up by {upper}{in_all}"


def _ascending(*parts: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(sorted(np.concatenate(parts).tolist()))
