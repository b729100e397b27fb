"""What must stay uncertain about a table for it to count as protected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Requirements:
    """Protection levels of the primary cells. Confidential.

    The attacker's interval ``[lo, up]`` of primary cell ``cell[i]`` with value ``a`` must
    satisfy ``lo <= a - lower[i]``, ``up >= a + upper[i]`` and ``up - lo >= sliding[i]``.
    Every other suppressed cell must satisfy ``up - lo >= 1`` (no exact value).

    Parameters
    ----------
    cell
        Flat (C order) positions of the primary cells, ascending, shape ``(n,)``, int64.
    lower, upper, sliding
        Levels in scaled integers (units of 10**-decimals), ≥ 0, shape ``(n,)``, int64.
    """

    cell: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    sliding: NDArray[np.int64]

    def between(self, start: int, stop: int) -> Requirements:
        """Those of the cells from one position up to another, counted from the first."""
        own = (self.cell >= start) & (self.cell < stop)
        return Requirements(
            self.cell[own] - start, self.lower[own], self.upper[own], self.sliding[own]
        )

    def only(self, kept: NDArray[np.bool_]) -> Requirements:
        """Those of some cells."""
        return Requirements(self.cell[kept], self.lower[kept], self.upper[kept], self.sliding[kept])
