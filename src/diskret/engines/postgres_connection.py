"""A connection to PostgreSQL: opened, asked, closed, whatever the driver is."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from diskret.engines.postgres_login import Login
from diskret.errors import InputError


@dataclass(frozen=True)
class Rows:
    """What a statement returns: names and type numbers of its columns, and its rows."""

    columns: tuple[tuple[str, int], ...]
    rows: list[list[Any]]


@dataclass(frozen=True, eq=False)
class Connection:
    """An open connection; `driver` is the driver's own, which holds the password."""

    driver: Any

    def ask(self, statement: str, *values: object) -> Rows:
        """Run one statement; ``$1`` stands for the first of the values."""
        answer = self.driver.execute_unnamed(statement, values)
        columns = tuple((part["name"], part["type_oid"]) for part in answer.columns or ())
        return Rows(columns, answer.rows or [])

    def copy(self, statement: str) -> memoryview:
        """Run a ``COPY … TO STDOUT``; its bytes."""
        stream = BytesIO()
        self.driver.execute_unnamed(statement, stream=stream)
        return stream.getbuffer()

    def close(self) -> None:
        """Close it, also if the server has gone."""
        with contextlib.suppress(OSError, *driver_errors()):
            self.driver.close()

    def __repr__(self) -> str:
        return "Connection()"


def connect(login: Login) -> Connection:
    """Open a connection.

    Raises
    ------
    InputError
        The driver is not installed.
    OSError
        The server cannot be reached, or does not agree on encryption.
    Exception
        One of `driver_errors`: the server refuses.
    """
    open_one = _driver()
    encryption = login.ssl_context()
    line = _line(login)
    try:
        driver = open_one(
            login.user,
            host=login.host,
            port=login.port,
            database=login.database,
            password=login.password or "",  # the driver stumbles over none
            application_name="diskret",
            ssl_context=encryption,
            startup_params={"client_encoding": "UTF8"},
            sock=line,
        )
    except BaseException:
        line.close()
        raise
    return Connection(driver)


def driver_errors() -> tuple[type[Exception], ...]:
    """What the driver raises when a server refuses, or cannot be understood."""
    from pg8000.exceptions import Error
    from scramp import ScramException  # the driver's own part for passwords

    return (Error, ScramException)


def message(error: BaseException) -> str:
    """What the server said, or the system below it."""
    said: BaseException | None = error
    while said:  # where a server hangs up, what it said before stands behind the lost connection
        if said.args and isinstance(said.args[0], dict):
            return str(said.args[0].get("M", "the server gives no reason"))
        said = said.__context__
    if isinstance(error.__cause__, OSError):
        return f"{error}: {error.__cause__}"
    return str(error)


def _driver() -> Callable[..., Any]:
    try:
        from pg8000.native import Connection as opened
    except ImportError as error:
        raise InputError(
            "records in PostgreSQL need the driver pg8000, which is not installed; "
            "install it with pip install 'diskret[postgres]'"
        ) from error
    return opened


def _line(login: Login) -> socket.socket:
    if login.socket is None:
        line = socket.create_connection((login.host, login.port))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return line
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.connect(login.socket)
    except BaseException:
        line.close()
        raise
    return line
