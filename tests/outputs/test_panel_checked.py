"""Fixed effects: a regressor counts where it changes, and an effect is a mean of few records."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError


def years(firms=80, each=4):
    draw = np.random.default_rng(2)
    number = firms * each
    data = pd.DataFrame(
        {
            "firm": np.repeat(np.arange(firms), each),
            "region": np.repeat(np.arange(firms) % 4, each),
            "staff": draw.normal(10, 2, number),
            "price": draw.normal(5, 1, number),
        }
    )
    data["sales"] = 3 * data.staff + data.firm + draw.normal(200, 1, number)
    return data


def found(checked):
    return {one.check: one.places for one in checked.findings}


def test_slopes_are_those_of_a_regression_with_dummies():
    data = years()
    checked = dk.check.panel("sales ~ staff + price", data, entity="firm")
    assert checked.verdict == "pass", checked.reasons()
    dummies = smf.ols("sales ~ staff + price + C(firm)", data).fit()
    for name in ("staff", "price"):
        assert checked.output.params[name] == pytest.approx(dummies.params[name])
        assert checked.output.bse[name] == pytest.approx(dummies.bse[name])
    assert checked.output.df_resid == dummies.df_resid


def test_dummies_of_firms_fail_as_what_they_are():
    checked = dk.check.ols("sales ~ staff + C(firm)", years(), unit="firm")
    assert len(found(checked)["value_of_one"]) == 79


def test_effect_of_a_firm_is_a_mean_of_its_records():
    data = years()
    checked = dk.check.panel("sales ~ staff", data, entity="firm", effects=True)
    slope = checked.output.params["staff"]
    own = data[data.firm == 7]
    assert checked.output.effects[7] == pytest.approx((own.sales - slope * own.staff).mean())
    assert len(found(checked)["threshold"]) == 80
    regions = dk.check.panel(
        "sales ~ staff", data, entity="region", effects=True, unit="firm", profile="guidelines"
    )
    assert regions.verdict == "pass", regions.reasons()


def test_regressor_that_changes_in_few_firms():
    data = years()
    data["moved"] = ((data.firm < 3) & (data.index % 4 > 1)).astype(float)
    checked = dk.check.panel("sales ~ staff + moved", data, entity="firm")
    assert ("moved",) in found(checked)["support"]
    # all firms of the sector have it in all years, but one comes late
    data["sector"] = ((data.firm < 40) & ((data.firm != 5) | (data.index % 4 > 0))).astype(float)
    checked = dk.check.panel("sales ~ staff + sector", data, entity="firm")
    assert ("sector",) in found(checked)["value_of_one"]


def test_two_ways_are_a_regression_with_both_kinds_of_dummies():
    data = years().assign(year=np.tile([2001, 2002, 2003, 2004], 80))
    data["sales"] += 5 * (data.year == 2003)
    data = data.drop(index=[3, 17, 18])  # not every firm is there in all years
    checked = dk.check.panel("sales ~ staff + price", data, entity="firm", time="year")
    assert checked.verdict == "pass", checked.reasons()
    dummies = smf.ols("sales ~ staff + price + C(firm) + C(year)", data).fit()
    for name in ("staff", "price"):
        assert checked.output.params[name] == pytest.approx(dummies.params[name])
        assert checked.output.bse[name] == pytest.approx(dummies.bse[name])
    later = checked.output.params["year = 2003"]
    assert later == pytest.approx(dummies.params["C(year)[T.2003]"])
    assert checked.output.df_resid == dummies.df_resid


def test_how_few_firms_fared_beside_all_others():
    """With both kinds of effects the coefficient of a reform is a difference of differences.

    From it and the effect of the year follows the mean change of the few who were reformed, to
    the cent.
    """
    data = years(each=2).assign(year=np.tile([2001, 2002], 80))
    treated = data.firm < 9
    data["reform"] = (treated & (data.year == 2002)).astype(float)
    checked = dk.check.panel("sales ~ reform", data, entity="firm", time="year")
    change = data.groupby("firm").sales.diff().dropna()
    params = checked.output.params
    assert params["reform"] + params["year = 2002"] == pytest.approx(change[:9].mean())
    assert checked.output.df_resid >= 10  # all that ACRO looks at
    assert ("reform",) in found(checked)["support"]
    # a year in which few firms are there
    late = data[(data.year == 2001) | (data.firm < 9)]
    checked = dk.check.panel("sales ~ staff", late, entity="firm", time="year")
    assert ("year = 2002",) in found(checked)["support"]


def test_wrong_input_is_refused():
    data = years()
    with pytest.raises(InputError, match="changes within"):
        dk.check.panel("sales ~ region", data, entity="firm")
    with pytest.raises(InputError, match="is no column"):
        dk.check.panel("sales ~ staff", data, entity="country")
    with pytest.raises(InputError, match="is not understood"):
        dk.check.panel("sales ~ nothing", data, entity="firm")
    with pytest.raises(InputError, match="time='year' is no column"):
        dk.check.panel("sales ~ staff", data, entity="firm", time="year")
    data.loc[3, "firm"] = np.nan
    with pytest.raises(InputError, match="is missing in record 3"):
        dk.check.panel("sales ~ staff", data, entity="firm")


def within_rank(data, names, kept):
    """Rank of regressors and dummies of years beyond the means of the firms, of some firms."""
    own = data[data.firm.isin(kept)]
    table = pd.concat([own[names], pd.get_dummies(own.year, dtype=float).iloc[:, 1:]], axis=1)
    inside = (table - table.groupby(own.firm).transform("mean")).to_numpy()
    return np.linalg.matrix_rank(inside, tol=1e-8)


@examples(40)
@given(st.integers(0, 10**6))
def test_no_panel_passes_that_few_firms_are_alone_in(seed):
    """All sets of firms are taken away by hand: does a regressor or a year say nothing then?"""
    draw = np.random.default_rng(seed)
    data = years(firms=int(draw.integers(8, 12)), each=3)
    data["year"] = np.tile([2001, 2002, 2003], len(data) // 3)
    data["sales"] = draw.normal(100, 9, len(data))
    moved = draw.random(len(data)) < draw.choice([0.05, 0.1, 0.5])
    data["some"] = (draw.random(len(data)) < 0.3) * data.firm + moved * 1.0
    data["late"] = ((data.year == 2003) ^ moved) * 1.0
    data = data[draw.random(len(data)) < 0.9]
    names = ["staff", *draw.choice(["some", "late"], draw.integers(1, 3), replace=False)]
    rules = dk.check.Profile(threshold=3, freedom=1, dominance=None, p_percent=None)
    firms = data.firm.unique()
    whole = within_rank(data, names, firms)
    alone = any(
        within_rank(data, names, [one for one in firms if one not in some]) < whole
        for size in (1, 2)
        for some in combinations(firms, size)
    )
    formula = "sales ~ " + " + ".join(names)
    try:
        checked = dk.check.panel(formula, data, entity="firm", time="year", profile=rules)
    except InputError:
        return
    if alone:
        assert checked.verdict != "pass"
