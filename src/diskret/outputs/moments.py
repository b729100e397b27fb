"""Correlation coefficients and principal components: each pair has records of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.beside import within
from diskret.outputs.checked import Checked, Finding, Told, merged
from diskret.outputs.fitted import Numbers
from diskret.outputs.given import column_of, framed, numbers_of
from diskret.outputs.influence import influence
from diskret.outputs.judge_models import few_in_pairs, support
from diskret.outputs.judge_risk_sets import singled_out
from diskret.outputs.pairs import pairs_told
from diskret.outputs.profile import Profile
from diskret.outputs.spread import number_of_units, spread
from diskret.outputs.units import units_of
from diskret.parameters import reading

_CHECKS = (
    "threshold",
    "freedom",
    "support",
    "value_of_one",
    "all_equal",
    "pairs",
    "weight",
    "reference",
    "unproven",
    "collinear",
)
_PERFECT = 1 - 1e-9
#: Checks that are made on components.
COMPONENTS = (*_CHECKS, "perfect")


@reading
def correlation(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    method: Literal["pearson", "spearman", "kendall"] = "pearson",
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A matrix of correlation coefficients as pandas makes it, checked pair by pair.

    Each pair has the records in which both are there. Looked at are their number and degrees of
    freedom; variables in which few units have another value than all the others; tables of
    two variables of two values; coefficients that few units determine; and those of 1 or -1, by
    which one variable says the other. Beside means and deviations the matrix tells every regression
    of these variables on each other, so all together are looked at as regressors are.

    Parameters
    ----------
    data
        A frame of pandas, or of Polars.
    columns
        Names of the variables; None: all.
    method
        As pandas has it; ranks are looked at instead of values where it is not ``"pearson"``.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records in
        its index. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        A column is missing or has no numbers, or there are less than two.

    Sources
    -------
    Guidelines for the checking of output (DwB 2015), 5.9: ten degrees of freedom.

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"staff": draw.normal(size=90), "sales": draw.normal(size=90)})
    >>> correlation(firms).verdict
    'pass'
    >>> firms.loc[7:, "sales"] = np.nan
    >>> print(correlation(firms).reasons()[0])
    Fewer than 10 units. Here: staff, sales.
    """
    rules = Profile.read(profile)
    frame, names, values = _read(data, columns)
    units = units_of(column_of(frame, unit, "unit"), frame.index, len(frame))
    output = frame[names].astype(float).corr(method=method)
    there = ~np.isnan(values)
    rows = np.asarray(frame.index)
    found: list[Finding] = []
    told: list[Told] = []
    for one, other in combinations(range(len(names)), 2):
        both = there[:, one] & there[:, other]
        own = {names[at]: values[both, at] for at in (one, other)}
        told += _pairs(own, both, rows, rules)
        if method != "pearson":
            own = {name: _ranked(column) for name, column in own.items()}
        inside = None if units is None else units[both]
        number = number_of_units(both, units)
        found += _judged(own, inside, number, float(output.iloc[one, other]), rules)
        if there.all() and one + other > 1:
            continue  # all pairs have the same records
        sets = np.where(both, 0, -1).astype(np.int32)
        told.append(Told(sets, ((f"{names[one]}, {names[other]}",),), rows))
    complete = there.all(axis=1)
    if complete.any():
        whole = values[complete]
        if method != "pearson":
            whole = np.column_stack([_ranked(column) for column in whole.T])
        found += _together(names, whole, None if units is None else units[complete], rules)
    made_from = dict(zip(names, values.T, strict=True))
    kept = merged([*found, *within(told, units, rules)])
    checks = (*_CHECKS, "perfect", "within")
    return Checked("correlation", output, checks, kept, rules, tuple(told), made_from)


