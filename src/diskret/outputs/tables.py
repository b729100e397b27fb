"""Tables as pandas makes them, checked from the records they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.outputs.fill import filled
from diskret.outputs.functions import statistic_of
from diskret.outputs.given import check_index
from diskret.outputs.groups import Axis, Groups
from diskret.outputs.hiding import hideable
from diskret.outputs.judge_cells import STATISTICS, UNKNOWN, Part
from diskret.outputs.judged import judged
from diskret.outputs.polars_tables import all_polars, to_pandas, to_polars
from diskret.outputs.profile import Profile
from diskret.outputs.records import axis_of, numbers_of
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
        A Series of pandas, or a list of them: the variables of the rows and of the columns. Their
        indexes must be the same, as they are for columns of one frame. Or Series of Polars: the
        table has the same cells and totals, as a Polars frame; without an index a `Project`
        takes it only if it is of all records.
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
        Series of different records, values without `aggfunc`, values that are no numbers, totals
        beside a category that is called "All" as well.

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
    polars = all_polars([*_several(index), *_several(columns), *_several(values)])
    if polars:
        index, columns, values = to_pandas(index), to_pandas(columns), to_pandas(values)
    rows, across = _variables(index, "index"), _variables(columns, "columns")
    _check_same_records([*rows, *across, values])
    if (values is None) != (aggfunc is None):
        raise InputError("values= and aggfunc= go together: give both, or none to count records")
    statistic = statistic_of(aggfunc)
    sides = [[axis_of(one) for one in several] for several in (rows, across)]
    groups = Groups(tuple(Axis.joined(side) for side in sides), len(rows[0]))
    counting = STATISTICS.get(statistic, UNKNOWN).kind == "frequencies"
    if margins:
        groups.check_totals()
    numbers = None if values is None or counting else numbers_of(values)
    counted = None if values is None or statistic != "count" else ~np.asarray(values.isna())
    units = units_of(unit, rows[0].index, len(rows[0]))
    inner = groups.cells(numbers, units, counted)
    totals = [inner.together(one.names, one.into) for one in groups.totals] if margins else []
    cells = [inner, *totals]
    output = filled(groups, [rows, across], values, aggfunc, margins, normalize, cells)
    if output is None:
        output = pd.crosstab(
            index, columns, values=values, aggfunc=aggfunc, margins=margins, normalize=normalize
        )
    variable = "" if values is None else str(values.name)
    part = Part(STATISTICS.get(statistic, UNKNOWN), cells, groups.shape, variable)
    lost = [
        str(one.name)
        for one, axis in zip([*rows, *across], [*sides[0], *sides[1]], strict=True)
        if (axis.codes < 0).any()
    ]
    series = [*rows, *across, *([] if values is None else [values])]
    made_from = {str(one.name): one for one in series}
    named = None if polars else rows[0].index
    judge: Any = partial(judged, profile=rules, rows=named, made_from=made_from, without_code=lost)
    if polars:
        judge = partial(_as_polars, judge)
    if normalize is not False:
        return judge(output, [part])
    return hideable(judge, output, [part], groups, (len(rows), len(across)), rules)


def suppressed(
    index: Any,
    columns: Any,
    *,
    values: Any = None,
    aggfunc: str | Callable[..., Any] | None = None,
    decimals: int = 2,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A table with true totals whose unsafe cells are hidden, together with enough others.

    It is `crosstab` with totals and then `Checked.suppress`, which says what is hidden and what is
    claimed.

    Parameters
    ----------
    index, columns
        A pandas Series each, or lists of them, as of `crosstab`.
    values, aggfunc
        A Series of numbers and ``"sum"``, or ``"count"``; both None: records are counted.
    decimals, unit, profile
        As of `Checked.suppress` and of `crosstab`.

    Raises
    ------
    InputError, ProtectionError
        As of `crosstab` and of `Checked.suppress`.

    Sources
    -------
    Hundepool et al. (2012), Statistical Disclosure Control, chapter 4.

    Examples
    --------
    >>> import pandas as pd
    >>> towns = [3 * ["A"] + 20 * ["B"] + 30 * ["C"], 25 * ["A"] + 30 * ["B"] + 15 * ["C"]]
    >>> people = pd.DataFrame({"town": towns[0] + towns[1], "job": 53 * ["x"] + 70 * ["y"]})
    >>> found = suppressed(people.town, people.job)
    >>> found.verdict, int(found.output.isna().sum().sum())
    ('pass', 4)
    """
    table = crosstab(
        index, columns, values=values, aggfunc=aggfunc, margins=True, unit=unit, profile=profile
    )
    return table.suppress(decimals=decimals)


def _as_polars(judge: Callable[[Any, Any], Checked], output: Any, parts: Any) -> Checked:
    return judge(to_polars(output), parts)


def _several(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [] if given is None else [given]


def _variables(given: Any, argument: str) -> list[pd.Series[Any]]:
    import pandas as pd

    several = list(given) if isinstance(given, list | tuple) else [given]
    for one in several:
        if not isinstance(one, pd.Series):
            raise InputError(
                f'{argument}= must be a Series such as df["region"], or a list of them, '
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
    check_index(first)
