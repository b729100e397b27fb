"""What protection did to the structure of a table: order, association, additivity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.utility.deviations import NAN
from diskret.utility.pairs import Pair

_TENTHS = 10


@dataclass(frozen=True)
class Ranks:
    """The order of the cells whose original value is not 0, before and after.

    Parameters
    ----------
    correlation
        Spearman's rank correlation, ties with their mean rank; NaN where all values are equal.
    moved
        Share of cells that are in another tenth of the order than before, however equal values
        are ordered.
    """

    correlation: float
    moved: float


def ranks(original: NDArray[np.int64], protected: NDArray[np.int64]) -> Ranks:
    """Compare the order of cells, ``(cells,)``, before and after."""
    there = original != 0
    if not there.any():
        return Ranks(NAN, NAN)
    first, last = _places(original[there])
    first_after, last_after = _places(protected[there])
    elsewhere = (_tenth(last_after) < _tenth(first)) | (_tenth(first_after) > _tenth(last))
    return Ranks(
        correlation=_correlation(first + last, first_after + last_after),
        moved=float(np.mean(elsewhere)),
    )


def _places(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last place, from 0 on, that each value and those equal to it take in the order."""
    _, at, number = np.unique(values, return_inverse=True, return_counts=True)
    behind = np.cumsum(number)
    return (behind - number)[at], (behind - 1)[at]


def _tenth(place: NDArray[np.int64]) -> NDArray[np.int64]:
    return place * _TENTHS // len(place)


def _correlation(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Of mean ranks, here doubled, so that they are whole."""
    one, other = before - before.mean(), after - after.mean()
    scale = np.sqrt(np.sum(one**2) * np.sum(other**2))
    return float(np.sum(one * other) / scale) if scale else NAN


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

    `cells`: counts, ``(rows, columns)``; margins are computed from them. Returns from 0 to 1; NaN
    for fewer than two rows or columns, or negative counts.
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

    `cells`: counts, ``(rows, columns)``, without margins. Returns NaN for fewer than two rows, or
    negative counts.
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


@dataclass(frozen=True)
class Additivity:
    """Defects of the equations total = sum of parts, in the measure's own unit.

    Parameters
    ----------
    equations
        How many there are between cells that are all published with a value.
    broken
        How many of them do not hold.
    mean, largest
        Mean, over all equations, and largest of |total − sum of parts|.
    """

    equations: int
    broken: int
    mean: float
    largest: float


def additivity(pairs: Iterable[Pair]) -> Additivity:
    """The additivity defect of what is published.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension, Table
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> table = Table((region,), count=np.array([13, 8, 5]))
    >>> shown = np.ones(3, dtype=bool)
    >>> additivity([Pair(table, np.array([12, 9, 6]), shown)])
    Additivity(equations=1, broken=1, mean=3.0, largest=3.0)
    """
    equations = broken = largest = 0
    total, decimals = 0.0, 0
    for pair in pairs:
        decimals = pair.table.measure.decimals
        for axis, dimension in enumerate(pair.table.dimensions):
            values = np.moveaxis(pair.protected, axis, 0)
            shown = np.moveaxis(pair.shown, axis, 0)
            for code, children in enumerate(dimension.hierarchy.children):
                if len(children):
                    defect = _defect(values, shown, code, children)
                    equations += defect.size
                    broken += int(np.count_nonzero(defect))
                    total += float(defect.sum(dtype=np.float64))
                    largest = max(largest, int(defect.max(initial=0)))
    mean = total / equations / 10**decimals if equations else NAN
    return Additivity(equations, broken, mean, largest / 10**decimals)


def _defect(
    values: NDArray[np.int64], shown: NDArray[np.bool_], code: int, children: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Defects of one total's equations, of those whose cells are all shown."""
    complete = shown[code] & shown[children].all(axis=0)
    return np.abs(values[code] - values[children].sum(axis=0))[complete]
