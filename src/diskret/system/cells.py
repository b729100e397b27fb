"""What a cell is, whatever table it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from diskret.population import EVERYBODY, Condition, Population
from diskret.tables import Dimension


@dataclass(frozen=True)
class Cell:
    """The definition of a cell. Two cells with the same definition are one.

    Parameters
    ----------
    measure
        What is measured, e.g. ``"turnover"``.
    vintage
        Period and revision the value belongs to, e.g. ``"2025"``; empty if not stated.
    at
        The (variable, code) pairs that select its units, sorted; the total of a variable
        selects everything and is left out, so a cell of a region × size table at total
        size is the same cell as in the table by region alone. A filter for one code of a
        variable that the table is not broken down by selects as the code does.
    where
        What else a filter asks of the records.

    Examples
    --------
    >>> Cell("turnover", "2025", (("region", "N"),))
    Cell(measure='turnover', vintage='2025', at=(('region', 'N'),), where=Population(conditions=()))
    """

    measure: str
    vintage: str
    at: tuple[tuple[str, str], ...]
    where: Population = EVERYBODY

    def __str__(self) -> str:
        selected = ", ".join(f"{name}={code}" for name, code in self.at) or "total"
        return f"{self.measure}[{selected}{'; ' if self.where else ''}{self.where}]"


@dataclass(frozen=True)
class CellSum:
    """The sum of some cells, without others.

    Examples
    --------
    >>> one, other = Cell("n", "", (("region", "N"),)), Cell("n", "", (("region", "S"),))
    >>> str(CellSum((one, other)))
    'n[region=N] + n[region=S]'
    >>> str(CellSum((one,), (other,)))
    'n[region=N] - n[region=S]'
    """

    cells: tuple[Cell | CellSum, ...]
    without: tuple[Cell | CellSum, ...] = ()

    def __str__(self) -> str:
        return " - ".join([" + ".join(map(str, self.cells)), *map(str, self.without)])


class RectangularCells(Sequence[Cell]):
    """The cells of one rectangular table in C order, made when asked for."""

    def __init__(
        self,
        measure: str,
        vintage: str,
        dimensions: tuple[Dimension, ...],
        where: Population = EVERYBODY,
    ):
        self.measure = measure
        self.vintage = vintage
        self.dimensions = dimensions
        self.where = where
        self.shape = tuple(len(d) for d in dimensions)

    def __len__(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def __getitem__(self, index):  # type: ignore[override]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return _cell(self, int(index))


@lru_cache(maxsize=4096)
def _cell(cells: RectangularCells, index: int) -> Cell:
    names = {dimension.name for dimension in cells.dimensions}
    at: list[tuple[str, str]] = []
    further: list[tuple[str, Condition]] = []
    for name, wanted in cells.where:
        if isinstance(wanted, tuple) and len(wanted) == 1 and name not in names:
            at.append((name, wanted[0]))
        else:
            further.append((name, wanted))
    for dimension, i in zip(cells.dimensions, np.unravel_index(index, cells.shape), strict=True):
        if i > 0:
            at.append((dimension.name, dimension.hierarchy.codes[int(i)]))
    return Cell(cells.measure, cells.vintage, tuple(sorted(at)), Population(tuple(further)))
