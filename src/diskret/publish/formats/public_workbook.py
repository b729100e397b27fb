"""The public workbook: one sheet with the table, one that explains it, and nothing else."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from diskret.publish.formats.symbols import SymbolSet, symbol_set
from diskret.publish.formats.workbook_layout import Layout
from diskret.publish.formats.workbooks import check_fits, print_wide, workbook, write_text
from diskret.tables import Dimension, Published
from diskret.tables.cells import in_published_units
from diskret.texts import check_language

_DEEPEST_INDENT = 15
_NARROWEST, _WIDEST = 10, 50


def write_xlsx(
    published: Published,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
    symbols: str | SymbolSet = "de-classic",
    dotted: bool = False,
) -> None:
    """Write a table as a workbook for readers: one sheet with the table, one that explains it.

    The last dimension runs across if it has at most 30 codes, all others down the side; otherwise
    the table is a long list. Values are numbers (a spreadsheet keeps 15 digits of them), symbols
    are text. There are no formulas, comments, hidden parts or defined names, and the same table
    always gives the same bytes. `title`: None for "<measure> by <dimensions>"; `dotted`: see
    `Layout`.
    """
    check_language(language)
    layout = Layout(published, symbol_set(symbols), language, title, dotted)
    check_fits(path, layout.header_rows + layout.matrix[0], len(layout.side) + layout.matrix[1])
    with workbook(path) as book:
        _write_table(book, layout)
        write_legend(book, layout)


def _write_table(book: Workbook, layout: Layout) -> None:
    sheet: Worksheet = book.add_worksheet(layout.words["table"])
    first_row, first_column = layout.header_rows, len(layout.side)
    sheet.freeze_panes(first_row, first_column)
    print_wide(sheet)
    _set_widths(sheet, layout)
    _write_header(book, sheet, layout)
    rows, columns = layout.matrix
    published = layout.published
    value = in_published_units(layout.value, published.decimals).reshape(rows, columns)
    suppressed = published.suppressed.reshape(rows, columns)
    empty = published.empty.reshape(rows, columns)
    number_format = "#,##0" + ("." + "0" * published.decimals if published.decimals else "")
    numbers = [book.add_format({"num_format": number_format, "bold": b}) for b in (False, True)]
    marks = [book.add_format({"align": "right", "bold": b}) for b in (False, True)]
    symbols = layout.symbols
    stubs = [_stub(book, layout, dimension) for dimension in layout.side]
    shape = tuple(len(d) for d in layout.side)
    for row in range(rows):
        at = [int(i) for i in np.unravel_index(row, shape)]
        for column, (stub, i) in enumerate(zip(stubs, at, strict=True)):
            write_text(sheet, first_row + row, column, *stub[i])
        in_total = 0 in at
        cells = zip(value[row].tolist(), suppressed[row], empty[row], strict=True)
        for column, (number, hidden, nothing) in enumerate(cells):
            bold = in_total or (column == 0 and layout.across is not None)
            where = first_row + row, first_column + column
            if hidden:
                text = layout.hidden(row * columns + column)
                write_text(sheet, *where, text, marks[bold])
            elif nothing and symbols.nothing != "0":
                write_text(sheet, *where, symbols.nothing, marks[bold])
            else:
                sheet.write_number(*where, number, numbers[bold])


def _write_header(book: Workbook, sheet: Worksheet, layout: Layout) -> None:
    write_text(sheet, 0, 0, layout.title, book.add_format({"bold": True, "font_size": 14}))
    if layout.note is not None:
        write_text(sheet, 1, 0, layout.note, book.add_format({"italic": True}))
    line = {"bold": True, "bottom": 1, "valign": "bottom", "text_wrap": True}
    left, right = book.add_format(line), book.add_format({**line, "align": "right"})
    row, first = layout.header_rows - 1, len(layout.side)
    if layout.across is not None:
        write_text(sheet, row - 1, first, layout.across.name, book.add_format({"bold": True}))
    for column, dimension in enumerate(layout.side):
        write_text(sheet, row, column, dimension.name, left)
    heads = [layout.measure] if layout.across is None else layout.texts(layout.across)
    for column, text in enumerate(heads, start=first):
        write_text(sheet, row, column, text, right)


def _stub(book: Workbook, layout: Layout, dimension: Dimension) -> list[tuple[str, Format]]:
    """Text and format of each code down the side."""
    levels = np.minimum(dimension.hierarchy.level, _DEEPEST_INDENT).tolist()
    formats = {i: book.add_format({"indent": i, "bold": i == 0}) for i in set(levels)}
    texts = layout.texts(dimension)
    return [(text, formats[level]) for text, level in zip(texts, levels, strict=True)]


def _set_widths(sheet: Worksheet, layout: Layout) -> None:
    for column, dimension in enumerate(layout.side):
        levels = dimension.hierarchy.level.tolist()
        texts = zip(layout.texts(dimension), levels, strict=True)
        longest = max(len(text) + 2 * level for text, level in texts)
        sheet.set_column(column, column, _width(max(longest, len(dimension.name))))
    digits = _digits(layout.value, layout.published.decimals)
    if layout.published.intervals:
        cells = np.flatnonzero(layout.published.suppressed).tolist()
        digits = max([digits, *(len(layout.hidden(cell)) for cell in cells)])
    heads = [layout.measure] if layout.across is None else layout.texts(layout.across)
    for column, text in enumerate(heads, start=len(layout.side)):
        # headings wrap, so only their longest word must fit
        sheet.set_column(column, column, _width(max(digits, *map(len, text.split() or [""]))))


def _digits(value: NDArray[np.int64], decimals: int) -> int:
    """Characters of the longest number, thousands separators, sign and point included."""
    longest = max(len(str(int(value.min()))), len(str(int(value.max()))))
    return longest + longest // 3 + bool(decimals)


def _width(characters: int) -> int:
    return min(max(characters + 2, _NARROWEST), _WIDEST)


def write_legend(book: Workbook, layout: Layout) -> None:
    """Add the sheet that explains the table."""
    words, published = layout.words, layout.published
    sheet: Worksheet = book.add_worksheet(words["legend"])
    bold = book.add_format({"bold": True})
    top = book.add_format({"valign": "top"})
    left = book.add_format({"text_wrap": True, "valign": "top", "align": "left"})
    number = book.add_format({"num_format": "#,##0", "valign": "top", "align": "left"})
    sheet.set_column(0, 0, 32)
    sheet.set_column(1, 1, 70)

    cells = published.value.size
    suppressed, empty = int(published.suppressed.sum()), int(published.empty.sum())
    about: dict[str, str | int] = {
        words["title"]: layout.title,
        words["measure"]: layout.measure,
        words["dimensions"]: ", ".join(d.name for d in published.dimensions),
        **layout.circumstances,
        words["cells"]: cells,
        words["published"]: cells - suppressed - empty,
        words["suppressed"]: suppressed,
        words["empty"]: empty,
    }
    row = 0
    symbols = dict(layout.symbols.legend[layout.language])
    if published.intervals:
        symbols[words["range"]] = words["range note"]
    blocks = {words["symbols"]: symbols, words["about"]: about}
    for heading, lines in blocks.items():
        write_text(sheet, row, 0, heading, bold)
        for name, content in lines.items():
            row += 1
            write_text(sheet, row, 0, name, top)
            if isinstance(content, int):
                sheet.write_number(row, 1, content, number)
            else:
                write_text(sheet, row, 1, content, left)
        row += 2
