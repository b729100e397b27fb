"""What is left of the association of two variables: Cramér's V and shares between groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.utility.deviations import NAN
from diskret.utility.pairs import Pair


@dataclass(frozen=True)
class Association:
    """Two variables of one table, all others at their total.

    Figures are those of the finest codes; NaN where they do not exist, e.g. because one of the
    cells is withheld.

    Parameters
    ----------
    table
        Number of the table, from 1 on.
    first, second
        The variables.
    original, protected
        Cramér's V before and after, from 0 (independent) to 1.
    between_first
        How much the shares of the second variable's categories differ between the first one's:
        the between variance after, divided by that before.
    between_second
        The same for shares of the first variable's categories between the second one's.
    """

    table: int
    first: str
    second: str
    original: float
    protected: float
    between_first: float
    between_second: float

    @property
    def change(self) -> float:
        """Relative change of Cramér's V; −0.05: 5 % smaller."""
        return (self.protected - self.original) / self.original if self.original else NAN


def associations(pairs: Iterable[Pair]) -> tuple[Association, ...]:
    """Every pair of variables of frequency tables; for sums there is none."""
    return tuple(
        found
        for number, pair in enumerate(pairs, start=1)
        if pair.table.frequency
        for found in _of_table(number, pair)
    )


def cramers_v(cells: NDArray[np.int64]) -> float:
    """Cramér's V of a table of counts without its margins.

    √(χ² / (n · min(r − 1, c − 1))), with r rows and c columns that hold anything.

    Parameters
    ----------
    cells
        Counts, ``(rows, columns)``; margins are computed from them.

    Returns
    -------
    float
        From 0 to 1; NaN for fewer than two rows or columns, or negative counts.

    Examples
    --------
    >>> cramers_v(np.array([[10, 0], [0, 5]])), cramers_v(np.array([[10, 20], [5, 10]]))
    (1.0, 0.0)
    """
    cells = _held(cells)
    degrees = min(cells.shape) - 1
    if degrees < 1:
        return NAN
    number = cells.sum()
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0) / number)
    return float(np.sqrt(np.sum((cells - expected) ** 2 / expected) / (number * degrees)))


def between_variance(cells: NDArray[np.int64]) -> float:
    """Variance of the columns' shares between rows, Σ n_g (p_g − p)² / (k − 1), all columns summed.

    Parameters
    ----------
    cells
        Counts, ``(rows, columns)``, without margins.

    Returns
    -------
    float
        NaN for fewer than two rows, or negative counts.

    Examples
    --------
    >>> between_variance(np.array([[5, 5], [0, 10]]))
    2.5
    """
    cells = _held(cells)
    if len(cells) < 2:
        return NAN
    size = cells.sum(axis=1, keepdims=True)
    differing = cells / size - cells.sum(axis=0) / cells.sum()
    return float(np.sum(size * differing**2) / (len(cells) - 1))


def _of_table(number: int, pair: Pair) -> Iterator[Association]:
    for first, second in combinations(range(pair.axes), 2):
        before = _inner(pair, first, second, pair.original)
        after = _inner(pair, first, second, pair.protected)
        whole = bool(_inner(pair, first, second, pair.shown).all())
        names = (pair.table.dimensions[axis].name for axis in (first, second))
        yield Association(
            number,
            *names,
            original=cramers_v(before),
            protected=cramers_v(after) if whole else NAN,
            between_first=_ratio(before, after) if whole else NAN,
            between_second=_ratio(before.T, after.T) if whole else NAN,
        )


def _inner(pair: Pair, first: int, second: int, array: NDArray[Any]) -> NDArray[Any]:
    """Cells of the finest codes of two variables, the others at their total."""
    at = tuple(slice(None) if axis in (first, second) else 0 for axis in range(pair.axes))
    trees = [pair.table.dimensions[axis].hierarchy for axis in (first, second)]
    return array[at][np.ix_(*(tree.leaves for tree in trees))]


def _held(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows and columns that hold anything; none if a count is negative."""
    if (cells < 0).any():
        return cells[:0, :0]
    return cells[np.ix_(cells.any(axis=1), cells.any(axis=0))]


def _ratio(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    original = between_variance(before)
    return between_variance(after) / original if original else NAN
