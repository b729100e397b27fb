"""A new workbook with what is on the list of a template: cells, their looks, how to print."""

from __future__ import annotations

from copy import copy
from typing import Any

from diskret.publish.formats.template.colours import theme_colours, with_plain_colours

_PRINT = (
    *("orientation", "paperSize", "scale", "fitToHeight", "fitToWidth", "firstPageNumber"),
    *("useFirstPageNumber", "pageOrder", "blackAndWhite", "draft", "errors"),
)
_CENTRED = ("horizontalCentered", "verticalCentered", "headings", "gridLines")
_HEADERS = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_PARTS = ("left", "center", "right")


def copied(template: Any) -> Any:
    """A new openpyxl workbook with the sheets of a template.

    Taken over are the constants in cells with fonts, fills, borders, alignment and number
    formats; merged cells, widths and heights, frozen panes; print areas, titles and settings,
    headers and footers. Colours of the theme become plain ones. Nothing else is.

    Parameters
    ----------
    template
        A workbook that `check_template` let pass.
    """
    from openpyxl import Workbook

    book: Any = Workbook()
    book.remove(book.active)
    theme = theme_colours(template.loaded_theme)
    for source in template.worksheets:
        target = book.create_sheet(source.title)
        _copy_cells(source, target, theme)
        _copy_looks(source, target)
        _copy_printing(source, target)
    return book


def write_text(cell: Any, text: Any) -> None:
    """Put text into a cell as text, whatever it begins with; ``=`` would make a formula."""
    cell.value = text
    if text is not None:
        cell.data_type = "s"


def _copy_cells(source: Any, target: Any, theme: tuple[str, ...]) -> None:
    for row in source.iter_rows():
        for cell in row:
            if cell.value is None and not cell.has_style:
                continue
            made = target.cell(cell.row, cell.column)
            made.value = cell.value
            made.data_type = cell.data_type
            if cell.has_style:
                made.font, made.fill, made.border = with_plain_colours(cell, theme)
                made.alignment = copy(cell.alignment)
                made.number_format = cell.number_format
    # merged last: the borders of the cells below are looks as well
    for area in sorted(str(area) for area in source.merged_cells.ranges):
        target.merge_cells(area)


def _copy_looks(source: Any, target: Any) -> None:
    for name, column in source.column_dimensions.items():
        made = target.column_dimensions[name]
        made.min, made.max, made.width = column.min, column.max, column.width
    for number, row in source.row_dimensions.items():
        if row.height is not None:
            target.row_dimensions[number].height = row.height
    target.sheet_format.defaultRowHeight = source.sheet_format.defaultRowHeight
    target.sheet_format.defaultColWidth = source.sheet_format.defaultColWidth
    target.sheet_format.baseColWidth = source.sheet_format.baseColWidth
    target.freeze_panes = source.freeze_panes
    target.sheet_view.showGridLines = source.sheet_view.showGridLines
    target.sheet_view.zoomScale = source.sheet_view.zoomScale


def _copy_printing(source: Any, target: Any) -> None:
    for name in _PRINT:
        setattr(target.page_setup, name, getattr(source.page_setup, name))
    for name in _CENTRED:
        setattr(target.print_options, name, getattr(source.print_options, name))
    target.page_margins = copy(source.page_margins)
    target.sheet_properties.pageSetUpPr = copy(source.sheet_properties.pageSetUpPr)
    if source.print_area:
        target.print_area = source.print_area
    target.print_title_rows = source.print_title_rows
    target.print_title_cols = source.print_title_cols
    for name in _HEADERS:
        for part in _PARTS:
            there = getattr(getattr(source, name), part)
            made = getattr(getattr(target, name), part)
            made.text, made.size, made.font = there.text, there.size, there.font
    target.HeaderFooter.differentFirst = source.HeaderFooter.differentFirst
    target.HeaderFooter.differentOddEven = source.HeaderFooter.differentOddEven
    target.row_breaks = copy(source.row_breaks)
    target.col_breaks = copy(source.col_breaks)
