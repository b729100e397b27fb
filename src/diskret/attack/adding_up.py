"""Whether the values of a published table add up."""

from __future__ import annotations

import numpy as np

from diskret.tables import Published


def broken_sums(published: Published) -> int:
    """Number of equations total = parts that the published values do not satisfy.

    Equations with a cell that is published without a value are left out.

    Parameters
    ----------
    published
        The table.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> value, no = np.array([9, 3, 3]), np.zeros(3, dtype=bool)
    >>> broken_sums(Published("t", (region,), "count", True, 0, value, no, no))
    1
    """
    broken = 0
    for axis, dimension in enumerate(published.dimensions):
        value = np.moveaxis(published.value, axis, 0)
        hidden = np.moveaxis(published.suppressed, axis, 0)
        for total, parts in enumerate(dimension.hierarchy.children):
            if len(parts):
                known = ~(hidden[total] | hidden[parts].any(axis=0))
                broken += int((known & (value[total] != value[parts].sum(axis=0))).sum())
    return broken
