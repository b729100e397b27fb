"""Top coding: totals stay, and behind every new value stand enough records."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from scipy.stats import chi2

from diskret import Microdata
from diskret.errors import InputError
from diskret.microdata.top_code import pulled_in
from diskret.risk.robust import robust_scatter


def firms(n=500, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "turnover": np.round(rng.lognormal(5, 1.5, n), 1),
            "staff": rng.integers(0, 30, n),
            "branch": rng.choice(["A", "B", "C"], n),
            "w": rng.integers(1, 40, n) / 8,
        }
    )


def numbers(md, name):
    return md.numbers([name])[:, 0]


@examples(80)
@given(
    st.lists(
        st.tuples(st.integers(-5, 5), st.integers(0, 1), st.integers(1, 9)), min_size=1, max_size=25
    ),
    st.one_of(st.tuples(st.just("share"), st.floats(0.01, 0.99)),
              st.tuples(st.just("limit"), st.integers(-6, 6))),
    st.booleans(),
    st.integers(2, 5),
    st.booleans(),
)  # fmt: skip
def test_totals_stay_and_k_records_share_each_new_value(rows, way, bottom, k, weighted):
    x, s, w = (np.array(one) for one in zip(*rows, strict=True))
    md = Microdata(pa.table({"x": x, "s": s, "w": w}), weight="w" if weighted else None)
    try:
        made = md.top_code("x", **dict([way]), bottom=bottom, k=k, within="s")
    except InputError as error:
        assert "fewer than" in str(error)
        assert min(Counter(s.tolist()).values()) < k
        return
    new, weight, sign = numbers(made, "x"), w if weighted else np.ones(len(x)), -1 if bottom else 1
    found = made.history[0].found
    replaced = 0
    for one in np.unique(s):
        here = s == one
        before, after = sign * x[here], sign * new[here]
        assert np.isclose((after * weight[here]).sum(), (before * weight[here]).sum(), atol=1e-9)
        # the same, said differently: sort, and cut off from the top
        n, (kind, figure) = here.sum(), way
        beyond = (before > sign * figure).sum() if kind == "limit" else int(np.ceil(figure * n))
        if not beyond:
            assert (before == after).all()
            continue
        assert n >= k
        tail = before >= np.sort(before)[::-1][max(beyond, k) - 1]
        assert (after[~tail] == before[~tail]).all()
        assert len(set(after[tail])) == 1 and tail.sum() >= k
        replaced += tail.sum()
    assert found["replaced"] == replaced


def test_a_share_is_that_of_each_stratum_and_a_median_or_a_limit_can_stand_in_for_the_mean():
    md = Microdata(firms(), strata=["branch"])
    made = md.top_code("turnover", share=0.05)
    branch, x, new = (np.array(made.table["branch"]), numbers(md, "turnover"), made)
    new = numbers(new, "turnover")
    for one in "ABC":
        here = branch == one
        cut = np.sort(x[here])[::-1][: int(np.ceil(0.05 * here.sum()))]
        assert new[here].max() == pytest.approx(cut.mean(), rel=1e-12)
    whole = md.top_code("turnover", share=0.02, within=[], keep="median")
    assert numbers(whole, "turnover").max() == np.median(np.sort(x)[-10:])
    limited = md.top_code("turnover", limit=1000, within=[], keep="value")
    assert (numbers(limited, "turnover") == np.minimum(x, 1000)).all()
    shared = md.top_code("turnover", share=0.02, within=[], keep="value")
    assert (numbers(shared, "turnover") == np.minimum(x, np.sort(x)[-10])).all()


def test_a_weighted_median_has_half_of_the_weight_on_each_side():
    table = pa.table({"x": [1, 2, 3, 10, 11, 12, 13], "w": [1, 1, 1, 5, 1, 1, 1]})
    made = Microdata(table, weight="w").top_code("x", limit=3, keep="median")
    assert numbers(made, "x").tolist() == [1, 2, 3, 10, 10, 10, 10]
    even = pa.table({"x": [1, 10, 11, 12], "w": [1, 2, 1, 1]})
    made = Microdata(even, weight="w").top_code("x", limit=3, keep="median")
    assert numbers(made, "x").tolist() == [1, 10.5, 10.5, 10.5]


def test_negative_limits_and_the_lower_end():
    md = Microdata(pa.table({"x": [-50, -40, -30, -3, 0, 3]}))
    made = md.top_code("x", limit=-20, bottom=True, keep="value")
    assert numbers(made, "x").tolist() == [-20, -20, -20, -3, 0, 3]
    made = md.top_code("x", limit=-45, bottom=True)
    assert numbers(made, "x").tolist() == [-40, -40, -40, -3, 0, 3]
    assert made.history[0].found["extended"] == 1


def test_a_single_large_value_behind_a_mean_is_told_to_the_office():
    md = Microdata(pa.table({"x": [1.0, 2, 3, 4, 1000, 6, 5]}))
    found = md.top_code("x", limit=500).history[0].found
    assert found["largest_share"] == pytest.approx(1000 / 1011) and found["dominated"] == 1
    found = md.top_code("x", share=0.99, keep="value").history[0].found
    assert found["replaced"] == 7


def test_missing_values_stay_missing_and_are_never_numbers():
    md = Microdata(pa.table({"x": pa.array([-999.0, None, 5, float("nan"), 7, 9, 8])}))
    made = md.top_code("x", limit=6)
    assert made.table["x"].to_pylist() == [-999.0, None, 5, None, 8, 8, 8]
    assert made.history[0].found["missing"] == 2


def test_strata_too_small_to_hide_in_are_refused_by_name():
    table = pa.table({"x": [1, 2, 3, 90, 4], "s": ["a", "a", "a", "b", "b"]})
    with pytest.raises(InputError, match="1 stratum has fewer than 3 .* s = b, has 2"):
        Microdata(table).top_code("x", limit=50, within="s")
    # where nothing has to be replaced, small strata are no matter
    assert Microdata(table).top_code("x", limit=95, within="s").history[0].found["replaced"] == 0


def test_steps_are_repeated_on_the_same_records_and_frames_stay():
    frame = firms().to_pandas()
    kept = frame.copy()
    md = Microdata(frame, numeric=["turnover", "staff"], weight="w")
    made = md.top_code("turnover", share=0.01, within="branch").top_code_together(quantile=0.9)
    assert made.replay(kept).table.equals(made.table)
    assert isinstance(made.frame, pd.DataFrame) and frame.equals(kept)
    assert json.loads(json.dumps([step.found for step in made.history])) == [
        step.found for step in made.history
    ]


def test_far_records_come_back_to_the_ellipsoid_and_others_stay():
    rng = np.random.default_rng(2)
    n = 2000
    x = rng.multivariate_normal([10, 20, 30], [[4, 3, 1], [3, 9, 2], [1, 2, 5]], n)
    x[:60] += rng.choice([-1, 1], (60, 1)) * [40, -40, 40]
    scatter = robust_scatter(x)
    made, replaced = pulled_in(x, 0.975)
    limit = chi2.ppf(0.975, 3) ** 0.5
    assert replaced[:60].all() and abs(replaced[60:].mean() - 0.025) < 0.015
    assert (made[~replaced] == x[~replaced]).all()
    assert np.allclose(scatter.distances(made[replaced]), limit)
    way, after = x[replaced] - scatter.center, made[replaced] - scatter.center
    assert np.allclose(way / np.linalg.norm(way, axis=1)[:, None],
                       after / np.linalg.norm(after, axis=1)[:, None])  # fmt: skip


def test_sums_of_parts_stay_sums_and_gaps_stay_gaps(reference_data):
    # PTOTVAL = POTHVAL + PEARNVAL: the covariance is singular, at which others stop
    data = pd.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    parts = ["PTOTVAL", "PEARNVAL", "POTHVAL"]
    data = data[parts].astype(float)
    data.loc[5, "PEARNVAL"] = np.nan
    made = Microdata(data, numeric=parts).top_code_together()
    after = made.frame
    assert made.history[0].found["replaced"] > 10 and made.history[0].found["missing"] == 1
    whole = data["PEARNVAL"] + data["POTHVAL"]
    agree = data["PTOTVAL"] == whole
    assert agree.sum() > 1000
    assert np.allclose(after["PTOTVAL"][agree], (after["PEARNVAL"] + after["POTHVAL"])[agree])
    assert after.loc[5, "PTOTVAL"] == data.loc[5, "PTOTVAL"] and np.isnan(after.loc[5, "PEARNVAL"])
    assert (after["PTOTVAL"] <= data["PTOTVAL"] + 1e-6)[data["PTOTVAL"] > 10**5].all()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "either share= or limit="),
        ({"share": 0.1, "limit": 3}, "either share= or limit="),
        ({"share": 5}, "0.05 for 5 %"),
        ({"limit": float("nan")}, "must be a number"),
        ({"share": 0.1, "k": 1}, "from 2"),
        ({"share": 0.1, "keep": "mode"}, "'mean', 'median' or 'value'"),
        ({"share": 0.1, "within": "turnover"}, "at the same time"),
        ({"share": 0.1, "variable": "branch"}, "not numbers"),
    ],
)
def test_what_cannot_be_done_is_said(options, says):
    with pytest.raises(InputError, match=says):
        Microdata(firms(50)).top_code(**{"variable": "turnover", **options})


def test_what_cannot_be_done_together_is_said():
    md = Microdata(firms(50))
    with pytest.raises(InputError, match="no numeric variable"):
        md.top_code_together([])
    with pytest.raises(InputError, match="above 0.5"):
        md.top_code_together(["staff"], quantile=0.2)
    with pytest.raises(InputError, match="twice"):
        md.top_code_together(["staff", "staff"])
    gaps = pa.table({"a": [1.0, None, 2], "b": [None, 1.0, 2]})
    with pytest.raises(InputError, match="1 record has all 2 values"):
        Microdata(gaps).top_code_together(["a", "b"])
