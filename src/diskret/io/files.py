"""Parquet and CSV files: their columns, and all that is in them."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from diskret.errors import DiskretError, InputError
from diskret.io.columns import check_names, some
from diskret.io.data_file import DataFile
from diskret.io.encoded import decoded

_DELIMITERS = ",;\t|"
_RECODE = (
    'save it as UTF-8, or say its encoding: encoding = "cp1252" in a job file, '
    'DataFile(path, encoding="cp1252") in Python'
)
_END = re.compile(r"\r\n|\r|\n")


def parquet_parts(folder: Path) -> tuple[Path, ...]:
    """The files of a folder as Spark and others write it, by name; what is hidden is left out.

    Raises
    ------
    InputError
        There are folders below it: records in them would be missed, and so would codes in the
        names of folders (``region=01``).
    """
    shown = [path for path in sorted(folder.iterdir()) if not path.name.startswith(("_", "."))]
    parts = tuple(path for path in shown if path.suffix.lower() == ".parquet" and path.is_file())
    for path in shown:
        if path.is_dir() and (parts or "=" in path.name):
            raise InputError(
                f"{folder}: the folder {path.name!r} is in it, and neither records in it nor codes "
                "in its name are read; write the records without partitions, or hand over Spark's "
                "frame"
            )
    return parts


def parquet_columns(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Read the column names, which all files must share."""
    columns: list[tuple[str, ...]] = []
    for path in paths:
        try:
            columns.append(tuple(parquet.read_schema(path).names))
        except Exception as error:  # damaged files raise errors of many kinds
            raise _no_parquet(path, error) from error
        check_names(columns[-1], f"{path}: ")
        lonely = sorted(set(columns[-1]) ^ set(columns[0]))
        if lonely:
            raise InputError(
                f"{path}: has other columns than {paths[0]}; "
                f"{some('column', lonely)} is in one of them only"
            )
    return columns[0]


def parquet_schemas(paths: tuple[Path, ...]) -> list[pa.Schema]:
    """The columns of each file with their types."""
    return [parquet.read_schema(path) for path in paths]


def parquet_rows(paths: tuple[Path, ...]) -> int:
    """How many records the files have together."""
    return sum(parquet.read_metadata(path).num_rows for path in paths)


def read_parquet(paths: tuple[Path, ...]) -> list[pa.Table]:
    """Read each file as a table."""
    return [_read_parquet(path) for path in paths]


def _read_parquet(path: Path) -> pa.Table:
    try:
        table = parquet.ParquetFile(path).read()
        table.validate(full=True)
    except Exception as error:  # damaged files raise errors of many kinds
        raise _no_parquet(path, error) from error
    return table


def _no_parquet(path: Path, error: Exception) -> InputError:
    found = str(error).partition("\n")[0]
    return InputError(
        f"{path}: cannot be read as a Parquet file; is it complete, and one? ({found})"
    )


def parquet_blocks(
    paths: tuple[Path, ...], columns: Sequence[str], rows: int
) -> Iterator[pa.RecordBatch]:
    """The files block by block, some columns, text as dictionaries."""
    for path in paths:
        try:
            file = parquet.ParquetFile(path, read_dictionary=list(columns))
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield batch.select(list(columns))
        except Exception as error:  # damaged files raise errors of many kinds
            raise _no_parquet(path, error) from error


def csv_header(path: Path) -> tuple[tuple[str, ...], str]:
    """Read the column names and the delimiter that is most frequent among them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text; {_RECODE}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return _names(path, line, DataFile(path))


def read_csv(path: Path, columns: tuple[str, ...], delimiter: str) -> pa.Table:
    """Read a file with all columns as text; an empty field is null."""
    _check_quotes(path, delimiter)
    return _read_csv(path, path, columns, delimiter, 1)


def read_said_csv(said: DataFile) -> pa.Table:
    """Read a file as is said of it, with all columns as text; an empty field is null."""
    path = said.file
    text = decoded(path, said.encoding or "utf-8")
    first = text[: _END.search(text + "\n").start()]  # pyright: ignore[reportOptionalMemberAccess]
    names, delimiter = _names(path, first, said)
    if text.count('"') % 2:
        line = len(_END.findall(text[: text.rindex('"')])) + 1
        raise InputError(
            f"{path}, line {line}: a quotation mark is opened and never closed; close it, or write "
            "it twice inside quoted text"
        )
    data = text.encode("utf-8")
    return _read_csv(path, data, names, delimiter, 0 if said.columns else 1)


def _check_quotes(path: Path, delimiter: str) -> None:
    """Refuse a quotation mark that is never closed: the reader takes what follows for one text."""
    if not _odd_quotes(path):
        return
    begin = 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for _ in lines:
                begin = lines.line_num + 1
        except UnicodeDecodeError:
            return  # which the reader says better
        except csv.Error as error:
            if "end of data" in str(error) or "field limit" in str(error):
                raise InputError(
                    f"{path}, line {begin}: a quotation mark is opened and never closed; close it, "
                    "or write it twice inside quoted text"
                ) from error


def _odd_quotes(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return sum(block.count(b'"') for block in iter(lambda: file.read(2**24), b"")) % 2 == 1
    except OSError:
        return False  # which the reader says better


def _names(path: Path, line: str, said: DataFile) -> tuple[tuple[str, ...], str]:
    """The column names, read from the first line or given, and the delimiter of that line."""
    given = [name for name in said.columns if isinstance(name, str)]
    if not line.strip():
        if given:
            raise InputError(f"{path}: line 1 is empty; it must hold the first record")
        raise InputError(f"{path}: line 1 is empty; it must hold the column names")
    delimiter = said.delimiter or _delimiter(line, said.decimal + said.thousands, bool(given))
    try:
        fields = tuple(next(csv.reader([line], delimiter=delimiter)))
    except csv.Error as error:
        raise InputError(f"{path}: line 1 cannot be read as CSV ({error})") from error
    if given:
        if len(fields) != len(given):
            raise InputError(
                f"{path}: columns= names {len(given)} columns, and line 1 has {len(fields)} fields "
                f"with {delimiter!r} between them; name every column, or say the delimiter"
            )
        return tuple(given), delimiter
    check_names(fields, f"{path}: line 1: ")
    return fields, delimiter


def _delimiter(line: str, marks: str, record: bool) -> str:
    """The most frequent one; a mark of numbers only where nothing else is there."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    others = [sign for sign in _DELIMITERS if sign not in marks]
    if record and any(sign in unquoted for sign in others):
        return max(others, key=unquoted.count)
    return max([*others, *_DELIMITERS], key=unquoted.count)


