"""CSV files: UTF-8, commas, line feeds, quotes only where needed, always the same bytes."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from diskret.io.formulas import formulas, with_marks
from diskret.io.names import some
from diskret.tables import Published
from diskret.tables.public_files import public_cells

# bounds the memory of one block of lines, and keeps it below Arrow's 2 GiB of text
_ROWS_AT_ONCE = 250_000
# what a text must not hold outside quotes
_SPECIAL = '[",\r\n]'


def write_csv(published: Published, path: str | PathLike[str], neutralise: bool = False) -> None:
    """Write the public CSV of a table: codes, value (exact, empty if suppressed), status.

    Parameters
    ----------
    published
        The table; [`Published.read`][diskret.Published.read] gives it back from the file
        and its structure.
    path
        The file to write; overwritten if it exists.
    neutralise
        Put an apostrophe before texts that spreadsheets would run as formulas, which reading takes
        away again; without it there is a warning.

    Raises
    ------
    InputError
        Two columns would have the same name, or a text holds control characters.
    """
    _write(_safe(public_cells(published), path, neutralise), path)


def write_columns_csv(
    columns: pa.Table, path: str | PathLike[str], neutralise: bool = False
) -> None:
    """Write columns of text that were made from what is published.

    Parameters
    ----------
    columns
        Columns of text.
    path
        The file to write; overwritten if it exists.
    neutralise
        As of `write_csv`.
    """
    _write(_safe(columns, path, neutralise), path)


def write_records_csv(
    records: pa.Table, path: str | PathLike[str], neutralise: bool = False
) -> None:
    """Write records; null is an empty field, an empty text ``""``.

    Parameters
    ----------
    records
        Columns of text, numbers, logical values or dates.
    path
        The file to write; overwritten if it exists.
    neutralise
        As of `write_csv`.
    """
    _write(_safe(records, path, neutralise), path, '[",\r\n]|^$')


def write_internal_csv(
    cells: pa.Table, path: str | PathLike[str], neutralise: bool = False
) -> None:
    """Write any table of cells; nulls are empty. For the office only.

    Parameters
    ----------
    cells
        Columns of text, numbers, booleans or nulls.
    path
        The file to write; overwritten if it exists.
    neutralise
        As of `write_csv`; there is no warning.
    """
    _write(_safe(cells, None, neutralise), path)


def _safe(cells: pa.Table, path: str | PathLike[str] | None, neutralise: bool) -> pa.Table:
    """Cells as they are written; says which file holds formulas, if a path is given."""
    found = [] if neutralise else formulas(cells)
    if not found:
        return with_marks(cells)
    if path is not None:
        warnings.warn(
            f"{Path(path).name}: {len(found):,} texts begin like formulas, which a spreadsheet "
            f"would run when it opens the file ({some('text', found)}); write with "
            "neutralise=True, which puts an apostrophe before them, or change them",
            stacklevel=4,
        )
    return cells


def _write(cells: pa.Table, path: str | PathLike[str], special: str = _SPECIAL) -> None:
    with Path(path).open("wb") as file:
        header = ",".join(_quoted(pa.array(cells.column_names, pa.string())).to_pylist())
        file.write(f"{header}\n".encode())
        for block in cells.to_batches(max_chunksize=_ROWS_AT_ONCE):
            columns = [_text(column, special) for column in block.columns]
            # "\n" as the last part of a line, so that the lines' own buffer is the file
            columns[-1] = pc.binary_join_element_wise(columns[-1], "\n", "")
            lines = pc.binary_join_element_wise(*columns, ",")
            start, stop = lines.offset, lines.offset + len(lines)
            _, offsets, content = lines.buffers()
            edges = memoryview(offsets).cast("i")
            file.write(memoryview(content)[edges[start] : edges[stop]])


def _text(column: pa.Array, special: str) -> pa.StringArray:
    text = column.cast(pa.string())
    if not pa.types.is_primitive(column.type):
        text = _quoted(text, special)
    return pc.fill_null(text, "")


def _quoted(text: pa.StringArray, special: str = _SPECIAL) -> pa.StringArray:
    quoted = pc.match_substring_regex(text, special)
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(quoted, pc.binary_join_element_wise('"', doubled, '"', ""), text)
