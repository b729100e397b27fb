"""Records in PostgreSQL are read where they are: nothing is written, copied or made there."""

from __future__ import annotations

import difflib
import weakref
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv
from sqlglot.expressions import Select

from diskret.engines import postgres_sql
from diskret.engines.cells import with_cells
from diskret.engines.columns import Column, Kind
from diskret.engines.engine import Engine
from diskret.engines.postgres_connection import (
    Connection,
    Login,
    connect,
    driver_errors,
    login,
    message,
)
from diskret.engines.stepwise import Stepwise
from diskret.errors import InputError
from diskret.hierarchy.codes import some
from diskret.io import PostgresTable, Source


class PostgresEngine(Engine):
    """Records in a table or view of a PostgreSQL database.

    Each question is answered in one read-only transaction that sees a single state of the
    database. The right to read the table suffices. Only aggregates and contributors in
    several leaf combinations (as numbers) leave the database.

    `source`: the records; its `database` says where they are. `work_mem`: memory for each sort or
    hash table on the server before it spills to its disk, as PostgreSQL writes it. No answer
    depends on it.
    """

    name = "postgres"

    def __init__(self, source: Source, work_mem: str = "256MB") -> None:
        if source.database is None:
            raise InputError(
                "these records lie in no database; give records=PostgresTable(url, table), or "
                "leave engine= out"
            )
        self._table = source.database
        self._work_mem = work_mem
        self._connection = _connect(self._table)
        self._process: int | None = None
        self._close = weakref.finalize(self, self._connection.close)
        try:
            with self._transaction():
                self._columns = _columns(self._connection, self._table)
            self._read = with_cells(self._columns, source.cells)
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """See `Engine`; the server is told on a connection of its own."""
        process = self._process
        if process is None:
            return
        other = _connect(self._table)
        try:
            other.ask("SELECT pg_cancel_backend($1::integer)", process)
        finally:
            other.close()

    @contextmanager
    def _asked(self) -> Generator[_Records]:
        relations = {"source": postgres_sql.source(self._table.path, self._columns)}
        with self._transaction():
            yield _Records(self._connection, self._read, relations)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        settings = {
            "work_mem": self._work_mem,
            "jit": "off",  # compiling takes longer than most of these queries
            "datestyle": "ISO",  # codes must not depend on the server's settings
            "timezone": "UTC",
        }
        ask = self._connection.ask
        with _explained(self._table):
            try:
                ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                for name, setting in settings.items():
                    ask("SELECT set_config($1, $2, true)", name, setting)
                # behind a pool each transaction may be with another process
                self._process = ask("SELECT pg_backend_pid()").rows[0][0]
                yield
                ask("COMMIT")
            except BaseException as error:
                self._roll_back(error)
                raise
            finally:
                self._process = None

    def _roll_back(self, error: BaseException) -> None:
        """End the transaction; what was interrupted in the middle of an answer is closed."""
        if isinstance(error, Exception):
            with suppress(Exception):
                self._connection.ask("ROLLBACK")
                return
        self.close()


@dataclass(frozen=True, eq=False)
class _Records(Stepwise):
    """Records as `answer` wants them; `relations` are what queries may name."""

    connection: Connection
    columns: tuple[Column, ...]
    relations: dict[str, Select] = field(default_factory=dict[str, Select])

    def fetch(self, query: Select) -> pa.Table:
        return _fetch(self.connection, postgres_sql.text(query, self.relations))

    def stream(self, query: Select) -> pa.RecordBatchReader:
        return _stream(self.connection, postgres_sql.text(query, self.relations))

    def attach(self, name: str, table: pa.Table) -> None:
        self.relations[name] = postgres_sql.small_table(table)

    def keep(self, name: str, query: Select) -> None:
        self.relations[name] = query


# ── connecting ──────────────────────────────────────────────────────────────────────


def _connect(table: PostgresTable) -> Connection:
    problem, asked = "", None
    try:
        asked = login(table.url)
        return connect(asked, "diskret")
    except ImportError as error:
        raise InputError(
            "records in PostgreSQL need the driver pg8000, which is not installed; "
            "install it with pip install 'diskret[postgres]'"
        ) from error
    except InputError as error:
        if asked:  # the driver is not installed
            raise
        problem = str(error)
    except (OSError, *driver_errors()) as error:
        problem = _told(error, table, asked)
    # outside the handler, so that no traceback carries the driver's own message along
    raise InputError(
        f"the database {table.address} cannot be reached: {problem}; check host, port, user and "
        "password (PGPASSWORD)"
    )


