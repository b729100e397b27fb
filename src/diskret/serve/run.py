"""A service from its configuration: opened, checked, run, and closed in order."""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from diskret.errors import DiskretError, InputError
from diskret.keys import SecretKeys
from diskret.outputs.desk import Desk
from diskret.remote.office import Office
from diskret.serve.config import Service, read_config
from diskret.serve.journal import Journal
from diskret.serve.limits import Failures, Rate
from diskret.serve.releases import Releases
from diskret.serve.tabulator import Tabulator
from diskret.serve.user_log import UserLog
from diskret.serve.users import Users

if TYPE_CHECKING:
    import uvicorn

_log = logging.getLogger("diskret")

#: Seconds between two entries of what was gathered.
_FLUSH = 1.0
#: Of mallopt in glibc: how many heaps there may be; it has no other name outside of C.
_ARENA_MAX, _ARENAS = -8, 2


@dataclass(frozen=True, eq=False)
class Opened:
    """What a service is made of. Confidential."""

    service: Service
    tables: Tabulator
    users: Users
    journal: Journal
    keys: SecretKeys


def open_service(
    config: str | PathLike[str], keys: SecretKeys | str | PathLike[str] | None = None
) -> Opened:
    """Read a configuration and open what it names; records are read once, to check them.

    Parameters
    ----------
    config
        See the page on tables in real time.
    keys
        The office's secret keys, see `SecretKeys.load`.

    Raises
    ------
    JobError
        The configuration says something that cannot be; names the line.
    InputError
        A file, the ledger or a column is not there, or records do not fit their registration.
    VerificationError
        The ledger or the journal was changed.
    """
    service = read_config(Path(config))
    own = SecretKeys.load(keys, create=False)
    users = users_of(service, own)
    journal = Journal(service.ledger, own, wait=service.limits.seconds)
    hidden = any(one.suppression is not None for one in service.data)
    tables = Tabulator(
        service.data,
        own,
        journal=journal,
        seconds=service.limits.seconds,
        releases=Releases(service.ledger, service.releases, own) if hidden else None,
    )
    tables.check()
    return Opened(service, tables, users, journal, own)


def users_of(service: Service, keys: SecretKeys) -> Users:
    """The users of a service, from their file or from the database of its ledger.

    Raises
    ------
    InputError
        There is no such file or ledger.
    """
    if service.users is not None:
        return Users(service.users, keys)
    return Users(UserLog(service.ledger, keys, wait=service.limits.seconds), keys)


@contextmanager
def server_of(opened: Opened, ready: Callable[[str], None]) -> Generator[uvicorn.Server]:
    """The server of a service; the journal says when it was started and stopped.

    Parameters
    ----------
    ready
        Is told the address once requests are taken.

    Raises
    ------
    InputError
        The extra ``web`` is not installed.
    """
    try:
        from diskret.serve.web.app import application
        from diskret.serve.web.gate import Gate
        from diskret.serve.web.server import server
    except ImportError as error:
        raise InputError(
            "a service needs FastAPI and uvicorn; install them with: pip install 'diskret[web]'"
        ) from error
    service, limits = opened.service, opened.service.limits
    gate = Gate(
        lambda token, now: opened.users.of(token, now.date()),
        Rate(limits.each_second, limits.at_once),
        Failures(),
        noted=lambda address: opened.journal.gather("not let in", address, None),
    )
    app = application(
        opened.tables,
        gate,
        service.title,
        limits,
        office=Office(service.ledger, opened.keys) if service.remote else None,
        desk=Desk(service.ledger, opened.keys) if service.remote else None,
    )
    keep_few_heaps()
    with _entered(opened.journal), closing(opened.tables):
        yield server(app, service, ready)


def keep_few_heaps() -> None:
    """Have all threads share two heaps, where the system's library can.

    By default glibc makes eight for each processor, and what questions leave free in one is of no
    use to the others.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another library, which has no such heaps
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)


@contextmanager
def _entered(journal: Journal) -> Generator[None]:
    """What is gathered is entered each second, and all of it at the end."""
    ended = threading.Event()

    def flush() -> None:
        while not ended.wait(_FLUSH):
            try:
                journal.flush()
            except (DiskretError, OSError) as error:  # it stays gathered
                _log.warning(f"the journal is not written for now: {error}")

    journal.gather("started", "", None)
    journal.flush()
    thread = threading.Thread(target=flush, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        journal.gather("stopped", "", None)
        journal.flush()
