"""The tables of the database that a ledger is kept in."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()

#: One row: which ledger this is, how many entries it holds, and the seal of the last one.
head = Table(
    "diskret_head",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("seal", String(64), nullable=False),
)

#: What happened, in order. Nothing here is ever changed or removed, but for an entry beyond the
#: number that the head states: it was written by a publication that is not finished.
entries = Table(
    "diskret_entries",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("seal", String(64), nullable=False),
)

#: The published tables of an entry, each with what has to be known to protect it again.
tables = Table(
    "diskret_tables",
    metadata,
    Column("entry", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("structure", Text, nullable=False),
    Column("cells", LargeBinary, nullable=False),
    Column("contributions", LargeBinary, nullable=True),
)

#: At most one row: the publication that is under way, or was when it was cut short.
unfinished = Table(
    "diskret_unfinished",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("seal", String(64), nullable=False),
)
