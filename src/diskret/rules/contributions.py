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
            f"{rule} looks at the largest contributions of each cell, of which the table holds "
            f"{top.shape[-1]}; use largest={n}, or name {n} columns of cells by largest=[...]"
        )
    return top[..., :n]


def target(table: Table, top: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest contribution to protect, and the largest of the other contributors.

    Without waivers these are x1 and x2, x3, …; with waivers the first is the largest without one.
    `top`: the k ≥ 2 largest of each cell, ``(*table.shape, k)``, descending; the second of what is
    returned has shape ``(*table.shape, k - 1)``.
    """
    if "no_waiver" not in table.marked:
        return top[..., 0], top[..., 1:]
    protected = table.measure.marked["no_waiver"]
    # from the protected one's own rank on, the others move up by one
    own = np.cumsum(top[..., :-1] == protected[..., None], axis=-1) > 0
    return protected, np.where(own, top[..., 1:], top[..., :-1])


def unprotected(table: Table) -> NDArray[np.bool_]:
    """Cells in which somebody has not consented to publication; without waivers: all."""
    if "no_waiver" not in table.marked:
        return np.ones(table.shape, dtype=bool)
    return table.marked["no_waiver"] > 0


def contributors(table: Table, of: str | None) -> NDArray[np.int64]:
    """How many contribute to each cell; by default units where a value is summed and has any."""
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


def compared(table: Table, rule: str) -> NDArray[np.int64]:
    """How many contribute to each cell, for a rule that compares them with those of a total.

    Raises
    ------
    InputError
        Counts of the table are not exact, so that the least possible ones are no worst case.
    """
    if table.count_within:
        raise InputError(
            f"{rule} compares the counts of cells and totals, and those of this table are known "
            f"to within {table.count_within} only; give exact counts, or leave the rule out"
        )
    return contributors(table, None)
