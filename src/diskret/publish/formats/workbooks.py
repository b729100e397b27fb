"""Workbooks: what all have in common, and the plain ones with a row for each cell.

Plain are the office's own, with every original value, and those of figures side by side. Each is
neutral, within the limits of the file format, and always has the same bytes.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from diskret.errors import InputError
from diskret.io.categories import is_text
from diskret.publish.formats.sheet_rows import check_length, fill
from diskret.publish.in_words import table_words
from diskret.texts import words_in

_MAX_ROWS = 1_048_576
_MAX_COLUMNS = 16_384
_A4 = 9  # as the file format numbers paper sizes
# a workbook says when it was made; the same table must give the same bytes
_CREATED = datetime(2000, 1, 1)

_ROWS_AT_ONCE = 10_000
_HEADER_ROWS = 2
_WIDEST = 40
_COLOURS = {
    "primary": {"bg_color": "#F8CBCB", "font_color": "#8B0000"},
    "secondary": {"bg_color": "#D3E4F7", "font_color": "#0B3D91"},
}


class _PlainSheet(Worksheet):
    """A sheet of which no text is markup: the library takes ``<r>…</r>`` for runs it has made."""

    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, False, attributes)


@contextmanager
def workbook(path: str | PathLike[str]) -> Generator[Workbook]:
    """A workbook without author, machine or date; written to `path` when all went well.

    Cells must be written row by row: rows are kept on disk, in a private folder beside `path` that
    is removed at the end.
    """
    path = Path(path)
    with _said(path), TemporaryDirectory(prefix=".", dir=path.parent) as private:
        book = Workbook(path, {"constant_memory": True, "tmpdir": private})
        book.worksheet_class = _PlainSheet
        book.set_properties({"created": _CREATED})
        yield book
        book.close()


@contextmanager
def _said(path: Path) -> Generator[None]:
    """Why a workbook cannot be written, as one of our errors."""
    try:
        yield
    except (OSError, XlsxWriterException) as error:
        raise InputError(
            f"{path}: the workbook cannot be written; is the file open elsewhere, or the folder "
            f"missing or full? ({error})"
        ) from error


def check_fits(path: str | PathLike[str], rows: int, columns: int) -> None:
    """Refuse sheets beyond what the file format can hold."""
    if rows > _MAX_ROWS or columns > _MAX_COLUMNS:
        raise InputError(
            f"{path}: the sheet would have {rows:,} rows and {columns:,} columns; a workbook "
            f"holds at most {_MAX_ROWS:,} and {_MAX_COLUMNS:,}; write CSV instead, or a table "
            "with fewer codes"
        )


def print_wide(sheet: Worksheet) -> None:
    """Print a sheet across the page, all columns beside each other."""
    sheet.set_landscape()
    sheet.set_paper(_A4)
    sheet.fit_to_pages(1, 0)


def write_text(
    sheet: Worksheet, row: int, column: int, text: str, style: Format | None = None
) -> None:
    """Write a text into a cell as it is: never a formula, a link or markup.

    Raises
    ------
    InputError
        The text is too long for a cell.
    """
    check_length(text)
    sheet.write_string(row, column, text, style)


def write_internal_xlsx(cells: pa.Table, path: str | PathLike[str], language: str = "en") -> None:
    """Write the cells of a table with all that the office knows of them. Confidential.

    Rows with status ``primary`` are red, with ``secondary`` blue; columns can be filtered.
    """
    check_fits(path, _HEADER_ROWS + cells.num_rows, cells.num_columns)
    words = words_in(language, "workbook")
    with workbook(path) as book:
        sheet: Worksheet = book.add_worksheet(words["internal.cells"])
        bold = book.add_format({"bold": True})
        head = book.add_format({"bold": True, "bottom": 1})
        figure_head = book.add_format({"bold": True, "bottom": 1, "align": "right"})
        write_text(sheet, 0, 0, words["internal.notice"], bold)
        for column, (name, width) in enumerate(_widths(cells).items()):
            sheet.set_column(column, column, width)
            kind = cells.schema.field(name).type
            figures = not (is_text(kind) or pa.types.is_boolean(kind))
            write_text(sheet, _HEADER_ROWS - 1, column, name, figure_head if figures else head)
        sheet.freeze_panes(_HEADER_ROWS, 0)
        print_wide(sheet)
        sheet.repeat_rows(0, _HEADER_ROWS - 1)  # a defined name, so for the office alone
        last = _HEADER_ROWS - 1 + cells.num_rows
        sheet.autofilter(_HEADER_ROWS - 1, 0, last, cells.num_columns - 1)
        formats = {
            (status, whole): book.add_format(
                {**colour, "num_format": "#,##0" if whole else "General"}
            )
            for status, colour in {"": {}, **_COLOURS}.items()
            for whole in (False, True)
        }
        _write_rows(sheet, cells, formats)

        legend: Worksheet = book.add_worksheet(words["legend"])
        legend.set_column(0, 0, 16)
        legend.set_column(1, 1, 60)
        for row, status in enumerate(_COLOURS):
            write_text(legend, row, 0, status, formats[status, False])
            write_text(legend, row, 1, words[f"internal.{status}"])


def _widths(cells: pa.Table) -> dict[str, int]:
    """A width for each column from its name and first rows; 4 for the filter's button."""
    first = cells.slice(0, 1000).to_pydict()
    return {
        name: min(max([len(name) + 4, *(len(str(v)) + 2 for v in values)]), _WIDEST)
        for name, values in first.items()
    }


