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

from diskret.outputs.cells import Cells
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
    cells: Sequence[Cells] = (),
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
    cells
        The cells with their values, inner ones first, then totals: medians are taken from them.
    """
    import pandas as pd

    if values is not None and (
        not isinstance(aggfunc, str)
        or aggfunc not in _KNOWN
        or normalize is not False
        or values.dtype not in (np.float64, np.int64)
    ):
        return None
    width = len(groups.names)
    at = groups.at
    if max(map(len, variables)) > 1 and (at < 0).any():
        return None  # pandas has no order then
    lost = None if values is None else values.isna().to_numpy()
    if lost is not None and lost.any():  # no values, no number, and no part in totals
        at = np.where(lost, np.int32(-1), at)
    first = _first(at, width)
    if at is not groups.at and ((first >= 0) != (_first(groups.at, width) >= 0)).any():
        return None  # a cell of records without values
    there = np.flatnonzero(first >= 0)
    if not len(there):
        return None
    rows, columns = ([one.iloc[first[there]] for one in side] for side in variables)
    known = at >= 0
    everywhere = bool(known.all())
    if values is None:
        number = np.bincount(at if everywhere else at[known], minlength=width)[there]
        sums = pd.Series(number, index=rows[0].index)
        try:
            table = pd.crosstab(
                rows, columns, values=sums, aggfunc="sum", margins=margins, normalize=normalize
            )
        except LookupError:  # pandas makes no such totals of sums beside dates, but of counts
            return None
        return table.fillna(0).astype(np.int64) if normalize is False else table
    column = pd.Series(values.to_numpy())
    if cells and aggfunc == "median":
        inner = cells[0].medians[there]
    else:
        inner = _of_each(column, groups.at, width if len(there) == width else 0, aggfunc)
    if np.isnan(inner).any():  # such as the deviation of one value
        return None
    shown = pd.Series(inner, index=rows[0].index)
    table = pd.crosstab(rows, columns, values=shown, aggfunc="max", margins=margins)
    if margins:
        if not everywhere:  # pandas makes totals of the records that lack nothing
            column, at = pd.Series(values.to_numpy()[known]), at[known]
        for total, own in zip(groups.totals, cells[1:] or [None] * 3, strict=True):
            if own is not None and aggfunc == "median":
                numbers = own.medians[~np.isnan(own.medians)]
            elif any(total.kept):
                where = total.into.astype(np.int32)[at]
                every = np.bincount(total.into[there], minlength=len(total.names)).all()
                numbers = _of_each(column, where, len(total.names) if every else 0, aggfunc)
            else:  # pandas adds up all in another order than groups
                numbers = np.array([getattr(column, aggfunc)()])
            row, across = (slice(-1) if one else slice(-1, None) for one in total.kept)
            table.iloc[row, across] = numbers.reshape(table.iloc[row, across].shape)
    return table


def _first(at: NDArray[np.int32], cells: int) -> NDArray[np.int64]:
    """The first record of each cell; -1 where there is none."""
    first = np.full(cells + 1, -1)  # the last: of records in no cell
    some = at[: 50 * cells]
    first[some[::-1]] = np.arange(len(some))[::-1]
    if len(some) < len(at) and (first[:-1] < 0).any():
        first[at[::-1]] = np.arange(len(at))[::-1]
    return first[:-1]


def _of_each(column: Any, at: NDArray[np.int32], cells: int, aggfunc: str) -> NDArray[Any]:
    """The statistic of each cell that has records.

    `cells`: how many there are if all have some: pandas need not look for them then.
    """
    import pandas as pd

    if not cells:
        known = at if (at >= 0).all() else np.where(at < 0, np.nan, at)
        return column.groupby(known).agg(aggfunc).to_numpy()
    known = pd.Categorical.from_codes(at, range(cells), validate=False)
    return column.groupby(known, observed=False).agg(aggfunc).to_numpy()
