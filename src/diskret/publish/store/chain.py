"""Entries in one order, each sealed together with all before it.

A seal is a keyed fingerprint (BLAKE2b, RFC 7693) of the seal before it and of the entry, which
holds a keyed fingerprint of each of its tables. The head states, sealed as well, how many entries
there are and the last seal. So nobody without the office's key can change, remove, add or reorder
anything without being found out; nor cut off the end, unless he puts back a copy of the whole
ledger from before: then the last seal is another one than published releases remember.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import diskret.unrepeatable as unrepeatable
from diskret.errors import InputError, KeyFileError, VerificationError
from diskret.io.from_json import check_form, parse_json
from diskret.keys import SecretKeys
from diskret.publish.store.cells import Row
from diskret.publish.store.connection import Connection
from diskret.publish.store.entry import Entry, as_text, from_text
from diskret.texts.numbers import Count

_FORMAT = "diskret/ledger/1"
_FIRST = "the beginning"
_HEAD = 1


@dataclass(frozen=True)
class Head:
    """Where a ledger ends.

    `ledger` is a number that tells it from others, hexadecimal; `last` the seal of the last entry,
    and `title` that entry in words.
    """

    ledger: str
    entries: int
    last: str
    title: str


def exists(connection: Connection) -> bool:
    """Whether the database holds a ledger."""
    if not {"diskret_entries", "diskret_head"} <= {*connection.tables()}:
        return False
    # a killed process may have made tables, but not the head
    made = ("SELECT number FROM diskret_entries LIMIT 1", "SELECT id FROM diskret_head LIMIT 1")
    return any(connection.ask(one) for one in made)


def foreign(connection: Connection) -> str:
    """Tables that do not belong to a ledger, by name; empty if there are none."""
    return ", ".join(name for name in sorted(connection.tables()) if name not in _TABLES)


def create(connection: Connection, keys: SecretKeys) -> None:
    """Make an empty ledger where there is none yet."""
    if exists(connection):
        return
    _create_tables(connection)
    _write_head(connection, keys, Head(unrepeatable.new_number(), 0, _FIRST, _FIRST), new=True)
    connection.commit()


def read_head(connection: Connection, keys: SecretKeys, name: str) -> Head:
    """Where the ledger ends; refused if it was made with other keys, or was changed."""
    rows = connection.ask("SELECT text, seal FROM diskret_head")
    if not rows:
        raise VerificationError(f"the ledger {name} has lost its head: it was changed{_RESTORE}")
    text, seal = rows[0]
    content = _content(text, f"the head of the ledger {name}")
    if content.pop("keys") != _key_mark(keys, content["ledger"]):
        raise KeyFileError(
            f"the ledger {name} was made with other secret keys than these; give the ones it was "
            "made with (keys=, or the variable DISKRET_KEYS)"
        )
    if content.pop("format") != _FORMAT or seal != _head_seal(keys, text):
        raise VerificationError(
            f"the head of the ledger {name} does not bear its seal: it was changed{_RESTORE}"
        )
    return Head(**content)


def read_entries(connection: Connection, keys: SecretKeys, name: str) -> list[Entry]:
    """All entries; the order, the text and the number of them are checked."""
    # the head first: what is entered meanwhile lies beyond it
    head = read_head(connection, keys, name)
    rows = connection.ask(
        "SELECT number, text, seal FROM diskret_entries WHERE number <= ? ORDER BY number",
        head.entries,
    )
    last, found = _FIRST, list[Entry]()
    for place, (number, said, seal) in enumerate(rows, start=1):
        text = said if isinstance(said, str) else ""
        if number != place or seal != _seal(keys, last, number, text):
            raise VerificationError(
                f"the ledger {name} was changed at place {place}: {_title(number, said)} "
                f"does not follow {found[-1].title if found else _FIRST}{_RESTORE}"
            )
        last = seal
        found.append(from_text(text))
    if len(found) != head.entries or last != head.last:
        many = Count(head.entries)
        raise VerificationError(
            f"the end of the ledger {name} was cut off: it had {many} {many:entry|entries}, the "
            f"last was {head.title}, and there are {len(found)}{_RESTORE}"
        )
    return found


def read_rows(
    connection: Connection, keys: SecretKeys, name: str, wanted: Sequence[tuple[Entry, int]]
) -> list[Row]:
    """Tables of entries, by their positions; each is what was entered."""
    found: list[Row] = []
    for entry, position in wanted:
        rows = connection.ask(
            "SELECT structure, cells, contributions FROM diskret_tables "
            "WHERE entry = ? AND position = ?",
            entry.number,
            position,
        )
        note = entry.tables[position]
        kept = Row(*rows[0]) if rows else None
        if kept is None or not kept.readable or kept.mark(keys) != note.mark:
            what = "is missing" if kept is None else "was changed"
            raise VerificationError(
                f"the ledger {name} was changed: table {note.name!r} of {entry.title} "
                f"{what}{_RESTORE}"
            )
        found.append(kept)
    return found


def check_all(connection: Connection, keys: SecretKeys, name: str) -> int:
    """Check every entry and every table; the number of entries."""
    entries = read_entries(connection, keys, name)
    for entry in entries:
        read_rows(connection, keys, name, [(entry, i) for i in range(len(entry.tables))])
    stated = {(entry.number, i) for entry in entries for i in range(len(entry.tables))}
    there = connection.ask(
        "SELECT entry, position FROM diskret_tables WHERE entry <= ?", len(entries)
    )
    added = sorted({(number, position) for number, position in there} - stated)
    if added:
        many = Count(len(added))
        raise VerificationError(
            f"the ledger {name} was changed: {many} {many:table was|tables were} added to "
            f"{entries[added[0][0] - 1].title}{_RESTORE}"
        )
    return len(entries)


def check_mark(
    connection: Connection, keys: SecretKeys, name: str, mark: Mapping[str, Any]
) -> None:
    """Refuse a release whose mark names no entry of this ledger."""
    head = read_head(connection, keys, name)
    about = f"release {mark.get('release')!r}"
    if mark.get("ledger") != head.ledger:
        raise VerificationError(f"{about} belongs to another ledger than {name}")
    rows = connection.ask(
        "SELECT seal FROM diskret_entries WHERE number = ? AND number <= ?",
        mark.get("entry"),
        head.entries,
    )
    if not rows or rows[0][0] != mark.get("seal"):
        raise VerificationError(
            f"{about} is entry {mark.get('entry')} of the ledger {name}, which holds no such entry "
            f"any more: it is an old copy{_RESTORE}"
        )


# ── adding ──────────────────────────────────────────────────────────────────────────


def sealed(keys: SecretKeys, head: Head, entry: Entry) -> str:
    """The seal that an entry gets as the next one."""
    return _seal(keys, head.last, entry.number, as_text(entry))


def insert_entry(
    connection: Connection, keys: SecretKeys, head: Head, entry: Entry, rows: Iterable[Row]
) -> None:
    """Write an entry and its tables beyond the head; it counts when the head has `advanced`."""
    connection.ask(
        "INSERT INTO diskret_entries (number, text, seal) VALUES (?, ?, ?)",
        entry.number,
        as_text(entry),
        sealed(keys, head, entry),
    )
    for position, row in enumerate(rows):
        connection.ask(
            "INSERT INTO diskret_tables (entry, position, structure, cells, contributions) "
            "VALUES (?, ?, ?, ?, ?)",
            entry.number,
            position,
            row.structure,
            row.cells,
            row.contributions,
        )


def advance(connection: Connection, keys: SecretKeys, head: Head, entry: Entry, seal: str) -> None:
    """Count an entry that was inserted."""
    _write_head(connection, keys, replace(head, entries=entry.number, last=seal, title=entry.title))


def remove_beyond(connection: Connection, head: Head) -> None:
    """Forget an entry that does not count yet."""
    connection.ask("DELETE FROM diskret_tables WHERE entry > ?", head.entries)
    connection.ask("DELETE FROM diskret_entries WHERE number > ?", head.entries)


# ── seals ───────────────────────────────────────────────────────────────────────────

_HEAD_FORM = dict.fromkeys(("format", "keys", "ledger", "last", "title"), str) | {"entries": int}


def _content(text: Any, source: str) -> dict[str, Any]:
    """What the head says, if it can be read at all."""
    if not isinstance(text, str):
        raise VerificationError(f"{source} was changed{_RESTORE}")
    content = parse_json(text, source, VerificationError)
    check_form(content, _HEAD_FORM, source, VerificationError)
    if len(content) < len(_HEAD_FORM):
        raise VerificationError(f"{source} was changed: it lacks a part{_RESTORE}")
    return content


_RESTORE = ". Restore it from a backup; nothing can be published beside a ledger that may be wrong"


def _seal(keys: SecretKeys, last: str, number: int, text: str) -> str:
    return keys.fingerprint("ledger entry", [last.encode(), str(number).encode(), text.encode()])


def _head_seal(keys: SecretKeys, text: str) -> str:
    return keys.fingerprint("ledger head", [text.encode()])


def _key_mark(keys: SecretKeys, ledger: str) -> str:
    return keys.fingerprint("ledger keys", [ledger.encode()])


def _write_head(connection: Connection, keys: SecretKeys, head: Head, new: bool = False) -> None:
    content: dict[str, Any] = {
        "format": _FORMAT,
        "keys": _key_mark(keys, head.ledger),
        "ledger": head.ledger,
        "entries": head.entries,
        "last": head.last,
        "title": head.title,
    }
    text = json.dumps(content, ensure_ascii=False)
    if new:
        statement = "INSERT INTO diskret_head (text, seal, id) VALUES (?, ?, ?)"
    else:
        statement = "UPDATE diskret_head SET text = ?, seal = ?, id = ?"
    connection.ask(statement, text, _head_seal(keys, text), _HEAD)


def _title(number: int, text: str) -> str:
    try:
        return from_text(text).title
    except (ValueError, KeyError, TypeError, InputError):  # not even readable any more
        return f"entry {number}"


# ── the tables of the database ──────────────────────────────────────────────────────

_SEALED = "text TEXT NOT NULL, seal VARCHAR(64) NOT NULL"
_KEPT = "structure TEXT NOT NULL, cells {bytes} NOT NULL, contributions {bytes}"

#: Table → its columns.
_TABLES = {
    # one row: which ledger this is, how many entries it holds, and the seal of the last one
    "diskret_head": f"id INTEGER NOT NULL, {_SEALED}, PRIMARY KEY (id)",
    # What happened, in order. Nothing here is ever changed or removed, but for an entry beyond the
    # number that the head states: it was written by a publication that is not finished.
    "diskret_entries": f"number INTEGER NOT NULL, {_SEALED}, PRIMARY KEY (number)",
    # the published tables of an entry, each with what has to be known to protect it again
    "diskret_tables": (
        f"entry INTEGER NOT NULL, position INTEGER NOT NULL, {_KEPT}, PRIMARY KEY (entry, position)"
    ),
    # at most one row: the publication that is under way, or was when it was cut short
    "diskret_unfinished": f"id INTEGER NOT NULL, {_SEALED}, PRIMARY KEY (id)",
}


def _create_tables(connection: Connection) -> None:
    """Make the tables that are not there yet."""
    for name, columns in _TABLES.items():
        own = columns.format(bytes=connection.bytes)
        connection.ask(f"CREATE TABLE IF NOT EXISTS {name} ({own})")
