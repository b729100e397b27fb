"""Simple tests of hypotheses: their statistics are made of means, ranks or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told, merged
from diskret.outputs.given import column_of, framed, numbers_of
from diskret.outputs.judge_cells import STATISTICS, VARIANCE, Part, judge, pooled
from diskret.outputs.like_tables import tables_like
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of
from diskret.parameters import Whole, reading


@reading
def ttest(
    data: Any,
    value: str,
    group: str,
    *,
    equal_variances: bool = False,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A t test of two groups (Welch, or Student), judged as the means and deviations it is made of.

    Parameters
    ----------
    data
        A frame of pandas, or of Polars.
    value
        Name of the column of numbers; records without one are left out.
    group
        Name of the column of two categories.
    equal_variances
        Whether both groups are taken to have the same variance.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records in
        its index. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.

    Returns
    -------
    Checked
        Its `output` has the statistic, the degrees of freedom and the p value.

    Raises
    ------
    InputError
        A column is missing, there are not two groups, or values are no numbers.

    Sources
    -------
    Guidelines for the checking of output (DwB 2015), 5.9.

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"sales": draw.uniform(1, 2, 90), "east": [True] * 40 + [False] * 50})
    >>> ttest(firms, "sales", "east").verdict
    'pass'
    """
    from scipy.stats import ttest_ind

    rules = Profile.read(profile)
    two = _two_groups(data, value, group, unit)
    result: Any = ttest_ind(two.first, two.second, equal_var=equal_variances)
    output = {"statistic": result.statistic, "freedom": result.df, "p_value": result.pvalue}
    # whoever knows both means has the variance from the statistic, or both from it and the freedom
    spread = pooled(two.cells) if equal_variances else two.cells
    parts = [Part(STATISTICS["mean"], [two.cells]), Part(VARIANCE, [spread])]
    found = list(judge(parts, rules)[2])
    if not float(result.df) >= rules.freedom:
        blanks = {"freedom": 0 if np.isnan(result.df) else int(result.df), "least": rules.freedom}
        found.append(Finding("freedom", rules.verdict("freedom"), (), blanks))
    means = ("threshold", "dominance", "p_percent", "level", "negative", "all_equal")
    checks = (*means, "squares", "freedom")
    found = [one for one in found if one.check in checks]
    return Checked("test", output, checks, merged(found), rules, two.told, two.made_from)


