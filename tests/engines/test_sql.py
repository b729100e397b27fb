"""The queries, as DuckDB, PostgreSQL and Spark get them."""

import pyarrow as pa
import pytest
import spark_words

from diskret.engines import postgres_sql, spark_sql, sql
from diskret.engines.columns import Column, value

SHAPE = sql.Shape(
    codes=("c0", "CAST(c1 AS VARCHAR)"),
    measures=("CAST(c2 AS BIGINT) * 100",),
    unit="NULLIF(TRIM(c3), '')",
    holding="c4",
    key="CAST(c5 AS BIGINT) * 1",
    modulus=2**32,
)
UNITS = sql.SomeRecords("u", keyed=True)
HOLDINGS = sql.SomeRecords("h", "NOT h IS NULL", largest=2)

RECORDS = (
    "WITH records AS (SELECT m0.leaf + m1.leaf AS leaf, NULLIF(TRIM(c3), '') AS u, c4 AS h, "
    "CAST(c5 AS BIGINT) * 1 AS k, CAST(c2 AS BIGINT) * 100 AS v0 FROM source "
    "JOIN m0 ON c0 = m0.raw JOIN m1 ON CAST(c1 AS TEXT) = m1.raw), "
)


def int64(wide):
    limit = 2**63 - 1
    return f"CASE WHEN {wide} BETWEEN -{limit} AND {limit} THEN CAST({wide} AS BIGINT) END"


SNAPSHOTS = {
    "stayers among holdings": (
        sql.stayers(SHAPE, HOLDINGS),
        RECORDS + "contributors AS (SELECT h AS c, MIN(leaf) AS low, MAX(leaf) AS high, "
        f"COUNT(*) AS records, {int64('SUM(v0)')} AS s0 FROM records "
        "WHERE NOT h IS NULL GROUP BY h) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "CAST(SUM(records) AS BIGINT) AS records, "
        f"CASE WHEN COUNT(s0) = COUNT(*) THEN {int64('SUM(s0)')} END AS sum0, "
        f"{int64('SUM(ABS(s0))')} AS magnitude0, "
        "ARRAY_AGG(c) FILTER(WHERE low < high) AS straddlers, "
        "MAX(ABS(s0), 2) AS largest0 FROM contributors GROUP BY 1",
    ),
    "straddlers among units": (
        sql.straddlers(SHAPE, UNITS, "kept"),
        RECORDS
        + "numbered AS (SELECT c, ROW_NUMBER() OVER (ORDER BY c NULLS FIRST) - 1 AS contributor "
        "FROM (SELECT UNNEST(straddlers) AS c FROM kept WHERE leaf IS NULL) AS listed) "
        f"SELECT contributor, leaf, COUNT(*) AS records, {int64('SUM(v0)')} AS sum0, "
        "MIN(k) AS k FROM records JOIN numbered ON u = c GROUP BY contributor, leaf "
        "ORDER BY contributor NULLS FIRST, leaf NULLS FIRST",
    ),
    "rows of stayers": (
        sql.stayer_rows(SHAPE, UNITS, "kept"),
        "SELECT leaf, contributors, records, key_sum, sum0, magnitude0 FROM kept "
        "WHERE NOT leaf IS NULL ORDER BY leaf NULLS FIRST",
    ),
    "codes": (
        sql.code_counts("c0", 9),
        "SELECT c0 AS raw, COUNT(*) AS records FROM source GROUP BY c0 LIMIT 9",
    ),
}


FILTERED = sql.Shape(("c0",), (), where="c1 IN (SELECT raw FROM f0) AND c2 >= 10")
ONLY = " WHERE c1 IN (SELECT raw FROM f0) AND c2 >= 10"
ONLY_SOME = {
    "only some records": (
        sql.stayers(FILTERED, sql.SomeRecords(None)),
        f"WITH records AS (SELECT m0.leaf AS leaf FROM source JOIN m0 ON c0 = m0.raw{ONLY}), "
        "contributors AS (SELECT leaf AS low, leaf AS high, 1 AS records FROM records) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "CAST(SUM(records) AS BIGINT) AS records FROM contributors GROUP BY 1",
    ),
    "marked stayers": (
        sql.stayers(sql.Shape(("c0",), ("c1",), marks=(("c2", False),)), sql.SomeRecords("u")),
        "WITH records AS (SELECT m0.leaf AS leaf, c1 AS v0, "
        "CASE WHEN g0.raw IS NULL THEN 1 ELSE 0 END AS x0 FROM source "
        "JOIN m0 ON c0 = m0.raw LEFT JOIN g0 ON c2 = g0.raw), "
        "contributors AS (SELECT u AS c, MIN(leaf) AS low, MAX(leaf) AS high, "
        f"COUNT(*) AS records, {int64('SUM(v0)')} AS s0, SUM(x0) AS x0 FROM records GROUP BY u) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "CAST(SUM(records) AS BIGINT) AS records, "
        f"CASE WHEN COUNT(s0) = COUNT(*) THEN {int64('SUM(s0)')} END AS sum0, "
        f"{int64('SUM(ABS(s0))')} AS magnitude0, CAST(SUM(x0) AS BIGINT) AS marked0, "
        "MAX(CASE WHEN x0 > 0 THEN ABS(s0) END) AS top0_0, "
        "ARRAY_AGG(c) FILTER(WHERE low < high) AS straddlers FROM contributors GROUP BY 1",
    ),
    "how many": (
        sql.record_count(FILTERED.where),
        f"SELECT COUNT(*) AS records FROM source{ONLY}",
    ),
}


