"""Groups that hang together, among which a pattern can be improved on its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.suppression.nearby import entries


def neighbours(
    equations: sparse.csr_array,
    by_group: sparse.csc_array,
    centre: int,
    candidate: NDArray[np.bool_],
    size: int,
) -> NDArray[np.bool_]:
    """Candidates near a group: those of its equations, of their groups' equations, and so on.

    Parameters
    ----------
    equations, by_group
        The equations between groups, by row and by column, ``(m, g)``.
    centre
        The group to begin with.
    candidate
        The groups that count, bool, ``(g,)``.
    size
        The last equation is the one that makes it at least so many.

    Returns
    -------
    numpy.ndarray
        Bool, ``(g,)``.

    Examples
    --------
    Two equations with a group in common; the first has enough groups.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> equations = sparse.csr_array(np.array([[1, -1, -1, 0, 0], [0, 0, 1, -1, -1]]))
    >>> everybody = np.ones(5, dtype=bool)
    >>> neighbours(equations, sparse.csc_array(equations), 0, everybody, 3).tolist()
    [True, True, True, False, False]
    """
    inside = np.zeros(equations.shape[1], dtype=bool)
    inside[centre] = True
    seen = np.zeros(equations.shape[0], dtype=bool)
    newest = np.array([centre])
    while len(newest):
        rows = np.unique(by_group.indices[entries(by_group.indptr, newest)[0]])
        rows = rows[~seen[rows]].astype(np.int64)
        seen[rows] = True
        before = inside.copy()
        for row in rows.tolist():
            inside[equations.indices[equations.indptr[row] : equations.indptr[row + 1]]] = True
            if np.count_nonzero(inside & candidate) >= size:
                return inside & candidate
        newest = np.flatnonzero(inside & ~before)
    return inside & candidate
