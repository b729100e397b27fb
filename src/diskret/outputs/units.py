"""Whom the records of a result belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.texts.numbers import Count


def units_of(unit: Any, rows: Any, number: int) -> NDArray[np.int32] | None:
    """The unit of each record of a result, by number from 0 on; None: each record is one.

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
    whose = unit if isinstance(unit, pd.Series) else np.asarray(unit)  # texts may be Arrow's
    whole = isinstance(whose.dtype, np.dtype) and whose.dtype.kind in "iu" and len(whose) > 0
    numbers = _ranks(np.asarray(whose)) if whole else None
    if numbers is None:
        numbers = pd.factorize(whose, use_na_sentinel=False)[0].astype(np.int32)
    if len(numbers) != number:
        many = Count(len(numbers))
        raise InputError(f"unit= has {many} {many:value|values}, the result {number} records")
    return None if int(numbers.max(initial=-1)) + 1 == number else numbers  # each has one record


def _ranks(values: NDArray[Any]) -> NDArray[np.int32] | None:
    """Whole numbers that lie close together, numbered in their order; None: they do not."""
    least, most = int(values.min()), int(values.max())
    if most - least >= _CLOSE * len(values):
        return None
    whole = values.astype(np.int64) if values.dtype.kind == "i" else values  # no overflow
    codes = whole - whole.dtype.type(least)
    seen = np.zeros(most - least + 1, bool)
    seen[codes] = True
    if seen.all():
        return codes.astype(np.int32)
    return (np.cumsum(seen, dtype=np.int32) - np.int32(1))[codes]


_CLOSE = 4  # numbers that could be there for each that is
