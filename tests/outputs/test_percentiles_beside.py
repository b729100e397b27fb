"""Percentiles asked for one after another, attacked from what was let go and from the records."""

import numpy as np
import pandas as pd
import pytest

import diskret as dk
from diskret.outputs import (
    Project,
    beside,
    boxplot,
    crosstab,
    describe,
    groupby,
    histogram,
    quantile,
)


def salaries(number=200):
    draw = np.random.default_rng(5)
    pay = np.sort(draw.lognormal(8, 0.5, number)).round(2)
    frame = pd.DataFrame({"pay": pay, "town": draw.choice(["A", "B"], number), "all": "x"})
    return frame.assign(minus=-pay, thousand=pay / 1000)


def shares(number=200):
    return [place / (number - 1) for place in range(10, number - 10)]


def let_go(project, frame, asked):
    """The values that an attacker has after all these questions, in euros."""
    values = []
    for number, (column, share, lost) in enumerate(asked):
        rest = frame.drop(index=lost)
        assert quantile(rest, column, share).verdict == "pass"  # each is harmless alone
        checked = project.check(quantile, rest, column, share)
        if checked.verdict == "pass":
            project.accept(checked, str(number))
            values.append(abs(float(checked.output)) * (1000 if column == "thousand" else 1))
    return np.sort(values)


ASKED = {
    "in order": [("pay", share, []) for share in shares()[:40]],
    "in any order": [
        ("pay", share, []) for share in np.random.default_rng(1).permutation(shares())[:40]
    ],
    "in another unit and upside down": [
        (column, share, []) for share in shares()[::6] for column in ("pay", "thousand", "minus")
    ],
    # twelve of the lowest are left out, so the same percentile is another value
    "of fewer records": [("pay", share, lost) for share in (0.4, 0.6) for lost in ([], range(12))],
}


def close(values, frame):
    """Values next to each other with fewer than ten records from the one to the other."""
    ranks = np.searchsorted(frame.pay, np.unique(values.round(6)), "left")
    return int((np.diff(ranks) + 1 < 10).sum())


@pytest.mark.parametrize("asked", ASKED)
def test_percentiles_one_after_another_tell_no_more_than_together(asked):
    frame = salaries()
    values = let_go(Project(frame), frame, ASKED[asked])
    assert len(values) >= 2 and close(values, frame) == 0


def test_without_what_is_remembered_nearly_every_value_leaves(monkeypatch):
    monkeypatch.setattr(beside, "_finest", lambda parts: [one for one in parts if one.way is None])
    frame = salaries()
    values = let_go(Project(frame), frame, ASKED["in order"][:20])
    assert np.isin(values.round(2), frame.pay).sum() == 20


def test_two_percentiles_between_the_same_two_values_tell_both():
    frame = salaries()
    project = Project(frame)
    first = project.check(quantile, frame, "pay", 100.25 / 199)
    project.accept(first, "first")
    assert project.check(quantile, frame, "thousand", 100.25 / 199).verdict == "pass"
    second = project.check(quantile, frame, "pay", 100.75 / 199)
    # what would be known: low + (high - low) / 4, and low + (high - low) * 3 / 4
    half = 2 * (float(second.output) - float(first.output))
    low = float(first.output) - half / 4
    assert np.allclose([low, low + half], frame.pay[100:102])
    assert [(one.check, one.blanks["units"]) for one in second.findings] == [("difference", 2)]


def test_classes_and_percentiles_are_judged_together():
    frame = salaries()
    project = Project(frame)
    middle = float(frame.pay[100:102].mean())
    project.accept(project.check(histogram, frame, "pay", [0, middle, 1e6]), "classes")
    assert project.check(quantile, frame, "pay", 106.5 / 199).verdict == "fail"
    assert project.check(quantile, frame, "pay", 111.5 / 199).verdict == "pass"


def test_what_tells_nothing_new_passes():
    """The same percentiles again, of parts and of all, and values that many share."""
    frame = salaries(400)
    frame["age"] = np.arange(400) * 7 % 20
    project = Project(frame)
    by_town = {"by": "town", "figures": {"pay": ["median", "count"]}}
    results = [
        (groupby, [frame], by_town),
        (crosstab, [frame.town, frame["all"]], {"values": frame.pay, "aggfunc": "median"}),
        (quantile, [frame, "pay", [0.25, 0.5, 0.75]], {}),
        (boxplot, [frame, "pay"], {"whis": (5, 95), "showfliers": False}),
        (quantile, [frame, "age", [place / 40 for place in range(1, 40)]], {}),
        (quantile, [frame, "age", 0.51], {}),
    ]
    for name, (function, arguments, options) in enumerate(results):
        checked = project.check(function, *arguments, **options)
        assert checked.verdict == "pass", checked.summary()
        project.accept(checked, str(name))
    together = quantile(frame, ["pay", "minus"], [0.4, 0.61])  # 0.39, 0.4 and 0.6, 0.61
    assert {one.check for one in together.findings} == {"within"}
    assert describe(frame, ["pay", "age"]).verdict == "fail"  # smallest and largest, as ever


def test_the_desk_remembers_percentiles(tmp_path):
    frame = salaries()
    ledger, keys = tmp_path / "ledger.db", tmp_path / "keys"
    dk.Ledger.create(ledger, keys=keys)
    project = Project.create("pay", ledger, frame, keys=keys)
    project.accept(project.check(quantile, frame, "pay", 0.5), "median")
    again = Project.open("pay", ledger, frame.sample(frac=1, random_state=1), keys=keys)
    for share, verdict in [(0.5, "pass"), (0.53, "fail"), (0.5001, "fail"), (0.6, "pass")]:
        assert again.check(quantile, frame, "pay", share).verdict == verdict
