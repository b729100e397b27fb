"""No cell is unsafe: for methods that look at no rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.rules.sensitivity import Joinable, Sensitivity, declared
from diskret.tables import Table


@dataclass(frozen=True)
class NoRule(Joinable):
    """No cell is unsafe.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "firms": [7, 1]})
    >>> NoRule()(Table.from_cells(cells, by={"region": None}, count="firms"))
    Sensitivity(0 of 3 cells unsafe)
    """

    @property
    def largest(self) -> int:
        """The rule looks at no contributions."""
        return 0

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell of the table."""
        return declared(table, safe=np.zeros(table.shape, dtype=bool))
