"""Swapping: what is exchanged, with whom, how often, and what never changes."""

import json
import tomllib
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import Microdata, SecretKeys, claims
from diskret.errors import InputError
from diskret.microdata.swap import partners


def records(n=2000, seed=3):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "region": rng.choice(["A", "B", "C", "D"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "district": rng.integers(1, 40, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 9, n) * 10,
            "income": np.round(rng.lognormal(8, 1, n), 2),
        }
    )


def columns(md, *names):
    return list(zip(*(md.table.column(name).to_pylist() for name in names), strict=True))


def problem(draw):
    n = draw(st.integers(1, 13))
    numbers = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    strata = np.array(draw(numbers), np.intp)
    return (
        np.array(draw(numbers), np.intp),
        [strata * 4 + np.array(draw(numbers), np.intp), strata],
        np.full(n, draw(st.sampled_from([0, 0.3, 1]))),
        np.array(draw(flags)),
        np.array(draw(flags)),
    )


@given(st.composite(problem)(), st.integers(0, 10**6))
def test_partners_are_mutual_in_the_stratum_and_have_another_value(made, seed):
    values, levels, chance, risky, part = made
    found = partners(values, levels, chance, risky, part, np.random.default_rng(seed))
    moved = found != np.arange(len(values))
    assert (found[found] == np.arange(len(values))).all()
    assert part[moved].all() and (levels[-1][found] == levels[-1]).all()
    assert (values[found] != values)[moved].all()
    # who is at risk and finds nobody has nobody left with another value
    for at in np.flatnonzero(risky & part & ~moved):
        others = part & ~moved & (levels[-1] == levels[-1][at]) & (values != values[at])
        assert not others.any()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 10**6))
def test_where_all_are_drawn_no_other_pairing_exchanges_more(values, seed):
    values = np.array(values, np.intp)
    n, one = len(values), np.zeros(len(values), np.intp)
    everybody = np.ones(n, bool)
    found = partners(values, [one], np.ones(n), ~everybody, everybody, np.random.default_rng(seed))
    most = np.bincount(values).max()
    best = 2 * min(n // 2, n - most)  # pairs of different values, by the largest class
    # of an odd number one record may leave before pairs are formed
    assert best - 2 * (n % 2) <= (found != np.arange(n)).sum() <= best


def test_the_largest_number_of_pairs_is_that_of_all_matchings():
    for values in product(range(3), repeat=6):
        most = max(Counter(values).values())
        assert matching(list(values)) == min(3, 6 - most)


def matching(values):
    """Most pairs of different values, by trying all."""
    if len(values) < 2:
        return 0
    head, *rest = values
    tries = [1 + matching(rest[:at] + rest[at + 1 :]) for at, v in enumerate(rest) if v != head]
    return max([matching(rest), *tries])


@examples(40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.02, 0.3, 1.0]),
    st.booleans(),
    st.sampled_from([None, 5]),
)
def test_distributions_stay_in_every_stratum(seed, probability, together, targets):
    md = Microdata(records(300), keys=["region", "age", "sex"])
    made = md.swap(
        ["region", "district"],
        seed=seed,
        probability=probability,
        within="sex",
        together=together,
        targets=targets,
    )
    kept = (("sex", "region"), ("sex", "district"), ("age", "income", "sex"))
    for names in (*kept, ("sex", "region", "district")) if together else kept:
        assert Counter(columns(made, *names)) == Counter(columns(md, *names))
    found = made.history[0].found
    for label, names in (
        {"region x district": ("region", "district")}
        if together
        else {"region": ("region",), "district": ("district",)}
    ).items():
        before, after = columns(md, *names), columns(made, *names)
        changed = sum(a != b for a, b in zip(before, after, strict=True))
        assert changed == found[label]["exchanged"]
        assert sum(one["exchanged"] for one in found[label]["by_stratum"]) == changed


def test_each_record_is_exchanged_as_likely_as_asked():
    n, runs = 300, 400
    chance = np.repeat([0.05, 0.2, 0.5], 100)
    table = pa.table(
        {
            "x": np.random.default_rng(1).permutation(n) // 10,
            "chance": chance,
            "stratum": np.arange(n) % 7,
        }
    )
    md = Microdata(table)
    hits = np.zeros(n)
    for seed in range(runs):
        made = md.swap("x", seed=seed, probability="chance", within="stratum")
        hits += made.table.column("x").to_numpy() != md.table.column("x").to_numpy()
    for one in (0.05, 0.2, 0.5):
        found = hits[chance == one] / runs
        error = (one * (1 - one) / runs) ** 0.5
        assert abs(found.mean() - one) <= 0.01 + 0.02 * one
        assert np.abs(found - one).max() <= 5 * error