@reading
def components(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    scaled: bool = True,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """Principal components: variances and loadings, made from complete records, and checked.

    Variances and loadings are the matrix of correlations (or covariances) in another form, so it is
    judged; also components that few units determine, and those without variance, by which some
    variables say another. Scores have a value for each unit and are no part of the result; hand a
    frame of them to nobody.

    Parameters
    ----------
    data
        A frame of pandas, or of Polars.
    columns
        Names of the variables; None: all.
    scaled
        Whether variables are divided by their standard deviations.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records in
        its index. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.

    Returns
    -------
    Checked
        Its `output` is a frame with a row for each component: `variance`, and a loading of each
        variable.

    Raises
    ------
    InputError
        A column is missing or has no numbers, there are less than two, or no complete records.

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame(draw.normal(size=(90, 3)), columns=["staff", "sales", "age"])
    >>> components(firms).verdict
    'pass'
    """
    rules = Profile.read(profile)
    frame, names, values = _read(data, columns)
    complete = np.asarray(~np.isnan(values).any(axis=1))
    if complete.sum() < 2:
        raise InputError("less than two records are complete; components cannot be computed")
    all_units = units_of(column_of(frame, unit, "unit"), frame.index, len(frame))
    units = None if all_units is None else all_units[complete]
    whole = values[complete]
    deviation = whole.std(axis=0, ddof=1)
    size = np.where(deviation > 0, deviation, 1) if scaled else np.ones(len(names))
    centred = (whole - whole.mean(axis=0)) / size
    _, single, loadings = np.linalg.svd(centred, full_matrices=False)
    variances = single**2 / (len(whole) - 1)
    found = judged_components(names, whole, centred, units, rules)
    import pandas as pd

    output = pd.DataFrame(loadings, columns=names)
    output.insert(0, "variance", variances)
    sets = np.where(complete, 0, -1).astype(np.int32)
    rows = np.asarray(frame.index)
    tables = _pairs(dict(zip(names, whole.T, strict=True)), complete, rows, rules)
    told = (Told(sets, ((", ".join(names),),), rows), *tables)
    made_from = dict(zip(names, values.T, strict=True))
    return Checked("components", output, COMPONENTS, merged(found), rules, told, made_from)


def judged_components(
    names: Sequence[str], values: Numbers, centred: Numbers, units: Any, rules: Profile
) -> list[Finding]:
    """What is found in components: in the pairs of their variables, and in each component.

    `values`: shape (records, variables); `centred`: the same as they go into the components.
    """
    found: list[Finding] = []
    number = number_of_units(np.ones(len(values), bool), units)
    for one, other in combinations(range(len(names)), 2):
        own = {names[at]: values[:, at] for at in (one, other)}
        cross = _correlation(values[:, one], values[:, other])
        found += _judged(own, units, number, cross, rules)
    found += _together(names, values, units, rules)
    _, single, directions = np.linalg.svd(centred, full_matrices=False)
    scores = centred @ directions.T
    for at in range(len(single)):
        label = f"component {at + 1}"
        if single[at] ** 2 <= (1 - _PERFECT) * single[0] ** 2:
            found.append(Finding("perfect", rules.verdict("perfect"), ((label,),)))
        elif _few(scores[:, at], units, rules):
            blanks = {"threshold": rules.threshold}
            found.append(Finding("weight", rules.verdict("weight"), ((label,),), blanks))
    return found


def _together(names: Sequence[str], values: Numbers, units: Any, rules: Profile) -> list[Finding]:
    """Few units that all variables together tell of: correlations hold every regression of them.

    Beside means and deviations, that is, which are published often.
    """
    whole = np.asfortranarray(np.column_stack([np.ones(len(values)), values]))
    alone = spread(whole, units, rules.threshold)
    found: list[Finding] = []
    if alone.combination is not None:
        found += singled_out(alone.combination, ("1", *names), rules)
    elif not alone.proven:
        found.append(Finding("unproven", rules.verdict("unproven")))
    own = influence(whole, None, units, rules.threshold, rules.own_share)
    if own.few[1:].any():
        places = tuple((names[int(at)],) for at in np.flatnonzero(own.few[1:]))
        blanks = {"threshold": rules.threshold}
        found.append(Finding("weight", rules.verdict("weight"), places, blanks))
    if own.close:
        found.append(Finding("collinear", rules.verdict("collinear")))
    return found


def _pairs(
    own: dict[str, Numbers], inside: NDArray[np.bool_], rows: Any, rules: Profile
) -> list[Told]:
    """What variables of two values tell of some of the records, `own` of these alone."""
    told: list[Told] = []
    for table in pairs_told(own, None, rules):
        sets = np.full(len(inside), -1, np.int32)
        sets[inside] = table.sets
        told.append(replace(table, sets=sets, rows=rows))
    return told


def _read(data: Any, columns: Sequence[str] | None) -> tuple[Any, list[str], Numbers]:
    frame = framed(data)
    names = [*frame.columns] if columns is None else [*columns]
    values = numbers_of(frame, names, "columns")
    if len(names) < 2:
        raise InputError("columns= must name two variables or more")
    return frame, names, values


def _ranked(column: Numbers) -> Numbers:
    from scipy.stats import rankdata

    return rankdata(column)


def _correlation(one: Numbers, other: Numbers) -> float:
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.corrcoef(one, other)[0, 1])


def _judged(
    own: dict[str, Numbers], units: Any, number: int, coefficient: float, rules: Profile
) -> list[Finding]:
    """What is found in one pair; `own`: the values of both variables where both are there."""
    pair = (", ".join(own),)
    place = tuple(own)
    few = {"threshold": rules.threshold}
    if number < rules.threshold:
        return [Finding("threshold", rules.verdict("threshold"), (place,), few)] if number else []
    found: list[Finding] = []
    if number - 2 < rules.freedom:
        blanks = {"freedom": number - 2, "least": rules.freedom}
        found.append(Finding("freedom", rules.verdict("freedom"), (place,), blanks))
    found += support(own, tuple(own), units, rules)
    found += few_in_pairs(own, (), units, rules)
    for name, column in own.items():
        if not (column == column[0]).all() and _few(column - column.mean(), units, rules):
            found.append(Finding("weight", rules.verdict("weight"), ((name,),), few))
    if abs(coefficient) >= _PERFECT:
        found.append(Finding("perfect", rules.verdict("perfect"), (pair,)))
    return found


def _few(column: Numbers, units: Any, rules: Profile) -> bool:
    """Whether few units have nearly all squares of a variable that sums to zero."""
    return bool(influence(column[:, None], None, units, rules.threshold, rules.own_share).few[0])
