"""Crosstabs of Polars: made by pandas from the same records, and handed back as Polars frames."""

from __future__ import annotations

from collections import Counter
from typing import Any

from narwhals import dependencies as known

from diskret.errors import InputError


def all_polars(series: list[Any]) -> bool:
    """Whether all are Series of Polars.

    Raises
    ------
    InputError
        Some are and some are not: nobody knows which values belong together.
    """
    found = [known.is_polars_series(one) for one in series]
    if any(found) and not all(found):
        raise InputError("take all columns from one frame: some are of Polars, others are not")
    if any(found) and len({len(one) for one in series}) > 1:
        raise InputError("the columns have different lengths: take them from one frame")
    return any(found)


def to_pandas(given: Any) -> Any:
    """A Series of Polars, or a list of them, as pandas has them; their index are their numbers."""
    if isinstance(given, list | tuple):
        return [to_pandas(one) for one in given]
    return None if given is None else given.to_pandas()


def to_polars(table: Any) -> Any:
    """A table of pandas with its row labels as columns, and a column for each column.

    Labels of several variables are joined by a comma; where there are totals, all labels are texts.

    Raises
    ------
    InputError
        Two columns would have the same name.
    """
    import polars as pl

    levels = [table.index.get_level_values(at) for at in range(table.index.nlevels)]
    columns: list[tuple[str, Any]] = []
    for at, level in enumerate(levels):
        values = level.to_list()
        if len({type(one) for one in values}) > 1:  # such as All beside numbers
            values = [str(one) for one in values]
        columns.append((str(level.name if level.name is not None else f"row_{at}"), values))
    for at, label in enumerate(table.columns):
        name = ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)
        numbers = table.iloc[:, at]
        columns.append(
            (
                name,
                [
                    None if lost else one
                    for one, lost in zip(numbers.to_list(), numbers.isna(), strict=True)
                ],
            )
        )
    twice = [name for name, times in Counter(name for name, _ in columns).items() if times > 1]
    if twice:
        raise InputError(
            f"two columns of the table would be called {twice[0]!r}, which a Polars frame cannot "
            "have: rename the variable or its categories"
        )
    return pl.DataFrame(dict(columns))
