"""Every engine lists who contributes what, under the same numbers."""

import hashlib
from collections import defaultdict
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
import spark_words
from engines.postgres_server import in_postgres
from engines.spark_server import ONE_SPARK, in_spark
from hypothesis import Phase, given
from hypothesis import strategies as st
from profiles import examples

from diskret.engines import LeafQuestion, Mark, postgres_sql, spark_sql, sql
from diskret.engines.duckdb import DuckDBEngine
from diskret.hierarchy import Hierarchy
from diskret.io import Source

ENGINES = {"duckdb": DuckDBEngine, "postgres": in_postgres, "spark": in_spark}
EACH = ["duckdb", "postgres", pytest.param("spark", marks=ONE_SPARK)]
NACE = Hierarchy.from_prefix(["A1", "A2", "B1"], (1, 1))
SIZE = Hierarchy.flat(["1", "2"])
# Each example asks another program: a failing one is shown as it was found.
PHASES = (Phase.explicit, Phase.generate)


def listed(engine, columns, by, **question):
    table = pa.table(columns)
    source = Source(tuple(table.column_names), "pyarrow", table)
    with ENGINES[engine](source) as opened:
        leaves = opened.leaves(LeafQuestion(by=by, contributions=True, **question))
    return leaves, leaves.listed


def number(text, what):
    person = what.encode()
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, person=person).digest())


def by_hand(records, has_unit, has_holding):
    """Leaf, unit and holding → records, sum, marked; None for whom nothing identifies."""
    found = defaultdict(lambda: [0, 0, 0])
    for i, r in enumerate(records):
        unit = number(str(r["unit"]), "unit") if has_unit else None
        holding = None
        if has_holding:
            own = unit if has_unit else f"record {i}"
            holding = own if r["group"] is None else number(str(r["group"]), "holding")
        at = found[r["nace"], r["size"], unit, holding]
        at[0] += 1
        at[1] += r["value"]
        at[2] += r["asked"]
    return [
        ((*key[:3], None if isinstance(key[3], str) else key[3]), *sums)
        for key, sums in found.items()
    ]


record = st.fixed_dictionaries(
    {
        "nace": st.sampled_from(["A1", "A2", "B1"]),
        "size": st.sampled_from(["1", "2"]),
        "unit": st.sampled_from([1, 2, 3, 10]),
        "group": st.none() | st.sampled_from([1, 2, 10]),
        "value": st.integers(-5, 5),
        "asked": st.integers(0, 1),
    }
)
contributing = given(
    records=st.lists(record, min_size=1, max_size=14),
    has_unit=st.booleans(),
    has_holding=st.booleans(),
    kind=st.sampled_from(["integer", "text", "decimal", "float"]),
)


def of_kind(values, kind):
    if kind == "text":
        return pa.array([None if v is None else f" {v} " for v in values], pa.string())
    if kind == "decimal":
        decimals = [None if v is None else Decimal(v) for v in values]
        return pa.array(decimals, pa.decimal128(9, 2))
    return pa.array(values, pa.int64() if kind == "integer" else pa.float64())


def check(engine, records, has_unit, has_holding, kind):
    columns = {name: [r[name] for r in records] for name in records[0]}
    columns |= {name: of_kind(columns[name], kind) for name in ("unit", "group")}
    leaves, found = listed(
        engine,
        columns,
        by={"nace": NACE, "size": SIZE},
        values={"value": 0},
        unit="unit" if has_unit else None,
        holding="group" if has_holding else None,
        marks={"request": Mark("asked")},
    )
    if not has_unit and not has_holding:
        assert found is None
        return
    position = leaves.position[found.leaf].tolist()
    known = {number(str(n), what) for n in (1, 2, 3, 10) for what in ("unit", "holding")}
    rows = []
    for i, (a, b) in enumerate(position):
        unit = None if found.unit is None else int(found.unit[i])
        holding = None if found.holding is None else int(found.holding[i])
        holding = holding if holding in known else None
        sums = [int(x[i]) for x in (found.records, found.sums["value"], found.marked["request"])]
        rows.append(((NACE.codes[a], SIZE.codes[b], unit, holding), *sums))
    expected = by_hand(records, has_unit, has_holding)
    assert sorted(rows, key=repr) == sorted(expected, key=repr)
    assert (np.diff(found.leaf) >= 0).all()
    if found.holding is not None:
        nobody = [h for h in found.holding.tolist() if h not in known]
        assert len(set(nobody)) == len(nobody)


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
@examples(20, phases=PHASES)
@contributing
def test_who_contributes_is_listed(engine, records, has_unit, has_holding, kind):
    check(engine, records, has_unit, has_holding, kind)


@ONE_SPARK
@examples(3, phases=PHASES)
@contributing
def test_spark_lists_who_contributes(records, has_unit, has_holding, kind):
    check("spark", records, has_unit, has_holding, kind)


