"""The tables of the database that a ledger is kept in."""

from __future__ import annotations

from diskret.publish.store.database import Connection

_SEALED = "text TEXT NOT NULL, seal VARCHAR(64) NOT NULL"
_KEPT = "structure TEXT NOT NULL, cells {bytes} NOT NULL, contributions {bytes}"

#: Table → its columns.
TABLES = {
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


def create_tables(connection: Connection) -> None:
    """Make the tables that are not there yet."""
    for name, columns in TABLES.items():
        own = columns.format(bytes=connection.bytes)
        connection.ask(f"CREATE TABLE IF NOT EXISTS {name} ({own})")
