"""A movement with a small denominator near one in fractions that have none.

Programmes answer with vertices. Where a table has many variables their fractions have denominators
that no floating point tells. A little inside of all bounds, however, any movement near by is an
answer as well, and among these are some whose fractions are powers of two: most groups are rounded,
and the equations, solved for the others, tell these in whole numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.changes import Part

#: How many groups move at most: the equations are solved as a dense matrix.
_MOST = 2_000
#: Numerators, and factors of the solved equations, up to here keep all sums exact in 64 bits.
_LARGEST, _FACTOR = 2**44, 2**16
#: The finest fractions.
_FINEST = 2**20


def near_fraction(
    here: Part, movement: NDArray[np.float64], index: int
) -> tuple[NDArray[np.float64], int] | None:
    """A movement near another, and a power of two that makes it whole; None if none is found.

    What it moves, its equations and bounds are the same; the group at `index` moves as far, if it
    can be. It is a proposal: nobody has checked it.
    """
    at = np.flatnonzero(np.abs(movement) > 1e-6 * here.unit)
    largest = float(np.abs(movement).max(initial=0))
    if not 0 < len(at) <= _MOST or largest > _LARGEST:
        return None
    # what is far from its bounds may be told by the others, the group asked for last
    room = np.minimum(here.up[at] - movement[at], here.down[at] + movement[at])
    at = at[np.argsort(np.where(at == index, 1, -room), kind="stable")]
    equations = here.equations[:, at]
    rows = equations[np.diff(equations.indptr) > 0].toarray()
    told = _solved(rows)
    if told is None:
        return None
    divisor = _FINEST
    while divisor * largest > _LARGEST:
        divisor //= 2
    step = np.rint(movement[at] * divisor).astype(np.int64)
    step[told] = 0
    step[told] = -(rows[: len(told)] @ step)
    out = np.zeros(len(movement))
    out[at] = step / divisor
    return out, divisor


def _solved(rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Solve equations for as early columns as whole numbers allow, in place.

    Afterwards the first rows tell one column each, with factor 1, of those that are given, and the
    other rows nothing. None: whole numbers do not go that far, or become too large.
    """
    told: list[int] = []
    done = 0
    again = True
    while again:
        again = False
        for column in range(rows.shape[1]):
            candidates = done + np.flatnonzero(np.abs(rows[done:, column]) == 1)
            if not len(candidates):
                continue
            own = candidates[np.argmin(np.count_nonzero(rows[candidates], axis=1))]
            rows[[done, own]] = rows[[own, done]]
            rows[done] *= rows[done, column]
            others = np.flatnonzero(rows[:, column])
            others = others[others != done]
            rows[others] -= rows[others, column][:, None] * rows[done]
            if np.abs(rows[others]).max(initial=0) > _FACTOR:
                return None
            told.append(column)
            done += 1
            again = True
    return None if rows[done:].any() else np.array(told, dtype=np.int64)
