"""Risk of records that stay in files of any size: the same figures as of records in memory."""

import subprocess
import sys
import tempfile
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.engines.duckdb import DuckDBEngine
from diskret.errors import InputError

KEYS = ["region", "job", "born"]
ASKED = {"keys": KEYS, "weight": "w", "where": {"w": {"min": 2}}}
PERSONS = pa.table(
    {
        "name": ["Ada", "Ben", "Cem", "Dot", "Eve", "Fay"],
        "region": ["N", "N", "S", "N", None, "S"],
        "job": [7, 7, 7, None, 7, 9],
        "born": [date(1990, 5, 1), date(1990, 5, 1), date(2001, 1, 1), date(1990, 5, 1)]
        + [None] * 2,
        "w": [1.5, 2.5, 10.0, 4.25, 3.0, 8.0],
    }
)


def by_record(found, table, keys):
    """The figures of each record, through the list of combinations."""
    columns = found.combinations.to_pydict()
    at = {shown: i for i, shown in enumerate(zip(*[columns[key] for key in keys], strict=True))}
    shown = [
        [None if value is None else str(value) if name == "born" else value for value in column]
        for name, column in table.select(keys).to_pydict().items()
    ]
    rows = [at[one] for one in zip(*shown, strict=True)]
    names = ("sample_frequency", "population_frequency", "risk")
    return [np.array(columns[name])[rows] for name in names]


# ── the same as in memory ───────────────────────────────────────────────────────────

record = st.fixed_dictionaries(
    {
        "region": st.sampled_from([None, "N", "S", ""]),
        "job": st.sampled_from([None, 1, 2]),
        "sex": st.sampled_from(["m", "f"]),
        "w": st.integers(1, 10**5).map(lambda i: i / 4000),
    }
)


@examples(40)
@given(
    st.lists(record, min_size=1, max_size=20),
    st.sampled_from(["wildcard", "category"]),
    st.sampled_from([None, "w"]),
)
def test_agrees_with_microdata_in_memory(records, missing, weight):
    schema = {"region": pa.string(), "job": pa.int64(), "sex": pa.string(), "w": pa.float64()}
    table = pa.Table.from_pylist(records, pa.schema(schema))
    keys = ["region", "job", "sex"]
    found = dk.key_risk(table, keys, weight=weight, missing=missing)
    here = dk.Microdata(table, keys=keys, weight=weight).risk(missing)
    sample, population, told = by_record(found, table, keys)
    np.testing.assert_array_equal(sample, here.sample_frequency)
    np.testing.assert_allclose(population, here.population_frequency, rtol=1e-13)
    np.testing.assert_allclose(told, here.risk, rtol=1e-11)
    assert found.n == len(records)
    assert found.k == min(here.sample_frequency)
    assert found.sample_uniques == here.sample_uniques
    assert found.below(3) == here.below(3)
    assert found.below(7.5, population=True) == here.below(7.5, population=True)
    assert found.short == here.short
    assert found.expected == pytest.approx(here.expected, rel=1e-11)
    assert found.global_risk == pytest.approx(here.global_risk, rel=1e-11)
    assert found.largest == pytest.approx(here.largest, rel=1e-11)


def test_a_missing_value_agrees_with_every_value_or_with_none():
    found = dk.key_risk(PERSONS, KEYS, weight="w")
    assert found.combinations.to_pydict() | {"risk": None} == {
        "region": [None, "N", "N", "S", "S"],
        "job": [7, None, 7, 7, 9],
        "born": [None, "1990-05-01", "1990-05-01", "2001-01-01", None],
        "records": [1, 1, 2, 1, 1],
        "sample_frequency": [5.0, 4.0, 4.0, 2.0, 1.0],
        "population_frequency": [21.25, 11.25, 11.25, 13.0, 8.0],
        "risk": None,
    }
    assert (found.n, found.k, found.sample_uniques, found.below(3)) == (6, 1, 1, 2)
    own = dk.key_risk(PERSONS, KEYS, weight="w", missing="category")
    assert own.combinations["sample_frequency"].to_pylist() == [1, 1, 2, 1, 1]
    assert own.combinations_below(2)["population_frequency"].to_pylist() == [3.0, 4.25, 10.0, 8.0]


def test_published_figures_of_testdata(reference_data):
    path = reference_data / "data" / "sdcmicro" / "testdata.csv"
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    found = dk.key_risk(path, keys, weight="sampling_weight")
    assert found.n == 4580
    assert found.sample_uniques == 157
    assert found.below(3) - found.below(2) == 124
    assert found.below(5) == 458
    assert round(found.expected, 4) == 10.7755
    peers = dk.key_risk(path, keys, weight="sampling_weight", compat="sdcmicro")
    assert round(peers.expected, 4) == 10.7783
    assert sum(found.combinations_below(2)["records"].to_pylist()) == 157


