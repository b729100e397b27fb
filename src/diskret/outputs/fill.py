"""A crosstab of pandas made from records that are in cells already.

pandas looks up the category of each record again for the table and for each total. Here it
tabulates one record of each cell, which gives all types, names and their order, and the numbers
of the cells are put in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.groups import Groups

#: What pandas makes of the values of a cell in the same way whatever the cell is called.
_KNOWN = ("sum", "mean", "median", "std", "var", "min", "max")


def filled(
    groups: Groups,
    variables: Sequence[Sequence[Any]],
    values: Any,
    aggfunc: Any,
    margins: bool,
    normalize: bool | str,
) -> Any:
    """What `pandas.crosstab` makes; None where only pandas itself is known to make it.

    Parameters
    ----------
    groups
        The records by rows and columns.
    variables
        The Series of the rows, and those of the columns.
    values
        A Series of numbers; None: records are counted.
    aggfunc, margins, normalize
        As of `pandas.crosstab`.
    """
    import pandas as pd

    if groups.records == 0 or bool((groups.at < 0).any()):
        return None
    if values is not None and (
        not isinstance(aggfunc, str)
        or aggfunc not in _KNOWN
        or normalize is not False
        or values.dtype not in (np.float64, np.int64)
        or values.isna().any()
    ):
        return None
    first = _first(groups.at, len(groups.names))
    there = np.flatnonzero(first >= 0)
    rows, columns = ([one.iloc[first[there]] for one in side] for side in variables)
    if values is None:
        number = np.bincount(groups.at, minlength=len(groups.names))[there]
        sums = pd.Series(number, index=rows[0].index)
        table = pd.crosstab(
            rows, columns, values=sums, aggfunc="sum", margins=margins, normalize=normalize
        )
        return table.fillna(0).astype(np.int64) if normalize is False else table
    column = pd.Series(values.to_numpy())
    full = len(there) == len(groups.names)
    inner = _of_each(column, groups.at, len(there) if full else 0, aggfunc)
    if np.isnan(inner).any():  # such as the deviation of one value
        return None
    shown = pd.Series(inner, index=rows[0].index)
    table = pd.crosstab(rows, columns, values=shown, aggfunc="max", margins=margins)
    if margins:
        for total in groups.totals:
            if any(total.kept):
                at = total.into.astype(np.int32)[groups.at]
                numbers = _of_each(column, at, len(total.names), aggfunc)
            else:  # pandas adds up all in another order than groups
                numbers = np.array([getattr(column, aggfunc)()])
            row, at = (slice(-1) if one else slice(-1, None) for one in total.kept)
            table.iloc[row, at] = numbers.reshape(table.iloc[row, at].shape)
    return table


def _first(at: NDArray[np.int32], cells: int) -> NDArray[np.int64]:
    """The first record of each cell; -1 where there is none."""
    first = np.full(cells, -1)
    some = at[: 50 * cells]
    first[some[::-1]] = np.arange(len(some))[::-1]
    if len(some) < len(at) and (first < 0).any():
        first[at[::-1]] = np.arange(len(at))[::-1]
    return first


def _of_each(column: Any, at: NDArray[np.int32], cells: int, aggfunc: str) -> NDArray[Any]:
    """The statistic of each cell that has records.

    `cells`: how many there are if all have some: pandas need not look for them then.
    """
    import pandas as pd

    if not cells:
        return column.groupby(at).agg(aggfunc).to_numpy()
    known = pd.Categorical.from_codes(at, range(cells), validate=False)
    return column.groupby(known, observed=False).agg(aggfunc).to_numpy()
