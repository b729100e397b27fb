"""Logs that only grow, in the database of a ledger: what happened to results, who asked what.

There may be several, each with a name of its own. Each entry is sealed together with all before
it, as entries of the ledger are (`chain`), and says what is kept with it by a keyed fingerprint.
Its tables are made when they are first needed, so a ledger that was made before goes on.

Old entries may be moved out (`cut`): then the log begins behind them, and an entry carries over
what still counts. Where it begins and which entry that is stands sealed beside the head.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from diskret.errors import VerificationError
from diskret.io.from_json import check_form, parse_json
from diskret.keys import SecretKeys
from diskret.publish.store.connection import Connection
from diskret.texts.numbers import Count

#: The log of the checker's desk.
DESK = "desk"
#: The log of remote access.
REMOTE = "remote"
#: The log of tables in real time.
SERVE = "serve"
#: The log of users of tables in real time.
USERS = "users"

#: In a log: how many entries there are, and the seal of the last one.
Place = tuple[int, str]

_FIRST = "the beginning"
#: Where every log begins.
BEGINNING: Place = (0, _FIRST)
#: Rows that are inserted with one statement.
_ROWS = 100
_FORM = {"entries": int, "last": str}
_BEGIN_FORM = {**_FORM, "carried": int}
#: Rows of the table of the head: where the log ends, and where it begins once it was cut.
_END, _BEGIN = 1, 2


@dataclass(frozen=True)
class Logged:
    """An entry; `text` is JSON, `mark` the keyed fingerprint of what is kept, "" of nothing.

    `seal`: of the entry together with all before it.
    """

    number: int
    text: str
    mark: str
    seal: str


@dataclass(frozen=True)
class Head:
    """Where a log ends and begins, and the entry that carries over what was before; 0: none."""

    end: Place
    begin: Place = BEGINNING
    carried: int = 0


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
    connection: Connection, keys: SecretKeys, name: str, place: Place, log: str = DESK
) -> tuple[list[Logged], Place]:
    """The entries after a place that was read before, checked, and the place behind them.

    What was moved out meanwhile is not among them.

    Raises
    ------
    VerificationError
        Something was changed, removed, added or reordered, or the log ends before the place.
    """
    if place == BEGINNING and not _there(connection, name, log):
        return [], BEGINNING
    head = read_head(connection, keys, name, log)
    at = head.begin if place[0] < head.begin[0] else place
    found = [*_after(connection, keys, name, at, head.end[0], log)]
    at = (found[-1].number, found[-1].seal) if found else at
    if at != head.end:
        number = Count(head.end[0])
        many = Count(at[0])
        raise _changed(
            name, f"it had {number} {number:entry|entries}, and there {many:is|are} {many}"
        )
    return found, head.end


def read_first(
    connection: Connection, keys: SecretKeys, name: str, number: int, log: str = DESK
) -> tuple[list[Logged], Head]:
    """The entries up to a number, checked, and the head of the log."""
    if not _there(connection, name, log):
        return [], Head(BEGINNING)
    head = read_head(connection, keys, name, log)
    return [*_after(connection, keys, name, head.begin, number, log)], head


def follow(
    entries: Iterable[Logged], keys: SecretKeys, name: str, place: Place, log: str = DESK
) -> Iterator[Logged]:
    """Entries, each checked to be the one that follows the one before it.

    Raises
    ------
    VerificationError
        One does not.
    """
    number, before = place
    for one in entries:
        number += 1
        if one.number != number or one.seal != _seal(keys, before, one, log):
            raise _changed(name, f"entry {number} does not follow the one before it")
        before = one.seal
        yield one


def _after(
    connection: Connection, keys: SecretKeys, name: str, place: Place, number: int, log: str
) -> Iterator[Logged]:
    rows = connection.ask(
        _named(
            "SELECT number, text, mark, seal FROM diskret_{log}_log WHERE number > ? "
            "AND number <= ? ORDER BY number",
            log,
        ),
        place[0],
        number,
    )
    entries = (Logged(at, str(text), str(mark), seal) for at, text, mark, seal in rows)
    return follow(entries, keys, name, place, log)


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


def carried_over(
    connection: Connection, keys: SecretKeys, name: str, log: str = DESK
) -> Kept | None:
    """What still counts of entries that were moved out; None: none were.

    Raises
    ------
    VerificationError
        It is missing or was changed.
    """
    head = read_head(connection, keys, name, log)
    if not head.carried:
        return None
    rows = connection.ask(
        _named("SELECT text, mark, seal FROM diskret_{log}_log WHERE number = ?", log), head.carried
    )
    # that it follows those before it is checked when they are read
    entries = [Logged(head.carried, str(text), str(mark), seal) for text, mark, seal in rows]
    if len(entries) != 1:
        raise _changed(name, f"entry {head.carried} is missing")
    return content(connection, keys, name, entries[0], log)


def append(
    connection: Connection,
    keys: SecretKeys,
    name: str,
    entries: Sequence[tuple[str, Kept | None]],
    log: str = DESK,
) -> Place:
    """Add entries, all or none, and say where the log ends then.

    Only with the connection that may change the ledger.
    """
    _create_tables(connection, keys, log)
    place = read_head(connection, keys, name, log).end
    return append_to(connection, keys, place, entries, log)


def append_to(
    connection: Connection,
    keys: SecretKeys,
    place: Place,
    entries: Sequence[tuple[str, Kept | None]],
    log: str = DESK,
) -> Place:
    """Add entries where the log ends, which was read in the same transaction; see `append`."""
    place = _entered(connection, keys, place, entries, log)
    connection.commit()
    return place


def cut(
    connection: Connection,
    keys: SecretKeys,
    place: Place,
    begin: Place,
    carried: tuple[str, Kept],
    log: str = DESK,
) -> Place:
    """Take out all entries up to `begin`, and enter what is carried over from them: both or none.

    `place`: where the log ends, which was read in the same transaction.
    """
    place = _entered(connection, keys, place, [carried], log)
    connection.ask(_named("DELETE FROM diskret_{log}_log WHERE number <= ?", log), begin[0])
    connection.ask(_named("DELETE FROM diskret_{log}_kept WHERE number <= ?", log), begin[0])
    text = json.dumps({"entries": begin[0], "last": begin[1], "carried": place[0]})
    connection.ask(_named("DELETE FROM diskret_{log}_head WHERE id = ?", log), _BEGIN)
    connection.ask(
        _named("INSERT INTO diskret_{log}_head (id, text, seal) VALUES (?, ?, ?)", log),
        _BEGIN,
        text,
        _head_seal(keys, text, _BEGIN, log),
    )
    connection.commit()
    return place


def _entered(
    connection: Connection,
    keys: SecretKeys,
    place: Place,
    entries: Sequence[tuple[str, Kept | None]],
    log: str,
) -> Place:
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
        last = _seal(keys, last, Logged(number, text, mark, ""), log)
        rows.append((number, text, mark, last))
        if kept is not None:
            contents.append((number, kept.said, kept.arrays))
    _insert(connection, _named("diskret_{log}_log (number, text, mark, seal)", log), rows)
    _insert(connection, _named("diskret_{log}_kept (number, said, arrays)", log), contents)
    update = _named("UPDATE diskret_{log}_head SET text = ?, seal = ? WHERE id = 1", log)
    _write_head(connection, keys, number, last, update, log)
    return number, last


def _insert(connection: Connection, into: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Several rows with each statement."""
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        places = ", ".join(f"({', '.join('?' * len(row))})" for row in some)
        values = (value for row in some for value in row)
        connection.ask(f"INSERT INTO {into} VALUES {places}", *values)  # noqa: S608 - names of ours