def test_the_order_of_records_and_the_number_of_threads_do_not_matter():
    rng = np.random.default_rng(7)
    n = 300_000
    table = pa.table(
        {"a": rng.integers(0, 200, n), "b": rng.integers(0, 50, n), "w": rng.gamma(2, 30, n) + 0.1}
    )
    shuffled = table.take(rng.permutation(n))
    one, two = (
        dk.key_risk(t, ["a", "b"], weight="w", engine=partial(DuckDBEngine, threads=threads))
        for t, threads in ((table, 1), (shuffled, 4))
    )
    assert one.combinations.equals(two.combinations)
    assert one.expected == two.expected


def test_the_kind_of_frame_that_came_in_goes_out():
    polars = dk.key_risk(pl.from_arrow(PERSONS), **ASKED).combinations
    pandas = dk.key_risk(PERSONS.to_pandas(), **ASKED).combinations
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)
    assert pandas["risk"].tolist() == polars["risk"].to_list()


# ── records with their risk ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("missing", ["wildcard", "category"])
def test_records_are_written_in_their_order_with_their_risk(tmp_path, missing):
    rng = np.random.default_rng(3)
    n, paths = 250_000, []
    table = pa.table(
        {
            "id": np.arange(n),
            "Region ": pa.array(rng.choice(["N", "S", "ä"], n), mask=rng.random(n) < 0.01),
            "born": pa.array(rng.integers(0, 3000, n).astype("datetime64[D]")),
            "age": np.where(rng.random(n) < 0.01, np.nan, rng.integers(0, 9, n)),
            "w": np.round(rng.uniform(1, 60, n), 1),
        }
    )
    for at in range(0, n, 100_000):
        paths.append(tmp_path / f"part-{at}.parquet")
        pq.write_table(table.slice(at, 100_000), paths[-1], row_group_size=20_000)
    keys = ["born", "Region ", "age"]
    found = dk.key_risk(paths, keys, weight="w", missing=missing)
    found.write_records(tmp_path / "risk.parquet")
    written = pq.read_table(tmp_path / "risk.parquet")
    same = ["id", "Region ", "born", "w"]
    assert written.column_names[:5] == table.column_names
    assert written.select(same).equals(table.select(same))
    np.testing.assert_array_equal(written["age"], table["age"])  # NaN is not equal to itself
    here = dk.Microdata(table, keys=keys, weight="w").risk(missing)
    np.testing.assert_array_equal(written["sample_frequency"], here.sample_frequency)
    np.testing.assert_allclose(
        written["population_frequency"], here.population_frequency, rtol=1e-12
    )
    np.testing.assert_allclose(written["risk"], here.risk, rtol=1e-10)
    assert np.sum(written["risk"].to_numpy()) == pytest.approx(found.expected)


def test_records_that_a_filter_leaves_out_are_not_written(tmp_path):
    dk.key_risk(PERSONS, **ASKED).write_records(tmp_path / "risk.parquet")
    written = pq.read_table(tmp_path / "risk.parquet")
    assert written["name"].to_pylist() == ["Ben", "Cem", "Dot", "Eve", "Fay"]


def test_a_file_of_records_is_confidential_and_replaces_none(tmp_path):
    path = tmp_path / "risk.parquet"
    found = dk.key_risk(PERSONS, **ASKED)
    found.write_records(path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"risk.parquet: there is such a file already"):
        found.write_records(path)
    with pytest.raises(InputError, match=r"cannot be written \(No such file or directory\)"):
        found.write_records(tmp_path / "nowhere" / "risk.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["risk.parquet"]
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="the records have .*'risk'.* already"):
        dk.key_risk(PERSONS.append_column("risk", PERSONS["w"]), KEYS).write_records(tmp_path / "x")


