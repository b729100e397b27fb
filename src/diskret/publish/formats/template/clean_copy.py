"""A clean copy of a template: cells, looks and printing, always with the same bytes."""

from __future__ import annotations

import colorsys
import io
import re
import zipfile
from copy import copy
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_PRINT = (
    *("orientation", "paperSize", "scale", "fitToHeight", "fitToWidth", "firstPageNumber"),
    *("useFirstPageNumber", "pageOrder", "blackAndWhite", "draft", "errors"),
)
_CENTRED = ("horizontalCentered", "verticalCentered", "headings", "gridLines")
_HEADERS = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
_PARTS = ("left", "center", "right")

_ORDER = (
    *("lt1", "dk1", "lt2", "dk2", "accent1", "accent2"),
    *("accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"),
)
# of a workbook without a theme
_DEFAULT = (
    *("FFFFFF", "000000", "EEECE1", "1F497D", "4F81BD", "C0504D"),
    *("9BBB59", "8064A2", "4BACC6", "F79646", "0000FF", "800080"),
)
_SIDES = ("left", "right", "top", "bottom", "diagonal")

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CORE = (
    _HEAD + "<cp:coreProperties "
    'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dcterms="http://purl.org/dc/terms/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<dcterms:created xsi:type="dcterms:W3CDTF">2000-01-01T00:00:00Z</dcterms:created>'
    "</cp:coreProperties>"
)
_APP = (
    _HEAD + "<Properties "
    'xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
    "<Application>Microsoft Excel</Application></Properties>"
)
# openpyxl writes 98.4 with 16 digits, as 98.40000000000001; a spreadsheet keeps 15
_FRACTION = re.compile(r"<v>(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)</v>")
_THEME = "xl/theme/theme1.xml"
_THEME_LINK = re.compile(r"<(?:Override|Relationship)\b[^>]*theme[^>]*/>")


def copied(template: Any) -> Any:
    """A new openpyxl workbook with the sheets of a template that `check_template` let pass.

    Taken over are the constants in cells with fonts, fills, borders, alignment and number formats;
    merged cells, widths and heights, frozen panes; print areas, titles and settings, headers and
    footers. Colours of the theme become plain ones. Nothing else is.
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


def theme_colours(theme: bytes | None) -> tuple[str, ...]:
    """The twelve colours of a theme as hexadecimal text, in the order cells count them."""
    if not theme or b"<!DOCTYPE" in theme:
        return _DEFAULT
    try:
        root = ElementTree.fromstring(theme)  # noqa: S314 - without document type
    except ElementTree.ParseError:
        return _DEFAULT
    found = dict(zip(_ORDER, _DEFAULT, strict=True))
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        if name in found and len(element):
            colour = element[0].get("lastClr") or element[0].get("val") or ""
            if re.fullmatch("[0-9A-Fa-f]{6}", colour):
                found[name] = colour.upper()
    return tuple(found[name] for name in _ORDER)


def with_plain_colours(cell: Any, theme: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Copies of the font, fill and border of a cell, with plain colours only."""
    font, fill, border = copy(cell.font), copy(cell.fill), copy(cell.border)
    font.scheme = None
    font.color = _plain(font.color, theme)
    if fill.tagname == "patternFill":
        fill.fgColor, fill.bgColor = _plain(fill.fgColor, theme), _plain(fill.bgColor, theme)
    else:
        for stop in fill.stop:
            stop.color = _plain(stop.color, theme)
    for name in _SIDES:
        side = copy(getattr(border, name))
        if side is not None:
            side.color = _plain(side.color, theme)
            setattr(border, name, side)
    return font, fill, border


def _plain(colour: Any, theme: tuple[str, ...]) -> Any:
    if colour is None or colour.type != "theme":
        return copy(colour)
    from openpyxl.styles.colors import Color

    position = int(colour.theme)
    return Color(rgb="FF" + _tinted(theme[position % len(theme)], float(colour.tint or 0)))


def _tinted(colour: str, tint: float) -> str:
    """A colour made lighter (tint above 0) or darker, as ECMA-376 18.8.19 says.

    >>> _tinted("4F81BD", 0.8), _tinted("FFFFFF", -0.5)
    ('DCE6F2', '808080')
    """
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light + (1 - light) * tint
    rgb = colorsys.hls_to_rgb(hue, light, saturation)
    return "".join(f"{round(255 * part):02X}" for part in rgb)


def save(book: Any, path: Path) -> None:
    """Write an openpyxl workbook without author, time or theme."""
    raw = io.BytesIO()
    book.save(raw)
    with (
        zipfile.ZipFile(raw) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for part in sorted(source.namelist()):
            if part == _THEME:
                continue
            content = source.read(part).decode("utf-8")
            if part == "docProps/core.xml":
                content = _CORE
            elif part == "docProps/app.xml":
                content = _APP
            elif part in ("[Content_Types].xml", "xl/_rels/workbook.xml.rels"):
                content = _THEME_LINK.sub("", content)
            elif part.startswith("xl/worksheets/"):
                content = _FRACTION.sub(lambda v: f"<v>{Decimal(v[1]):.15g}</v>", content)
            entry = zipfile.ZipInfo(part, _ZIP_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, content)
