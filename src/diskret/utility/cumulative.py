"""How many cells deviate by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.utility.deviations import NAN

#: Up to this largest deviation of counts each deviation has a row of its own.
ONE_BY_ONE = 20

_LARGEST_POWER = 18


@dataclass(frozen=True, eq=False)
class DeviationTable:
    """How many cells deviate by how much, for each number of variables: SAFE's second table.

    Only cells whose original value is not 0, as there.

    Parameters
    ----------
    bound
        Largest deviation of each row in the measure's own unit, ``(r,)``, float64. A row holds
        the cells that deviate by more than the row before and at most by this.
    dimension
        Number of variables that are not at their total, one a column, ``(c,)``, int64.
    cells
        Number of cells, ``(r, c)``, int64.
    """

    bound: NDArray[np.float64]
    dimension: NDArray[np.int64]
    cells: NDArray[np.int64]

    @property
    def totals(self) -> NDArray[np.int64]:
        """Number of cells of each column, ``(c,)``."""
        return self.cells.sum(axis=0)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the cells of each column that deviate at most by each bound, ``(r, c)``."""
        return np.cumsum(self.cells, axis=0) / self.totals

    @property
    def all_shares(self) -> NDArray[np.float64]:
        """The same for all columns together, ``(r,)``."""
        together = self.cells.sum(axis=1)
        total = int(together.sum())
        return np.cumsum(together) / total if total else np.full(len(together), NAN)


def deviation_table(
    dimension: NDArray[np.int64],
    original: NDArray[np.int64],
    protected: NDArray[np.int64],
    decimals: int = 0,
) -> DeviationTable:
    """Cells by deviation and number of variables.

    Parameters
    ----------
    dimension
        Number of variables of each cell that are not at their total, ``(cells,)``, int64.
    original, protected, decimals
        As for `diskret.utility.deviations.deviations`.

    Notes
    -----
    Höhne, *SAFE – a method for anonymising the German Census* (UNECE work session, Tarragona).
    Counts that deviate by no more than 20 have a row for each deviation; else rows go up by 1,
    2, 5, 10, 20, 50, …

    Examples
    --------
    >>> two = deviation_table(np.array([1, 1, 2]), np.array([4, 6, 9]), np.array([5, 6, 7]))
    >>> two.bound.tolist(), two.cells.tolist(), two.shares.tolist()
    ([0.0, 1.0, 2.0], [[1, 0], [1, 0], [0, 1]], [[0.5, 0.0], [1.0, 0.0], [1.0, 1.0]])
    """
    there = original != 0
    size = np.abs(protected[there] - original[there])
    group = dimension[there]
    bounds = _bounds(int(size.max(initial=0)), decimals)
    row = np.searchsorted(bounds, size, side="left")
    columns = int(group.max(initial=-1)) + 1
    cells = np.bincount(row * columns + group, minlength=len(bounds) * columns)
    cells = cells.reshape(len(bounds), columns)
    some = np.flatnonzero(cells.any(axis=0))
    return DeviationTable(bounds / 10.0**decimals, some.astype(np.int64), cells[:, some])


def _bounds(largest: int, decimals: int) -> NDArray[np.int64]:
    """Largest deviations of the rows in scaled units, the last of them at least `largest`."""
    if not decimals and largest <= ONE_BY_ONE:
        return np.arange(largest + 1, dtype=np.int64)
    steps = [0, *(digit * 10**power for power in range(_LARGEST_POWER) for digit in (1, 2, 5))]
    enough = next(i for i, step in enumerate(steps) if step >= largest)
    return np.array(steps[: enough + 1], dtype=np.int64)
