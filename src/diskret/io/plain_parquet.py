"""Parquet files of ours, read with nothing in them but columns."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from diskret.errors import DiskretError, InputError


def read_plain_parquet(path: Path, wrong: type[DiskretError] = InputError) -> pa.Table:
    """The columns of a Parquet file; offsets and texts in it are checked before they are used.

    Raises
    ------
    DiskretError
        Of the kind `wrong`: the file is missing or damaged, or holds metadata.
    """
    try:
        file = pq.ParquetFile(path)
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
