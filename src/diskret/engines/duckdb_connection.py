"""Connections to DuckDB that reach nothing but the files of a source."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import deque
from collections.abc import Callable
from functools import partial

import duckdb

from diskret.errors import InputError
from diskret.io import Source

Options = dict[str, str | bool | int | float | list[str]]

_FENCED: Options = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": False,  # every answer is sorted anyway
}
#: One thread, which is the caller's, so that none is missed after a fork; nothing goes to disk.
_FOR_FEW: Options = {**_FENCED, "threads": 1, "temp_directory": ""}
#: Up to so many records and bytes, what is in memory needs no second thread and no disk.
_FEW, _LITTLE = 50_000, 2**24

#: Databases for few records that nobody uses; more than one only after several threads used them.
_idle: deque[duckdb.DuckDBPyConnection] = deque(maxlen=4)


def connected(
    source: Source, memory_limit: str | None, threads: int | None
) -> tuple[duckdb.DuckDBPyConnection, Callable[[], None]]:
    """Open a connection for a source.

    Returns
    -------
    tuple
        The connection, and what gives back all that it holds.

    Raises
    ------
    InputError
        An option cannot be used.
    """
    if memory_limit is None and threads is None and _few(source):
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


def first_line(error: duckdb.Error) -> str:
    """What an error says, without its details."""
    return str(error).partition("\n")[0]


def _few(source: Source) -> bool:
    records = source.arrow
    return records is not None and records.num_rows <= _FEW and records.nbytes <= _LITTLE


def _own(folder: str, memory_limit: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    options: Options = {**_FENCED, "temp_directory": folder}
    if threads is not None:
        options["threads"] = threads
    if memory_limit is not None:
        options["memory_limit"] = memory_limit
    try:
        return duckdb.connect(":memory:", config=options)
    except duckdb.Error as error:
        raise InputError(
            f"DuckDB cannot be started with memory_limit={memory_limit!r} and "
            f"threads={threads!r}: {first_line(error)}; give e.g. memory_limit='4GB', threads=4"
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
