"""The door: the user's own frames and files in, the same kind back out."""

from diskret.io.categories import Coded, coded
from diskret.io.data_file import DataFile
from diskret.io.database import PostgresTable
from diskret.io.fixed import Column, read_fixed
from diskret.io.frames import from_arrow, source, to_arrow
from diskret.io.returned import renewed, returned
from diskret.io.sources import FrameKind, Source

__all__ = [
    "Coded",
    "Column",
    "DataFile",
    "FrameKind",
    "PostgresTable",
    "Source",
    "coded",
    "from_arrow",
    "read_fixed",
    "renewed",
    "returned",
    "source",
    "to_arrow",
]
