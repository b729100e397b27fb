"""What rules look at: numbers of contributors and the largest contributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables import Table


def largest(table: Table, n: int, rule: str) -> NDArray[np.int64]:
    """The n largest contributions of each cell, descending, shape ``(*table.shape, n)``."""
    if table.frequency:
        raise InputError(
            f"{rule} judges sums and this is a frequency table; tabulate a value= or use "
            "MinimumFrequency"
        )
    top = table.measure.largest
    if top.shape[-1] < n:
        raise InputError(
            f"{rule} needs the {n} largest contributions of each cell and the table holds "
            f"{top.shape[-1]}; use largest={n}"
        )
    return top[..., :n]


def contributors(table: Table, of: str | None) -> NDArray[np.int64]:
    """How many contribute to each cell: records, units or holdings.

    By default units if the table sums a value and knows its units, else records.
    """
    if of is None:
        of = "records" if table.frequency or table.units is None else "units"
    counts = {"records": table.count, "units": table.units, "holdings": table.holdings}
    if of not in counts:
        raise InputError(f"of must be 'records', 'units' or 'holdings', not {of!r}")
    count = counts[of]
    if count is None:
        column = {"records": "count=", "units": "unit=", "holdings": "holding="}[of]
        raise InputError(f"the table does not know its {of}; give {column} when it is made")
    return count
