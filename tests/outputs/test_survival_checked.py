"""Survival curves are judged by what their steps tell: events, censored units, units at risk."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from statsmodels.duration.survfunc import SurvfuncRight

import diskret as dk
from diskret.errors import InputError


def lives(number=400, seed=1):
    draw = np.random.default_rng(seed)
    years = draw.exponential(5, number)
    return pd.DataFrame(
        {
            "years": np.minimum(years, 9.5),
            "died": (years < 9.5).astype(int),
            "sex": draw.choice(["f", "m"], number),
            "owner": np.arange(number) // 20,
        }
    )


def found(checked):
    return {one.check: one.places for one in checked.findings}


def test_curve_is_that_of_statsmodels():
    data = lives(60)
    curve = dk.check.survival(data, "years", "died", group="sex").output
    for sex, own in data.groupby("sex"):
        theirs = SurvfuncRight(own.years, own.died)
        ours = curve[(curve.sex == sex) & (curve.events > 0)]
        np.testing.assert_allclose(ours.time, theirs.surv_times)
        np.testing.assert_allclose(ours.survival, theirs.surv_prob)
        np.testing.assert_array_equal(ours.at_risk, theirs.n_risk)


def test_exact_times_are_single_units_and_rounding_helps():
    data = lives()
    assert dk.check.survival(data, "years", "died").verdict == "fail"
    rounded = dk.check.survival(data, "years", "died", every=2)
    assert rounded.verdict == "pass"
    assert rounded.output.time.tolist() == [0, 2, 4, 6, 8, 10]
    assert "every=" in dk.check.survival(data, "years", "died").reasons()[0]


@examples(40)
@given(st.integers(0, 10**6))
def test_what_a_curve_tells_is_found(seed):
    """The oracle reads the published curve only: its steps give events, those at risk the rest."""
    draw = np.random.default_rng(seed)
    number, threshold = int(draw.integers(4, 40)), 3
    data = pd.DataFrame(
        {"time": draw.integers(1, 5, number), "event": draw.integers(0, 2, number)},
    )
    rules = dk.check.Profile(threshold=threshold)
    checked = dk.check.survival(data, "time", "event", profile=rules)
    curve = SurvfuncRight(data.time, data.event)
    before = np.concatenate([[1], curve.surv_prob[:-1]])
    events = np.rint(curve.n_risk * (1 - curve.surv_prob / before)).astype(int)
    left = np.concatenate([[number], curve.n_risk - events])
    censored = left - np.concatenate([curve.n_risk, [0]])
    few = [bool(((one > 0) & (one < threshold)).any()) for one in (events, censored, curve.n_risk)]
    names = ["few_events", "few_censored", "few_at_risk"]
    assert [name in found(checked) for name in names] == few
    assert ("all_equal" in found(checked)) == bool((events == curve.n_risk).any())


def test_units_are_counted():
    data = lives()
    assert dk.check.survival(data, "years", "died", every=5).verdict == "pass"
    checked = dk.check.survival(data, "years", "died", every=5, unit="owner")
    assert checked.verdict == "pass"  # 20 owners, each with records in all intervals
    data["owner"] = np.where(data.years < 5, 1, np.arange(400))
    checked = dk.check.survival(data, "years", "died", every=5, unit="owner")
    assert found(checked)["few_events"] == (("5",),)


def test_everybody_who_is_left_has_the_event():
    data = pd.DataFrame({"years": [1.0] * 20 + [2.0] * 20, "died": 1})
    assert found(dk.check.survival(data, "years", "died"))["all_equal"] == (("2",),)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"years": -1.0}, "missing or negative"),
        ({"years": np.nan}, "missing or negative"),
        ({"died": 2}, "must be 1"),
        ({"years": "long"}, "not all numbers"),
    ],
)
def test_wrong_values_are_refused(change, said):
    with pytest.raises(InputError, match=said):
        dk.check.survival(lives(20).assign(**change), "years", "died")
    with pytest.raises(InputError, match="every="):
        dk.check.survival(lives(20), "years", "died", every=0)


def test_curves_of_a_group_and_of_all_are_attacked_together():
    data = lives()
    project = dk.check.Project(data)
    whole = project.check(dk.check.survival, data, "years", "died", every=5)
    project.accept(whole, "everybody")
    fewer = data.drop(index=[3, 4])
    again = project.check(dk.check.survival, fewer, "years", "died", every=5)
    assert "difference" in found(again)
