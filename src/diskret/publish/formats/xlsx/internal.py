"""The office's own workbook: every cell with its original value, status and levels."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import math
from decimal import Decimal
from os import PathLike
from typing import Any

import pyarrow as pa
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from diskret.publish.formats.xlsx.workbook import check_fits, print_wide, workbook
from diskret.texts import words_in

_ROWS_AT_ONCE = 10_000
_HEADER_ROWS = 2
_WIDEST = 40
_COLOURS = {
    "primary": {"bg_color": "#F8CBCB", "font_color": "#8B0000"},
    "secondary": {"bg_color": "#D3E4F7", "font_color": "#0B3D91"},
}


def write_internal_xlsx(cells: pa.Table, path: str | PathLike[str], language: str = "en") -> None:
    """Write the cells of a table with all that the office knows of them. Confidential.

    Rows with status ``primary`` are red, with ``secondary`` blue; columns can be filtered.

    Parameters
    ----------
    cells
        Columns of text, numbers, booleans or nulls; one called ``status`` gives the colours.
    path
        The file to write; overwritten if it exists.
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        There are more rows or columns than a sheet can hold, or the file cannot be written.
    """
    check_fits(path, _HEADER_ROWS + cells.num_rows, cells.num_columns)
    words = words_in(language, "workbook")
    with workbook(path) as book:
        sheet: Worksheet = book.add_worksheet(words["internal.cells"])
        bold = book.add_format({"bold": True})
        head = book.add_format({"bold": True, "bottom": 1})
        sheet.write_string(0, 0, words["internal.notice"], bold)
        for column, (name, width) in enumerate(_widths(cells).items()):
            sheet.set_column(column, column, width)
            sheet.write_string(_HEADER_ROWS - 1, column, name, head)
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
            legend.write_string(row, 0, status, formats[status, False])
            legend.write_string(row, 1, words[f"internal.{status}"])


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
        sheet.write_string(row, column, "∞" if value > 0 else "−∞", style)
    else:
        sheet.write_string(row, column, str(value), style)
