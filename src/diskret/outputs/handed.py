"""What statsmodels returns besides fitted models: curves, components, comparisons of means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.cells import Cells
from diskret.outputs.checked import Checked, Finding, Told, merged
from diskret.outputs.durations import CHECKS, judged_steps, steps_of
from diskret.outputs.judge_cells import STATISTICS, VARIANCE, Part, pooled
from diskret.outputs.judged import judged
from diskret.outputs.moments import COMPONENTS, judged_components
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of


def handed(results: Any, unit: Any, rules: Profile) -> Checked | None:
    """What the checks say of a result that is no fitted model; None: it may be one.

    Raises
    ------
    InputError
        It does not hold the records that it was made of; the message says what to hand over.
    """
    name = type(results).__name__
    module = type(results).__module__.split(".")[0]
    if module == "statsmodels" and name in _JUDGED:
        return _JUDGED[name](results, unit, rules)
    if module == "statsmodels" and (name in _BY_RECORD or _at_each(results)):
        finding = Finding("residuals", rules.verdict("residuals"))
        found = () if finding.verdict == "pass" else (finding,)
        return Checked("regression", results, ("residuals",), found, rules)
    known = module in ("statsmodels", "scipy")
    remedy = _WITHOUT_RECORDS.get(name) if known else None
    if remedy or isinstance(results, _PLAIN) or module in ("pandas", "polars", "pyarrow"):
        raise InputError(
            f"results= ({name}) does not say what records it was made of: {remedy or _REMEDY}"
        )
    return None


def _at_each(results: Any) -> bool:
    """Margins at each record."""
    return getattr(results, "margeff_options", {}).get("at") == "all"


def not_understood(results: Any, rules: Profile) -> Checked:
    """A result of which nothing is known."""
    finding = Finding("unknown", rules.verdict("unknown"), ((type(results).__name__,),))
    found = () if finding.verdict == "pass" else (finding,)
    return Checked("unknown", results, ("unknown",), found, rules)


#: What has a value, or coefficients, for each record.
_BY_RECORD = (
    "PredictionResults",
    "PredictionResultsBase",
    "PredictionResultsMean",
    "PredictionResultsMonotonic",
    "PredictionResultsDelta",
    "OLSInfluence",
    "MLEInfluence",
    "GLMInfluence",
    "RollingRegressionResults",
    "RecursiveLSResults",
    "RecursiveLSResultsWrapper",
    "ECDF",
    "StepFunction",
)

_PLAIN = (str, bytes, int, float, complex, tuple, list, dict, set, np.ndarray, np.generic)
_REMEDY = (
    "hand over the fitted model, or make it with a function of dk.check; a file of it is for "
    "dk.check.folder"
)
_MODEL = "hand over the fitted model that it was made of"
_TABLE = "say dk.check.crosstab or dk.check.chi2 with the records"
_TEST = "say dk.check.ttest, dk.check.chi2 or another test of dk.check with the records"

#: Class → what to hand over instead.
_WITHOUT_RECORDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("Summary", "SimpleTable", "ContrastResults", "WaldTestResults", "VIF"), _MODEL
    ),
    **dict.fromkeys(("Table", "Table2x2", "SquareTable", "StratifiedTable"), _TABLE),
    **dict.fromkeys(("_Bunch", "HolderTuple", "TtestResult", "SignificanceResult"), _TEST),
    **dict.fromkeys(("Chi2ContingencyResult", "PearsonRResult", "MannwhitneyuResult"), _TEST),
    **dict.fromkeys(("TTestResult", "KstestResult", "F_onewayResult", "KruskalResult"), _TEST),
    "KDEUnivariate": "say dk.check.density with the records",
    "KDEMultivariate": "say dk.check.density with the records",
    "AnovaResults": "say dk.check.anova with a linear model of the same terms",
}


# ── survival curves ─────────────────────────────────────────────────────────────────


def _curve(results: Any, unit: Any, rules: Profile) -> Checked:
    """A curve of Kaplan and Meier; of other ones a person has to look."""
    time = np.asarray(results.time, np.float64)
    event = np.asarray(results.status) == 1
    units = units_of(unit, None, len(time))
    steps = steps_of(time, event, np.full(len(time), ""))
    found = judged_steps(steps, units, rules)
    more = [name for name in ("entry", "freq_weights", "exog") if hasattr(results, name)]
    if more and rules.verdict("unknown") != "pass":
        places = tuple((name,) for name in more)
        found = (*found, Finding("unknown", rules.verdict("unknown"), places))
    told = (Told(steps.cell, steps.names),)
    made = (*CHECKS, "unknown")
    made_from = {"time": time, "event": event.astype(np.float64)}
    return Checked("survival", results.summary(), made, found, rules, told, made_from)


# ── components ──────────────────────────────────────────────────────────────────────


def _components(results: Any, unit: Any, rules: Profile) -> Checked:
    """Variances and loadings; what leaves is a frame of them, never the scores."""
    import pandas as pd

    whole = np.asarray(results.data, np.float64)
    inside = np.zeros(len(whole), bool)
    inside[results.rows] = True
    values = whole[inside][:, results.cols]
    index = results._index
    names = [str(one) for one in results._columns] if index is not None else []
    names = names or [f"x{at}" for at in results.cols]
    rows = None if index is None else np.asarray(index)
    units = units_of(unit, rows if rows is not None and inside.all() else None, len(whole))
    units = None if units is None else units[inside]
    found: list[Finding] = []
    if np.isnan(values).any():  # they were filled in
        found.append(Finding("unknown", rules.verdict("unknown"), (("missing",),)))
        values = np.asarray(results._adjusted_data, np.float64)
    centred = np.asarray(results.transformed_data, np.float64)
    found += judged_components(names, values, centred, units, rules)
    output = pd.DataFrame(np.asarray(results.loadings).T, columns=names)
    output.insert(0, "eigenvalue", np.asarray(results.eigenvals)[: len(output)])
    told = (Told(np.zeros(len(values), np.int32), ((", ".join(names),),), rows),)
    made_from = dict(zip(names, values.T, strict=True))
    made = (*COMPONENTS, "unknown")
    return Checked("components", output, made, merged(found), rules, told, made_from)


# ── means ───────────────────────────────────────────────────────────────────────────


def _described(results: Any, unit: Any, rules: Profile) -> Checked:
    """Means and deviations of the columns of `DescrStatsW`, as a frame."""
    import pandas as pd

    columns = np.asarray(results.data, np.float64).reshape(len(results.data), -1)
    weights = np.asarray(results.weights, np.float64)
    names = [f"x{at}" for at in range(columns.shape[1])]
    output = pd.DataFrame(
        {"mean": np.atleast_1d(results.mean), "std": np.atleast_1d(results.std)}, names
    )
    output.insert(0, "nobs", float(results.nobs))
    given = dict(zip(names, columns.T, strict=True))
    return _means(output, [(given, weights)], unit, rules)


def _compared(results: Any, unit: Any, rules: Profile) -> Checked:
    """The two means of `CompareMeans`, with the test that is made of them."""
    import pandas as pd

    if unit is not None:
        raise InputError(
            "results= (CompareMeans) does not say which record belongs to which unit: "
            "say dk.check.ttest with the records"
        )
    both = (results.d1, results.d2)
    rows = [
        {"nobs": float(one.nobs), "mean": float(one.mean), "std": float(one.std)} for one in both
    ]
    output = pd.DataFrame(rows, ["first", "second"])
    output["statistic"], output["p_value"], output["freedom"] = results.ttest_ind()
    samples = [
        ({name: np.asarray(one.data, np.float64).reshape(-1)}, np.asarray(one.weights, np.float64))
        for name, one in zip(("first", "second"), both, strict=True)
    ]
    return _means(output, samples, None, rules)


Sample = tuple[Mapping[str, NDArray[np.float64]], NDArray[np.float64]]


def _means(output: Any, samples: Sequence[Sample], unit: Any, rules: Profile) -> Checked:
    """Means and deviations of some columns of one or two samples, each a cell of its own."""
    parts: list[Part] = []
    made_from: dict[str, Any] = {}
    for columns, weights in samples:
        units = units_of(unit, None, len(weights))
        at = np.where(weights > 0, 0, -1).astype(np.int32)
        for name, values in columns.items():
            cells = Cells(((name,),), at, weights * values, units)
            plain = Cells(((name,),), at, values, units)
            parts.append(Part(STATISTICS["mean"], [cells], variable=name))
            parts.append(Part(STATISTICS["std"], [plain], variable=name))
            made_from[name] = values
    return judged(output, parts, rules, None, made_from, kind="means")


def _tukey(results: Any, unit: Any, rules: Profile) -> Checked:
    """Differences of all pairs of means, judged as these and as the variance within groups."""
    import pandas as pd

    values = np.asarray(results.data, np.float64)
    at, kinds = pd.factorize(np.asarray(results.groups), sort=True)
    units = units_of(unit, None, len(values))
    cells = Cells(tuple((str(one),) for one in kinds), at.astype(np.int32), values, units)
    table = results.summary().data
    output = pd.DataFrame(table[1:], columns=table[0])
    parts = [
        Part(STATISTICS["mean"], [cells], variable="values"),
        Part(VARIANCE, [pooled(cells)], told=False),
    ]
    return judged(output, parts, rules, None, {}, kind="test")


_JUDGED: Mapping[str, Callable[[Any, Any, Profile], Checked]] = {
    "SurvfuncRight": _curve,
    "PCA": _components,
    "DescrStatsW": _described,
    "CompareMeans": _compared,
    "TukeyHSDResults": _tukey,
}
