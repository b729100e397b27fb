"""Spark as an engine: what it reads, what it leaves behind, what it refuses."""

import subprocess
import sys
import uuid
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counted_by_hand import plain
from engines.spark_server import INTERPRETED, ONE_SPARK, frame_of, in_spark, session
from pyarrow import csv

import diskret as dk
from diskret.engines import LeafQuestion, one_pass, spark
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError
from diskret.io import PostgresTable, Source, source, to_arrow
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

pytestmark = ONE_SPARK

FIRMS = pa.table(
    {
        "Region": ["01", "01", "1", "1", "Köln ", " 01"],
        "firm": ["1", "2", "2", "3", "4", "5"],
        "turnover": ["10.5", "20", "-5", "7", "1", "3"],
    }
)
QUESTION = {"by": {"Region": None}, "value": "turnover", "unit": "firm", "decimals": 1}


@contextmanager
def setting(name, value):
    """Set an option of the session for a while."""
    before = session().conf.get(name)
    session().conf.set(name, value)
    try:
        yield
    finally:
        session().conf.set(name, before)


def asked(engine, table, **question):
    with engine(Source(tuple(table.column_names), "pyarrow", table)) as opened:
        return plain(opened.leaves(LeafQuestion(**question)))


def refusal(column, **question):
    table = pa.table({"a": ["x"] * len(column), "v": column})
    with pytest.raises(InputError) as error:
        asked(in_spark, table, by={"a": None}, **question)
    return str(error.value)


def test_a_frame_is_tabulated_in_its_session_and_cells_are_a_frame_again():
    frame = frame_of(FIRMS).cache()
    cells = dk.tabulate(frame, **QUESTION).cells
    assert cells.sparkSession is frame.sparkSession
    assert cells.toArrow().equals(dk.tabulate(FIRMS, **QUESTION).cells)
    assert session().catalog.listTables() == []
    assert frame.is_cached and frame.storageLevel.useMemory
    assert to_arrow(frame)[0].equals(FIRMS)
    frame.unpersist()


def test_a_result_is_a_frame_too():
    result = dk.suppress(dk.tabulate(frame_of(FIRMS), **QUESTION), dk.rules.PPercent(10))
    assert result.public.count() == 4
    assert result.public.columns == ["Region", "turnover", "status"]


def jobs(ask):
    """How many jobs Spark runs for something, with adaptive execution, where each stage is one."""
    context, group = session().sparkContext, uuid.uuid4().hex
    context.setJobGroup(group, group)
    try:
        with setting("spark.sql.adaptive.enabled", "true"):
            ask()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    return len(context.statusTracker().getJobIdsForGroup(group))


