"""The statement that perturbs counts, as each engine gets it, and what it gives away."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import spark_words
from sqlglot.expressions import Select, Table, maybe_parse

import diskret as dk
from diskret.cellkey import Lookup
from diskret.engines import LeafQuestion
from diskret.engines import duckdb as duckdb_engine
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.perturbed_sql import NoiseIntervals
from diskret.errors import DiskretError, InputError
from diskret.io import source

REGION = dk.Hierarchy.from_parents({"code": ["All", "N", "S"], "parent": [None, "All", "All"]})
LOOKUP = Lookup(
    np.arange(3),
    10,
    np.array([[10, 10], [4, 10], [5, 10]], dtype=np.uint64),
    np.array([[0, 0], [-1, 1], [-2, 1]]),
)
ASKED = {"by": {"region": REGION}, "ptable": LOOKUP, "record_key": "key", "key_modulus": 10}


def statement(dialect, **options):
    return dk.perturbation_sql("census.persons", dialect=dialect, **ASKED | options)


# ── as it is written ────────────────────────────────────────────────────────────────

DUCKDB = (
    'WITH source AS (SELECT "region" AS c0, "key" AS c1 FROM "census"."persons"), '
    "m0 AS (SELECT raw, leaf FROM (VALUES ('N', 0), ('S', 1)) AS listed(raw, leaf)), "
    "a0 AS (SELECT leaf, code FROM (VALUES (0, 'N'), (0, 'All'), (1, 'S'), (1, 'All')) "
    "AS listed(leaf, code)), noise AS (SELECT counted, low, high, change FROM "
    "(VALUES (1, 0, 4, -1), (1, 4, 10, 1), (2, 0, 5, -2), (2, 5, 10, 1)) "
    "AS listed(counted, low, high, change)), "
    "leaves AS (SELECT g0, CAST(COUNT(*) AS BIGINT) AS n, CAST(SUM(k) % 10 AS BIGINT) AS k, "
    "CASE WHEN COUNT(k) < COUNT(*) THEN 1 ELSE 0 END AS bad FROM (SELECT CAST(c0 AS TEXT) AS g0, "
    "CASE WHEN NOT (c1 IS NULL OR NOT c1 BETWEEN 0 AND 9) THEN CAST(c1 AS BIGINT) * 1 END AS k "
    "FROM source) AS records GROUP BY g0), "
    "placed AS (SELECT m0.leaf AS d0, n, k, "
    "MAX(CASE WHEN bad = 1 OR m0.leaf IS NULL THEN 1 ELSE 0 END) OVER () AS bad "
    "FROM leaves LEFT JOIN m0 ON g0 = m0.raw), "
    "up0 AS (SELECT a0.code AS d0, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(k) % 10 AS BIGINT) AS k "
    "FROM placed JOIN a0 ON d0 = a0.leaf WHERE bad = 0 GROUP BY a0.code) "
    'SELECT d0 AS "region", n + change AS "count" FROM up0 JOIN noise '
    "ON counted = CASE WHEN n <= 2 THEN n ELSE 2 END AND low <= k AND k < high "
    "WHERE n + change >= 1"
)
SPARK = (
    DUCKDB.replace('"', "`")
    .replace("(VALUES", "VALUES")
    .replace(") AS listed(", " AS listed(")
    .replace("CAST(c0 AS TEXT)", "CAST(c0 AS STRING)")
    .replace("CAST(SUM(n) AS BIGINT)", "TRY_SUM(CAST(n AS BIGINT))")
    .replace("SUM(k)", spark_words.wide("k"))
)
POSTGRES = DUCKDB.replace("CAST(c0 AS TEXT)", 'CAST(c0 AS VARCHAR) COLLATE "C"')


@pytest.mark.parametrize(
    ("dialect", "expected"), [("duckdb", DUCKDB), ("postgres", POSTGRES), ("spark", SPARK)]
)
def test_the_statement_is_this(dialect, expected):
    assert statement(dialect) == expected


def test_units_that_straddle_leaves_keep_a_row_of_their_own_on_the_way_up():
    text = statement("duckdb", unit="person", threshold=3)
    leaves, up = text.split("units AS (")[1].split("up0 AS (")
    assert leaves == (
        "SELECT g0, u, MIN(k) AS k, MAX(k) AS other_k, "
        "CASE WHEN u IS NULL OR COUNT(k) < COUNT(*) THEN 1 ELSE 0 END AS bad "
        "FROM (SELECT CAST(c0 AS TEXT) AS g0, "
        "CASE WHEN NOT (c2 IS NULL) THEN c2 END AS u, "
        "CASE WHEN NOT (c1 IS NULL OR NOT c1 BETWEEN 0 AND 9) THEN CAST(c1 AS BIGINT) * 1 END AS k "
        "FROM source) AS records GROUP BY g0, u), "
        "leaves AS (SELECT g0, u, CAST(COUNT(*) AS BIGINT) AS n, "
        "CAST(SUM(k) % 10 AS BIGINT) AS k, MAX(bad) AS bad "
        "FROM (SELECT g0, k, CASE WHEN COUNT(*) OVER (PARTITION BY u) > 1 THEN u END AS u, "
        "CASE WHEN MIN(k) OVER (PARTITION BY u) < MAX(other_k) OVER (PARTITION BY u) "
        "THEN 1 ELSE bad END AS bad FROM units) AS contributors GROUP BY g0, u), "
        "placed AS (SELECT m0.leaf AS d0, u, n, k, "
        "MAX(CASE WHEN bad = 1 OR m0.leaf IS NULL THEN 1 ELSE 0 END) OVER () AS bad "
        "FROM leaves LEFT JOIN m0 ON g0 = m0.raw), "
    )
    assert up == (
        "SELECT a0.code AS d0, u, "
        "CASE WHEN u IS NULL THEN CAST(SUM(n) AS BIGINT) ELSE 1 END AS n, "
        "CASE WHEN u IS NULL THEN CAST(SUM(k) % 10 AS BIGINT) ELSE MIN(k) END AS k "
        "FROM placed JOIN a0 ON d0 = a0.leaf WHERE bad = 0 GROUP BY a0.code, u), "
        "cells AS (SELECT d0, CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(k) % 10 AS BIGINT) AS k "
        "FROM up0 GROUP BY d0) "
        'SELECT d0 AS "region", n + change AS "units" FROM cells JOIN noise '
        "ON counted = CASE WHEN n <= 2 THEN n ELSE 2 END AND low <= k AND k < high "
        "WHERE n + change >= 3"
    )


def test_counts_beyond_the_last_row_reuse_rows_in_turn():
    twice = Lookup(LOOKUP.counts, 10, LOOKUP.bounds, LOOKUP.noise, reuse=2)
    assert "CASE WHEN n <= 2 THEN n ELSE 1 + MOD(n - 3, 2) END" in statement(
        "bigquery", ptable=twice
    )


@pytest.mark.parametrize(
    "dialect", ["duckdb", "postgres", "spark", "bigquery", "snowflake", "trino"]
)
def test_every_dialect_says_all_of_it_and_shows_codes_and_perturbed_counts_only(dialect):
    for unit, counted in ((None, "count"), ("person", "units")):
        tree = maybe_parse(statement(dialect, unit=unit), into=Select, dialect=dialect)
        assert tree.named_selects == ["region", counted]
        assert tree.selects[-1].this.sql() == "n + change"
        assert {table.name for table in tree.find_all(Table) if table.db} == {"persons"}


# ── what comes back ─────────────────────────────────────────────────────────────────

PERSONS = pa.table({"region": ["N", "N", "N", "S", "S"], "key": [1, 2, 3, 4, 5]})


def test_records_are_asked_once_and_give_perturbed_counts_only(monkeypatch):
    answers = []
    fetch = duckdb_engine._Records.fetch
    monkeypatch.setattr(
        duckdb_engine._Records,
        "fetch",
        lambda self, query: answers.append(fetch(self, query)) or answers[-1],
    )
    question = LeafQuestion(by=ASKED["by"], record_key="key", key_modulus=10)
    with DuckDBEngine(source(PERSONS)) as engine:
        found = engine.perturbed(question, NoiseIntervals.of(LOOKUP))
    assert [answer.column_names for answer in answers] == [["d0", "value"]]
    # keys 6, 9 and 5: three persons get 1 more, two 1 more, five 1 more
    rows = zip(found.position[:, 0].tolist(), found.value.tolist(), strict=True)
    assert sorted(rows) == [(0, 6), (1, 4), (2, 3)]


def run(text, records):
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA census")
        connection.register("here", records)
        connection.execute("CREATE TABLE census.persons AS SELECT * FROM here")
        return sorted(connection.execute(text).fetchall())


def test_a_cell_that_is_perturbed_to_nothing_looks_like_an_empty_one():
    """Key 3 takes 1 from a single person: S is not there, no more than without that person."""
    records = pa.table({"region": ["N", "N", "S"], "key": [6, 2, 3]})
    assert run(statement("duckdb"), records) == [("All", 1), ("N", 3)]
    assert run(statement("duckdb"), records.slice(0, 2)) == [("All", 3), ("N", 3)]


UNUSABLE = {
    "unknown code": {"region": ["N", "X"], "key": [5, 6]},
    "total as a code": {"region": ["N", "All"], "key": [5, 6]},
    "no code": {"region": ["N", None], "key": [5, 6]},
    "no key": {"region": ["N", "S"], "key": [5, None]},
    "key too large": {"region": ["N", "S"], "key": [5, 10]},
    "negative key": {"region": ["N", "S"], "key": [5, -1]},
    "no unit": {"region": ["N", "S"], "key": [5, 6], "person": ["p", None]},
    "two keys": {"region": ["N", "N"], "key": [5, 6], "person": ["p", "p"]},
    "two keys in two leaves": {"region": ["N", "S"], "key": [5, 6], "person": ["p", "p"]},
}


@pytest.mark.parametrize("columns", UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_records_give_nothing_and_are_told_as_by_tabulate(columns):
    records = pa.table(columns)
    unit = "person" if "person" in columns else None
    assert run(statement("duckdb", unit=unit), records) == []
    with pytest.raises(DiskretError) as told:
        dk.perturb_records(records, unit=unit, **ASKED)
    asked = {name: ASKED[name] for name in ("by", "record_key", "key_modulus")}
    with pytest.raises(DiskretError) as by_tabulate:
        dk.tabulate(records, unit=unit, **asked)
    assert (type(told.value), str(told.value)) == (type(by_tabulate.value), str(by_tabulate.value))


@pytest.mark.parametrize("column", ["region", "key"])
def test_the_statement_gives_something_without_the_fault(column):
    """The same records without what is wrong with them: no empty answer by accident."""
    usable = {"region": ["N", "S"], "key": [6, 9], "person": ["p", "q"]}
    assert len(run(statement("duckdb", unit="person"), pa.table(usable))) == 3
    spoilt = usable | {column: [usable[column][0], None]}
    assert run(statement("duckdb", unit="person"), pa.table(spoilt)) == []


# ── what is published ───────────────────────────────────────────────────────────────


def test_codes_as_numbers_flat_trees_filters_and_keys_as_text_are_read_as_by_tabulate():
    records = pa.table(
        {
            "region": [7, 7, 12, 7],
            "sex": [" f", "m", "f", "f"],
            "key": ["1", " 2", "3", "99"],
            "year": [2024, 2024, 2024, 2023],
        }
    )
    asked = {
        "by": {"region": dk.Hierarchy.flat(["7", "12"]), "sex": None},
        "record_key": "key",
        "key_modulus": 10,
        "where": {"year": "2024"},
    }
    table = dk.tabulate(records, **asked)
    found = dk.perturb_records(records, ptable=LOOKUP, **asked).published
    assert found.value.tolist() == (table.count + LOOKUP(table.count, table.key_sum)).tolist()
    assert found.where == table.where


def test_nothing_but_zeros_is_a_table_of_zeros():
    records = pa.table({"region": ["N"], "key": [3]})
    found = dk.perturb_records(records, **ASKED)
    assert found.public.to_pydict() == {
        "region": ["All", "N", "S"],
        "count": [0, 0, 0],
        "status": ["published"] * 3,
    }


def test_zeros_are_below_a_threshold_like_other_small_counts():
    found = dk.perturb_records(PERSONS, threshold=4, **ASKED)
    assert found.public.to_pydict()["count"] == [6, 4, None]
    assert dk.perturb_records(PERSONS.slice(0, 3), threshold=4, **ASKED).public.to_pydict() == {
        "region": ["All", "N", "S"],
        "count": [4, 4, None],
        "status": ["published", "published", "suppressed"],
    }


def test_the_frame_is_of_the_users_kind():
    polars = pytest.importorskip("polars", reason="optional: polars is not installed")
    found = dk.perturb_records(polars.from_arrow(PERSONS), **ASKED).public
    assert isinstance(found, polars.DataFrame)
    assert found["count"].to_list() == [6, 4, 3]


# ── refusals ────────────────────────────────────────────────────────────────────────

BELOW_ZERO = Lookup(np.arange(2), 10, LOOKUP.bounds[:2], np.array([[0, 0], [-2, 1]]))
HALVES = Lookup(LOOKUP.counts, 10, LOOKUP.bounds, LOOKUP.noise, step=2)
ZERO_ONLY = Lookup(np.arange(1), 10, LOOKUP.bounds[:1], LOOKUP.noise[:1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key_modulus": 2**32}, "keys below 10, and key_modulus= says 4,294,967,296"),
        ({"ptable": BELOW_ZERO}, "takes counts of 1 below 0"),
        ({"ptable": HALVES}, "steps of 1/2"),
        ({"ptable": ZERO_ONLY}, "the count 0 only"),
        ({"threshold": 0}, "whole number from 1 on, not 0"),
        ({"threshold": 2.5}, "whole number from 1 on, not 2.5"),
        ({"by": {}}, "at least one classifying variable"),
        ({"record_key": "keys"}, "did you mean 'key'"),
    ],
)
def test_what_does_not_fit_is_refused(changed, message):
    with pytest.raises(InputError, match=message):
        dk.perturb_records(PERSONS, **ASKED | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": {"region": None}}, "'region' needs its tree"),
        ({"by": {"count": REGION}}, "more than one column would be called 'count'"),
        ({"table": "a..b"}, "names no table"),
        ({"dialect": "mysql"}, "one of duckdb, postgres, spark"),
    ],
)
def test_a_statement_that_cannot_be_written_is_refused(changed, message):
    asked = {"table": "persons", **ASKED, **changed}
    with pytest.raises(InputError, match=message):
        dk.perturbation_sql(asked.pop("table"), **asked)


def test_engines_refuse_questions_without_keys_or_with_keys_of_another_modulus():
    with DuckDBEngine(source(PERSONS)) as engine:
        for options in ({}, {"record_key": "key"}):
            with pytest.raises(InputError, match="key"):
                engine.perturbed(LeafQuestion(by=ASKED["by"], **options), NoiseIntervals.of(LOOKUP))
