"""The declared order of a variable counts wherever order does; text is never sorted as text."""

import json
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from transport import earth_mover

import diskret as dk
from diskret.attack.microdata import certify
from diskret.errors import InputError, ProofError, VerificationError
from diskret.jobs.microdata import read_microdata_job
from diskret.publish.verify.folder import verify

LEVELS = ["low", "mid", "high", "top"]  # sorted as text: high, low, mid, top
SECRET = dk.SecretKeys(bytes(range(32)))


def frame(kind, keys, levels):
    """The same records as a frame that declares the order of its levels."""
    if kind == "pandas":
        return pd.DataFrame(
            {"key": keys, "level": pd.Categorical(levels, categories=LEVELS, ordered=True)}
        )
    if kind == "polars":
        return pl.DataFrame(
            {"key": keys, "level": pl.Series(levels, dtype=pl.Enum(LEVELS), strict=True)}
        )
    at = pa.array([None if one is None else LEVELS.index(one) for one in levels], pa.int8())
    ordered = pa.DictionaryArray.from_arrays(at, pa.array(LEVELS), ordered=True)
    return pa.table({"key": keys, "level": ordered})


def plain(keys, levels):
    return pa.table({"key": keys, "level": levels})


KINDS = ("pandas", "polars", "pyarrow")
RECORDS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from([*LEVELS, None])), min_size=2, max_size=14
)


def far(keys, levels):
    """Largest earth mover's distance of a group to all."""
    return max(
        earth_mover([v for k, v in zip(keys, levels, strict=False) if k == key], levels, LEVELS)
        for key in set(keys)
    )


@examples(40)
@given(RECORDS, st.sampled_from(KINDS))
def test_closeness_goes_by_the_declared_order(rows, kind):
    keys, levels = [row[0] for row in rows], [row[1] for row in rows]
    md = dk.Microdata(frame(kind, keys, levels), keys=["key"], sensitive=["level"])
    true = far(keys, levels)
    assert md.anonymity(ordered="level").closeness == pytest.approx(true)
    assert md.release(
        dk.claims.TCloseness(min(true + 1e-6, 1), ordered=True), keys=SECRET
    ).certificate
    if true > 1e-3:
        with pytest.raises(ProofError):
            md.release(dk.claims.TCloseness(true - 1e-6, ordered=True), keys=SECRET)


def test_groups_of_the_two_ends_are_far_from_the_file():
    keys = ["a"] * 50 + ["b"] * 50
    levels = ["low"] * 50 + ["top"] * 50
    md = dk.Microdata(frame("pandas", keys, levels), keys=["key"], sensitive=["level"])
    with pytest.raises(ProofError):
        md.release(dk.claims.TCloseness(0.4, ordered=True), keys=SECRET)


def test_text_without_an_order_is_refused_wherever_one_is_needed():
    keys, levels = ["a", "a", "b", "b"], ["low", "mid", "high", "low"]
    md = dk.Microdata(plain(keys, levels), keys=["key"], sensitive=["level"])
    for needs in (
        lambda: md.release(dk.claims.TCloseness(1.0, ordered=True), keys=SECRET),
        lambda: md.anonymity(ordered="level"),
        lambda: md.recode("level", top="high"),
        lambda: md.recode("level", bottom="mid"),
        lambda: md.pram("level", seed=1, band=1),
        lambda: md.transitions("level", band=1),
        lambda: md.local_suppression(k=2, closeness=0.9, ordered=["level"]),
        lambda: md.microaggregate([], method="gower", ordinal=["level"], k=2),
        lambda: (
            md.compare(
                md.recode("level", groups={"more": ["mid", "high"]}),
                categorical=["level"],
                ordered="level",
            ).distances
        ),
        lambda: certify("f", md.table, ["key"], dk.claims.TCloseness(1, ("level",), ordered=True)),
    ):
        with pytest.raises(InputError, match="which has no order of its own; say what comes after"):
            needs()


@examples(40)
@given(RECORDS, st.sampled_from(LEVELS), st.booleans(), st.sampled_from(KINDS))
def test_ends_replace_what_lies_beyond_them_in_the_declared_order(rows, end, top, kind):
    keys, levels = [row[0] for row in rows], [row[1] for row in rows]
    at = LEVELS.index(end)
    beyond = LEVELS[at:] if top else LEVELS[: at + 1]
    md = dk.Microdata(frame(kind, keys, levels), keys=["key"], sensitive=["level"])
    if not set(beyond) & set(levels):
        with pytest.raises(InputError, match="nothing would change"):
            md.recode("level", **{"top" if top else "bottom": end})
        return
    made = md.recode("level", **{"top" if top else "bottom": (end, "end")})
    expected = ["end" if one in beyond else one for one in levels]
    assert made.table.column("level").to_pylist() == expected
    # the new value stands where those were that it replaces
    order = made.roles.orders["level"]
    rest = [one for one in LEVELS if one in expected]
    assert [one for one in order if one in expected] == ([*rest, "end"] if top else ["end", *rest])


