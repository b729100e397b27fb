"""The door: the user's own frames and files in, the same kind back out."""

from diskret.io.database import PostgresTable
from diskret.io.fixed import Column, read_fixed
from diskret.io.frames import FrameKind, Source, from_arrow, source, to_arrow

__all__ = [
    "Column",
    "FrameKind",
    "PostgresTable",
    "Source",
    "from_arrow",
    "read_fixed",
    "source",
    "to_arrow",
]
