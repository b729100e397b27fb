"""PostgreSQL as an engine: what it reads, what it may not do, what it does not tell."""

import socket

import pyarrow as pa
import pytest
from engines.postgres_server import administrator, in_postgres, server, table_of, url

import diskret as dk
from diskret.engines import LeafQuestion
from diskret.engines.duckdb import DuckDBEngine
from diskret.engines.postgres import PostgresEngine
from diskret.errors import InputError
from diskret.io import PostgresTable, Source, source
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

native = pytest.importorskip("pg8000.native", reason="optional: pg8000 is not installed")

FIRMS = pa.table(
    {
        "Region": ["N", "N", "S", "S", "S", "N"],
        "firm": [1, 2, 2, 3, 4, 5],
        "turnover": [10, 20, 5, 7, 1, 3],
    }
)
QUESTION = LeafQuestion(by={"Region": None}, values={"turnover": 0}, unit="firm", largest=2)


def execute(*statements):
    with administrator() as connection:
        for statement in statements:
            connection.run(statement)


def objects():
    """How many tables, views, indexes and types the database holds, temporary ones included."""
    with administrator() as connection:
        return connection.run("SELECT count(*) FROM pg_class")


def refusal(columns, types=None, **question):
    table = table_of(pa.table({"a": ["x"] * len(next(iter(columns.values()))), **columns}), types)
    with PostgresEngine(source(table)) as engine, pytest.raises(InputError) as error:
        engine.leaves(LeafQuestion(**{"by": {"a": None}, **question}))
    return str(error.value)


def test_a_table_is_tabulated_where_it_is():
    question = {"by": {"Region": None}, "value": "turnover", "unit": "firm"}
    there, here = dk.tabulate(table_of(FIRMS), **question), dk.tabulate(FIRMS, **question)
    assert there.cells.equals(here.cells)


def test_a_job_moves_to_the_database_by_its_records(tmp_path):
    table = table_of(FIRMS)
    pa.csv.write_csv(FIRMS, tmp_path / "firms.csv")
    records = {
        "file": 'path = "firms.csv"',
        "database": f'url = "{table.url}"\ntable = "{table.table}"',
    }
    for name, lines in records.items():
        (tmp_path / f"{name}.toml").write_text(
            f"[records]\n{lines}\n[[tables]]\nby = {{ Region = 'flat' }}\nvalue = 'turnover'\n"
            f"rules = {{ p_percent = {{ p = 1 }} }}\n[output]\nfolder = '{name}'\n",
            encoding="utf-8",
        )
        run_job(read_job(tmp_path / f"{name}.toml"))
    public = [tmp_path / name / "public" / "turnover.csv" for name in records]
    assert public[0].read_bytes() == public[1].read_bytes()


def test_the_right_to_read_suffices_and_nothing_is_made():
    table = table_of(FIRMS)
    execute(
        "CREATE ROLE reader LOGIN",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
        f'GRANT SELECT ON "{table.table}" TO reader',
        "ALTER ROLE reader SET datestyle = 'German'",
    )
    before = objects()
    with PostgresEngine(source(PostgresTable(url("reader"), table.table))) as engine:
        assert engine.leaves(QUESTION).count.tolist() == [3, 3]
        assert objects() == before


@pytest.mark.parametrize("statement", ["CREATE TEMP TABLE t (x INT)", 'DELETE FROM "{table}"'])
def test_nothing_can_be_written(statement):
    table = table_of(FIRMS)
    with PostgresEngine(source(table)) as engine:
        with pytest.raises(InputError, match="read-only transaction"), engine._transaction():
            engine._connection.ask(statement.format(table=table.table))
        assert engine.leaves(QUESTION).count.sum() == 6


def test_views_schemas_and_any_names():
    table = table_of(FIRMS.rename_columns(['a"; DROP TABLE x; --', "c0", "source"]))
    execute('CREATE SCHEMA "Register"', f'CREATE VIEW "Register".v AS TABLE "{table.table}"')
    view = PostgresTable(table.url, "Register.v")
    with PostgresEngine(source(view)) as engine:
        leaves = engine.leaves(
            LeafQuestion(by={'a"; DROP TABLE x; --': None}, values={"source": 0}, unit="c0")
        )
    assert leaves.sums["source"].tolist() == [33, 13]