@examples(30)
@given(st.integers(0, 1000), st.integers(1, 2), st.sampled_from(KINDS))
def test_a_band_is_one_of_the_declared_order(seed, band, kind):
    rng = np.random.default_rng(seed)
    levels = [LEVELS[at] for at in rng.integers(0, 4, 200)]
    md = dk.Microdata(frame(kind, ["a"] * 200, levels), keys=["key", "level"])
    after = md.pram("level", seed=seed, stay=0.2, band=band).table.column("level").to_pylist()
    moved = [abs(LEVELS.index(a) - LEVELS.index(b)) for a, b in zip(levels, after, strict=False)]
    assert 0 < max(moved) <= band


def test_local_suppression_by_closeness_goes_by_the_declared_order():
    keys = ["a", "b", "c", "d"] * 5
    levels = ["low", "mid", "high", "top"] * 5
    md = dk.Microdata(frame("pandas", keys, levels), keys=["key"], sensitive=["level"])
    made = md.local_suppression(k=2, closeness=0.4, ordered=["level"])
    shown = made.table.column("key").to_pylist()
    kept = [level for key, level in zip(shown, levels, strict=False) if key is not None]
    assert set(kept) <= {"mid", "high"}  # 1/3 from all, the ends 1/2: text would keep low and mid
    assert made.anonymity(ordered="level").closeness <= 0.4


def test_an_ordinal_median_lies_in_the_middle_of_the_declared_order():
    levels = ["low", "mid", "top"]
    md = dk.Microdata(frame("pandas", ["a"] * 3, levels), keys=["key", "level"])
    made = md.microaggregate([], method="gower", ordinal=["level"], k=3)
    assert made.table.column("level").to_pylist() == ["mid"] * 3


def test_distances_of_values_go_by_the_declared_order():
    md = dk.Microdata(frame("pandas", ["a"] * 2, ["low", "mid"]), keys=["level"])
    made = dk.Microdata(frame("pandas", ["a"] * 2, ["low", "top"]), keys=["level"])
    named = dk.utility.compare(md.table, made.table, categorical="level", ordered={"level": LEVELS})
    assert md.compare(made, ordered="level").distances == named.distances


def test_classes_keep_the_order_of_the_numbers_they_came_from(tmp_path):
    ages = list(range(0, 120))
    (tmp_path / "ages.csv").write_text("\n".join(["age", *map(str, ages)]))
    for md in (
        dk.Microdata(pa.table({"age": ages}), keys=["age"]),
        dk.Microdata(tmp_path / "ages.csv", keys=["age"]),  # numbers as text
    ):
        made = md.recode("age", breaks=[0, 5, 10, 20, 100, float("inf")])
        assert made.roles.orders["age"] == ("0-4", "5-9", "10-19", "20-99", "≥ 100")
        grouped = md.recode("age", groups={"100+": list(range(100, 120))})
        assert grouped.ranked("age").categories.to_pylist() == [*map(str, range(100)), "100+"]
    scattered = made.recode("age", groups={"ends": ["0-4", "≥ 100"]})
    assert "age" not in scattered.roles.orders
    with pytest.raises(InputError, match="no order of its own"):
        scattered.ranked("age")
    assert "age" not in made.recode("age", missing="unknown").roles.orders


def test_an_explicit_order_is_a_list_or_a_tree_and_goes_along(tmp_path):
    keys, levels = ["a"] * 2 + ["b"] * 2, ["low", "low", "top", "top"]
    tree = dk.Hierarchy.from_levels(pa.table({"level": LEVELS}))
    for order in (LEVELS, tree):
        md = dk.Microdata(
            plain(keys, levels), keys=["key"], sensitive=["level"], orders={"level": order}
        )
        assert md.recode("level", top="mid").table.column("level").to_pylist() == [
            "low",
            "low",
            "mid",
            "mid",
        ]
    assert md.replay(plain(keys, levels)).roles.orders == md.roles.orders
    pq.write_table(plain(keys, levels), tmp_path / "r.parquet")
    md.save_job(tmp_path / "job.toml", "r.parquet")
    read = read_microdata_job(tmp_path / "job.toml")
    assert tuple(read.roles["orders"]["level"]) == md.roles.orders["level"]
    for wrong in ("level", {"a": 1}, ["low", "low"]):
        with pytest.raises(InputError, match="orders="):
            dk.Microdata(plain(keys, levels), orders={"level": wrong})
    with pytest.raises(InputError, match="orders= names column 'other'"):
        dk.Microdata(plain(keys, levels), orders={"other": LEVELS})