@pytest.mark.parametrize("change", ["region", "records"])
def test_nothing_is_written_of_records_that_have_changed(tmp_path, change):
    source = tmp_path / "persons.parquet"
    pq.write_table(PERSONS, source)
    found = dk.key_risk(source, KEYS)
    if change == "region":
        changed = PERSONS.set_column(1, "region", pa.array(["N", "N", "S", "N", "N", "S"]))
        message = "1 record has keys that were not there"
    else:
        changed, message = PERSONS.slice(0, 5), "there are 5 records now, and 6 were counted"
    pq.write_table(changed, source)
    with pytest.raises(InputError, match=message):
        found.write_records(tmp_path / "risk.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["persons.parquet"]


# ── what cannot be asked ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": []}, "no key variable is named"),
        ({"keys": ["job", "job"]}, "keys= names column 'job' twice"),
        ({"keys": ["risk"]}, "keys= names column 'risk', which is what a figure"),
        ({"keys": ["sex"]}, "there is no column 'sex'"),
        ({"keys": ["w"]}, "numbers with decimals, which are no categories, in column 'w'"),
        ({"missing": "conservative"}, "missing= must be 'wildcard' or 'category'"),
        ({"weight": "name"}, "6 records: weights that are no numbers above 0"),
        ({"engine": DuckDBEngine, "memory_limit": "1GB"}, "memory_limit= is for DuckDB"),
        ({"memory_limit": "much"}, "DuckDB cannot be started with memory_limit='much'"),
        ({"where": {"job": 5}}, "'job' holds no record with '5'"),
    ],
)
def test_what_cannot_be_asked_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        dk.key_risk(PERSONS, **({"keys": KEYS} | options))


def test_no_records_are_refused():
    with pytest.raises(InputError, match="there are no records"):
        dk.key_risk(PERSONS.slice(0, 0), KEYS)


# ── larger than memory ──────────────────────────────────────────────────────────────

MEASURED = """
import sys
import diskret as dk
path, limit = sys.argv[1:]
found = dk.key_risk(path, [f"k{i}" for i in range(8)], weight="w", memory_limit=limit)
print(found.n, len(found.counts), found.sample_uniques, sum(found.counts.weight.tolist()))
"""


@pytest.mark.slow
def test_five_million_records_under_a_tight_memory_limit():
    rng = np.random.default_rng(5)
    n, keys = 5_000_000, [f"k{i}" for i in range(8)]
    columns = {name: rng.integers(0, 12, n).astype(np.int8) for name in keys}
    tenths = rng.integers(200, 600, n)
    number = np.zeros(n, dtype=np.int64)
    for name in keys:
        number = number * 12 + columns[name]
    counts = np.unique(number, return_counts=True)[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        pq.write_table(pa.table(columns | {"w": tenths / 10}), path, row_group_size=250_000)
        command = [sys.executable, "-c", MEASURED, str(path), "120MB"]
        told = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    assert [int(figure) for figure in told.split()] == [
        n,
        len(counts),
        np.count_nonzero(counts == 1),
        int(tenths.sum()) * 10**8,
    ]


@pytest.mark.parametrize("kind", ["whole", "text", "with gaps", "of pandas"])
def test_households_have_the_risk_they_have_in_memory(tmp_path, kind):
    random = np.random.default_rng(1)
    n = 500
    home = random.integers(0, 150, n)
    gap = random.random(n) < (0.2 if kind == "with gaps" else 0)
    named = pa.array(home, mask=gap)
    if kind == "text":
        named = pa.array([f"flat {one}" for one in home])
    if kind == "of pandas":
        named = pa.array(np.where(random.random(n) < 0.1, np.nan, home))
    columns = {"age": random.integers(0, 60, n), "sex": random.integers(0, 2, n)}
    table = pa.table({**columns, "home": named, "w": random.uniform(1, 5, n).round(3)})
    pq.write_table(table, tmp_path / "persons.parquet")
    found = dk.key_risk([tmp_path / "persons.parquet"], ["age", "sex"], weight="w")
    made = found.households("home")
    whole = pa.array(table["home"].to_numpy(), from_pandas=True)
    if kind == "of pandas":
        table = table.set_column(2, "home", whole.cast(pa.int64()))
    md = dk.Microdata(table, keys=["age", "sex"], weight="w", household="home")
    expected = md.risk().households
    assert made.households == len(expected.size)
    assert made.expected == pytest.approx(expected.expected, rel=1e-12)
    assert made.expected_persons == pytest.approx(expected.expected_persons, rel=1e-12)
    assert made.largest == pytest.approx(expected.risk.max(), rel=1e-12)


def test_who_is_recognised_for_sure_makes_the_household_sure(tmp_path):
    table = pa.table({"job": ["mayor", "baker", "baker"], "home": [1, 1, None]})
    made = dk.key_risk(table, ["job"]).households("home")
    assert (made.households, made.largest, made.expected) == (2, 1.0, 1.5)
    with pytest.raises(InputError, match="no column 'hous'"):
        dk.key_risk(table, ["job"]).households("hous")
