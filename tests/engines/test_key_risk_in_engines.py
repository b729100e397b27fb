"""Risk of records in a database or in Spark is that of the same records in memory."""

from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import table_of
from engines.spark_server import ONE_SPARK, frame_of, session

import diskret as dk
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError

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
ASKED = {"keys": ["region", "job", "born"], "weight": "w", "where": {"w": {"min": 2}}}


def figures(found):
    listed = found.combinations if isinstance(found.combinations, pa.Table) else None
    return {
        "n": found.n,
        "k": found.k,
        "uniques": found.sample_uniques,
        "below 3": found.below(3),
        "expected": found.expected,
        "global": found.global_risk,
        "largest": found.largest,
        "listed": listed and listed.to_pydict(),
    }


def test_in_a_database():
    types = {"born": "DATE", "job": "SMALLINT", "w": "REAL"}
    found = dk.key_risk(table_of(PERSONS, types), **ASKED)
    assert figures(found) == figures(dk.key_risk(PERSONS, **ASKED))
    assert found.combinations_below(2)["region"].to_pylist() == ["S"]
    with pytest.raises(InputError, match="records in postgres are not copied into a file"):
        found.write_records("never.parquet")


@ONE_SPARK
def test_in_spark():
    found = dk.key_risk(frame_of(PERSONS), **ASKED)
    here = dk.key_risk(PERSONS, **ASKED)
    assert figures(found) == figures(here) | {"listed": None}
    assert found.combinations.toArrow().to_pydict() == here.combinations.to_pydict()
    with pytest.raises(InputError, match="records in spark are not copied into a file"):
        found.write_records("never.parquet")


@ONE_SPARK
def test_in_files_that_spark_reads(tmp_path):
    session()
    pq.write_table(PERSONS, tmp_path / "persons.parquet")
    found = dk.key_risk(tmp_path / "persons.parquet", **ASKED, engine=SparkEngine)
    assert figures(found) == figures(dk.key_risk(PERSONS, **ASKED))
