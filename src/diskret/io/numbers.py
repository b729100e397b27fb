"""Numeric variables of records as floating point numbers."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError


def numbers(values: pa.ChunkedArray, name: str) -> NDArray[np.float64]:
    """A column as numbers, ``(n,)``; NaN where a value is missing.

    Raises
    ------
    InputError
        Values are not numbers, or infinite.

    Examples
    --------
    >>> numbers(pa.chunked_array([[1, None, 3]]), "income").tolist()
    [1.0, nan, 3.0]
    """
    try:
        cast = values.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"the values in {name!r} are not numbers ({error})") from None
    found = cast.to_numpy().astype(np.float64)
    endless = np.flatnonzero(np.isinf(found))
    if len(endless):
        raise InputError(
            f"{len(endless):,} values in {name!r} are infinite (first in row {endless[0] + 1}); "
            "correct them or leave them missing"
        )
    return found
