"""Changes of hidden cells, checked in whole numbers.

A *change* moves some groups of cells to other values that satisfy every equation and
bound. Changes are what shows that an attacker cannot know a cell: floating point proposes
them, integers decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import common_denominator
from diskret.graphs import connected
from diskret.suppression.changeable import Changeable

#: Vertices of these programs are mostly whole or have small denominators.
_MULTIPLES = range(1, 61)
#: Numerators up to here keep every sum and product below exact in 64 bits.
_LARGEST = 2.0**46


@dataclass(frozen=True, eq=False)
class Part:
    """The equations between the groups that can change while all others are published.

    `cell`: the groups, ascending, ``(k,)``.
    `equations`: shape ``(m, k)``, int64 CSR.
    `down`, `up`: room that the attacker's bounds leave, ``(k,)``.
    `component`, `row_component`: connected component of each group and each equation, ``(k,)`` and
        ``(m,)``.
    `whole`: whether changes must be whole scaled units.
    `unit`: see [`Program`][diskret.suppression.linear.Program].
    """

    cell: NDArray[np.int64]
    equations: sparse.csr_array
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    component: NDArray[np.int64]
    row_component: NDArray[np.int64]
    whole: bool
    unit: float


@dataclass(frozen=True, eq=False)
class Change:
    """The groups that a checked change moves, and how far, in whole units (rounded down).

    `cell`: the groups, ascending, ``(s,)``.
    `down`, `up`, `width`: how far below and above its original value each is shown to be possible,
        and the distance between the two, int64, ``(s,)``. Both are known where the opposite change
        is possible as well.
    `step`, `divisor`: the change is ``step / divisor``, int64, ``(s,)``.
    `there`, `back`: whether this change of the group, and its opposite, are possible, bool,
        ``(s,)``.
    """

    cell: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    width: NDArray[np.int64]
    step: NDArray[np.int64]
    divisor: int
    there: NDArray[np.bool_]
    back: NDArray[np.bool_]

    def only(self, which: NDArray[np.bool_]) -> Change:
        """The same for some of the groups, bool, ``(s,)``: whole components of a part."""
        return Change(
            self.cell[which],
            self.down[which],
            self.up[which],
            self.width[which],
            self.step[which],
            self.divisor,
            self.there[which],
            self.back[which],
        )


class Reach:
    """How far each of ``g`` groups is shown to move; grows with every change added.

    `by`: changes that show it, as far as somebody keeps them.
    """

    def __init__(self, groups: int, by: Sequence[Change] = ()):
        self.down = np.zeros(groups, dtype=np.int64)
        self.up = np.zeros(groups, dtype=np.int64)
        self.width = np.zeros(groups, dtype=np.int64)
        self.by = tuple(by)
        for change in by:
            self.add(change)

    def add(self, change: Change) -> None:
        """Take note of a change."""
        at = change.cell
        self.down[at] = np.maximum(self.down[at], change.down)
        self.up[at] = np.maximum(self.up[at], change.up)
        # any mixture of two possible tables is possible too, so both ends count together
        self.width[at] = np.maximum.reduce(
            [self.width[at], change.width, self.down[at] + self.up[at]]
        )

    def missing(
        self, cells: Changeable, at: NDArray[np.int64] | slice = slice(None)
    ) -> NDArray[np.bool_]:
        """Which groups, or which of some, do not meet their requirement yet."""
        short = (self.down[at] < cells.below[at]) | (self.up[at] < cells.above[at])
        return short | (self.width[at] < cells.width[at])

    def misses(self, cells: Changeable, group: int) -> bool:
        """Whether one group does not meet its requirement yet."""
        return bool(
            self.down[group] < cells.below[group]
            or self.up[group] < cells.above[group]
            or self.width[group] < cells.width[group]
        )

    def at(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is shown of some groups, ``(3, s)``."""
        return np.stack([self.down[groups], self.up[groups], self.width[groups]])

    def set_to(self, groups: NDArray[np.int64], shown: NDArray[np.int64]) -> None:
        """Take this for all that is shown of some groups."""
        self.down[groups], self.up[groups], self.width[groups] = shown

    def raise_to(self, groups: NDArray[np.int64], shown: NDArray[np.int64]) -> None:
        """Take note of what is shown of some groups beside what is known."""
        self.set_to(groups, np.maximum(self.at(groups), shown))

    def copy(self) -> Reach:
        """A copy that can be added to on its own."""
        other = Reach(0)
        other.down, other.up, other.width = self.down.copy(), self.up.copy(), self.width.copy()
        other.by = self.by
        return other


def moved(cells: Changeable, changes: Sequence[Change]) -> NDArray[np.bool_]:
    """The primary groups and all that the changes move; nothing else needs to be hidden."""
    out = cells.primary.copy()
    for change in changes:
        out[change.cell] = True
    return out


