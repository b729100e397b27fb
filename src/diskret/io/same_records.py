"""Whether tables are made of the same records: told by where these lie, however it is spelled."""

from __future__ import annotations

from os import PathLike
from os.path import realpath
from typing import Any

from diskret.io.data_file import DataFile
from diskret.io.database import PostgresTable
from diskret.io.sources import Source


def same_records(one: Any, other: Any) -> bool:
    """Whether two of what `source` takes are the same records, as far as this can be told.

    A file is one however its path is spelled and it is said to be read, and with or without cells
    that are computed of its points. Frames are the same only if they are one object.

    >>> import pyarrow as pa
    >>> firms = pa.table({"region": ["N"]})
    >>> same_records("firms.csv", DataFile("./firms.csv", encoding="cp1252"))
    True
    >>> same_records(firms, firms), same_records(firms, pa.table({"region": ["N"]}))
    (True, False)
    """
    first, second = _held(one), _held(other)
    if isinstance(first, PostgresTable):
        return isinstance(second, PostgresTable) and first == second
    files = _files(first)
    if files is None:
        return first is second
    sheets = {part.sheet for part in (first, second) if isinstance(part, DataFile)} - {None}
    return files == _files(second) and len(sheets) < 2


def _held(records: Any) -> Any:
    """What a source was made from."""
    if not isinstance(records, Source):
        return records
    parts = (records.database, records.opened, records.paths or None, records.arrow, records.spark)
    return next(part for part in parts if part is not None)


def _files(records: Any) -> frozenset[str] | None:
    """Where the files are; None: there are none."""
    if isinstance(records, DataFile):
        records = records.path
    if isinstance(records, (str, PathLike)):
        records = [records]
    if not isinstance(records, (list, tuple)):
        return None
    return frozenset(realpath(path) for path in records)
