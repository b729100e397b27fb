"""What totals of three and more geographies tell together, where there is little enough of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.row_space import RowSpace, factors
from diskret.attack.singled_out import Found, Limit, Members, fewest_units, unsafe_sum
from diskret.solver import Solver, Status
from diskret.spatial.limits import Share
from diskret.spatial.pieces import Pieces

_SCALES = 12
_CLOSE = 1e-6


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


def fewest_jointly(pieces: Pieces, threshold: int, signed: bool) -> tuple[list[Singled], bool]:
    """For each piece the set of the fewest units that holds it and that totals tell, if below.

    Returns
    -------
    sets, complete
        And whether all pieces were looked at to the end.
    """
    found, complete = list[Singled](), True
    for part in _parts(pieces):
        members = part.members(pieces, threshold)
        light = np.flatnonzero(np.diff(members.begins) < threshold)
        if part.space is None:
            complete &= not len(light)
            continue
        nothing = RowSpace.nothing(len(part.pieces))
        for start in light.tolist():
            one = fewest_units(
                part.space, (nothing, nothing), members, threshold, signed, start=start
            )
            complete &= not one.unresolved
            found += part.told(one)
    return _different(found), complete


def closest_jointly(pieces: Pieces, limit: Share) -> tuple[list[Singled], bool]:
    """For each unit and piece a sum whose largest unit it is and that tells too much of it."""
    found, complete = list[Singled](), True
    for part in _parts(pieces):
        members = part.members(pieces, 0)
        if part.space is None:
            complete = False
            continue
        nothing = RowSpace.nothing(len(part.pieces))
        close = _strict(limit, float(np.abs(pieces.amount).sum()))
        atoms = members.atoms
        for at in range(len(atoms)):
            pair = int(members.unit[at]), int(atoms[at])
            one = unsafe_sum(part.space, (nothing, nothing), members, close, only=pair)
            complete &= not one.unresolved
            for told in part.told(one):
                here = np.isin(pieces.piece, told.pieces)
                units, which = np.unique(pieces.unit[here], return_inverse=True)
                amounts = np.bincount(which, np.abs(pieces.amount[here]), len(units))
                if limit.unsafe(amounts.astype(np.float64)):
                    found.append(told)
                else:  # by the last digit of fractions only; what comes after it was not tried
                    complete = False
    return _different(found), complete


@dataclass(frozen=True, eq=False)
class _Part:
    """Pieces that areas tie to each other, and the areas. None: too much for whole numbers."""

    pieces: NDArray[np.int64]
    areas: NDArray[np.int64]
    cells: sparse.csr_array
    space: RowSpace | None

    def members(self, pieces: Pieces, threshold: int) -> Members:
        """The units of each piece; without units as many as it has records, up to the threshold."""
        local = np.full(len(pieces.count), -1)
        local[self.pieces] = np.arange(len(self.pieces))
        if len(pieces.unit):
            return Members.made(
                local[pieces.piece], len(self.pieces), pieces.unit, np.abs(pieces.amount)
            )
        atom = np.repeat(
            np.arange(len(self.pieces)), np.minimum(pieces.count[self.pieces], threshold)
        )
        return Members.made(atom, len(self.pieces), np.arange(len(atom)))

    def told(self, found: Found) -> Iterator[Singled]:
        """How a set is computed from areas."""
        if found.atoms is None or self.space is None:
            return
        factor = _few(self.cells, found.atoms)
        if factor is None:
            factor = factors(self.cells, self.space, found.atoms)
        used = np.flatnonzero(np.abs(factor) > _CLOSE)
        yield Singled(self.pieces[np.flatnonzero(found.atoms)], self.areas[used], factor[used])


def _parts(pieces: Pieces) -> Iterator[_Part]:
    from scipy.sparse.csgraph import connected_components

    ends = np.cumsum([0, *(len(codes) for codes in pieces.codes)])
    area = (pieces.place + ends[:-1]).reshape(-1)
    piece = np.repeat(np.arange(len(pieces.count)), len(pieces.names))
    ones = np.ones(len(area), np.int64)
    cells = sparse.csr_array((ones, (area, piece)), shape=(int(ends[-1]), len(pieces.count)))
    _, label = connected_components(cells.T @ cells, directed=False)
    for number in range(int(label.max(initial=-1)) + 1):
        own = np.flatnonzero(label == number)
        part = sparse.csr_array(cells[:, own])
        areas = np.flatnonzero(np.diff(part.indptr))
        part = sparse.csr_array(part[areas])
        yield _Part(own, areas, part, RowSpace.of(part))


def _few(cells: sparse.csr_array, vector: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Factors of areas that make a vector, few of them; None: none were found exactly."""
    number = cells.shape[0]
    solver = Solver()
    both = sparse.csr_array(sparse.hstack([cells.T, -cells.T], format="csr"))
    solver.load(np.ones(2 * number), both, columns=(0, np.inf), rows=(vector, vector))
    if solver.run() is not Status.OPTIMAL:
        return None
    x = solver.x
    factor = x[:number] - x[number:]
    for scale in range(1, _SCALES + 1):
        whole = np.round(factor * scale)
        if (cells.T @ whole == scale * vector).all():
            return whole / scale
    return None


def _strict(limit: Share, total: float) -> Limit:
    """The limit in floating point, so that what just reaches it is safe there, too."""
    share = float(limit.share)
    margin = 5e-9 * (1 + share) * (1 + limit.others)
    exact = margin * total * limit.share.denominator < 1
    return Limit(limit.others, share - margin if exact else share, float(limit.together))


def _different(found: Sequence[Singled]) -> list[Singled]:
    return list({one.pieces.tobytes(): one for one in found}.values())
