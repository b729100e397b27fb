"""Where a ledger is kept: a SQLite file, or a PostgreSQL database that a team shares."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from diskret.disk import open_to_others
from diskret.engines.postgres_connection import Login, driver_errors, login, message
from diskret.errors import DiskretError, InputError
from diskret.io import PostgresTable
from diskret.publish.store.connection import Connection, Full, busy
from diskret.publish.store.postgres import PostgresConnection, code_of, lock_on_server
from diskret.publish.store.sqlite import SqliteConnection, created, lock_file, locked_file

_log = logging.getLogger("diskret")

_DISK_FULL = "53100"


@dataclass(frozen=True, eq=False)
class Database:
    """A database, opened anew for every step.

    `name` is how messages call it: the file, or the url without user and password. `place` is the
    file of SQLite, or who asks which PostgreSQL server.
    """

    name: str
    place: Path | Login = field(repr=False)

    @property
    def file(self) -> Path | None:
        """The file of SQLite."""
        return self.place if isinstance(self.place, Path) else None

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""
        return (OSError, *(driver_errors() if self.file is None else (sqlite3.Error,)))

    @property
    def state(self) -> object:
        """What changes when the file of SQLite gives its place to another one."""
        if self.file is None:
            return None
        found = self.file.stat()
        return found.st_dev, found.st_ino

    def open(self) -> Connection:
        """A connection of its own."""
        if isinstance(self.place, Path):
            return SqliteConnection(self.place)
        return PostgresConnection(self.place)

    @property
    def missing(self) -> str:
        """Why there is nothing to open; empty if there is something."""
        if self.file is None:
            return ""
        if not self.file.is_file():
            return "it is a folder" if self.file.is_dir() else "no such file"
        return "" if self.file.stat().st_size else "the file is empty"


def database(place: str | os.PathLike[str]) -> Database:
    """The database at a path or url; nothing is opened yet. Messages do not repeat a url."""
    named = os.fspath(place)
    if "://" in named:
        return _postgres(named)
    return Database(str(place), Path(os.path.realpath(named)))


def make_private(database: Database) -> None:
    """Create the file of a SQLite database if it is not there, readable by its owner only."""
    if database.file is None:
        return
    if created(database.file):
        _log.warning(
            f"A new ledger was created in {database.name}. Keep it safe and never publish it: it "
            "holds the original values of what is published, so that later releases can be checked."
        )
    check_private(database)


def check_private(database: Database) -> None:
    """Refuse the file of a SQLite database that others can read."""
    if database.file is None:
        return
    created(lock_file(database.file))
    if open_to_others(database.file):
        raise InputError(
            f"the ledger {database.name} can be read by others; run: chmod 600 {database.name}"
        )


@contextmanager
def reading(database: Database) -> Generator[Connection]:
    """A connection to read with."""
    with _said(database), closing(database.open()) as connection:
        yield connection


class Line:
    """A connection that stays open, for what is entered often; safe with several threads.

    Parameters
    ----------
    database
        Where it leads.
    lock
        Name of what is entered: transactions under it come one after the other, in all processes.
    wait
        Seconds to wait for others.
    """

    def __init__(self, database: Database, lock: str, wait: float):
        self._database = database
        self._lock = lock
        self._wait = wait
        self._open: Connection | None = None
        self._state: object = None
        self._own = threading.Lock()
        self._closed: Callable[[], object] = lambda: None

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """The connection, in a transaction that nobody else is in; what is not committed is undone.

        The locks are the system's (SQLite) or the server's (PostgreSQL), which release them when a
        process ends, however it ends.

        Raises
        ------
        Busy
            Others took longer than `wait` seconds.
        Full
            There is no space left.
        """
        if not self._own.acquire(timeout=self._wait):
            raise busy(self._database.name, self._wait)
        try:
            with _said(self._database):
                connection = self._begun()
                try:
                    yield connection
                    connection.rollback()
                except BaseException:
                    self._drop()
                    raise
        finally:
            self._own.release()

    def close(self) -> None:
        """Close the connection; the next transaction opens another one."""
        with self._own:
            self._drop()

    def _drop(self) -> None:
        self._open = None
        self._closed()

    def _begun(self) -> Connection:
        state = self._database.state
        if self._open is not None and state == self._state:
            try:
                return self._tried(self._open)
            except self._database.errors:
                self._drop()  # the server was restarted, or hung up
        self._drop()
        connection = self._database.open()
        self._open, self._state = connection, state
        # a server that ends waits for connections that nobody has any more
        self._closed = weakref.finalize(self, connection.close)
        return self._tried(connection)

    def _tried(self, connection: Connection) -> Connection:
        if not connection.begin(self._lock, self._wait):
            self._drop()
            raise busy(self._database.name, self._wait)
        return connection


@contextmanager
def changing(database: Database, wait: float) -> Generator[Connection]:
    """The only connection that may change the ledger; others wait, and may read meanwhile.

    The lock is the system's (SQLite) or the server's (PostgreSQL), which release it when a process
    ends, however it ends. Who has to wait longer than `wait` seconds is `Busy`.
    """
    file = database.file
    alone = nullcontext() if file is None else locked_file(file, database.name, wait)
    with alone, reading(database) as connection:
        if isinstance(connection, PostgresConnection):
            lock_on_server(connection, database.name, wait)
        yield connection


def _postgres(url: str) -> Database:
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError(
            "a ledger is a file, e.g. releases.db, or a url that begins with postgresql:// (the "
            "one given is not shown because it may hold a password)"
        )
    address = PostgresTable(url, "diskret_entries").address
    return Database(address, login(url))


# ── messages ────────────────────────────────────────────────────────────────────────


@contextmanager
def _said(database: Database) -> Generator[None]:
    """What a database or its driver complains of, as one of our errors."""
    try:
        yield
    except DiskretError:
        raise
    except sqlite3.Error as error:
        raise _unusable(database, error) from error
    except Exception as error:
        if database.file is not None or not isinstance(error, (OSError, *driver_errors())):
            raise
        if isinstance(error, OSError):
            raise InputError(
                f"the ledger {database.name} cannot be opened: {message(error)}"
            ) from error
        raise _unusable(database, error) from error


def _unusable(database: Database, error: Exception) -> InputError:
    if (
        getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or code_of(error) == _DISK_FULL
    ):
        return Full(
            f"there is no space left for the ledger {database.name}; nothing was entered. Make "
            "space on its disk, then go on"
        )
    return InputError(f"the ledger {database.name} cannot be used: {message(error)}")
