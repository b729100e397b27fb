"""Which tables have given margins and a given chi-square statistic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

_MOST = 300_000  # tables that are begun at a time
_WORK = 10 * _MOST  # cells of these


def tables_like(
    counts: Counts, fits: Callable[[NDArray[np.float64]], NDArray[np.bool_]], tolerance: float
) -> Counts | None:
    """All tables of whole numbers with the margins of a table and a statistic that fits.

    Rows are chosen one after the other. What the rows that are left have of the statistic is at
    least what it is if they all have the same shares, which leaves most beginnings out.

    Parameters
    ----------
    counts
        Shape (rows, columns), none empty.
    fits
        Statistics → which of them may be the one that was shown.
    tolerance
        How far beyond the statistic of `counts` a statistic that fits may be.

    Returns
    -------
    Shape (tables, rows, columns); None: there are too many to try.

    Examples
    --------
    >>> counts = np.array([[3, 1, 2], [2, 4, 1]])
    >>> shown = chi_square(counts[None])[0]
    >>> tables_like(counts, lambda found: np.isclose(found, shown), 1e-6).tolist()
    [[[1, 3, 2], [4, 2, 1]], [[3, 1, 2], [2, 4, 1]]]
    """
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    if len(rows) > len(columns):
        found = tables_like(counts.T, fits, tolerance)
        return None if found is None else found.transpose(0, 2, 1)
    whole = int(counts.sum())
    most = (float(chi_square(counts[None])[0]) + tolerance) / whole + 1 + 1e-9
    chosen = np.zeros((1, 0, len(columns)), np.int64)
    left, squares = columns[None].copy(), np.zeros(1)
    for at, total in enumerate(rows[:-1]):
        made = _rows(left, int(total))
        if made is None:
            return None
        before, own = made
        left = left[before] - own
        squares = squares[before] + (own**2 / (total * columns)).sum(axis=1)
        least = (left**2 / columns).sum(axis=1) / rows[at + 1 :].sum()
        good = squares + least <= most
        chosen = np.concatenate([chosen[before[good]], own[good, None]], axis=1)
        left, squares = left[good], squares[good]
    tables = np.concatenate([chosen, left[:, None]], axis=1)
    return tables[fits(chi_square(tables))]


def chi_square(tables: Counts) -> NDArray[np.float64]:
    """Shape (tables,): the statistic of each, without any correction."""
    rows, columns = tables.sum(axis=2)[:, :, None], tables.sum(axis=1)[:, None]
    shares = (tables**2 / (rows * columns)).sum(axis=(1, 2))
    return tables.sum(axis=(1, 2)) * (shares - 1)


def _rows(left: Counts, total: int) -> tuple[NDArray[np.intp], Counts] | None:
    """All rows that what is left of the columns allows: of which beginning, and their cells."""
    before = np.arange(len(left))
    own = np.zeros((len(left), 0), np.int64)
    rest = np.full(len(left), total)
    for at in range(left.shape[1] - 1):
        room = left[before][:, at + 1 :].sum(axis=1)
        low = np.maximum(rest - room, 0)
        number = np.minimum(left[before, at], rest) - low + 1
        if int(number.sum()) > _MOST or int(number.sum()) * (at + 2) > _WORK:
            return None
        again = np.repeat(np.arange(len(before)), number)
        offset = np.arange(len(again)) - np.repeat(np.cumsum(number) - number, number)
        value = low[again] + offset
        before, rest = before[again], rest[again] - value
        own = np.concatenate([own[again], value[:, None]], axis=1)
    return before, np.concatenate([own, rest[:, None]], axis=1)
