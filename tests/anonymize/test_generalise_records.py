"""Records are shown on the best levels, in the caller's kind, and every key k times."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import DiskretError, Hierarchy, Microdata
from diskret.risk import frequencies

AREAS = Hierarchy.from_prefix(["011", "012", "02"], (2, 1))


def persons(n=200, seed=1):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.integers(20, 60, n),
            "area": random.choice(["011", "012", "02"], n, p=[0.6, 0.3, 0.1]),
            "town": [f"t{i}" for i in random.integers(0, 20, n)],
            "illness": random.choice(["flu", "gout", "none"], n, p=[0.1, 0.1, 0.8]),
        }
    )


def microdata(frame=None):
    return Microdata(
        persons() if frame is None else frame,
        keys=["age", "area"],
        sensitive=["illness"],
        followers={"area": "town"},
    )


LEVELS = {"age": [5, 10, 20], "area": AREAS}


def test_the_best_levels_are_shown_and_told():
    md = microdata()
    made = md.generalise(LEVELS, k=8)
    found = made.history[-1].found
    assert frequencies(made.keys()).sample.min() >= 8
    assert found["highest"] == {"age": 4, "area": 2}
    assert found["combinations"] == 15 and 0 < found["examined"] <= 15
    assert found["suppressed_records"] == 0 and found["metric"] == "entropy"
    assert 0 < found["loss"] < 1
    json.dumps(found)
    by_hand = md
    for name, tree in (("age", Hierarchy.from_widths(range(20, 60), (5, 10, 20))), ("area", AREAS)):
        if found["levels"][name]:
            depth = int(tree.level.max())
            by_hand = by_hand.recode(name, hierarchy=tree, level=depth - found["levels"][name])
    assert by_hand.frame[["age", "area"]].equals(made.frame[["age", "area"]])
    assert md.frame.equals(persons())


def test_a_key_on_its_own_level_keeps_its_type():
    made = microdata().generalise({"area": AREAS, "age": [[20, 40, 60]]}, k=1)
    assert made.frame.equals(persons()) and made.history[-1].found["loss"] == 0


def test_followers_lose_what_their_key_no_longer_tells():
    made = microdata().generalise(LEVELS, k=30)
    assert made.history[-1].found["levels"]["area"] > 0
    assert made.frame["town"].isna().all() and made.frame["illness"].notna().all()


def test_records_in_small_classes_lose_all_keys_and_what_follows_them():
    made = microdata().generalise(LEVELS, k=5, suppression=0.1)
    number = made.history[-1].found["suppressed_records"]
    gone = made.frame["age"].isna()
    assert 0 < number <= 20 and gone.sum() == number
    assert made.frame["area"].isna().equals(gone)
    assert made.frame.loc[gone, "town"].isna().all()
    assert frequencies(made.keys()).sample.min() >= 5
    without = microdata().generalise(LEVELS, k=5)
    assert made.history[-1].found["loss"] < without.history[-1].found["loss"]


@given(st.integers(1, 6), st.sampled_from([0.0, 0.02, 0.1]), st.integers(0, 3), st.booleans())
def test_every_record_shares_its_keys_with_k_others(k, share, seed, gaps):
    frame = persons(60, seed)
    if gaps:
        frame.loc[::7, "area"] = None
    made = microdata(frame).generalise(LEVELS, k=k, suppression=share)
    assert frequencies(made.keys()).sample.min() >= k
    suppressed = made.history[-1].found["suppressed_records"]
    assert suppressed <= share * 60
    if not suppressed:
        assert frequencies(made.keys(), missing="category").sample.min() >= k


def test_diversity_holds_in_every_class():
    made = microdata().generalise(LEVELS, k=2, diversity=3)
    classes = made.frame.groupby(["age", "area"])["illness"].nunique()
    assert classes.min() >= 3
    plain = microdata().generalise(LEVELS, k=2)
    assert plain.frame.groupby(["age", "area"])["illness"].nunique().min() < 3


def test_steps_can_be_done_again():
    made = microdata().generalise(LEVELS, k=5, suppression=0.1, metric="discernibility")
    step = made.history[-1]
    assert json.loads(json.dumps(step.arguments)) == step.arguments
    again = getattr(microdata(), step.verb)(**step.arguments)
    assert again.frame.equals(made.frame) and again.history == made.history


def rare(node):
    """Classes of an even number of records."""
    return node.count % 2 == 0


def test_a_step_with_a_function_asks_for_the_function():
    made = microdata().generalise(LEVELS, k=2, criterion=rare, suppression=0.5)
    step = made.history[-1]
    assert made.frame.groupby(["age", "area"]).size().mod(2).eq(0).all()
    with pytest.raises(DiskretError, match="hand the function over again"):
        getattr(microdata(), step.verb)(**step.arguments)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"job": AREAS}, "names column 'job', which is no key"),
        ({"age": "nowhere.hrc"}, "nowhere.hrc"),
        ({"age": []}, "must be a hierarchy, widths"),
        ({"age": [5.5]}, "must be a hierarchy, widths"),
        ({"age": AREAS}, "are not in the tree"),
        ({"area": [5]}, "no whole numbers? \\('x'\\)"),
    ],
)
def test_levels_that_do_not_fit_are_refused(levels, message):
    frame = persons()
    frame["area"] = frame["area"].replace({"02": "x"})
    with pytest.raises(DiskretError, match=message):
        microdata(frame).generalise(levels)


def test_diversity_needs_sensitive_variables():
    md = Microdata(persons(), keys=["age"])
    with pytest.raises(DiskretError, match="needs sensitive variables"):
        md.generalise({"age": [5]}, diversity=2)


def test_a_missing_value_is_told_no_more_than_others_by_the_total():
    frame = pa.table({"age": [21, None, 25, 22], "sex": ["f", "f", "f", "f"]})
    made = Microdata(frame, keys=["age", "sex"]).generalise({"age": [10]}, k=2)
    assert set(made.frame["age"].to_pylist()) == {"20-29"}