def test_codes_of_all_types_become_text():
    execute("CREATE TYPE mood AS ENUM ('sad')", "CREATE DOMAIN nace AS VARCHAR(5)")
    types = {
        "DATE": ("2025-03-31", "2025-03-31"),
        "BOOLEAN": ("t", "true"),
        "NUMERIC(4, 0)": ("12", "12"),
        "SMALLINT": ("7", "7"),
        "CHAR(5)": ("01", "01"),
        "mood": ("sad", "sad"),
        "nace": (" 01.1", "01.1"),
    }
    table = table_of(
        pa.table({name: [text] for name, (text, _) in types.items()}),
        {name: name for name in types},
    )
    with PostgresEngine(source(table)) as engine:
        leaves = engine.leaves(LeafQuestion(by=dict.fromkeys(types)))
    found = [tree.codes[1] for tree in leaves.by.values()]
    assert found == [code for _, code in types.values()]


def test_codes_hold_any_character():
    codes = ['Köln; "Süd"', "it's", "a\\b", "{1,2}", "NULL", "100 %", "a\nb", "$1"]
    leaves = in_postgres(Source(("c",), "pyarrow", pa.table({"c": codes}))).leaves(
        LeafQuestion(by={"c": None})
    )
    assert set(leaves.by["c"].codes[1:]) == set(codes)
    assert leaves.count.tolist() == [1] * len(codes)


VALUES = {
    "a comma": ("TEXT", ["1,5", "2"], "1 record: texts that are no numbers", "'1,5'"),
    "underscores": ("TEXT", ["1_000"], "1 record: texts that are no numbers", "'1_000'"),
    "text NaN": ("TEXT", ["NaN", "inf"], "2 records: texts that are no numbers", "'NaN', 'inf'"),
    "endless": ("TEXT", ["9" * 30, "1e999999"], "2 records: texts that are no", "'1e999999'"),
    "decimals": ("NUMERIC", ["0.125", "1"], "1 record: values that are not finite", "'0.125'"),
    "NaN": ("NUMERIC", ["NaN", "-Infinity"], "2 records: values that are not", "'NaN'"),
    "floats": ("DOUBLE PRECISION", ["NaN", "1.001"], "2 records: values that are not", "'1.001'"),
    "truth": ("BOOLEAN", ["t"], "column 'v' holds no numbers", "boolean"),
    "lists": ("INT[]", ["{1}"], "column 'v' has the type integer[]", "gives no numbers"),
}


@pytest.mark.parametrize(("kind", "values", "problem", "example"), VALUES.values(), ids=VALUES)
def test_values_that_are_not_exact(kind, values, problem, example):
    told = refusal({"v": values}, {"v": kind}, values={"v": 2})
    assert problem in told
    assert example in told


def test_a_missing_table_is_told_with_the_nearest_name():
    execute("CREATE TABLE enterprises (a INT)")
    with pytest.raises(InputError) as error:
        PostgresEngine(source(PostgresTable(url(), "Enterprise")))
    assert str(error.value) == (
        "there is no table 'Enterprise' in postgresql:///postgres; did you mean 'enterprises'?"
    )


def test_a_closed_engine_and_other_records_are_refused():
    engine = in_postgres(Source(tuple(FIRMS.column_names), "pyarrow", FIRMS))
    assert engine.leaves(QUESTION).count.tolist() == engine.leaves(QUESTION).count.tolist()
    engine.close()
    with pytest.raises(InputError, match="the engine is closed"):
        engine.leaves(QUESTION)
    with pytest.raises(InputError, match="lie in no database"):
        PostgresEngine(Source(("a",), "pyarrow", FIRMS))
    with pytest.raises(InputError, match="DuckDB does not read PostgresTable"):
        DuckDBEngine(source(PostgresTable("postgresql://h/d", "firms")))


