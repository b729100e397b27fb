"""A ledger's verbs: open, read, add, publish together with files."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys
from diskret.publish.digests import check_files, digest
from diskret.publish.json_files import write_json
from diskret.publish.staging import Stage, filled, move, new_room, target_of
from diskret.publish.store import chain
from diskret.publish.store.cells import Row, earlier_of, keyed_contributions
from diskret.publish.store.connection import Busy, Connection
from diskret.publish.store.database import (
    Database,
    changing,
    check_private,
    database,
    make_private,
    reading,
)
from diskret.publish.store.entry import Entry
from diskret.publish.store.unfinished import (
    Unfinished,
    finish,
    finish_event,
    settle,
    state,
    stated,
    this_host,
)
from diskret.tables.requirements import Earlier

#: The file among the office's own that says which entry a release is.
LEDGER = "ledger.json"
_SCHEMA = "diskret/ledger-entry/1"
_MARK = {**dict.fromkeys(("schema", "name", "ledger", "release", "seal"), str), "entry": int}


@dataclass(frozen=True)
class Store:
    """A ledger that can be read and added to; `wait` seconds for others who change it."""

    database: Database
    keys: SecretKeys
    wait: float

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.database.name


def create_store(place: str | PathLike[str], keys: SecretKeys, wait: float) -> Store:
    """Make an empty ledger where there is none, and no other database."""
    store = Store(database(place), keys, wait)
    make_private(store.database)
    with changing(store.database, wait) as connection:
        if chain.exists(connection):
            raise InputError(
                f"there is a ledger {store.name} already; open it with dk.Ledger, or create one at "
                "another place"
            )
        if store.database.file is not None and (other := chain.foreign(connection)):
            raise InputError(
                f"{store.name} is no ledger but another database (it holds {other}); choose "
                "another place"
            )
        chain.create(connection, keys)
    return store


def open_store(place: str | PathLike[str], keys: SecretKeys, wait: float) -> Store:
    """Open a ledger; what a killed publication left is finished or undone.

    A ledger that is lost must not look like a new one: the next table would be protected beside
    nothing. So what is not there is an error, and so is an empty file.
    """
    store = Store(database(place), keys, wait)
    missing = store.database.missing
    if not missing:
        check_private(store.database)
        with reading(store.database) as connection:
            missing = "" if chain.exists(connection) else "it is a database without a ledger"
    if missing:
        raise InputError(
            f"there is no ledger {store.name}: {missing}. Check the name, or restore the ledger "
            "from a backup. Only if nothing was ever published through it, create it: "
            "dk.Ledger.create, or diskret ledger create --ledger FILE"
        )
    with read(store) as connection:
        entries(connection, store)
    return store


@contextmanager
def read(store: Store) -> Generator[Connection]:
    """A connection to read with, in order: files and entries say the same."""
    _settled(store)
    with reading(store.database) as connection:
        yield connection


@contextmanager
def change(store: Store) -> Generator[Connection]:
    """The connection to change the ledger with: in order, and nobody else changes it."""
    with changing(store.database, store.wait) as connection:
        settle(connection, store.keys, store.name)
        yield connection


def entries(connection: Connection, store: Store) -> list[Entry]:
    """All entries in order; their seals are checked."""
    return chain.read_entries(connection, store.keys, store.name)


def position(connection: Connection, store: Store) -> str:
    """Number and seal of the last entry: no other ledger, and no other state of it, has it."""
    head = chain.read_head(connection, store.keys, store.name)
    return f"{head.entries} {head.last}"


def load(
    connection: Connection, store: Store, wanted: Sequence[tuple[Entry, int]]
) -> list[Earlier]:
    """Tables of entries by their positions; nothing else is read."""
    rows = chain.read_rows(connection, store.keys, store.name, wanted)
    keyed = partial(keyed_contributions, keys=store.keys)
    return [
        replace(earlier_of(row, entry, entry.tables[at]), keyed=keyed)
        for row, (entry, at) in zip(rows, wanted, strict=True)
    ]


def verify(
    connection: Connection, store: Store, folders: Sequence[str | PathLike[str]] = ()
) -> int:
    """Check every entry and table, and the public files of releases; the number of entries.

    Files of the folders given, which say which entry they are, and of those that releases were
    written into as far as they are there, must have the digests that the ledger keeps.
    """
    number = chain.check_all(connection, store.keys, store.name)
    found = {entry.number: entry for entry in entries(connection, store)}
    for folder in folders:
        mark = _mark_of(Path(folder))
        chain.check_mark(connection, store.keys, store.name, mark)
        check_files(Path(folder) / "public", found[mark["entry"]].files)
    for entry in found.values():
        if entry.kind == "publish" and _still_there(Path(entry.folder), entry):
            check_files(Path(entry.folder) / "public", entry.files)
    return number


def _mark_of(folder: Path) -> dict[str, Any]:
    """What the office's files of a release say of its entry."""
    path = folder / "internal" / LEDGER
    mark = read_json(path)
    check_form(mark, _MARK, str(path))
    if len(mark) < len(_MARK):
        raise InputError(f"{path} does not say which entry of a ledger this is")
    return mark


