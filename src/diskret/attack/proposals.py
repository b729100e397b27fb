"""Alternative tables that somebody else thought of: checked, never trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import Point, product
from diskret.attack.moves import Moves
from diskret.attack.programme import Programme
from diskret.attack.reduction import Reduction
from diskret.errors import ContradictionError, InputError, ProofError


@dataclass(frozen=True, eq=False)
class Proposals:
    """Alternative tables as differences from the original values. Confidential.

    The method that chose a pattern knows some: the changes that showed it that a requirement
    holds. Each is checked exactly against the equations that the attacker reads from the
    publication; wrong ones are left out, so they can save work but never weaken a proof.

    Parameters
    ----------
    difference
        Numerators, ``(w, cells)``, int64 CSR: a column for each cell of all tables, one after
        the other; columns behind these are not looked at.
    denominator
        ``(w,)``, int64, ≥ 1.

    Examples
    --------
    >>> swap = sparse.csr_array(np.array([[1, -1, -1, 1]]))
    >>> Proposals(swap, np.array([1])).difference.shape
    (1, 4)
    """

    difference: sparse.csr_array
    denominator: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.denominator.shape != (self.difference.shape[0],):
            raise InputError(
                f"{self.difference.shape[0]:,} proposals have denominators of shape "
                f"{self.denominator.shape}; give one for each"
            )


def proposed_moves(proposals: Proposals, cells: int, known: Equations, reduced: Reduction) -> Moves:
    """Proposals as moves of the unknowns, without those that the links of cells contradict.

    Parameters
    ----------
    proposals
        From anywhere.
    cells
        Number of cells of all tables.
    known, reduced
        What the attacker made of the publication.

    Raises
    ------
    InputError
        The proposals are about fewer cells than the tables have.
    """
    difference = sparse.csr_array(proposals.difference.astype(np.int64))
    if difference.shape[1] < cells:
        raise InputError(
            f"the proposals are about {difference.shape[1]:,} cells, the tables have {cells:,}; "
            "give a column for each cell"
        )
    own = known.cell[~known.latent]
    shown = np.ones(difference.shape[1], dtype=bool)
    shown[own] = shown[cells:] = False
    fits = ~_touched(difference, shown)
    latent = sparse.csr_array((difference.shape[0], int(known.latent.sum())), dtype=np.int64)
    of_cells = sparse.csr_array(sparse.hstack([difference[:, own], latent], format="csr"))
    first, sign = leaders(reduced)
    steps = sparse.csr_array(of_cells[:, first] @ sparse.diags_array(sign, dtype=np.int64))
    astray = sparse.csr_array(steps @ reduced.link.T - of_cells)
    astray.eliminate_zeros()
    fits &= np.diff(astray.indptr) == 0
    steps = sparse.csr_array(steps.astype(np.int64))
    steps.eliminate_zeros()
    return Moves(steps, np.asarray(proposals.denominator, dtype=np.int64)).only(fits)


def leaders(reduced: Reduction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each unknown the first cell that follows it, and the sign with which it does."""
    link = sparse.csc_array(reduced.link)
    link.sort_indices()
    return link.indices[link.indptr[:-1]].astype(np.int64), link.data[link.indptr[:-1]]


def starting_table(
    original: NDArray[np.int64] | None, known: Equations, reduced: Reduction
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The original values of the unknowns, and where they are known, ``(n,)`` each."""
    first, sign = leaders(reduced)
    if original is None:
        return np.zeros(len(first), dtype=np.int64), np.zeros(len(first), dtype=bool)
    given = ~known.latent[first]
    value = np.zeros(len(first), dtype=np.int64)
    value[given] = original.ravel()[known.cell[first[given]]]
    return np.where(given, sign * (value - reduced.offset[first]), 0), given


def completed(
    programme: Programme, value: NDArray[np.int64], given: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    """Whole numbers that satisfy a component and agree with given ones, or None."""
    rest = np.flatnonzero(~given)
    if len(rest):
        inside = sparse.csr_array(programme.matrix[:, rest])
        rows = np.flatnonzero(np.diff(inside.indptr))
        right = programme.right - product(programme.matrix, np.where(given, value, 0))
        try:
            point = (
                Programme(
                    sparse.csr_array(inside[rows]),
                    right[rows].astype(np.int64),
                    programme.lower[rest],
                    programme.upper[rest],
                )
                .begin()
                .point
            )
        except (ContradictionError, ProofError):
            return None
        if point is None or point.denominator > 1:
            return None
        value = value.copy()
        value[rest] = point.numerator
    return value if programme.holds(Point(value, 1)) else None


def _touched(steps: sparse.csr_array, columns: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have something other than zero in some columns."""
    row = np.repeat(np.arange(steps.shape[0]), np.diff(steps.indptr))
    touched = np.zeros(steps.shape[0], dtype=bool)
    touched[row[columns[steps.indices] & (steps.data != 0)]] = True
    return touched
