"""Panel regressions with fixed effects: each effect is a mean of the records of one entity."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told
from diskret.outputs.formulas import design_of
from diskret.outputs.given import column_of, framed
from diskret.outputs.judge_cells import STATISTICS, Part, judge
from diskret.outputs.models import model
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of
from diskret.parameters import reading


@reading
def panel(
    formula: str,
    data: Any,
    *,
    entity: str,
    time: str | None = None,
    effects: bool = False,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A linear regression with a fixed effect of each entity (within transformation), checked.

    Variables are taken as differences from the mean of their entity, so a regressor counts only
    where it changes: its support are the units in which it does. An effect is the mean of what
    the entity's records have beyond the regressors. Where effects are shown, each is judged as the
    mean of a cell is.

    Parameters
    ----------
    formula, data, options
        As for `ols`; the constant is one of the effects.
    entity
        Name of the column whose categories have an effect each, such as the firm or the region.
    time
        Name of the column whose categories have an effect each as well, such as the year; None:
        none. These effects are coefficients of the model and judged as such: a regressor that
        changes in few entities only tells how they fared beside all others.
    effects
        Whether the effects leave too; they are then `effects` of the fitted model.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records in
        its index. None: the entity, as for a panel of firms.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        As for `ols`; or there is no column of that name, or no regressor changes within an entity.

    Sources
    -------
    Guidelines for the checking of output (DwB 2015), 5.9; Vogel (2011), Enthüllungsrisiko beim
    Remote Access.

    Examples
    --------
    >>> import pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> years = pd.DataFrame({"firm": np.repeat(range(60), 4), "staff": draw.normal(size=240)})
    >>> years["sales"] = years.staff + years.firm + draw.normal(size=240)
    >>> panel("sales ~ staff", years, entity="firm").verdict
    'pass'
    >>> years["year"] = list(range(2001, 2005)) * 60
    >>> panel("sales ~ staff", years, entity="firm", time="year").verdict
    'pass'
    >>> panel("sales ~ staff", years, entity="firm", effects=True).reasons()[0][:22]
    'Fewer than 10 units. H'
    """
    import pandas as pd
    import statsmodels.api as sm

    rules = Profile.read(profile)
    frame = framed(data)
    y, x = design_of(formula, frame)
    if len(y.columns) != 1:
        raise InputError(f"formula= {formula!r} must explain one variable of numbers")
    owner = _categories(frame, entity, "entity", y.index)
    if time is not None:
        period = _categories(frame, time, "time", y.index)
        x = x.join(pd.get_dummies(period, prefix=time, prefix_sep=" = ", dtype=float).iloc[:, 1:])
    at, kinds = pd.factorize(owner, sort=True)
    means = [table.groupby(at).transform("mean") for table in (y, x)]
    within_y, within_x = y - means[0], x - means[1]
    size = np.sqrt((x**2).sum())
    changes = np.sqrt((within_x**2).sum()) > 1e-9 * size
    if not changes.any():
        raise InputError(f"no regressor of {formula!r} changes within an entity of {entity!r}")
    within_x = within_x.loc[:, changes].mask(within_x.abs() <= 1e-12 * size, 0.0)
    fitting = sm.OLS(within_y.iloc[:, 0], within_x)
    fitting.df_resid -= len(kinds)
    results: Any = fitting.fit(**options)
    found = model(
        results, unit=owner if unit is None else column_of(frame, unit, "unit"), profile=rules
    )
    if not effects:
        return found
    units = units_of(owner if unit is None else column_of(frame, unit, "unit"), y.index, len(y))
    beyond = y.iloc[:, 0] - x.loc[:, changes] @ results.params
    results.effects = beyond.groupby(at).mean().set_axis(kinds)
    return _with_effects(found, at, kinds, y.iloc[:, 0].to_numpy(), units, rules)


def _categories(frame: Any, name: str, argument: str, rows: Any) -> Any:
    """A column without missing values, for some records."""
    column = column_of(frame, name, argument).loc[rows]
    if column.isna().any():
        raise InputError(f"{argument}={name!r} is missing in record {rows[column.isna()][0]}")
    return column


def _with_effects(
    checked: Checked,
    at: NDArray[Any],
    kinds: Any,
    values: NDArray[np.float64],
    units: NDArray[np.int32] | None,
    rules: Profile,
) -> Checked:
    cells = Cells(tuple((str(one),) for one in kinds), at.astype(np.int32), values, units)
    own = judge([Part(STATISTICS["mean"], [cells])], rules)[2]
    known = {one.check for one in own}
    kept: tuple[Finding, ...] = tuple(one for one in checked.findings if one.check not in known)
    due = ("threshold", "dominance", "p_percent", "level", "negative")
    made = (*checked.made, *(one for one in due if one not in checked.made))
    found = tuple(one for one in own if one.check in made)
    told = (
        *checked.told,
        Told(cells.at, tuple(cells.names), checked.told[0].rows, values, "effects"),
    )
    return replace(checked, made=made, findings=(*found, *kept), told=told)
