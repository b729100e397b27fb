"""What a method publishes instead of the true values of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables.published import Published
from diskret.tables.table import Table


@dataclass(frozen=True, eq=False)
class Noise:
    """The values that are published in place of the measure to protect.

    Parameters
    ----------
    value
        Published values in scaled units of the measure, shape of the table, int64.
    withheld
        Cells that are published without a value, e.g. below a threshold; bool, same shape. Their
        `value` counts for nothing.
    impossible
        Structural zeros: cells that everybody knows to be empty, shown as "nothing"; bool, same
        shape. No other cell may be told to be empty, for a published 0 need not be a true one.
    """

    value: NDArray[np.int64]
    withheld: NDArray[np.bool_]
    impossible: NDArray[np.bool_]

    @classmethod
    def of(cls, value: NDArray[np.int64]) -> Noise:
        """All cells published with these values."""
        nowhere = np.zeros(value.shape, dtype=bool)
        return cls(value, nowhere, nowhere)


def published_with(table: Table, noise: Noise, *, name: str, changed: str) -> Published:
    """What the world sees of a table whose values were changed.

    Parameters
    ----------
    table
        The original table.
    noise
        The values to publish.
    name
        Of the published table.
    changed
        The family of methods, one of `CHANGES`.

    Raises
    ------
    InputError
        A cell that has contributors is said to be impossible; says how many.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> table = Table((region,), count=np.array([12, 7, 5]))
    >>> noise = Noise.of(np.array([12, 6, 6]))
    >>> published_with(table, noise, name="firms", changed="rounding").value.tolist()
    [12, 6, 6]
    """
    wrong = noise.impossible & ~table.empty
    if wrong.any():
        raise InputError(
            f"{int(wrong.sum()):,} cells that are said to be impossible hold records; take them "
            "out of the structural zeros, or correct the records"
        )
    measure = table.measure
    blank = noise.withheld | noise.impossible
    return Published(
        name=name,
        dimensions=table.dimensions,
        measure=measure.name,
        frequency=table.frequency,
        decimals=measure.decimals,
        value=np.where(blank, 0, noise.value),
        suppressed=noise.withheld & ~noise.impossible,
        empty=noise.impossible,
        nonnegative=table.nonnegative,
        vintage=table.vintage,
        where=table.where,
        recorded=table.recorded,
        changed=changed,
    )
