"""Correlations, components and simple tests are judged by the records that they are made of."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import diskret as dk
from diskret.errors import InputError


def firms(number=200):
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "size": draw.normal(10, 2, number),
            "age": draw.normal(20, 5, number),
            "turnover": draw.uniform(80, 120, number),
            "region": draw.choice(["N", "S"], number),
        }
    )


NUMBERS = ["size", "age", "turnover"]


def found(checked):
    return {one.check: one.places for one in checked.findings}


def test_ordinary_correlations_pass_and_are_those_of_pandas():
    data = firms()
    for method in ("pearson", "spearman", "kendall"):
        checked = dk.check.correlation(data, NUMBERS, method=method)
        assert checked.verdict == "pass", checked.reasons()
        pd.testing.assert_frame_equal(checked.output, data[NUMBERS].corr(method=method))


def test_each_pair_has_its_own_records():
    data = firms()
    data.loc[8:, "age"] = np.nan
    checked = dk.check.correlation(data, NUMBERS)
    assert found(checked)["threshold"] == (("size", "age"), ("age", "turnover"))
    data = firms()
    data.loc[11:, "age"] = np.nan
    assert ("size", "age") in found(dk.check.correlation(data, NUMBERS))["freedom"]


def test_records_of_a_pair_are_attacked_beside_others():
    data = firms()
    project = dk.check.Project(data)
    project.accept(project.check(dk.check.correlation, data[["size", "age"]]), "everybody")
    data.loc[:3, "turnover"] = np.nan
    again = project.check(dk.check.correlation, data[["size", "turnover"]])
    assert "difference" in found(again)


def test_correlation_with_the_dummy_of_one_firm_returns_its_value():
    """From the coefficient, the number of records, mean and standard deviation."""
    data = firms()
    data["spy"] = (data.index == 17).astype(float)
    checked = dk.check.correlation(data, ["turnover", "spy"])
    number, r = len(data), checked.output.iloc[0, 1]
    product = r * data.turnover.std() * data.spy.std() * (number - 1)
    value = data.turnover.mean() + product
    assert value == pytest.approx(data.turnover[17])
    assert found(checked)["value_of_one"] == (("spy",),)


def test_one_variable_says_the_other():
    data = firms()
    data["twice"] = 2 * data["size"]
    assert found(dk.check.correlation(data, ["size", "twice"]))["perfect"]
    checked = dk.check.components(data, ["size", "age", "twice"])
    assert ("component 3",) in found(checked)["perfect"]
    data["outlier"] = np.where(data.index < 3, 1e6, 0) + data.age
    assert ("outlier",) in found(dk.check.correlation(data, ["size", "outlier"]))["weight"]


def test_components_are_those_of_the_correlation_matrix():
    data = firms()
    output = dk.check.components(data, NUMBERS).output
    values, vectors = np.linalg.eigh(data[NUMBERS].corr())
    np.testing.assert_allclose(output.variance, values[::-1])
    np.testing.assert_allclose(np.abs(output[NUMBERS]), np.abs(vectors[:, ::-1].T))


def test_component_of_few_firms():
    """Each variable is spread over many, but in one direction only three firms differ."""
    data = firms()
    data["other"] = data["size"] + np.where(data.index < 3, 2, 0)
    checked = dk.check.components(data, ["size", "other"])
    assert ("component 2",) in found(checked)["weight"]


def test_t_test_is_that_of_scipy_and_judged_as_two_means():
    data = firms()
    checked = dk.check.ttest(data, "turnover", "region")
    assert checked.verdict == "pass"
    north, south = (own.turnover for _, own in data.groupby("region"))
    theirs = stats.ttest_ind(north, south, equal_var=False)
    assert checked.output["p_value"] == pytest.approx(theirs.pvalue)
    data["region"] = np.where(data.index < 3, "N", "S")
    assert found(dk.check.ttest(data, "turnover", "region"))["threshold"] == (("N",),)
    data["region"] = np.where(data.index < 30, "N", "S")
    data.loc[4, "turnover"] = 1e6
    assert ("N",) in found(dk.check.ttest(data, "turnover", "region"))["dominance"]


def test_mann_whitney_is_that_of_scipy():
    data = firms()
    checked = dk.check.mannwhitney(data, "turnover", "region")
    assert checked.verdict == "pass"
    north, south = (own.turnover for _, own in data.groupby("region"))
    assert checked.output["p_value"] == pytest.approx(stats.mannwhitneyu(north, south).pvalue)
    data["turnover"] += 1000 * (data.region == "N")
    assert "perfect" in found(dk.check.mannwhitney(data, "turnover", "region"))


def test_chi_square_of_two_by_two_gives_the_table_away():
    """Of all tables with these margins, just one or two have this statistic."""
    data = firms()
    data["ill"] = np.where(data.index % 50 == 0, "yes", "no")
    data.loc[0:45, "ill"] = "yes"
    data.loc[data.region == "N", "ill"] = "no"
    data.loc[data.index[data.region == "N"][:4], "ill"] = "yes"
    checked = dk.check.chi2(data, "region", "ill")
    assert ("N", "yes") in found(checked)["threshold"]
    table = pd.crosstab(data.region, data.ill)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    fitting = []
    for corner in range(int(min(rows.iloc[0], columns.iloc[0])) + 1):
        cells = [[corner, rows.iloc[0] - corner], [columns.iloc[0] - corner, 0]]
        cells[1][1] = rows.iloc[1] - cells[1][0]
        statistic = stats.chi2_contingency(cells).statistic if np.min(cells) >= 0 else np.nan
        if np.isclose(statistic, checked.output["statistic"]):
            fitting.append(corner)
    assert table.iloc[0, 0] in fitting and len(fitting) <= 2


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda data: dk.check.correlation(data, ["size"]), "two variables or more"),
        (lambda data: dk.check.correlation(data, ["size", "region"]), "not all numbers"),
        (lambda data: dk.check.correlation(data, ["size", "what"]), "is no column"),
        (lambda data: dk.check.correlation(pd.concat([data, data["age"]], axis=1)), "'age' occurs"),
        (lambda data: dk.check.ttest(data, "size", "age"), "must have two categories"),
        (lambda data: dk.check.components(data.assign(age=np.nan), NUMBERS), "less than two"),
        (lambda data: dk.check.chi2(data.assign(one=1), "one", "region"), "two categories or more"),
        (lambda data: dk.check.ttest(data.assign(size=np.nan), "size", "region"), "has no values"),
    ],
)
def test_wrong_input_is_refused(call, said):
    with pytest.raises(InputError, match=said):
        call(firms())
