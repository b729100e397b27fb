"""Statistics by group and summaries of columns, checked from the records they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
from narwhals import dependencies as known

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked
from diskret.outputs.functions import Shown, labels, listed
from diskret.outputs.hiding import hideable
from diskret.outputs.judge_cells import CLASS, QUANTILE, STATISTICS, Part, Statistic
from diskret.outputs.profile import Profile
from diskret.outputs.ranks import INTERPOLATIONS, divided, quantiles
from diskret.outputs.records import Records
from diskret.outputs.task import Task

#: What narwhals makes of the records of a group.
_EXPRESSIONS = ("mean", "sum", "count", "len", "median", "std", "var", "min", "max", "n_unique")


def groupby(
    data: Any,
    by: str | Sequence[str] | None = None,
    figures: Mapping[str, Any] | None = None,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """Statistics of groups of records, just as the frame's own library makes them, and checked.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    by
        Names of the columns that make the groups; None: all records are one.
    figures
        As for pandas' ``agg``: column → a function, or a list of them; or name → column and
        function, as ``{"average": ("turnover", "mean")}``. None: records are counted. Functions
        are those of `pivot_table`. Not of pandas, they are called ``"mean"``, ``"sum"``,
        ``"count"``, ``"len"``, ``"median"``, ``"std"``, ``"var"``, ``"min"``, ``"max"`` or
        ``"n_unique"``, groups come in order, and a column of several functions is called as
        ``turnover_mean``.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A name is no column, or what is asked for cannot be had from this kind of frame.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.1 to 5.3.

    Examples
    --------
    >>> import polars as pl
    >>> regions, turnover = ["N"] * 30 + ["S"] * 5, [2.0, 3.0, 5.0, 7.0, 9.0] * 7
    >>> firms = pl.DataFrame({"region": regions, "turnover": turnover})
    >>> checked = groupby(firms, "region", {"turnover": ["mean", "count"]})
    >>> checked.output.columns
    ['region', 'turnover_mean', 'turnover_count']
    >>> print(checked.reasons()[0])
    Fewer than 10 units. Here: S, turnover mean; S, turnover count.
    """
    task = Task.of(data, by, unit, profile)
    records, keys = task.records, task.keys
    wanted = [("", "size", "")] if figures is None else listed(figures)
    records.named([column for column, _, _ in wanted if column], "figures")
    if not task.pandas:
        output = _of_groups(records, keys, wanted)
    elif figures is None:
        output = data.groupby(keys, observed=True).size() if keys else len(data)
    else:
        grouped = data.groupby(keys if len(keys) > 1 else keys[0], observed=True) if keys else data
        named = {name: one for name, one in figures.items() if isinstance(one, tuple)}
        if named and len(named) < len(figures):
            raise InputError("figures= must all have names of their own, or none of them")
        output = grouped.agg(**named) if named else grouped.agg(dict(figures))
    cells = Shown(records, task.groups)
    parts = [
        cells.part(column, function, label)
        for (column, function, _), label in zip(wanted, labels(wanted), strict=True)
    ]
    judge = partial(task.judged, columns=[column for column, _, _ in wanted if column])
    if not task.pandas:
        return judge(output, parts)
    return hideable(judge, output, parts, task.groups, (len(keys), 0), task.profile)


def describe(
    data: Any,
    columns: str | Sequence[str],
    by: str | Sequence[str] | None = None,
    *,
    percentiles: Sequence[float] = (0.25, 0.5, 0.75),
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The usual statistics of columns of numbers, as ``describe`` of the frame, and checked.

    Smallest and largest values are those of units and fail as a rule: `groupby` and `quantile`
    make the other statistics without them.

    Parameters
    ----------
    data
        A frame of pandas or Polars.
    columns
        Names of columns of numbers.
    by
        Names of columns that make groups, with pandas; None: all records are one.
    percentiles
        Shares of the records that lie below.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A column is not there or holds no numbers, or the frame has no ``describe`` of this form.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.4 to 5.6.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"turnover": range(100)})
    >>> for said in describe(firms, "turnover").reasons():
    ...     print(said)
    A smallest or largest value is the value of a unit. Here: All, turnover min; All, turnover max.
    """
    task = Task.of(data, by, unit, profile)
    records, keys = task.records, task.keys
    names = records.named(columns, "columns")
    for name in names:
        task.numbers(name)
    ranks = sorted({*map(_share, percentiles), 0.5})
    if task.pandas:
        grouped = data.groupby(keys, observed=True)[names] if keys else data[names]
        output, interpolation = grouped.describe(percentiles=list(percentiles)), "linear"
    elif known.is_polars_dataframe(data) and not keys:
        output, interpolation = data.select(names).describe(list(percentiles)), "nearest above"
    else:
        raise InputError(
            "such a frame has no describe by groups; dk.check.groupby makes statistics"
        )
    cells = Shown(records, task.groups)
    parts: list[Part] = []
    for name in names:
        for function in ("count", "mean", "std", "min", "max"):
            parts.append(cells.part(name, function, (f"{name} {function}",)))
        parts += _ranks(cells, name, ranks, interpolation, task.profile.threshold)
        if not task.pandas:  # Polars counts values that are missing
            lost = cells.groups.cells(None, records.unit, records.without(name))
            parts.append(Part(STATISTICS["count"], [lost], (), name, (f"{name} null_count",)))
    return task.judged(output, parts, names)


