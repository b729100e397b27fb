"""What a cell is, whatever table it stands in, and the linear equations between cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.population import EVERYBODY, Condition, Population
from diskret.tables import Dimension, Table


@dataclass(frozen=True)
class Cell:
    """The definition of a cell. Two cells with the same definition are one.

    `measure`: what is measured, e.g. ``"turnover"``.
    `vintage`: period and revision the value belongs to, e.g. ``"2025"``; empty if not stated.
    `at`: the (variable, code) pairs that select its units, sorted; the total of a variable selects
        everything and is left out, so a cell of a region × size table at total size is the same
        cell as in the table by region alone. A filter for one code of a variable that the table is
        not broken down by selects as the code does.
    `where`: what else a filter asks of the records.

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


@dataclass(frozen=True, eq=False)
class System:
    """Cells with their original values and every equation between them.

    `cells`: the definition of each cell, length ``n``.
    `value`: original values in scaled integers, shape ``(n,)``, int64.
    `equations`: one row for each equation ``total − parts = 0``, shape ``(m, n)``, int8 CSR with
        entries 1 and −1; ``equations @ value`` is zero.
    `tables`: the variables of each table, whose cells come one table after the other; behind them
        unpublished cells.
    `lowest`: what unpublished cells, the last of all, cannot be less than: 0 or −inf, float64.
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


# ── sums of cells as cells of their own, which nobody publishes ─────────────────────


def with_sums(system: System, member: sparse.csr_array, signed: bool | NDArray[np.bool_]) -> System:
    """The same system with a further unpublished cell for each sum, behind all others.

    `member`: A row for each sum, columns as the first cells of the system, entries 1, or -1 for
    what is taken away. `signed`: whether sums may be negative, or which ones,
    ``(s,)``.

    >>> from diskret.tables import Dimension, Table
    >>> from diskret.hierarchy import Hierarchy
    >>> region = Dimension("region", Hierarchy.flat(["N", "S", "W"]))
    >>> system = System.of_table(Table((region,), np.array([9, 2, 3, 4])))
    >>> two = sparse.csr_array(np.array([[0, 1, 1, 0]]))
    >>> larger = with_sums(system, two, signed=False)
    >>> larger.value.tolist(), larger.equations.toarray()[-1].tolist()
    ([9, 2, 3, 4, 5], [0, -1, -1, 0, 1])
    >>> str(larger.cells[4])
    'count[region=N] + count[region=S]'
    """
    number, n = member.shape[0], len(system.value)
    own = sparse.csr_array((-member.data, member.indices, member.indptr), shape=(number, n))
    equations = sparse.block_array(
        [[system.equations, None], [own, sparse.eye_array(number)]], format="csr", dtype=np.int8
    )
    return replace(
        system,
        cells=_CellsAndSums(system.cells, member),
        value=np.append(system.value, member @ system.value[: member.shape[1]]),
        equations=sparse.csr_array(equations),
        lowest=np.append(system.lowest, np.where(np.broadcast_to(signed, number), -np.inf, 0.0)),
    )


class _CellsAndSums(Sequence[Cell | CellSum]):
    """Cells, and behind them sums of them, made when asked for."""

    def __init__(self, cells: Sequence[Cell | CellSum], member: sparse.csr_array):
        self._cells, self._member = cells, member

    def __len__(self) -> int:
        return len(self._cells) + self._member.shape[0]

    def __getitem__(self, index):  # type: ignore[override]
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < len(self._cells):
            return self._cells[index]
        start, stop = self._member.indptr[index - len(self._cells) :][:2].tolist()
        cells = [self._cells[int(i)] for i in self._member.indices[start:stop]]
        added = self._member.data[start:stop] > 0
        return CellSum(
            tuple(cell for cell, plus in zip(cells, added, strict=True) if plus),
            tuple(cell for cell, plus in zip(cells, added, strict=True) if not plus),
        )
