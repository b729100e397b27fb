"""What is hidden in the last digits of a number does not leave."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import statsmodels.formula.api as smf

from diskret.outputs import Profile, crosstab, groupby, model, pivot_table, quantile
from diskret.outputs.kept import files_of
from diskret.outputs.unread import unread

ALL = Profile(digits=17)


def leaves(checked, number=0):
    return pd.read_csv(io.BytesIO([*files_of(checked, "x").values()][number]), index_col=0)


def told_by(age, products):
    """All numbers of yes and no answers whose sum and sum of products with age are as told."""
    half = len(age) // 2
    answers = ((np.arange(2**half)[:, None] >> np.arange(half)) & 1).astype(float)
    first, second = (answers @ age[:half], answers @ age[half:])
    counts = answers.sum(axis=1)
    least, most, total = products
    found = []
    for number in range(half + 1):
        own = np.flatnonzero(counts == number)
        other = np.flatnonzero(counts == total - number)
        other = other[np.argsort(second[other])]
        low = np.searchsorted(second[other], least - first[own], "left")
        high = np.searchsorted(second[other], most - first[own], "right")
        for one in np.flatnonzero(high > low):
            found += [np.r_[answers[own[one]], answers[at]] for at in other[low[one] : high[one]]]
    return np.array(found)


def test_answers_of_all_follow_from_all_digits_and_of_nobody_from_what_leaves():
    """Who knows everybody's age tries which answers fit the slope: half of them, then the rest."""
    draw = np.random.default_rng(8)
    frame = pd.DataFrame({"age": draw.uniform(20, 65, 32), "ill": draw.integers(0, 2, 32)})
    rules = replace(ALL, verdicts={"pairs": "pass"})
    checked = model(smf.ols("ill ~ age", frame).fit(), profile=rules)
    assert checked.verdict == "pass"
    age = frame.age.to_numpy()
    off = age - age.mean()
    for digits, slack in ((17, 1e-13), (5, 1e-4)):
        table = leaves(replace(checked, profile=replace(rules, digits=digits)), 1)
        intercept, slope = table["Coef."]
        total = round(32 * (intercept + slope * age.mean()))
        # slope = sum(off * ill) / sum(off²), to so many digits
        products = slope * (off @ off) + age.mean() * total
        room = slack * abs(slope) * (off @ off) + 1e-11
        fit = told_by(age, (products - room, products + room, total))
        right = (fit == frame.ill.to_numpy()).all(axis=1)
        assert right.sum() == 1
        certain = (fit == fit[0]).all(axis=0)
        assert certain.all() if digits == 17 else not certain.any() and len(fit) > 100


def test_a_value_in_the_digits_of_a_mean_does_not_leave():
    frame = pd.DataFrame({"town": ["A"] * 40, "all": "x", "pay": np.linspace(1000, 2000, 40)})
    frame["z"] = 1 + frame.pay[17] * 1e-9 + 1e-13 * frame.pay  # the pay of one, told to all
    kinds = {
        "groupby": groupby(frame, "town", {"z": ["mean", "count"]}),
        "polars": groupby(pl.from_pandas(frame), "town", {"z": "mean"}),
        "crosstab": crosstab(frame.town, frame["all"], values=frame.z, aggfunc="mean"),
        "quantile": quantile(frame, "z", [0.25, 0.5]),
    }
    for checked in kinds.values():
        assert checked.verdict == "pass"
        [content] = files_of(replace(checked, profile=ALL), "x").values()
        assert b"1.00000143" in content  # 1,435.90, and digits of others
        [content] = files_of(checked, "x").values()
        assert b"1.0" in content and b"1.00" not in content


def test_counts_codes_and_words_leave_as_they_are():
    frame = pd.DataFrame({"place": [5315004] * 40, "name": "x", "n": np.arange(40) + 1234567})
    table = groupby(pl.from_pandas(frame), ["place", "name"], {"n": ["sum", "mean"]})
    shown = leaves(table)
    assert shown.index.tolist() == [5315004] and shown["n_sum"].tolist() == [sum(frame.n)]
    assert shown["n_mean"].tolist() == [1234600.0]


def test_large_counts_leave_as_they_are_beside_cells_without_any():
    frame = pd.DataFrame({"place": ["A"] * 123_457 + ["B"] * 40 + ["A"] * 40, "n": 1})
    frame["year"] = [2024] * 123_497 + [2025] * 40
    table = pivot_table(frame, "n", index="place", columns="year", aggfunc="count")
    assert np.isnan(table.output.loc["B", 2025]) and leaves(table)["2024"].tolist() == [123_457, 40]
    assert leaves(unread(table.output))["2024"].tolist()[0] == 123_460  # nobody knows what it is
    whole = pl.DataFrame({"n": [123_457.0, None], "share": [0.1234567, 1.0]})
    shown = pl.read_csv([*files_of(replace(table, output=whole), "x").values()][0])
    assert shown["n"].to_list() == [123_457, None] and shown["share"].to_list() == [0.12346, 1]
