"""The fewest of some things that satisfy rows of a programme in whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.errors import ProofError, ProtectionError
from diskret.solver import Solver, Status

#: Questions of the search in whole numbers whether to go on.
_TURNS = 5_000


class Programme:
    """Rows of a programme in zeros and ones, and totals of them."""

    def __init__(self, columns: int):
        self.columns = columns
        self._at, self._factor, self._ends = list[int](), list[int](), [0]
        self._low, self._high = list[float](), list[float]()

    def way(self) -> int:
        """A new column: whether this way is taken."""
        self.columns += 1
        return self.columns - 1

    def at_least(
        self, columns: list[int], factors: list[int], least: int, equal: bool = False
    ) -> None:
        """Demand a sum of at least so much, or of just so much."""
        self._at += columns
        self._factor += factors
        self._ends.append(len(self._at))
        self._low.append(least)
        self._high.append(least if equal else np.inf)

    def solved(
        self, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], int]:
        """The first columns between these bounds, as few as possible, and how few there can be."""
        number = len(low)
        shape = len(self._low), self.columns
        matrix = sparse.csr_array(
            (np.array(self._factor, float), np.array(self._at, int), np.array(self._ends)),
            shape=shape,
        )
        cost = np.zeros(self.columns)
        cost[:number] = 1.0
        below, above = np.zeros(self.columns), np.full(self.columns, float(number))
        below[:number], above[:number] = low, high
        solver = Solver()
        solver.load(cost, matrix, columns=(below, above), rows=(self._low, self._high), whole=True)
        status = solver.run(turns=_TURNS)
        if not len(solver.x) or not solver.feasible:
            if status in (Status.IMPOSSIBLE, Status.IMPOSSIBLE_OR_ENDLESS):
                raise ProtectionError(
                    "no areas were found to hide that keep all secret; let areas of more "
                    "geographies be hidden (new=), or publish fewer areas of the others"
                )
            raise ProofError("no areas to hide were found with the work allowed")
        return solver.x[:number] > 0.5, int(np.ceil(solver.bound - 1e-6))
