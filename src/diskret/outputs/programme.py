"""Small sets that a programme finds where there is too much to try every one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

#: Number of units, and the cells that single them out.
Guess = tuple[int, tuple[int, ...]]

_SECONDS = 5.0  # for cells that hang together
_TOO_MANY = 20_000  # atoms
_TRIES = 30  # differences known from before that are set aside


def by_programme(
    cells: sparse.csr_array,
    units: NDArray[np.int64],
    threshold: int,
    known: Sequence[NDArray[np.bool_]],
) -> Guess | None:
    """A small set that a programme finds where there is too much to try every one.

    It chooses atoms (zeros and ones) and factors of cells (real numbers) such that the cells add
    up to just these atoms. None: it finds none, which proves nothing, for it computes in floating
    point. Else the number of units, and the cells that single them out.
    """
    number, atoms = cells.shape
    if atoms > _TOO_MANY:
        return None
    small = np.flatnonzero(units < threshold)
    # variables: a factor of each cell, then whether each small atom is chosen
    choose = sparse.csr_array(
        (np.ones(len(small)), (small, np.arange(len(small)))), shape=(atoms, len(small))
    )
    adds_up = LinearConstraint(sparse.hstack([cells.T, -choose]).tocsr(), 0, 0)
    few = np.concatenate([np.zeros(number), units[small]])
    limits = [adds_up, LinearConstraint(few, 1, threshold - 1)]
    low = np.concatenate([np.full(number, -np.inf), np.zeros(len(small))])
    high = np.concatenate([np.full(number, np.inf), np.ones(len(small))])
    integer = np.concatenate([np.zeros(number), np.ones(len(small))])
    for _ in range(_TRIES):
        solved = milp(
            few,
            constraints=limits,
            bounds=Bounds(low, high),
            integrality=integer,
            options={"time_limit": _SECONDS},
        )
        if solved.x is None:
            return None
        chosen = np.round(solved.x[number:])
        wanted = choose @ chosen
        if not _singled_out(cells, wanted):
            return None  # an answer that does not add up is none
        if not any(_singled_out(cells[mask], wanted) for mask in known):
            used = np.flatnonzero(np.abs(solved.x[:number]) > 1e-6)
            return int(round(float(units @ wanted))), tuple(int(one) for one in used)
        # known already, and no set that holds it is any news
        cut = np.concatenate([np.zeros(number), chosen])
        limits.append(LinearConstraint(cut, 0, chosen.sum() - 1))
    return None


def _singled_out(cells: sparse.csr_array, wanted: NDArray[np.float64]) -> bool:
    """Whether a set of atoms is a sum and difference of cells, by least squares."""
    if not cells.shape[0]:
        return False
    factors = sparse.linalg.lsmr(cells.T.tocsc(), wanted, atol=1e-12, btol=1e-12)[0]
    return bool(np.abs(cells.T @ factors - wanted).max() < 1e-6)