@pytest.mark.parametrize("engine", EACH)
def test_identifiers_of_other_types_have_numbers_too(engine):
    from datetime import date

    texts = {
        "text": (["07", "7 ", "é"], ["07", "7", "é"]),
        "day": ([date(2024, 2, 29)] * 3, ["2024-02-29"] * 3),
        "truth": ([True, False, True], ["true", "false", "true"]),
        "fraction": (pa.array([Decimal("7.50")] * 3, pa.decimal128(5, 2)), ["7.5"] * 3),
    }
    for name, (values, told) in texts.items():
        _, found = listed(engine, {"c": ["1", "2", "3"], "u": values}, by={"c": None}, unit="u")
        assert found.unit.tolist() == [number(t, "unit") for t in told], name


@pytest.mark.parametrize("engine", EACH)
def test_records_of_nobody_keep_their_numbers_whatever_their_order(engine):
    columns = {"c": ["1", "2", "1"], "h": pa.array([None, None, "g"]), "v": [5, 3, 1]}
    turned = {name: list(reversed(list(column))) for name, column in columns.items()}
    turned["h"] = pa.array(["g", None, None])
    question = {"by": {"c": None}, "values": {"v": 0}, "holding": "h"}
    one, other = (listed(engine, each, **question)[1] for each in (columns, turned))
    assert one.holding.tolist() == other.holding.tolist()
    assert one.sums["v"].tolist() == other.sums["v"].tolist()
    revised = listed(engine, columns | {"v": [5, 4, 1]}, **question)[1]
    assert len(set(one.holding.tolist()) & set(revised.holding.tolist())) == 1  # that of "g"
    assert sorted(one.sums["v"].tolist()) == [1, 3, 5]


SHAPE = sql.Shape(("c0",), ("c1",), unit="c2", holding="c3", marks=(("c4", True),))
MARKED = "CASE WHEN g0.raw IS NULL THEN 0 ELSE 1 END AS x0"
RECORDS = (
    "WITH records AS (SELECT m0.leaf AS leaf, c2 AS u, c3 AS h, c1 AS v0, "
    f"{MARKED} FROM source JOIN m0 ON c0 = m0.raw LEFT JOIN g0 ON c4 = g0.raw) "
)


def int64(wide):
    limit = 2**63 - 1
    return f"CASE WHEN {wide} BETWEEN -{limit} AND {limit} THEN CAST({wide} AS BIGINT) END"


def test_engines_get_this():
    assert sql.text(sql.listed(SHAPE), "duckdb") == (
        RECORDS + "SELECT leaf, CAST(u AS TEXT) AS u, CAST(h AS TEXT) AS h, COUNT(*) AS records, "
        f"{int64('SUM(v0)')} AS sum0, CAST(SUM(x0) AS BIGINT) AS marked0 FROM records "
        "GROUP BY leaf, records.u, records.h"
    )
    assert postgres_sql.text(sql.listed(SHAPE), {}) == (
        RECORDS + 'SELECT leaf, CAST(u AS VARCHAR) COLLATE "C" AS u, '
        'CAST(h AS VARCHAR) COLLATE "C" AS h, COUNT(*) AS records, '
        f"{int64('SUM(v0)')} AS sum0, CAST(SUM(x0) AS BIGINT) AS marked0 FROM records "
        "GROUP BY leaf, records.u, records.h"
    )
    assert spark_sql.text(sql.listed(SHAPE), {}) == (
        RECORDS + "SELECT leaf, CAST(u AS STRING) AS u, CAST(h AS STRING) AS h, "
        f"COUNT(*) AS records, {spark_words.int64('v0')} AS sum0, "
        "TRY_SUM(CAST(x0 AS BIGINT)) AS marked0 FROM records "
        "GROUP BY leaf, records.u, records.h"
    )


def test_without_units_named_holdings_and_single_records_are_asked_for():
    shape = sql.Shape(("c0",), ("c1",), holding="c3")
    records = (
        "WITH records AS (SELECT m0.leaf AS leaf, c3 AS h, c1 AS v0 FROM source "
        "JOIN m0 ON c0 = m0.raw) "
    )
    assert sql.text(sql.listed(shape), "duckdb") == (
        records + "SELECT leaf, CAST(h AS TEXT) AS h, COUNT(*) AS records, "
        f"{int64('SUM(v0)')} AS sum0 FROM records WHERE NOT h IS NULL GROUP BY leaf, records.h"
    )
    for dialect in ("duckdb", "postgres", "spark"):
        assert sql.text(sql.listed_records(shape), dialect) == (
            records + "SELECT leaf, 1 AS records, v0 AS sum0 FROM records WHERE h IS NULL"
        )