MANY = pa.table(
    {
        **{name: [f"{i % n}" for i in range(60)] for name, n in {"a": 5, "b": 3, "c": 2}.items()},
        "firm": [i // 2 for i in range(60)],
        "group": [None if i % 3 else i // 6 for i in range(60)],
        "turnover": list(range(60)),
        "asked": [i % 7 == 0 for i in range(60)],
    }
)
JOBS = {
    "records": ({}, 5),
    "units": ({"unit": "firm", "contributions": False}, 6),
    "units, listed": ({"unit": "firm"}, 9),
    "units with marks": ({"unit": "firm", "contributions": False, "request": "asked"}, 7),
    "holdings": ({"unit": "firm", "holding": "group", "contributions": False}, 14),
}


@pytest.mark.parametrize(("question", "most"), JOBS.values(), ids=JOBS)
def test_a_table_takes_few_jobs_whatever_its_number_of_dimensions(question, most):
    frame = frame_of(MANY)
    by = {"a": None, "b": None, "c": None}
    tables = []
    number = jobs(lambda: tables.append(dk.tabulate(frame, by=by, value="turnover", **question)))
    assert 1 < number <= most
    assert (
        tables[0]
        .cells.toArrow()
        .equals(dk.tabulate(MANY, by=by, value="turnover", **question).cells)
    )


def test_columns_with_very_many_combinations_are_asked_one_by_one(monkeypatch):
    monkeypatch.setattr(one_pass, "MOST_COMBINATIONS", 29)
    question = {"by": {"a": None, "b": None, "c": None}, "values": {"turnover": 0}, "unit": "firm"}
    assert asked(in_spark, MANY, **question) == asked(DuckDBEngine, MANY, **question)


def test_any_names():
    names = ["a.b", "A.B", 'select "x`', "c0"]
    table = pa.table([["1", "2"], ["3", "3"], [4, 5], [1, 1]], names=names)
    question = {"by": {"a.b": None, "A.B": None}, "values": {'select "x`': 0}, "unit": "c0"}
    opened = source(frame_of(table))
    assert opened.columns == tuple(names)
    with SparkEngine(opened) as engine:
        found = plain(engine.leaves(LeafQuestion(**question)))
    assert found == asked(DuckDBEngine, table, **question)
    assert found["leaf"] == [("1", "3"), ("2", "3")]


def test_codes_of_all_types_become_text_whatever_the_zone():
    noon = datetime(2025, 10, 26, 0, 30, 0, 500_000, tzinfo=UTC)
    table = pa.table(
        {
            "day": [date(2025, 3, 31)],
            "truth": [True],
            "decimal": [Decimal("12.50")],
            "small": pa.array([7], pa.uint8()),
            "there": pa.array([noon], pa.timestamp("us", "UTC")),
            "here": pa.array([noon.replace(tzinfo=None)], pa.timestamp("us")),
            "text": ['\\it\'s "a"\n{1,2} $1 % Köln'],
        }
    )
    question = {"by": dict.fromkeys(table.column_names)}
    with setting("spark.sql.session.timeZone", "Europe/Berlin"):  # where this hour comes twice
        found = asked(in_spark, table, **question)
    assert found["leaf"] == [
        (
            *("2025-03-31", "true", "12.50", "7"),
            *("2025-10-26 00:30:00.5+00", "2025-10-26 00:30:00.5"),
            table["text"][0].as_py(),
        )
    ]
    assert found == asked(DuckDBEngine, table, **question)


@pytest.mark.parametrize(
    "options",
    [
        {"spark.sql.ansi.enabled": "false"},
        {"spark.sql.parser.escapedStringLiterals": "true"},
        dict.fromkeys(INTERPRETED, "true") | {"spark.sql.codegen.factoryMode": "FALLBACK"},
    ],
    ids=["not ansi", "escaped", "compiled"],
)
def test_no_setting_of_the_session_matters(options):
    table = pa.table(
        {
            "code": ["01", "01", "1", "1", "2"],
            "unit": [" a", "b", "b ", None, "a"],
            "exact": [
                Decimal("0.000000000000000001"),
                Decimal(4),
                Decimal(-4),
                Decimal(1),
                Decimal(2),
            ],
            "large": [2**62, 2**62 - 1, -(2**62), 1 - 2**62, 5],
            "text": ["1e2", " -.5", "+7.25", "3.", "0"],
            "float": [0.1, 1234567.89, -2.5, 1e12, 3.0],
            "key": ["1", "2", "2", "3", "1"],
        }
    )
    question = {
        "by": {"code": None},
        "values": {"exact": 18, "large": 0, "text": 2, "float": 2},
        "holding": "unit",
        "record_key": "key",
        "largest": 2,
    }
    with ExitStack() as stack:
        for name, value in options.items():
            stack.enter_context(setting(name, value))
        found = asked(in_spark, table, **question)
    assert found == asked(DuckDBEngine, table, **question)
    sums: Any = found["sums"]
    assert sums["exact"] == [4 * 10**18 + 1, -3 * 10**18, 2 * 10**18]
    assert sums["large"] == [2**63 - 1, -(2**63) + 1, 5]


def test_text_compares_by_code_points_whatever_its_collation():
    frame = frame_of(FIRMS).selectExpr(
        "COLLATE(CASE WHEN firm = '1' THEN 'a' ELSE 'A' END, 'UTF8_LCASE') AS code", "firm"
    )
    with SparkEngine(source(frame)) as engine:
        found = plain(engine.leaves(LeafQuestion(by={"code": None}, unit="firm")))
    assert found["leaf"] == [("A",), ("a",)]
    assert found["count"] == [5, 1]


def test_blanks_of_any_width_are_padding():
    blanks = "\u00a0\u2003\u3000 "
    table = pa.table({"c": ["1", "2"], "u": ["x", f"{blanks}x{blanks}"], "v": ["1", f"2{blanks}"]})
    question = {"by": {"c": None}, "values": {"v": 0}, "unit": "u"}
    found = asked(in_spark, table, **question)
    assert found["units"] == [0, 0]
    assert found == asked(DuckDBEngine, table, **question)


VALUES = {
    "a comma": (["1,5", "2"], "1 record: texts that are no numbers", "'1,5'"),
    "underscores": (["1_000"], "1 record: texts that are no numbers", "'1_000'"),
    "text NaN": (["NaN", "inf"], "2 records: texts that are no numbers", "'NaN', 'inf'"),
    "other digits": (["١٢", "1d"], "2 records: texts that are no numbers", "'1d', '١٢'"),
    "endless": (["9" * 30, "1e999999"], "2 records: texts that are no", "'1e999999'"),
    "text decimals": (["0.125", "1"], "1 record: values that are not finite", "'0.125'"),
    "decimals": ([Decimal("0.125"), Decimal(1)], "1 record: values that are not", "'0.125'"),
    "tiny": ([Decimal("1E-18"), Decimal(1)], "1 record: values that are not", "0001'"),
    "floats": ([float("nan"), 1.001, 1e300], "3 records: values that are not", "'1.001'"),
    "large": ([2**62, 1], "1 record: values that are not", str(2**62)),
    "truth": ([True], "column 'v' holds no numbers", "boolean"),
    "lists": ([[1]], "column 'v' has the type array<bigint>", "gives no numbers"),
}


@pytest.mark.parametrize(("column", "problem", "example"), VALUES.values(), ids=VALUES)
def test_values_that_are_not_exact(column, problem, example):
    told = refusal(column, values={"v": 2})
    assert problem in told
    assert example in told


JOB = """\
[records]
path = "firms.{suffix}"
{engine}
[[tables]]
by = {{ Region = "flat" }}
value = "turnover"
unit = "firm"
decimals = 1
rules = {{ p_percent = {{ p = 1 }} }}
[[tables]]
by = {{ Region = "flat" }}
rules = {{ minimum_frequency = {{ n = 2 }} }}
[output]
folder = "{folder}"
"""


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_job_moves_to_spark_by_one_line(tmp_path, suffix):
    csv.write_csv(FIRMS, tmp_path / "firms.csv")
    pq.write_table(FIRMS, tmp_path / "firms.parquet")
    for folder, engine in {"here": "", "there": 'engine = "spark"'}.items():
        text = JOB.format(suffix=suffix, engine=engine, folder=folder)
        (tmp_path / f"{folder}.toml").write_text(text, encoding="utf-8")
        run_job(read_job(tmp_path / f"{folder}.toml"))
    for name in ("turnover.csv", "count.csv"):
        here, there = (tmp_path / folder / "public" / name for folder in ("here", "there"))
        assert here.read_bytes() == there.read_bytes()
    assert session().catalog.listTables() == []


def test_a_folder_that_spark_wrote_is_read_by_the_same_job_here_and_there(tmp_path):
    frame_of(FIRMS).repartition(2).write.parquet(str(tmp_path / "firms.parquet"))
    assert len(list((tmp_path / "firms.parquet").glob("part-*.parquet"))) == 2
    for folder, engine in {"here": "", "there": 'engine = "spark"'}.items():
        text = JOB.format(suffix="parquet", engine=engine, folder=folder)
        (tmp_path / f"{folder}.toml").write_text(text, encoding="utf-8")
        run_job(read_job(tmp_path / f"{folder}.toml"))
    for name in ("turnover.csv", "count.csv"):
        here, there = (tmp_path / folder / "public" / name for folder in ("here", "there"))
        assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("large", [False, True], ids=["known types", "types that Spark reads"])
def test_files_take_no_more_jobs_than_frames(tmp_path, large):
    session()
    number = pa.uint32() if large else pa.int32()
    written = MANY.set_column(5, "turnover", pa.array(range(60), number))
    pq.write_table(written.drop_columns("group"), tmp_path / "a.parquet")
    question = {"by": {"a": None, "b": None}, "value": "turnover", "unit": "firm"}
    question |= {"contributions": False}
    tables = []
    number = jobs(lambda: tables.append(dk.tabulate(tmp_path, **question, engine=SparkEngine)))
    assert number <= 6 + large
    assert tables[0].cells.equals(dk.tabulate(MANY, **question).cells)


def test_csv_files_are_read_as_everywhere(tmp_path):
    path = tmp_path / "a b [1].csv"
    path.write_bytes(
        '\ufeffcode;"v;w"\r\n01;1\r\n"two ""2""\nlines";-2\r\n 01 ;"3"\r\n#;4\r\n'.encode()
    )
    question = {"by": {"code": None}, "value": "v;w"}
    session()
    here, there = (dk.tabulate(path, **question, engine=e) for e in (DuckDBEngine, SparkEngine))
    assert there.cells.equals(here.cells)
    assert 'two "2"\nlines' in there.cells["code"].to_pylist()
    path.write_text("code;v\n1;2\n1;2;3\n", encoding="utf-8")
    with pytest.raises(InputError, match="the records cannot be read by Spark: "):
        dk.tabulate(path, by={"code": None}, engine=SparkEngine)


def test_a_closed_engine_and_other_records_are_refused():
    engine = in_spark(Source(("a",), "pyarrow", pa.table({"a": ["x"]})))
    question = LeafQuestion(by={"a": None})
    assert plain(engine.leaves(question)) == plain(engine.leaves(question))
    engine.close()
    with pytest.raises(InputError, match="the engine is closed"):
        engine.leaves(question)
    with pytest.raises(InputError, match="Spark does not read PostgresTable"):
        SparkEngine(source(PostgresTable("postgresql://h/d", "firms")))
    with pytest.raises(InputError, match="DuckDB does not read Spark frames"):
        DuckDBEngine(source(frame_of(FIRMS)))


def test_a_refused_question_leaves_nothing_behind():
    with pytest.raises(InputError, match="1 record: texts that are no numbers"):
        dk.tabulate(frame_of(pa.table({"a": ["1"], "v": ["x"]})), by={"a": None}, value="v")
    assert session().catalog.listTables() == []
    assert session().sparkContext._jsc.getPersistentRDDs().size() == 0


def test_only_a_session_started_here_is_stopped(monkeypatch):
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    stopped = []
    monkeypatch.setattr(SparkSession, "stop", lambda self: stopped.append(self))
    running = session()
    records = Source(("a",), "pyarrow", pa.table({"a": ["x"]}))
    SparkEngine(records).close()
    assert stopped == []

    def none_active():
        raise PySparkRuntimeError("there is none")

    monkeypatch.setattr(SparkSession, "active", none_active)
    SparkEngine(records).close()
    assert stopped == [running]


def test_spark_that_cannot_start_says_why(monkeypatch):
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    def refuse(*_):
        raise PySparkRuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")

    monkeypatch.setattr(SparkSession, "active", refuse)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", refuse)
    with pytest.raises(InputError, match=r"cannot be started: \[JAVA_GATEWAY_EXITED\].* Java 17"):
        spark.session()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"pip install 'diskret\[spark\]'"):
        spark.session()


def test_spark_is_imported_only_when_it_is_asked():
    code = "import sys, diskret; diskret.tabulate; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
