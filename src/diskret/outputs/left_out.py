"""What deviations of two samples tell of the records that only one of them has.

Mean and standard deviation tell the sum of squares. Of two samples, one within the other, those of
the records left out follow, and where one of these deviates alone its value does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.cells import Cells
from diskret.outputs.differences import Difference, Statements
from diskret.outputs.judge_cells import deviations, estimated
from diskret.outputs.profile import Profile

_PAIRS = 10_000  # of samples, one within the other
_ENTRIES = 10**8  # samples times atoms


def unsafe_deviation(
    statements: Statements,
    values: NDArray[np.float64],
    sizes: Sequence[int],
    old: NDArray[np.bool_],
    profile: Profile,
) -> Difference:
    """Two samples, one old and one new, that tell of what lies between them who deviates most.

    Parameters
    ----------
    statements
        The cells whose deviations were published.
    values
        Shape (records,): what they are of, NaN where there is none.
    sizes
        How many cells each part has; all its cells together are a sample, too.
    old
        Shape (cells,): those that left before.
    profile
        The institution's rules; asked is p% of squares.
    """
    begins = np.cumsum([0, *sizes])[:-1]
    if statements.cells.shape[0] * statements.cells.shape[1] > _ENTRIES:
        return Difference(unresolved=True)
    cells = statements.cells.toarray() > 0
    samples = np.vstack([cells, np.maximum.reduceat(cells, begins, axis=0)])
    first = np.r_[np.arange(len(cells)), begins]  # the cell that a sample is called by
    number = samples.sum(axis=1)
    early, late = np.flatnonzero(old[first]), np.flatnonzero(~old[first])
    both = samples[early].astype(np.float64) @ samples[late].T.astype(np.float64)
    least = np.minimum(number[early][:, None], number[late])
    inside = (both == least) & (number[early][:, None] != number[late]) & (least > 0)
    pairs = np.argwhere(inside)
    for one, other in pairs[:_PAIRS]:
        rows = early[one], late[other]
        between = np.append(samples[rows[0]] != samples[rows[1]], False)  # -1: in no atom
        at = np.where(between[statements.atom] & ~np.isnan(values), 0, -1).astype(np.int32)
        rest = Cells((("",),), at, values, statements.unit.astype(np.int32))
        if estimated(deviations(rest), profile, squares=True)[0]:
            found = tuple(int(first[row]) for row in rows)
            return Difference(int(rest.units[0]), found)
    return Difference(unresolved=len(pairs) > _PAIRS)
