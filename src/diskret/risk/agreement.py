"""Who agrees with whom where values are missing: a missing value may stand for any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.risk.keys import classes


def agreeing(
    mine: NDArray[np.int32],
    theirs: NDArray[np.int32],
    sizes: Sequence[int],
    values: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add up, for each row, the values of the rows that agree with it in every variable.

    Two rows agree in a variable where their codes are equal or at least one is missing. Rows
    that show the same variables are looked at together: between such a set and another, rows
    agree if they agree in the variables that both show, which is one grouping. With m variables
    that are at most 3^m groupings, and only for patterns that occur.

    Parameters
    ----------
    mine
        Codes of the rows asked about, -1 where missing, ``(a, m)``.
    theirs
        Codes of the rows that may agree, ``(b, m)``.
    sizes
        Number of codes of each variable.
    values
        What to add up, ``(v, b)``.

    Returns
    -------
    tuple of numpy.ndarray
        Sums over the rows that agree without any missing value, and over those that agree only
        because a value is missing, each ``(v, a)``.

    Examples
    --------
    >>> rows = np.array([[0, 1], [0, -1], [1, 1]], np.int32)
    >>> whole, through = agreeing(rows, rows, [2, 2], np.ones((1, 3)))
    >>> whole.tolist(), through.tolist()
    ([[1.0, 0.0, 1.0]], [[1.0, 2.0, 0.0]])
    """
    whole = np.zeros((len(values), len(mine)))
    through = np.zeros((len(values), len(mine)))
    shown_there, rows_there = _patterns(theirs)
    for shown, rows in zip(*_patterns(mine), strict=True):
        for both, alike in _shared(shown_there, shown):
            others = np.concatenate(
                [there for there, one in zip(rows_there, alike, strict=True) if one]
            )
            found = _sums(mine[rows][:, both], theirs[others][:, both], sizes, both, values, others)
            # all variables shared: the rows of both sides are complete
            (whole if both.all() else through)[:, rows] += found
    return whole, through


def _patterns(codes: NDArray[np.int32]) -> tuple[NDArray[np.bool_], list[NDArray[np.intp]]]:
    """Which variables are shown: each pattern that occurs, and its rows."""
    shown = (codes >= 0).astype(np.int32)
    found = classes(list(shown.T), [2] * shown.shape[1])
    rows = np.split(np.argsort(found.of, kind="stable"), np.cumsum(found.count)[:-1])
    return found.codes > 0, rows


def _shared(
    patterns: NDArray[np.bool_], shown: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """The patterns put together by the variables that they share with one: which, and where."""
    both = (patterns & shown).astype(np.int32)
    found = classes(list(both.T), [2] * both.shape[1])
    for i, shared in enumerate(found.codes > 0):
        yield shared, found.of == i


def _sums(
    mine: NDArray[np.int32],
    theirs: NDArray[np.int32],
    sizes: Sequence[int],
    both: NDArray[np.bool_],
    values: NDArray[np.float64],
    others: NDArray[np.intp],
) -> NDArray[np.float64]:
    """For each of mine the sums over theirs with equal codes, ``(v, a)``."""
    if not both.any():
        total: NDArray[np.float64] = values[:, others].sum(axis=1, keepdims=True)
        return np.repeat(total, len(mine), axis=1)
    columns = list(np.concatenate([mine, theirs]).T)
    found = classes(columns, [sizes[j] for j in np.flatnonzero(both).tolist()])
    place, there = found.of[: len(mine)], found.of[len(mine) :]
    made = np.empty((len(values), len(mine)))
    for i, row in enumerate(values):
        sums = np.bincount(there, weights=row[others], minlength=len(found.count))
        made[i] = sums[place]
    return made
