"""Where a ledger is kept: a SQLite file, or a PostgreSQL database that a team shares."""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from diskret.engines.postgres_connection import driver_errors, login, message, opened
from diskret.errors import DiskretError, InputError
from diskret.io import PostgresTable

_log = logging.getLogger("diskret")

#: Ledgers in one PostgreSQL database are locked by this number: "diskret" in ASCII.
_LOCK = int.from_bytes(b"diskret", "big")
#: Seconds between two attempts to get the lock of PostgreSQL.
_PAUSE = 0.1


class Busy(InputError):
    """Another process is changing the ledger."""


@dataclass(frozen=True, eq=False)
class Database:
    """A database, opened anew for every step.

    `name` is how messages call it: the file, or the url without user and password. `file` is that
    of SQLite; `engine` opens connections.
    """

    name: str
    file: Path | None
    engine: Engine = field(repr=False)

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
    path = Path(os.path.realpath(named))
    url = URL.create("sqlite", database=str(path))
    return Database(str(place), path, create_engine(url, poolclass=NullPool))


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
    with _said(database), database.engine.connect() as connection:
        yield connection


@contextmanager
def changing(database: Database, wait: float) -> Generator[Connection]:
    """The only connection that may change the ledger; others wait, and may read meanwhile.

    The lock is the system's (SQLite) or the server's (PostgreSQL), which release it when a process
    ends, however it ends. Who has to wait longer than `wait` seconds is `Busy`.
    """
    with _locked_file(database, wait), reading(database) as connection:
        if database.file is None:
            _lock_on_server(connection, database, wait)
        yield connection


# ── SQLite ──────────────────────────────────────────────────────────────────────────


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
    who = login(url)

    def connection() -> Any:
        try:
            from pg8000.dbapi import connect
        except ImportError as error:
            raise InputError(
                "a ledger in PostgreSQL needs the driver pg8000, which is not installed; install "
                "it with pip install 'diskret[postgres]'"
            ) from error
        return opened(who, connect, "diskret ledger")

    engine = create_engine("postgresql+pg8000://", creator=connection, poolclass=NullPool)
    return Database(address, None, engine)


def _lock_on_server(connection: Connection, database: Database, wait: float) -> None:
    until = time.monotonic() + wait
    while not connection.execute(text("SELECT pg_try_advisory_lock(:n)"), {"n": _LOCK}).scalar():
        if time.monotonic() >= until:
            raise _busy(database, wait)
        time.sleep(_PAUSE)
    connection.commit()  # the lock stays until the connection ends


# ── messages ────────────────────────────────────────────────────────────────────────


def _busy(database: Database, wait: float) -> Busy:
    return Busy(
        f"the ledger {database.name} is being changed by another process, and still was after "
        f"{wait:g} seconds: publications go one after the other. Try again when it is done"
    )


@contextmanager
def _said(database: Database) -> Generator[None]:
    """What a database or its driver complains of, as one of our errors."""
    try:
        yield
    except DiskretError:
        raise
    except DBAPIError as error:
        raise InputError(
            f"the ledger {database.name} cannot be used: {message(error.orig or error)}"
        ) from error
    except Exception as error:
        if database.file is not None or not isinstance(error, (OSError, *driver_errors())):
            raise
        raise InputError(
            f"the ledger {database.name} cannot be opened: {message(error)}"
        ) from error