@contextmanager
def _explained(table: PostgresTable) -> Generator[None]:
    try:
        yield
    except (OSError, *driver_errors()) as error:
        raise InputError(
            f"the records in {table!r} cannot be read: {_told(error, table, login(table.url))}"
        ) from error


def _told(error: Exception, table: PostgresTable, asked: Login | None) -> str:
    """The first line of the driver's message, without any password."""
    told = message(error).strip().partition("\n")[0].replace(table.url, table.address)
    if asked and asked.password:
        told = told.replace(asked.password, "***").replace(quote(asked.password), "***")
    return told


# ── what the table holds ────────────────────────────────────────────────────────────

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext"), "text"),
    **dict.fromkeys(("int2", "int4", "int8"), "integer"),
    "numeric": "decimal",
    **dict.fromkeys(("float4", "float8"), "float"),
    **dict.fromkeys(("bool", "date", "time", "timestamp", "timestamptz", "uuid"), "other"),
}
_TYPES = "SELECT oid, format_type(oid, NULL), typname, typtype FROM pg_type WHERE oid = ANY($1)"
_TABLES = """
    SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE nspname || '.' END || relname
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
        AND nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    ORDER BY 1
"""


def _columns(connection: Connection, table: PostgresTable) -> tuple[Column, ...]:
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in table.path)
    if connection.ask("SELECT to_regclass($1)::oid", quoted).rows == [[None]]:
        raise _no_table(table, [name for (name,) in connection.ask(_TABLES).rows])
    # a domain is described as the type below it
    found = connection.ask(f"SELECT * FROM {quoted} LIMIT 0").columns  # noqa: S608 - quoted above
    rows = connection.ask(_TYPES, [code for _, code in found]).rows
    types = {oid: name for oid, name, _, _ in rows}
    kinds: dict[int, Kind] = {oid: _kind(internal, sort) for oid, _, internal, sort in rows}
    return tuple(
        Column(name, f"c{i}", kinds[code], types[code]) for i, (name, code) in enumerate(found)
    )


def _kind(type_name: str, sort: str) -> Kind:
    return "other" if sort == "e" else _KINDS.get(type_name, "unusable")  # e: an enumeration


def _no_table(table: PostgresTable, names: Sequence[str]) -> InputError:
    near = difflib.get_close_matches(table.table, names, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {some(list(map(repr, names)))}"
    return InputError(
        f"there is no table {table.table!r} in {table.address}; "
        + (hint if names else "there are none that this user can see")
    )


# ── answers as Arrow ────────────────────────────────────────────────────────────────

_INTEGERS = (20, 21, 23)  # the numbers PostgreSQL gives its types
_INTEGER_ARRAY = 1016
#: Bytes of an answer that need no disk.
_IN_MEMORY = 2**26


def _fetch(connection: Connection, query: str) -> pa.Table:
    """Run a query; its answer comes as CSV, which is read column by column."""
    data = BytesIO()
    types = _copied(connection, query, data)
    table = csv.read_csv(pa.py_buffer(data.getbuffer()), **_read_as(types))
    for i, (name, code) in enumerate(types.items()):
        if code == _INTEGER_ARRAY:
            table = table.set_column(i, name, _lists(table[name]))
    return table


def _stream(connection: Connection, query: str) -> pa.RecordBatchReader:
    """The same for an answer without lists, which waits on this machine's disk if it is large."""
    data = SpooledTemporaryFile(_IN_MEMORY)
    types = _copied(connection, query, data)
    data.seek(0)
    read = csv.open_csv(data, **_read_as(types))
    return pa.RecordBatchReader.from_batches(read.schema, read)


def _copied(connection: Connection, query: str, into: IO[bytes]) -> dict[str, int]:
    """Write the answer as CSV; the numbers of the types of its columns."""
    types = dict(connection.ask(f"SELECT * FROM ({query}) AS asked LIMIT 0").columns)  # noqa: S608
    connection.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')", into)
    return types


def _read_as(types: Mapping[str, int]) -> dict[str, Any]:
    integers = [name for name, code in types.items() if code in _INTEGERS]
    return {
        # a null alone in its row is an empty line
        "parse_options": csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(types, pa.string()) | dict.fromkeys(integers, pa.int64()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def _lists(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of numbers from ``{3,2,1}``."""
    parts = pc.split_pattern(pc.utf8_trim(texts, characters="{}"), ",")
    return parts.cast(pa.list_(pa.int64()))
