"""What sums and differences of published cells there are, in whole numbers without any rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_PRIME = 2**31 - 1
_WORK = 3 * 10**9  # entries of the matrix times its rows
_SMALL = 10**6  # entries beyond are no fractions of few units
_SCALES = (*range(1, 13), 16, 18, 20, 24, 30, 36, 40, 48, 60, 72, 120, 180, 240, 360, 720)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """All combinations of cells, by any factors, in a form that says at once what is one.

    A vector over atoms is a combination of the cells just if it is what its own entries at the
    pivots make of the rows: `scale` times the vector is ``vector[pivots] @ rows``.

    Parameters
    ----------
    rows
        Shape (rank, atoms), whole numbers.
    pivots
        Shape (rank,): an atom for each row; it has `scale` there and zero in all other rows.
    scale
        What all rows were multiplied by.
    independent
        Shape (rank,): cells that all others follow from.
    """

    rows: NDArray[np.int64]
    pivots: NDArray[np.int64]
    scale: int
    independent: NDArray[np.int64]

    @classmethod
    def of(cls, cells: sparse.csr_array) -> RowSpace | None:
        """The combinations of cells of small whole numbers; None: not found, or too much work.

        Elimination is modulo a prime. Its result is lifted to whole numbers and accepted only if
        it makes every cell again, in whole numbers: then both have the same combinations, for the
        rank modulo a prime is never above the true one.
        """
        number, atoms = cells.shape
        if number * number * atoms > _WORK:
            return None
        dense = cells.toarray().astype(np.int64)
        reduced = dense % _PRIME
        from diskret.attack.singled_out_kernels import eliminate

        order, pivots = eliminate(reduced)
        rows = reduced[: len(pivots)]
        for scale in _SCALES:
            lifted = rows * scale % _PRIME
            lifted[lifted > _PRIME // 2] -= _PRIME
            if (np.abs(lifted) < _SMALL).all() and (
                dense[:, pivots] @ lifted == scale * dense
            ).all():
                return cls(lifted, pivots, scale, order)
        return None

    @classmethod
    def nothing(cls, atoms: int) -> RowSpace:
        """The combinations of no cells."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((0, atoms), np.int64), none, 1, none)

    def holds(self, vector: NDArray[np.int64]) -> bool:
        """Whether a vector of whole numbers is a combination of the cells."""
        return bool((vector[self.pivots] @ self.rows == self.scale * vector).all())


def factors(
    cells: sparse.csr_array, space: RowSpace, vector: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Shape (cells,): how the cells make a vector that is a combination of them."""
    found = np.zeros(cells.shape[0])
    square = cells[space.independent][:, space.pivots].toarray()
    found[space.independent] = np.linalg.solve(square.T, vector[space.pivots].astype(np.float64))
    return found
