"""Correlations, components and simple tests are judged by the records that they are made of."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
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


def test_correlations_tell_the_mean_of_a_category_that_is_left_out():
    """With means and deviations, which are published often; no pair shows it."""
    data = firms()
    kind = np.where(data.index < 3, 0, 1 + data.index % 3)
    dummies = ["b", "c", "d"]
    for number, name in enumerate(dummies, 1):
        data[name] = (kind == number) * 1.0
    checked = dk.check.correlation(data, ["turnover", *dummies])
    matrix, spread = checked.output, data[["turnover", *dummies]].std()
    own = np.linalg.solve(matrix.loc[dummies, dummies], matrix.loc[dummies, "turnover"])
    slopes = own * spread.turnover / spread[dummies]
    left = data.turnover.mean() - slopes @ data[dummies].mean()
    assert left == pytest.approx(data.turnover[:3].mean())
    assert found(checked)["reference"] == (("1 ± b ± c ± d",),)
    assert "reference" in found(dk.check.components(data, ["turnover", *dummies]))
    noisy = data.assign(e=data["size"] + 1e-3 * data.age + 10 * (data.index < 3))
    assert ("e",) in found(dk.check.correlation(noisy, ["size", "age", "e"]))["weight"]
    assert dk.check.correlation(firms(40), ["size", "age"]).verdict == "pass"
    many = firms(60)
    for at in range(9):
        many[f"x{at}"] = np.random.default_rng(100 + at).normal(size=60)
    small = dk.check.correlation(many.drop(columns="region"))
    assert "unproven" in found(small) and small.verdict == "review"


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


def test_a_t_test_beside_means_tells_the_deviation_of_each_group():
    """Statistic and freedom are two equations of two variances, once both means are known."""
    draw = np.random.default_rng(4)
    data = pd.DataFrame({"pay": draw.uniform(1000, 3000, 100), "town": ["A"] * 14 + ["B"] * 86})
    data.loc[:13, "pay"] = [2900.55, *draw.uniform(1990, 2010, 13)]
    means = dk.check.groupby(data, "town", {"pay": "mean"})
    assert means.verdict == "pass"
    checked = dk.check.ttest(data, "pay", "town")
    first, second = means.output["pay"]
    both = ((first - second) / checked.output["statistic"]) ** 2
    # p + q = both, p² / 13 + q² / 85 = both² / freedom
    roots = np.roots(
        [1 / 13 + 1 / 85, -2 * both / 85, both**2 * (1 / 85 - 1 / checked.output["freedom"])]
    )
    values = [first + np.sqrt(root * 14 * 13 * 13 / 14) for root in roots if root > 0]
    assert min(abs(value - 2900.55) for value in values) < 1  # the attack
    assert found(checked) == {"squares": (("A",),)}
    assert found(dk.check.ttest(data, "pay", "town", equal_variances=True)) == {}
    data.loc[14:, "pay"] = draw.uniform(1990, 2010, 86)
    pooled = dk.check.ttest(data, "pay", "town", equal_variances=True)
    assert found(pooled)["squares"] == (("pooled",),)


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


def every_table(rows, columns):
    """All tables of whole numbers with these margins, cell by cell."""
    if len(rows) == 1:
        yield [list(columns)]
        return
    for first in product(*(range(min(rows[0], one) + 1) for one in columns)):
        if sum(first) == rows[0]:
            left = [one - own for one, own in zip(columns, first, strict=True)]
            for rest in every_table(rows[1:], left):
                yield [list(first), *rest]


@examples(40)
@given(st.integers(0, 10**6), st.sampled_from([None, 0, 1, 2]))
def test_chi_square_tells_cells_where_few_tables_fit(seed, decimals):
    """The oracle starts from the records and tries every table with the margins."""
    draw = np.random.default_rng(seed)
    number, threshold = int(draw.integers(12, 26)), 3
    data = pd.DataFrame({"a": draw.integers(0, 2, number), "b": draw.integers(0, 3, number)})
    if seed % 3 == 0:
        data["a"] = draw.integers(0, 3, number)
    table = pd.crosstab(data.a, data.b)
    if min(table.shape) < 2 or table.size == 4:
        return
    rules = dk.check.Profile(threshold=threshold)
    checked = dk.check.chi2(data, "a", "b", decimals=decimals, profile=rules)
    shown = checked.output
    fitting = []
    for one in every_table([*table.sum(axis=1)], [*table.sum(axis=0)]):
        result = stats.chi2_contingency(one)
        places = 9 if decimals is None else decimals
        near = 0.51 * 10.0**-places
        if abs(result.statistic - shown["statistic"]) <= near and (
            decimals is None or abs(result.pvalue - shown["p_value"]) <= near
        ):
            fitting.append(one)
    assert table.to_numpy().tolist() in fitting
    largest = np.max(fitting, axis=0)
    told = {
        (str(table.index[i]), str(table.columns[j]))
        for i, j in product(range(table.shape[0]), range(table.shape[1]))
        if 0 < table.iloc[i, j] < threshold
        and (len(fitting) < threshold or largest[i, j] < threshold)
    }
    places = found(checked).get("threshold", ())
    assert {one for one in places if one[0] not in ("a", "b")} == told


def test_chi_square_of_a_larger_table():
    """A table of two by three follows from margins and statistic; rounding leaves many."""
    data = firms(400)
    data["kind"] = np.where(data.index % 4 == 0, "x", np.where(data.index % 4 == 1, "y", "z"))
    inside = data.index[(data.kind == "x") & (data.region == "N")]
    data.loc[inside[4:], "kind"] = "y"
    checked = dk.check.chi2(data, "region", "kind")
    assert found(checked)["threshold"] == (("N", "x"),)
    assert {len(one.names) for one in checked.told} == {2, 3, 6}  # the table is told
    rounded = dk.check.chi2(data, "region", "kind", decimals=0)
    assert rounded.verdict == "pass"
    assert rounded.output["statistic"] % 1 == 0
    assert {len(one.names) for one in rounded.told} == {2, 3}


def test_chi_square_that_is_too_large_to_try_is_judged_as_a_table():
    draw = np.random.default_rng(4)
    data = pd.DataFrame({"a": draw.integers(0, 6, 3000), "b": draw.integers(0, 8, 3000)})
    assert dk.check.chi2(data, "a", "b").verdict == "pass"
    data.loc[(data.a == 2) & (data.b == 3), "b"] = 4
    data.loc[:3, ["a", "b"]] = 2, 3
    checked = dk.check.chi2(data, "a", "b", decimals=1)
    assert ("2", "3") in found(checked)["threshold"]


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
