"""Models as statsmodels fits them: each regressor is looked at, not only their number."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from diskret.outputs.beside import within
from diskret.outputs.checked import Checked, Told
from diskret.outputs.fitted import Fit, counted, fit_of, fitted_of
from diskret.outputs.handed import handed, not_understood
from diskret.outputs.judge_models import CHECKS, judge_model
from diskret.outputs.pairs import pairs_told, two_values
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of


def model(
    results: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    r"""A fitted model of statsmodels, checked regressor by regressor.

    A regression plane runs through the means: the coefficient of a regressor of zeros and ones
    gives the mean of its records, and that of one record gives its value to the cent. So the
    number of records says nothing. Looked at are the residual degrees of freedom; the units with
    another value of a regressor than all the others, also in combinations of regressors and in
    pairs of them; the leverage of each unit and the fewest units that determine a coefficient,
    both with the weights of the fit; whether the model is a table of means, which is then judged as
    that table; and the sums that the equations :math:`X'y` give away.

    Parameters
    ----------
    results
        What ``fit()`` of an OLS, WLS, RLM, GLM, GEE (independent), Logit, Probit, Poisson,
        NegativeBinomial, MNLogit, OrderedModel or PHReg (Cox) model of statsmodels returns, also
        with robust covariances, or the margins of one. Any other model is looked at as far as it
        has regressors, and is for a person to review; so is whatever else is not known. What has a
        value for each record (predictions, influence, rolling regressions) fails. `SurvfuncRight`
        is judged as `survival` does, `PCA` as `components`, `DescrStatsW`, `CompareMeans` and
        Tukey's comparison of all pairs as the means they are made of.
    unit
        Whom each record belongs to: a Series that has the records in its index, or one value
        for each record of the model. None: each record is a unit; of a GEE, each cluster.
    profile
        The institution's rules; see `Profile.read`.

    Raises
    ------
    InputError
        It is no fitted model, or does not hold the records that it was made of (a summary, a table
        of counts, a test), or `unit` has another length.

    Sources
    -------
    Vogel (2011), Enthüllungsrisiko beim Remote Access: Die Schwerpunkteigenschaft der
    Regressionsgerade. Guidelines for the checking of output (DwB 2015), 5.9.

    Examples
    --------
    >>> import numpy as np, statsmodels.api as sm
    >>> draw = np.random.default_rng(1)
    >>> x = sm.add_constant(draw.normal(size=(100, 2)))
    >>> print(model(sm.OLS(x.sum(axis=1) + draw.normal(size=100), x).fit()).verdict)
    pass
    >>> spy = np.column_stack([x, np.arange(100) == 7])
    >>> print(model(sm.OLS(x.sum(axis=1), spy).fit()).reasons()[1])
    The coefficients give away the value of a single unit. Here: x3.
    """
    rules = Profile.read(profile)
    made = handed(results, unit, rules)
    if made is not None:
        return made
    shown = results
    if (fitted := fitted_of(results)) is not results:
        shown = results.summary_frame()
    fit = fit_of(fitted)
    if fit is None:
        return not_understood(results, rules)
    whose = fit.clusters if unit is None else unit
    fit, units = counted(fit, units_of(whose, fit.rows, len(fit.x)))
    told = told_by(fit)
    found = [*judge_model(fit, units, told, rules), *within(told, units, rules, counts=False)]
    kept = tuple(one for one in found if one.verdict != "pass")
    made_from = {**fit.dependent, **dict(zip(fit.names, fit.x.T, strict=True))}
    told = (*told, *pairs_told(made_from, fit.rows, rules))
    return Checked("regression", shown, CHECKS, kept, rules, told, made_from)


def told_by(fit: Fit) -> tuple[Told, ...]:
    """The records of each value besides zero of variables that have two values at most, and sums.

    What is explained is added up over the records of such a regressor, and multiplied by any other.
    """
    told: list[Told] = []
    explained = fit.dependent if fit.sums else {}
    sums = {name: y if fit.prior is None else fit.prior * y for name, y in explained.items()}
    for name, column in {**dict(zip(fit.names, fit.x.T, strict=True)), **fit.dependent}.items():
        two = two_values(column)
        constant = not two and bool((column == column[0]).all())
        values = [one for one in two or (column[:1].tolist() if constant else ()) if one]
        if values:
            sets = np.full(len(column), -1, np.int32)
            for number, value in enumerate(values):
                sets[column == value] = number
            labels = [(f"{name} = {one:g}" if len(values) > 1 else name,) for one in values]
        else:
            sets, labels = np.zeros(len(column), np.int32), [(name,)]
        if name in fit.dependent or not sums:
            told += [Told(sets, tuple(labels), fit.rows)] if values else []
            continue
        for what, y in sums.items():
            product = y if values else column * y
            variable = what if values else f"{name} * {what}"
            told.append(Told(sets, tuple(labels), fit.rows, product, variable))
    return tuple(told)
