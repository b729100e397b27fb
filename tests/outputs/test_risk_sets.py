"""Cox models tell only what differs within risk sets: by hand, by statsmodels, and by attacks."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.outputs import judge_models
from diskret.outputs.risk_sets import RiskSets, deviating

pytestmark = pytest.mark.filterwarnings("ignore")


def people(number=300, seed=4):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "years": draw.exponential(5, number).round(1) + 0.1,
            "size": draw.normal(10, 2, number),
            "town": np.where(np.arange(number) < 100, "A", "B"),
            "died": (draw.random(number) < 0.7) * 1.0,
        }
    )


def found(checked):
    return {one.check: one.places for one in checked.findings}


def by_hand(sets, column):
    """Each record's part of the variance of a regressor, risk set by risk set."""
    parts = np.zeros(len(column))
    for row in np.flatnonzero(sets.event):
        inside = (sets.stratum == sets.stratum[row]) & (sets.time >= sets.time[row])
        inside &= sets.entry <= sets.time[row]
        share = np.where(inside, sets.risk, 0) / sets.risk[inside].sum()
        parts += share * (column - share @ column) ** 2
    return parts


def fitted(seed, number=40):
    draw = np.random.default_rng(seed)
    time = draw.exponential(1, number).round(1) + 0.1
    x = np.column_stack([draw.normal(size=number), draw.integers(0, 2, number)])
    event = draw.integers(0, 2, number)
    event[:2] = 1
    strata = np.array(["north", "south"])[draw.integers(0, 2, number)] if seed % 2 else None
    entry = np.where(draw.random(number) < 0.5, 0, time / 2) if seed % 3 else None
    return sm.PHReg(time, x, event, strata=strata, entry=entry).fit(disp=0)


@examples(20)
@given(st.integers(0, 10**6))
def test_information_is_that_of_statsmodels_and_of_single_risk_sets(seed):
    results = fitted(seed)
    sets = RiskSets.of(results)
    np.testing.assert_allclose(sets.information, -results.model.hessian(results.params), atol=1e-9)
    assert sets.expected.sum() == pytest.approx(sets.event.sum())
    inverse = np.linalg.pinv(sets.information)
    owner = np.random.default_rng(seed).integers(0, 20, len(sets.x)).astype(np.int32)
    few = sets.few(owner, 4, 0.5)
    for at in range(2):
        column = sets.x @ inverse[:, at]
        parts = by_hand(sets, column)
        np.testing.assert_allclose(sets._variance(column), parts, atol=1e-9)
        own = np.sort(np.bincount(owner, parts))[::-1]
        assert few[at] == (own[:3].sum() >= 0.5 * own.sum())


@examples(30)
@given(st.integers(0, 10**6))
def test_fewest_units_without_which_a_variable_is_the_same_within_strata(seed):
    draw = np.random.default_rng(seed)
    number = int(draw.integers(2, 12))
    column, stratum = (
        draw.integers(0, 3, number) * 1.0,
        draw.integers(0, 3, number).astype(np.int32),
    )
    away = deviating(column, stratum, None)
    for at in np.unique(stratum):
        inside = stratum == at
        assert len(np.unique(column[inside & ~away])) == 1
        most = max((column[inside] == value).sum() for value in column[inside])
        assert (away & inside).sum() == inside.sum() - most


def spied_on(data, attack):
    """What an attacker puts beside person 200, who had the event after three years or not."""
    data = data.copy()
    if attack == "stratum":
        data["z"] = ((data.town == "A") | (data.index == 200)) * 1.0
    else:  # forty leave before any event, so nobody is compared with them
        data["z"] = ((data.index < 40) | (data.index == 200)) * 1.0
        data.loc[:39, ["years", "died"]] = 0.001, 0.0
    return data