def test_no_message_holds_the_password(monkeypatch):
    table = PostgresTable("postgresql://clerk:s3cr%40t@localhost:1/register", "firms")
    with pytest.raises(InputError, match="cannot be reached") as error:
        PostgresEngine(source(table))
    assert error.value.__context__ is None

    def talkative(user, password, **options):
        raise native.InterfaceError(f"no luck with {password} or s3cr%40t in {table.url}")

    monkeypatch.setattr(native, "Connection", talkative)
    monkeypatch.setattr(socket, "create_connection", lambda *_: socket.socket())
    with pytest.raises(
        InputError, match=r"no luck with \*\*\* or \*\*\* in postgresql://localhost:1/"
    ) as error:
        PostgresEngine(source(table))
    assert "s3cr" not in str(error.value)
    assert error.value.__context__ is None


def test_a_password_in_the_environment_is_not_shown_either(monkeypatch):
    monkeypatch.setenv("PGPASSWORD", "s3cr@t")

    def talkative(user, password, **options):
        raise native.DatabaseError({"M": f"no luck with {password}"})

    monkeypatch.setattr(native, "Connection", talkative)
    monkeypatch.setattr(socket, "create_connection", lambda *_: socket.socket())
    with pytest.raises(InputError, match=r"no luck with \*\*\*; check host") as error:
        PostgresEngine(source(PostgresTable("postgresql://clerk@localhost:1/r", "firms")))
    assert error.value.__context__ is None


def test_a_role_that_does_not_exist_is_told():
    table = table_of(FIRMS)
    with pytest.raises(InputError, match='cannot be reached: role "missing" does not exist; check'):
        PostgresEngine(source(PostgresTable(url("missing"), table.table)))


def test_only_the_right_password_opens_the_database():
    table = table_of(FIRMS)
    execute(
        "CREATE ROLE careful LOGIN PASSWORD 's3cr@t'", f'GRANT SELECT ON "{table.table}" TO careful'
    )
    rules = server() / "data" / "pg_hba.conf"
    rules.write_text(
        "local all careful scram-sha-256\n" + rules.read_text(encoding="utf-8"), encoding="utf-8"
    )
    execute("SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)")
    right = PostgresTable(url("careful", "s3cr%40t"), table.table)
    with PostgresEngine(source(right)) as engine:
        assert engine.leaves(QUESTION).count.tolist() == [3, 3]
    for password in ("wr0ng", ""):
        with pytest.raises(InputError, match="password authentication failed for user") as error:
            PostgresEngine(source(PostgresTable(url("careful", password), table.table)))
        assert "wr0ng" not in str(error.value)
        assert error.value.__context__ is None


@pytest.mark.parametrize("unreachable", ["postgresql:///r?host=/nowhere", "postgresql://h/r?x=y"])
def test_where_no_server_is_the_reason_is_told(unreachable):
    with pytest.raises(InputError, match="cannot be reached: .*(No such file|not known)") as error:
        PostgresEngine(source(PostgresTable(unreachable, "firms")))
    assert error.value.__context__ is None


def test_a_server_without_encryption_is_refused_where_it_is_required():
    near, far = socket.socketpair()
    far.sendall(b"N")  # PostgreSQL's word for: not here
    with pytest.MonkeyPatch.context() as patch, far:
        patch.setattr(socket, "create_connection", lambda *_: near)
        with pytest.raises(InputError, match="cannot be reached: Server refuses SSL"):
            PostgresEngine(source(PostgresTable("postgresql://c@h/r?sslmode=require", "firms")))


def test_an_interrupted_question_closes_the_engine():
    engine = in_postgres(Source(tuple(FIRMS.column_names), "pyarrow", FIRMS))
    with pytest.raises(KeyboardInterrupt), engine._transaction():
        raise KeyboardInterrupt
    with pytest.raises(InputError, match="the engine is closed"):
        engine.leaves(QUESTION)


def test_a_lost_server_is_told_and_closes_the_engine():
    engine = in_postgres(Source(tuple(FIRMS.column_names), "pyarrow", FIRMS))
    [[number]] = engine._connection.ask("SELECT pg_backend_pid()").rows
    execute(f"SELECT pg_terminate_backend({number})")
    with pytest.raises(InputError, match=r"the records in .* cannot be read"):
        engine.leaves(QUESTION)
    with pytest.raises(InputError, match="the engine is closed"):
        engine.leaves(QUESTION)
