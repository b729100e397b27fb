"""Many short rows times a small matrix, without threads that wait for each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

#: Multiplications from which on libraries of linear algebra divide a product among threads, less
#: a margin. For short rows that costs up to twenty times what it saves.
_ALONE = 2**17


def product(rows: Numbers, matrix: Numbers, center: Numbers | None = None) -> Numbers:
    """``(rows - center) @ matrix``, a piece at a time.

    Parameters
    ----------
    rows
        ``(n, p)``, p much smaller than n.
    matrix
        ``(p, r)``.
    center
        ``(p,)``; None: 0.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [10.0]])).tolist()
    [[21.0], [43.0]]
    """
    made = np.empty((len(rows), matrix.shape[1]))
    size = max(64, _ALONE // max(matrix.size, 16))
    for start in range(0, len(rows), size):
        at = slice(start, start + size)
        np.matmul(rows[at] if center is None else rows[at] - center, matrix, out=made[at])
    return made


def squared_lengths(rows: Numbers) -> Numbers:
    """Sum of squares of each row, ``(n,)``."""
    return np.einsum("ij,ij->i", rows, rows)
