"""Who agrees with whom where values are missing: a missing value may stand for any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    there = [_Rows(shown, theirs[rows].T, values[:, rows]) for shown, rows in _patterns(theirs)]
    for shown, rows in _patterns(mine):
        own = mine[rows].T
        found = np.zeros((2, len(values), len(rows)))
        for both, others in _shared(there, shown):
            # all variables shared: the rows of both sides are complete
            found[0 if both.all() else 1] += _sums(own[both], others, sizes, both)
        whole[:, rows], through[:, rows] = found
    return whole, through


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that show the same variables: which ``(m,)``, codes ``(m, r)``, values ``(v, r)``."""

    shown: NDArray[np.bool_]
    codes: NDArray[np.int32]
    values: NDArray[np.float64]


def _patterns(codes: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.intp]]]:
    """Which variables are shown: each pattern that occurs, and its rows."""
    shown = (codes >= 0).astype(np.int32)
    found = classes(list(shown.T), [2] * shown.shape[1])
    rows = np.split(np.argsort(found.of, kind="stable"), np.cumsum(found.count)[:-1])
    yield from zip(found.codes > 0, rows, strict=True)


def _shared(
    there: Sequence[_Rows], shown: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.bool_], list[_Rows]]]:
    """Put patterns together by the variables that they share with one of them."""
    found: dict[bytes, list[_Rows]] = {}
    for rows in there:
        found.setdefault((rows.shown & shown).tobytes(), []).append(rows)
    for shared, rows in found.items():
        yield np.frombuffer(shared, dtype=np.bool_), rows


def _sums(
    own: NDArray[np.int32],
    others: Sequence[_Rows],
    sizes: Sequence[int],
    both: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """For each row the sums over others with equal codes in the variables of both, ``(v, a)``."""
    values = np.concatenate([rows.values for rows in others], axis=1)
    made = np.empty((len(values), own.shape[1]))
    if not both.any():
        made[:] = values.sum(axis=1, keepdims=True)
        return made
    columns = np.concatenate([own, *(rows.codes[both] for rows in others)], axis=1)
    of = classes(list(columns), [sizes[j] for j in np.flatnonzero(both).tolist()]).of
    mine, theirs = of[: own.shape[1]], of[own.shape[1] :]
    groups = int(of.max()) + 1
    for i, row in enumerate(values):
        sums = np.bincount(theirs, weights=row, minlength=groups)
        made[i] = sums[mine]
    return made