def _write_rows(sheet: Worksheet, cells: pa.Table, formats: dict[tuple[str, bool], Format]) -> None:
    row = _HEADER_ROWS
    coloured = cells.column_names.index("status") if "status" in cells.column_names else None
    for block in cells.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for values in zip(*(column.to_pylist() for column in block.columns), strict=True):
            status = "" if coloured is None else values[coloured]
            if status not in _COLOURS:
                status = ""
            for column, value in enumerate(values):
                _write_cell(sheet, row, column, value, formats[status, isinstance(value, int)])
            row += 1


def _write_cell(sheet: Worksheet, row: int, column: int, value: Any, style: Format) -> None:
    if value is None or value != value:
        sheet.write_blank(row, column, None, style)
    elif isinstance(value, bool):
        sheet.write_boolean(row, column, value, style)
    elif isinstance(value, int | float | Decimal) and math.isfinite(value):
        sheet.write_number(row, column, value, style)
    elif isinstance(value, float):
        write_text(sheet, row, column, "∞" if value > 0 else "−∞", style)
    else:
        write_text(sheet, row, column, str(value), style)


def write_columns_xlsx(
    cells: pa.Table,
    decimals: Mapping[str, int],
    path: str | PathLike[str],
    language: str = "en",
) -> None:
    """Write columns of codes, figures and statuses as a sheet; what has no figure is blank.

    `decimals`: column of numbers → its decimals; all other columns are text.
    """
    check_fits(path, 1 + cells.num_rows, cells.num_columns)
    path = Path(path)
    with _said(path), TemporaryDirectory(prefix=".", dir=path.parent) as private:
        sample, made = Path(private) / "sample", Path(private) / "made"
        _write_sample(cells, decimals, sample, language)
        fill(sample, cells, decimals, made)
        made.replace(path)


def _write_sample(cells: pa.Table, decimals: Mapping[str, int], path: Path, language: str) -> None:
    """The sheet of such columns with its head and one row, which shows how cells look."""
    with workbook(path) as book:
        sheet: Worksheet = book.add_worksheet(table_words(language)["table"])
        sheet.freeze_panes(1, 0)
        print_wide(sheet)
        head = book.add_format({"bold": True, "bottom": 1})
        figure_head = book.add_format({"bold": True, "bottom": 1, "align": "right"})
        text_head = book.add_format({"bold": True, "bottom": 1, "indent": 1})
        text = book.add_format({"indent": 1})  # else a status touches the figure before it
        formats = {
            places: book.add_format({"num_format": "#,##0" + ("." + "0" * places) * bool(places)})
            for places in {*decimals.values()}
        }
        first = cells.slice(0, 1000).to_pydict()
        for column, (name, values) in enumerate(first.items()):
            width = max([len(name), *(len(str(value)) for value in values)])
            sheet.set_column(column, column, min(width + 2, _WIDEST))
            look = figure_head if name in decimals else text_head if column else head
            write_text(sheet, 0, column, name, look)
        for column, name in enumerate(first):
            if name in decimals:
                sheet.write_number(1, column, 0, formats[decimals[name]])
            else:
                write_text(sheet, 1, column, "text", text if column else None)
