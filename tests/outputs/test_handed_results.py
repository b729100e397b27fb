"""Whatever statsmodels returns is judged, refused with what to hand over, or for a person."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight, SurvfuncRight, survdiff
from statsmodels.miscmodels.ordinal_model import OrderedModel
from statsmodels.multivariate.cancorr import CanCorr
from statsmodels.multivariate.factor import Factor
from statsmodels.multivariate.pca import PCA
from statsmodels.regression.rolling import RollingOLS
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.contingency_tables import SquareTable, StratifiedTable, mcnemar
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW, ttest_ind

import diskret as dk
from diskret.errors import InputError
from diskret.outputs import Profile, model


def firms(number=240):
    draw = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "size": draw.normal(10, 2, number),
            "age": draw.normal(20, 5, number),
            "turnover": draw.uniform(80, 120, number),
            "staff": draw.poisson(3, number),
            "owner": np.arange(number) // 4,
            "region": draw.choice(["N", "S", "W"], number),
            "export": draw.integers(0, 2, number),
            "years": np.ceil(draw.exponential(3, number)).clip(1, 4),
        }
    )
    return data.assign(closed=(data.years < 4).astype(int), one=1.0)


DATA = firms()
X, Y = DATA[["one", "size", "age"]], DATA.turnover
FITTED = smf.ols("turnover ~ size + age", DATA).fit()
SHOWN = pd.crosstab(DATA.export, DATA.closed)
THREE = DATA.staff.clip(0, 2)


def logit():
    return sm.Logit(DATA.export, X).fit(disp=0)


#: What a researcher may hand over → the verdict, or a part of the error that refuses it.
HANDED = {
    "OLS": (lambda: FITTED, "pass"),
    "OLS, robust": (lambda: FITTED.get_robustcov_results("HC1"), "pass"),
    "WLS": (lambda: sm.WLS(Y, X, weights=DATA["size"]).fit(), "pass"),
    "RLM": (lambda: sm.RLM(Y, X).fit(), "pass"),
    "GLM": (lambda: sm.GLM(Y, X).fit(), "pass"),
    "GLM, constrained": (lambda: sm.GLM(Y, X).fit_constrained("size = 0"), "pass"),
    "GEE": (lambda: sm.GEE(Y, X, DATA.owner).fit(), "pass"),
    "logit": (logit, "pass"),
    "MNLogit": (lambda: sm.MNLogit(THREE, X).fit(disp=0), "pass"),
    "ordered": (lambda: OrderedModel(THREE, DATA[["size"]]).fit(disp=0), "pass"),
    "negative binomial": (lambda: sm.NegativeBinomial(DATA.staff, X).fit(disp=0), "pass"),
    "geometric": (
        lambda: sm.NegativeBinomial(DATA.staff, X, loglike_method="geometric").fit(disp=0),
        "pass",
    ),
    "Cox": (lambda: sm.PHReg(DATA.years, DATA[["size"]], DATA.closed).fit(), "pass"),
    "margins": (lambda: logit().get_margeff(), "pass"),
    "curve": (lambda: SurvfuncRight(DATA.years, DATA.closed), "pass"),
    "PCA": (lambda: PCA(DATA[["size", "age", "turnover"]]), "pass"),
    "DescrStatsW": (lambda: DescrStatsW(Y), "pass"),
    "CompareMeans": (lambda: CompareMeans.from_data(Y[:90], Y[90:]), "pass"),
    "Tukey": (lambda: pairwise_tukeyhsd(Y, DATA.region), "pass"),
    # what is known to tell more, or is not known
    "GLS": (lambda: sm.GLS(Y, X, sigma=np.eye(len(Y))).fit(), "review"),
    "GLSAR": (lambda: sm.GLSAR(Y, X, 1).fit(), "review"),
    "quantile regression": (lambda: sm.QuantReg(Y, X).fit(), "review"),
    "mixed": (lambda: sm.MixedLM(Y, X, DATA.owner).fit(), "review"),
    "GEE, exchangeable": (
        lambda: sm.GEE(Y, X, DATA.owner, cov_struct=sm.cov_struct.Exchangeable()).fit(),
        "review",
    ),
    "lasso": (lambda: sm.OLS(Y, X).fit_regularized(alpha=0.1), "review"),
    "logit, penalised": (
        lambda: sm.Logit(DATA.export, X).fit_regularized(alpha=0.1, disp=0),
        "review",
    ),
    "zero inflated": (lambda: sm.ZeroInflatedPoisson(DATA.staff, X).fit(disp=0), "review"),
    "linear variance": (
        lambda: sm.NegativeBinomial(DATA.staff, X, loglike_method="nb1").fit(disp=0),
        "review",
    ),
    "NegativeBinomialP": (lambda: sm.NegativeBinomialP(DATA.staff, X).fit(disp=0), "review"),
    "conditional logit": (
        lambda: sm.ConditionalLogit(DATA.export, DATA[["size"]], groups=DATA.owner).fit(disp=0),
        "review",
    ),
    "cumulative incidence": (lambda: CumIncidenceRight(DATA.years, DATA.closed), "review"),
    "factors": (lambda: Factor(DATA[["size", "age", "turnover", "years"]], 1).fit(), "review"),
    "canonical correlation": (lambda: CanCorr(DATA[["size", "age"]], DATA[["years"]]), "review"),
    "ARIMA": (lambda: sm.tsa.AutoReg(Y, 1).fit(), "review"),
    "vectors": (lambda: sm.tsa.VAR(DATA[["size", "age"]]).fit(1), "review"),
    "something": (object, "review"),
    # a value for each record
    "influence": (lambda: FITTED.get_influence(), "fail"),
    "predictions": (lambda: FITTED.get_prediction(), "fail"),
    "rolling": (lambda: RollingOLS(Y, X, 40).fit(), "fail"),
    "recursive": (lambda: sm.RecursiveLS(Y, X).fit(), "fail"),
    "margins of each": (lambda: logit().get_margeff(at="all"), "fail"),
    "distribution": (lambda: sm.distributions.ECDF(Y), "fail"),
    # results that do not say what records they are of
    "not fitted": (lambda: sm.OLS(Y, X), "say model.fit() first"),
    "summary": (lambda: FITTED.summary(), "hand over the fitted model that"),
    "summary2": (lambda: FITTED.summary2(), "hand over the fitted model that"),
    "table of a summary": (lambda: FITTED.summary().tables[1], "hand over the fitted model that"),
    "contrast": (lambda: FITTED.t_test([0, 1, 0]), "hand over the fitted model that"),
    "coefficients": (lambda: FITTED.params, "hand over the fitted model, or"),
    "fitted values": (lambda: FITTED.fittedvalues, "hand over the fitted model, or"),
    "anova": (lambda: anova_lm(FITTED), "hand over the fitted model, or"),
    "log-rank": (lambda: survdiff(DATA.years, DATA.closed, DATA.region), "make it with a function"),
    "t test": (lambda: ttest_ind(Y, DATA.age), "make it with a function"),
    "t test of scipy": (lambda: stats.ttest_ind(Y, DATA.age), "dk.check.ttest"),
    "two by two": (lambda: sm.stats.Table2x2(SHOWN), "dk.check.crosstab"),
    "table": (lambda: sm.stats.Table(SHOWN), "dk.check.crosstab"),
    "square table": (lambda: SquareTable(SHOWN), "dk.check.crosstab"),
    "several tables": (lambda: StratifiedTable([SHOWN, SHOWN]), "dk.check.crosstab"),
    "McNemar": (lambda: mcnemar(SHOWN), "dk.check.ttest"),
    "density": (lambda: sm.nonparametric.KDEUnivariate(Y), "dk.check.density"),
    "smooth line": (lambda: sm.nonparametric.lowess(Y, DATA.age), "hand over the fitted model, or"),
}


def found(checked):
    return {one.check: one.places for one in checked.findings}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HANDED)
def test_nothing_passes_that_is_not_known(name):
    make, expected = HANDED[name]
    result = make()
    if expected not in ("pass", "review", "fail"):
        with pytest.raises(InputError) as refused:
            model(result)
        assert expected in str(refused.value)
        return
    checked = model(result)
    assert checked.verdict == expected, checked.reasons()
    assert checked.made
    if expected == "review":
        assert [one.check for one in checked.findings] == ["unknown"]
        assert checked.findings[0].places


def test_a_model_that_lost_its_records_is_refused():
    fitted = smf.ols("turnover ~ size", firms()).fit()
    fitted.remove_data()
    with pytest.raises(InputError, match="as remove_data"):
        model(fitted)


def test_curve_is_judged_as_our_own_is():
    data = firms()
    data.loc[:3, ["years", "closed"]] = 2.5, 1
    ours = dk.check.survival(data, "years", "closed")
    theirs = model(SurvfuncRight(data.years, data.closed))
    assert found(theirs) == found(ours) and "few_events" in found(ours)
    assert theirs.output["num at risk"].tolist() == ours.output.at_risk[1:].tolist()
    entered = model(SurvfuncRight(data.years, data.closed, entry=data.years / 2))
    assert found(entered)["unknown"] == (("entry",),)
    few = np.minimum(np.arange(len(data)), 5)
    assert model(SurvfuncRight(DATA.years, DATA.closed), unit=few).verdict == "fail"


def test_components_are_judged_as_our_own_are_and_scores_stay():
    data = firms()
    names = ["size", "age", "turnover"]
    ours = dk.check.components(data, names).output
    theirs = model(PCA(data[names])).output
    np.testing.assert_allclose(np.abs(theirs[names]), np.abs(ours[names]))
    assert len(theirs) == 3
    data["other"] = data["size"] + np.where(data.index < 3, 2, 0)
    for scaled in (True, False):
        attack = model(PCA(data[["size", "other"]], standardize=scaled))
        assert ("component 2",) in found(attack)["weight"]
    data.loc[5, "size"] = np.nan
    dropped = model(PCA(data[names], missing="drop-row"))
    assert dropped.verdict == "pass" and 5 not in dropped.told[0].rows
    filled = model(PCA(data[names], 1, missing="fill-em"))
    assert found(filled)["unknown"] == (("missing",),)


def test_means_are_judged_as_tables_of_means():
    giant = np.where(np.arange(240) == 7, 1e6, 1.0)
    for result in (
        DescrStatsW(giant),
        CompareMeans.from_data(giant, DATA.age),
        pairwise_tukeyhsd(giant, DATA.region),
    ):
        assert "dominance" in found(model(result))
    weighted = DescrStatsW(DATA.turnover, weights=np.where(DATA.index == 7, 1e6, 1.0))
    assert "dominance" in found(model(weighted))
    few = np.where(DATA.index < 5, "few", "many")
    assert found(model(pairwise_tukeyhsd(Y, few)))["threshold"] == (("few",),)
    # units of several records are counted
    assert "threshold" in found(model(DescrStatsW(Y), unit=np.arange(240) // 40))
    with pytest.raises(InputError, match=r"dk\.check\.ttest"):
        model(CompareMeans.from_data(Y, DATA.age), unit=DATA.owner)


def test_shares_count_as_many_trials_as_they_have():
    """Of a region with nearly all trials in one firm, the number of its successes is told."""
    draw = np.random.default_rng(5)
    trials = draw.integers(5, 15, 100)
    trials[3] = 100_000
    won = draw.binomial(trials, 0.4)
    x = pd.DataFrame({"one": 1.0, "north": (np.arange(100) < 40) * 1.0})
    answers = np.column_stack([won, trials - won])
    fitted = sm.GLM(answers, x, family=sm.families.Binomial()).fit()
    told = (fitted.predict(x)[:40] * trials[:40]).sum()  # what the equations say
    assert told == pytest.approx(won[:40].sum())
    assert told == pytest.approx(won[3], rel=0.01)
    checked = model(fitted)
    assert ("north",) in found(checked)["sum_of_products"]
    assert "leverage" in found(checked)


def test_a_robust_line_may_run_through_few_firms():
    """With a small constant all but few records count nothing, and the line is theirs."""
    data = firms()
    data.loc[:4, "turnover"] = 3 * data["size"][:5]
    tukey = sm.robust.norms.TukeyBiweight(0.01)
    start = np.array([0.0, 3.0])
    fitted = sm.RLM(data.turnover, data[["one", "size"]], M=tukey)
    result = fitted.fit(scale_est=sm.robust.scale.HuberScale(), start_params=start, maxiter=100)
    if (result.weights > 0).sum() >= 10:
        pytest.fail("the attack needs few records that count")
    assert result.df_resid > 200
    checked = model(result)
    assert checked.verdict == "fail"


def test_clusters_are_units_unless_it_is_said():
    data = firms()
    data["some"] = (data.owner < 5).astype(float)  # 20 records of 5 owners
    fitted = sm.GEE(data.turnover, data[["one", "some"]], data.owner).fit()
    assert found(model(fitted))["support"] == (("some",),)
    assert "support" not in found(model(fitted, unit=data.index))


def masked():
    """A dummy of three firms with some noise, which another regressor hides."""
    data = firms()
    draw = np.random.default_rng(8)
    data["noisy"] = (data.index < 3) + 1e-3 * draw.normal(size=len(data))
    data["hiding"] = data.noisy + 1e-3 * draw.normal(size=len(data))
    data.loc[:2, "turnover"] += 500
    return data


def test_table_of_variances_tells_the_mean_of_three_firms():
    """Beyond all other regressors the dummy is spread, but beyond those before it, it is not."""
    data = masked()
    fitted = smf.ols("turnover ~ noisy + hiding", data).fit()
    assert "weight" not in found(model(fitted))
    checked = dk.check.anova(fitted)
    pd.testing.assert_frame_equal(checked.output, anova_lm(fitted))
    # number of the group known, its sum of squares gives its mean
    squares, number = checked.output.sum_sq["noisy"], len(data)
    guess = data.turnover.mean() + np.sqrt(squares * (1 - 3 / number) / 3)
    assert guess == pytest.approx(data.turnover[:3].mean(), rel=0.01)
    assert ("noisy",) in found(checked)["weight"]


def test_tables_of_variances():
    data = firms()
    fitted = smf.ols("turnover ~ region * size", data).fit()
    for typ in (1, 2, 3):
        checked = dk.check.anova(fitted, typ=typ)
        assert checked.verdict == "pass", checked.reasons()
        pd.testing.assert_frame_equal(checked.output, anova_lm(fitted, typ=typ))
    for other in (logit(), sm.OLS(Y, X).fit()):
        with pytest.raises(InputError, match="linear model from a formula"):
            dk.check.anova(other)


def test_blind_to_what_comes_before_is_caught(monkeypatch):
    from diskret.outputs import variances
    from diskret.outputs.influence import Influence

    data = masked()
    fitted = smf.ols("turnover ~ noisy + hiding", data).fit()

    def nothing(x, *_):
        return Influence(0.0, np.zeros(x.shape[1], bool), False)

    monkeypatch.setattr(variances, "influence", nothing)
    assert "weight" not in found(dk.check.anova(fitted))


def test_log_rank_is_that_of_statsmodels_and_needs_events_in_each_group():
    data = firms()
    checked = dk.check.logrank(data, "years", "closed", "region")
    assert checked.verdict == "pass"
    statistic, p_value = survdiff(data.years, data.closed, data.region)
    assert checked.output["statistic"] == pytest.approx(statistic)
    assert checked.output["p_value"] == pytest.approx(p_value)
    within = dk.check.logrank(data, "years", "closed", "region", strata="export")
    assert within.output["statistic"] == pytest.approx(
        survdiff(data.years, data.closed, data.region, strata=data.export)[0]
    )
    data["region"] = np.where(data.index < 8, "N", "S")
    assert ("N", "closed = 1") in found(dk.check.logrank(data, "years", "closed", "region"))[
        "threshold"
    ]
    with pytest.raises(InputError, match="two categories"):
        dk.check.logrank(data, "years", "closed", "one")
    with pytest.raises(InputError, match="is missing in record 5"):
        dk.check.logrank(
            data.assign(region=data.region.where(data.index != 5)), "years", "closed", "region"
        )


def test_an_institution_may_let_unknown_results_go():
    assert model(object(), profile=Profile(verdicts={"unknown": "pass"})).verdict == "pass"