def test_records_of_small_strata_are_exchanged_as_often():
    # pairs among independently drawn records would come about too seldom: 0.015 in place of 0.05
    n = 1200
    table = pa.table({"x": np.arange(n), "stratum": np.arange(n) // 3})
    rates = [
        Microdata(table)
        .swap("x", seed=seed, probability=0.05, within="stratum")
        .history[0]
        .found["x"]["rate"]
        for seed in range(60)
    ]
    assert abs(np.mean(rates) - 0.05) < 0.003


def test_partners_are_drawn_evenly_among_other_values():
    values = np.repeat(np.arange(4), 50)
    joint, runs = np.zeros((4, 4)), 200
    md = Microdata(pa.table({"x": values}))
    for seed in range(runs):
        after = md.swap("x", seed=seed, probability=0.4).table.column("x").to_numpy()
        np.add.at(joint, (values, after), 1)
    np.testing.assert_array_equal(joint, joint.T)
    away = joint[~np.eye(4, dtype=bool)]
    assert np.abs(away / away.mean() - 1).max() < 0.1


def test_a_rare_value_does_not_change_more_often_than_asked():
    values = np.repeat([0, 1], [950, 50])
    md = Microdata(pa.table({"x": values}))
    found = np.zeros(1000)
    for seed in range(100):
        after = md.swap("x", seed=seed, probability=0.1).table.column("x").to_numpy()
        found += after != values
    assert abs(found[950:].mean() / 100 - 0.1) < 0.015
    assert abs(found[:950].mean() / 100 - 0.1 * 50 / 950) < 0.002


def test_ranges_hold_for_exchanged_and_for_other_variables():
    md = Microdata(records())
    made = md.swap(
        "income",
        seed=1,
        probability=1,
        ranges={"income": {"from": 1000, "to": 5000}, "region": ["A", "C"], "age": {"to": 50}},
    )
    before, after = (np.array(one.table.column("income")) for one in (md, made))
    regions, ages = (np.array(md.table.column(name)) for name in ("region", "age"))
    inside = (before >= 1000) & (before <= 5000) & np.isin(regions, ["A", "C"]) & (ages <= 50)
    assert (before == after)[~inside].all()
    assert (before != after)[inside].mean() > 0.99
    assert made.history[0].found["outside"]["age"] == (ages > 50).sum()
    assert made.history[0].found["income"]["records"] == inside.sum()


def test_partners_agree_in_the_first_profile_that_gives_any():
    md = Microdata(records())
    made = md.swap("region", seed=1, probability=0.5, similar=[["sex", "age"], ["sex"]])
    strict = md.swap("region", seed=1, probability=0.5, within=["sex", "age"])
    before, after = columns(md, "sex", "age", "region"), columns(made, "sex", "age", "region")
    # nearly all are exchanged within the finest groups, and of sexes none is not
    away = (Counter(before) - Counter(after)).total()
    assert 0 < away < 0.02 * md.n
    assert Counter(columns(made, "sex", "region")) == Counter(columns(md, "sex", "region"))
    assert Counter(columns(strict, "sex", "age", "region")) == Counter(before)
    assert made.history[0].arguments["similar"] == [["sex", "age"], ["sex"]]
    plain = md.swap("region", seed=1, probability=0.5, similar=["sex", "age"])
    assert plain.history[0].arguments["similar"] == [["sex", "age"]]


def test_records_at_risk_are_exchanged_in_any_case_and_those_left_are_reported():
    md = Microdata(records(), keys=["region", "age", "sex", "district"])
    risky = md.risk().records["sample_frequency"].to_numpy() < 2
    made = md.swap("region", seed=1, probability=0, within=["sex", "age"], targets=2)
    moved = np.array(md.table.column("region")) != np.array(made.table.column("region"))
    found = made.history[0].found["region"]
    assert found["risky"] == risky.sum() > 500 and found["not_exchanged"] == 0
    assert moved[risky].all()
    assert moved.sum() <= risky.sum() * 1.1
    alone = Microdata(
        pa.table({"x": ["a", "a", "b", "c"], "s": [1, 1, 2, 2], "flag": [True, False, True, False]})
    ).swap("x", seed=1, probability=0, within="s", targets="flag")
    assert alone.table.column("x").to_pylist() == ["a", "a", "c", "b"]
    assert alone.history[0].found["x"]["rows_not_exchanged"] == [1]


def test_what_tells_the_same_in_more_detail_goes_along():
    table = records()
    table = table.append_column(
        "code",
        pa.compute.binary_join_element_wise(
            table.column("region"), table.column("district").cast(pa.string()), "-"
        ),
    )
    md = Microdata(table, keys=["region"], followers={"region": ["code"]})
    made = md.swap("region", seed=1, probability=0.3)
    assert all(code.startswith(region) for region, code in columns(made, "region", "code"))
    assert made.changed == {"region", "code"}


def test_missing_values_stay_where_they_are_and_take_no_part():
    values = [1.5, float("nan"), 2.5, None, -999.0, 3.5] * 20
    md = Microdata(pa.table({"x": pa.array(values, pa.float64())}))
    made = md.swap("x", seed=1, probability=1)
    before, after = (np.array(one.numbers(["x"])[:, 0]) for one in (md, made))
    assert (np.isnan(before) == np.isnan(after)).all()
    assert made.history[0].found["x"]["missing"] == 40
    # -999 is a number like any other
    assert (after[before == -999] != -999).all()


def test_types_and_frames_stay():
    frame = records(200).to_pandas()
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["age"], "D")
    frame["kind"] = pd.Categorical(frame["region"])
    kept = frame.copy()
    made = Microdata(frame).swap(["day", "kind", "income", "age"], seed=1, probability=0.5).frame
    assert made.dtypes.equals(frame.dtypes) and frame.equals(kept)
    assert not made["day"].equals(frame["day"])


def test_seeds_repeat_and_a_second_call_draws_anew():
    md = Microdata(records())
    first = md.swap("region", seed=1, probability=0.2)
    assert first.table.equals(md.swap("region", seed=1, probability=0.2).table)
    assert not first.table.equals(md.swap("region", seed=2, probability=0.2).table)
    second = first.swap("region", seed=1, probability=0.2)
    one, two = (
        np.array(a.table.column("region")) != np.array(b.table.column("region"))
        for a, b in ((md, first), (first, second))
    )
    assert abs((one & two).sum() / md.n - 0.04) < 0.02


def test_steps_are_repeated_from_the_history_and_from_a_job_file(tmp_path):
    md = Microdata(records(), keys=["region", "sex"])
    made = md.swap(
        "region", seed=1, within=["sex"], ranges={"age": {"from": 20}, "region": ["A", "B"]},
        targets=3, similar=["age"],
    )  # fmt: skip
    assert made.replay(records()).table.equals(made.table)
    assert json.loads(json.dumps(made.history[0].found)) == made.history[0].found
    text = made.save_job(tmp_path / "job.toml", "persons.csv").read_text(encoding="utf-8")
    step = tomllib.loads(text)["steps"][0]
    assert step.pop("do") == "swap" and md.swap(**step).table.equals(made.table)


def test_readers_learn_which_variables_were_exchanged_and_nothing_else(tmp_path):
    md = Microdata(records(), keys=["region", "sex"]).swap("region", seed=77, within="sex")
    md.release(claims.KAnonymity(2), keys=SecretKeys(bytes(range(32)))).write(
        tmp_path / "out", formats=["csv", "html"]
    )
    told = [one.read_text(encoding="utf-8") for one in (tmp_path / "out/public").glob("*.html")]
    assert any("Exchanged between records: region" in text for text in told)
    assert not any("77" in text.split("</style>")[-1] for text in told)


def test_many_strata_are_reported_by_the_lowest_rates():
    table = pa.table({"x": np.arange(600), "s": np.arange(600) // 3})
    found = Microdata(table).swap("x", seed=1, probability=0.4, within="s").history[0].found["x"]
    assert found["strata"] == 200 and len(found["by_stratum"]) == 100
    assert found["strata_without"] > 0
    assert sum(one["exchanged"] == 0 for one in found["by_stratum"]) == min(
        100, found["strata_without"]
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"variables": []}, "names no column"),
        ({"variables": ["region", "region"]}, "twice"),
        ({"within": "region"}, "divide the records at the same time"),
        ({"similar": ["region"]}, "divide the records at the same time"),
        ({"probability": 1.5}, "a number from 0 to 1"),
        ({"probability": "income"}, "probabilities in 'income'"),
        ({"seed": -1}, "whole number from 0"),
        ({"targets": 1}, "whole number from 2"),
        ({"targets": 3}, "no key variable"),
        ({"targets": "sex"}, "logical column"),
        ({"ranges": {"age": {"low": 3}}}, "list of categories"),
        ({"ranges": {"sex": "f"}}, "list of categories"),
        ({"ranges": {"sex": ["x"]}}, "no record can exchange variable 'region'"),
        ({"variables": "town"}, "there is no column 'town'"),
    ],
)
def test_what_cannot_be_done_is_said(options, says):
    with pytest.raises(InputError, match=says):
        Microdata(records(50)).swap(**{"variables": "region", "seed": 1, **options})