def _read_csv(
    path: Path, data: Path | bytes, columns: tuple[str, ...], delimiter: str, skipped: int
) -> pa.Table:
    """The columns of a file or of its text, without the first lines."""
    wrong: list[Any] = []

    def kept(row: Any) -> str:
        wrong.append(row)
        return "error"

    def read(threads: bool) -> pa.Table:
        return arrow_csv.read_csv(
            pa.BufferReader(data) if isinstance(data, bytes) else data,
            read_options=arrow_csv.ReadOptions(
                column_names=list(columns), skip_rows=skipped, use_threads=threads
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                invalid_row_handler=None if threads else kept,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )

    try:
        return read(threads=True)
    except (pa.ArrowException, OSError) as error:
        if "UTF8" in str(error) or not _is_utf8(data):
            raise InputError(f"{path}: is not UTF-8 text; {_RECODE}") from error
        with suppress(pa.ArrowException, OSError):
            read(threads=False)  # which knows the number of the row
        if wrong:
            row = wrong[0]
            raise InputError(
                f"{path}, row {row.number - skipped}: {row.actual_columns} fields, and there are "
                f"{row.expected_columns} columns; every row needs as many fields as there are "
                f"columns, and text that holds {delimiter!r} stands in quotation marks"
            ) from error
        raise InputError(
            f"{path}: cannot be read as CSV; every row needs as many fields as the header ({error})"
        ) from error


def _is_utf8(data: Path | bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with io.BytesIO(data) if isinstance(data, bytes) else data.open("rb") as file:
            while block := file.read(2**24):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def mixed_line_ends(path: Path) -> bool:
    """Whether lines end in more than one way, somewhere in the file."""
    ends = {b"\r\n": 0, b"\n": 0, b"\r": 0}
    last = b""
    with path.open("rb") as file:
        while block := file.read(2**24):
            for end in ends:
                ends[end] += block.count(end)
            ends[b"\r\n"] += last == b"\r" and block[:1] == b"\n"
            last = block[-1:]
    both = ends[b"\r\n"]
    return sum((both > 0, ends[b"\n"] > both, ends[b"\r"] > both)) > 1


def read_plain_parquet(path: Path, wrong: type[DiskretError] = InputError) -> pa.Table:
    """The columns of a Parquet file of ours, with nothing in it but columns.

    Offsets and texts in it are checked before they are used; errors are of the kind `wrong`.
    """
    with _plain_parquet(path, wrong) as file:
        columns = file.read()
        columns.validate(full=True)
        return columns


def plain_parquet_blocks(path: Path, rows: int) -> Iterator[pa.Table]:
    """The same, so many rows at a time: the file may be larger than memory."""
    with _plain_parquet(path, InputError) as file:
        for batch in file.iter_batches(rows, use_threads=False):
            batch.validate(full=True)
            yield pa.Table.from_batches([batch])


@contextmanager
def _plain_parquet(path: Path, wrong: type[DiskretError]) -> Generator[parquet.ParquetFile]:
    try:
        with parquet.ParquetFile(path) as file:
            if file.metadata.metadata:
                raise wrong(f"{path} holds metadata")
            yield file
    except FileNotFoundError:
        raise wrong(f"{path}: the file is missing") from None
    except DiskretError:
        raise
    except Exception as error:  # damaged files raise errors of a dozen kinds
        raise wrong(
            f"{path} cannot be read; take the file as it was written ({type(error).__name__}: "
            f"{error})"
        ) from None
