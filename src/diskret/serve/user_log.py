"""Users in the database of a ledger: the sections of their file, each change an entry of a log."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from time import monotonic

from diskret.errors import DiskretError
from diskret.io.from_json import parse_json
from diskret.keys import SecretKeys
from diskret.publish.store import log, store
from diskret.publish.store.connection import Connection
from diskret.publish.store.database import Line
from diskret.publish.store.log import USERS
from diskret.serve.user_file import Known, known_of

#: Seconds between two looks whether something was changed.
_PAUSE = 1.0


class UserLog:
    """Where users are kept that several services share. Confidential.

    Entries are sealed together with all before them, so who can write into the database but has no
    keys gives nobody a role, and takes no revocation away. What one process changes holds in the
    others within a second.

    Parameters
    ----------
    ledger
        A SQLite file, or the url of a PostgreSQL database; see `Ledger.create`.
    keys
        The office's secret keys.
    wait
        Seconds to wait while others change something.

    Raises
    ------
    InputError
        There is no such ledger.
    VerificationError
        The log was changed.
    """

    def __init__(self, ledger: str | PathLike[str], keys: SecretKeys, *, wait: float = 30):
        self._store = store.open_store(ledger, keys, wait)
        self._line = Line(self._store.database, USERS, wait)
        self._place = log.BEGINNING
        self._said: list[str] = []
        self._next = 0.0
        #: How messages call it.
        self.path = Path(self._store.name)
        with self._line.transaction() as connection:
            self._catch_up(connection)

    def state(self) -> object:
        """What changes with the log; as it was, where the database does not answer."""
        if monotonic() >= self._next:
            with suppress(DiskretError, OSError), self._line.transaction() as connection:
                self._catch_up(connection)
            self._next = monotonic() + _PAUSE
        return self._place

    def read(self) -> Known:
        """What the log said when it was looked at."""
        return known_of("\n".join(self._said), self.path)

    def append(self, said: Callable[[Known], list[str]]) -> None:
        """Add sections, all or none, by what the log says when nobody else changes it."""
        with self._line.transaction() as connection:
            self._catch_up(connection)
            if not (lines := said(self.read())):
                return
            text = "\n".join(lines)
            known_of("\n".join([*self._said, text]), self.path)
            entry = json.dumps({"users": text}, ensure_ascii=False)
            self._place = log.append_to(
                connection, self._store.keys, self._place, [(entry, None)], USERS
            )
            self._said.append(text)

    def close(self) -> None:
        """Close the connection; it is opened again when something is looked up."""
        self._line.close()

    def _catch_up(self, connection: Connection) -> None:
        found, place = log.read_since(
            connection, self._store.keys, self._store.name, self._place, USERS
        )
        self._said += [parse_json(one.text, "an entry of users")["users"] for one in found]
        self._place = place
