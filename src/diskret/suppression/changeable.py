"""From cells to what can change: drop what is fixed, merge what is the same cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import InputError, ProtectionError
from diskret.graphs import connected
from diskret.suppression.problem import Problem
from diskret.texts.numbers import Count

#: Requirements up to here, and room up to there, leave all sums and products of changes exact.
_LARGEST_NEED, _LARGEST_ROOM = 2**40, 2**46
#: Stands for room without end.
_NO_END = 2**62
_Number = TypeVar("_Number", np.int64, np.bool_)


@dataclass(frozen=True, eq=False)
class Changeable:
    """Groups of cells that always change alike, and the equations between their changes.

    A group is a cell with its aliases (a total and its only part that is not fixed); hiding
    one member hides all. ``g`` is the number of groups.

    `group`: group of each original cell, -1 if no other value is possible for it, ``(n,)``.
    `equations`: ``equations @ z = 0`` for the changes ``z`` of the groups, ``(m, g)``, int64 CSR.
    `down`, `up`: room that the attacker's bounds leave below and above, whole scaled units (rounded
        inwards), float64 ≥ 0 or inf, ``(g,)``.
    `below`, `above`, `width`: room that must be shown: down, up and together; 0 if no primary,
        int64, ``(g,)``.
    `price`: cost of hiding the group, ties broken against totals, float64 > 0, ``(g,)``.
    `ties`: what decides between groups of equal cost that are in as many totals, float64 ≥ 0,
        ``(g,)``.
    `primary`, `started`: whether the group holds a primary cell, or a cell of `Problem.start`;
        bool, ``(g,)``.
    `whole`: whether changes must be whole scaled units.
    `scale`: all distances above are in so many scaled units, what is required rounded up and room
        rounded down: 1, unless numbers are too large for exact arithmetic.
    """

    group: NDArray[np.int64]
    equations: sparse.csr_array
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    below: NDArray[np.int64]
    above: NDArray[np.int64]
    width: NDArray[np.int64]
    price: NDArray[np.float64]
    ties: NDArray[np.float64]
    primary: NDArray[np.bool_]
    started: NDArray[np.bool_]
    whole: bool
    scale: int = 1

    @cached_property
    def by_group(self) -> sparse.csc_array:
        """The equations by column."""
        return sparse.csc_array(self.equations)

    @cached_property
    def need(self) -> NDArray[np.int64]:
        """A distance that is enough on either side, ``(g,)``."""
        return np.maximum.reduce([self.below, self.above, -(-self.width // 2)])

    @property
    def unit(self) -> float:
        """A power of two in which the largest requirement is about a million, at least 1."""
        if self.whole:
            return 1.0
        largest = max(need.max(initial=0) for need in (self.below, self.above, self.width))
        return max(2.0 ** (int(largest).bit_length() - 20), 1.0)

    def of_cells(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which original cells are hidden if these groups are, ``(n,)``."""
        # the appended False is what index -1, a fixed cell, finds
        return np.append(hidden, False)[self.group]