def test_files_and_relations_declare_orders_too(tmp_path):
    pq.write_table(frame("pyarrow", ["a", "b"], ["top", "low"]), tmp_path / "r.parquet")
    assert dk.Microdata(tmp_path / "r.parquet").roles.orders["level"] == tuple(LEVELS)
    duckdb.sql("create or replace type level as enum ('low', 'mid', 'high', 'top')")
    relation = duckdb.sql("select 'top'::level as level, 1 as n")
    assert dk.Microdata(relation).roles.orders == {"level": tuple(LEVELS)}
    assert dk.Microdata(frame("polars", ["a"], ["low"]).lazy()).roles.orders["level"]
    unordered = pd.DataFrame({"level": pd.Categorical(["low", "top"], categories=LEVELS)})
    assert dk.Microdata(unordered).roles.orders == {}


@pytest.mark.parametrize("formats", [["csv"], ["parquet"], ["csv", "parquet"]])
def test_written_files_are_checked_by_the_same_order(tmp_path, formats):
    # text of numbers, dates and levels: sorted as text, each would be another order
    keys = ["a", "a", "b", "b"] * 3
    md = dk.Microdata(
        pd.DataFrame(
            {
                "key": keys,
                "level": pd.Categorical(
                    ["low", "top", "mid", "high"] * 3, categories=LEVELS, ordered=True
                ),
                "income": [9, 100, 20, 30] * 3,
                "born": pd.to_datetime(["1990-05-01"] * 11 + ["2001-01-01"]),
            }
        ),
        keys=["key"],
        sensitive=["level", "income", "born"],
    )
    t = md.anonymity(ordered=["level", "income", "born"]).closeness
    claim = dk.claims.TCloseness(t + 1e-9, ordered=True)
    md.release(claim, keys=SECRET).write(tmp_path / "out", formats=formats)
    verify(tmp_path / "out", keys=SECRET)
    inside = tmp_path / "out" / "internal" / "microdata.certificate.json"
    # sabotage: with another order the same claim does not hold
    inside.write_text(
        inside.read_text()
        .replace('"low",', '"LOW",')
        .replace('"high",', '"low",')
        .replace('"LOW",', '"high",')
    )
    with pytest.raises(VerificationError):
        verify(tmp_path / "out", keys=SECRET)


def test_candidates_merge_neighbours_of_an_order_only(tmp_path):
    rng = np.random.default_rng(3)
    levels = [LEVELS[at] for at in rng.integers(0, 4, 60)]
    ages = [str(at) for at in rng.integers(7, 13, 60)]
    (tmp_path / "r.csv").write_text(
        "\n".join(["level,age", *(f"{a},{b}" for a, b in zip(levels, ages, strict=False))])
    )
    md = dk.Microdata(tmp_path / "r.csv", keys=["level", "age"], orders={"level": LEVELS})
    near = {frozenset(pair) for pair in pairwise(LEVELS)}
    near |= {frozenset(map(str, pair)) for pair in pairwise(range(7, 13))}
    for one in md.recode_candidates().to_pylist():
        groups = json.loads(one["arguments"]).get("groups", {})
        for olds in groups.values():
            assert frozenset(olds) in near


def test_candidates_in_a_tree_merge_below_the_same_code_only():
    towns = ["11"] * 9 + ["12"] * 2 + ["21"] + ["22"] * 8
    md = dk.Microdata(
        pa.table({"town": [f"x{t}" for t in towns], "sex": list("mf") * 10}), keys=["town", "sex"]
    )
    tree = dk.Hierarchy.from_prefix(sorted({f"x{t}" for t in towns}), (2, 1))
    found = md.recode_candidates({"town": tree}).to_pylist()
    merged = [one["recoding"] for one in found if "together" in one["recoding"]]
    assert sorted(merged) == ["'x11' and 'x12' together", "'x21' and 'x22' together"]
