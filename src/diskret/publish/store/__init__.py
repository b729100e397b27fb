"""What was published, in a database that remembers everything and forgets nothing."""

from diskret.publish.store.cells import Row, keyed_contributions, note_of, row_of
from diskret.publish.store.entry import UNBOUNDED, Entry, Release, TableNote, releases_of
from diskret.publish.store.store import (
    LEDGER,
    Store,
    add,
    change,
    create_store,
    entering,
    entries,
    load,
    open_store,
    position,
    read,
    verify,
)

__all__ = [
    "Entry",
    "LEDGER",
    "Release",
    "Row",
    "Store",
    "TableNote",
    "UNBOUNDED",
    "add",
    "change",
    "create_store",
    "entering",
    "entries",
    "keyed_contributions",
    "load",
    "note_of",
    "open_store",
    "position",
    "read",
    "releases_of",
    "row_of",
    "verify",
]
