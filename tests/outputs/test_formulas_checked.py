"""Models from a formula: factors and interactions become regressors, each looked at."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import diskret as dk
from diskret.errors import InputError


def firms(number=400):
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": draw.normal(10, 2, number),
            "age": draw.normal(20, 5, number),
            "turnover": draw.normal(100, 15, number),
            "region": draw.choice(["N", "S", "W"], number),
            "export": draw.integers(0, 2, number),
            "staff": draw.poisson(3, number),
            "weight": draw.uniform(1, 2, number),
            "years": draw.exponential(5, number),
            "closed": (draw.random(number) < 0.7).astype(int),
            "owner": np.arange(number) // 2,
        },
        index=[f"firm {one}" for one in range(number)],
    )


def found(checked):
    return {one.check: one.places for one in checked.findings}


def test_ordinary_models_pass_and_are_those_of_statsmodels():
    data = firms()
    poisson = sm.families.Poisson()
    for ours, theirs in [
        (dk.check.ols("turnover ~ size + C(region)", data), smf.ols),
        (dk.check.logit("export ~ size + C(region)", data), smf.logit),
        (dk.check.probit("export ~ size + C(region)", data), smf.probit),
        (dk.check.poisson("staff ~ size + C(region)", data), smf.poisson),
    ]:
        assert ours.verdict == "pass", ours.reasons()
        fitted = theirs(ours.output.model.formula, data).fit()
        np.testing.assert_allclose(ours.output.params, fitted.params)
    weighted = dk.check.wls("turnover ~ size", data, weights="weight")
    assert weighted.verdict == "pass"
    assert (weighted.output.model.weights == data.weight).all()
    counted = dk.check.glm("staff ~ size", data, family=poisson, exposure="weight")
    assert counted.verdict == "pass"
    lasting = dk.check.phreg("years ~ size + C(region)", data, status="closed", strata="export")
    assert lasting.verdict == "pass"


def test_interaction_with_few_zeros_and_with_few_others():
    data = firms()
    data["some"] = np.where(data.owner < 2, 0, 1)  # 4 firms have a zero
    assert ("some",) in found(dk.check.ols("turnover ~ size + some", data))["support"]
    # the interaction has four zeros, though its regressor has no two equal values
    results = dk.check.ols("turnover ~ size + size:some", data)
    assert found(results)["reference"] == (("size ± size:some",),)
    data["few"] = 1 - data["some"]
    assert ("size:few",) in found(dk.check.ols("turnover ~ size * few", data))["support"]


def test_names_of_who_wrote_the_formula_are_known():
    half = 0.5

    def halved(values):
        return half * values

    assert halved(3) == 1.5
    checked = dk.check.ols("turnover ~ halved(size)", firms())
    assert checked.verdict == "pass"
    project = dk.check.Project(firms())
    assert project.check(dk.check.ols, "turnover ~ halved(size)", firms()).verdict == "pass"


def test_units_may_be_named_and_missing_values_fall_out():
    data = firms()
    data.loc["firm 7", "size"] = np.nan
    data["few"] = (np.arange(len(data)) < 14).astype(float)  # seven owners
    assert "support" not in found(dk.check.ols("turnover ~ size + few", data))
    checked = dk.check.ols("turnover ~ size + few", data, unit="owner")
    assert found(checked)["support"] == (("few",),)
    assert "firm 7" not in checked.told[0].rows


def test_polars():
    data = pl.from_pandas(firms())
    assert dk.check.ols("turnover ~ size", data).verdict == "pass"


def test_robust_covariances_do_not_hide_few_clusters():
    data = firms()
    data["land"] = np.arange(len(data)) % 4
    groups = {"groups": data.land}
    assert dk.check.ols("turnover ~ size", data, cov_type="HC1").verdict == "pass"
    checked = dk.check.ols("turnover ~ size", data, cov_type="cluster", cov_kwds=groups)
    assert checked.output.df_resid > 10
    assert checked.reasons()[0] == "3 residual degrees of freedom; 10 are needed."


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda data: dk.check.ols("turnover ~ nothing", data), "nothing"),
        (lambda data: dk.check.ols("turnover ~ size", data, unit="who"), "unit='who' is no column"),
        (lambda data: dk.check.ols("turnover ~ size", [1]), "must be a frame of pandas or Polars"),
        (lambda data: dk.check.ols("turnover ~ size", pd.concat([data, data])), "same index"),
        (lambda data: dk.check.ols("region ~ size", data), "cannot be fitted"),
        (lambda data: dk.check.ordered("region ~ size", data), "cannot be fitted"),
        (lambda data: dk.check.ordered("staff * 2 ~ size", data), "cannot be fitted"),
        (lambda data: dk.check.mnlogit("region ~ nothing", data), "cannot be fitted"),
    ],
)
def test_what_cannot_be_fitted_is_said(call, said):
    with pytest.raises(InputError, match=said):
        call(firms())


def test_weights_of_zero_leave_records_out():
    """All but eleven firms have no weight; nine of these have the dummy."""
    data = firms()
    data["weight"] = (np.arange(len(data)) < 22).astype(float)
    data["spy"] = (np.arange(len(data)) % 22 < 9).astype(float)
    everybody = dk.check.wls("turnover ~ spy", data, weights=np.ones(len(data)))
    assert "support" not in found(everybody)
    checked = dk.check.wls("turnover ~ spy", data, weights="weight")
    assert checked.output.df_resid > 10
    assert found(checked)["support"] == (("spy",),)
    assert len(checked.told[0].sets) == 22


def test_weights_that_are_nearly_zero_count_nearly_nothing():
    data = firms()
    data["weight"] = np.where(np.arange(len(data)) < 5, 1.0, 1e-9)
    checked = dk.check.wls("turnover ~ size", data, weights="weight")
    assert ("size",) in found(checked)["weight"]


def test_cox_needs_events_not_only_records():
    data = firms()
    data["closed"] = (np.arange(len(data)) < 14).astype(int)
    data["group"] = (np.arange(len(data)) % 2).astype(float)
    checked = dk.check.phreg("years ~ group", data, status="closed")
    assert "pairs" in found(checked)
    data["closed"] = (np.arange(len(data)) < 9).astype(int)
    checked = dk.check.phreg("years ~ size", data, status="closed")
    assert found(checked)["support"] == (("event",),)
    assert "freedom" in found(checked)


def test_answers_of_a_model_of_several_are_looked_at():
    data = firms()
    data["answer"] = data.staff % 3
    assert dk.check.model(smf.mnlogit("answer ~ size", data).fit(disp=0)).verdict == "pass"
    data.iloc[:4, data.columns.get_loc("answer")] = 7
    checked = dk.check.model(smf.mnlogit("answer ~ size", data).fit(disp=0))
    assert found(checked)["support"] == (("answer = 7",),)


def test_answers_and_orders_from_a_formula():
    data = firms()
    data["answer"] = data.staff.clip(0, 3).map({0: "none", 1: "one", 2: "two", 3: "more"})
    order = pd.CategoricalDtype(["none", "one", "two", "more"], ordered=True)
    checked = dk.check.mnlogit("answer ~ size + age", data)
    assert checked.verdict == "pass", checked.reasons()
    coded = smf.mnlogit("staff.clip(0, 3) ~ size + age", data).fit(disp=0)
    assert checked.output.llf == pytest.approx(coded.llf)
    assert "answer=two" in str(checked.output.summary())
    data["rank"] = data.answer.astype(order)
    checked = dk.check.ordered("rank ~ size", data, distr="probit")
    assert checked.verdict == "pass", checked.reasons()
    assert [*checked.made_from][0] == "rank = none"
    counts = dk.check.negativebinomial("staff ~ size + C(region)", data)
    assert counts.verdict == "pass", counts.reasons()
    assert counts.output.params["alpha"] != 0
    # four firms of an answer, of a category that is left out, and that a regressor singles out
    data.iloc[:4, data.columns.get_loc("answer")] = "other"
    place = ("answer = other",)
    assert place in found(dk.check.mnlogit("answer ~ size", data))["support"]
    data["rank"] = data.answer.astype(
        pd.CategoricalDtype([*order.categories, "other"], ordered=True)
    )
    place = ("rank = other",)
    assert place in found(dk.check.ordered("rank ~ size", data))["support"]
    data["some"] = (np.arange(len(data)) > 4).astype(float)
    data["steps"] = data.staff.clip(0, 3)
    for call, formula in (
        (dk.check.negativebinomial, "staff ~ size + some"),
        (dk.check.ordered, "steps ~ size + some"),
        (dk.check.mnlogit, "steps ~ size + some"),
    ):
        checked = call(formula, data)
        assert checked.output.df_resid > 10  # all that is asked elsewhere
        assert ("some",) in found(checked)["support"]


def test_two_regressions_that_differ_by_one_firm():
    data = firms()
    project = dk.check.Project(data)
    formula = "turnover ~ size + C(region)"
    project.accept(project.check(dk.check.ols, formula, data), "all")
    later = data.drop(index="firm 77")
    assert dk.check.ols(formula, later).verdict == "pass"
    assert "difference" in found(project.check(dk.check.ols, formula, later))
    assert project.check(dk.check.logit, "export ~ size", data).verdict == "pass"
