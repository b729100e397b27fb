"""What a synthetic file tells of the records it was made from: figures by hand, copies, draws."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError


def persons(n, seed):
    """Persons of a population whose illness depends on age and town."""
    draw = np.random.default_rng(seed)
    town = draw.choice(list("ABCDE"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    age = draw.integers(18, 80, n)
    ill = np.where(draw.random(n) < (age / 100) * (town < "C"), "yes", "no")
    income = np.round(draw.lognormal(7, 0.8, n), 2)
    job = draw.choice([f"j{at}" for at in range(12)], n)
    return pd.DataFrame({"town": town, "age": age, "ill": ill, "income": income, "job": job})


def test_figures_that_are_counted_by_hand():
    original = pa.table({"key": ["a", "b", "b", "c", "d"], "ill": ["yes", "no", "yes", "no", "no"]})
    made = pa.table(
        {"key": ["a", "b", "b", "c", "e", "c"], "ill": ["yes", "no", "no", "yes", "no", "no"]}
    )
    others = pa.table({"key": ["a", "b", "e"], "ill": ["no", "no", "no"]})
    found = dk.risk.synthetic(original, made, "key", "ill", others)
    assert (found.records, found.synthetic, found.holdout) == (5, 6, 3)
    # alone are a, c, d; and a, e; a in both
    assert found.uniques == dk.risk.synthetic(original, made, "key").uniques
    assert (found.uniques.original, found.uniques.synthetic, found.uniques.replicated) == (3, 2, 1)
    guess = found.targets[0].original
    assert guess.found == 4 / 5  # d is not found
    assert guess.disclosed == 3 / 5  # a and both b: their synthetic records agree
    assert guess.correct == 2 / 5  # a, and the b that is not ill
    assert guess.right == pytest.approx((1 + 1 + 0 + 0.5 + 0) / 5)
    beside = found.targets[0].holdout
    assert (beside.found, beside.disclosed, beside.correct) == (1, 1, 2 / 3)
    assert found.targets[0].target == "ill"


def test_a_copy_is_the_worst_case():
    known, others = persons(600, 1), persons(600, 2)
    found = dk.risk.synthetic(known, known, ["town", "age", "job"], "ill", others)
    assert found.closeness.copies == 1
    assert found.uniques.replicated == found.uniques.original
    assert found.membership.auc > 0.99 and found.membership.advantage > 0.99
    assert found.closeness.nearer > 0.99
    guess = found.targets[0]
    assert guess.original.found == 1 and guess.original.right > guess.holdout.right + 0.3
    assert found.propensity.pmse == pytest.approx(0, abs=1e-3)


def test_independent_draws_are_like_the_holdout():
    known, others, drawn = (persons(4_000, seed) for seed in (1, 2, 3))
    found = dk.risk.synthetic(known, drawn, ["town", "age"], "ill", others)
    assert found.closeness.copies == 0
    assert found.membership.auc == pytest.approx(0.5, abs=0.03)
    assert found.membership.advantage < 0.06
    assert found.closeness.nearer == pytest.approx(0.5, abs=0.03)
    guess = found.targets[0]
    assert guess.original.right == pytest.approx(guess.holdout.right, abs=0.03)
    assert found.propensity.ratio < 3


def test_a_file_half_of_which_is_copied_lies_between():
    known, others, drawn = persons(1_000, 1), persons(1_500, 2), persons(1_000, 3)
    mixed = pd.concat([known[:500], drawn[:700]])
    found = dk.risk.synthetic(known, mixed, ["town", "age"], "ill", others)
    assert found.closeness.copies == pytest.approx(500 / 1_200)
    assert 0.7 < found.membership.auc < 0.8
    assert found.holdout == 1_500  # of which as many as originals are compared


def gower(one, other, width):
    parts = [
        0.0
        if (pd.isna(a) and pd.isna(b)) or (not pd.isna(a) and not pd.isna(b) and a == b)
        else 1.0
        if pd.isna(a) or pd.isna(b) or isinstance(a, str)
        else min(abs(a - b) / width, 1.0)
        for a, b in zip(one, other, strict=True)
    ]
    return sum(parts) / len(parts)


values = st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([None, 0.0, 1.5, 2.0, 7.0]))
files = st.lists(values, min_size=1, max_size=9)


@examples(40)
@given(files, files, files)
def test_distances_and_membership_by_looking_at_all_pairs(known, made, others):
    tables = [
        pa.table(
            {
                "code": pa.array([row[0] for row in rows], pa.string()),
                "number": pa.array([row[1] for row in rows], pa.float64()),
            }
        )
        for rows in (known, made, others)
    ]
    found = dk.risk.synthetic(tables[0], tables[1], "code")
    there = [row[1] for row in known if row[1] is not None]
    width = max(there, default=1) - min(there, default=0) or 1.0
    away = [min(gower(row, one, width) for one in known) for row in made]
    assert found.closeness.copies == sum(far == 0 for far in away) / len(made)
    assert found.closeness.quantiles[2] == pytest.approx(sorted(away)[(len(away) - 1) // 2])
    size = min(len(known), len(others))
    known, others = known[:size], others[:size]
    equal = [table.slice(0, size) if at != 1 else table for at, table in enumerate(tables)]
    told = dk.risk.synthetic(equal[0], equal[1], "code", holdout=equal[2])
    there = [row[1] for row in known if row[1] is not None]
    width = max(there, default=1) - min(there, default=0) or 1.0
    used, fresh = (
        [min(gower(row, one, width) for one in made) for row in rows] for rows in (known, others)
    )
    pairs = [(a < b - 1e-12) + (abs(a - b) <= 1e-12) / 2 for a in used for b in fresh]
    assert told.membership.auc == pytest.approx(np.mean(pairs), abs=1e-9)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_any_kind_of_frame_and_the_same_kind_back(kind):
    known, drawn = persons(200, 1), persons(150, 2)
    both = (
        [known, drawn] if kind is pd.DataFrame else [pl.from_pandas(one) for one in (known, drawn)]
    )
    found = dk.risk.synthetic(both[0], both[1], "town", ["ill", "job"])
    assert isinstance(found.frame, kind)
    measures = list(found.frame["measure"])
    assert measures.count("correct") == 2 and "pmse" in measures and "auc" not in measures
    assert "150 records made from 200" in repr(found)


def test_roles_of_microdata_say_what_is_known_and_wanted():
    md = dk.Microdata(persons(100, 1), keys=["town", "age"], sensitive="ill")
    found = dk.risk.synthetic(md, persons(90, 2))
    assert found.uniques == dk.risk.synthetic(md.frame, persons(90, 2), ["town", "age"]).uniques
    assert [one.target for one in found.targets] == ["ill"]


def test_codes_of_different_types_are_the_same_codes():
    known = pa.table({"town": [1, 2, 2], "sex": ["f", "m", "m"]})
    made = pa.table({"town": ["1", "2"], "sex": ["f", "m"]})
    found = dk.risk.synthetic(known, made, ["town", "sex"])
    assert (found.uniques.replicated, found.closeness.copies) == (1, 1)


def test_the_seed_decides_which_records_are_looked_at():
    known, drawn, others = (persons(900, seed) for seed in (1, 2, 3))
    first, again, another = (
        dk.risk.synthetic(known, drawn, "town", holdout=others, sample=100, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first.closeness == again.closeness != another.closeness
    assert first.membership == again.membership


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "keys= names nothing"),
        ({"keys": "village"}, r"'village', which the original file does not have; it has 'town'"),
        ({"keys": "town", "target": "town"}, "in keys= and in target="),
        ({"keys": "town", "target": "illness"}, "target= names column 'illness'"),
        ({"keys": "town", "sample": 3}, "sample="),
        ({"keys": "town", "holdout": persons(0, 1)}, "the holdout file has no records"),
        ({"keys": "income"}, "income"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message):
    with pytest.raises(InputError, match=message):
        dk.risk.synthetic(persons(20, 1), persons(20, 2), **arguments)


def test_figures_in_sentences():
    original = pa.table({"key": ["a", "b", "b", "c", "d"], "ill": ["yes", "no", "yes", "no", "no"]})
    made = pa.table(
        {"key": ["a", "b", "b", "c", "e", "c"], "ill": ["yes", "no", "no", "yes", "no", "no"]}
    )
    others = pa.table({"key": ["a", "b", "e"], "ill": ["no", "no", "no"]})
    found = dk.risk.synthetic(original, made, "key", "ill", others)
    said = found.summary().split("\n")
    assert said[0].startswith("6 synthetic records were made from 5 original ones; 3 others were")
    assert said[1].startswith("3 original records are alone with their keys; 1 of their")
    assert "of 80.0\N{NO-BREAK SPACE}% of the persons" in said[2]
    assert "For 40.0\N{NO-BREAK SPACE}% all synthetic records" in said[2]
    assert said[3].startswith("ill of persons who were kept back: 66.7")
    german = found.summary("de").split("\n")
    assert len(german) == len(said)
    assert "Von 80,0\N{NO-BREAK SPACE}% der Personen" in german[2]
    alone = dk.risk.synthetic(original, made, "key").summary()
    assert "none were kept back" in alone and "kept back:" not in alone
    with pytest.raises(InputError, match="'en' or 'de'"):
        found.summary("fr")
