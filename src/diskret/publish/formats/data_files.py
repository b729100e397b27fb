"""Data files: CSV and Parquet of tables, of records and of figures; always the same bytes.

CSV is UTF-8 with commas and line feeds, quotes only where they are needed. Parquet has typed
columns and nothing but the cells.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from diskret.io.columns import some
from diskret.io.formulas import formulas, with_marks
from diskret.publish.formats.workbooks import write_columns_xlsx
from diskret.tables import Block, Derived, Difference, Published, SideBySide
from diskret.tables.public_files import exact_cells, public_cells
from diskret.tables.side_by_side import (
    columns_text,
    decimals_of,
    exact_columns,
)
from diskret.texts.numbers import Count

# bounds the memory of one block of lines, and keeps it below Arrow's 2 GiB of text
_ROWS_AT_ONCE = 250_000
# what a text must not hold outside quotes
_SPECIAL = '[",\r\n]'


def write_csv(published: Published, path: str | PathLike[str], neutralise: bool = False) -> None:
    """Write the public CSV of a table: codes, value (exact, empty if suppressed), status.

    `neutralise` puts an apostrophe before texts that spreadsheets would run as formulas, which
    reading takes away again; without it there is a warning.
    """
    _write_csv(_safe(public_cells(published), path, neutralise), path)


def write_internal_csv(
    cells: pa.Table, path: str | PathLike[str], neutralise: bool = False
) -> None:
    """Write any table of cells; nulls are empty, and nobody is warned. For the office only."""
    _write_csv(_safe(cells, None, neutralise), path)


def write_parquet(published: Published, path: str | PathLike[str]) -> None:
    """Write the public Parquet file of a table: codes, value (null if suppressed), status.

    Values are whole numbers, or exact decimals if the table has any.
    """
    write_blocks(published.blocks(), path)


def write_blocks(blocks: Iterator[Block], path: str | PathLike[str]) -> None:
    """The same for the cells of a table block by block, each a row group of the file."""
    first = exact_cells(next(blocks))
    with pq.ParquetWriter(path, first.schema, store_schema=False) as file:
        file.write_table(first)
        for block in blocks:
            file.write_table(exact_cells(block))


def write_columns_parquet(columns: pa.Table, path: str | PathLike[str]) -> None:
    """Write columns of any kind."""
    # without the schema that Arrow would add in a form of its own: what is written is seen
    pq.write_table(columns.replace_schema_metadata(None), path, store_schema=False)


def write_records(
    records: pa.Table,
    folder: Path,
    name: str,
    formats: Collection[str],
    neutralise: bool = False,
) -> list[str]:
    """Write records as CSV, Parquet or both, as `formats` says; the names of the files.

    Columns are of text, numbers, logical values or dates. In CSV, null is an empty field and an
    empty text is ``""``.
    """
    written: list[str] = []
    if "csv" in formats:
        written.append(f"{name}.csv")
        path = folder / written[-1]
        _write_csv(_safe(records, path, neutralise), path, f"{_SPECIAL}|^$")
    if "parquet" in formats:
        written.append(f"{name}.parquet")
        write_columns_parquet(records, folder / written[-1])
    return written


def write_columns(
    shown: Derived | SideBySide | Difference,
    folder: Path,
    formats: Collection[str],
    language: str = "en",
    neutralise: bool = False,
) -> list[str]:
    """Write anything made of published tables into the public folder; the files' names.

    ``<name>.csv`` is always written; ``"parquet"`` and ``"xlsx"`` add a file each, the workbook in
    `language`.
    """
    return write_text_columns(
        shown.name, columns_text(shown), decimals_of(shown), folder, formats, language, neutralise
    )


def write_text_columns(
    name: str,
    text: pa.Table,
    decimals: dict[str, int],
    folder: Path,
    formats: Collection[str],
    language: str = "en",
    neutralise: bool = False,
) -> list[str]:
    """The same for columns of text, of which those in `decimals` are numbers."""
    written = [f"{name}.csv"]
    path = folder / written[0]
    _write_csv(_safe(text, path, neutralise), path)
    if "parquet" in formats:
        written.append(f"{name}.parquet")
        write_columns_parquet(exact_columns(text, decimals), folder / written[-1])
    if "xlsx" in formats:
        written.append(f"{name}.xlsx")
        exact = exact_columns(text, decimals)
        write_columns_xlsx(exact, decimals, folder / written[-1], language)
    return written


# ── CSV ─────────────────────────────────────────────────────────────────────────────


def _safe(cells: pa.Table, path: str | PathLike[str] | None, neutralise: bool) -> pa.Table:
    """Cells as they are written; says which file holds formulas, if a path is given."""
    found = [] if neutralise else formulas(cells)
    if not found:
        return with_marks(cells)
    if path is not None:
        number = Count(len(found))
        warnings.warn(
            f"{Path(path).name}: {number} {number:text begins|texts begin} like formulas, which a "
            f"spreadsheet would run when it opens the file ({some('text', found)}); write with "
            "neutralise=True, which puts an apostrophe before "
            f"{number:it, or change it|them, or change them}",
            stacklevel=4,
        )
    return cells


def _write_csv(cells: pa.Table, path: str | PathLike[str], special: str = _SPECIAL) -> None:
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
