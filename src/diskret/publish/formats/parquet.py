"""Parquet files: typed columns, nothing but the cells, always the same bytes."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from os import PathLike

import pyarrow as pa
import pyarrow.parquet as pq

from diskret.tables import Published
from diskret.tables.public_files import exact_cells


def write_parquet(published: Published, path: str | PathLike[str]) -> None:
    """Write the public Parquet file of a table: codes, value (null if suppressed), status.

    Parameters
    ----------
    published
        The table. Values are whole numbers, or exact decimals if it has any.
    path
        The file to write; overwritten if it exists.

    Raises
    ------
    InputError
        Two columns would have the same name.
    """
    _write(exact_cells(published), path)


def write_columns_parquet(columns: pa.Table, path: str | PathLike[str]) -> None:
    """Write columns that were made from what is published.

    Parameters
    ----------
    columns
        Columns of text and numbers.
    path
        The file to write; overwritten if it exists.
    """
    _write(columns, path)


def write_internal_parquet(cells: pa.Table, path: str | PathLike[str]) -> None:
    """Write any table of cells. For the office only.

    Parameters
    ----------
    cells
        The cells.
    path
        The file to write; overwritten if it exists.
    """
    _write(cells, path)


def _write(cells: pa.Table, path: str | PathLike[str]) -> None:
    # without the schema that Arrow would add in a form of its own: what is written is seen
    pq.write_table(cells.replace_schema_metadata(None), path, store_schema=False)