@reading
def mannwhitney(
    data: Any,
    value: str,
    group: str,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A test of Mann and Whitney (Wilcoxon) of two groups, judged by their sizes and separation.

    The statistic counts pairs; where all of one group lie below all of the other it says
    something of every unit.

    Parameters
    ----------
    data, value, group, unit, profile
        As for `ttest`.

    Returns
    -------
    Checked
        Its `output` has the statistic and the p value.

    Raises
    ------
    InputError
        As for `ttest`.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"sales": range(50), "east": [True] * 20 + [False] * 30})
    >>> print(mannwhitney(firms, "sales", "east").reasons()[0])
    One variable says the other without error.
    """
    from scipy.stats import mannwhitneyu

    rules = Profile.read(profile)
    two = _two_groups(data, value, group, unit)
    result: Any = mannwhitneyu(two.first, two.second)
    output = {"statistic": result.statistic, "p_value": result.pvalue}
    found = [
        one
        for one in judge([Part(STATISTICS["mean"], [two.cells])], rules)[2]
        if one.check == "threshold"
    ]
    if result.statistic in (0, len(two.first) * len(two.second)):
        found.append(Finding("perfect", rules.verdict("perfect")))
    made = ("threshold", "perfect")
    return Checked("test", output, made, merged(found), rules, two.told, two.made_from)


@reading
def chi2(
    data: Any,
    rows: str,
    columns: str,
    *,
    decimals: Annotated[int, Whole(0)] | None = None,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A chi-square test of independence, judged by the table that it is made of.

    Its margins are judged as a table of counts. Margins and statistic together tell cells: of two
    by two always, of a larger table where few tables fit. All are tried, and a small cell is told
    unless as many tables as the threshold fit, some with so many records or more in that cell.
    Where there are too many to try, cells are judged as if they were shown. Rounding helps.

    Parameters
    ----------
    data
        A frame of pandas, or of Polars.
    rows, columns
        Names of the two variables; records without one of them are left out.
    decimals
        Places to which the statistic and the p value are rounded; None: they are not.
    unit, profile
        As for `ttest`.

    Returns
    -------
    Checked
        Its `output` has the statistic, the degrees of freedom and the p value.

    Raises
    ------
    InputError
        A column is missing, or a variable has less than two categories.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": ["A", "B"] * 40, "ill": ["no"] * 77 + ["yes"] * 3})
    >>> chi2(people, "town", "ill").findings[0].places
    (('ill', 'yes'), ('A', 'yes'), ('B', 'yes'))
    """
    import pandas as pd
    from scipy.stats import chi2_contingency

    rules = Profile.read(profile)
    frame = framed(data)
    first, kinds = pd.factorize(column_of(frame, rows, "rows"), sort=True)
    second, others = pd.factorize(column_of(frame, columns, "columns"), sort=True)
    if len(kinds) < 2 or len(others) < 2:
        raise InputError("rows= and columns= must have two categories or more each")
    inside = (first >= 0) & (second >= 0)
    labels = np.asarray(frame.index)
    units = units_of(column_of(frame, unit, "unit"), labels, len(frame))

    def cells(at: NDArray[Any], names: tuple[tuple[str, ...], ...]) -> Cells:
        return Cells(names, np.where(inside, at, -1).astype(np.int32), None, units)

    both = tuple((str(one), str(other)) for one in kinds for other in others)
    table = cells(first * len(others) + second, both)
    judged = [
        cells(first, tuple((rows, str(one)) for one in kinds)),
        cells(second, tuple((columns, str(one)) for one in others)),
    ]
    counts = np.bincount(table.at[inside], minlength=len(both)).reshape(len(kinds), len(others))
    result: Any = chi2_contingency(counts)
    places = 17 if decimals is None else int(decimals)
    output = {
        "statistic": round(float(result.statistic), places),
        "freedom": result.dof,
        "p_value": round(float(result.pvalue), places),
    }
    known = _known(counts, table.units.reshape(counts.shape), output, decimals, rules)
    if known.all():
        judged.append(table)
    found = [*judge([Part(STATISTICS["count"], judged)], rules)[2]]
    few = (table.units > 0) & (table.units < rules.threshold) & known.reshape(-1)
    if few.any() and not known.all():
        places_of = tuple(both[int(at)] for at in np.flatnonzero(few))
        blanks = {"threshold": rules.threshold}
        found.append(Finding("threshold", rules.verdict("threshold"), places_of, blanks))
    found = [one for one in found if one.check == "threshold"]
    told = tuple(Told(one.at, tuple(one.names), labels) for one in judged)
    made_from = {name: frame[name].to_numpy() for name in (rows, columns)}
    return Checked("test", output, ("threshold",), merged(found), rules, told, made_from)


def _known(
    counts: NDArray[np.int64],
    units: NDArray[np.int64],
    output: Mapping[str, float],
    decimals: int | None,
    rules: Profile,
) -> NDArray[np.bool_]:
    """Shape of the table: which cells margins and statistic tell, as far as it matters."""
    every = np.ones(counts.shape, bool)
    if counts.size == 4:
        return every
    shown, tolerance = output["statistic"], 1e-9 * max(1.0, output["statistic"])
    if decimals is not None:
        tolerance = 0.5 * 10.0**-decimals + tolerance

    def fits(statistics: NDArray[np.float64]) -> NDArray[np.bool_]:
        from scipy.stats import chi2 as distribution

        good = np.abs(statistics - shown) <= tolerance
        if decimals is not None:
            p_values = distribution.sf(statistics, output["freedom"])
            good &= np.abs(p_values - output["p_value"]) <= tolerance
        return good

    found = tables_like(counts, fits, tolerance)
    if found is None or len(found) < rules.threshold:
        return every
    few = (units > 0) & (units < rules.threshold)
    return few & ((counts >= rules.threshold) | (found.max(axis=0) < rules.threshold))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Two groups as cells of a table of means, and the values of each."""

    cells: Cells
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    told: tuple[Told, ...]
    made_from: Mapping[str, Any]


def _two_groups(data: Any, value: str, group: str, unit: Any) -> _Groups:
    import pandas as pd

    frame = framed(data)
    values = numbers_of(frame, [value], "value")[:, 0]
    at, kinds = pd.factorize(column_of(frame, group, "group"), sort=True)
    if len(kinds) != 2:
        raise InputError(f"group={group!r} must have two categories, not {len(kinds)}")
    rows = np.asarray(frame.index)
    units = units_of(column_of(frame, unit, "unit"), rows, len(frame))
    cells = Cells(tuple((str(one),) for one in kinds), at.astype(np.int32), values, units)
    first, second = (values[cells.used & (at == one)] for one in (0, 1))
    if not len(first) or not len(second):
        raise InputError(f"a group of {group!r} has no values of {value!r}")
    sets = np.where(cells.used, cells.at, -1).astype(np.int32)
    told = (Told(sets, tuple(cells.names), rows, values, value, spread=values),)
    return _Groups(cells, first, second, told, {value: values, group: frame[group].to_numpy()})
