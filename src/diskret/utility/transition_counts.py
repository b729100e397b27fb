"""What became of cells of each size: the transition matrix of a file, as it was observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """How many cells with a count of i have a count of j afterwards.

    Parameters
    ----------
    cut
        Counts from it on are one category, the last.
    cells
        Number of cells, ``(cut + 1, cut + 1)``, int64: rows before, columns after. Cells that
        are empty in both files are not known, so the first entry is 0.
    bias, variance
        For each row the mean of the deviations with their sign, and their mean squared distance
        from it, ``(cut + 1,)``; NaN without cells.
    """

    cut: int
    cells: NDArray[np.int64]
    bias: NDArray[np.float64]
    variance: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the cells of each row in each column; NaN without cells."""
        with np.errstate(invalid="ignore"):
            return self.cells / self.cells.sum(axis=1, keepdims=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """Counts of the rows and columns, the last with a plus."""
        return (*map(str, range(self.cut)), f"{self.cut}+")


def transition_counts(
    original: NDArray[np.int64], protected: NDArray[np.int64], cut: int = 10
) -> TransitionCounts:
    """Count what became of cells.

    Parameters
    ----------
    original, protected
        Counts before and after, ``(cells,)``, int64.
    cut
        Counts from it on are one category; at least 1.

    Notes
    -----
    Giessing and Höhne (2011), "Eliminating small cells from census counts tables", SORT special
    issue: what a method does is seen by its empirical transition probabilities.

    Examples
    --------
    >>> found = transition_counts(np.array([1, 1, 2, 9]), np.array([0, 3, 3, 8]), cut=4)
    >>> found.cells.tolist()[1], found.bias.tolist()[1], found.variance.tolist()[1]
    ([1, 0, 0, 1, 0], 0.5, 2.25)
    """
    rows = cut + 1
    row, column = np.minimum(original, cut), np.minimum(protected, cut)
    cells = np.bincount(row * rows + column, minlength=rows * rows).reshape(rows, rows)
    deviation = (protected - original).astype(np.float64)
    number = cells.sum(axis=1)
    with np.errstate(invalid="ignore"):
        bias = np.bincount(row, deviation, minlength=rows) / number
        apart = (deviation - bias[row]) ** 2
        variance = np.bincount(row, apart, minlength=rows) / number
    return TransitionCounts(cut, cells.astype(np.int64), bias, variance)
