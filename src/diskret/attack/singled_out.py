"""Sets of atoms that cells single out and that say too much: every one is tried, none is missed.

A set of atoms is singled out where it solves the equations of `RowSpace`. The search begins with
one atom and looks at an equation that does not hold yet: some further atom of it must belong to
the set, so each is tried in turn. It turns back where the atoms taken so far are too many units, or
too much besides the unit that is looked for, for any set that holds them. All equations are of
whole numbers; so that there is no such set rests on no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diskret.attack.row_space import RowSpace

_NODES = 3_000_000
_MORE = 200_000  # steps for sets in which atoms are taken several times


@dataclass(frozen=True, eq=False)
class Members:
    """Which units each atom has, with what they contribute; unit by unit, atom after atom.

    Parameters
    ----------
    begins
        Shape (atoms + 1,): where the units of each atom begin.
    unit
        Shape (pairs,): number of the unit.
    amount
        Shape (pairs,): what it contributes; ones where units are counted.
    """

    begins: NDArray[np.int64]
    unit: NDArray[np.int64]
    amount: NDArray[np.float64]

    @property
    def atoms(self) -> NDArray[np.int64]:
        """Shape (pairs,): the atom of each pair."""
        return np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))

    @property
    def cancels(self) -> NDArray[np.bool_]:
        """Shape (units,): whose values are below zero in one atom and above it in another."""
        number = int(self.unit.max(initial=-1)) + 1
        above, below = (
            np.bincount(self.unit[some], minlength=number) > 0
            for some in (self.amount > 0, self.amount < 0)
        )
        return above & below

    @classmethod
    def made(
        cls,
        atom: NDArray[np.int64],
        atoms: int,
        unit: NDArray[np.int64],
        values: NDArray[np.float64] | None = None,
    ) -> Members:
        """The members of atoms, from the atom and unit of each record; -1: in no atom."""
        inside = atom >= 0
        width = int(unit.max(initial=0)) + 1
        pairs, which = np.unique(atom[inside] * width + unit[inside], return_inverse=True)
        amount = np.ones(len(pairs))
        if values is not None:
            amount = np.bincount(which, values[inside], len(pairs)).astype(np.float64)
        begins = np.searchsorted(pairs, np.arange(atoms + 1) * width)
        return cls(begins.astype(np.int64), pairs % width, amount)

    def part(self, atoms: NDArray[np.intp]) -> Members:
        """Those of some atoms, in that order."""
        sizes = np.diff(self.begins)[atoms]
        begins = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.begins[atoms] - begins[:-1], sizes) + np.arange(begins[-1])
        unit = np.unique(self.unit[at], return_inverse=True)[1].astype(np.int64)
        return Members(begins.astype(np.int64), unit, self.amount[at])


@dataclass(frozen=True)
class Limit:
    """What makes a sum unsafe: others leave too little besides the largest contributors.

    Unsafe: ``rest < share * (largest + together * next)``, where `others` of the next largest are
    taken together and the rest is what is left. The p% rule is ``Limit(1, p / 100, 0)``, dominance
    of n with k % ``Limit(n - 1, (100 - k) / k, 1)``.
    """

    others: int
    share: float
    together: float


@dataclass(frozen=True, eq=False)
class Found:
    """A set of atoms with signs, and its units; or none. `unresolved`: not all could be tried."""

    atoms: NDArray[np.int64] | None = None
    units: int = 0
    unresolved: bool = False


def fewest_units(
    space: RowSpace,
    known: tuple[RowSpace, RowSpace],
    members: Members,
    threshold: int,
    signed: bool,
    start: int | None = None,
    most: int = 1,
) -> Found:
    """The singled-out set of the fewest units, if they are fewer than the threshold.

    Parameters
    ----------
    space
        Combinations of all cells.
    known
        Those that are judged already: a set that follows from one of them is no news, nor what is
        made of it and others.
    members
        The units of each atom.
    threshold
        The fewest units that are no problem.
    signed
        Whether atoms may also be subtracted, as sums of values may be.
    start
        An atom that the set must hold; None: any.
    most
        Where there is none, one is looked for of which atoms are taken up to so many times, as in
        ``2 a + b``. Such sets are rare; of those that are not found in few steps it is not said
        whether they are there.
    """
    sizes = np.diff(members.begins)
    starts = np.flatnonzero(sizes < threshold)
    if start is not None:
        starts = starts[starts == start]
    starts = starts[np.argsort(sizes[starts], kind="stable")]
    spare = np.where(sizes < threshold, 0.0, -1.0)
    targets = np.full(len(starts), -1)
    return _once_or_more(
        space, known, members, spare, starts, targets, signed, threshold, None, most
    )


def unsafe_sum(
    space: RowSpace,
    known: tuple[RowSpace, RowSpace],
    members: Members,
    limit: Limit,
    only: tuple[int, int] | None = None,
    most: int = 1,
) -> Found:
    """A singled-out sum, atoms added or subtracted, in which one unit is known too well.

    Parameters
    ----------
    space, known, members
        As for `fewest_units`; of cells whose sums are told, with what units contribute to them.
    limit
        When others leave too little.
    only
        A unit that is to be known too well, and an atom that holds it; None: any.
    most
        As of `fewest_units`.
    """
    atoms = members.atoms
    amount = np.abs(members.amount)
    total = np.bincount(members.unit, amount)
    amount = np.where(members.cancels[members.unit], 0.0, amount)  # it may be nothing in a sum
    order = np.lexsort((-amount, atoms))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(members.begins[:-1], np.diff(members.begins))
    number = len(members.begins) - 1
    beyond = rank > limit.others
    spare = np.bincount(atoms[beyond], amount[beyond], number).astype(np.float64)
    bound = limit.share * total * (1 + limit.together * limit.others)
    # the last digits of sums never hide what is unsafe
    possible = (spare[atoms] * (1 - 1e-9) <= bound[members.unit]) & (total[members.unit] > 0)
    if only is not None:
        possible &= (members.unit == only[0]) & (atoms == only[1])
    pairs = np.flatnonzero(possible)
    pairs = pairs[np.lexsort((atoms[pairs], members.unit[pairs]))]
    starts, targets = atoms[pairs], members.unit[pairs]
    spare = spare * (1 - 1e-9)
    return _once_or_more(space, known, members, spare, starts, targets, True, 0, limit, most)


def _once_or_more(
    space: RowSpace,
    known: tuple[RowSpace, RowSpace],
    members: Members,
    spare: NDArray[np.float64],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    signed: bool,
    threshold: int,
    limit: Limit | None,
    most: int,
) -> Found:
    """A set of atoms; where there is none, one of which some are taken several times."""
    found = _search(
        space, known, members, spare, starts, targets, signed, 1, _NODES, threshold, limit
    )
    if found.atoms is not None or found.unresolved or most == 1:
        return found
    more = _search(
        space, known, members, spare, starts, targets, signed, most, _MORE, threshold, limit
    )
    return found if more.atoms is None else more


def _search(
    space: RowSpace,
    known: tuple[RowSpace, RowSpace],
    members: Members,
    spare: NDArray[np.float64],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    signed: bool,
    most: int,
    nodes: int,
    threshold: int,
    limit: Limit | None,
) -> Found:
    from diskret.attack.singled_out_kernels import search

    if not len(starts):
        return Found()
    old, new = known
    rule = limit or Limit(0, 0.0, 0.0)
    state, atoms, units = search(
        space.rows,
        space.pivots,
        space.scale,
        old.rows,
        old.pivots,
        old.scale,
        new.rows,
        new.pivots,
        new.scale,
        members.begins,
        members.unit,
        members.amount,
        members.cancels,
        spare,
        np.bincount(members.unit, np.abs(members.amount)).astype(np.float64),
        starts.astype(np.int64),
        targets.astype(np.int64),
        signed,
        most,
        threshold,
        rule.others,
        rule.share,
        rule.together,
        nodes,
    )
    if state < 0:
        return Found(unresolved=True)
    return Found(atoms, int(units)) if state else Found()