def part(cells: Changeable, hidden: NDArray[np.bool_]) -> Part:
    """What can change if only the `hidden` groups are suppressed, bool, ``(g,)``."""
    return part_of(cells, np.flatnonzero(hidden))


def part_of(cells: Changeable, kept: NDArray[np.int64]) -> Part:
    """What can change if only these groups are suppressed; ascending."""
    equations = sparse.csr_array(cells.by_group[:, kept])
    equations = equations[np.diff(equations.indptr) > 0]
    while True:
        size = np.diff(equations.indptr)
        alone = equations.indices[equations.indptr[:-1][size == 1]]
        equations = equations[size > 1]
        if len(alone) == 0:
            break
        stay = np.ones(len(kept), dtype=bool)
        stay[alone] = False
        kept, equations = kept[stay], equations[:, stay]
    m, k = equations.shape
    row, column = equations.nonzero()
    links = sparse.coo_array((np.ones(len(row), np.int8), (row, m + column)), (m + k, m + k))
    label = connected(links).astype(np.int64)
    return Part(
        kept,
        equations,
        cells.down[kept],
        cells.up[kept],
        label[m:],
        label[:m],
        cells.whole,
        cells.unit,
    )


def checked(
    here: Part, proposal: NDArray[np.float64], divisor: int | None = None
) -> Iterator[Change]:
    """The changes at or near multiples of a proposal that satisfy everything exactly.

    `divisor`: the multiple, if it is known. Components are judged apart. More than one change is
    given where the proposal is fractional; the caller stops when it has what it needs.
    """
    labels = int(max(here.component.max(initial=-1), here.row_component.max(initial=-1))) + 1
    unsettled = np.zeros(labels, dtype=bool)
    unsettled[here.component[proposal != 0]] = True
    for multiple in _multiples(here, proposal) if divisor is None else (divisor,):
        if not unsettled.any():
            return
        scaled = np.rint(proposal * multiple)
        step = np.where(np.abs(scaled) <= _LARGEST, scaled, 0).astype(np.int64)
        balanced = unsettled.copy()
        balanced[here.row_component[here.equations @ step != 0]] = False
        # a rounded fraction can balance by chance, but says less than the fraction
        rounded = np.zeros(labels, dtype=bool)
        rounded[here.component[np.abs(proposal * multiple - scaled) > 1e-3]] = True
        unsettled &= ~balanced | rounded
        # a whole multiple of a change is no fraction: it goes that much further
        change = _change(here, step, 1 if here.whole else multiple, balanced)
        if len(change.cell):
            yield change


def _multiples(here: Part, proposal: NDArray[np.float64]) -> Iterator[int]:
    """By what a proposal is multiplied to become whole: little; at last what its fractions tell."""
    yield from _MULTIPLES
    if not here.whole:
        denominator = common_denominator(proposal)
        if denominator is not None and denominator > _MULTIPLES[-1]:
            yield denominator


def _change(
    here: Part, step: NDArray[np.int64], divisor: int, balanced: NDArray[np.bool_]
) -> Change:
    """``step / divisor`` and its opposite, where the bounds admit them."""
    component = here.component
    outside_there = (step > divisor * here.up) | (-step > divisor * here.down)
    outside_back = (-step > divisor * here.up) | (step > divisor * here.down)
    there, back = balanced.copy(), balanced.copy()
    there[component[outside_there]] = False
    back[component[outside_back]] = False
    at = np.flatnonzero((step != 0) & (there | back)[component])
    there, back = there[component[at]], back[component[at]]
    return _told(here.cell[at], step[at], divisor, there, back)


def change_of(
    cells: Changeable, at: NDArray[np.int64], step: NDArray[np.int64], divisor: int
) -> list[Change]:
    """``step / divisor`` of some groups, which balances, and its opposite, if bounds admit any."""
    if not len(at) or np.abs(step).max() > _LARGEST or divisor < 1:
        return []
    down, up = divisor * cells.down[at], divisor * cells.up[at]
    there = bool(((step <= up) & (-step <= down)).all())
    back = bool(((-step <= up) & (step <= down)).all())
    every = np.ones(len(at), dtype=bool)
    return [_told(at, step, divisor, every & there, every & back)] if there or back else []


def _told(
    cell: NDArray[np.int64],
    step: NDArray[np.int64],
    divisor: int,
    there: NDArray[np.bool_],
    back: NDArray[np.bool_],
) -> Change:
    """A change and how far it goes, there and back."""
    ahead, behind = np.where(there, step, 0), np.where(back, -step, 0)
    rise, fall = np.maximum(ahead, behind), np.maximum(-ahead, -behind)
    below, above, width = (move // divisor for move in (fall, rise, rise + fall))
    return Change(cell, below, above, width, step, divisor, there, back)
