"""A log that only grows, in the database of a ledger: what happened to results of projects.

Each entry is sealed together with all before it, as entries of the ledger are (`chain`), and says
what is kept with it by a keyed fingerprint. Its tables are made when they are first needed, so a
ledger that was made before goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diskret.errors import VerificationError
from diskret.io.from_json import check_form, parse_json
from diskret.keys import SecretKeys
from diskret.publish.store.database import Connection

_FIRST = "the beginning"
_FORM = {"entries": int, "last": str}


@dataclass(frozen=True)
class Logged:
    """An entry; `text` is JSON, `mark` the keyed fingerprint of what is kept, "" of nothing."""

    number: int
    text: str
    mark: str


@dataclass(frozen=True)
class Kept:
    """What is kept with an entry: `said`, JSON, and arrays."""

    said: str
    arrays: bytes

    def mark(self, keys: SecretKeys) -> str:
        """Keyed fingerprint of both."""
        return keys.fingerprint("desk content", [self.said.encode(), self.arrays])


def read(connection: Connection, keys: SecretKeys, name: str) -> list[Logged]:
    """All entries; order, text and number are checked. None where no log was begun.

    Raises
    ------
    VerificationError
        Something was changed, removed, added or reordered.
    """
    there = {*_TABLES} & {*connection.tables()}
    if not there:
        return []
    if len(there) < len(_TABLES):
        raise _changed(name, "a table of it is missing")
    number, last = _head(connection, keys, name)
    rows = connection.ask(
        "SELECT number, text, mark, seal FROM diskret_desk_log WHERE number <= ? ORDER BY number",
        number,
    )
    before, found = _FIRST, list[Logged]()
    for place, (at, text, mark, seal) in enumerate(rows, start=1):
        if at != place or seal != _seal(keys, before, place, str(text), str(mark)):
            raise _changed(name, f"entry {place} does not follow the one before it")
        before = seal
        found.append(Logged(place, text, mark))
    if len(found) != number or before != last:
        raise _changed(name, f"it had {number:,} entries, and there are {len(found):,}")
    return found


def content(connection: Connection, keys: SecretKeys, name: str, entry: Logged) -> Kept:
    """What is kept with an entry, as it was entered.

    Raises
    ------
    VerificationError
        It is missing or was changed.
    """
    rows = connection.ask(
        "SELECT said, arrays FROM diskret_desk_kept WHERE number = ?", entry.number
    )
    if rows and isinstance(rows[0][0], str) and isinstance(rows[0][1], bytes):
        kept = Kept(*rows[0])
        if kept.mark(keys) == entry.mark:
            return kept
    raise _changed(name, f"what is kept with entry {entry.number} is missing or was changed")


def append(
    connection: Connection,
    keys: SecretKeys,
    name: str,
    entries: Sequence[tuple[str, Kept | None]],
) -> None:
    """Add entries, all or none; only with the connection that may change the ledger."""
    _create_tables(connection, keys)
    number, last = _head(connection, keys, name)
    # what a killed process left beyond the head never counted
    connection.ask("DELETE FROM diskret_desk_log WHERE number > ?", number)
    connection.ask("DELETE FROM diskret_desk_kept WHERE number > ?", number)
    for text, kept in entries:
        number += 1
        mark = "" if kept is None else kept.mark(keys)
        last = _seal(keys, last, number, text, mark)
        connection.ask(
            "INSERT INTO diskret_desk_log (number, text, mark, seal) VALUES (?, ?, ?, ?)",
            number,
            text,
            mark,
            last,
        )
        if kept is not None:
            connection.ask(
                "INSERT INTO diskret_desk_kept (number, said, arrays) VALUES (?, ?, ?)",
                number,
                kept.said,
                kept.arrays,
            )
    _write_head(connection, keys, number, last, "UPDATE diskret_desk_head SET text = ?, seal = ?")
    connection.commit()


# ── seals and tables ────────────────────────────────────────────────────────────────


def _seal(keys: SecretKeys, last: str, number: int, text: str, mark: str) -> str:
    parts = (last, str(number), text, mark)
    return keys.fingerprint("desk entry", [part.encode() for part in parts])


def _head(connection: Connection, keys: SecretKeys, name: str) -> tuple[int, str]:
    rows = connection.ask("SELECT text, seal FROM diskret_desk_head")
    if len(rows) != 1 or rows[0][1] != keys.fingerprint("desk head", [str(rows[0][0]).encode()]):
        raise _changed(name, "its head does not bear its seal")
    said: dict[str, Any] = parse_json(rows[0][0], "the log of projects", VerificationError)
    check_form(said, _FORM, "the log of projects", VerificationError)
    return said["entries"], said["last"]


def _write_head(
    connection: Connection, keys: SecretKeys, number: int, last: str, statement: str
) -> None:
    text = json.dumps({"entries": number, "last": last})
    connection.ask(statement, text, keys.fingerprint("desk head", [text.encode()]))


def _changed(name: str, what: str) -> VerificationError:
    return VerificationError(
        f"the log of projects in the ledger {name} was changed: {what}. Restore it from a backup; "
        "nothing can be judged beside a log that may be wrong"
    )


_TABLES = {
    "diskret_desk_head": "id INTEGER NOT NULL, text TEXT NOT NULL, seal VARCHAR(64) NOT NULL, "
    "PRIMARY KEY (id)",
    "diskret_desk_log": "number INTEGER NOT NULL, text TEXT NOT NULL, mark VARCHAR(64) NOT NULL, "
    "seal VARCHAR(64) NOT NULL, PRIMARY KEY (number)",
    "diskret_desk_kept": "number INTEGER NOT NULL, said TEXT NOT NULL, arrays {bytes} NOT NULL, "
    "PRIMARY KEY (number)",
}


def _create_tables(connection: Connection, keys: SecretKeys) -> None:
    """Make the tables that are not there; a head only where nothing was entered yet."""
    if {*_TABLES} <= {*connection.tables()}:
        return
    for table, columns in _TABLES.items():
        own = columns.format(bytes=connection.bytes)
        connection.ask(f"CREATE TABLE IF NOT EXISTS {table} ({own})")
    if not connection.ask("SELECT number FROM diskret_desk_log LIMIT 1"):
        if not connection.ask("SELECT id FROM diskret_desk_head"):
            insert = "INSERT INTO diskret_desk_head (id, text, seal) VALUES (1, ?, ?)"
            _write_head(connection, keys, 0, _FIRST, insert)
