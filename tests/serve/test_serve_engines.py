"""The same answers wherever records lie, and engines that are stopped in time."""

import http.client
import json
import threading
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import administrator, table_of
from engines.spark_server import ONE_SPARK, in_spark
from over_http import listening, send
from serving import CODES, KEYS, by_hand, census, people

import diskret as dk
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.postgres import PostgresEngine
from diskret.engines.spark import SparkEngine
from diskret.errors import InputError
from diskret.io import source
from diskret.serve import Tabulator
from diskret.serve.engines import TooLong, Until
from diskret.serve.journal import Journal
from diskret.serve.noise import counted
from diskret.serve.question import Family

PEOPLE = people(900)
FAMILY = Family("census", ("sex",), ())
SPARK = pytest.param("spark", marks=ONE_SPARK)
QUESTIONS = (
    ([], {}),
    (["sex", "re"], {}),
    (["age"], {"region": ["01"], "sex": ["m"]}),
    (["region"], {"age": ["1", "2", "5"], "re": ["';--", 'a"b']}),
)


def own(kind, folder, **more):
    return replace(census(PEOPLE, **more), records=records(kind, folder))


def records(kind, folder):
    table = pa.table(PEOPLE)
    if kind == "postgres":
        return table_of(table)
    if kind == "parquet":
        pq.write_table(table, folder / "p.parquet")
        return folder / "p.parquet"
    if kind == "csv":
        csv.write_csv(table, folder / "p.csv")
        return folder / "p.csv"
    return table


@pytest.mark.parametrize("kind", ["memory", "parquet", "csv", "postgres", SPARK])
def test_the_same_answers_wherever_records_lie(kind, tmp_path):
    data = own(kind, tmp_path)
    tables = Tabulator([data], KEYS, engine=in_spark if kind == "spark" else None)
    tables.check()
    for by, where in QUESTIONS:
        answer = tables.answer({"data": "census", "by": by, "where": where}, who="anne")
        for row in answer.cells().to_pylist():
            cell = {**where, **{name: [row[name]] for name in by}}
            assert row["count"] == by_hand(PEOPLE, data, cell), (by, where, row)


@ONE_SPARK
def test_a_data_set_says_that_spark_computes_it(tmp_path):
    data = own("parquet", tmp_path, engine="spark")
    answer = Tabulator([data], KEYS).answer({"data": "census", "by": ["sex"]}, who="anne")
    assert answer.value.tolist() == [by_hand(PEOPLE, data, {"sex": [s]}) for s in CODES["sex"]]


class EndlessDuckDB(DuckDBEngine):
    """Does not come to an end with any question."""

    def leaves(self, question) -> Any:
        with self._asked() as found:
            query = "SELECT sum(a.range * b.range) FROM range(3000000) a, range(30000000) b"
            return found.connection.execute(query).fetchall()


class EndlessPostgres(PostgresEngine):
    """Likewise."""

    def leaves(self, question) -> Any:
        with self._asked():
            return self._connection.ask("SELECT pg_sleep(600)")


class EndlessSpark(SparkEngine):
    """Likewise."""

    def leaves(self, question) -> Any:
        with self._asked():
            query = "SELECT sum(a.id * b.id) FROM range(10000000) a CROSS JOIN range(10000000) b"
            return self._views.session.sql(query).collect()


ENDLESS = pytest.mark.parametrize(
    ("kind", "endless"),
    [
        ("memory", EndlessDuckDB),
        ("csv", EndlessDuckDB),
        ("postgres", EndlessPostgres),
        pytest.param("spark", EndlessSpark, marks=ONE_SPARK),
    ],
)
ASKED = {"data": "census", "by": ["sex"]}


def right(data):
    return [by_hand(PEOPLE, data, {"sex": [code]}) for code in CODES["sex"]]


@ENDLESS
def test_what_takes_too_long_is_stopped_and_counted(kind, endless, tmp_path):
    data = own(kind, tmp_path)
    usual = {"spark": in_spark, "postgres": PostgresEngine}.get(kind, DuckDBEngine)
    runs = [endless, usual]
    tables = Tabulator([data], KEYS, seconds=0.3, engine=lambda one: runs.pop(0)(one))
    with pytest.raises(TooLong, match=r"0\.3 seconds.*costs nothing"):
        tables.answer(ASKED, who="anne")
    assert tables.allowance.left("anne", data) == 99
    # asked for again it costs nothing more, and is answered by a new engine
    tables._seconds = None
    assert tables.answer(ASKED, who="anne").value.tolist() == right(data)
    assert tables.allowance.left("anne", data) == 99


@ENDLESS
def test_what_nobody_waits_for_is_stopped(kind, endless, tmp_path):
    if kind == "spark":
        in_spark(source(pa.table(PEOPLE))).close()  # the session of all tests
    gone, began = threading.Event(), threading.Event()

    def run(opened):
        began.set()
        return endless(opened)

    tables = Tabulator([own(kind, tmp_path)], KEYS, engine=run)
    threading.Thread(target=lambda: (began.wait(), gone.set())).start()
    with pytest.raises(TooLong, match="nobody waits"):
        tables.answer(ASKED, who="anne", gone=gone.is_set)


