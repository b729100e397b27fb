"""Figures, judged as the data behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding
from diskret.outputs.grouped import classes, groupby
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.judge_cells import POINTS, QUANTILE, STATISTICS, Part
from diskret.outputs.profile import Profile
from diskret.outputs.ranks import quantiles
from diskret.outputs.task import Task


def chart(
    data: Any,
    by: str | Sequence[str],
    figures: Mapping[str, Any] | None = None,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The table behind bars, lines or slices, checked: `Checked.output` is what to draw.

    Parameters
    ----------
    data, by, figures, unit, profile
        As for `groupby`, whose verdict it is.

    Raises
    ------
    InputError
        As for `groupby`.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.11: a graph is
    judged as its data.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"region": ["N"] * 30 + ["S"] * 12, "turnover": range(42)})
    >>> print(chart(firms, "region", {"turnover": "mean"}).summary().splitlines()[0])
    Figure: passes.
    """
    return replace(groupby(data, by, figures, unit=unit, profile=profile), kind="figure")


def boxplot(
    data: Any,
    column: str,
    by: str | Sequence[str] | None = None,
    *,
    whis: float | tuple[float, float] = 1.5,
    showfliers: bool = True,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The numbers behind a box plot, as matplotlib computes them, checked.

    Ends of boxes and whiskers are percentiles and judged as such; points beyond the whiskers are
    single units.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    column
        Name of a column of numbers.
    by
        Names of columns that make groups; None: all records are one.
    whis
        As of matplotlib: how many boxes' lengths whiskers are long at most, or the two percentiles
        that they reach to, such as ``(5, 95)``.
    showfliers
        Whether points beyond the whiskers are shown.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        The column is not there or holds no numbers; `whis` is neither.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.5 and 5.11.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"age": range(300)})
    >>> boxplot(firms, "age").verdict, boxplot(firms, "age", whis=(5, 95), showfliers=False).verdict
    ('fail', 'pass')
    """
    task = Task.of(data, by, unit, profile)
    cells = task.groups.cells(task.numbers(column), task.records.unit)
    low, high = _whiskers(cells, whis)
    shown = {"whislo": low, **{f"q{n}": quantiles(cells, n / 4) for n in (1, 2, 3)}, "whishi": high}
    parts = [
        Part(
            QUANTILE.of(partial(_same, value=value)),
            [cells],
            task.groups.shape,
            column,
            (name,),
        )
        for name, value in shown.items()
    ]
    parts += classes(parts, task.profile.threshold)
    columns: dict[str, Any] = {name: value[task.there] for name, value in shown.items()}
    columns = {"whislo": columns["whislo"], "q1": columns["q1"], "med": columns["q2"]} | {
        name: columns[name] for name in ("q3", "whishi")
    }
    if showfliers:
        at, values = cells.records
        out = (values < low[at]) | (values > high[at])
        fliers: list[list[float]] = [[] for _ in cells.names]
        for cell, value in zip(at[out], values[out], strict=True):
            fliers[cell].append(float(value))
        columns["fliers"] = [fliers[one] for one in task.there]
        parts.append(Part(POINTS, [_points(cells, out)], (), column, ("fliers",)))
    return task.judged(task.frame(columns), parts, [column], kind="figure")


def _points(cells: Cells, shown: NDArray[np.bool_]) -> Cells:
    """A cell for each value of a group that is shown as a point of its own."""
    at, values = cells.records
    pairs, which = np.unique(np.column_stack([at, values])[shown], axis=0, return_inverse=True)
    point = np.full(len(at), -1, np.int32)
    point[shown] = which.reshape(-1)
    every = np.full(len(cells.at), -1, np.int32)
    every[cells.used] = point
    names = [(*cells.names[int(cell)], f"{value:g}") for cell, value in pairs]
    return Cells(names, every, None, cells.unit)


def _same(cells: Cells, value: NDArray[np.float64]) -> NDArray[np.float64]:
    return value


def _whiskers(
    cells: Cells, whis: float | tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The last values that whiskers reach, in each cell."""
    first, third = quantiles(cells, 0.25), quantiles(cells, 0.75)
    if isinstance(whis, int | float) and whis >= 0:
        least, most = first - whis * (third - first), third + whis * (third - first)
    elif isinstance(whis, tuple | list) and len(whis) == 2 and 0 <= whis[0] <= whis[1] <= 100:
        least, most = quantiles(cells, whis[0] / 100), quantiles(cells, whis[1] / 100)
    else:
        raise InputError(
            f"whis= must be a number, or two percentiles such as (5, 95), not {whis!r}"
        )
    at, values = cells.records
    low, high = np.full(len(cells.names), np.inf), np.full(len(cells.names), -np.inf)
    above, below = values >= least[at], values <= most[at]
    np.minimum.at(low, at[above], values[above])
    np.maximum.at(high, at[below], values[below])
    # as matplotlib: a whisker never ends inside the box
    low, high = np.where(low > first, first, low), np.where(high < third, third, high)
    none = np.isnan(first)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def scatter(
    data: Any,
    x: str,
    y: str,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The points of a scatter plot, checked: each must be one of as many units as the threshold.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    x, y
        Names of columns.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A column is not there.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.11.

    Examples
    --------
    >>> import pandas as pd
    >>> print(scatter(pd.DataFrame({"age": [30, 40], "pay": [9, 8]}), "age", "pay").reasons()[0])
    Points of the figure are values of single units. Here: 30, 9; 40, 8.
    """
    task = Task.of(data, None, unit, profile)
    task.records.named([x, y], "x and y")
    axis = Axis.joined([task.records.axis(x), task.records.axis(y)])
    cells = Groups((axis,), len(axis.codes)).cells(None, task.records.unit)
    output = task.records.columns.select(x, y).to_native()
    return task.judged(output, [Part(POINTS, [cells], (), "")], [x, y], kind="figure")


def density(
    data: Any,
    column: str,
    at: Sequence[float],
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A kernel density at some places, as scipy estimates it; a person must look at it.

    Where few units lie, a density has a hill for each, and its width says where exactly.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    column
        Name of a column of numbers.
    at
        Where the density is computed; no ends of the data.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        The column is not there or holds no numbers, or fewer than two different ones; a place is
        none.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.11.

    Examples
    --------
    >>> import pandas as pd
    >>> density(pd.DataFrame({"age": range(100)}), "age", [20, 50, 80]).verdict
    'review'
    """
    from scipy.stats import gaussian_kde

    task = Task.of(data, None, unit, profile)
    numbers = task.numbers(column)
    known = numbers[~np.isnan(numbers)]
    if len(np.unique(known)) < 2:
        raise InputError(f"{column!r} has fewer than two different values: there is no density")
    places = np.asarray(at, np.float64)
    if not np.isfinite(places).all():
        raise InputError("at= must hold numbers, none of them missing or infinite")
    output = task.records.like(
        {column: places.tolist(), "density": gaussian_kde(known)(places).tolist()}
    )
    cells = task.groups.cells(numbers, task.records.unit)
    parts = [Part(STATISTICS["count"], [cells], (), column)]
    smooth = [Finding("smooth", task.profile.verdict("smooth"))]
    return task.judged(output, parts, [column], smooth, "figure")


def residuals(
    results: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """Residuals of a fitted model, or a figure of them: values of single units, which never pass.

    Parameters
    ----------
    results
        What ``fit()`` of statsmodels returns.
    unit, profile
        As for `pivot_table`; nobody's residuals pass.

    Raises
    ------
    InputError
        It has no residuals.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.9 and 5.11.

    Examples
    --------
    >>> import numpy as np, statsmodels.api as sm
    >>> fitted = sm.OLS(np.arange(50.0), np.ones(50)).fit()
    >>> residuals(fitted).reasons()
    ['It has a value for each unit: predictions, residuals, influence or scores.']
    """
    rules = Profile.read(profile)
    shown = getattr(results, "resid", None)
    if shown is None:
        shown = getattr(results, "resid_response", None)
    if shown is None:
        raise InputError(f"results= has no residuals; it is {type(results).__name__}")
    found = Finding("residuals", rules.verdict("residuals"))
    kept = () if found.verdict == "pass" else (found,)
    return Checked("figure", shown, ("residuals",), kept, rules)
