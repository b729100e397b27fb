"""md.local_suppression: what is promised of values that disappear."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Microdata
from diskret.anonymize import suppress
from diskret.errors import ProofError, ProtectionError

PERSONS = {
    "sex": list("mmmmfffff"),
    "job": list("aaaabbbbc"),
    "town": list("xxxyxxyyy"),
    "title": ["A", "A", "A2", "A", "B", "B", "B2", "B2", "C"],
}


def persons(**roles):
    return Microdata(pa.table(PERSONS), keys=["sex", "job"], **roles)


def agreeing(frame):
    """How many rows agree with each, counted pair by pair."""
    return partners(frame).sum(axis=1)


def partners(frame):
    """Which rows agree with each."""
    rows = frame.astype(float).to_numpy()
    gap = np.isnan(rows)
    return ((rows[:, None] == rows[None]) | gap[:, None] | gap[None]).all(axis=2)


def random_frame(seed, n=60):
    random = np.random.default_rng(seed)
    return pd.DataFrame({name: random.integers(0, 4, n) for name in "abc"})


def test_suppressed_values_are_missing_and_the_rest_is_as_it_was():
    made = persons().local_suppression(k=3)
    assert made.frame["job"].to_pylist() == [*"aaaabbbb", None]
    assert made.frame.drop_columns("job").equals(pa.table(PERSONS).drop_columns("job"))
    found = made.history[-1].found
    assert found == {"suppressed": {"job": 1}, "values": 1, "records": 1, "too_rare": 0}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_same_kind_of_frame_comes_back(kind):
    frame = kind({"age": [1, 1, 1, 2], "job": list("aaaa")})
    made = Microdata(frame, keys=["age", "job"]).local_suppression(k=2).frame
    assert type(made) is type(frame)
    values = made.column("age").to_pylist() if kind is pa.table else list(made["age"])
    assert values[:3] == [1, 1, 1] and (values[3] is None or values[3] is pd.NA)


def test_followers_lose_their_values_in_the_same_records():
    made = persons(followers={"job": ["title"]}).local_suppression(k=3).frame
    assert made["title"].to_pylist() == [*PERSONS["title"][:8], None]


@pytest.mark.long
@given(st.integers(0, 10**6), st.sampled_from(["wildcard", "visible"]), st.integers(2, 4))
def test_every_record_agrees_with_k_and_the_order_of_rows_changes_nothing(seed, matches, k):
    frame = random_frame(seed, 30)
    made = Microdata(frame, keys=list("abc")).local_suppression(k=k, matches=matches, rounds=2)
    assert agreeing(made.frame).min() >= k
    turned = Microdata(frame.sample(frac=1, random_state=seed % 1000), keys=list("abc"))
    turned = turned.local_suppression(k=k, matches=matches, rounds=2)
    assert turned.history[-1].found == made.history[-1].found
    rows = [sorted(map(str, one.frame.to_numpy().tolist())) for one in (made, turned)]
    assert rows[0] == rows[1]


def test_records_alike_in_all_keys_are_chosen_by_their_other_values():
    base = {"a": [0, 0, 1, 1, 2, 2, 2, 2], "b": [0] * 8, "income": [7, 5, 3, 4, 9, 1, 8, 6]}
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [4, 7, 5, 6, 0, 2, 1, 3]):
        frame = pd.DataFrame(base).iloc[order]
        md = Microdata(frame, keys=["a", "b"])
        made = md.local_suppression(k=3, matches="wildcard").frame
        assert made["income"][made["a"].isna()].tolist() == [1]


def test_strata_are_protected_apart():
    frame = random_frame(1).assign(land=np.arange(60) % 3)
    md = Microdata(frame, keys=list("abc"), strata=["land"])
    made = md.local_suppression(k=3).frame
    for _, part in made.groupby("land"):
        assert agreeing(part[list("abc")]).min() >= 3
    whole = md.local_suppression(k=3, strata=()).frame
    assert whole[list("abc")].isna().sum().sum() < made[list("abc")].isna().sum().sum()


def test_k_may_differ_from_record_to_record():
    frame = random_frame(2).assign(least=np.where(np.arange(60) < 10, 6, 2))
    for matches in ("wildcard", "visible"):
        made = Microdata(frame, keys=list("abc")).local_suppression("least", matches=matches)
        assert (agreeing(made.frame[list("abc")]) >= frame["least"]).all()


def test_keys_that_are_kept_lose_nothing_and_costs_move_what_is_lost():
    md = Microdata(random_frame(3, 200), keys=list("abc"))
    made = md.local_suppression(k=3, keep=["a"])
    assert "a" not in made.history[-1].found["suppressed"]
    assert agreeing(made.frame).min() >= 3
    for key in "abc":
        others = {name: 9.0 for name in "abc" if name != key}
        found = md.local_suppression(k=3, costs=others, matches="visible").history[-1].found
        assert found["suppressed"][key] >= 0.8 * found["values"]


@pytest.mark.parametrize("matches", ["wildcard", "visible"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_a_threshold_bounds_the_individual_risk(matches, weight):
    random = np.random.default_rng(4)
    frame = random_frame(4, 300).assign(w=random.uniform(1, 9, 300))
    md = Microdata(frame, keys=list("abc"), weight=weight)
    before = md.risk().records["risk"]
    made = md.local_suppression(k=1, threshold=0.1, matches=matches)
    assert before.max() > 0.1 >= made.risk().records["risk"].max()


def test_diversity_holds_among_those_who_agree():
    frame = random_frame(5, 300).assign(illness=np.random.default_rng(5).integers(0, 5, 300))
    md = Microdata(frame, keys=list("abc"), sensitive=["illness"])
    made = md.local_suppression(k=3, diversity=4)
    for agree in partners(made.frame[list("abc")]):
        assert agree.sum() >= 3 and frame["illness"][agree].nunique() >= 4
    assert md.anonymity().diversity < 4 <= made.anonymity().diversity
    assert made.frame["illness"].equals(frame["illness"])


@pytest.mark.parametrize("ordered", [True, False])
def test_closeness_holds_among_those_who_agree(ordered):
    random = np.random.default_rng(6)
    frame = random_frame(6, 300).assign(illness=random.integers(0, 5, 300))
    frame.loc[:9, "a"] = np.nan
    md = Microdata(frame, keys=list("abc"), sensitive=["illness"])
    on_line = ["illness"] if ordered else []
    made = md.local_suppression(k=2, closeness={"illness": 0.15}, ordered=on_line)
    assert 0 < made.history[-1].found["values"] < 850
    whole = np.bincount(frame["illness"], minlength=5) / 300
    for agree in partners(made.frame[list("abc")]):
        apart = np.bincount(frame["illness"][agree], minlength=5) / agree.sum() - whole
        distance = np.abs(np.cumsum(apart)).sum() / 4 if ordered else np.abs(apart).sum() / 2
        assert distance <= 0.15 + 1e-9
    assert made.anonymity(ordered=on_line).closeness <= 0.15 + 1e-9


def test_what_no_gap_makes_close_is_refused():
    frame = random_frame(9).assign(land=np.arange(60) % 2, illness=np.arange(60) % 2)
    md = Microdata(frame, keys=list("abc"), sensitive=["illness"], strata=["land"])
    with pytest.raises(ProtectionError, match=r"too rare|nothing more to hide"):
        md.local_suppression(2, closeness=0.3)


def test_the_step_repeats_the_call():
    frame = random_frame(7)
    md = Microdata(frame, keys=list("abc"))
    made = md.local_suppression(
        2, ["a", "b", "c"], subsets={("a", "b"): 3, ("b", "c"): 4}, costs={"a": 2.0}, rounds=5
    )
    step = made.history[-1]
    assert step.arguments["subsets"] == [[["a", "b"], 3], [["b", "c"], 4]]
    again = getattr(md, step.verb)(**step.arguments)
    assert again.frame.equals(made.frame) and again.history == made.history


def test_progress_is_told():
    told = []
    md = Microdata(random_frame(8).assign(land=np.arange(60) % 3), keys=list("abc"))
    md.local_suppression(
        strata=["land"], matches="wildcard", progress=lambda *what: told.append(what)
    )
    assert told == [("suppress", 1, 3), ("suppress", 2, 3), ("suppress", 3, 3)]


@pytest.mark.parametrize(
    ("matches", "method"), [("wildcard", "fewest_values"), ("visible", "hidden_by_record")]
)
def test_nothing_is_handed_out_that_is_not_safe(monkeypatch, matches, method):
    def forgetful(problem, *_):
        nothing = np.zeros((problem.keys.n, len(problem.price)), dtype=bool)
        return (nothing, 0) if matches == "visible" else nothing

    monkeypatch.setattr(suppress, method, forgetful)
    with pytest.raises(ProofError, match=r"too few others: 1 \(first in row 9\)"):
        persons().local_suppression(k=3, matches=matches)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 10}, "the file has 9 records, so none can agree with 10"),
        ({"k": 6, "strata": ["town"]}, "stratum town='x' has 5 records"),
        ({"k": 0}, "k= must be a whole number from 1 upwards.*, not 0"),
        ({"k": "sex"}, "must be a column of whole numbers"),
        ({"k": 2.5}, "k= must be a whole number"),
        ({"matches": "any"}, "matches= must be"),
        ({"matches": "wildcard", "diversity": {"town": 2}}, "leave matches= out"),
        ({"diversity": 2}, "diversity= needs sensitive variables"),
        ({"diversity": {"town": 3}}, "'town' has 2 different values in the whole file"),
        ({"closeness": {"town": 0.5}, "ordered": ["job"]}, "ordered= names 'job', of which no"),
        (
            {"diversity": {"town": 0}},
            "diversity= must be a whole number from 1 upwards, not 0 for 'town'",
        ),
        (
            {"closeness": {"town": 1.5}},
            "closeness= must be a number from 0 to 1, not 1.5 for 'town'",
        ),
        ({"threshold": 0.0}, "threshold= must be a number above 0 and at most 1"),
        ({"subsets": {("sex", "town"): 3}}, "subsets= names 'town', which is no key"),
        ({"subsets": {}}, "subsets= is empty"),
        ({"rounds": -1}, "rounds= must be a whole number from 0 upwards"),
        ({"keep": ["sex", "job"]}, "too rare, even if every value is hidden that may be"),
    ],
)
def test_what_cannot_be_is_said(arguments, message):
    with pytest.raises(DiskretError, match=message):
        persons().local_suppression(**arguments)


def test_a_missing_stratum_is_refused():
    md = Microdata(pa.table({"sex": list("mmff"), "land": ["a", "a", None, "b"]}), keys=["sex"])
    with pytest.raises(DiskretError, match=r"without a stratum in 'land': 1 \(first in row 3"):
        md.local_suppression(2, strata=["land"])


def test_a_file_smaller_than_k_is_refused():
    with pytest.raises(ProtectionError, match="the file has 2 records"):
        Microdata(pa.table({"sex": list("mf")}), keys=["sex"]).local_suppression(3)
