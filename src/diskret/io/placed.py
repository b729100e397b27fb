"""Errors about records say in which file these are, and where."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import DiskretError
from diskret.io.csv_files import csv_line
from diskret.io.data_file import DataFile
from diskret.io.frames import in_memory, source, spelled, to_arrow
from diskret.io.record_errors import Place, RecordError
from diskret.io.sources import Source


@contextmanager
def placed(frame: Any) -> Generator[None]:
    r"""Errors about single records, told with their file and their place in it.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "firms.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("a;v\n\nx;1\ny;two\n")
    >>> with placed(path):
    ...     raise RecordError(lambda place: f"no number in {place.named(1)}")
    Traceback (most recent call last):
    ...
    diskret.io.record_errors.RecordError: ...firms.csv: no number in line 4
    >>> with placed(pa.table({"v": ["1", "two"]})):
    ...     raise RecordError(lambda _: "no number", ("v", ["two"]))
    Traceback (most recent call last):
    ...
    diskret.io.record_errors.RecordError: row 2: no number
    """
    try:
        yield
    except RecordError as error:
        place = place_of(frame)
        raise (error if place is None else error.placed(place)) from error.__cause__


def place_of(frame: Any) -> Place | None:
    """What records of a file or a frame in memory are called; None of others."""
    if isinstance(frame, Source):
        frame = frame.arrow if frame.opened is None else frame.opened
    if _can_be_read_again(frame):
        return Place(found=lambda *asked: first_record(to_arrow(frame)[0], *asked))
    if isinstance(frame, (str, PathLike)):
        frame = DataFile(frame)  # pyright: ignore[reportUnknownArgumentType]
    if not isinstance(frame, DataFile) or not frame.file.is_file():
        return None
    said = frame
    sheet, beside = _sheets(said) if said.format == "xlsx" else ("", ())

    @cache
    def named(record: int) -> str:
        if said.format == "fixed":
            return f"line {record + 1}"
        if said.format == "csv" and (line := csv_line(said, record)) is not None:
            return f"line {line}"
        above = said.header if said.format == "xlsx" and not said.columns else 0
        return f"row {record + above + 1}"

    return Place(f"{said.file}{sheet}", named, lambda *asked: _found(said, *asked), beside)


def _sheets(said: DataFile) -> tuple[str, Sequence[str]]:
    """The sheet of a workbook, where it is one of several or was named, and the others."""
    from diskret.io.workbook import sheets

    try:
        read, others = sheets(said)
    except DiskretError:  # an error of the workbook itself
        return "", ()
    return f", sheet {read!r}" if others or said.sheet is not None else "", others


def _can_be_read_again(frame: Any) -> bool:
    """Whether it is a frame in memory; others would be computed once more."""
    from narwhals import dependencies as known

    return (
        isinstance(frame, pa.Table)
        or known.is_pandas_dataframe(frame)
        or known.is_polars_dataframe(frame)
    )


def _found(said: DataFile, column: str, values: Sequence[object]) -> int | None:
    with suppress(DiskretError, pa.ArrowException):
        opened = source(said)
        with suppress(DiskretError):  # an error of the spelling itself
            opened = spelled(opened, [column])
        return first_record(in_memory(opened), column, values)
    return None


def first_record(table: pa.Table, column: str, values: Sequence[object]) -> int | None:
    """The first record with one of some values in a column, or without values with nothing there.

    >>> first_record(pa.table({"v": ["1", None, "x"]}), "v", ["x"])
    2
    """
    if column not in table.column_names:
        return None
    given = table.column(column).cast(pa.string())
    if values:
        there = pc.is_in(given, pa.array([str(value) for value in values], pa.string()))
    else:
        there = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(given), ""), True)
    rows = np.flatnonzero(there.to_numpy())
    return int(rows[0]) if len(rows) else None
