"""Deviations of two samples tell the one who deviates among those left out."""

import numpy as np
import pandas as pd
import pytest

import diskret as dk
from diskret.outputs import Profile, Project, describe, groupby, ttest
from diskret.outputs.differences import Statements
from diskret.outputs.left_out import unsafe_deviation


def workers():
    """Twelve of town A are left out: eleven earn nearly the same, one does not."""
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"town": ["A"] * 60 + ["B"] * 40, "all": "x"})
    frame["pay"] = draw.uniform(1000, 3000, 100).round(2)
    frame.loc[:11, "pay"] = [2900.55, *draw.uniform(1995, 2005, 11).round(2)]
    return frame, frame[12:]


def squares(frame, shown):
    """Sum and sum of squares, from what is shown."""
    number, mean, std = len(frame), shown["mean"], shown["std"]
    return number, number * mean, (number - 1) * std**2 + number * mean**2


BOTH = {"pay": ["mean", "std"]}


def test_one_of_those_left_out_follows_from_means_and_deviations():
    frame, rest = workers()
    whole, part = (groupby(own, "all", BOTH) for own in (frame, rest))
    assert whole.verdict == part.verdict == "pass"
    number, total, both = np.subtract(
        squares(frame, whole.output["pay"].loc["x"]), squares(rest, part.output["pay"].loc["x"])
    )
    off = np.sqrt((both - total**2 / number) * (number - 1) / number)
    assert total / number + off == pytest.approx(2900.55, rel=1e-3)  # the attack
    project = Project(frame)
    project.accept(project.check(groupby, frame, "all", BOTH), "all")
    assert groupby(rest, "all", {"pay": "mean"}).verdict == "pass"
    found = project.check(groupby, rest, "all", BOTH).findings
    assert [(one.check, one.blanks["units"]) for one in found] == [("rest", 12)]


STD = {"pay": "std"}
KINDS = {
    "sums of cells are a sample": (groupby, ["town", STD], groupby, ["all", BOTH]),
    "variances": (groupby, ["town", {"pay": "var"}], groupby, ["town", STD]),
    "a t test": (ttest, ["pay", "town"], ttest, ["pay", "town"]),
    "in another unit": (groupby, ["all", {"other": "std"}], groupby, ["all", STD]),
    "a description": (groupby, ["all", BOTH], describe, ["pay"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_of_whatever_kind_they_are(kind, tmp_path):
    """At the desk, in the next process."""
    frame, rest = (own.assign(other=7 - own.pay / 3) for own in workers())
    ledger, keys = tmp_path / "ledger.db", tmp_path / "keys"
    dk.Ledger.create(ledger, keys=keys)
    first, arguments, second, others = KINDS[kind]
    project = Project.create("pay", ledger, frame, keys=keys)
    project.accept(project.check(first, frame, *arguments), "all")
    again = Project.open("pay", ledger, frame, keys=keys)
    assert "rest" in {one.check for one in again.check(second, rest, *others).findings}
    ordinary = frame.drop(index=range(12, 30))
    assert "rest" not in {one.check for one in again.check(second, ordinary, *others).findings}


def test_samples_that_differ_by_ordinary_records_pass():
    frame, _ = workers()
    frame["pay"] = np.random.default_rng(5).lognormal(7, 0.5, 100)
    project = Project(frame)
    project.accept(project.check(groupby, frame, "town", BOTH), "all")
    for name, own in enumerate((frame, frame[15:], frame.drop(index=range(40, 70)))):
        checked = project.check(groupby, own, "all", BOTH)
        assert checked.verdict == "pass", checked.summary()
        project.accept(checked, str(name))
    assert "rest" not in {one.check for one in project.check(describe, frame, "pay").findings}


def test_whoever_is_left_out_is_judged_by_records():
    """Against the p% rule of squares, from the records: bounds of atoms must say no less."""
    draw = np.random.default_rng(11)
    rules = Profile(p_percent=10)
    found = []
    for spread in np.tile([0.1, 1.0, 4.0], 50):
        values = draw.lognormal(0, spread, 40)
        unit = draw.integers(0, draw.choice([10, 1000]), 40).astype(np.int32)
        town, out = draw.integers(0, 3, 40).astype(np.int32), draw.choice([3, 12, 25])
        town[:3] = range(3)  # none lies within the part
        part = np.where(np.arange(40) < out, -1, 0).astype(np.int32)
        statements = Statements.made((("a",),) * 3 + (("part",),), [town, part], [3, 1], unit)
        old = np.array([True] * 3 + [False])
        off = (values[:out] - values[:out].mean()) ** 2
        large = np.sort(np.bincount(unit[:out], off))[::-1]
        unsafe = bool(large[2:].sum() < 0.21 * large[0])
        told = unsafe_deviation(statements, values, [3, 1], old, rules)
        assert bool(told.statements) == unsafe and not told.unresolved
        found.append(unsafe)
    assert 20 < sum(found) < 130


@pytest.mark.parametrize("frame", [workers()[0].head(0), workers()[0].assign(pay=np.nan)])
def test_without_values_nothing_is_told_of_any(frame):
    project = Project(frame)
    project.accept(project.check(groupby, frame, "town", BOTH), "all", who="Lee", why="empty")
    assert project.check(groupby, frame, "all", BOTH).verdict != "fail"
