"""Every engine finds the combinations of keys, with records and weights as counted by hand."""

from collections import Counter
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
import spark_words
from engines.postgres_server import in_postgres, table_of
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from sqlglot import exp

from diskret.engines import KeyQuestion, postgres_sql, spark_sql, sql
from diskret.engines.columns import Column, key, sampling_weight
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.key_counts import KeyCounts, in_order
from diskret.engines.postgres import PostgresEngine
from diskret.errors import InputError
from diskret.io import Coded, source
from diskret.population import Population

ENGINES = {"duckdb": DuckDBEngine, "postgres": in_postgres, "spark": in_spark}
EACH = ["duckdb", "postgres", pytest.param("spark", marks=ONE_SPARK)]


@pytest.fixture(params=EACH)
def ask(request):
    return lambda *asked, **options: told(ENGINES[request.param], *asked, **options)


def told(engine, columns, keys, weight=None, where=None):
    """Combination, number of records and weight of each row of an answer."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    with engine(source(table)) as opened:
        return rows(opened.frequencies(KeyQuestion(tuple(keys), weight, Population.of(where))))


def rows(counts):
    values = zip(*[key.column().to_pylist() for key in counts.keys], strict=True)
    weight = [None] * len(counts) if counts.weight is None else counts.weight.tolist()
    return list(zip(values, counts.records.tolist(), weight, strict=True))


# ── counted by hand ─────────────────────────────────────────────────────────────────

record = st.fixed_dictionaries(
    {
        "Region ": st.sampled_from([None, "", "a", " a", "Z", "é", "'\"", "NULL"]),
        "select": st.sampled_from([None, -5, 0, 3, 2**40]),
        "age": st.sampled_from([None, float("nan"), -0.0, 1.0, 80.0]),
        "w": st.integers(1, 10**12).map(lambda i: Decimal(i).scaleb(-9)),
    }
)
counting = given(
    records=st.lists(record, min_size=1, max_size=14),
    keys=st.permutations(["Region ", "select", "age"]).flatmap(
        lambda names: st.integers(1, 3).map(lambda m: names[:m])
    ),
    kind=st.sampled_from([None, "text", "decimal", "float"]),
)


def check_by_hand(engine, records, keys, kind):
    told_as = {"text": lambda w: f" {w:f} ", "decimal": lambda w: w, "float": float}
    table = pa.table(
        {
            "Region ": pa.array([r["Region "] for r in records], pa.string()),
            "select": pa.array([r["select"] for r in records], pa.int64()),
            "age": pa.array([r["age"] for r in records], pa.float64()),
            "w": [told_as[kind or "float"](r["w"]) for r in records],
        }
    )
    number, weight = Counter(), Counter()
    for r in records:
        shown = tuple(None if r[name] != r[name] else r[name] for name in keys)
        number[shown] += 1
        weight[shown] += int(r["w"].scaleb(9))
    ordered = sorted(number, key=lambda shown: [(v is not None, v) for v in shown])
    assert told(engine, table, keys, "w" if kind else None) == [
        (shown, number[shown], weight[shown] if kind else None) for shown in ordered
    ]


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@examples(60)
@counting
def test_agrees_with_counting_by_hand(engine, records, keys, kind):
    check_by_hand(ENGINES[engine], records, keys, kind)


@ONE_SPARK
@examples(8)
@counting
def test_spark_agrees_with_counting_by_hand(records, keys, kind):
    check_by_hand(in_spark, records, keys, kind)


# ── what keys and weights may be ────────────────────────────────────────────────────


def test_dates_and_logical_values_are_told_as_text():
    columns = {
        "born": pa.array([date(1999, 12, 31), None, date(1999, 12, 31)]),
        "alive": pa.array([True, False, True]),
    }
    expected = [((None, "false"), 1, None), (("1999-12-31", "true"), 2, None)]
    assert told(DuckDBEngine, columns, ["born", "alive"]) == expected
    table = table_of(pa.table(columns), {"born": "DATE", "alive": "BOOLEAN"})
    with PostgresEngine(source(table)) as engine:
        assert rows(engine.frequencies(KeyQuestion(("born", "alive")))) == expected


@ONE_SPARK
def test_spark_tells_dates_and_logical_values_as_text():
    columns = {"born": [date(1999, 12, 31)] * 2, "alive": [True, None]}
    assert told(in_spark, columns, ["born", "alive"]) == [
        (("1999-12-31", None), 1, None),
        (("1999-12-31", "true"), 1, None),
    ]


def test_numbers_with_decimals_are_no_categories(ask):
    wrong = {"age": [1.5, 2.0, float("nan"), None, -0.25]}
    with pytest.raises(InputError, match=r"2 records: numbers with decimals.*'age' \('-0.25', '1."):
        ask(wrong, ["age"])
    with pytest.raises(InputError, match=r"1 record: numbers with decimals.*'age'"):
        ask({"age": [Decimal("1.00"), Decimal("1.01")]}, ["age"])
    whole = {"age": [Decimal("10.00"), Decimal("9.00"), None]}
    assert ask(whole, ["age"]) == [((None,), 1, None), ((9,), 1, None), ((10,), 1, None)]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 0.0, -2.0], "2 records: weights that are no numbers above 0"),
        ([1.0, float("nan"), float("inf")], "2 records: weights that are no numbers"),
        (["1", "1_000", "1,5"], "2 records: weights that are no numbers"),
        ([5, 0, 7], r"1 record: weights that are no numbers above 0 in column 'w' \('0'\)"),
        ([1.0, None, 2.0], "1 record: nothing in column 'w'"),
    ],
)
def test_weights_that_stand_for_nobody_are_refused(ask, weights, message):
    with pytest.raises(InputError, match=message):
        ask({"a": ["x", "y", "z"], "w": weights}, ["a"], "w")


def test_weights_with_more_than_nine_decimals_are_rounded(ask):
    third = {"a": ["x"] * 3, "w": [1 / 3, 2 / 3, 1e-9]}
    assert ask(third, ["a"], "w") == [(("x",), 3, 333333333 + 666666667 + 1)]
    texts = {"a": ["x"] * 2, "w": ["98.76543212345678", "1e-9"]}
    assert ask(texts, ["a"], "w") == [(("x",), 2, 98765432123 + 1)]


def test_sums_of_weights_beyond_64_bits_are_refused(ask):
    large = {"a": ["x", "x", "y"], "w": [9e9, 9e9, 9e9]}
    with pytest.raises(InputError, match=r"1 combination of keys add up to more than 9,223,372"):
        ask(large, ["a"], "w")


def test_a_filter_leaves_other_records_out_whatever_they_hold(ask):
    columns = {"a": ["x", "x", "y"], "w": [2.5, 0.5, -1.0], "year": [24, 25, 23]}
    assert ask(columns, ["a"], "w", {"year": {"min": 24}}) == [(("x",), 2, 3 * 10**9)]
    assert ask(columns, ["a"], "w", {"year": 25}) == [(("x",), 1, 5 * 10**8)]
    with pytest.raises(InputError, match="no record satisfies where=: year = 24, year2 ≤ 0"):
        ask(columns | {"year2": [1] * 3}, ["a"], None, {"year": 24, "year2": {"max": 0}})


def test_unusable_columns_are_named(ask):
    with pytest.raises(InputError, match="there is no column 'regoin'.*did you mean 'region'"):
        ask({"region": ["x"]}, ["regoin"])


def test_a_list_is_no_category():
    with pytest.raises(InputError, match=r"'a' has the type INTEGER\[\]|BIGINT\[\].*no categories"):
        told(DuckDBEngine, {"a": [[1], [2]]}, ["a"])


def test_no_records_have_no_combinations(ask):
    none = {"a": pa.array([], pa.string()), "w": pa.array([], pa.float64())}
    assert ask(none, ["a"], "w") == []


# ── in order ────────────────────────────────────────────────────────────────────────


@st.composite
def coded_keys(draw):
    """Up to 24 keys: with a dozen categories each, 64 bits do not hold all combinations."""
    m, c = draw(st.integers(1, 24)), draw(st.integers(1, 12))
    size = draw(st.sampled_from([1, 3, 1000]))
    code = st.integers(-1, size - 1)
    return size, draw(st.lists(st.tuples(*[code] * m), min_size=c, max_size=c, unique=True))


@examples(80)
@given(coded_keys(), st.randoms(use_true_random=False))
def test_combinations_are_found_again_however_many_are_possible(keys, random):
    size, combinations = keys
    m = len(combinations[0])

    def column(i, listed):
        return [None if codes[i] < 0 else codes[i] for codes in listed]

    told = {f"g{i}": pa.array(column(i, combinations), pa.int64()) for i in range(m)}
    found = pa.table(told | {"records": [1] * len(combinations)}).to_reader(5)
    counts = in_order([str(i) for i in range(m)], found, weighted=False)
    ordered = sorted(combinations)
    assert list(zip(*[k.column().to_pylist() for k in counts.keys], strict=True)) == [
        tuple(None if code < 0 else code for code in codes) for codes in ordered
    ]
    asked = [random.choice(combinations) for _ in range(20)]
    at = counts.rows([pa.array(column(i, asked), pa.int64()) for i in range(m)])
    assert [ordered[row] for row in at] == asked
    strange = [(*asked[0][:-1], size)]
    with pytest.raises(InputError, match="1 record has keys that were not there"):
        counts.rows([pa.array(column(i, strange), pa.int64()) for i in range(m)])


def test_an_unknown_beginning_is_not_taken_for_a_known_one():
    """Where numbers are replaced by ranks, what was never counted must not get one."""
    many = pa.array([str(i) for i in range(10**5)])
    codes = np.array([3, 7], np.int32)
    counts = KeyCounts(tuple(Coded(str(i), many, codes) for i in range(6)), np.array([1, 1]), None)
    assert counts.rows([pa.array(["7", "3"])] * 6).tolist() == [1, 0]
    for odd in range(6):
        values = [pa.array(["1" if i == odd else "3"]) for i in range(6)]
        with pytest.raises(InputError, match="1 record has keys"):
            counts.rows(values)


# ── as it is written ────────────────────────────────────────────────────────────────

COLUMNS = [
    Column("region", "c0", "text", "VARCHAR"),
    Column("age", "c1", "float", "DOUBLE"),
    Column("born", "c2", "other", "DATE"),
]
WEIGHT = sampling_weight(Column("w", "c3", "text", "VARCHAR"), 9).expression
STATEMENT = sql.key_counts([key(c).expression for c in COLUMNS], WEIGHT, "c4 >= 10")
LIMIT = 2**63 - 1
TOTAL = f"CASE WHEN SUM(w) BETWEEN -{LIMIT} AND {LIMIT} THEN CAST(SUM(w) AS BIGINT) END"
DUCKDB = (
    f"SELECT g0, g1, g2, COUNT(*) AS records, {TOTAL} AS weight "
    "FROM (SELECT c0 AS g0, "
    "CASE WHEN ABS(c1) <= 9007199254740992 THEN CAST(c1 AS BIGINT) END AS g1, "
    "CAST(c2 AS TEXT) AS g2, CAST(FLOOR((CAST(1000000000 AS DOUBLE) * "
    "CAST(TRY_CAST(TRIM(c3) AS DECIMAL(38, 18)) AS DOUBLE)) + 0.5) AS BIGINT) AS w "
    "FROM source WHERE c4 >= 10) AS records GROUP BY g0, g1, g2"
)


TEXT = "TRY_CAST(TRIM(c3) AS DECIMAL(38, 18))"
ONE = {"source": exp.select("1 AS c0")}
NUMBER = r"'^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'"
POSTGRES = (
    DUCKDB.replace("CAST(c2 AS TEXT)", 'CAST(c2 AS VARCHAR) COLLATE "C"')
    .replace("AS DOUBLE)", "AS DOUBLE PRECISION)")
    .replace(
        TEXT,
        f"CASE WHEN TRIM(c3) ~ {NUMBER} THEN CASE WHEN ABS(CAST(TRIM(c3) AS DECIMAL)) "
        "< 100000000000000000000 THEN CAST(TRIM(c3) AS DECIMAL(38, 18)) END END",
    )
)
TRIMMED = f"TRIM('{spark_sql.BLANKS}' FROM c3)"
SPARK = (
    DUCKDB.replace(TOTAL, spark_words.int64("w"))
    .replace("AS TEXT)", "AS STRING)")
    .replace(
        TEXT, f"CASE WHEN {TRIMMED} RLIKE {NUMBER.replace(chr(92) + '.', '[.]')} THEN {TEXT} END"
    )
    .replace("TRIM(c3)", TRIMMED)
    .replace("FROM source", "FROM diskret_1 AS source")
)


def test_the_statement_is_this():
    assert sql.text(STATEMENT, "duckdb") == DUCKDB
    assert postgres_sql.text(STATEMENT, ONE) == f"WITH source AS (SELECT 1 AS c0) {POSTGRES}"
    assert spark_sql.text(STATEMENT, {"source": "diskret_1"}) == SPARK
