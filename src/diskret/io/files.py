"""Parquet and CSV files: their columns, and all that is in them."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from diskret.errors import DiskretError, InputError
from diskret.io.columns import check_names, some

_ENDS = {b"\n": "LF (Unix)", b"\r\n": "CR LF (Windows)", b"\r": "CR (old Mac)"}
_DELIMITERS = ",;\t|"
_RECODE = (
    "save it as UTF-8, or read it with a library that knows its encoding and pass the frame, "
    'e.g. pandas.read_csv(path, dtype=str, encoding="latin-1")'
)


def parquet_columns(paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Read the column names, which all files must share."""
    columns: list[tuple[str, ...]] = []
    for path in paths:
        try:
            columns.append(tuple(parquet.read_schema(path).names))
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{path}: cannot be read as a Parquet file; is it complete, and one? ({error})"
            ) from error
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
    return [parquet.ParquetFile(path).read() for path in paths]


def parquet_blocks(
    paths: tuple[Path, ...], columns: Sequence[str], rows: int
) -> Iterator[pa.RecordBatch]:
    """The files block by block, some columns, text as dictionaries."""
    for path in paths:
        file = parquet.ParquetFile(path, read_dictionary=list(columns))
        for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
            yield batch.select(list(columns))


def csv_header(path: Path) -> tuple[tuple[str, ...], str]:
    """Read the column names and the delimiter that is most frequent among them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text; {_RECODE}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if not line.strip():
        raise InputError(f"{path}: line 1 is empty; it must hold the column names")
    unquoted = re.sub(r'"[^"]*"', "", line)
    delimiter = max(_DELIMITERS, key=unquoted.count)
    columns = tuple(next(csv.reader([line], delimiter=delimiter)))
    check_names(columns, f"{path}: line 1: ")
    return columns, delimiter


def mixed_line_ends(path: Path) -> str | None:
    """The first line that ends otherwise than the one with the column names; None: all alike."""
    number, first, quoted = 0, b"", False
    with path.open("rb") as file:
        for row in file:
            ends = [b"\r"] * row.rstrip(b"\r\n").count(b"\r") + [row[len(row.rstrip(b"\r\n")) :]]
            quoted ^= row.count(b'"') % 2 == 1
            for end in ends:
                number += 1
                first = first or end
                # the last line may do without; a field in quotes may hold what it likes
                if end and end != first and not quoted:
                    return (
                        f"{path}, line {number}: ends with {_ENDS.get(end, repr(end))}, line 1 "
                        f"with {_ENDS.get(first, repr(first))}; save the file with one kind of "
                        "line ends"
                    )
    return None


def read_csv(path: Path, columns: tuple[str, ...], delimiter: str) -> pa.Table:
    """Read a file with all columns as text; an empty field is null."""
    try:
        return arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(column_names=list(columns), skip_rows=1),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException as error:
        if "UTF8" in str(error):
            raise InputError(f"{path}: is not UTF-8 text; {_RECODE}") from error
        raise InputError(
            f"{path}: cannot be read as CSV; every row needs as many fields as the header ({error})"
        ) from error


def read_plain_parquet(path: Path, wrong: type[DiskretError] = InputError) -> pa.Table:
    """The columns of a Parquet file of ours, with nothing in it but columns.

    Offsets and texts in it are checked before they are used; errors are of the kind `wrong`.
    """
    try:
        file = parquet.ParquetFile(path)
        said = file.metadata.metadata
        columns = None if said else file.read()
        if columns is not None:
            columns.validate(full=True)
    except FileNotFoundError:
        raise wrong(f"{path}: the file is missing") from None
    except Exception as error:  # damaged files raise errors of a dozen kinds
        raise wrong(
            f"{path} cannot be read; take the file as it was written ({type(error).__name__}: "
            f"{error})"
        ) from None
    if columns is None:
        raise wrong(f"{path} holds metadata")
    return columns
