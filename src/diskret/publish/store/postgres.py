"""A ledger in a PostgreSQL database: its connection and its lock."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from itertools import count
from typing import Any, ClassVar

from diskret.engines.postgres_connection import Login, connect, driver_errors
from diskret.errors import InputError
from diskret.publish.store.connection import busy

#: Ledgers in one PostgreSQL database are locked by this number: "diskret" in ASCII.
_LOCK = int.from_bytes(b"diskret", "big")
_LOCK_NOT_AVAILABLE = "55P03"
#: Seconds between two attempts to get the lock of PostgreSQL.
_PAUSE = 0.1


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
            if code_of(error) == _LOCK_NOT_AVAILABLE:
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


def code_of(error: Exception) -> str:
    """The number that the server gives an error."""
    told = error.args[0] if error.args else None
    return str(told.get("C", "")) if isinstance(told, dict) else ""


def lock_on_server(connection: PostgresConnection, name: str, wait: float) -> None:
    """Nobody else changes the ledger until this connection ends; `name` is how messages call it."""
    until = time.monotonic() + wait
    while not connection.ask("SELECT pg_try_advisory_lock(?)", _LOCK)[0][0]:
        if time.monotonic() >= until:
            raise busy(name, wait)
        time.sleep(_PAUSE)
    connection.commit()  # the lock stays until the connection ends