def _still_there(folder: Path, entry: Entry) -> bool:
    """Whether the folder that an entry was written into holds that release, not a later one."""
    try:
        return (folder / "public").is_dir() and _mark_of(folder)["entry"] == entry.number
    except InputError:
        return False


def add(connection: Connection, store: Store, entry: Entry, rows: Sequence[Row] = ()) -> Entry:
    """Enter what comes without files; it gets the next number."""
    head = chain.read_head(connection, store.keys, store.name)
    entry = replace(entry, number=head.entries + 1)
    chain.insert_entry(connection, store.keys, head, entry, rows)
    seal = chain.sealed(store.keys, head, entry)
    chain.advance(connection, store.keys, head, entry, seal)
    connection.commit()
    return entry


@contextmanager
def entering(
    connection: Connection,
    store: Store,
    release: str,
    folder: str | PathLike[str],
    described: Callable[[], tuple[Entry, Sequence[Row]]],
) -> Generator[Stage]:
    """Write a folder and enter it as a release: both, or neither.

    `folder` is a target as of `staged`. `described` gives the entry (without number, files and
    folder) and its tables; it is called when all files are written.
    """
    keys, name = store.keys, store.name
    target = target_of(folder)
    room = new_room(target)
    note = Unfinished(release, this_host(), str(room), str(target))
    state(connection, keys, note)
    connection.commit()
    try:
        with filled(room, keys) as stage:
            yield stage
            head = chain.read_head(connection, keys, name)
            entry, rows = described()
            files = {path.name: digest(path) for path in sorted(stage.public.iterdir())}
            entry = replace(entry, number=head.entries + 1, folder=str(target), files=files)
            _leave_mark(stage, store, head, entry)
        chain.insert_entry(connection, keys, head, entry, rows)
        state(connection, keys, replace(note, files=_digests(room)))
        connection.commit()
        move(room, target)
        finish(connection, keys, name)
    except BaseException:
        # if this fails too, whoever opens the ledger next does it
        with suppress(Exception):
            connection.rollback()
            settle(connection, keys, name)
        raise


@contextmanager
def releasing(
    connection: Connection,
    store: Store,
    release: str,
    folder: str | PathLike[str],
    parts: Sequence[str],
    event: Callable[[Path], str],
) -> Generator[Stage]:
    """Write a folder and say so in the log of the desk: both, or neither.

    `folder` and `parts` are as of `staged`. `event` gives what the log says of the target.
    """
    keys, name = store.keys, store.name
    target = target_of(folder)
    room = new_room(target)
    note = Unfinished(release, this_host(), str(room), str(target))
    state(connection, keys, note)
    connection.commit()
    try:
        with filled(room, keys, parts) as stage:
            yield stage
        note = replace(note, files=_digests(room), event=event(target))
        state(connection, keys, note)
        connection.commit()
        move(room, target)
        finish_event(connection, keys, name, note.event)
    except BaseException:
        # if this fails too, whoever opens the ledger next does it
        with suppress(Exception):
            connection.rollback()
            settle(connection, keys, name)
        raise


def _leave_mark(stage: Stage, store: Store, head: chain.Head, entry: Entry) -> None:
    """Say among the office's files which entry this is: a ledger that lost it is found out."""
    content = {
        "schema": _SCHEMA,
        "name": store.name,
        "ledger": head.ledger,
        "release": entry.release,
        "entry": entry.number,
        "seal": chain.sealed(store.keys, head, entry),
    }
    write_json(content, stage.internal / LEDGER)


def _digests(room: Path) -> dict[str, str]:
    paths = sorted(path for path in room.rglob("*") if path.is_file())
    return {path.relative_to(room).as_posix(): digest(path) for path in paths}


def _settled(store: Store) -> None:
    """Wait for a publication whose files may be in place; put one in order that was killed."""
    with reading(store.database) as connection:
        chain.read_head(connection, store.keys, store.name)  # are these the right keys?
        note = stated(connection, store.keys, store.name)
    if note is None:
        return
    try:
        # while files are being written nothing of it is published: then nobody has to wait
        with changing(store.database, store.wait if note.entered else 0) as connection:
            settle(connection, store.keys, store.name)
    except Busy:
        if note.entered:
            raise
