"""Histograms: classes are counted, and their ends may be values of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.judge_cells import STATISTICS, Part
from diskret.outputs.profile import Profile
from diskret.outputs.task import Task

_SEEN = 1e-6  # of a value: what its first six digits do not show


def histogram(
    data: Any,
    column: str,
    bins: int | Sequence[float] = 10,
    by: str | Sequence[str] | None = None,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The classes of a histogram and how many records each has, as numpy counts them, checked.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    column
        Name of a column of numbers.
    bins
        The ends of the classes, of which the last one holds its upper end; or how many there are
        from the smallest to the largest value, or a rule of numpy for that. Ends that are the
        smallest or largest value, of all records or of a group, are values of units, and judged as
        such, that of all by all who have it; other ends are percentiles, and classes say what these
        tell. Ends between possible values, such as 17.5 years, are nobody's.
    by
        Names of columns that make groups; None: all records are one.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        The column is not there or holds no numbers; ends do not increase.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.1 and 5.11.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"age": range(1, 100)})
    >>> histogram(firms, "age", [0, 50, 100]).verdict, histogram(firms, "age", 2).verdict
    ('pass', 'fail')
    """
    task = Task.of(data, by, unit, profile)
    numbers = task.numbers(column)
    known = numbers[~np.isnan(numbers)]
    try:
        edges = np.asarray(np.histogram_bin_edges(known, bins), np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"bins= must be a number of classes, or ends that increase: {error}"
        ) from None
    if len(edges) < 2 or np.isnan(edges).any():
        raise InputError("bins= must name two ends at least, and none that is missing")
    classes = np.searchsorted(edges, numbers, "right") - 1
    classes[numbers == edges[-1]] = len(edges) - 2
    classes[np.isnan(numbers) | (numbers < edges[0]) | (numbers > edges[-1])] = -1
    labels = [(f"{low:g} – {high:g}",) for low, high in zip(edges, edges[1:], strict=False)]
    groups = Groups((*task.groups.axes, Axis(classes, labels)), len(numbers))
    cells = groups.cells(None, task.records.unit)
    counted = np.bincount(groups.at[groups.at >= 0], minlength=len(groups.names))
    shown = counted.reshape(-1, len(labels))[task.there].reshape(-1)
    times = len(task.there)
    output = task.frame(
        {
            "from": np.tile(edges[:-1], times),
            "to": np.tile(edges[1:], times),
            "count": shown,
        },
        len(labels),
    )
    parts = [Part(STATISTICS["count"], [cells], groups.shape, column)]
    # of computed ends even those that numpy moves apart where all values are equal
    whole = Groups((), len(numbers)).cells(numbers, task.records.unit)
    parts += _ends(whole, edges, column, always=np.ndim(bins) == 0)
    if task.keys:
        # an end of all records, such as one employee, says nothing of any group
        others = edges[~_equal(edges, np.concatenate(whole.bounds))]
        parts += _ends(task.groups.cells(numbers, task.records.unit), others, column)
    return task.judged(output, parts, [column], kind="histogram")


def _ends(
    cells: Cells, edges: NDArray[np.float64], column: str, always: bool = False
) -> list[Part]:
    """The smallest and largest values of cells that are ends of classes, in what is seen of them.

    Any end: below the smallest value there may be an empty class.
    """
    parts: list[Part] = []
    for name, bound in zip(("min", "max"), cells.bounds, strict=True):
        shown = _equal(bound, edges) | always
        if shown.any():
            at = np.where(np.append(shown, False)[cells.at], cells.at, np.int32(-1))
            own = Cells(cells.names, at, cells.values, cells.unit)
            statistic = replace(STATISTICS[name], checks=("extremes", "missing"))
            parts.append(Part(statistic, [own], (), column, (name,)))
    return parts


def _equal(values: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values are one of some others, in what is seen of them."""
    close = np.isclose(values[:, None], others, rtol=_SEEN, atol=0)
    return np.logical_or.reduce(close, axis=1)
