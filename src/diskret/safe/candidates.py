"""The combinations that a safe file of a small problem may have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.safe.cells import Cells
from diskret.safe.problem import SafeProblem

#: More new combinations are not written down.
_MOST = 5_000


def candidates(problem: SafeProblem, known: Cells) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Combinations that may occur, in ascending order, and how often they occur now.

    New ones, where the problem allows them, have no two values that never occur together, and
    fall into no controlled cell that is empty.

    Raises
    ------
    InputError
        There are too many.

    Examples
    --------
    >>> from diskret.safe import ControlTable
    >>> from diskret.safe.cells import cells
    >>> codes = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]], dtype=np.int32)
    >>> names, one = ("region", "age", "sex"), np.ones(3, dtype=np.int64)
    >>> problem = SafeProblem(names, codes, one, (2, 2, 2), (ControlTable((0,)),), new=True)
    >>> rows, before = candidates(problem, cells(problem))
    >>> rows.tolist(), before.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1]], [1, 0, 1, 1])
    """
    if not problem.new:
        return problem.codes, problem.count
    found = np.zeros((1, 0), dtype=np.int32)
    for v in range(len(problem.names)):
        values = np.unique(problem.codes[:, v])
        found = np.column_stack(
            [np.repeat(found, len(values), axis=0), np.tile(values, len(found))]
        ).astype(np.int32)
        for w in range(v):
            together = np.zeros((problem.sizes[w], problem.sizes[v]), dtype=np.bool_)
            together[problem.codes[:, w], problem.codes[:, v]] = True
            found = found[together[found[:, w], found[:, v]]]
        if len(found) > _MOST + len(problem.codes):
            raise InputError(
                f"more than {_MOST:,} new combinations may come up, too many to write down; take "
                'method="search", or allow no new ones'
            )
    index, amount = known.index(found), known.counted(found)[:, known.unit]
    empty = (index < 0) | (known.original[index] == 0)
    found = found[~(empty & (amount > 0)).any(axis=1)]
    rows, place, before = _joined(problem, found)
    before[place] = problem.count
    return rows, before


def _joined(
    problem: SafeProblem, found: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """All combinations once, and where those of the problem are."""
    every = np.concatenate([problem.codes, found])
    rows, place = np.unique(every, axis=0, return_inverse=True)
    return rows, place.ravel()[: len(problem.codes)], np.zeros(len(rows), dtype=np.int64)
