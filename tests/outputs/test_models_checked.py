"""Models are looked at regressor by regressor; degrees of freedom alone let everything through."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from diskret.errors import InputError
from diskret.outputs import Profile, model
from diskret.outputs.influence import leverage


def firms(number=200):
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": draw.normal(10, 2, number),
            "age": draw.normal(20, 5, number),
            "turnover": draw.normal(100, 15, number),
            "region": draw.choice(["N", "S"], number),
        }
    )


def found(checked):
    return {one.check: one.places for one in checked.findings}


def test_an_ordinary_regression_passes():
    checked = model(smf.ols("turnover ~ size + age + region", firms()).fit())
    assert checked.verdict == "pass"
    assert "support" in checked.made


def test_dummy_of_one_firm_returns_its_value_to_the_cent():
    data = firms()
    data["spy"] = (data.index == 17).astype(float)
    results = smf.ols("turnover ~ size + age + spy", data).fit()
    assert results.df_resid >= 10  # all that ACRO looks at
    assert results.fittedvalues[17] == pytest.approx(data.turnover[17], abs=1e-6)
    checked = model(results)
    assert checked.verdict == "fail"
    assert found(checked)["value_of_one"] == (("spy",),)
    assert found(checked)["support"] == (("spy",),)
    assert "leverage" in found(checked)


def test_regressors_of_one_name_are_all_looked_at():
    """Of one name with what is explained, or with each other."""
    data = firms()
    spy = (data.index == 17) * 1.0
    x = np.column_stack([np.ones(len(data)), spy])  # which statsmodels calls x1
    checked = model(sm.OLS(data.turnover.rename("x1"), x).fit())
    assert found(checked)["value_of_one"] == (("x1 (2)",),)
    twice = pd.DataFrame(np.column_stack([x, data["size"]]), columns=["a", "b", "b"])
    checked = model(sm.OLS(data.turnover, twice).fit())
    assert found(checked)["value_of_one"] == (("b",),)
    assert {"b", "b (2)"} <= {*checked.made_from} and "b (2)" in checked.made_from


def test_zeros_of_a_regressor_are_looked_at_too():
    data = firms()
    data["others"] = (data.index != 17).astype(float)
    checked = model(smf.ols("turnover ~ size + others", data).fit())
    assert found(checked)["value_of_one"] == (("others",),)


def test_support_counts_units():
    data = firms()
    data["group"] = (data.index < 30).astype(float)
    results = smf.ols("turnover ~ size + group", data).fit()
    assert "support" not in found(model(results))
    owner = np.where(data.index < 30, data.index // 10, data.index)
    assert found(model(results, unit=owner))["support"] == (("group",),)


def test_most_records_may_be_of_one_unit():
    data = firms()
    data["giant"] = (data.index < 120).astype(float)
    owner = np.where(data.index < 120, -1, data.index)
    checked = model(smf.ols("turnover ~ size + giant", data).fit(), unit=owner)
    assert found(checked)["value_of_one"] == (("giant",),)


def test_category_left_out_is_looked_at():
    """The intercept is the mean of the few firms of the category without a coefficient."""
    data = firms()
    data["kind"] = np.where(data.index < 3, "a", np.where(data.index < 100, "b", "c"))
    results = smf.ols("turnover ~ kind", data).fit()
    assert results.params["Intercept"] == pytest.approx(data.turnover[:3].mean())
    results = smf.ols("turnover ~ kind + size", data).fit()
    checked = found(model(results))
    assert "support" not in checked
    (place,) = checked["reference"]
    assert "Intercept" in place[0]
    assert "kind[T.b]" in place[0]


def test_dependent_variable_is_looked_at():
    data = firms()
    data["ill"] = (data.index < 4).astype(float)
    fitted = sm.GLM(data.ill, sm.add_constant(data[["size"]]), family=sm.families.Binomial()).fit()
    assert found(model(fitted))["support"] == (("ill",),)
    data["one"] = 1.0
    assert model(sm.OLS(data.turnover, data[["one", "size"]]).fit()).verdict == "pass"
    data["none"] = 0.0
    assert found(model(smf.ols("none ~ size", data).fit()))["all_equal"] == (("none",),)


def test_models_that_are_not_understood_are_reviewed():
    """A quantile regression runs through as many records as it has coefficients."""
    data = firms()
    results = smf.quantreg("turnover ~ size + age", data).fit()
    assert (np.abs(results.resid) < 1e-3).sum() >= 3
    assert results.df_resid >= 10
    checked = model(results)
    assert checked.verdict == "review"
    assert "unknown" in found(checked)


def test_interaction_is_looked_at():
    data = firms()
    data["few"] = np.where(data.index < 40, 1.0, 0.0)
    data["north"] = np.where((data.index < 4) | (data.index > 100), 1.0, 0.0)
    checked = model(smf.ols("turnover ~ few * north", data).fit())
    assert ("few:north",) in found(checked)["support"]


def test_saturated_model_is_its_table_of_means():
    data = firms()
    data["north"] = np.where(data.index < 5, 1.0, 0.0)
    results = smf.ols("turnover ~ north", data).fit()
    means = data.groupby("north").turnover.mean()
    assert results.params["Intercept"] == pytest.approx(means[0.0])
    assert results.params.sum() == pytest.approx(means[1.0])
    assert "saturated" in found(model(results))


def test_sums_that_the_normal_equations_give_away():
    data = firms()
    data["turnover"] = 1.0
    data.loc[5, "turnover"] = 1e6
    data["group"] = (data.index < 40).astype(float)
    checked = model(smf.ols("turnover ~ size + group", data).fit())
    assert ("group",) in found(checked)["sum_of_products"]


def test_too_few_degrees_of_freedom():
    data = firms(12)
    checked = model(smf.ols("turnover ~ size + age", data).fit())
    assert "freedom" in found(checked)
    assert checked.reasons()[0] == "9 residual degrees of freedom; 10 are needed."


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    x = np.random.default_rng(1).normal(size=(60, 4))
    hat = x @ np.linalg.inv(x.T @ x) @ x.T
    np.testing.assert_allclose(leverage(x), np.diag(hat), atol=1e-9)
    twice = np.column_stack([x, x[:, 0] + x[:, 1]])
    np.testing.assert_allclose(leverage(twice), np.diag(hat), atol=1e-6)


@pytest.mark.parametrize("kind", [sm.Logit, sm.Probit, sm.Poisson])
def test_other_models(kind):
    data = firms()
    y = (data.turnover > 100).astype(float)
    x = sm.add_constant(data[["size", "age"]])
    assert model(kind(y, x).fit(disp=0)).verdict == "pass"


def test_not_a_model():
    with pytest.raises(InputError, match="must be a fitted model of statsmodels"):
        model(smf.ols("turnover ~ size", firms()))
    with pytest.raises(InputError, match="unit= has 3 values, the result 200 records"):
        model(smf.ols("turnover ~ size", firms()).fit(), unit=[1, 2, 3])


def test_institution_decides():
    data = firms(12)
    easy = Profile(freedom=5, verdicts={"sum_of_products": "pass"})
    assert "freedom" not in found(model(smf.ols("turnover ~ size", data).fit(), profile=easy))


@pytest.mark.parametrize("members", [1, 2, 9])
def test_plane_runs_through_the_means(members):
    """Vogel (2011), cited by Rothe (2015): coefficients and means of regressors give the mean."""
    data = firms()
    data["target"] = (data.index < members).astype(float)
    results = smf.ols("turnover ~ size + age + target", data).fit()
    means = data[["size", "age", "target"]].mean()
    whole = results.params["Intercept"] + results.params[means.index] @ means
    assert whole == pytest.approx(data.turnover.mean())
    inside = data[data.target == 1]
    own = results.params["Intercept"] + results.params["target"]
    own += results.params[["size", "age"]] @ inside[["size", "age"]].mean()
    assert own == pytest.approx(inside.turnover.mean())
    checked = model(results)
    assert ("target",) in found(checked)["support"]
    assert ("value_of_one" in found(checked)) == (members == 1)
    ten = data.assign(target=(data.index < 10).astype(float))
    assert "support" not in found(model(smf.ols("turnover ~ size + age + target", ten).fit()))


def test_one_firm_with_nearly_all_of_the_residuals():
    """The sum of squares of residuals, which every summary shows, is then that of one firm."""
    data = firms()
    data.loc[17, "turnover"] += 50_000
    results = smf.ols("turnover ~ size + age", data).fit()
    guess = results.predict(data.loc[[17]]).iloc[0] + np.sqrt(results.ssr)
    assert guess == pytest.approx(data.turnover[17], rel=0.01)
    assert "residual_sum" in found(model(results))


def test_regression_is_mostly_harmless_and_a_made_outlier_is_not():
    """Rothe (2015), after Ronning et al. (2011) and Vogel (2011).

    A regressor is made from what is known of one firm, such that it is far out: the plane runs
    through it, and the prediction is its value. No value of the regressor comes twice.
    """
    data = firms()
    assert model(smf.ols("turnover ~ size + age", data).fit()).verdict == "pass"
    known = data["size"][17] + 1e-7  # roughly
    data["made"] = 1 / (data["size"] - known)
    assert data.made.nunique() == len(data)
    results = smf.ols("turnover ~ age + made", data).fit()
    assert results.df_resid >= 10  # all that ACRO looks at
    assert results.predict(data.loc[[17]]).iloc[0] == pytest.approx(data.turnover[17], abs=1e-3)
    checked = model(results)
    assert {"leverage", "weight"} <= {*found(checked)}
    assert checked.verdict == "fail"


def test_pairs_of_regressors_follow_from_covariances():
    """The inverse of the covariance matrix holds the number of records where both are one."""
    data = firms()
    data["one"] = (data.index < 60).astype(float)
    data["other"] = ((data.index < 4) | (data.index > 120)).astype(float)
    results = smf.ols("turnover ~ one + other", data).fit()
    gram = np.linalg.inv(results.cov_params().to_numpy())
    together = gram[1, 2] / gram[0, 0] * results.nobs
    assert together == pytest.approx(4)
    checked = model(results)
    assert found(checked)["pairs"] == (("one = 1", "other = 1"),)
    assert "support" not in found(checked)


def test_what_has_a_value_for_each_record_fails():
    results = smf.ols("turnover ~ size", firms()).fit()
    for shown in (results.get_prediction(), results.get_influence()):
        assert model(shown).verdict == "fail"
    counted = smf.glm("turnover ~ size", firms(), family=sm.families.Gamma()).fit()
    assert model(counted.get_influence()).verdict == "fail"


def test_all_with_a_value_of_a_regressor_answer_alike():
    data = firms()
    data["ill"] = (data.index % 3 == 0).astype(float)
    data["group"] = (data.index < 30).astype(float)
    data.loc[data.group == 1, "ill"] = 1.0
    checked = model(smf.ols("ill ~ group + size", data).fit())
    assert found(checked)["all_equal"] == (("group = 1", "ill = 1"),)


@pytest.mark.parametrize("blind", ["spread", "influence", "few_in_pairs", "support"])
def test_a_check_that_sees_nothing_is_caught_by_these_attacks(monkeypatch, blind):
    """Each of the checks is the only one that sees one of these attacks at least."""
    from diskret.outputs import judge_models
    from diskret.outputs.influence import Influence
    from diskret.outputs.spread import Spread

    nothing = {
        "spread": lambda *_: Spread(True),
        "influence": lambda *_: Influence(0.0, np.zeros(9, bool), False),
        "few_in_pairs": lambda *_: [],
        "support": lambda *_: [],
    }
    draw = np.random.default_rng(8)
    data = firms()
    data["noisy"] = (data.index < 3) + 1e-3 * draw.normal(size=len(data))
    data["one"] = (data.index < 60).astype(float)
    data["other"] = ((data.index < 4) | (data.index > 120)).astype(float)
    data["kind"] = np.where(data.index < 9, "a", np.where(data.index < 100, "b", "c"))
    data["ill"] = (data.index < 4).astype(float)
    attacks = {
        "spread": ("turnover ~ kind + size", "reference"),
        "influence": ("turnover ~ size + noisy", "weight"),
        "few_in_pairs": ("turnover ~ one + other", "pairs"),
        "support": ("ill ~ size", "support"),
    }
    formula, check = attacks[blind]
    results = smf.ols(formula, data).fit()
    assert check in found(model(results))
    monkeypatch.setattr(judge_models, blind, nothing[blind])
    assert check not in found(model(results))


# ── what a model tells besides its equations for what it explains ───────────────────


def payroll(number=200):
    draw = np.random.default_rng(1)
    pay = draw.lognormal(8, 0.5, number).round(2)
    return pd.DataFrame({"pay": pay, "x": draw.normal(size=number), "n": draw.poisson(4, number)})


@pytest.mark.parametrize("of", ["pay ~ 1", "pay ~ x"])
def test_an_offset_leaves_no_value_of_one(of):
    """What is known of all but one is taken off: the equations add up what is left."""
    frame = payroll()
    known = np.where(frame.index == 17, 0, frame.pay)
    fitted = smf.glm(of, frame, offset=known).fit()
    assert (fitted.fittedvalues - known).sum() == pytest.approx(frame.pay[17])  # the attack
    assert model(smf.glm(of, frame).fit()).verdict == "pass"
    found = model(fitted)
    assert {"sum_of_products", "value_of_one"} <= {one.check for one in found.findings}
    assert found.verdict == "fail"


def test_rates_tell_the_sum_of_exposures():
    frame = payroll().assign(town=np.repeat(["A", "B"], 100), staff=lambda own: own.pay / 100)
    family = sm.families.Poisson()

    def rates(data, function=smf.glm):
        options = {"family": family} if function is smf.glm else {}
        return function("n ~ C(town)", data, exposure=data.staff, **options).fit(disp=0)

    assert model(rates(frame)).verdict == model(rates(frame, smf.poisson)).verdict == "pass"
    frame.loc[3, "staff"] = 1e5
    for fitted in (rates(frame), rates(frame, smf.poisson)):
        staff = frame.n[:100].sum() / np.exp(fitted.params["Intercept"])
        assert staff == pytest.approx(1e5, rel=0.1)  # the attack
        places = {place for one in model(fitted).findings for place in one.places}
        assert ("Intercept", "exposure") in places
    answers = frame.assign(yes=1 * (frame.n > 4))
    fitted = smf.logit("yes ~ x", answers, offset=frame.x / 2).fit(disp=0)
    assert {one.check for one in model(fitted).findings} == {"unknown"}


def test_a_robust_covariance_tells_squares_of_each_regressor():
    draw = np.random.default_rng(4)
    frame = pd.DataFrame({"pay": draw.uniform(1000, 3000, 100).round(2), "g": np.arange(100) < 14})
    frame["g"] = frame.g.astype(float)
    frame.loc[:13, "pay"] = [2900.55, *draw.uniform(1990, 2010, 13).round(2)]
    assert model(smf.ols("pay ~ g", frame).fit()).verdict == "pass"
    fitted = smf.ols("pay ~ g", frame).fit(cov_type="HC0")
    squares = (fitted.bse["g"] ** 2 - fitted.bse["Intercept"] ** 2) * 14**2
    attack = fitted.params.sum() + np.sqrt(squares * 13 / 14)
    assert attack == pytest.approx(frame.pay[0], rel=1e-3)
    found = model(fitted)
    assert [(one.check, one.places) for one in found.findings] == [("squares", (("g",),))]
    frame.loc[:13, "pay"] = draw.uniform(1000, 3000, 14)
    assert model(smf.ols("pay ~ g", frame).fit(cov_type="HC3")).verdict == "pass"
