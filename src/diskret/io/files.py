"""Parquet files: their columns, and all that is in them."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.errors import DiskretError, InputError
from diskret.io.columns import check_names, some


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
            columns.append(tuple(parquet_reader().read_schema(path).names))
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
    return [parquet_reader().read_schema(path) for path in paths]


def parquet_rows(paths: tuple[Path, ...]) -> int:
    """How many records the files have together."""
    return sum(parquet_reader().read_metadata(path).num_rows for path in paths)


def read_parquet(paths: tuple[Path, ...]) -> list[pa.Table]:
    """Read each file as a table."""
    return [_read_parquet(path) for path in paths]


def _read_parquet(path: Path) -> pa.Table:
    try:
        table = parquet_reader().ParquetFile(path).read()
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
            file = parquet_reader().ParquetFile(path, read_dictionary=list(columns))
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield batch.select(list(columns))
        except Exception as error:  # damaged files raise errors of many kinds
            raise _no_parquet(path, error) from error


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
def _plain_parquet(path: Path, wrong: type[DiskretError]) -> Generator[Any]:
    try:
        with parquet_reader().ParquetFile(path) as file:
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


def parquet_reader() -> Any:
    """The module that reads Parquet; it loads the file systems of clouds, so only if needed."""
    from pyarrow import parquet

    return parquet
