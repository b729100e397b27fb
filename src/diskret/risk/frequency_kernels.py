"""A loop over pairs of rows: which agree, where nearly every row misses other values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def pair_by_pair(
    mine: NDArray[np.int32],
    theirs: NDArray[np.int32],
    values: NDArray[np.float64],
    whole: NDArray[np.float64],
    through: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Add to `whole` and `through`, as `diskret.risk.frequencies.agreeing` has them."""
    for i in range(len(mine)):
        for j in range(len(theirs)):
            agree, gap = True, False
            for q in range(mine.shape[1]):
                own, their = mine[i, q], theirs[j, q]
                if own < 0 or their < 0:
                    gap = True
                elif own != their:
                    agree = False
                    break
            if agree:
                for v in range(len(values)):
                    if gap:
                        through[v, i] += values[v, j]
                    else:
                        whole[v, i] += values[v, j]
