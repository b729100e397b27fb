"""A connection to PostgreSQL: opened, asked, closed, whatever the driver is."""

from __future__ import annotations

import contextlib
import getpass
import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any
from urllib.parse import parse_qsl, unquote

from diskret.errors import InputError
from diskret.io.database import url_parts


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

    def copy(self, statement: str, into: IO[bytes]) -> None:
        """Run a ``COPY … TO STDOUT`` and write its bytes."""
        self.driver.execute_unnamed(statement, stream=into)

    def close(self) -> None:
        """Close it, also if the server has gone."""
        with contextlib.suppress(OSError, *driver_errors()):
            self.driver.close()

    def __repr__(self) -> str:
        return "Connection()"


def connect(login: Login, name: str) -> Connection:
    """Open a connection, which the server lists under a `name`.

    Raises ImportError: the driver is not installed. Raises OSError: the server cannot be reached,
    or does not agree on encryption. Raises Exception: one of `driver_errors`: the server refuses.
    """
    from pg8000.native import Connection as Driver

    encryption = login.ssl_context()
    line = _line(login)
    try:
        return Connection(
            Driver(
                login.user,
                host=login.host,
                port=login.port,
                database=login.database,
                password=login.password or "",  # the driver stumbles over none
                application_name=name,
                ssl_context=encryption,
                startup_params={"client_encoding": "UTF8"},
                sock=line,
            )
        )
    except BaseException:
        line.close()
        raise


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


# ── where a database is and who asks ────────────────────────────────────────────────────

_OPTIONS = ("host", "sslmode", "sslrootcert")
_SSL_MODES = ("disable", "prefer", "require", "verify-full")
_LAST_PORT = 65_535


@dataclass(frozen=True)
class Login:
    """Who asks which database on which server.

    `host`: A name or an address; or the folder of a socket, which begins with ``/``.
    `port`: the number of its port, also of a socket.
    `user`, `database`: as the server knows them.
    `password`: never shown.
    `ssl_mode`, `root_certificate`: as PostgreSQL's ``sslmode`` and ``sslrootcert``.
    """

    host: str
    port: int
    user: str
    database: str
    password: str | None = field(repr=False)
    ssl_mode: str
    root_certificate: str | None

    @property
    def socket(self) -> str | None:
        """The file of the server's socket, if it is reached by one."""
        folder = self.host.rstrip("/")
        return f"{folder}/.s.PGSQL.{self.port}" if self.host.startswith("/") else None

    def ssl_context(self) -> ssl.SSLContext | bool | None:
        """What the driver is told: False never, None if offered, otherwise always.

        Raises OSError: the file of the root certificate cannot be read.
        """
        if self.ssl_mode == "disable" or self.socket:
            return False
        if self.ssl_mode == "prefer":
            return None
        if self.ssl_mode == "require":
            return True  # encrypted, whoever answers
        return ssl.create_default_context(cafile=self.root_certificate)


def login(url: str, environment: Mapping[str, str] | None = None) -> Login:
    """Read a url; a password that it leaves out comes from ``PGPASSWORD``.

    `environment`: variables; without it those of this process.

    >>> found = login("postgresql://clerk@db.example/register?sslmode=require", {})
    >>> found.host, found.port, found.user, found.ssl_mode
    ('db.example', 5432, 'clerk', 'require')
    """
    variables = os.environ if environment is None else environment
    parts = {name: unquote(part) for name, part in url_parts(url).items() if name != "options"}
    given = parse_qsl(url_parts(url)["options"])
    options = dict(given)
    if set(options) - set(_OPTIONS) or len(options) < len(given):
        raise InputError(
            "the url has options that are not known or stand there twice (they are not shown "
            f"because they may hold a password); known are {', '.join(_OPTIONS)}"
        )
    mode = options.get("sslmode", "prefer")
    if mode not in _SSL_MODES:
        raise InputError(f"there is no such sslmode; write one of {', '.join(_SSL_MODES)}")
    port = int(parts["port"] or 0) or 5432
    if port > _LAST_PORT:
        raise InputError(f"ports are whole numbers up to {_LAST_PORT:,}")
    user = parts["user"] or getpass.getuser()
    return Login(
        host=options.get("host") or parts["number"] or parts["name"] or "localhost",
        port=port,
        user=user,
        database=parts["database"] or user,
        password=parts["password"] or variables.get("PGPASSWORD"),
        ssl_mode=mode,
        root_certificate=options.get("sslrootcert"),
    )
