"""Fitted models of statsmodels, as the checks look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model: its regressors, what it explains, and how much each record counts.

    Parameters
    ----------
    x
        Shape (records, regressors), column by column in memory.
    names
        Of the regressors.
    dependent
        Name → shape (records,): what the model explains; an indicator for each answer of a model
        of several, time and event of a model of durations.
    rows
        Shape (records,): what the records are called; None: not known.
    prior
        Shape (records,): the weights that were given; None: all are one.
    working
        Shape (records,): how much each record counts at the solution; None: all count alike.
    residuals
        Shape (records,): of linear models; None: there are none.
    freedom
        Degrees of freedom that are left.
    sums
        Whether its equations tell sums of regressors times what is explained.
    understood
        Whether it is known what the coefficients of such a model tell.
    """

    x: Numbers
    names: tuple[str, ...]
    dependent: Mapping[str, Numbers]
    rows: Any
    prior: Numbers | None
    working: Numbers | None
    residuals: Numbers | None
    freedom: float
    sums: bool
    understood: bool


def fit_of(results: Any) -> Fit:
    """What the checks need of what ``fit()`` of a model of statsmodels returns.

    Raises
    ------
    InputError
        It is no fitted model, or has several dependent variables.
    """
    model: Any = getattr(results, "model", None)
    if getattr(model, "exog", None) is None or not hasattr(results, "df_resid"):
        raise InputError(
            f"results= must be a fitted model of statsmodels with regressors, not "
            f"{type(results).__name__}; say model.fit() first"
        )
    x = np.asfortranarray(model.exog, np.float64)  # read column by column
    y = np.asarray(model.endog, np.float64)
    if x.ndim != 2 or y.ndim != 1:
        raise InputError("results= must be a model of one dependent variable")
    name = type(model).__name__ if type(model) in _understood() else ""
    prior, working = _WEIGHTS.get(name, _no_weights)(results)
    freedom = min(results.df_resid, getattr(results, "df_resid_inference", None) or np.inf)
    labels = getattr(getattr(model, "data", None), "row_labels", None)
    rows = None if labels is None else np.asarray(labels)
    residuals = np.asarray(results.resid, np.float64) if name in ("OLS", "WLS") else None
    dependent = _dependent(model, name, y)
    if name == "PHReg":
        freedom = float(dependent[_EVENT].sum()) - x.shape[1]
    return Fit(
        x,
        tuple(map(str, model.exog_names))[: x.shape[1]],  # thresholds have names too
        dependent,
        rows,
        prior,
        working,
        residuals,
        float(freedom),
        name != "PHReg",
        bool(name),
    )


def counted(fit: Fit, units: NDArray[np.int32] | None) -> tuple[Fit, NDArray[np.int32] | None]:
    """The fit without records of weight zero, of which it tells nothing; and their units."""
    if fit.prior is None or fit.prior.all():
        return fit, units
    kept = fit.prior > 0

    def of(values: Any) -> Any:
        return None if values is None else values[kept]

    return replace(
        fit,
        x=np.asfortranarray(fit.x[kept]),
        dependent={name: values[kept] for name, values in fit.dependent.items()},
        rows=of(fit.rows),
        prior=of(fit.prior),
        working=of(fit.working),
        residuals=of(fit.residuals),
    ), of(units)


_EVENT = "event"


def _understood() -> tuple[type, ...]:
    """Models whose coefficients are known to tell the means that are judged here, and no more.

    A quantile regression, for one, runs through single records.
    """
    from statsmodels.discrete.discrete_model import (
        Logit,
        MNLogit,
        NegativeBinomial,
        Poisson,
        Probit,
    )
    from statsmodels.duration.hazard_regression import PHReg
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.regression.linear_model import OLS, WLS

    linear = (OLS, WLS, GLM)
    return (*linear, Logit, Probit, Poisson, NegativeBinomial, MNLogit, OrderedModel, PHReg)


def _dependent(model: Any, name: str, y: Numbers) -> Mapping[str, Numbers]:
    label = str(getattr(model, "endog_names", "y"))
    if name in ("MNLogit", "OrderedModel"):
        return {f"{label} = {one:g}": (y == one).astype(np.float64) for one in np.unique(y)}
    if name == "PHReg":
        return {label: y, _EVENT: np.asarray(model.status, np.float64)}
    return {label: y}


# ── how much each record counts ─────────────────────────────────────────────────────

Weights = tuple[Numbers | None, Numbers | None]


def _no_weights(results: Any) -> Weights:
    return None, None


def _least_squares(results: Any) -> Weights:
    given = np.broadcast_to(results.model.weights, len(results.model.endog)).astype(np.float64)
    return given, given


def _generalised(results: Any) -> Weights:
    model = results.model
    given = np.broadcast_to(model.iweights, len(model.endog)).astype(np.float64)
    working = given * np.asarray(model.family.weights(np.asarray(results.mu)), np.float64)
    return (None if (given == 1).all() else given), working


def _logit(results: Any) -> Weights:
    share = np.asarray(results.predict(), np.float64)
    return None, share * (1 - share)


def _probit(results: Any) -> Weights:
    from scipy.stats import norm

    line = np.asarray(results.predict(which="linear"), np.float64)
    return None, np.exp(2 * norm.logpdf(line) - norm.logcdf(line) - norm.logcdf(-line))


def _counts(results: Any) -> Weights:
    return None, np.asarray(results.predict(), np.float64)


def _overdispersed(results: Any) -> Weights:
    mean = np.asarray(results.predict(), np.float64)
    return None, mean / (1 + float(np.asarray(results.params)[-1]) * mean)


def _several(results: Any) -> Weights:
    return None, 1 - (np.asarray(results.predict(), np.float64) ** 2).sum(axis=1)


def _durations(results: Any) -> Weights:
    """The events that are expected of each record: what it counts as in a Poisson model."""
    expected = np.asarray(results.model.status) - np.asarray(results.martingale_residuals)
    return None, np.maximum(np.nan_to_num(expected), 0)


_WEIGHTS = {
    "WLS": _least_squares,
    "GLM": _generalised,
    "Logit": _logit,
    "Probit": _probit,
    "Poisson": _counts,
    "NegativeBinomial": _overdispersed,
    "MNLogit": _several,
    "PHReg": _durations,
}
