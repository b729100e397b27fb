"""CSV files: their columns, and all that is in them."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from diskret.errors import InputError
from diskret.io.columns import check_names
from diskret.io.csv_lines import check_quotes, line_of, numbered, spans_lines
from diskret.io.data_file import DataFile
from diskret.io.encoded import decoded, not_utf8
from diskret.io.sources import Source
from diskret.texts.numbers import Count

_DELIMITERS = ",;\t|"
_BLOCK = 2**24
_END = re.compile(r"\r\n|\r|\n")
#: The line that Excel writes above the names, to say the delimiter.
_SAID_BY_EXCEL = re.compile(r"sep=(.)", re.IGNORECASE)


def csv_source(said: DataFile) -> Source:
    """A file of which nothing is said stays where it is, others are read.

    Raises
    ------
    InputError
        It has no names, is in another encoding, or a quotation mark would swallow records.
    """
    said = _with_delimiter_said(said)
    path = said.file
    if said.plain and not mixed_line_ends(path):
        columns, delimiter = _header(path)
        if spans_lines(_blocks(path)):
            check_quotes(path, _lines(path), delimiter, len(columns))
        return Source(columns, "pyarrow", paths=(path,), format="csv", delimiter=delimiter)
    table = _read_said(said)
    return Source(tuple(table.column_names), "pyarrow", arrow=table, spelling=said.spelling)


def read_csv(path: Path, columns: tuple[str, ...], delimiter: str) -> pa.Table:
    """Read a file with all columns as text; an empty field is null."""
    return _read(path, path, columns, delimiter, 1)


def csv_line(said: DataFile, record: int) -> int | None:
    """The line of a file that a record begins in, counted from 0; None: it cannot be told."""
    said = _with_delimiter_said(said)
    try:
        text = decoded(said.file, said.encoding or "utf-8")
        _, delimiter = _names(said.file, _line(text, said.header), said)
    except InputError:
        return None
    skipped = 0 if said.columns else said.header
    return line_of(io.StringIO(text, newline=""), delimiter, record, skipped)


def mixed_line_ends(path: Path) -> bool:
    """Whether lines end in more than one way, somewhere in the file."""
    ends = {b"\r\n": 0, b"\n": 0, b"\r": 0}
    last = b""
    for block in _blocks(path):
        for end in ends:
            ends[end] += block.count(end)
        ends[b"\r\n"] += last == b"\r" and block[:1] == b"\n"
        last = block[-1:]
    both = ends[b"\r\n"]
    return sum((both > 0, ends[b"\n"] > both, ends[b"\r"] > both)) > 1


# ── names ─────────────────────────────────────────────────────────────────────────────


def _with_delimiter_said(said: DataFile) -> DataFile:
    """The same where the first line says the delimiter, as Excel writes it."""
    if said.columns or said.header > 1:
        return said
    try:
        with said.file.open(encoding=said.encoding or "utf-8-sig", newline="") as file:
            found = _SAID_BY_EXCEL.fullmatch(file.readline().rstrip("\r\n").lstrip("\ufeff"))
    except (OSError, UnicodeError):
        return said  # which is said where it is read
    return said if found is None else replace(said, delimiter=found[1], header=2)


def _header(path: Path) -> tuple[tuple[str, ...], str]:
    """Read the column names and the delimiter that is most frequent among them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return _names(path, line, DataFile(path))


def _line(text: str, number: int) -> str:
    """A line of a text without its end; "" beyond the last."""
    begin = 0
    for end in _END.finditer(text + "\n"):
        number -= 1
        if not number:
            return text[begin : end.start()]
        begin = end.end()
    return ""


