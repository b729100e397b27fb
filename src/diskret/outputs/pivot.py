"""Pivot tables of pandas, Polars and others, checked from the records they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from narwhals import dependencies as known

from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.outputs.functions import Shown, called, labels
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.hiding import hideable
from diskret.outputs.judged import judged
from diskret.outputs.profile import Profile
from diskret.outputs.records import Records

#: What Polars' ``pivot`` makes of the records of a cell.
_POLARS = ("min", "max", "sum", "mean", "median", "len")


def pivot_table(
    data: Any,
    values: Any = None,
    index: Any = None,
    columns: Any = None,
    aggfunc: Any = "mean",
    *,
    fill_value: Any = None,
    margins: bool = False,
    dropna: bool = True,
    margins_name: str = "All",
    observed: bool = True,
    sort: bool = True,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A pivot table, just as the frame's own library makes it, and checked.

    Parameters
    ----------
    data
        A pandas frame; or one of Polars or another library that narwhals pivots.
    values, index, columns
        Names of columns, or lists of them. `values` left out, with pandas: all that are in
        neither `index` nor `columns`.
    aggfunc
        The name of a statistic such as ``"mean"``, numpy's function, a list of these, or a
        mapping from columns to them. What is not known is carried out, and its result is for a
        person to review. Not of pandas: one of ``"min"``, ``"max"``, ``"sum"``, ``"mean"``,
        ``"median"``, ``"len"``.
    fill_value, margins, dropna, margins_name, observed, sort
        As for `pandas.pivot_table`; with other frames they stay as they are.
    unit
        Whom each record belongs to: name of a column, or values; see `crosstab`.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        A name is no column, or what is asked for cannot be had from this kind of frame.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.1 to 5.3.

    Examples
    --------
    >>> import pandas as pd
    >>> regions, turnover = ["N"] * 30 + ["S"] * 5, [2.0, 3.0, 5.0, 7.0, 9.0] * 7
    >>> firms = pd.DataFrame({"region": regions, "turnover": turnover})
    >>> print(pivot_table(firms, "turnover", index="region", aggfunc=["mean", "max"]).reasons()[0])
    Fewer than 10 units. Here: S, turnover mean; S, turnover max.
    """
    rules = Profile.read(profile)
    records = Records.of(data, unit)
    rows = [] if index is None else records.named(index, "index")
    across = [] if columns is None else records.named(columns, "columns")
    keys = [*rows, *across]
    if not keys:
        raise InputError("index= or columns= must name a variable")
    left = [name for name in records.columns.columns if name not in keys]
    shown = left if values is None else records.named(values, "values")
    pandas = known.is_pandas_dataframe(data)
    missing = not pandas or not dropna
    sides = [
        [records.axis(name, missing, not observed) for name in some] for some in (rows, across)
    ]
    axes = tuple(Axis.joined(side) for side in sides if side)
    groups = Groups(axes, len(records.columns), margins_name)
    if margins:
        groups.check_totals()
    if pandas:
        output = data.pivot_table(
            values,
            index,
            columns,
            aggfunc,
            fill_value,
            margins,
            dropna,
            margins_name,
            observed,
            sort,
        )
    else:
        plain = (fill_value, margins, dropna, margins_name, observed, sort)
        if plain != (None, False, True, "All", True, True):
            raise InputError(
                "fill_value=, margins=, dropna=, margins_name=, observed= and sort= are for pandas "
                "frames; say data.to_pandas(), or dk.check.crosstab for totals"
            )
        output = _pivoted(records, values, rows, across, aggfunc)
    figures = _figures(aggfunc, shown)
    complete = None
    if margins and dropna:  # pandas makes totals of records that lack nothing
        lost = [records.without(name) for name in {*keys, *(column for column, _, _ in figures)}]
        complete = ~np.any(lost, axis=0)
    cells = Shown(records, groups, margins, complete)
    parts = [
        cells.part(column, function, label)
        for (column, function, _), label in zip(figures, labels(figures), strict=True)
    ]
    judge = partial(
        judged,
        profile=rules,
        rows=records.rows,
        made_from={name: records.columns[name].to_native() for name in [*keys, *shown]},
        without_code=[name for name in keys if records.without(name).any()],
    )
    if not pandas:
        return judge(output, parts)
    return hideable(judge, output, parts, groups, (len(rows), len(across)), rules)


def _figures(aggfunc: Any, shown: Sequence[str]) -> list[tuple[str, Any, str]]:
    """Column, function and name of each statistic."""
    if isinstance(aggfunc, dict):
        wanted = {
            str(column): own if isinstance(own, list) else [own] for column, own in aggfunc.items()
        }
    else:
        each = aggfunc if isinstance(aggfunc, list) else [aggfunc]
        wanted = dict.fromkeys(shown or [""], each)
    return [
        (column, function, f"{column} {called(function)}")
        for column, functions in wanted.items()
        for function in functions
    ]


def _pivoted(
    records: Records, values: Any, rows: Sequence[str], across: Sequence[str], aggfunc: Any
) -> Any:
    """What a library other than pandas makes."""
    if aggfunc not in _POLARS:
        raise InputError(
            f"aggfunc= of such a frame must be one of {', '.join(map(repr, _POLARS))}, not "
            f"{aggfunc!r}; dk.check.groupby makes several at once, a pivot table of a pandas "
            "frame, such as data.to_pandas(), too"
        )
    if not across or not rows or values is None:
        raise InputError("name values=, index= and columns=; dk.check.groupby makes other tables")
    return records.columns.pivot(
        on=list(across),
        index=list(rows),
        values=values if isinstance(values, str) else list(values),
        aggregate_function=aggfunc,
    ).to_native()
