"""The second sheet of a public workbook: its symbols, and what the table holds."""

from __future__ import annotations

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from diskret.publish.formats.xlsx.layout import Layout


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
        sheet.write_string(row, 0, heading, bold)
        for name, content in lines.items():
            row += 1
            sheet.write_string(row, 0, name, top)
            if isinstance(content, int):
                sheet.write_number(row, 1, content, number)
            else:
                sheet.write_string(row, 1, content, left)
        row += 2