def quantile(
    data: Any,
    columns: str | Sequence[str],
    q: float | Sequence[float],
    by: str | Sequence[str] | None = None,
    *,
    interpolation: str = "linear",
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """Percentiles of columns, just as the frame's own library makes them, and checked.

    A percentile passes where as many units as the threshold asks for lie below and above it, or
    share it; of several, as many must lie from each to the next.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    columns
        Names of columns of numbers.
    q
        Shares of the records that lie below, from 0 to 1.
    by
        Names of columns that make groups; None: all records are one.
    interpolation
        ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"`` or ``"nearest"``: which value is
        taken between two.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A column is not there or holds no numbers; `q` is no share.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.5.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"turnover": range(100)})
    >>> quantile(firms, "turnover", 0.5).verdict, quantile(firms, "turnover", 0.95).verdict
    ('pass', 'fail')
    """
    task = Task.of(data, by, unit, profile)
    records, keys = task.records, task.keys
    names = records.named(columns, "columns")
    for name in names:
        task.numbers(name)
    ranks = [_share(one) for one in (q if isinstance(q, list | tuple) else [q])]
    if interpolation not in INTERPOLATIONS:
        raise InputError(
            f"interpolation= must be one of {', '.join(map(repr, INTERPOLATIONS))}, not "
            f"{interpolation!r}"
        )
    if task.pandas:
        grouped = data.groupby(keys if len(keys) > 1 else keys[0], observed=True) if keys else data
        shown = grouped[columns if isinstance(columns, str) else names]
        output = shown.quantile(
            q if isinstance(q, float | int) else ranks, interpolation=interpolation
        )
    else:
        own: Any = interpolation
        expressions = [
            nw.col(name).quantile(rank, own).alias(f"{name}_{rank}")
            for name in names
            for rank in ranks
        ]
        output = _made(records, keys, expressions)
    cells = Shown(records, task.groups)
    taken = "nearest above" if interpolation == "nearest" and not task.pandas else interpolation
    threshold = task.profile.threshold
    parts = [part for name in names for part in _ranks(cells, name, ranks, taken, threshold)]
    if len(parts) == 1:
        parts = [replace(parts[0], label=())]
    return task.judged(output, parts, names)


def _ranks(
    cells: Shown, name: str, ranks: Sequence[float], interpolation: str, threshold: int
) -> list[Part]:
    """Percentiles, and the classes between each and the next, which are those of a histogram.

    Else many percentiles would show every value that is not among the first or last few.
    """
    parts: list[Part] = []
    for rank in sorted({*ranks}):
        value = partial(quantiles, share=rank, interpolation=interpolation)
        parts.append(cells.of(name, QUANTILE.of(value), (f"{name} {100 * rank:g} %",)))
    return parts + classes(parts, threshold)


def classes(percentiles: Sequence[Part], threshold: int) -> list[Part]:
    """The classes from each percentile of a column to the next, in their order.

    A value that as many units as the threshold share is no end: nobody knows how many of them lie
    on which side of it.
    """
    parts: list[Part] = []
    for low, high in pairwise(percentiles):
        name = " – ".join([*low.label, *high.label])
        cells = [_between(one, low.statistic, high.statistic, threshold) for one in low.cells]
        parts.append(Part(CLASS, cells, variable=low.variable, label=(name,), told=False))
    return parts


def _between(cells: Cells, low: Statistic, high: Statistic, threshold: int) -> Cells:
    """The records from one percentile to another; the two around both where none is between."""
    ends = [one.shown(cells) for one in (low, high)]
    one, other = (divided(cells, value) for value in ends)
    at, values = cells.records
    inside = other.below & ~one.below
    none = (np.bincount(at[inside], minlength=len(cells.names)) == 0) & (ends[0] < ends[1])
    around = (values >= one.ends[0][at]) & (values <= one.ends[1][at])
    few = np.all([cells.sharing(value) < threshold for value in ends], axis=0)
    inside = np.where(none[at], around, inside) & few[at]
    placed = np.full(len(cells.at), -1, np.int32)
    placed[cells.used] = np.where(inside, at, -1)
    return Cells(cells.names, placed, None, cells.unit)


def _share(given: Any) -> float:
    if not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InputError(f"a percentile must be a share from 0 to 1, not {given!r}")
    return float(given)


def _of_groups(
    records: Records, keys: Sequence[str], wanted: Sequence[tuple[str, Any, str]]
) -> Any:
    """What a library other than pandas makes."""
    expressions: list[nw.Expr] = []
    for column, function, name in wanted:
        if not column:
            expressions.append(nw.len().alias("len"))
        elif function in _EXPRESSIONS:
            expressions.append(getattr(nw.col(column), function)().alias(name))
        else:
            raise InputError(
                f"a function of such a frame must be one of "
                f"{', '.join(map(repr, _EXPRESSIONS))}, not {function!r}"
            )
    return _made(records, keys, expressions)


def _made(records: Records, keys: Sequence[str], expressions: Sequence[nw.Expr]) -> Any:
    if not keys:
        return records.columns.select(*expressions).to_native()
    try:
        found = records.columns.group_by(*keys).agg(*expressions)
    except (ValueError, NotImplementedError) as error:
        kind = records.columns.implementation.name.lower()
        raise InputError(
            f"{kind} does not compute that by group; take a pandas or Polars frame"
        ) from error
    return found.sort(*keys).to_native()
