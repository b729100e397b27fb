"""Where a database is and who asks: from a url, the environment and the password file."""

from __future__ import annotations

import getpass
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from urllib.parse import unquote

from diskret.errors import InputError

_OPTIONS = {  # of a url → the variable that stands in for it
    "host": "PGHOST",
    "port": "PGPORT",
    "dbname": "PGDATABASE",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "options": "PGOPTIONS",
    "application_name": "PGAPPNAME",
}
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SOCKETS = ("/run/postgresql", "/var/run/postgresql", "/tmp")  # noqa: S108 - PostgreSQL's own
_URL = re.compile(r"postgres(?:ql)?://(?:([^@/?#]*)@)?([^@/?#]*)(?:/([^@/?#]*))?(?:\?([^@#]*))?")
_PASS_LINE = re.compile(r"((?:[^\\:]|\\.)*):" * 4 + r"((?:[^\\:]|\\.)*)")


@dataclass(frozen=True)
class Server:
    """Where a server may be, and the password that holds there.

    Parameters
    ----------
    host
        A name or an address; or the folder of a socket, which begins with ``/``.
    port
        The number of its port, also of a socket.
    password
        Never shown.
    """

    host: str
    port: int
    password: str | None = field(repr=False)


@dataclass(frozen=True)
class Login:
    """Who asks which database, on the first of some servers that can be reached.

    Parameters
    ----------
    servers
        In the order in which they are tried.
    user, database
        As the server knows them.
    ssl_mode, root_certificate
        As PostgreSQL's ``sslmode`` and ``sslrootcert``.
    timeout
        Seconds to wait until a server is reached; without it as long as the system does.
    application, options
        What the server is told at the start.
    """

    servers: tuple[Server, ...]
    user: str
    database: str
    ssl_mode: str
    root_certificate: str | None
    timeout: float | None
    application: str
    options: str | None

    def ssl_context(self, server: Server) -> ssl.SSLContext | bool | None:
        """What the driver is told: False never, None if offered, otherwise always.

        Raises
        ------
        OSError
            The file of the root certificate cannot be read.
        """
        if self.ssl_mode == "disable" or server.host.startswith("/"):
            return False
        if self.ssl_mode in ("allow", "prefer"):
            return None
        if self.ssl_mode == "require" and not self.root_certificate:
            return True  # encrypted, whoever answers
        context = ssl.create_default_context(cafile=self.root_certificate)
        context.check_hostname = self.ssl_mode == "verify-full"
        return context


def login(url: str, environment: Mapping[str, str] | None = None) -> Login:
    """Read a url; the environment and the password file say what it leaves out.

    The names of options and variables, and the file ``.pgpass``, are those of
    <https://www.postgresql.org/docs/current/libpq-connect.html>, as far as they are known here.

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
    >>> found = login("postgresql://clerk@db.example/register?sslmode=require", {"HOME": "/none"})
    >>> found.servers, found.user, found.ssl_mode
    ((Server(host='db.example', port=5432),), 'clerk', 'require')
    """
    variables = os.environ if environment is None else environment
    given = {
        option: variables[name] for option, name in _OPTIONS.items() if variables.get(name)
    } | _in_url(url)
    user = given.get("user") or getpass.getuser()
    database = given.get("dbname") or user
    mode = given.get("sslmode", "prefer")
    if mode not in _SSL_MODES:
        raise InputError(f"there is no such sslmode; write one of {', '.join(_SSL_MODES)}")
    timeout = _whole("connect_timeout", given.get("connect_timeout", "0"))
    known = _pass_file(variables)
    return Login(
        tuple(
            Server(host, port, given.get("password") or _kept(known, host, port, database, user))
            for host, port in _places(given)
        ),
        user,
        database,
        mode,
        given.get("sslrootcert"),
        timeout or None,
        given.get("application_name", "diskret"),
        given.get("options"),
    )


def _in_url(url: str) -> dict[str, str]:
    found = _URL.fullmatch(url)
    who, places, database, query = found.groups("") if found else ("", "", "", "")
    user, _, password = who.partition(":")
    hosts = [re.fullmatch(r"(\[.*\]|[^:]*)(?::(\d+))?", place) for place in places.split(",")]
    parts = {
        "host": ",".join(host[1].strip("[]") for host in hosts if host),
        "port": ",".join(host[2] or "" for host in hosts if host),
        "dbname": database,
        "user": user,
        "password": password,
    }
    for option in filter(None, query.split("&")):
        name, _, value = option.partition("=")
        parts[name] = value
    if parts.keys() - _OPTIONS:
        raise InputError(
            "the url has options that are not known (they are not shown because they may hold a "
            f"password); known are {', '.join(_OPTIONS)}"
        )
    return {option: unquote(value) for option, value in parts.items() if value.strip(",")}


def _places(given: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Hosts with their ports; one port holds for all hosts."""
    ports = [_whole("port", port or "5432") for port in given.get("port", "").split(",")]
    hosts = given.get("host", "").split(",")
    if len(ports) not in (1, len(hosts)):
        raise InputError(f"{len(ports)} ports for {len(hosts)} hosts; give one, or one for each")
    for host, port in zip(hosts, cycle(ports), strict=False):
        local = (folder for folder in _SOCKETS if Path(socket_file(folder, port)).exists())
        yield host or next(local, "localhost"), port


def socket_file(folder: str, port: int) -> str:
    """The file of a server's socket.

    Examples
    --------
    >>> socket_file("/run/postgresql", 5432)
    '/run/postgresql/.s.PGSQL.5432'
    """
    return f"{folder.rstrip('/')}/.s.PGSQL.{port}"


def _whole(option: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65535:
        raise InputError(f"the option {option} is no whole number from 0 to 65535")
    return int(text)


# ── the password file ───────────────────────────────────────────────────────────────


def _pass_file(variables: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The lines of the password file; as for PostgreSQL's own programs, others may not read it."""
    if "PGPASSFILE" in variables:
        path = Path(variables["PGPASSFILE"])
    elif os.name == "nt":
        path = Path(variables.get("APPDATA", "")) / "postgresql" / "pgpass.conf"
    else:
        path = Path(variables.get("HOME", "~")).expanduser() / ".pgpass"
    try:
        if os.name != "nt" and path.stat().st_mode & 0o077:
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = [_PASS_LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    return [
        tuple(re.sub(r"\\(.)", r"\1", part) for part in line.groups()) for line in found if line
    ]


def _kept(
    known: list[tuple[str, ...]], host: str, port: int, database: str, user: str
) -> str | None:
    hosts = {host, "localhost"} if host.startswith("/") else {host}
    for name, *others, password in known:
        asked = zip(others, (str(port), database, user), strict=True)
        if name in hosts | {"*"} and all(line in (value, "*") for line, value in asked):
            return password
    return None
