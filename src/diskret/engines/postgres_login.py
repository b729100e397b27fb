"""Where a database is and who asks: from a url and the variable ``PGPASSWORD``."""

from __future__ import annotations

import getpass
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskret.errors import InputError

_OPTIONS = ("host", "sslmode", "sslrootcert")
_SSL_MODES = ("disable", "prefer", "require", "verify-full")
_LAST_PORT = 65_535


@dataclass(frozen=True)
class Login:
    """Who asks which database on which server.

    Parameters
    ----------
    host
        A name or an address; or the folder of a socket, which begins with ``/``.
    port
        The number of its port, also of a socket.
    user, database
        As the server knows them.
    password
        Never shown.
    ssl_mode, root_certificate
        As PostgreSQL's ``sslmode`` and ``sslrootcert``.
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

        Raises
        ------
        OSError
            The file of the root certificate cannot be read.
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

    Parameters
    ----------
    url
        As a [`PostgresTable`][diskret.PostgresTable] has checked it.
    environment
        Variables; without it those of this process.

    Raises
    ------
    InputError
        An option is not known, or has no such value. No message repeats the url.

    Examples
    --------
    >>> found = login("postgresql://clerk@db.example/register?sslmode=require", {})
    >>> found.host, found.port, found.user, found.ssl_mode
    ('db.example', 5432, 'clerk', 'require')
    """
    from sqlalchemy.engine import make_url

    variables = os.environ if environment is None else environment
    parts = make_url(url)
    options = {name: value for name, value in parts.query.items() if isinstance(value, str)}
    if set(parts.query) - set(_OPTIONS) or len(options) < len(parts.query):
        raise InputError(
            "the url has options that are not known or stand there twice (they are not shown "
            f"because they may hold a password); known are {', '.join(_OPTIONS)}"
        )
    mode = options.get("sslmode", "prefer")
    if mode not in _SSL_MODES:
        raise InputError(f"there is no such sslmode; write one of {', '.join(_SSL_MODES)}")
    port = parts.port or 5432
    if port > _LAST_PORT:
        raise InputError(f"ports are whole numbers up to {_LAST_PORT:,}")
    user = parts.username or getpass.getuser()
    return Login(
        host=options.get("host") or parts.host or "localhost",
        port=port,
        user=user,
        database=parts.database or user,
        password=parts.password or variables.get("PGPASSWORD"),
        ssl_mode=mode,
        root_certificate=options.get("sslrootcert"),
    )
