"""The default engine: DuckDB inside this process, fenced off from everything else."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from sqlglot.expressions import Select

from diskret.engines import sql
from diskret.engines.cells import with_cells
from diskret.engines.columns import Column, Kind
from diskret.engines.engine import Engine, key_values
from diskret.engines.key_counts import KeyQuestion
from diskret.engines.stepwise import Stepwise
from diskret.errors import InputError
from diskret.io import Source
from diskret.io.csv_files import read_csv

#: Rows of an answer that are handed over together.
BATCH = 1_000_000


class DuckDBEngine(Engine):
    """Records in an in-memory DuckDB of their own.

    The connection reaches no network, no extensions and no files but those of the source and
    a private spill folder, which is removed with the engine. Few records in memory need no folder;
    the empty database is kept for the next engine after this one.

    `source`: the records: scanned where they are, not copied. `memory_limit`: what DuckDB may use
    before it spills to disk, e.g. ``"4GB"``; None: 80 % of memory. `threads`: number of threads, ≥
    1; None: all cores, or one for few records in memory. No answer depends on it.
    """

    name = "duckdb"

    def __init__(
        self, source: Source, memory_limit: str | None = None, threads: int | None = None
    ) -> None:
        if source.database is not None:
            raise InputError(f"DuckDB does not read {source.database!r}; leave engine= out")
        if source.spark is not None:
            raise InputError("DuckDB does not read Spark frames; leave engine= out")
        connection, close = _connected(source, memory_limit, threads)
        self._close = weakref.finalize(self, close)
        self._source = source
        try:
            self._records = _open(connection, source)
        except BaseException:
            self.close()
            raise

    def key_values(self, question: KeyQuestion) -> Generator[tuple[pa.RecordBatch, list[pa.Array]]]:
        """The records with all their columns, and what they have in each key, block by block.

        They come in the order in which they lie; if there is a filter, those that satisfy it.
        """
        with self._open() as records:
            number = sum(column.cells is None for column in records.columns)
            for block in self._records.in_order(key_values(question, records)):
                yield block.select(range(number)), block.columns[number:]

    def stop(self) -> None:
        """See `Engine`."""
        self._records.connection.interrupt()

    @contextmanager
    def _asked(self) -> Generator[_Records]:
        with _explained(self._source):
            yield self._records


@dataclass(frozen=True, eq=False)
class _Records(Stepwise):
    """Records as `answer` wants them."""

    connection: duckdb.DuckDBPyConnection
    columns: tuple[Column, ...]

    def fetch(self, query: Select) -> pa.Table:
        return self.connection.sql(_text(query)).to_arrow_table()

    def stream(self, query: Select) -> pa.RecordBatchReader:
        return self.connection.sql(_text(query)).to_arrow_reader(BATCH)

    def in_order(self, query: Select) -> Generator[pa.RecordBatch]:
        self.connection.execute("SET preserve_insertion_order = true")
        try:
            yield from self.stream(query)
        finally:
            self.connection.execute("SET preserve_insertion_order = false")

    def attach(self, name: str, table: pa.Table) -> None:
        self.connection.register(name, table)

    def keep(self, name: str, query: Select) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {_text(query)}")


@lru_cache(maxsize=128)
def _text(query: Select) -> str:
    return sql.text(query, "duckdb")


_CSV = """
    SELECT * FROM read_csv(
        $paths, delim = $delimiter, columns = $columns,
        header = true, quote = '"', escape = '"', auto_detect = false
    )
"""


def _open(connection: duckdb.DuckDBPyConnection, source: Source) -> _Records:
    """Make the relation ``source`` with the columns ``c0 …``."""
    names = [f"c{i}" for i in range(len(source.columns))]
    paths = [str(Path(path).resolve()) for path in source.paths]
    connection.execute("SET enable_progress_bar = false")
    with _explained(source):
        if source.arrow is not None:
            connection.register("source", source.arrow.rename_columns(names))
        elif source.format == "csv":
            # all columns as text, so that leading zeros stay
            columns = dict.fromkeys(names, "VARCHAR")
            options = {"paths": paths, "delimiter": source.delimiter, "columns": columns}
            connection.sql(_CSV, params=options).create_view("source")
        else:
            scan = "SELECT * FROM read_parquet($paths, hive_partitioning = false)"
            scan += f" AS t({', '.join(names)})"
            connection.sql(scan, params={"paths": paths}).create_view("source")
        types = connection.table("source").types
    found = zip(source.columns, names, types, strict=True)
    columns = [Column(n, c, _kind(t.id), str(t)) for n, c, t in found]
    function = _function(connection, source)
    return _Records(connection, with_cells(columns, source.cells, function))


def _function(connection: duckdb.DuckDBPyConnection, source: Source) -> str | None:
    """What brings coordinates of another system to that of the grid, block by block."""
    cells = source.cells
    if cells is None or cells.moved is None:
        return None

    # threads of DuckDB have too little room for PROJ
    own = ThreadPoolExecutor(1)

    def numbers(east: pa.Array, north: pa.Array) -> pa.Array:
        both = [np.asarray(one.fill_null(np.nan), np.float64) for one in (east, north)]
        return own.submit(cells.numbers, *both).result()

    kinds: Any = [duckdb.dtype("DOUBLE"), duckdb.dtype("DOUBLE")]
    how: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function("cell_of", numbers, kinds, duckdb.dtype("BIGINT"), **how)
    return "cell_of"


_SIGNED = ("tinyint", "smallint", "integer", "bigint")
_KINDS: dict[str, Kind] = {
    "varchar": "text",
    "null": "text",  # a column with nothing but nulls
    **dict.fromkeys(("decimal", "hugeint", "uhugeint"), "decimal"),
    **dict.fromkeys((*_SIGNED, *(f"u{name}" for name in _SIGNED)), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("boolean", "date", "time", "uuid", "enum"), "other"),
}


def _kind(type_id: str) -> Kind:
    return "other" if type_id.startswith("timestamp") else _KINDS.get(type_id, "unusable")


@contextmanager
def _explained(source: Source) -> Generator[None]:
    """Errors of DuckDB as ours; those of a CSV file as its reader tells them, with the line."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            "DuckDB ran out of memory; give it more with memory_limit=, fewer threads=, or more "
            f"space for temporary files ({_first_line(error)})"
        ) from error
    except duckdb.InterruptException as error:
        raise InputError("the question was stopped before it was answered") from error
    except duckdb.Error as error:
        if source.format == "csv":
            for path in source.paths:
                read_csv(path, source.columns, source.delimiter)
        raise InputError(_unreadable(source, error)) from error