def _names(path: Path, line: str, said: DataFile) -> tuple[tuple[str, ...], str]:
    """The column names, read from their line or given, and the delimiter of that line."""
    given = [name for name in said.columns if isinstance(name, str)]
    at = said.header
    if not line.strip():
        if not path.stat().st_size:
            raise InputError(f"{path}: the file is empty; is it the right file?")
        if given:
            raise InputError(f"{path}: line 1 is empty; it must hold the first record")
        raise InputError(
            f"{path}: line {at} is empty; it must hold the column names, or say in which line they "
            "stand: header="
        )
    delimiter = said.delimiter or _delimiter(line, said.decimal + said.thousands, bool(given))
    if not given and line.count('"') % 2:
        raise InputError(
            f"{path}: line {at} holds a quotation mark that is not closed in it; write each column "
            "name on one line"
        )
    try:
        fields = tuple(next(csv.reader([line], delimiter=delimiter)))
    except csv.Error as error:
        raise InputError(f"{path}: line {at} cannot be read as CSV ({error})") from error
    if given:
        if len(fields) != len(given):
            number = Count(len(given))
            many = Count(len(fields))
            raise InputError(
                f"{path}: columns= names {number} {number:column|columns}, and line 1 has {many} "
                f"{many:field|fields} with {delimiter!r} between them; name every column, or say "
                "the delimiter"
            )
        return tuple(given), delimiter
    unnamed = [str(i) for i, name in enumerate(fields, 1) if not name.strip()]
    if len(unnamed) > 1:  # one may be the index that pandas writes
        raise InputError(
            f"{path}: line {at}: {len(unnamed)} columns have no name, the first is number "
            f"{unnamed[0]}; give them names or remove them, or say in which line the names stand: "
            "header="
        )
    check_names(fields, f"{path}: line {at}: ")
    return fields, delimiter


def _delimiter(line: str, marks: str, record: bool) -> str:
    """The most frequent one; a mark of numbers only where nothing else is there."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    others = [sign for sign in _DELIMITERS if sign not in marks]
    if record and any(sign in unquoted for sign in others):
        return max(others, key=unquoted.count)
    return max([*others, *_DELIMITERS], key=unquoted.count)


# ── records ───────────────────────────────────────────────────────────────────────────


def _read_said(said: DataFile) -> pa.Table:
    """Read a file as is said of it, with all columns as text; an empty field is null."""
    path = said.file
    text = decoded(path, said.encoding or "utf-8")
    names, delimiter = _names(path, _line(text, said.header), said)
    data = text.encode("utf-8")
    if spans_lines([data]):
        check_quotes(path, io.StringIO(text, newline=""), delimiter, len(names))
    return _read(path, data, names, delimiter, 0 if said.columns else said.header)


def _read(
    path: Path, data: Path | bytes, columns: tuple[str, ...], delimiter: str, skipped: int
) -> pa.Table:
    """The columns of a file or of its text, without the first lines."""
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(data) if isinstance(data, bytes) else data,
            read_options=arrow_csv.ReadOptions(column_names=list(columns), skip_rows=skipped),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError) as error:
        if "UTF8" in str(error) or not _is_utf8(data):
            raise not_utf8(path) from error
        with suppress(csv.Error, UnicodeError, OSError):
            lines = io.StringIO(data.decode(), newline="") if isinstance(data, bytes) else None
            _check_fields(path, lines or _lines(path), columns, delimiter, skipped)
        raise InputError(
            f"{path}: cannot be read as CSV; every row needs as many fields as the header ({error})"
        ) from error


def _check_fields(
    path: Path, lines: Iterable[str], columns: tuple[str, ...], delimiter: str, skipped: int
) -> None:
    for line, fields in numbered(lines, delimiter, skipped):
        if fields != len(columns):
            raise InputError(
                f"{path}, line {line}: {fields} {Count(fields):field|fields}, and there are "
                f"{len(columns)} columns; every row needs as many fields as there are columns, "
                f"and text that holds {delimiter!r} stands in quotation marks"
            )


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from file


def _is_utf8(data: Path | bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in [data] if isinstance(data, bytes) else _blocks(data):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