@pytest.mark.parametrize(("query", "expected"), [*SNAPSHOTS.values(), *ONLY_SOME.values()])
def test_duckdb_gets_this(query, expected):
    assert sql.text(query, "duckdb") == expected


WEIGHTED = sql.Shape(("c0",), ("c1",), unit="c2", holding="c3", weight="c4")
T0 = int64("CAST(v0 AS DECIMAL(19, 0)) * CAST(w AS DECIMAL(19, 0))")


def test_weights_multiply_in_wide_numbers_and_stand_beside_the_largest():
    query = sql.stayers(WEIGHTED, sql.SomeRecords("u", "h IS NULL", largest=2))
    assert sql.text(query, "duckdb") == (
        f"WITH records AS (SELECT *, {T0} AS t0 FROM (SELECT m0.leaf AS leaf, c2 AS u, c3 AS h, "
        "c4 AS w, c1 AS v0 FROM source JOIN m0 ON c0 = m0.raw) AS unweighted), "
        "contributors AS (SELECT u AS c, MIN(leaf) AS low, MAX(leaf) AS high, COUNT(*) AS records, "
        f"CASE WHEN COUNT(t0) = COUNT(*) THEN {int64('SUM(t0)')} END AS s0, "
        f"{int64('SUM(v0)')} AS a0, MIN(w) AS w FROM records WHERE h IS NULL GROUP BY u) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "CAST(SUM(records) AS BIGINT) AS records, "
        f"CASE WHEN COUNT(s0) = COUNT(*) THEN {int64('SUM(s0)')} END AS sum0, "
        f"{int64('SUM(ABS(s0))')} AS magnitude0, "
        "ARRAY_AGG(c) FILTER(WHERE low < high) AS straddlers, MAX(ABS(a0), 2) AS largest0, "
        "ARG_MAX(w, ROW(ABS(a0), w), 2) AS weight0 FROM contributors GROUP BY 1"
    )
    assert postgres_sql.text(query, {}).endswith(
        "(ARRAY_AGG(w ORDER BY ROW(ABS(a0), w) DESC) FILTER(WHERE NOT w IS NULL))[1:2] "
        "AS weight0 FROM contributors GROUP BY 1"
    )
    assert spark_sql.text(query, {}).endswith(
        "TRANSFORM(SLICE(SORT_ARRAY(COLLECT_LIST(STRUCT(ABS(a0) AS col1, w AS w)), FALSE), 1, 2), "
        "pair -> pair.w) AS weight0 FROM contributors GROUP BY 1"
    )


def test_holdings_answer_for_themselves_without_a_weight():
    text = sql.text(sql.stayers(WEIGHTED, HOLDINGS), "duckdb")
    assert "MAX(ABS(s0), 2) AS largest0" in text
    assert "weight0" not in text
    assert "a0" not in text


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_all_but_the_largest_can_be_said_in_other_dialects(dialect):
    for part in (UNITS, sql.SomeRecords(None, keyed=True), sql.SomeRecords("h", "NOT h IS NULL")):
        assert "low = high" in sql.text(sql.stayers(SHAPE, part), dialect)
    straddlers = sql.text(sql.straddlers(SHAPE, UNITS, "kept"), dialect)
    assert ("EXPLODE(straddlers)" in straddlers) == (dialect == "spark")


TEXT = Column('Größe "S"', "c0", "text", "text")
NUMBER = Column("v", "c1", "decimal", "numeric")
RELATIONS = {
    "source": postgres_sql.source(("Register", "firms"), [TEXT, NUMBER]),
    "m0": postgres_sql.small_table(
        pa.table({"raw": ["it's \"\\"], "leaf": pa.array([7], pa.int32())})
    ),
}
BEFORE = (
    'WITH source AS (SELECT CAST("Größe ""S""" AS TEXT) COLLATE "C" AS c0, "v" AS c1 '
    'FROM "Register"."firms"), m0 AS (SELECT raw, leaf FROM '
    """UNNEST(CAST('{"it''s \\"\\\\"}' AS TEXT[]), CAST('{7}' AS INT[])) AS listed(raw, leaf))"""
)
EXACT = (
    "CASE WHEN ABS(CAST({x} AS DECIMAL)) < 100000000000000000000 "
    "THEN CAST({x} AS DECIMAL(38, 18)) END"
)

