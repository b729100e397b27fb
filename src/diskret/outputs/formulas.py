"""Models from a formula: fitted with statsmodels as it is, and checked."""

from __future__ import annotations

import warnings
from inspect import currentframe
from os import PathLike
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.outputs.given import column_of, framed
from diskret.outputs.models import model
from diskret.outputs.profile import Profile

#: What of a model is said by the name of a column.
_COLUMNS = ("weights", "freq_weights", "var_weights", "offset", "exposure", "status", "strata")


def ols(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A linear regression from a formula, fitted with statsmodels and checked as `model` does.

    Parameters
    ----------
    formula
        As statsmodels takes it, such as ``"turnover ~ C(region) * size"``: factors and interactions
        become regressors, each of which is looked at.
    data
        A frame of pandas, or of Polars, that has the variables.
    unit
        Name of the column that says whom a record belongs to, or a Series that has the records
        in its index. None: each record is a unit.
    profile
        The institution's rules; see `Profile.read`.
    options
        What ``fit()`` takes, such as ``cov_type="HC1"``.

    Raises
    ------
    InputError
        The formula is not understood, a variable is missing, or the model cannot be fitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"size": draw.normal(size=90), "y": draw.normal(size=90)})
    >>> firms["region"] = ["N"] * 40 + ["S"] * 45 + ["W"] * 5
    >>> print(ols("y ~ size", firms).verdict)
    pass
    >>> ols("y ~ C(region) * size", firms).findings[0].places
    (('C(region)[T.W]',), ('C(region)[T.W]:size',))
    """
    return _checked("ols", formula, data, unit, profile, options)


def wls(
    formula: str,
    data: Any,
    *,
    weights: Any,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A weighted linear regression from a formula, checked with its weights.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `ols`.
    weights
        Name of the column of weights, or a Series. Records of weight zero count nothing.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("wls", formula, data, unit, profile, {**options, "weights": weights})


def glm(
    formula: str,
    data: Any,
    *,
    family: Any = None,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A generalised linear model from a formula; leverage is that of its last step.

    Parameters
    ----------
    formula, data, unit, profile
        As for `ols`.
    family
        A family of statsmodels with its link, such as ``statsmodels.api.families.Gamma()``; None:
        Gaussian.
    options
        `offset`, `exposure`, `freq_weights`, `var_weights`: names of columns, or Series; and
        what ``fit()`` takes.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("glm", formula, data, unit, profile, {**options, "family": family})


def logit(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A logistic regression from a formula, checked as `model` does.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `ols`; the dependent variable has zeros and ones.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("logit", formula, data, unit, profile, options)


def probit(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A probit model from a formula, checked as `model` does.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `ols`; the dependent variable has zeros and ones.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("probit", formula, data, unit, profile, options)


def poisson(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A Poisson regression from a formula, checked as `model` does.

    Parameters
    ----------
    formula, data, unit, profile
        As for `ols`; the dependent variable counts.
    options
        `offset`, `exposure`: names of columns, or Series; and what ``fit()`` takes.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("poisson", formula, data, unit, profile, options)


def negativebinomial(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A negative binomial regression (NB2) from a formula, checked as `model` does.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `poisson`.

    Raises
    ------
    InputError
        As for `ols`.
    """
    return _checked("negativebinomial", formula, data, unit, profile, options)


