"""Text records in fixed format: every field has its place in the line."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.io.encoded import decoded
from diskret.io.sources import Source
from diskret.texts.numbers import Count


@dataclass(frozen=True)
class Column:
    """Where one field stands in a line.

    `name`: column name. `start`: position of its first character, counted from 1. `width`: number
    of characters, ≥ 1.
    """

    name: str
    start: int
    width: int

    def __post_init__(self) -> None:
        if self.start < 1 or self.width < 1:
            raise InputError(
                f"column {self.name!r}: start {self.start} and width {self.width} must both be "
                "at least 1 (the first character of a line is number 1)"
            )

    @property
    def stop(self) -> int:
        """Position of its last character, counted from 1."""
        return self.start + self.width - 1

    def __str__(self) -> str:
        return f"{self.name!r} (characters {self.start} to {self.stop})"


def read_fixed(
    path: str | PathLike[str], columns: Sequence[Column], encoding: str = "utf-8"
) -> Source:
    r"""Read fixed-format text records, e.g. the ``.asc`` files of τ-ARGUS.

    Parameters
    ----------
    path
        One record a line; lines end in LF or CRLF, the last one may end in neither. A line
        may stop before a column begins: that field is null.
    columns
        The fields to read, in the order wanted; the rest of a line is left out.
    encoding
        Encoding of the file; positions count characters, not bytes.

    Returns
    -------
    Source
        An Arrow table of text columns: padding stripped on both sides, blank fields null.
        Numbers stay text, so that ``"0.10"`` is still exact when an engine parses it.

    Raises
    ------
    InputError
        Columns overlap, share a name or lie beyond the longest line; the file is missing,
        empty or not in that encoding; a line is empty or ends inside a field.

    Examples
    --------
    >>> import os, tempfile
    >>> handle, path = tempfile.mkstemp()
    >>> os.write(handle, b"01 12.50\n02  7.25\n")
    18
    >>> os.close(handle)
    >>> read_fixed(path, [Column("region", 1, 2), Column("turnover", 4, 5)]).arrow.to_pydict()
    {'region': ['01', '02'], 'turnover': ['12.50', '7.25']}
    >>> os.remove(path)
    """
    table = fixed_table(Path(path), columns, encoding)
    return Source(tuple(table.column_names), "pyarrow", arrow=table)


def fixed_table(file: Path, columns: Sequence[Column], encoding: str) -> pa.Table:
    """The fields of a file as columns of text; see `read_fixed`."""
    check_columns(columns)
    text = decoded(file, encoding).rstrip("\r\n\x1a")  # \x1a: end of file under DOS
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = _lines(file, text)
    _check_lengths(file, lines, columns)
    return pa.table({column.name: _field(lines, column, text.isascii()) for column in columns})


def check_columns(columns: Sequence[Any]) -> None:
    """Refuse fields that are none, overlap or share a name."""
    others = [column for column in columns if not isinstance(column, Column)]
    if others:
        raise InputError(
            f"fixed format needs a Column(name, start, width) for each field, not {others[0]!r}"
        )
    if not columns:
        raise InputError("no columns to read; name at least one Column(name, start, width)")
    names = [column.name for column in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"column {name!r} is named {names.count(name)} times")
    for left, right in pairwise(sorted(columns, key=lambda column: column.start)):
        if right.start <= left.stop:
            raise InputError(f"columns {left} and {right} overlap")


def _lines(file: Path, text: str) -> pa.LargeStringArray:
    """Cut the text into lines without their ends, without a loop over records."""
    if not text:
        raise InputError(f"{file}: holds no records")
    data = np.frombuffer(text.encode("utf-8") + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\n")) + 1
    offsets = np.concatenate(([0], ends)).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    whole = pa.LargeStringArray.from_buffers(len(ends), buffers[1], buffers[2])
    return pc.utf8_rtrim(whole, characters="\r\n")


def _check_lengths(file: Path, lines: pa.LargeStringArray, columns: Sequence[Column]) -> None:
    length = pc.utf8_length(lines).to_numpy()
    empty = np.flatnonzero(length == 0)
    if len(empty):
        raise InputError(f"{file}: {_some_lines(empty)} empty; remove or complete what is missing")
    longest = int(length.max())
    for column in columns:
        if column.start > longest:
            raise InputError(
                f"{file}: column {column} lies beyond the longest line ({longest} "
                f"{Count(longest):character|characters})"
            )
        inside = np.flatnonzero((length >= column.start) & (length < column.stop))
        if len(inside):
            number = Count(column.stop)
            raise InputError(
                f"{file}: {_some_lines(inside)} cut off inside column {column}; pad to {number} "
                f"{number:character|characters}, or correct start and width"
            )


def _field(lines: pa.LargeStringArray, column: Column, one_byte: bool) -> pa.LargeStringArray:
    start, stop = column.start - 1, column.stop
    if one_byte:  # slicing bytes need not count the characters before the field
        cut = pc.binary_slice(lines.cast(pa.large_binary()), start, stop).cast(pa.large_string())
    else:
        cut = pc.utf8_slice_codeunits(lines, start, stop)
    text = pc.utf8_trim_whitespace(cut)
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)


def _some_lines(positions: np.ndarray) -> str:
    shown = ", ".join(str(position + 1) for position in positions[:5])
    if len(positions) == 1:
        return f"line {shown} is"
    more = ", …" if len(positions) > 5 else ""
    return f"{len(positions)} lines ({shown}{more}) are"