POSTGRES = {
    "codes": (
        sql.code_counts("c0", 9),
        " SELECT c0 AS raw, COUNT(*) AS records FROM source GROUP BY c0 LIMIT 9",
    ),
    "largest of every record": (
        sql.stayers(sql.Shape(("c0",), ("c1",)), sql.SomeRecords(None, largest=2)),
        ", records AS (SELECT m0.leaf AS leaf, c1 AS v0 FROM source JOIN m0 ON c0 = m0.raw), "
        "contributors AS (SELECT leaf AS low, leaf AS high, 1 AS records, v0 AS s0 FROM records) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "CAST(SUM(records) AS BIGINT) AS records, "
        f"CASE WHEN COUNT(s0) = COUNT(*) THEN {int64('SUM(s0)')} END AS sum0, "
        f"{int64('SUM(ABS(s0))')} AS magnitude0, "
        "(ARRAY_AGG(ABS(s0) ORDER BY ABS(s0) DESC) FILTER(WHERE NOT ABS(s0) IS NULL))[1:2] "
        "AS largest0 FROM contributors GROUP BY 1",
    ),
    "examples": (
        sql.check_examples(value(NUMBER, 0).checks[0]),
        ' SELECT DISTINCT CAST(c1 AS VARCHAR) COLLATE "C" AS example FROM source '
        "WHERE c1 IS NULL ORDER BY example NULLS FIRST LIMIT 10000",
    ),
    "text as a number": (
        sql.exp.select("TRY_CAST(TRIM(c0) AS DECIMAL(38, 18)) AS x").from_("source"),
        " SELECT CASE WHEN TRIM(c0) ~ "
        "'^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$' "
        f"THEN {EXACT.format(x='TRIM(c0)')} END AS x FROM source",
    ),
    "decimal as a number": (
        sql.exp.select("TRY_CAST(c1 AS DECIMAL(38, 18)) AS x").from_("source"),
        f" SELECT {EXACT.format(x='c1')} AS x FROM source",
    ),
}


@pytest.mark.parametrize(("query", "expected"), POSTGRES.values(), ids=POSTGRES)
def test_postgres_gets_this(query, expected):
    assert postgres_sql.text(query, RELATIONS) == BEFORE + expected


BLANKS = spark_sql.BLANKS
TRIMMED = f"TRIM('{BLANKS}' FROM c0)"
NUMBER_IN_TEXT = (
    f"CASE WHEN {TRIMMED} RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?$' "
    f"THEN TRY_CAST({TRIMMED} AS DECIMAL(38, 18)) END"
)
SPARK = {
    "largest of every record": (
        sql.stayers(sql.Shape(("c0",), ("c1",)), sql.SomeRecords(None, largest=2)),
        "WITH records AS (SELECT m0.leaf AS leaf, c1 AS v0 FROM mine_source AS source "
        "JOIN mine_m0 AS m0 ON c0 = m0.raw), "
        "contributors AS (SELECT leaf AS low, leaf AS high, 1 AS records, v0 AS s0 FROM records) "
        "SELECT CASE WHEN low = high THEN low END AS leaf, COUNT(*) AS contributors, "
        "TRY_SUM(CAST(records AS BIGINT)) AS records, "
        f"CASE WHEN COUNT(s0) = COUNT(*) THEN {spark_words.int64('s0')} END AS sum0, "
        f"{spark_words.int64('ABS(s0)')} AS magnitude0, "
        "SLICE(SORT_ARRAY(COLLECT_LIST(ABS(s0)), FALSE), 1, 2) AS largest0 "
        "FROM contributors GROUP BY 1",
    ),
    "text as a value": (
        sql.exp.select(value(TEXT, 2).expression).from_("source"),
        f"SELECT CAST(CASE WHEN {NUMBER_IN_TEXT} = "
        f"TRY_CAST(CAST({NUMBER_IN_TEXT} AS DECIMAL(38, 2)) AS DECIMAL(38, 18)) "
        f"THEN TRY_CAST({NUMBER_IN_TEXT} AS DECIMAL(19, 2)) * 100 END AS BIGINT) "
        "FROM mine_source AS source",
    ),
}


@pytest.mark.parametrize(("query", "expected"), SPARK.values(), ids=SPARK)
def test_spark_gets_this(query, expected):
    assert spark_sql.text(query, {"source": "mine_source", "m0": "mine_m0"}) == expected
