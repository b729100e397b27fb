"""Sums of cells as cells of their own, which nobody publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from diskret.system.cells import Cell, CellSum
from diskret.system.equations import System


def with_sums(system: System, member: sparse.csr_array, signed: bool) -> System:
    """The same system with a further unpublished cell for each sum, behind all others.

    Parameters
    ----------
    system
        Cells and equations.
    member
        A row for each sum, columns as the first cells of the system, entries 1, or
        -1 for what is taken away.
    signed
        Whether sums may be negative.

    Examples
    --------
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
        lowest=np.append(system.lowest, np.full(number, -np.inf if signed else 0.0)),
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
