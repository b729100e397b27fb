"""A plain public sheet: a row for each cell, figures beside each other with their status."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import pyarrow as pa
from xlsxwriter.worksheet import Worksheet

from diskret.publish.formats.xlsx.workbook import check_fits, print_wide, workbook
from diskret.texts import words_in

_ROWS_AT_ONCE = 10_000
_WIDEST = 40


def write_columns_xlsx(
    cells: pa.Table,
    decimals: Mapping[str, int],
    path: str | PathLike[str],
    language: str = "en",
) -> None:
    """Write columns of codes, figures and statuses as a sheet; what has no figure is blank.

    Parameters
    ----------
    cells
        Columns of text, and of numbers (null: none).
    decimals
        Column of numbers → its decimals.
    path
        The file to write; overwritten if it exists.
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        The table is larger than a sheet can be, or the file cannot be written.
    """
    check_fits(path, 1 + cells.num_rows, cells.num_columns)
    with workbook(path) as book:
        sheet: Worksheet = book.add_worksheet(words_in(language, "workbook")["table"])
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
            sheet.write_string(
                0, column, name, figure_head if name in decimals else text_head if column else head
            )
        row = 0
        for block in cells.to_batches(max_chunksize=_ROWS_AT_ONCE):
            for values in zip(*(column.to_pylist() for column in block.columns), strict=True):
                row += 1
                for column, (name, value) in enumerate(zip(first, values, strict=True)):
                    if value is not None and name in decimals:
                        sheet.write_number(row, column, value, formats[decimals[name]])
                    elif value is not None:
                        sheet.write_string(row, column, value, text if column else None)
