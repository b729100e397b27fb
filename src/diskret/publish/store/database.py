"""Where a ledger is kept: a SQLite file, or a PostgreSQL database that a team shares."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Protocol

from diskret.engines.postgres_connection import Login, connect, driver_errors, login, message
from diskret.errors import DiskretError, InputError
from diskret.io import PostgresTable

_log = logging.getLogger("diskret")

#: Ledgers in one PostgreSQL database are locked by this number: "diskret" in ASCII.
_LOCK = int.from_bytes(b"diskret", "big")
_LOCK_NOT_AVAILABLE = "55P03"
_DISK_FULL = "53100"
#: Seconds between two attempts to get the lock of PostgreSQL.
_PAUSE = 0.1


class Busy(InputError):
    """Another process is changing the ledger."""


class Full(InputError):
    """There is no space left for what is entered; nothing of it was."""


class Connection(Protocol):
    """An open connection; what it changes counts when it commits, all of it or nothing.

    `bytes` is the type of a column of bytes, as the database calls it.
    """

    bytes: ClassVar[str]

    def ask(self, statement: str, *values: object) -> list[Sequence[Any]]:
        """Run one statement; its rows. Each ``?`` stands for the next of the values."""
        ...

    def begin(self, lock: str, wait: float) -> bool:
        """Begin a transaction that nobody else is in under the name of this lock.

        It sees what those before it committed. False: others were in it for `wait` seconds.
        """
        ...

    def tables(self) -> list[str]:
        """Names of the tables that are there."""
        ...

    def commit(self) -> None:
        """Keep what was changed since the last time."""
        ...

    def rollback(self) -> None:
        """Undo what was changed since the last time."""
        ...

    def close(self) -> None:
        """Close it; what was not committed is undone."""
        ...


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
    if _created(database.file):
        _log.warning(
            f"A new ledger was created in {database.name}. Keep it safe and never publish it: it "
            "holds the original values of what is published, so that later releases can be checked."
        )
    check_private(database)


def check_private(database: Database) -> None:
    """Refuse the file of a SQLite database that others can read."""
    if database.file is None:
        return
    _created(_lock_file(database.file))
    mode = database.file.stat().st_mode
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
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
            raise _busy(self._database, self._wait)
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
            raise _busy(self._database, self._wait)
        return connection


@contextmanager
def changing(database: Database, wait: float) -> Generator[Connection]:
    """The only connection that may change the ledger; others wait, and may read meanwhile.

    The lock is the system's (SQLite) or the server's (PostgreSQL), which release it when a process
    ends, however it ends. Who has to wait longer than `wait` seconds is `Busy`.
    """
    with _locked_file(database, wait), reading(database) as connection:
        if isinstance(connection, PostgresConnection):
            _lock_on_server(connection, database, wait)
        yield connection


# ── SQLite ──────────────────────────────────────────────────────────────────────────


class SqliteConnection:
    """A connection to a file; the driver begins a transaction with the first change."""

    bytes: ClassVar[str] = "BLOB"

    def __init__(self, file: Path):
        # who hands it from one thread to another uses it in one at a time
        self._driver = sqlite3.connect(file, check_same_thread=False)

    def ask(self, statement: str, *values: object) -> list[Sequence[Any]]:
        """See `Connection`."""
        return self._driver.execute(statement, values).fetchall()

    def begin(self, lock: str, wait: float) -> bool:
        """See `Connection`; a file has one lock for everything that is entered."""
        self._driver.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
        try:
            self._driver.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise
        return True

    def tables(self) -> list[str]:
        """See `Connection`."""
        return [name for (name,) in self.ask("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def commit(self) -> None:
        """See `Connection`."""
        self._driver.commit()

    def rollback(self) -> None:
        """See `Connection`."""
        self._driver.rollback()

    def close(self) -> None:
        """See `Connection`."""
        self._driver.close()


def _lock_file(file: Path) -> Path:
    """An empty database of its own: a lock on the ledger itself would keep readers out."""
    return file.with_name(f"{file.name}.lock")


def _created(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise InputError(
            f"the ledger {path} cannot be created ({error.strerror}); create its folder, or choose "
            "another place"
        ) from None
    return True


@contextmanager
def _locked_file(database: Database, wait: float) -> Generator[None]:
    if database.file is None:
        yield
        return
    lock = sqlite3.connect(_lock_file(database.file), timeout=wait, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise _busy(database, wait) from error
        yield
    finally:
        lock.close()


# ── PostgreSQL ──────────────────────────────────────────────────────────────────────


def _postgres(url: str) -> Database:
    if not url.startswith(("postgresql://", "postgres://")):
        raise InputError(
            "a ledger is a file, e.g. releases.db, or a url that begins with postgresql:// (the "
            "one given is not shown because it may hold a password)"
        )
    address = PostgresTable(url, "diskret_entries").address
    return Database(address, login(url))


class PostgresConnection:
    """A connection to a server; a transaction begins with the first statement."""

    bytes: ClassVar[str] = "BYTEA"

    def __init__(self, server: Login):
        try:
            self._server = connect(server, "diskret ledger")
        except ImportError as error:
            raise InputError(
                "a ledger in PostgreSQL needs the driver pg8000, which is not installed; install "
                "it with pip install 'diskret[postgres]'"
            ) from error
        self._begun = False

    def ask(self, statement: str, *values: object) -> list[Sequence[Any]]:
        """See `Connection`."""
        if not self._begun:
            self._server.ask("BEGIN")
            self._begun = True
        number = count(1)
        numbered = re.sub(r"\?", lambda _: f"${next(number)}", statement)
        return list(self._server.ask(numbered, *values).rows)

    def begin(self, lock: str, wait: float) -> bool:
        """See `Connection`."""
        self._server.ask("BEGIN ISOLATION LEVEL READ COMMITTED")
        self._begun = True
        self.ask("SELECT set_config('lock_timeout', ?, true)", f"{max(int(wait * 1000), 1)}ms")
        try:
            self.ask("SELECT pg_advisory_xact_lock(?, hashtext(?))", _LOCK % 2**31, lock)
        except driver_errors() as error:
            if _code(error) == _LOCK_NOT_AVAILABLE:
                return False
            raise
        return True

    def tables(self) -> list[str]:
        """See `Connection`."""
        visible = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND "
        return [name for (name,) in self.ask(f"{visible}pg_table_is_visible(oid)")]

    def commit(self) -> None:
        """See `Connection`."""
        self._end("COMMIT")

    def rollback(self) -> None:
        """See `Connection`."""
        self._end("ROLLBACK")

    def _end(self, how: str) -> None:
        if self._begun:
            self._begun = False
            self._server.ask(how)

    def close(self) -> None:
        """See `Connection`."""
        self._server.close()


def _code(error: Exception) -> str:
    """The number that the server gives an error."""
    told = error.args[0] if error.args else None
    return str(told.get("C", "")) if isinstance(told, dict) else ""


def _lock_on_server(connection: Connection, database: Database, wait: float) -> None:
    until = time.monotonic() + wait
    while not connection.ask("SELECT pg_try_advisory_lock(?)", _LOCK)[0][0]:
        if time.monotonic() >= until:
            raise _busy(database, wait)
        time.sleep(_PAUSE)
    connection.commit()  # the lock stays until the connection ends


# ── messages ────────────────────────────────────────────────────────────────────────


def _busy(database: Database, wait: float) -> Busy:
    return Busy(
        f"the ledger {database.name} is being changed by another process, and still was after "
        f"{wait:g} s: publications go one after the other. Try again "
        "when it is done"
    )


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
        or _code(error) == _DISK_FULL
    ):
        return Full(
            f"there is no space left for the ledger {database.name}; nothing was entered. Make "
            "space on its disk, then go on"
        )
    return InputError(f"the ledger {database.name} cannot be used: {message(error)}")
