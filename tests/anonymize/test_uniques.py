"""Special uniques, rare combinations and population uniques of the caller's records."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diskret import DiskretError, Microdata


def persons(n=400, seed=4):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.integers(0, 12, n),
            "job": random.choice(list("abcdefgh"), n),
            "sex": pd.Categorical(random.choice(["f", "m"], n)),
            "land": random.choice(["N", "S"], n),
            "w": random.uniform(5, 15, n),
        },
        index=np.arange(n) + 100,
    )


KEYS = ["age", "job", "sex"]


def test_frames_are_of_the_callers_kind_and_his_own_is_unchanged():
    frame = persons()
    before = frame.copy()
    md = Microdata(frame, keys=KEYS, weight="w")
    for found in (md.suda(), md.risky_combinations(), md.population_uniques()):
        assert isinstance(found.records, pd.DataFrame) and len(found.records) == 400
    pd.testing.assert_frame_equal(frame, before)
    other = Microdata(pl.from_pandas(frame), keys=KEYS, weight="w")
    assert isinstance(other.suda().levels, pl.DataFrame)
    assert isinstance(other.risky_combinations().combinations, pl.DataFrame)
    assert isinstance(other.population_uniques().tried, pl.DataFrame)


def test_order_of_records_does_not_matter():
    frame = persons()
    order = np.random.default_rng(1).permutation(len(frame))
    md = Microdata(frame, keys=KEYS, weight="w")
    moved = Microdata(frame.iloc[order], keys=KEYS, weight="w")
    for verb in ("suda", "risky_combinations"):
        one, two = getattr(md, verb)().records, getattr(moved, verb)().records
        pd.testing.assert_frame_equal(one.iloc[order].reset_index(drop=True), two)
    one, two = md.population_uniques(), moved.population_uniques()
    assert one.uniques == pytest.approx(two.uniques, rel=1e-9)
    assert one.model == two.model


def test_levels_of_suda_are_shown_as_text_without_what_contributes_nothing():
    md = Microdata(
        pa.table({"age": [1, 1, 2, 2], "job": ["x", "x", "x", "y"]}), keys=["age", "job"]
    )
    found = md.suda()
    assert found.contributions.to_pylist() == [
        {"key": "job", "percent": 100.0},
        {"key": "age", "percent": 50.0},
    ]
    assert found.levels.to_pylist() == [
        {"key": "age", "value": "2", "percent": 50.0},
        {"key": "job", "value": "x", "percent": 50.0},
        {"key": "job", "value": "y", "percent": 50.0},
    ]
    assert found.msus(2) == (("age", "job"),) and found.msus(3) == (("job",),)
    with pytest.raises(DiskretError, match="there is no row 4"):
        found.msus(4)


def test_records_without_a_unique_have_none():
    found = Microdata(pa.table({"age": [1, 1]}), keys=["age"]).suda()
    assert (
        found.records.to_pylist()
        == [{"score": 0.0, "dis_score": 0.0, "msus": 0, "smallest": None}] * 2
    )
    assert found.contributions.to_pylist() == [{"key": "age", "percent": 0.0}]
    assert found.levels.num_rows == 0 and found.dis == 0


def test_weighted_combinations_count_persons_of_the_population():
    md = Microdata(
        pa.table({"town": ["A", "A", "B", None], "w": [2.0, 3.0, 4.0, 0.5]}),
        keys=["town"],
        weight="w",
    )
    found = md.risky_combinations(threshold=5, weighted=True)
    assert found.combinations.to_pylist() == [
        {"size": 1, "keys": "town", "cells": 2, "risky_cells": 1, "records": 1}
    ]
    assert found.records["combinations"].to_pylist() == [0, 0, 1, 0]
    strict = md.risky_combinations(threshold=5, weighted=True, missing="conservative")
    assert strict.records["smallest"].to_pylist() == [1, 1, 1, None]
    with pytest.raises(DiskretError, match="weighted=True needs"):
        Microdata(pa.table({"town": ["A"]}), keys=["town"]).risky_combinations(weighted=True)


def test_levels_of_identification_choose_the_combinations():
    md = Microdata(persons(), keys=KEYS)
    found = md.risky_combinations(levels={"age": 1, "job": 2})
    assert found.combinations["keys"].tolist() == ["age, job"]


def test_models_are_named_and_given():
    md = Microdata(persons(), keys=KEYS, weight="w")
    assert md.population_uniques("main").model == (("age",), ("job",), ("sex",))
    assert len(md.population_uniques("two-way").model) == 3
    given = md.population_uniques([("sex", "age")])
    assert given.model == (("age", "sex"), ("job",))
    assert given.tried["model"].tolist() == ["age × sex, job"]
    alone = given.records["correct_match"].notna()
    assert alone.sum() == given.sample_uniques
    assert given.records["population_unique"].sum() == pytest.approx(given.uniques)
    assert given.records["correct_match"].sum() == pytest.approx(given.correct_matches)
    assert (given.records["population_unique"][~alone] == 0).all()
    assert given.fraction == pytest.approx(400 / persons()["w"].sum())


def test_strata_have_fractions_of_their_own():
    frame = persons()
    frame["w"] = np.where(frame["land"] == "N", 2.0, 50.0)
    md = Microdata(frame, keys=[*KEYS, "land"], weight="w", strata=["land"])
    found = md.population_uniques("main")
    for land, fraction in (("N", 1 / 2), ("S", 1 / 50)):
        own = (frame["land"] == land).to_numpy() & (found.records["correct_match"] > 0)
        alike = md.population_uniques("main", fraction=fraction)
        assert own.sum() > 10
        assert found.records[own].equals(alike.records[own])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "three-way"}, "model= must be"),
        ({"model": ["age", "sex"]}, "pairs of keys"),
        ({"model": [("age", "town")]}, "names column 'town', which is no key"),
        ({"fraction": 0}, "fraction= must be"),
        ({}, "without weights the file is the whole population"),
    ],
)
def test_options_are_checked(arguments, message):
    with pytest.raises(DiskretError, match=message):
        Microdata(persons(), keys=KEYS).population_uniques(**{"fraction": None, **arguments})


def test_weights_below_one_are_refused():
    frame = persons()
    frame["w"] = 0.5
    with pytest.raises(DiskretError, match="2 records for one person"):
        Microdata(frame, keys=KEYS, weight="w").population_uniques()
    frame["w"] = 1.0
    found = Microdata(frame, keys=KEYS, weight="w").population_uniques()
    assert found.uniques == found.sample_uniques == found.correct_matches
