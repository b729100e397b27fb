"""A constant that is added to each record hides nobody: whoever knows how many takes it off."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from diskret.outputs import Project, concentration, crosstab, groupby, model, ratio, sums, ttest


def firms():
    """In town A one firm has nearly everything; the other towns are harmless."""
    draw = np.random.default_rng(3)
    pay = draw.lognormal(8, 0.5, 90).round(2)
    pay[:30] = [900_000, *draw.uniform(1000, 2000, 29).round(2)]
    frame = pd.DataFrame({"town": np.repeat(["A", "B", "C"], 30), "pay": pay, "all": "x"})
    return frame.assign(index=frame.pay / frame.pay.sum(), staff=draw.integers(5, 90, 90))


CHANGED = {
    "plain": (lambda pay: pay, lambda total, number: total),
    "doubled": (lambda pay: 2 * pay, lambda total, number: total / 2),
    "added": (lambda pay: pay + 1e6, lambda total, number: total - 1e6 * number),
    "far": (lambda pay: pay * 3 + 1e12, lambda total, number: (total - 1e12 * number) / 3),
    "taken off": (lambda pay: 1e6 - pay, lambda total, number: 1e6 * number - total),
    "below zero": (lambda pay: pay - 1e6, lambda total, number: total + 1e6 * number),
    # what everybody has at least tells of the one who has more
    "cut off": (lambda pay: pay.clip(lower=5e5), lambda total, number: total - 5e5 * (number - 1)),
}


@pytest.mark.parametrize("how", CHANGED)
@pytest.mark.parametrize("shown", ["sum", "mean"])
def test_no_constant_hides_a_large_firm(how, shown):
    frame = firms()
    change, undone = CHANGED[how]
    frame["z"] = change(frame.pay)
    checked = groupby(frame, "town", {"z": shown})
    total = checked.output["z"]["A"] * (30 if shown == "mean" else 1)
    assert undone(total, 30) == pytest.approx(900_000, rel=0.1)  # the attack
    concerned = [
        one for one in checked.findings if one.check in ("dominance", "p_percent", "level")
    ]
    assert concerned and {place[0] for one in concerned for place in one.places} == {"A"}
    assert checked.verdict == "fail"
    rest = frame[frame.town != "A"].assign(z=lambda own: change(own.pay))
    if how not in ("below zero", "cut off"):
        assert groupby(rest, "town", {"z": shown}).verdict == "pass"


@pytest.mark.parametrize(
    "made",
    [
        lambda frame: ratio(frame, "z", "staff", "town"),
        lambda frame: concentration(frame, "z", "town", figures=["hhi"]),
        lambda frame: crosstab(
            frame.town, frame["all"], values=frame.z, aggfunc="sum", margins=True
        ),
        lambda frame: ttest(frame[frame.town != "B"], "z", "town"),
        lambda frame: model(smf.ols("z ~ C(town)", frame).fit()),
        lambda frame: model(
            smf.ols("z ~ a + staff", frame.assign(a=1 * (frame.town == "A"))).fit()
        ),
    ],
)
def test_no_kind_of_result_hides_it(made):
    frame = firms()
    checked = made(frame.assign(z=frame.pay + 1e6))
    assert {"level", "saturated", "sum_of_products"} & {one.check for one in checked.findings}
    assert checked.verdict == "fail"
    harmless = frame.assign(z=1e6 + np.random.default_rng(1).uniform(1e3, 2e3, 90))
    assert "fail" not in {one.verdict for one in made(harmless).findings}


def test_a_column_of_one_value_is_no_matter_of_shares():
    frame = firms().assign(z=0.1 + 0.2)  # all equal but for nothing
    assert {one.check for one in groupby(frame, "town", {"z": "mean"}).findings} == {"all_equal"}


def left_out(frame):
    """All but the large firm and eleven others of its town."""
    return frame.drop(index=range(12))


@pytest.mark.parametrize("first", [lambda pay: pay, lambda pay: pay / 7 + 5])
@pytest.mark.parametrize("second", [lambda pay: pay + 1e6, lambda pay: 3e6 - 2 * pay])
def test_nor_does_one_between_two_results(first, second):
    frame = firms()
    frame.loc[30:, "town"] = "A"
    frame = frame.assign(one=first(frame.pay), two=second(frame.pay))
    frame.loc[40:, ["pay", "one", "two"]] += [900_000, 900_000, 900_000]  # one of many large ones
    frame = frame.assign(one=first(frame.pay), two=second(frame.pay))
    rest = left_out(frame)
    assert all(groupby(own, "town", {"two": "sum"}).verdict == "pass" for own in (frame, rest))
    project = Project(frame)
    project.accept(project.check(groupby, frame, "town", {"one": "sum"}), "all")
    beside = project.check(groupby, rest, "town", {"two": "sum"})
    assert [one.check for one in beside.findings] == ["rest"]


def test_variables_are_the_same_but_for_a_factor_and_a_constant():
    frame = firms()
    assert sums._same(frame.pay.to_numpy(), 5 - 2 * frame.pay.to_numpy()) == (-2, 5)
    assert sums._same(frame.pay.to_numpy(), frame.staff.to_numpy(float)) is None
    two = np.array([0.0, 1, 1, 0, 1, 0])
    assert sums._same(two, 3 * two + 1) is None  # any two variables of two values agree so
