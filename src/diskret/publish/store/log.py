"""Logs that only grow, in the database of a ledger: what happened to results, who asked what.

There may be several, each with a name of its own. Each entry is sealed together with all before
it, as entries of the ledger are (`chain`), and says what is kept with it by a keyed fingerprint.
Its tables are made when they are first needed, so a ledger that was made before goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from diskret.errors import VerificationError
from diskret.io.from_json import check_form, parse_json
from diskret.keys import SecretKeys
from diskret.publish.store.database import Connection

#: The log of the checker's desk.
DESK = "desk"
#: The log of remote access.
REMOTE = "remote"
#: The log of tables in real time.
SERVE = "serve"
#: The log of users of tables in real time.
USERS = "users"

_FIRST = "the beginning"
#: Where every log begins: how many entries there are, and the seal of the last one.
BEGINNING = (0, _FIRST)
#: Rows that are inserted with one statement.
_ROWS = 100
_FORM = {"entries": int, "last": str}


@dataclass(frozen=True)
class Logged:
    """An entry; `text` is JSON, `mark` the keyed fingerprint of what is kept, "" of nothing."""

    number: int
    text: str
    mark: str


def text_of(event: Any) -> str:
    """The text of an entry: what the fields of a dataclass say, but for its place in the log."""
    content = asdict(event)
    del content["number"]
    return json.dumps(content, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True)
class Kept:
    """What is kept with an entry: `said`, JSON, and arrays."""

    said: str
    arrays: bytes

    def mark(self, keys: SecretKeys, log: str = DESK) -> str:
        """Keyed fingerprint of both."""
        return keys.fingerprint(f"{log} content", [self.said.encode(), self.arrays])


def read(connection: Connection, keys: SecretKeys, name: str, log: str = DESK) -> list[Logged]:
    """All entries; order, text and number are checked. None where no log was begun.

    Raises
    ------
    VerificationError
        Something was changed, removed, added or reordered.
    """
    return read_since(connection, keys, name, BEGINNING, log)[0]


def read_since(
    connection: Connection, keys: SecretKeys, name: str, place: tuple[int, str], log: str = DESK
) -> tuple[list[Logged], tuple[int, str]]:
    """The entries after a place that was read before, checked, and the place behind them.

    Raises
    ------
    VerificationError
        Something was changed, removed, added or reordered, or the log ends before the place.
    """
    if place == BEGINNING:
        tables = _tables(log)
        there = {*tables} & {*connection.tables()}
        if not there:
            return [], BEGINNING
        if len(there) < len(tables):
            raise _changed(name, "a table of it is missing")
    number, last = _head(connection, keys, name, log)
    rows = connection.ask(
        _named(
            "SELECT number, text, mark, seal FROM diskret_{log}_log WHERE number > ? "
            "AND number <= ? ORDER BY number",
            log,
        ),
        place[0],
        number,
    )
    at, before = place
    found: list[Logged] = []
    for at, row in enumerate(rows, start=place[0] + 1):
        said, text, mark, seal = row
        if said != at or seal != _seal(keys, before, at, str(text), str(mark), log):
            raise _changed(name, f"entry {at} does not follow the one before it")
        before = seal
        found.append(Logged(at, text, mark))
    if at != number or before != last:
        raise _changed(name, f"it had {number:,} entries, and there are {at:,}")
    return found, (number, last)


def content(
    connection: Connection, keys: SecretKeys, name: str, entry: Logged, log: str = DESK
) -> Kept:
    """What is kept with an entry, as it was entered.

    Raises
    ------
    VerificationError
        It is missing or was changed.
    """
    rows = connection.ask(
        _named("SELECT said, arrays FROM diskret_{log}_kept WHERE number = ?", log), entry.number
    )
    if rows and isinstance(rows[0][0], str) and isinstance(rows[0][1], bytes):
        kept = Kept(*rows[0])
        if kept.mark(keys, log) == entry.mark:
            return kept
    raise _changed(name, f"what is kept with entry {entry.number} is missing or was changed")


def append(
    connection: Connection,
    keys: SecretKeys,
    name: str,
    entries: Sequence[tuple[str, Kept | None]],
    log: str = DESK,
) -> tuple[int, str]:
    """Add entries, all or none, and say where the log ends then.

    Only with the connection that may change the ledger.
    """
    _create_tables(connection, keys, log)
    place = _head(connection, keys, name, log)
    return append_to(connection, keys, place, entries, log)


def append_to(
    connection: Connection,
    keys: SecretKeys,
    place: tuple[int, str],
    entries: Sequence[tuple[str, Kept | None]],
    log: str = DESK,
) -> tuple[int, str]:
    """Add entries where the log ends, which was read in the same transaction; see `append`."""
    if place == BEGINNING:
        _create_tables(connection, keys, log)
    number, last = place
    # what a killed process left beyond the head never counted
    connection.ask(_named("DELETE FROM diskret_{log}_log WHERE number > ?", log), number)
    connection.ask(_named("DELETE FROM diskret_{log}_kept WHERE number > ?", log), number)
    rows: list[tuple[object, ...]] = []
    contents: list[tuple[object, ...]] = []
    for text, kept in entries:
        number += 1
        mark = "" if kept is None else kept.mark(keys, log)
        last = _seal(keys, last, number, text, mark, log)
        rows.append((number, text, mark, last))
        if kept is not None:
            contents.append((number, kept.said, kept.arrays))
    _insert(connection, _named("diskret_{log}_log (number, text, mark, seal)", log), rows)
    _insert(connection, _named("diskret_{log}_kept (number, said, arrays)", log), contents)
    update = _named("UPDATE diskret_{log}_head SET text = ?, seal = ?", log)
    _write_head(connection, keys, number, last, update, log)
    connection.commit()
    return number, last


def _insert(connection: Connection, into: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Several rows with each statement."""
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        places = ", ".join(f"({', '.join('?' * len(row))})" for row in some)
        values = (value for row in some for value in row)
        connection.ask(f"INSERT INTO {into} VALUES {places}", *values)  # noqa: S608 - names of ours


