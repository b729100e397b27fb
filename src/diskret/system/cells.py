"""What a cell is, whatever table it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

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
        size is the same cell as in the table by region alone.

    Examples
    --------
    >>> Cell("turnover", "2025", (("region", "N"),))
    Cell(measure='turnover', vintage='2025', at=(('region', 'N'),))
    """

    measure: str
    vintage: str
    at: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        where = ", ".join(f"{name}={code}" for name, code in self.at) or "total"
        return f"{self.measure}[{where}]"


class RectangularCells(Sequence[Cell]):
    """The cells of one rectangular table in C order, made when asked for."""

    def __init__(self, measure: str, vintage: str, dimensions: tuple[Dimension, ...]):
        self.measure = measure
        self.vintage = vintage
        self.dimensions = dimensions
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
    at = []
    for dimension, i in zip(cells.dimensions, np.unravel_index(index, cells.shape), strict=True):
        if i > 0:
            at.append((dimension.name, dimension.hierarchy.codes[int(i)]))
    return Cell(cells.measure, cells.vintage, tuple(sorted(at)))