def changeable(problem: Problem, asked: Sequence[int] = ()) -> Changeable:
    """Reduce a problem to the cells that can change at all.

    Distances that are `asked` for beside the requirements have their share in the scale.

    Raises ProtectionError: a primary or started cell is frozen.
    """
    down, up = _room(problem)
    n = len(problem.cost)
    cell = problem.requirements.cell
    primary, started = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    primary[cell] = True
    if problem.start is not None:
        started |= problem.start
    _refuse_frozen(problem, primary | started)

    free = ~problem.frozen & ((down > 0) | (up > 0))
    group, equations = _merge(problem.system.equations, free)
    inside, ties = group >= 0, problem.ties
    member, g = group[inside], equations.shape[1]
    needs = np.zeros((3, n), dtype=np.int64)
    needs[:, cell] = (
        problem.requirements.lower,
        problem.requirements.upper,
        np.maximum(problem.requirements.sliding, 1),  # an exact value is never acceptable
    )
    scale = _scale(np.append(needs, asked).astype(np.int64), down[free], up[free])
    needs = -(-needs // scale)
    down, up = _scaled(down, scale), _scaled(up, scale)
    below, above, width = (_most(need[inside], member, g) for need in needs)
    return Changeable(
        group=group,
        equations=equations,
        down=_least(down[inside], member, g),
        up=_least(up[inside], member, g),
        below=below,
        above=above,
        width=width,
        price=np.bincount(member, prices(problem)[inside], g).astype(np.float64),
        ties=np.zeros(g) if ties is None else np.bincount(member, ties[inside], g).astype(float),
        primary=_most(primary[inside], member, g),
        started=_most(started[inside], member, g),
        whole=problem.integer,
        scale=scale,
    )


def _scale(needs: NDArray[np.int64], down: NDArray[np.int64], up: NDArray[np.int64]) -> int:
    """How many units are one, so that sums of changes are exact: a common divisor if it can be."""
    largest = int(needs.max(initial=0))
    if largest <= _LARGEST_NEED:
        return 1
    distances = np.concatenate((needs.ravel(), down, up))
    common = int(np.gcd.reduce(distances[(distances > 1) & (distances < _NO_END)]))
    return common << max((largest // common).bit_length() - _LARGEST_NEED.bit_length() + 1, 0)


def _scaled(room: NDArray[np.int64], scale: int) -> NDArray[np.float64]:
    """Room in larger units; no more than changes can use."""
    fits = np.minimum(room // scale, _LARGEST_ROOM).astype(np.float64)
    return np.where(room < _NO_END, fits, np.inf)


def _room(problem: Problem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole units between each value and the attacker's bounds; `_NO_END` where there is none."""
    value = problem.system.value
    # ceil and floor first: the difference of whole numbers is exact, that of floats is not
    down, up = _apart(value, np.ceil(problem.lower)), _apart(-value, -np.floor(problem.upper))
    outside = np.flatnonzero((problem.lower > value) | (problem.upper < value))
    if len(outside):
        i, number = int(outside[0]), Count(len(outside))
        raise InputError(
            f"the attacker's bounds exclude the true value of {number} {number:cell|cells}, e.g. "
            f"{problem.system.cells[i]} = {value[i]} outside "
            f"[{problem.lower[i]:g}, {problem.upper[i]:g}]; correct the bounds"
        )
    return np.clip(down, 0, _NO_END), np.clip(up, 0, _NO_END)


def _apart(value: NDArray[np.int64], bound: NDArray[np.float64]) -> NDArray[np.int64]:
    """How far values lie above bounds, in whole numbers."""
    known = np.abs(bound) < _NO_END
    return np.where(known, value - np.where(known, bound, 0).astype(np.int64), _NO_END)


def _refuse_frozen(problem: Problem, hidden: NDArray[np.bool_]) -> None:
    both = np.flatnonzero(hidden & problem.frozen)
    if len(both):
        number = Count(len(both))
        raise ProtectionError(
            f"{number} {number:cell|cells} must be suppressed but {number:is|are} frozen, e.g. "
            f"{problem.system.cells[int(both[0])]} = {problem.system.value[both[0]]}; take "
            f"{number:it|them} off the list of frozen cells, or set {number:it|them} to safe with "
            "a reason"
        )


def prices(problem: Problem) -> NDArray[np.float64]:
    """Costs in units of the least, with a surcharge that decides between equal ones."""
    cost = problem.cost
    equations = problem.system.equations
    totals = np.bincount(equations.indices[equations.data > 0], minlength=len(cost))
    most = cost.max(initial=0.0)
    least = cost[cost > most * 1e-9].min(initial=most or 1.0)
    # inner cells before totals; and no cell is for nothing, even at cost 0
    ties = 0.0 if problem.ties is None else problem.ties
    return cost / least + 1e-4 * (1 + totals + ties)


def _merge(
    equations: sparse.csr_array, free: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], sparse.csr_array]:
    """Group of each cell (-1 if fixed) and the equations between the groups."""
    group = _number(free)
    merged = sparse.csr_array(equations, dtype=np.int64)[:, free]
    while True:
        merged, kept = _peel(merged)
        k = merged.shape[1]
        pairs = merged.indptr[:-1][np.diff(merged.indptr) == 2]
        alike = pairs[merged.data[pairs] == -merged.data[pairs + 1]]
        links = sparse.coo_array(
            (
                np.ones(len(alike), dtype=np.int8),
                (merged.indices[alike], merged.indices[alike + 1]),
            ),
            shape=(k, k),
        )
        label = connected(links)
        groups = int(label.max(initial=-1)) + 1
        # the appended -1 is what index -1, a fixed cell, finds
        group = np.append(_number(kept), -1)[group]
        group = np.append(label, -1)[group]
        if groups == k and kept.all():
            return group, _distinct(merged)
        onto = (np.ones(k, dtype=np.int64), (np.arange(k), label))
        merged = merged @ sparse.csr_array(onto, shape=(k, groups))


def _number(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Consecutive numbers for those kept, -1 for the others."""
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _peel(equations: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Drop cells that are alone in an equation, again and again; which columns stay."""
    kept = np.ones(equations.shape[1], dtype=bool)
    while True:
        equations.eliminate_zeros()
        size = np.diff(equations.indptr)
        alone = equations.indices[equations.indptr[:-1][size == 1]]
        if len(alone) == 0:
            return equations[size > 0][:, kept], kept
        kept[alone] = False
        equations = equations @ sparse.diags_array(kept.astype(np.int64), dtype=np.int64)
        equations = sparse.csr_array(equations)


def _distinct(equations: sparse.csr_array) -> sparse.csr_array:
    """Every equation once, whatever its sign."""
    if equations.shape[0] == 0:
        return equations
    equations.sort_indices()
    sign = np.sign(equations.data[equations.indptr[:-1]])
    signed = equations.copy()
    signed.data *= np.repeat(sign, np.diff(signed.indptr))
    mark = np.random.default_rng(0).integers(0, 2**62, size=signed.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        hashes = signed @ mark
    _, first, back = np.unique(hashes, return_index=True, return_inverse=True)
    # a hash may lie: only rows that equal their representative are dropped
    same = np.diff(sparse.csr_array(signed - signed[first[back]]).indptr) == 0
    same[first] = False
    return signed[~same]


def _most(values: NDArray[_Number], member: NDArray[np.int64], groups: int) -> NDArray[_Number]:
    """The largest of the values ≥ 0 of each group."""
    most = np.zeros(groups, dtype=values.dtype)
    np.maximum.at(most, member, values)
    return most


def _least(
    values: NDArray[np.float64], member: NDArray[np.int64], groups: int
) -> NDArray[np.float64]:
    """The smallest value of each group."""
    least = np.full(groups, np.inf)
    np.minimum.at(least, member, values)
    return least
