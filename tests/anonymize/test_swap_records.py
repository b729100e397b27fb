"""Record swapping: what moves, what never changes, and what the office is told."""

import json
import tomllib
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import Microdata, SecretKeys, claims
from diskret.anonymize import swap_records as verb
from diskret.errors import InputError
from diskret.microdata.record_swap import RecordSwap

GEOGRAPHY = ["state", "district", "town"]
KEYS = ["age", "sex", "job"]


def records(n=600, seed=3, towns=24):
    """Persons in households of up to five, in three levels of geography, in no order."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.choice([1, 2, 3, 4, 5], n))[:n]
    town = rng.integers(0, towns, n)
    order = rng.permutation(n)
    columns = {
        "home": np.char.add("h", home.astype(str)),
        "state": np.array(["N", "S"])[town % 2][home],
        "district": (town % 6)[home],
        "town": np.char.add("t", town.astype(str))[home],
        "grid": (town * 100 + rng.integers(0, 3, n))[home] / 8,
        "size": np.bincount(home)[home],
        "age": rng.integers(0, 5, n) * 20,
        "sex": rng.choice(["f", "m"], n),
        "job": rng.choice(["baker", "clerk", "mayor"], n, p=[0.6, 0.37, 0.03]),
        "person": np.arange(n),
    }
    return pa.table({name: values[order] for name, values in columns.items()})


def microdata(table=None, **roles):
    given_roles = {"keys": KEYS, "household": "home", **roles}
    return Microdata(records() if table is None else table, **given_roles)


def columns(md, *names):
    return list(zip(*(md.table.column(name).to_pylist() for name in names), strict=True))


def risky_levels(md, k, geography=GEOGRAPHY):
    """Household → the coarsest level at which it is at risk, by counting."""
    found = {}
    for level in reversed(range(len(geography))):
        shown = columns(md, *geography[: level + 1], *KEYS)
        count = Counter(shown)
        for home, one in zip(md.table.column("home").to_pylist(), shown, strict=True):
            if count[one] < k:
                found[home] = level
    return found


def places(md, *names):
    return dict(zip(md.table.column("home").to_pylist(), columns(md, *names), strict=True))


options = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "rate": st.sampled_from([0, 0.1, 0.6]),
        "k": st.integers(2, 4),
        "method": st.sampled_from(["targeted", "random"]),
        "similar": st.sampled_from([[], [["size"]], [["size"], []]]),
        "within": st.sampled_from([[], ["state"], ["state", "district"]]),
    }
)


@examples(60)
@given(options, st.integers(0, 5), st.integers(0, 200))
def test_households_move_whole_and_everything_else_stays(asked, which, n):
    md = microdata(records(20 + n, which), strata=["sex"])
    made = md.swap_records(GEOGRAPHY, carry_along=["grid"], **asked)
    moving = [*GEOGRAPHY, "grid"]
    others = [name for name in md.table.column_names if name not in moving]
    assert made.table.select(others).equals(md.table.select(others))
    # every household lives in one place, and each place has as many households as before
    for one in (md, made):
        lived = defaultdict(set)
        for home, *place in columns(one, "home", *moving):
            lived[home].add(tuple(place))
        assert all(len(place) == 1 for place in lived.values())
    before, after = places(md, *moving), places(made, *moving)
    assert Counter(before.values()) == Counter(after.values())
    kept = len(asked["within"])
    assert all(after[home][:kept] == place[:kept] for home, place in before.items())
    if asked["similar"] == [["size"]]:
        assert Counter(columns(made, *moving, "size")) == Counter(columns(md, *moving, "size"))
        assert made.history[0].found["other_totals"] == 0


@examples(60)
@given(options, st.integers(0, 5))
def test_each_household_at_risk_is_swapped_across_its_level_or_reported(asked, which):
    md = microdata(records(150, which))
    made = md.swap_records(GEOGRAPHY, **asked)
    found, levels = made.history[0].found, risky_levels(md, asked["k"])
    before, after = places(md, *GEOGRAPHY), places(made, *GEOGRAPHY)
    homes = dict(zip(range(1, md.n + 1), md.table.column("home").to_pylist(), strict=True))
    told = {homes[one["row"]]: one for one in found["left"]}
    across = {
        home: next((at for at in range(3) if after[home][at] != place[at]), 3)
        for home, place in before.items()
    }
    stay = {home for home, level in levels.items() if across[home] > level}
    assert sum(found["reasons"].values()) == len(stay)
    assert set(told) == stay if len(stay) <= 100 else set(told) < stay
    for home, one in told.items():
        assert GEOGRAPHY.index(one["level"]) == levels[home]
        assert one["moved"] == (None if across[home] == 3 else GEOGRAPHY[across[home]])
    again = Counter(risky_levels(made, asked["k"]).values())
    for at, name in enumerate(GEOGRAPHY):
        here = found["levels"][name]
        assert here["risky"] == sum(level == at for level in levels.values())
        assert here["risky"] == here["swapped"] + here["nearer"] + here["left"]
        assert here["moved"] == sum(one == at for one in across.values())
        assert here["risky_after"] == again[at]
    assert found["moved"] == sum(one < 3 for one in across.values())
    if asked["method"] == "random":
        assert found["moved"] < asked["rate"] * len(before) + 2


def test_reasons_say_whether_anybody_was_there():
    table = pa.table(
        {
            "town": ["A"] * 4 + ["B"] * 4 + [None, "B", "A"],
            "size": [1, 1, 1, 2, 1, 1, 1, 3, 1, 4, 4],
            "job": ["x", "y", "z", "u", "w", "w", "w", "w", "v", "w", "w"],
        }
    )
    md = Microdata(table, keys=["job", "town"])
    found = md.swap_records("town", seed=1, rate=0, k=2, similar=["size"]).history[0].found
    # x, y, z, u and w are rare in A, and nobody in B; w comes to A often enough
    assert found["levels"]["town"] == {
        **{"moved": 8, "moved_records": 8, "risky": 6, "swapped": 4, "nearer": 0, "left": 2},
        **{"risky_after": 5, "risky_after_moved": 3},
    }
    assert found["without_area"] == 1
    assert {one["row"]: one["reason"] for one in found["left"]} == {
        4: "nobody similar lives in another area of this level",
        9: "its area is missing",
    }
    crowd = Microdata(
        pa.table({"town": ["A", "A", "A", "B"], "job": ["x", "y", "z", "w"]}), keys=["job"]
    )
    told = crowd.swap_records("town", seed=1, rate=0, k=2).history[0].found
    assert told["reasons"] == {
        "all similar households in other areas of this level swapped with others": 2
    }


def test_who_is_left_by_the_search_is_found_by_the_audit(monkeypatch):
    md = microdata()
    whole = md.swap_records(GEOGRAPHY, seed=1, rate=0).history[0].found
    assert whole["reasons"] == {} and whole["left"] == []

    def idle(households, rate, rng):
        rows = np.arange(len(households))
        return RecordSwap(rows, rows * 0 - 1)

    monkeypatch.setattr(verb, "exchanged", idle)
    told = md.swap_records(GEOGRAPHY, seed=1, rate=0).history[0].found
    assert sum(told["reasons"].values()) == len(risky_levels(md, 3)) == whole_risky(whole)


def whole_risky(found):
    return sum(one["risky"] for one in found["levels"].values())


def test_rates_are_reported_overall_and_by_area():
    md = microdata(records(20_000, towns=150))
    made = md.swap_records(GEOGRAPHY, seed=1, rate=0.1, method="random", similar=["size"])
    found = made.history[0].found
    before, after = places(md, *GEOGRAPHY), places(made, *GEOGRAPHY)
    moved = [home for home, place in before.items() if after[home] != place]
    assert found["moved"] == len(moved) and found["rate"] == len(moved) / len(before)
    assert abs(found["rate"] - 0.1) < 2 / len(before)
    assert found["areas"] == 150 and len(found["by_area"]) == 100
    lived, left = Counter(before.values()), Counter(before[home] for home in moved)
    for one in found["by_area"]:
        state, district, town = one["area"]
        place = (state, int(district), town)
        assert (one["households"], one["moved"]) == (lived[place], left[place])
    rates = sorted(left[place] / lived[place] for place in lived)
    assert sorted(one["rate"] for one in found["by_area"]) == rates[:50] + rates[-50:]
    assert sum(one["households"] for one in found["profiles"]) == len(moved)


def test_later_profiles_serve_those_who_find_nobody():
    md = microdata()
    made = (
        md.swap_records(["state"], seed=1, rate=0, k=8, similar=[["size", "district"], ["size"]])
        .history[0]
        .found
    )
    # districts lie in one state, so nobody of the same district lives in another one
    assert made["profiles"][0] == {"similar": ["size", "district"], "households": 0}
    assert made["profiles"][1]["households"] == made["moved"] > 0


def test_risks_may_be_given_for_each_level():
    md = microdata()
    homes = np.array(md.table.column("home"))
    chosen = np.unique(homes)[:20]
    risk = np.where(np.isin(homes, chosen), 0.9, 0.1)
    none = np.zeros(md.n)
    table = md.table.append_column("r", pa.array(risk)).append_column("none", pa.array(none))
    one = microdata(table)
    fine = one.swap_records(GEOGRAPHY, seed=1, rate=0, risk=["none", "none", "r"], threshold=0.5)
    moved = {
        home for home, place in places(one, "town").items() if places(fine, "town")[home] != place
    }
    assert moved >= set(chosen) and len(moved) <= 40
    assert fine.history[0].found["levels"]["town"]["swapped"] == 20
    assert "risky_after" not in fine.history[0].found["levels"]["town"]
    coarse = one.swap_records(GEOGRAPHY, seed=1, rate=0, risk="r", threshold=0.5)
    assert coarse.history[0].found["levels"]["state"]["swapped"] == 20
    with pytest.raises(InputError, match="1 risks in 'r' are missing, negative or infinite"):
        bad = pa.array([None, *risk[1:].tolist()])
        microdata(md.table.append_column("r", bad)).swap_records(
            GEOGRAPHY, seed=1, risk="r", threshold=0.5
        )


def test_the_order_of_the_records_does_not_matter():
    table = records()
    turned = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    for roles in ({}, {"household": None, "id": "person"}):
        first, second = (
            microdata(one, **roles).swap_records(GEOGRAPHY, seed=5, similar=["size"], rate=0.3)
            for one in (table, turned)
        )
        assert first.table.sort_by("person").equals(second.table.sort_by("person"))
        assert not first.table.equals(table)


def test_records_without_a_household_move_alone():
    table = records()
    gaps = np.arange(table.num_rows) % 3 == 0
    home = pa.chunked_array([pa.array(table.column("home").to_pylist(), mask=gaps)])
    md = microdata(table.set_column(0, "home", home))
    made = md.swap_records(GEOGRAPHY, seed=1, rate=0.5)
    alone = int(gaps.sum())
    assert made.history[0].found["households"] == alone + len(set(home.to_pylist()) - {None})
    single = microdata(household=None).swap_records(GEOGRAPHY, seed=1, rate=0.5)
    assert single.history[0].found["households"] == md.n


def test_seeds_repeat_and_a_second_call_draws_anew():
    md = microdata()
    first = md.swap_records(GEOGRAPHY, seed=1)
    assert first.table.equals(md.swap_records(GEOGRAPHY, seed=1).table)
    assert not first.table.equals(md.swap_records(GEOGRAPHY, seed=2).table)
    random = {"seed": 1, "method": "random", "rate": 0.3}
    once = md.swap_records(GEOGRAPHY, **random)
    twice = once.swap_records(GEOGRAPHY, **random)
    a, b, c = (places(one, "town") for one in (md, once, twice))
    assert {home for home in a if a[home] != b[home]} != {home for home in a if b[home] != c[home]}


def test_steps_are_repeated_from_the_history_and_from_a_job_file(tmp_path):
    md = microdata()
    made = md.swap_records(
        GEOGRAPHY, seed=1, rate=0.2, k=2, risk_variables=["age", "job"],
        similar=[["size"], []], within=["state"], carry_along="grid",
    )  # fmt: skip
    assert made.replay(records()).table.equals(made.table)
    assert json.loads(json.dumps(made.history[0].found)) == made.history[0].found
    text = made.save_job(tmp_path / "job.toml", "persons.csv").read_text(encoding="utf-8")
    step = tomllib.loads(text)["steps"][0]
    assert step.pop("do") == "swap_records"
    assert md.swap_records(**step).table.equals(made.table)
    plain = md.swap_records("town", seed=1).history[0].arguments
    assert plain == {"geography": ["town"], "seed": 1}


def test_readers_learn_which_variables_were_exchanged_and_nothing_else(tmp_path):
    md = microdata(keys=["town", *KEYS], household=None).swap_records(
        ["town"], seed=77, similar=["sex"], risk_variables=["age", "job"]
    )
    md.local_suppression(2).release(claims.KAnonymity(2), keys=SecretKeys(bytes(range(32)))).write(
        tmp_path / "out", formats=["csv", "html"]
    )
    told = [one.read_text(encoding="utf-8") for one in (tmp_path / "out/public").glob("*.html")]
    assert any("Exchanged between records: town" in text for text in told)
    for text in told:
        body = text.split("</style>")[-1]
        assert "77" not in body and "households" not in body


def test_types_and_followers_go_along():
    table = records()
    code = pa.compute.binary_join_element_wise(table.column("town"), table.column("state"), "-")
    md = microdata(
        table.append_column("code", code), keys=["town", *KEYS], followers={"town": ["code"]}
    )
    made = md.swap_records(["state", "town"], seed=1, rate=0.4)
    assert made.table.schema.equals(md.table.schema)
    assert all(
        one == f"{town}-{state}" for one, town, state in columns(made, "code", "town", "state")
    )
    assert made.changed == {"state", "town", "code"}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"k": 1}, "k= must be a whole number from 2"),
        ({"k": 0}, "k= must be a whole number from 2"),
        ({"rate": 5}, "from 0 to 1"),
        ({"seed": -1}, "whole number from 0"),
        ({"method": "rank"}, "'targeted' or 'random'"),
        ({"geography": []}, "names no column"),
        ({"geography": ["town", "town"]}, "twice"),
        ({"geography": ["town", "state"]}, "'state' divides none of the 24 areas of 'town'"),
        ({"geography": "age"}, "geography= names 'age', which differs"),
        ({"geography": "grid"}, "numbers with decimals"),
        ({"geography": "country"}, "there is no column 'country'"),
        ({"geography": "one"}, "all households live in one area"),
        ({"carry_along": "town"}, "twice"),
        ({"carry_along": "person"}, "carry_along= names 'person', which differs"),
        (
            {"similar": ["age"]},
            r"'age', which differs .* \d+ of 99 households: in household h\d+ it is",
        ),
        ({"similar": ["town"]}, "'town' changes with the place"),
        ({"within": ["town"]}, "cannot be in within="),
        ({"within": ["sex"]}, "within= names 'sex', which differs"),
        ({"risk_variables": ["state", "age"]}, "cannot be in risk_variables="),
        ({"risk_variables": []}, "nothing to count risks by"),
        ({"risk": "grid"}, "belong together"),
        ({"threshold": 0.5}, "belong together"),
        ({"risk": ["grid", "grid"], "threshold": 1}, "one for each of the 3 levels"),
        ({"risk": "grid", "threshold": 1, "risk_variables": ["age"]}, "leave out either"),
    ],
)
def test_what_cannot_be_done_is_said(asked, says):
    table = records(300, 3)
    md = microdata(table.append_column("one", pa.array(["x"] * table.num_rows)))
    with pytest.raises(InputError, match=says):
        md.swap_records(**{"geography": GEOGRAPHY, "seed": 1, **asked})
