"""The linear equations between the cells of a publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.system.cells import Cell, CellSum, RectangularCells
from diskret.tables import Dimension, Table


@dataclass(frozen=True, eq=False)
class System:
    """Cells with their original values and every equation between them.

    Parameters
    ----------
    cells
        The definition of each cell, length ``n``.
    value
        Original values in scaled integers, shape ``(n,)``, int64.
    equations
        One row for each equation ``total − parts = 0``, shape ``(m, n)``, int8 CSR with
        entries 1 and −1; ``equations @ value`` is zero.
    tables
        The variables of each table, whose cells come one table after the other; behind them
        unpublished cells.
    lowest
        What unpublished cells, the last of all, cannot be less than: 0 or −inf, float64.
    """

    cells: Sequence[Cell | CellSum]
    value: NDArray[np.int64]
    equations: sparse.csr_array
    tables: tuple[tuple[Dimension, ...], ...] = ()
    lowest: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_table(cls, table: Table) -> System:
        """The system of one rectangular table; cells in C order of its codes."""
        measure = table.measure
        return cls(
            cells=RectangularCells(measure.name, table.vintage, table.dimensions, table.where),
            value=measure.sum.ravel(),
            equations=rectangular_equations(table.dimensions),
            tables=(table.dimensions,),
        )


def rectangular_equations(dimensions: tuple[Dimension, ...]) -> sparse.csr_array:
    """Total = parts, for each dimension and each combination of the others' codes."""
    shape = tuple(len(d) for d in dimensions)
    n = int(np.prod(shape, dtype=np.int64))
    flat = np.arange(n, dtype=np.int32).reshape(shape)
    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int32]] = []
    signs: list[NDArray[np.int8]] = []
    m = 0
    for axis, dimension in enumerate(dimensions):
        moved = np.moveaxis(flat, axis, 0).reshape(len(dimension), -1)
        others = moved.shape[1]
        for parent, children in enumerate(dimension.hierarchy.children):
            if len(children) == 0:
                continue
            members = np.concatenate(([parent], children))
            rows.append(np.repeat(np.arange(m, m + others), len(members)))
            columns.append(moved[members].T.ravel())
            signs.append(np.tile(np.r_[1, -np.ones(len(children))].astype(np.int8), others))
            m += others
    if m == 0:
        return sparse.csr_array((0, n), dtype=np.int8)
    entries = np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array(entries, shape=(m, n))
