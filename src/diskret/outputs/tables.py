"""Tables as pandas makes them, checked from the records they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.judge_cells import STATISTICS, judge
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of

if TYPE_CHECKING:
    import pandas as pd


def crosstab(
    index: Any,
    columns: Any,
    *,
    values: Any = None,
    aggfunc: str | Callable[..., Any] | None = None,
    margins: bool = False,
    normalize: bool | str = False,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A table of two or more variables, just as `pandas.crosstab` makes it, and checked.

    Parameters
    ----------
    index, columns
        A pandas Series, or a list of them: the variables of the rows and of the columns. Their
        indexes must be the same, as they are for columns of one frame.
    values
        A Series of numbers; None: records are counted.
    aggfunc
        ``"count"``, ``"sum"``, ``"mean"``, ``"median"``, ``"std"``, ``"var"``, ``"min"``,
        ``"max"``, or numpy's function of that name. Any other function is carried out, and its
        result is for a person to review: nobody here knows what it tells.
    margins
        Totals of rows and columns, which are checked as well.
    normalize
        Shares instead of counts, as pandas makes them; they are judged as the counts.
    unit
        A Series: whom each record belongs to; records are found in it by their index. Units
        are counted, and their contributions judged. None: each record is one.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        Series of different records, values without `aggfunc`, values that are no numbers.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015), 5.1 to 5.3.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"region": ["N"] * 30 + ["S"] * 23, "job": (["a", "b"] * 27)[:53]})
    >>> print(crosstab(people.region, people.job))
    Table of counts: passes.
    Checked: number of units, zeros, group disclosure, missing values.
    >>> few = people[:36]
    >>> print(crosstab(few.region, few.job))
    Table of counts: must not leave as it is.
    - Fewer than 10 units. Here: S, a; S, b.
    Checked: number of units, zeros, group disclosure, missing values.
    """
    import pandas as pd

    rules = Profile.read(profile)
    rows, across = _variables(index, "index"), _variables(columns, "columns")
    _check_same_records([*rows, *across, values])
    if (values is None) != (aggfunc is None):
        raise InputError("values= and aggfunc= go together: give both, or none to count records")
    output = pd.crosstab(
        index, columns, values=values, aggfunc=aggfunc, margins=margins, normalize=normalize
    )
    statistic = _statistic(aggfunc)
    axes = [_axis(rows), _axis(across)]
    numbers = None if values is None or statistic == "count" else _numbers(values)
    units = units_of(unit, rows[0].index, len(rows[0]))
    counted = None if values is None else ~np.asarray(values.isna())
    cells, shape = _grouped(axes, numbers, units, margins, counted if numbers is None else None)
    due, findings = judge(cells, statistic, rules, shape)
    missing = _without_code([*rows, *across], rules)
    told = _told(cells, rows[0].index, "" if values is None else str(values.name))
    series = [*rows, *across, *([] if values is None else [values])]
    made_from = {str(one.name): one.to_numpy() for one in series}
    return Checked(due.kind, output, due.checks, (*findings, *missing), rules, told, made_from)


def _variables(given: Any, argument: str) -> list[pd.Series[Any]]:
    import pandas as pd

    several = list(given) if isinstance(given, list | tuple) else [given]
    for one in several:
        if not isinstance(one, pd.Series):
            raise InputError(
                f'{argument}= must be a pandas Series such as df["region"], or a list of them, '
                f"not {type(one).__name__}"
            )
    if not several:
        raise InputError(f"{argument}= names no variable")
    return several


def _check_same_records(series: Sequence[Any]) -> None:
    first = series[0].index
    for one in series[1:]:
        if one is not None and not (one.index is first or one.index.equals(first)):
            raise InputError(
                f"{one.name!r} and {series[0].name!r} have different indexes: take them from one "
                "frame, so that it is known which values belong together"
            )
    if not first.is_unique:
        raise InputError("two records have the same index; say frame.reset_index(drop=True) first")


#: What is known of a function is known of the function itself and never of its name.
_FUNCTIONS: dict[Any, str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.median: "median",
    np.min: "min",
    np.max: "max",
    sum: "sum",
    min: "min",
    max: "max",
    len: "count",
}


def _statistic(aggfunc: str | Callable[..., Any] | None) -> str:
    if aggfunc is None:
        return "count"
    if isinstance(aggfunc, str):
        return aggfunc if aggfunc in STATISTICS else "unknown"
    try:
        return _FUNCTIONS.get(aggfunc, "unknown")
    except TypeError:  # a list of functions
        return "unknown"


Axis = tuple[NDArray[np.int64], list[tuple[str, ...]]]


def _axis(variables: Sequence[Any]) -> Axis:
    """The category of each record among those that occur, -1 where a code is missing; labels."""
    import pandas as pd

    each = [pd.factorize(variable, sort=True) for variable in variables]
    if len(each) == 1:
        codes, categories = each[0]
        return codes, [(str(one),) for one in categories]
    joined = np.zeros(len(each[0][0]), np.int64)
    inside = np.ones(len(joined), bool)
    for own, categories in each:
        joined = joined * len(categories) + own
        inside &= own >= 0
    seen, where = np.unique(joined[inside], return_inverse=True)
    dense = np.full(len(joined), -1, np.int64)
    dense[inside] = where
    parts: list[Any] = []
    for _, categories in reversed(each):
        seen, own = np.divmod(seen, max(len(categories), 1))
        parts.insert(0, categories[own])
    return dense, [tuple(map(str, one)) for one in zip(*parts, strict=True)]


def _grouped(
    axes: Sequence[Axis],
    values: NDArray[np.float64] | None,
    unit: NDArray[np.int32] | None,
    margins: bool,
    counted: NDArray[np.bool_] | None,
) -> tuple[list[Cells], tuple[int, int]]:
    """The inner cells and, if they are shown, the margins; numbers of rows and columns."""
    (rows, row_names), (columns, column_names) = axes
    inside = (rows >= 0) & (columns >= 0)
    if counted is not None:  # values that are counted; a missing one is none
        inside &= counted

    def made(at: NDArray[np.int64], names: list[tuple[str, ...]]) -> Cells:
        return Cells(tuple(names), np.where(inside, at, -1).astype(np.int32), values, unit)

    both = [(*row, *column) for row in row_names for column in column_names]
    cells = [made(rows * len(column_names) + columns, both)]
    if margins:
        cells += [
            made(rows, [(*row, "All") for row in row_names]),
            made(columns, [("All", *column) for column in column_names]),
            made(np.zeros_like(rows), [("All", "All")]),
        ]
    return cells, (len(row_names), len(column_names))


def _numbers(values: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(values.astype("float64"), np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"values {values.name!r} are not all numbers: {error}") from None


def _without_code(variables: Sequence[Any], profile: Profile) -> list[Finding]:
    names = [str(one.name) for one in variables if one.isna().any()]
    if not names or profile.verdict("missing") == "pass":
        return []
    return [Finding("missing", profile.verdict("missing"), tuple((name,) for name in names))]


def _told(cells: Sequence[Cells], index: Any, variable: str) -> tuple[Told, ...]:
    rows = np.asarray(index)
    told: list[Told] = []
    for one in cells:
        sets = np.where(one.used, one.at, -1).astype(np.int32)
        told.append(Told(sets, one.names, rows, one.values, "" if one.values is None else variable))
    return tuple(told)
