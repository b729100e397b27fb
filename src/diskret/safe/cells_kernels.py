"""Cells of a table counted from millions of combinations, in one pass and without keys of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.kernel import kernel


@kernel
def add_up(
    codes: NDArray[np.signedinteger[Any]],
    columns: NDArray[np.int64],
    sizes: NDArray[np.int64],
    counter: int,
    count: NDArray[np.int64],
    there: NDArray[np.bool_],
    total: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Add combinations to the possible cells of a table.

    `codes`: combinations, ``(n, V)``. `columns`, `sizes`: variables of the table and how many codes
    each has. `counter`: the variable that is counted, −1: records. `count`: how often each occurs.
    `there`: cells into which a combination falls; `total`: what they hold; both are added to.
    """
    for i in range(len(count)):
        key = 0
        for c in range(len(columns)):
            key = key * sizes[c] + codes[i, columns[c]]
        there[key] = True
        total[key] += count[i] if counter < 0 else count[i] * codes[i, counter]