def mnlogit(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A logistic regression of several answers from a formula; each answer is looked at.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `ols`; the dependent variable is a column of numbers, texts or categories.

    Raises
    ------
    InputError
        As for `ols`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> people = pd.DataFrame({"age": draw.normal(50, 9, 200)})
    >>> people["vote"] = ["green"] * 90 + ["red"] * 106 + ["blue"] * 4
    >>> mnlogit("vote ~ age", people).findings[0].places
    (('vote = blue',),)
    """
    answer, _, rest = formula.partition("~")
    frame = framed(data)
    name = answer.strip()
    if name not in frame.columns or _is_number(frame[name]):
        return _checked("mnlogit", formula, data, unit, profile, options)
    import pandas as pd

    codes, kinds = pd.factorize(frame[name], sort=True)
    coded = frame.assign(**{name: np.where(codes < 0, np.nan, codes)})
    results = _fitted("mnlogit", f"{name} ~ {rest}", coded, options)
    # by these names a summary calls the answers
    results.model._ynames_map = {at: str(kind) for at, kind in enumerate(kinds)}
    return model(results, unit=column_of(frame, unit, "unit"), profile=profile)


def ordered(
    formula: str,
    data: Any,
    *,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A model of ordered answers from a formula: proportional odds, or an ordered probit.

    Parameters
    ----------
    formula, data, unit, profile
        As for `ols`, without a constant; the dependent variable has numbers, or is an ordered
        categorical of pandas.
    options
        `distr`: ``"logit"`` (the default) or ``"probit"``; and what ``fit()`` takes.

    Raises
    ------
    InputError
        As for `ols`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> draw = np.random.default_rng(1)
    >>> people = pd.DataFrame({"age": draw.normal(50, 9, 200), "health": draw.integers(0, 3, 200)})
    >>> ordered("health ~ age", people).verdict
    'pass'
    """
    return _checked("ordered", formula, data, unit, profile, {"distr": "logit", **options})


def phreg(
    formula: str,
    data: Any,
    *,
    status: Any,
    strata: Any = None,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
    **options: Any,
) -> Checked:
    """A proportional hazards model (Cox) from a formula; what counts are events.

    The degrees of freedom are those of the events, and each regressor of zeros and ones is
    looked at together with the event, and among those at risk at an event, within their stratum:
    only there the model compares. The baseline hazard has a step at each event: it is a
    survival curve, for `survival` to judge, and no part of this result.

    Parameters
    ----------
    formula, data, unit, profile, options
        As for `ols`; the dependent variable is the time.
    status
        Name of the column that says whether the event happened (1) or not (0), or a Series.
    strata
        Name of the column whose categories have baselines of their own, or a Series.

    Raises
    ------
    InputError
        As for `ols`.
    """
    given = {"status": status} if strata is None else {"status": status, "strata": strata}
    return _checked("phreg", formula, data, unit, profile, {**options, **given})


#: What goes to the model; all else goes to ``fit()``.
_OF_MODEL = (*_COLUMNS, "family", "ties", "missing", "distr")
#: Models that print how they get on.
_TALKATIVE = ("logit", "probit", "poisson", "negativebinomial", "mnlogit", "ordered")


def _checked(
    kind: str,
    formula: str,
    data: Any,
    unit: Any,
    profile: str | PathLike[str] | Profile,
    options: dict[str, Any],
) -> Checked:
    frame = framed(data)
    results = _fitted(kind, formula, frame, options)
    return model(results, unit=column_of(frame, unit, "unit"), profile=profile)


def _fitted(kind: str, formula: str, frame: Any, options: dict[str, Any]) -> Any:
    import statsmodels.formula.api as smf
    from patsy import PatsyError
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    making = {name: one for name, one in options.items() if name in _OF_MODEL and one is not None}
    for name in _COLUMNS:
        if name in making:
            making[name] = column_of(frame, making[name], name)
    fitting = {name: one for name, one in options.items() if name not in _OF_MODEL}
    if kind in _TALKATIVE:
        fitting = {"disp": 0, **fitting}
    made = OrderedModel.from_formula if kind == "ordered" else getattr(smf, kind)
    try:
        with warnings.catch_warnings():
            # statsmodels takes names in a dict as well, but only since 0.15
            warnings.filterwarnings("ignore", "EvalEnvironment", FutureWarning)
            unfitted = made(formula, frame, eval_env=_names(), **making)
        return unfitted.fit(**fitting)
    except (PatsyError, ArithmeticError, LookupError, ValueError, NameError) as error:
        raise InputError(f"{kind} {formula!r} cannot be fitted: {error}") from error


def _is_number(column: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _names() -> Any:
    """What who wrote the formula calls things: functions of theirs are known in it."""
    from patsy import EvalEnvironment

    depth, frame = 0, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("diskret."):
        depth, frame = depth + 1, frame.f_back
    return EvalEnvironment.capture(depth)


def design_of(formula: str, frame: Any) -> tuple[Any, Any]:
    """What a formula explains and its regressors, as frames of the records without missing values.

    Raises
    ------
    InputError
        The formula is not understood, or a variable is missing.
    """
    from patsy import PatsyError, dmatrices

    try:
        return dmatrices(formula, frame, eval_env=_names(), return_type="dataframe")
    except (PatsyError, ArithmeticError, ValueError, NameError) as error:
        raise InputError(f"formula= {formula!r} is not understood: {error}") from error
