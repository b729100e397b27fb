"""Whom the records of a result belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError


def units_of(unit: Any, rows: Any, number: int) -> NDArray[np.int32] | None:
    """The unit of each record of a result, by number; None: each record is one.

    Parameters
    ----------
    unit
        A pandas Series that has each record of the result in its index, as that of a whole
        project has; or one value for each record, in order.
    rows
        What the records of the result are called; None: their numbers.
    number
        How many there are.

    Raises
    ------
    InputError
        A record is missing in `unit`, or there is another number of values.
    """
    import pandas as pd

    if unit is None:
        return None
    if isinstance(unit, pd.Series) and rows is not None and not unit.index.equals(pd.Index(rows)):
        at = unit.index.get_indexer(pd.Index(rows))
        if (at < 0).any():
            raise InputError(f"unit= has no record {np.asarray(rows)[at < 0][0]} of the result")
        unit = unit.iloc[at]
    numbers = pd.factorize(np.asarray(unit), use_na_sentinel=False)[0].astype(np.int32)
    if len(numbers) != number:
        raise InputError(f"unit= has {len(numbers)} values, the result {number} records")
    return numbers