# ── seals and tables ────────────────────────────────────────────────────────────────


def _seal(keys: SecretKeys, last: str, number: int, text: str, mark: str, log: str) -> str:
    parts = (last, str(number), text, mark)
    return keys.fingerprint(f"{log} entry", [part.encode() for part in parts])


def _head(connection: Connection, keys: SecretKeys, name: str, log: str) -> tuple[int, str]:
    rows = connection.ask(_named("SELECT text, seal FROM diskret_{log}_head", log))
    if len(rows) != 1 or rows[0][1] != _head_seal(keys, str(rows[0][0]), log):
        raise _changed(name, "its head does not bear its seal")
    said: dict[str, Any] = parse_json(rows[0][0], "the log of projects", VerificationError)
    check_form(said, _FORM, "the log of projects", VerificationError)
    return said["entries"], said["last"]


def _head_seal(keys: SecretKeys, text: str, log: str) -> str:
    return keys.fingerprint(f"{log} head", [text.encode()])


def _write_head(
    connection: Connection, keys: SecretKeys, number: int, last: str, statement: str, log: str
) -> None:
    text = json.dumps({"entries": number, "last": last})
    connection.ask(statement, text, _head_seal(keys, text, log))


def _changed(name: str, what: str) -> VerificationError:
    return VerificationError(
        f"the log of projects in the ledger {name} was changed: {what}. Restore it from a backup; "
        "nothing can be judged beside a log that may be wrong"
    )


def _named(statement: str, log: str) -> str:
    return statement.replace("{log}", log)


def _tables(log: str) -> dict[str, str]:
    return {
        f"diskret_{log}_head": "id INTEGER NOT NULL, text TEXT NOT NULL, "
        "seal VARCHAR(64) NOT NULL, PRIMARY KEY (id)",
        f"diskret_{log}_log": "number INTEGER NOT NULL, text TEXT NOT NULL, "
        "mark VARCHAR(64) NOT NULL, seal VARCHAR(64) NOT NULL, PRIMARY KEY (number)",
        f"diskret_{log}_kept": "number INTEGER NOT NULL, said TEXT NOT NULL, "
        "arrays {bytes} NOT NULL, PRIMARY KEY (number)",
    }


def _create_tables(connection: Connection, keys: SecretKeys, log: str) -> None:
    """Make the tables that are not there; a head only where nothing was entered yet."""
    tables = _tables(log)
    if {*tables} <= {*connection.tables()}:
        return
    for table, columns in tables.items():
        own = columns.format(bytes=connection.bytes)
        connection.ask(f"CREATE TABLE IF NOT EXISTS {table} ({own})")
    if not connection.ask(_named("SELECT number FROM diskret_{log}_log LIMIT 1", log)):
        if not connection.ask(_named("SELECT id FROM diskret_{log}_head", log)):
            insert = _named("INSERT INTO diskret_{log}_head (id, text, seal) VALUES (1, ?, ?)", log)
            _write_head(connection, keys, 0, _FIRST, insert, log)
