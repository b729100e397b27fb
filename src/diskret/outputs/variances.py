"""Tables of analyses of variance: sums of squares of each term of a linear model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import Annotated, Any

import numpy as np

from diskret.errors import InputError
from diskret.outputs.checked import Checked, Finding, merged
from diskret.outputs.fitted import counted, fit_of
from diskret.outputs.influence import influence
from diskret.outputs.models import model
from diskret.outputs.profile import Profile
from diskret.outputs.units import units_of
from diskret.parameters import Whole, reading


@reading
def anova(
    results: Any,
    *,
    typ: Annotated[int, Whole(1, 3)] = 1,
    unit: Any = None,
    profile: str | PathLike[str] | Profile = "guidelines",
) -> Checked:
    """A table of an analysis of variance as statsmodels makes it, checked as its model is.

    The sum of squares of a term is that of what it has beyond other terms: those before it (type
    1), those that do not contain it (type 2), or all others (type 3). So besides the model it is
    looked at whether few units determine a term beyond those.

    Parameters
    ----------
    results
        What ``fit()`` of an OLS or WLS model that was made from a formula returns.
    typ
        The type of sums of squares, as statsmodels has it.
    unit, profile
        As for `model`.

    Returns
    -------
    Checked
        Its `output` is the table of ``statsmodels.stats.anova.anova_lm``.

    Raises
    ------
    InputError
        It is no linear model from a formula.

    Sources
    -------
    Guidelines for the checking of output (DwB 2015), 5.9.

    Examples
    --------
    >>> import pandas as pd, statsmodels.formula.api as smf
    >>> draw = np.random.default_rng(1)
    >>> firms = pd.DataFrame({"region": list("NSW") * 30, "sales": draw.normal(size=90)})
    >>> checked = anova(smf.ols("sales ~ region", firms).fit())
    >>> checked.verdict, checked.output.index.tolist()
    ('pass', ['region', 'Residual'])
    """
    from statsmodels.stats.anova import anova_lm

    rules = Profile.read(profile)
    found = model(results, unit=unit, profile=rules)
    spec: Any = getattr(getattr(results.model, "data", None), "model_spec", None)
    fit = fit_of(results)
    if fit is None or fit.name not in ("OLS", "WLS") or not hasattr(spec, "term_slices"):
        raise InputError(
            "results= must be a linear model from a formula, as dk.check.ols(...).output is"
        )
    fit, units = counted(fit, units_of(unit, fit.rows, len(fit.x)))
    few: list[Finding] = []
    for term, beside in _terms(spec, typ):
        at = np.r_[tuple(spec.term_slices[one] for one in (*beside, term))]
        x = np.asfortranarray(fit.x[:, at])
        own = influence(x, fit.working, units, rules.threshold, rules.own_share).few
        if own[len(own) - len(np.r_[spec.term_slices[term]]) :].any():
            blanks = {"threshold": rules.threshold}
            few.append(Finding("weight", rules.verdict("weight"), ((term.name(),),), blanks))
    findings = merged([*found.findings, *few])
    return replace(found, output=anova_lm(results, typ=typ), findings=findings)


def _terms(spec: Any, typ: int) -> Iterator[tuple[Any, list[Any]]]:
    """Each term, and those beyond which its squares are summed."""
    terms = [*spec.terms]
    for at, term in enumerate(terms):
        others = [one for one in terms if one is not term]
        if typ == 1:
            others = terms[:at]
        elif typ == 2:
            others = [one for one in others if not {*term.factors} <= {*one.factors}]
            if not term.factors:
                continue
        if term.factors:
            yield term, others
