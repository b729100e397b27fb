"""What totals of three and more geographies tell together.

The map falls into small parts (`diskret.spatial.joint_parts`). Of each a search in whole numbers
tries everything, as far as it gets. Where a part is too large for that, programmes say for
each piece how many units there are at least in a sum that it counts in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.row_space import RowSpace
from diskret.attack.singled_out import Limit, Members, fewest_units, unsafe_sum
from diskret.solver import Solver, Status
from diskret.spatial.joint_parts import JointPart, joint_parts
from diskret.spatial.limits import Share
from diskret.spatial.pieces import Pieces

#: Entries of what is told in a part, times its rows, up to which whole numbers are tried.
_WORK = 10**9
#: Programmes in all, and steps and turns of each.
_PROGRAMMES = 500
_PIVOTS = 20_000
_TURNS = 200


@dataclass(frozen=True, eq=False)
class Singled:
    """Pieces that totals tell apart, and how.

    Parameters
    ----------
    pieces
        Positions of the pieces.
    areas
        Positions of the areas, those of one geography after another.
    factor
        How often each area is added; negative: taken away.
    """

    pieces: NDArray[np.int64]
    areas: NDArray[np.int64]
    factor: NDArray[np.float64]


@dataclass(frozen=True)
class Extent:
    """How far all was tried that three geographies and more tell.

    Parameters
    ----------
    areas
        Of the largest part of the map in which everything was tried.
    programmes
        Pieces in larger parts of which programmes say that no sum of too few holds them, or
        found one.
    left
        Pieces of which it is not known.
    """

    areas: int = 0
    programmes: int = 0
    left: int = 0

    @property
    def complete(self) -> bool:
        """Whether nothing is left open."""
        return self.left == 0

    def beside(self, other: Extent) -> Extent:
        """Of both of two searches."""
        programmes = self.programmes + other.programmes
        return Extent(max(self.areas, other.areas), programmes, self.left + other.left)


def fewest_jointly(
    pieces: Pieces, threshold: int, signed: bool, untold: NDArray[np.bool_] | None = None
) -> tuple[list[Singled], Extent]:
    """For each piece the set of the fewest units that holds it and that totals tell, if below.

    `untold`: areas whose totals nobody knows, those of one geography after another.

    Returns
    -------
    sets, extent
        And how far all pieces were looked at.
    """
    found, extent = list[Singled](), Extent()
    left = _PROGRAMMES
    for part in joint_parts(pieces, pieces.weight, threshold, untold):
        members = _members(pieces, part, threshold)
        space = _space(part)
        starts = np.flatnonzero(np.diff(members.begins) < threshold)
        open_ = starts.tolist()
        if space is not None:
            open_ = list[int]()
            nothing = RowSpace.nothing(len(part.atoms))
            for start in starts.tolist():
                one = fewest_units(
                    space, (nothing, nothing), members, threshold, signed, start=start
                )
                if one.atoms is not None:
                    found += _singled(part, one.atoms, space)
                if one.unresolved:
                    open_.append(start)
            if not open_:
                extent = extent.beside(Extent(areas=part.areas))
        if open_:
            weight = np.array([pieces.weight[own].sum() for own in part.atoms])
            more, decided = _by_programme(
                pieces, part, space, weight, open_[:left], threshold, signed
            )
            left -= min(len(open_), left)
            found += more
            extent = extent.beside(Extent(programmes=decided, left=len(open_) - decided))
    return _different(found), extent


def closest_jointly(
    pieces: Pieces, limit: Share, untold: NDArray[np.bool_] | None = None
) -> tuple[list[Singled], Extent]:
    """For each unit and piece a sum whose largest unit it is and that tells too much of it.

    `untold`: as of `fewest_jointly`.
    """
    found, extent = list[Singled](), Extent()
    close = _strict(limit, float(np.abs(pieces.amount).sum()))
    for part in joint_parts(pieces, *_hiding(pieces, limit), untold):
        members = _members(pieces, part, 0)
        space = _space(part)
        if space is None:
            extent = extent.beside(Extent(left=len(part.atoms)))
            continue
        nothing = RowSpace.nothing(len(part.atoms))
        atoms, left = members.atoms, set[int]()
        for at in range(len(atoms)):
            pair = int(members.unit[at]), int(atoms[at])
            one = unsafe_sum(space, (nothing, nothing), members, close, only=pair)
            if one.unresolved:
                left.add(pair[1])
            if one.atoms is None:
                continue
            for told in _singled(part, one.atoms, space):
                here = np.isin(pieces.piece, told.pieces)
                units, which = np.unique(pieces.unit[here], return_inverse=True)
                amounts = np.bincount(which, np.abs(pieces.amount[here]), len(units))
                if limit.unsafe(amounts.astype(np.float64)):
                    found.append(told)
                else:  # by the last digit of fractions only; what comes after it was not tried
                    left.add(pair[1])
        extent = extent.beside(Extent(areas=0 if left else part.areas, left=len(left)))
    return _different(found), extent


def _hiding(pieces: Pieces, limit: Share) -> tuple[NDArray[np.float64], float]:
    """What each piece adds at least to what hides any unit, and how much is enough for all."""
    amount = np.abs(pieces.amount)
    order = np.lexsort((-amount, pieces.piece))
    begins = np.searchsorted(pieces.piece[order], pieces.piece[order])
    beyond = order[np.arange(len(order)) - begins > limit.others]
    spare = np.bincount(pieces.piece[beyond], amount[beyond], len(pieces.count))
    largest = float(np.bincount(pieces.unit, amount).max(initial=0.0))
    of = float(limit.share) * (1 + limit.together * limit.others)
    return spare.astype(np.float64), of * largest * (1 + 1e-9) + 1e-9


def _members(pieces: Pieces, part: JointPart, threshold: int) -> Members:
    """The units of each atom; without units as many as it has records, up to the threshold."""
    local = np.full(len(pieces.count), -1)
    for at, own in enumerate(part.atoms):
        local[own] = at
    number = len(part.atoms)
    if len(pieces.unit):
        return Members.made(local[pieces.piece], number, pieces.unit, np.abs(pieces.amount))
    count = np.bincount(local[local >= 0], pieces.count[local >= 0], number).astype(np.int64)
    atom = np.repeat(np.arange(number), np.minimum(count, threshold))
    return Members.made(atom, number, np.arange(len(atom)))


def _space(part: JointPart) -> RowSpace | None:
    rows, atoms = part.told.shape
    return RowSpace.of(part.told) if rows * rows * atoms <= _WORK else None


def _singled(part: JointPart, vector: NDArray[np.int64], space: RowSpace | None) -> list[Singled]:
    """How a set is computed from areas; nothing if that is not found exactly."""
    by = part.by_areas(vector, space)
    if by is None:
        return []
    atoms = [part.atoms[at] for at in np.flatnonzero(vector).tolist()]
    return [Singled(np.sort(np.concatenate(atoms)), *by)]


def _by_programme(
    pieces: Pieces,
    part: JointPart,
    space: RowSpace | None,
    weight: NDArray[np.float64],
    starts: Sequence[int],
    threshold: int,
    signed: bool,
) -> tuple[list[Singled], int]:
    """Sets of too few that hold some atoms, and of how many atoms it is decided.

    Whatever set holds an atom weighs at least what the programme finds.
    """
    rows, atoms = part.told.shape
    one = sparse.eye_array(atoms, format="csr")
    sides = [part.told.T, -one, *([one] if signed else [])]
    solver = Solver()
    lower = np.concatenate([np.full(rows, -np.inf), np.zeros(atoms * (len(sides) - 1))])
    upper = np.concatenate([np.full(rows, np.inf), np.ones(atoms * (len(sides) - 1))])
    cost = np.concatenate([np.zeros(rows), *[weight] * (len(sides) - 1)])
    whole = np.arange(len(cost)) >= rows
    matrix = sparse.csr_array(sparse.hstack(sides, format="csr"))
    found, decided = list[Singled](), 0
    for start in starts:
        low, high = lower.copy(), upper.copy()
        low[rows + start] = 1.0  # added once; not taken away at the same time
        high[rows + atoms + start :: atoms] = 0.0
        solver.load(cost, matrix, columns=(low, high), rows=(0.0, 0.0))
        status, least = solver.run(pivots=_PIVOTS), solver.objective
        if status is Status.OPTIMAL and least <= threshold - 1 + 1e-6:
            x = solver.x
            if np.abs(x[rows:] - np.round(x[rows:])).max() > 1e-6:
                solver.load(cost, matrix, columns=(low, high), rows=(0.0, 0.0), whole=whole)
                status = solver.run(turns=_TURNS)
                least = np.inf if status is Status.IMPOSSIBLE else solver.bound
                x = solver.x
            if len(x) and solver.feasible:
                times = np.round(x[rows : rows + atoms]).astype(np.int64)
                if signed:
                    times -= np.round(x[rows + atoms :]).astype(np.int64)
                told = _singled(part, times, space)
                few = [some for some in told if pieces.units(some.pieces) < threshold]
                found += few
                decided += bool(few)
                if few:
                    continue
        decided += status in (Status.OPTIMAL, Status.IMPOSSIBLE) and least > threshold - 1 + 1e-6
    return found, decided


def _strict(limit: Share, total: float) -> Limit:
    """The limit in floating point, so that what just reaches it is safe there, too."""
    share = float(limit.share)
    margin = 5e-9 * (1 + share) * (1 + limit.others)
    exact = margin * total * limit.share.denominator < 1
    return Limit(limit.others, share - margin if exact else share, float(limit.together))


def _different(found: Sequence[Singled]) -> list[Singled]:
    return list({one.pieces.tobytes(): one for one in found}.values())