def _unreadable(source: Source, error: duckdb.Error) -> str:
    check = "check that every row has all columns"
    if source.format != "csv":
        return f"the records cannot be read; {check} ({_first_line(error)})"
    files = ", ".join(map(str, source.paths))
    return f"{files}: cannot be read; {check} ({_first_line(error)})"


# ── connections that reach nothing but the files of a source ─────────────────────────────


_Options = dict[str, str | bool | int | float | list[str]]

_FENCED: _Options = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": False,  # every answer is sorted anyway
}
#: One thread, which is the caller's, so that none is missed after a fork; nothing goes to disk.
_FOR_FEW: _Options = {**_FENCED, "threads": 1, "temp_directory": ""}
#: Up to so many records and bytes, what is in memory needs no second thread and no disk.
_FEW, _LITTLE = 50_000, 2**24

#: Databases for few records that nobody uses; more than one only after several threads used them.
_idle: deque[duckdb.DuckDBPyConnection] = deque(maxlen=4)


def _connected(
    source: Source, memory_limit: str | None, threads: int | None
) -> tuple[duckdb.DuckDBPyConnection, Callable[[], None]]:
    """Open a connection for a source.

    Gives the connection, and what gives back all that it holds.
    """
    computes = source.cells is not None and source.cells.moved is not None
    if memory_limit is None and threads is None and _few(source) and not computes:
        return _lent()
    folder = tempfile.mkdtemp(prefix="diskret-")  # mkdtemp gives it mode 0700
    try:
        connection = _own(folder, memory_limit, threads)
        paths = [str(path.resolve()) for path in source.paths]
        connection.execute("SET allowed_paths = $paths", {"paths": paths})
        connection.execute("SET enable_external_access = false")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return connection, partial(_close, connection, folder)


def _first_line(error: duckdb.Error) -> str:
    """What an error says, without its details."""
    return str(error).partition("\n")[0]


def _few(source: Source) -> bool:
    records = source.arrow
    return records is not None and records.num_rows <= _FEW and records.nbytes <= _LITTLE


def _own(folder: str, memory_limit: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    options: _Options = {**_FENCED, "temp_directory": folder}
    if threads is not None:
        options["threads"] = threads
    if memory_limit is not None:
        options["memory_limit"] = memory_limit
    try:
        return duckdb.connect(":memory:", config=options)
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB cannot be started with memory_limit={memory_limit!r} and "
            f"threads={threads!r}: {_first_line(error)}; give e.g. memory_limit='4GB', threads=4"
        ) from error


def _close(connection: duckdb.DuckDBPyConnection, folder: str) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def _lent() -> tuple[duckdb.DuckDBPyConnection, Callable[[], None]]:
    """A connection to a database for few records, which nobody else uses meanwhile.

    To start a database takes longer than most answers about few records, so it is kept for the
    next. All that is made in it is temporary: it belongs to the connection and goes with it.
    """
    database = _used_before() or _for_few()
    connection = database.cursor()
    return connection, partial(_give_back, connection, database)


def _for_few() -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(":memory:", config=_FOR_FEW)
    database.execute("SET enable_external_access = false")
    return database


def _used_before() -> duckdb.DuckDBPyConnection | None:
    with contextlib.suppress(IndexError, duckdb.Error):  # none, or one that broke
        database = _idle.pop()
        database.execute("SET preserve_insertion_order = false")  # also if the last was cut off
        return database
    return None


def _give_back(connection: duckdb.DuckDBPyConnection, database: duckdb.DuckDBPyConnection) -> None:
    connection.close()
    _idle.append(database)
