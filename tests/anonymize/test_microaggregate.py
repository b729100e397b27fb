"""Microaggregation as a verb: what changes, what stays, and what is refused."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import Microdata, SecretKeys
from diskret.anonymize.verb import VERBS
from diskret.anonymize.write import outline
from diskret.attack.microdata.claims import KAnonymity
from diskret.errors import InputError
from diskret.microdata.aggregation import METHODS
from diskret.texts import LANGUAGES, words_in


def firms(n=60, seed=1, **columns):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "sales": rng.lognormal(5, 1, n).round(2),
            "staff": rng.integers(1, 40, n),
            "branch": rng.choice(["bakery", "mill", "shop"], n),
            "grade": rng.integers(1, 5, n),
            "state": np.resize(["A", "B"], n),
            "w": rng.uniform(1, 9, n),
            **columns,
        }
    )


def microdata(table=None, **roles):
    table = firms() if table is None else table
    return Microdata(table, numeric=["sales", "staff"], weight="w", **roles)


def shown(md, names):
    return list(zip(*(md.table.column(name).to_pylist() for name in names), strict=True))


@examples(40)
@given(
    st.integers(3, 40),
    st.integers(2, 3),
    st.sampled_from(["mdav", "mdav_mixed", "gower", "vmdav", "random", "random_nearest"]),
    st.sampled_from(["mean", "median"]),
    st.booleans(),
)
def test_what_is_shown_is_shared_by_k_records_of_the_stratum(n, k, method, measure, weights):
    md = microdata(firms(2 * n, seed=n), strata=["state"])
    categories = {"nominal": ["branch"], "ordinal": ["grade"]} if METHODS[method].categories else {}
    made = md.microaggregate(
        method=method,
        k=k,
        measure=measure,
        weights=weights,
        seed=1 if METHODS[method].draws else None,
        **categories,
    )
    names = ["sales", "staff", *categories.get("nominal", []), *categories.get("ordinal", [])]
    assert min(Counter(shown(made, ["state", *names])).values()) >= k
    found = made.history[0].found
    assert k <= found["smallest"] <= found["largest"] and found["alike"] == found["smallest"]
    assert found["groups"] * found["smallest"] <= 2 * n <= found["groups"] * found["largest"]
    assert made.changed == set(names)
    assert made.table.schema.field("branch").type == md.table.schema.field("branch").type


def test_totals_are_kept_with_and_without_weights():
    md = microdata()
    sales, w = (md.table.column(name).to_numpy() for name in ("sales", "w"))
    plain = md.microaggregate().table.column("sales").to_numpy()
    weighted = md.microaggregate(weights=True).table.column("sales").to_numpy()
    assert math.isclose(plain.sum(), sales.sum())
    assert math.isclose((weighted * w).sum(), (sales * w).sum())
    assert not math.isclose((plain * w).sum(), (sales * w).sum())


def test_the_share_of_lost_variance_is_what_is_reported():
    md = microdata()
    made = md.microaggregate(k=4)
    found = made.history[0].found
    for name in ("sales", "staff"):
        before, after = (one.table.column(name).to_numpy() for one in (md, made))
        share = ((before - after) ** 2).sum() / ((before - before.mean()) ** 2).sum()
        assert math.isclose(found["lost"][name], share)
    assert math.isclose(found["sse_sst"], sum(found["lost"].values()) / 2)


def test_strata_are_protected_as_if_they_were_alone():
    table = firms()
    whole = microdata(table, strata=["state"]).microaggregate().table
    for state in ("A", "B"):
        mask = pc.equal(table["state"], state)
        alone = microdata(table.filter(mask)).microaggregate().table
        assert whole.filter(mask).column("sales").equals(alone.column("sales"))
    assert not microdata(table, strata=["state"]).microaggregate(strata=[]).table.equals(whole)


def test_the_order_of_records_does_not_matter():
    table = firms(seed=3)
    order = np.random.default_rng(5).permutation(60)
    for method in ("mdav", "vmdav", "random_nearest"):
        seed = 4 if METHODS[method].draws else None
        one = microdata(table).microaggregate(method=method, seed=seed).table
        other = microdata(table.take(order)).microaggregate(method=method, seed=seed).table
        assert one.take(order).column("sales").equals(other.column("sales"))


def test_missing_values_stay_missing_and_the_others_are_grouped_with_their_like():
    sales = [None, None, None, 1.0, 2.0, 3.0, math.nan, 50.0]
    staff = [1, 2, 9, 5, 6, 7, 3, None]
    md = Microdata(pd.DataFrame({"sales": sales, "staff": staff}), numeric=["sales", "staff"])
    made = md.microaggregate()
    after = made.numbers()
    assert after[:7, 1].tolist() == [3.75, 3.75, 3.75, 6.0, 6.0, 6.0, 3.75]
    assert after[3:6, 0].tolist() == [2.0, 2.0, 2.0] and np.isnan(after[[0, 1, 2, 6], 0]).all()
    # nobody else lacks the staff alone, so the sales of the last cannot be shown
    assert np.isnan(after[7]).all()
    found = made.history[0].found
    assert found["suppressed"] == {"sales": 1} and (found["groups"], found["smallest"]) == (2, 3)
    assert made.frame["sales"].isna().sum() == 5


def test_records_without_any_value_are_counted():
    table = pa.table({"x": [1.0, 2.0, None, 3.0], "y": [1, 2, None, 3]})
    found = Microdata(table, numeric=["x", "y"]).microaggregate().history[0].found
    assert found["without"] == 1 and "suppressed" not in found


def test_constant_values_do_not_count_and_are_kept():
    table = firms(staff=pa.array([7] * 60))
    made = microdata(table).microaggregate()
    assert set(made.table.column("staff").to_pylist()) == {7.0}
    alone = Microdata(table, numeric=["sales"]).microaggregate()
    assert made.table.column("sales").equals(alone.table.column("sales"))
    assert "staff" not in made.history[0].found["lost"]


def test_units_matter_only_without_scaling():
    table = firms()
    cents = table.set_column(0, "sales", pc.multiply(table["sales"], 1024.0))
    for scale in (True, False):
        one = microdata(table).microaggregate(scale=scale).table.column("staff")
        other = microdata(cents).microaggregate(scale=scale).table.column("staff")
        assert one.equals(other) == scale


def test_steps_are_replayed_with_all_their_arguments():
    md = microdata(strata=["state"])
    calls = [
        {},
        {"variables": "sales", "method": "vmdav", "gamma": 0.5, "k": 4, "weights": True},
        {"method": "random", "seed": 3, "measure": "median", "strata": []},
        {"method": "gower", "nominal": "branch", "ordinal": ["grade"], "scale": False},
    ]
    for call in calls:
        made = md.microaggregate(**call)
        assert made.history[0].verb in VERBS
        assert made.replay(md.table).table.equals(made.table), call


def test_readers_are_told_that_values_are_averages():
    md = microdata(keys=["state"]).microaggregate(weights=True)
    result = md.release(KAnonymity(3), attributes=["branch"], keys=SecretKeys(bytes(range(32))))
    assert outline(result).families == {"aggregated": ("sales", "staff")}
    for words in (words_in(language, "microdata_report") for language in LANGUAGES):
        assert "aggregated" in words and "use aggregated" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "knn"}, "method= must be 'mdav',.*not 'knn'"),
        ({"k": 1}, "k= must be a whole number from 2"),
        ({"k": 2.5}, "k= must be a whole number from 2"),
        ({"k": 61}, "there are 60 records, too few for a group of 61"),
        ({"measure": "mode"}, "measure= must be 'mean' or 'median'"),
        ({"gamma": 0.3}, "gamma= belongs to vmdav, not to mdav"),
        ({"method": "random"}, "random draws, so it needs seed="),
        ({"seed": 1}, "mdav draws nothing"),
        ({"nominal": ["branch"]}, "take mdav_mixed or gower"),
        ({"variables": ["branch"]}, "not numbers"),
        ({"variables": ["sales", "sales"]}, "named twice"),
        ({"variables": []}, "no variable is named"),
        ({"strata": "sales"}, "cannot be used here and divide"),
        ({"strata": ["branch", "grade"], "k": 20}, r"12 of 12 strata have fewer than 20 records"),
        ({"variables": ["turnover"]}, "turnover"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        microdata().microaggregate(**arguments)


def test_weights_need_a_weight():
    with pytest.raises(InputError, match="needs weight="):
        Microdata(firms(), numeric=["sales"]).microaggregate(weights=True)
