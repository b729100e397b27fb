"""A ledger in a SQLite file: its connection, its lock, and how it is created."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from diskret.disk import new_file
from diskret.errors import InputError
from diskret.publish.store.connection import busy


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


def lock_file(file: Path) -> Path:
    """An empty database of its own: a lock on the ledger itself would keep readers out."""
    return file.with_name(f"{file.name}.lock")


def created(path: Path) -> bool:
    """Create an empty file that its owner alone may read; False: it was there."""
    try:
        os.close(new_file(path))
    except FileExistsError:
        return False
    except OSError as error:
        raise InputError(
            f"the ledger {path} cannot be created ({error.strerror}); create its folder, or choose "
            "another place"
        ) from None
    return True


@contextmanager
def locked_file(file: Path, name: str, wait: float) -> Generator[None]:
    """Nobody else changes the ledger in this file; `name` is how messages call it."""
    lock = sqlite3.connect(lock_file(file), timeout=wait, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise busy(name, wait) from error
        yield
    finally:
        lock.close()
