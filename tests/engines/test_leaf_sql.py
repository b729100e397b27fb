"""The queries, as DuckDB gets them; and as trees that other engines can follow."""

import pytest

from diskret.engines import sql

SHAPE = sql.Shape(
    codes=("c0", "CAST(c1 AS VARCHAR)"),
    measures=("CAST(c2 AS BIGINT) * 100",),
    unit="NULLIF(TRIM(c3), '')",
    holding="c4",
    key="CAST(c5 AS BIGINT) * 1",
    modulus=2**32,
)
UNITS = sql.Part("u", keyed=True)
HOLDINGS = sql.Part("h", "NOT h IS NULL", largest=2)

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


@pytest.mark.parametrize(("query", "expected"), SNAPSHOTS.values(), ids=SNAPSHOTS)
def test_duckdb_gets_this(query, expected):
    assert sql.text(query, "duckdb") == expected


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_all_but_the_largest_can_be_said_in_other_dialects(dialect):
    for part in (UNITS, sql.Part(None, keyed=True), sql.Part("h", "NOT h IS NULL")):
        assert "low = high" in sql.text(sql.stayers(SHAPE, part), dialect)
    straddlers = sql.text(sql.straddlers(SHAPE, UNITS, "kept"), dialect)
    assert ("EXPLODE(straddlers)" in straddlers) == (dialect == "spark")