@pytest.mark.parametrize("attack", ["stratum", "left early"])
def test_coefficient_that_tells_whether_one_person_died(attack, monkeypatch):
    """Its regressor is one for many, but only within one risk set it differs for one person."""
    told = []
    for died in (0.0, 1.0):
        data = people()
        data.loc[200, ["years", "died"]] = 3.0, died
        data = spied_on(data, attack)
        assert data.z.sum() > 40
        strata = "town" if attack == "stratum" else None
        checked = dk.check.phreg("years ~ size + z", data, status="died", strata=strata)
        assert checked.output.df_resid >= 10  # all that ACRO looks at
        told.append(checked.output.params[1])
        assert ("z",) in found(checked)["value_of_one"]
        assert ("z",) in found(checked)["weight"]
        assert checked.verdict == "fail"
    assert told[0] < -10 < 0 < told[1] < 3
    monkeypatch.setattr(judge_models, "at_risk", lambda *_: [])
    monkeypatch.setattr(RiskSets, "few", lambda *_: np.zeros(2, bool))
    blind = dk.check.phreg("years ~ size + z", data, status="died", strata=strata)
    assert not {"value_of_one", "weight", "support"} & {*found(blind)}


def test_regressors_that_differ_together_within_strata():
    """Of all in town A and nine in town B: no regressor by itself, but the two together."""
    data = people()
    some = data.index < 50
    data["a"] = (some | (data.index >= 291)) * 1.0 + data["size"]
    data["b"] = some * 1.0 + data["size"]
    checked = dk.check.phreg("years ~ a + b", data, status="died", strata="town")
    assert "reference" in found(checked)


def test_names_of_strata_and_matched_pairs():
    data = people()
    data["pair"] = [f"pair {one // 2}" for one in data.index]
    for strata in ("town", "pair"):
        checked = dk.check.phreg("years ~ size", data, status="died", strata=strata)
        assert checked.verdict == "pass", checked.reasons()
    # of the pairs only those count in which the regressor differs
    data["z"] = (data.index // 2 % 2 == 0) * 1.0
    data.loc[:7, "z"] = np.arange(8) % 2
    data.loc[:7, "died"] = 1.0
    checked = dk.check.phreg("years ~ size + z", data, status="died", strata="pair")
    assert ("z",) in found(checked)["support"]


def compared(x, sets, kept):
    """Rank of what regressors differ by from the mean of each risk set, of some records."""
    rows = []
    for event in np.flatnonzero(sets.event & kept):
        inside = kept & (sets.stratum == sets.stratum[event]) & (sets.time >= sets.time[event])
        inside &= sets.entry <= sets.time[event]
        rows.append(x[inside] - x[inside].mean(axis=0))
    return np.linalg.matrix_rank(np.concatenate(rows), tol=1e-8) if rows else 0


@examples(60)
@given(st.integers(0, 10**6))
def test_no_cox_model_passes_that_few_units_are_alone_in(seed):
    """All sets of units are taken away by hand: does something fall together within risk sets?"""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(16, 26))
    time = draw.exponential(1, number).round(1) + 0.1
    event = (draw.random(number) < 0.8).astype(int)
    event[:2] = 1
    strata = draw.integers(0, 3, number) if seed % 2 else None
    entry = np.where(draw.random(number) < 0.5, 0, time / 2) if seed % 3 == 0 else None
    columns = [draw.normal(size=number)]
    for kind in draw.integers(0, 4, draw.integers(1, 3)):
        other = columns[draw.integers(len(columns))]
        own = draw.integers(0, 2, 3)[np.zeros(number, int) if strata is None else strata]
        columns.append(
            {
                0: (draw.random(number) < draw.choice([0.1, 0.3])) * 1.0,
                1: np.where(draw.random(number) < 0.9, own, 1 - own) * 1.0,  # differs by stratum
                2: other + (draw.random(number) < 0.1),
                3: other + own + (draw.random(number) < 0.1),
            }[int(kind)]
        )
    x = np.column_stack(columns)
    owner = draw.integers(0, number, number)
    try:
        results = sm.PHReg(time, x, event, strata=strata, entry=entry).fit(disp=0)
    except (ValueError, np.linalg.LinAlgError):
        return
    sets = RiskSets.of(results)
    every = np.ones(number, bool)
    whole = compared(x, sets, every)
    alone = any(
        compared(x, sets, ~np.isin(owner, some)) < whole
        for size in (1, 2)
        for some in combinations(np.unique(owner), size)
    )
    rules = dk.check.Profile(threshold=3, freedom=1, dominance=None, p_percent=None, leverage=0.9)
    if alone:
        assert dk.check.model(results, unit=owner, profile=rules).verdict != "pass"
