"""Data as they are given: frames, and columns of them by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import check_names


def framed(data: Any) -> Any:
    """The data as a frame of pandas whose index does not repeat.

    Raises
    ------
    InputError
        They are no frame, two columns have the same name, or two records the same index.
    """
    import pandas as pd

    frame = data.to_pandas() if hasattr(data, "to_pandas") else data
    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"data= must be a frame of pandas or Polars, not {type(data).__name__}")
    check_names(frame.columns)
    check_index(frame.index)
    return frame


def check_index(rows: Any) -> None:
    """Refuse a pandas index in which two records have the same name."""
    if not rows.is_unique:
        raise InputError("two records have the same index; say frame.reset_index(drop=True) first")


def column_of(frame: Any, given: Any, argument: str) -> Any:
    """A column by its name; what is no name is handed back.

    Raises
    ------
    InputError
        There is no such column.
    """
    if not isinstance(given, str):
        return given
    if given not in frame.columns:
        raise InputError(
            f"{argument}={given!r} is no column of data; there are {', '.join(map(str, frame))}"
        )
    return frame[given]


def numbers_of(frame: Any, names: Iterable[str] | None, argument: str) -> NDArray[np.float64]:
    """Shape (records, columns): columns of numbers by name, NaN where one is missing; None: all.

    Raises
    ------
    InputError
        There is no such column, or it holds something else than numbers.
    """
    wanted = [*map(str, frame.columns)] if names is None else [*names]
    columns: list[NDArray[np.float64]] = []
    for name in wanted:
        column = column_of(frame, name, argument)
        try:
            columns.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        except (ValueError, TypeError) as error:
            raise InputError(f"values {name!r} are not all numbers: {error}") from None
    if not columns:
        raise InputError(f"{argument}= names no variable")
    return np.asfortranarray(np.column_stack(columns))
