"""Most frequent values, ratios, concentration and inequality, by group, and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked
from diskret.outputs.judge_cells import CONCENTRATION, LARGEST, MODE, NOTHING, SHARES, Part
from diskret.outputs.profile import Profile
from diskret.outputs.ranks import modes
from diskret.outputs.task import Task

_TELLS = 2  # largest contributors: one of two subtracts its own share


def mode(
    data: Any,
    column: str,
    by: str | Sequence[str] | None = None,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The most frequent value of a column, by group, and checked.

    It passes where as many units as the threshold asks for have it, and not nearly all
    (`Profile.group_percent`, or 90 %).

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    column
        Name of a column of numbers, texts or other categories. Of values that are equally
        frequent, the first in order is shown.
    by
        Names of columns that make groups; None: all records are one.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A column is not there.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.6.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"size": ["small"] * 30 + ["large"] * 15})
    >>> checked = mode(firms, "size")
    >>> checked.verdict, checked.output["size"].tolist()
    ('pass', ['small'])
    """
    task = Task.of(data, by, unit, profile)
    task.records.named(column, "column")
    axis = task.records.axis(column)
    numbers = np.where(axis.codes < 0, np.nan, axis.codes.astype(np.float64))
    cells = task.groups.cells(numbers, task.records.unit)
    at = modes(cells)[task.there]
    first = [int(np.flatnonzero(axis.codes == code)[0]) if code >= 0 else -1 for code in at]
    found = task.records.columns[column].to_list()
    output = task.frame({column: [None if one < 0 else found[one] for one in first]})
    return task.judged(output, [Part(MODE, [cells], task.groups.shape, column)], [column])


def ratio(
    data: Any,
    numerator: str,
    denominator: str,
    by: str | Sequence[str] | None = None,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """The ratio of two sums, by group, and checked: both sums are judged as if they were shown.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    numerator, denominator
        Names of columns of numbers. Records that lack one of them count in neither.
    by
        Names of columns that make groups; None: all records are one.
    unit, profile
        As for `pivot_table`.

    Raises
    ------
    InputError
        A column is not there or holds no numbers.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.3 and 5.7.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"turnover": range(1, 101), "persons": [5] * 100})
    >>> checked = ratio(firms, "turnover", "persons")
    >>> checked.verdict, checked.output["turnover / persons"].tolist()
    ('pass', [10.1])
    """
    task = Task.of(data, by, unit, profile)
    sums = [task.numbers(numerator), task.numbers(denominator)]
    lost = np.isnan(sums[0]) | np.isnan(sums[1])
    cells = [task.groups.cells(np.where(lost, np.nan, one), task.records.unit) for one in sums]
    above, below = (_total(one)[task.there] for one in cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        output = task.frame({f"{numerator} / {denominator}": above / below})
    parts = [
        Part(SHARES, [one], task.groups.shape, name, (name,))
        for one, name in zip(cells, (numerator, denominator), strict=True)
    ]
    return task.judged(output, parts, [numerator, denominator])


def concentration(
    data: Any,
    column: str,
    by: str | Sequence[str] | None = None,
    *,
    figures: Sequence[str] = ("cr3", "hhi", "gini"),
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    r"""Shares of the largest units, Herfindahl and Gini index, by group, and checked.

    With contributions :math:`x_1 \ge \dots \ge x_n \ge 0` of the units and their sum :math:`X`:
    ``cr3`` is :math:`(x_1 + x_2 + x_3) / X`, ``hhi`` :math:`\sum x_i^2 / X^2`, and ``gini``
    :math:`\sum_i (n + 1 - 2i) x_i / (n X)`. All are judged as the sum is; the share of the
    largest one or two is besides the value of a unit: one of two subtracts its own.

    Parameters
    ----------
    data
        A frame of pandas, Polars or another library that narwhals reads.
    column
        Name of a column of numbers, none negative.
    by
        Names of columns that make groups; None: all records are one.
    figures
        ``"cr"`` and a number, ``"hhi"``, ``"gini"``.
    unit, profile
        As for `pivot_table`; shares are those of units.

    Raises
    ------
    InputError
        A column is not there or holds no numbers, or a contribution is negative; a figure is not
        known.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.8.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"turnover": [10.0, 20.0, 30.0, 40.0] * 10})
    >>> checked = concentration(firms, "turnover", figures=["cr4", "hhi", "gini"])
    >>> checked.verdict, checked.output.round(3).values.tolist()
    ('pass', [[0.16, 0.03, 0.25]])
    >>> unlike = pd.DataFrame({"turnover": range(1, 101)})
    >>> concentration(unlike, "turnover", figures=["cr1"]).verdict
    'fail'
    """
    task = Task.of(data, by, unit, profile)
    whole = task.groups.cells(task.numbers(column), task.records.unit)
    if (whole.contributions[1] < 0).any():
        raise InputError(f"{column!r} has a negative contribution: there are no shares of the sum")
    at, sums = whole.contributions  # one record of each unit, whose value its contribution is
    cells = Cells(whole.names, at, sums)
    parts: list[Part] = []
    shown: dict[str, NDArray[np.float64]] = {}
    for figure in figures:
        number = _number(figure)
        compute = _FIGURES.get(figure) or partial(_of_largest, number=number)
        shown[f"{column}_{figure}"] = compute(cells)[task.there]
        statistic = LARGEST if 0 < number <= _TELLS else CONCENTRATION
        label = (f"{column} {figure}",)
        parts.append(Part(statistic, [cells], task.groups.shape, column, label, told=False))
    told = Part(NOTHING, [whole], task.groups.shape, column)
    return task.judged(task.frame(shown), [told, *parts], [column])


def _number(figure: str) -> int:
    """How many largest a concentration ratio is of; 0: it is none."""
    found = re.fullmatch(r"cr([1-9]\d*)", figure)
    if found is None and figure not in _FIGURES:
        raise InputError(f"figures= knows 'cr3' and the like, 'hhi' and 'gini', not {figure!r}")
    return int(found[1]) if found else 0


def _of_largest(cells: Cells, number: int) -> NDArray[np.float64]:
    return _divided(cells.largest(number).sum(axis=0), cells.sizes)


def _herfindahl(cells: Cells) -> NDArray[np.float64]:
    at, values = cells.records
    squares = np.bincount(at, values**2, len(cells.names)).astype(np.float64)
    return _divided(squares, cells.sizes**2)


def _gini(cells: Cells) -> NDArray[np.float64]:
    values, begins, number = cells.in_order
    cell = np.repeat(np.arange(len(number)), number)
    rank = np.arange(len(values)) - begins[cell] + 1  # the smallest is the first
    weighted = np.bincount(cell, (2 * rank - number[cell] - 1) * values, len(number))
    return _divided(weighted.astype(np.float64), number * cells.sizes)


_FIGURES: Mapping[str, Callable[[Cells], NDArray[np.float64]]] = {
    "hhi": _herfindahl,
    "gini": _gini,
}


def _total(cells: Cells) -> NDArray[np.float64]:
    at, values = cells.contributions
    return np.bincount(at, values, len(cells.names)).astype(np.float64)


def _divided(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
