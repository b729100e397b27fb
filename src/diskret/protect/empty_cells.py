"""Empty cells that one table shows are known to be empty in every other one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.system import definitions
from diskret.tables import Table


def known_empty(
    tables: Sequence[Table], shown: Sequence[NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    """Empty cells of each table that some table shows as empty, whatever its measure.

    Where nobody is counted nothing is earned: an empty cell of a table of turnover says that
    the number of firms is 0 there, too, and the other way round.

    Parameters
    ----------
    tables
        Tables that leave together.
    shown
        Which cells of each table are shown as empty, in its shape.

    Returns
    -------
    list of ndarray
        For each table which of its empty cells are known, in its shape, bool.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "firms": [2, 0], "sales": [5, 0]})
    >>> firms = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> sales = Table.from_cells(cells, by={"region": None}, value="sales", count="firms")
    >>> nothing = np.zeros(firms.shape, dtype=bool)
    >>> [known.tolist() for known in known_empty([firms, sales], [nothing, sales.empty])]
    [[False, False, True], [False, False, True]]
    """
    known = [np.zeros(table.shape, dtype=bool) for table in tables]
    for vintage in {table.vintage for table in tables}:
        own = [i for i, table in enumerate(tables) if table.vintage == vintage]
        defined = definitions([tables[i] for i in own])
        seen = np.concatenate([where[shown[i]] for i, where in zip(own, defined, strict=True)])
        for i, where in zip(own, defined, strict=True):
            known[i] = tables[i].empty & np.isin(where, seen)
    return known