# ── seals and tables ────────────────────────────────────────────────────────────────


def _seal(keys: SecretKeys, last: str, entry: Logged, log: str) -> str:
    parts = (last, str(entry.number), entry.text, entry.mark)
    return keys.fingerprint(f"{log} entry", [part.encode() for part in parts])


def read_head(connection: Connection, keys: SecretKeys, name: str, log: str = DESK) -> Head:
    """Where the log ends and begins.

    Raises
    ------
    VerificationError
        This was changed, or what is carried over was cut off.
    """
    rows = connection.ask(_named("SELECT id, text, seal FROM diskret_{log}_head", log))
    said: dict[int, dict[str, Any]] = {}
    for row, text, seal in rows:
        if seal != _head_seal(keys, str(text), row, log):
            raise _changed(name, "its head does not bear its seal")
        said[row] = parse_json(text, "the log of projects", VerificationError)
        form = _FORM if row == _END else _BEGIN_FORM
        check_form(said[row], form, "the log of projects", VerificationError)
    if _END not in said:
        raise _changed(name, "its head does not bear its seal")
    end = said[_END]["entries"], said[_END]["last"]
    if _BEGIN not in said:
        return Head(end)
    begin = said[_BEGIN]
    if begin["carried"] > end[0]:
        raise _changed(name, f"entry {begin['carried']} is missing")
    return Head(end, (begin["entries"], begin["last"]), begin["carried"])


def _head_seal(keys: SecretKeys, text: str, row: int, log: str) -> str:
    what = "head" if row == _END else "begin"
    return keys.fingerprint(f"{log} {what}", [text.encode()])


def _there(connection: Connection, name: str, log: str) -> bool:
    """Whether the log was begun."""
    tables = _tables(log)
    there = {*tables} & {*connection.tables()}
    if there and len(there) < len(tables):
        raise _changed(name, "a table of it is missing")
    return bool(there)


def _write_head(
    connection: Connection, keys: SecretKeys, number: int, last: str, statement: str, log: str
) -> None:
    text = json.dumps({"entries": number, "last": last})
    connection.ask(statement, text, _head_seal(keys, text, _END, log))


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