def test_who_waits_for_others_waits_no_longer_than_that():
    tables = Tabulator([census(PEOPLE)], KEYS, seconds=0.3)
    with tables._engines["census"].turn(Until()), pytest.raises(TooLong):
        tables.answer(ASKED, who="anne")
    assert tables.answer(ASKED, who="anne").value.shape == (2,)


def test_the_journal_says_what_was_stopped(tmp_path):
    dk.Ledger.create(tmp_path / "service.db", keys=KEYS)
    journal = Journal(tmp_path / "service.db", KEYS)
    tables = Tabulator([census(PEOPLE)], KEYS, journal=journal, seconds=0.2, engine=EndlessDuckDB)
    with pytest.raises(TooLong):
        tables.answer(ASKED, who="anne")
    journal.flush()
    asked, stopped = journal.entries()
    assert (asked.happened, stopped.happened, stopped.who) == ("asked", "refused", "anne")
    assert "longer than 0.2 seconds" in stopped.why


def test_an_engine_stays_open_and_is_opened_again_when_it_was_lost(tmp_path):
    data, opened = own("postgres", tmp_path), []

    def run(one):
        opened.append(PostgresEngine(one))
        return opened[-1]

    tables = Tabulator([data], KEYS, engine=run)
    tables.check()
    assert tables.answer(ASKED, who="anne").value.tolist() == right(data)
    assert len(opened) == 1
    process = opened[0]._connection.ask("SELECT pg_backend_pid()").rows[0][0]
    with administrator() as connection:  # as when the server is restarted
        connection.run("SELECT pg_terminate_backend(:own)", own=process)
    assert tables.answer({"data": "census", "by": ["re"]}, who="anne").value.shape == (3,)
    assert len(opened) == 2
    tables.close()
    with pytest.raises(InputError, match="closed"):
        counted(FAMILY, data, opened[1])
    assert tables.answer({"data": "census", "by": []}, who="anne").value.shape == ()
    tables.close()


def test_a_stop_is_tried_until_it_is_heard():
    """A question is several statements, and between two of them nothing is there to stop."""
    stops, heard = [], threading.Event()

    def stop():
        stops.append(1)
        if len(stops) == 1:
            raise OSError("the server hung up")
        if len(stops) > 2:
            heard.set()

    with pytest.raises(TooLong), Until(0.01).stopping(stop):
        assert heard.wait(10)
        raise InputError("stopped")
    with Until(0.01).stopping(stop) as stopped:  # it was done nevertheless
        assert stopped.wait(10)
    with pytest.raises(InputError, match="its own"), Until(10).stopping(stop):
        raise InputError("its own")


@pytest.mark.parametrize(
    ("kind", "run"),
    [
        ("memory", DuckDBEngine),
        ("postgres", PostgresEngine),
        pytest.param("spark", in_spark, marks=ONE_SPARK),
    ],
)
def test_an_engine_that_is_stopped_between_questions_answers_on(kind, run, tmp_path):
    data = own(kind, tmp_path)
    with run(source(data.records)) as engine:
        engine.stop()
        assert counted(FAMILY, data, engine).count.sum() == 900


def test_over_http_engines_are_stopped_too():
    """Also where the asker hangs up; a table that nobody waited for yet is not counted."""
    began = threading.Event()

    def run(opened):
        began.set()
        return EndlessDuckDB(opened)

    tables = Tabulator([census(PEOPLE)], KEYS, engine=run)
    with listening(tables, computed=1) as url:
        parts = urlsplit(url)
        headers = {"Authorization": "Bearer dsk_anne", "Content-Type": "application/json"}
        hasty = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        hasty.request("POST", "/v1/tables", json.dumps(ASKED), headers)
        assert began.wait(10)
        hasty.close()
        tables._seconds = 0.3
        # the only thread is free again
        late = send(url, "POST", "/v1/tables", ASKED | {"by": ["re"]})
        assert late.status == 503 and "costs nothing" in late.problem
    tables.close()
    with pytest.raises(TooLong, match="nobody"):
        tables.answer(ASKED | {"by": ["age"]}, who="bob", gone=lambda: True)
    assert tables.allowance.left("bob", tables.data["census"]) == 98


def test_a_table_that_others_had_waits_for_no_engine():
    tables = Tabulator([census(PEOPLE)], KEYS)
    value = tables.answer(ASKED, who="anne").value.ravel().tolist()
    with listening(tables, computed=1) as url, tables._engines["census"].turn(Until()):
        stuck = threading.Thread(target=send, args=(url, "POST", "/v1/tables", ASKED | {"by": []}))
        stuck.start()
        got = send(url, "POST", "/v1/tables", ASKED, "dsk_bob")
        assert got.status == 200 and str(value[0]).encode() in got.content
        assert stuck.is_alive()
    stuck.join()
