"""Fitted models of statsmodels, as the checks look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.risk_sets import RiskSets

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
        of several, time and event of a model of durations. With an offset also what it leaves, or
        the exposure.
    rows
        Shape (records,): what the records are called; None: not known.
    prior
        Shape (records,): the weights that were given; None: all are one.
    working
        Shape (records,): how much each record counts at the solution; None: all count alike.
    residuals
        Shape (records,): of linear models; None: there are none.
    scattered
        Shape (records,): residuals whose squares a robust covariance tells for each regressor;
        None: it is none.
    freedom
        Degrees of freedom that are left.
    sums
        Whether its equations tell sums of regressors times what is explained.
    understood
        Whether it is known what the coefficients of such a model tell.
    name
        Of the kind of model, such as ``"OLS"``.
    risk_sets
        Of a Cox model; None: it is none.
    clusters
        Shape (records,): whom each record belongs to unless somebody says otherwise; None: each is
        a unit.
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
    name: str = ""
    clusters: Any = None
    risk_sets: RiskSets | None = None
    scattered: Numbers | None = None


def fitted_of(results: Any) -> Any:
    """The fitted model itself, where margins of one are handed over."""
    if type(results).__module__ != "statsmodels.discrete.discrete_margins":
        return results
    return results.results


def fit_of(results: Any) -> Fit | None:
    """What the checks need of what ``fit()`` of a model of statsmodels returns; None: unknown.

    Raises
    ------
    InputError
        It is a model that was not fitted, or that lost its records.
    """
    model: Any = getattr(results, "model", None)
    if hasattr(results, "exog") and hasattr(results, "fit") and type(results) in _understood():
        raise InputError(
            f"results= must be a fitted model of statsmodels with regressors, not "
            f"{type(results).__name__}; say model.fit() first"
        )
    exog, endog = (getattr(model, one, None) for one in ("exog", "endog"))
    if type(model) in _understood() and (exog is None or endog is None):
        raise InputError(
            f"results= is a {type(results).__name__} without its records, as remove_data() leaves "
            "it; hand it over as fit() returns it"
        )
    if exog is None or endog is None or np.ndim(exog) != 2 or np.ndim(endog) != 1:
        return None
    x = np.asfortranarray(exog, np.float64)  # read column by column
    y = np.asarray(endog, np.float64)
    if len(x) != len(y):
        return None
    name = _name(results)
    risk_sets = RiskSets.of(results) if name == "PHReg" else None
    prior, working = _WEIGHTS.get(name, _no_weights)(results)
    if risk_sets is not None:
        working = risk_sets.expected
    left = getattr(results, "df_resid", None)
    left = len(x) - np.linalg.matrix_rank(x) if left is None else left
    freedom = min(left, getattr(results, "df_resid_inference", None) or np.inf)
    clusters = None
    if name == "GEE":
        clusters = np.asarray(model.groups)
        freedom = min(freedom, len(np.unique(clusters)) - x.shape[1])
    labels = getattr(getattr(model, "data", None), "row_labels", None)
    rows = None if labels is None else np.asarray(labels)
    residuals = np.asarray(results.resid, np.float64) if name in ("OLS", "WLS") else None
    dependent = _dependent(model, name, y)
    beyond = {} if name == "PHReg" else _beside_offset(model, next(iter(dependent), ""), y)
    dependent = {**dependent, **(beyond or {})}
    names = apart([*map(str, model.exog_names)][: x.shape[1]], dependent)  # thresholds come after
    if name == "PHReg":
        freedom = float(dependent[_EVENT].sum()) - x.shape[1]
    return Fit(
        x,
        names,
        dependent,
        rows,
        prior,
        working,
        residuals,
        float(freedom),
        name != "PHReg",
        bool(name) and beyond is not None,
        type(model).__name__,
        clusters,
        risk_sets,
        _scattered(results),
    )


def apart(names: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """The names, each with a number if it is taken or comes again.

    >>> apart(["a", "b", "b"], ["a"])
    ('a (2)', 'b', 'b (2)')
    """
    known = {*taken}
    found: list[str] = []
    for name in names:
        number, own = 1, name
        while own in known:
            number += 1
            own = f"{name} ({number})"
        known.add(own)
        found.append(own)
    return tuple(found)


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
        clusters=of(fit.clusters),
        rows=of(fit.rows),
        prior=of(fit.prior),
        working=of(fit.working),
        residuals=of(fit.residuals),
        scattered=of(fit.scattered),
    ), of(units)


_EVENT = "event"


def _name(results: Any) -> str:
    """The kind of model, if what it tells is known; else empty.

    Penalties change the equations; clusters that lean on each other mix their records.
    """
    model = results.model
    kind = type(getattr(results, "_results", results)).__name__
    if type(model) not in _understood() or kind.startswith(("L1", "Regularized")):
        return ""
    name = type(model).__name__
    if name == "GEE" and type(model.cov_struct).__name__ != "Independence":
        return ""
    if getattr(model, "loglike_method", "") == "nb1":  # its equations are no sums
        return ""
    if not np.isfinite(np.asarray(results.params, np.float64)).all():  # it was not fitted
        return ""
    return name


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
    from statsmodels.genmod.generalized_estimating_equations import GEE
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.regression.linear_model import OLS, WLS
    from statsmodels.robust.robust_linear_model import RLM

    linear = (OLS, WLS, RLM, GLM, GEE)
    return (*linear, Logit, Probit, Poisson, NegativeBinomial, MNLogit, OrderedModel, PHReg)


def _dependent(model: Any, name: str, y: Numbers) -> Mapping[str, Numbers]:
    label = str(getattr(model, "endog_names", "y"))
    if name in ("MNLogit", "OrderedModel"):
        called = getattr(model, "_ynames_map", None) or dict(
            enumerate(getattr(model, "labels", ()))
        )
        return {
            f"{label} = {_plain(called.get(int(one), one))}": (y == one).astype(np.float64)
            for one in np.unique(y)
        }
    if name == "PHReg":
        return {label: y, _EVENT: np.asarray(model.status, np.float64)}
    return {label: y}


def _beside_offset(model: Any, label: str, y: Numbers) -> Mapping[str, Numbers] | None:
    """What the equations of a model with an offset tell sums of, besides what it explains.

    A linear one explains what the offset leaves; one of counts tells rates, so the sum of exposures
    follows from that of counts. None: it is not known.
    """
    given = [getattr(model, one, None) for one in ("offset", "exposure")]  # in logarithms
    offset = sum(np.asarray(one, np.float64) for one in given if one is not None)
    if np.ptp(offset) == 0:
        return {}
    family = getattr(model, "family", None)
    link = "Log" if family is None else type(family.link).__name__
    if link == "Identity":
        return {f"{label} less offset": y - offset}
    counts = family is not None or type(model).__name__ in ("Poisson", "NegativeBinomial")
    return {"exposure": np.exp(offset)} if link == "Log" and counts else None


def _scattered(results: Any) -> Numbers | None:
    if getattr(results, "cov_type", "nonrobust") == "nonrobust":
        return None
    for name in ("resid_response", "resid"):
        found = getattr(results, name, None)
        if found is not None and np.ndim(found) == 1:
            return np.asarray(found, np.float64)
    return None


def _plain(answer: Any) -> str:
    """An answer as it is written: a whole number without its fraction."""
    try:
        return f"{float(answer):g}"
    except ValueError:
        return str(answer)


# ── how much each record counts ─────────────────────────────────────────────────────

Weights = tuple[Numbers | None, Numbers | None]


def _no_weights(results: Any) -> Weights:
    return None, None


def _least_squares(results: Any) -> Weights:
    given = np.broadcast_to(results.model.weights, len(results.model.endog)).astype(np.float64)
    return given, given


def _robust(results: Any) -> Weights:
    given = np.asarray(results.weights, np.float64)
    return given, given


def _clustered(results: Any) -> Weights:
    model = results.model
    given = None if model.weights is None else np.asarray(model.weights, np.float64)
    working = np.asarray(model.family.weights(np.asarray(results.fittedvalues)), np.float64)
    return given, working if given is None else given * working


def _generalised(results: Any) -> Weights:
    """Of shares (successes and failures) with the number of trials, which the equations have."""
    model = results.model
    given = np.broadcast_to(model.iweights, len(model.endog)).astype(np.float64)
    given = given * np.asarray(model.n_trials, np.float64)
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
    alone = results.model.loglike_method == "geometric"
    more = 1.0 if alone else float(np.asarray(results.params)[-1])
    return None, mean / (1 + more * mean)


def _several(results: Any) -> Weights:
    return None, 1 - (np.asarray(results.predict(), np.float64) ** 2).sum(axis=1)


_WEIGHTS = {
    "WLS": _least_squares,
    "RLM": _robust,
    "GEE": _clustered,
    "GLM": _generalised,
    "Logit": _logit,
    "Probit": _probit,
    "Poisson": _counts,
    "NegativeBinomial": _overdispersed,
    "MNLogit": _several,
}
