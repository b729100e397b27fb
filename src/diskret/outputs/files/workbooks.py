"""Workbooks: what their sheets show, and all that is hidden in them."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said, look
from diskret.outputs.profile import Profile

_UNPACKED = 200_000_000  # bytes
#: Parts of a workbook that nobody sees.
_HIDDEN = re.compile(
    r"/(pivotCache|pivotTables|embeddings|externalLinks|media|customXml|model|queryTables|"
    r"slicers|slicerCaches|timelines|revisions|webextensions|activeX|ctrlProps)/|"
    r"vbaProject|connections\.xml|oleObject",
    re.IGNORECASE,
)
#: Parts that say who made it, or with what; and those with drawings and talk.
_METADATA = re.compile(r"/(docProps/custom\.xml|xl/printerSettings/|docProps/thumbnail)", re.I)
_COMMENTS = re.compile(r"/(threadedComments|persons)/", re.IGNORECASE)
_DRAWN = re.compile(r"/(charts|chartsheets|drawings)/(?!_rels/|vmlDrawing)", re.IGNORECASE)
#: Parts that the sheets themselves are made of.
_KNOWN = re.compile(
    r"/(\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/(workbook|styles|"
    r"sharedStrings|calcChain|metadata)\.xml|xl/_rels/workbook\.xml\.rels|xl/theme/theme\d+\.xml|"
    r"xl/worksheets/(_rels/)?[^/]+\.xml(\.rels)?|xl/tables/[^/]+\.xml|xl/comments[^/]*\.xml|"
    r"xl/comments/[^/]+\.xml|xl/drawings/(_rels/[^/]+\.rels|[^/]*vmlDrawing[^/]*\.vml)|"
    r"xl/(charts|chartsheets)/_rels/[^/]+\.rels)",
    re.IGNORECASE,
)
_PERSONAL = (
    "creator", "lastModifiedBy", "title", "subject", "description", "keywords", "category",
    "contentStatus", "identifier", "version",
)  # fmt: skip
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_BLANK = re.compile(r'^[";\s]*;[";\s]*$')  # formats that show nothing


def workbook(path: Path, said: Said, profile: Profile) -> list[Found]:
    """The sheets of a workbook, and all that is hidden in it."""
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
            if sum(part.file_size for part in parts) > _UNPACKED:
                return [Found("too_big")]
            found = [*_parts([part.filename for part in parts]), *_left_over(packed)]
            found += _whose(packed)
        return [*found, *_sheets(path, said, profile)]
    except ImportError:
        return [Found("unread")]
    except Exception:  # damaged workbooks raise errors of a dozen kinds
        return [Found("unread")]


def _parts(names: Sequence[str]) -> Iterator[Found]:
    """What a workbook is made of."""
    told: set[str] = set()
    for check, pattern in (
        ("embedded", _HIDDEN), ("metadata", _METADATA), ("comments", _COMMENTS),
        ("unknown", _DRAWN),
    ):  # fmt: skip
        own = [name for name in names if pattern.search("/" + name) and name not in told]
        told |= {*own}
        if own:
            yield Found(check, [(name,) for name in own])
    strange = [name for name in names if name not in told and not _KNOWN.fullmatch("/" + name)]
    if strange:
        yield Found("unknown", [(name,) for name in strange])


def _left_over(packed: zipfile.ZipFile) -> Iterator[Found]:
    """Texts that no cell shows any more."""
    names = packed.namelist()
    texts = next((name for name in names if name.lower() == "xl/sharedstrings.xml"), None)
    if texts is None:
        return
    number = sum(1 for one in _xml(packed, texts) if one.tag == f"{_MAIN}si")
    used: set[int] = set()
    for name in names:
        if name.lower().startswith("xl/worksheets/") and name.lower().endswith(".xml"):
            for cell in _xml(packed, name).iter(f"{_MAIN}c"):
                value = cell.find(f"{_MAIN}v")
                if cell.get("t") == "s" and value is not None and value.text:
                    used.add(int(value.text))
    if len(used) < number:
        yield Found("embedded", [(texts,)])


def _whose(packed: zipfile.ZipFile) -> Iterator[Found]:
    """Firms and managers that the program notes."""
    if "docProps/app.xml" in packed.namelist():
        said = [one for one in _xml(packed, "docProps/app.xml") if one.text and one.text.strip()]
        names = [one.tag.rpartition("}")[2] for one in said]
        own = [(name,) for name in names if name in ("Company", "Manager", "HyperlinkBase")]
        if own:
            yield Found("metadata", own)


def _xml(packed: zipfile.ZipFile, name: str) -> ElementTree.Element:
    content = packed.read(name).decode()
    if "<!DOCTYPE" in content or "<!ENTITY" in content:
        raise ValueError(f"{name} has a document type")
    return ElementTree.fromstring(content)  # noqa: S314 - without document type


def _sheets(path: Path, said: Said, profile: Profile) -> list[Found]:
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions, which are not looked at
        book: Any = load_workbook(path, data_only=True)
        computed: Any = load_workbook(path)
    found: list[Found] = []
    personal = [(name,) for name in _PERSONAL if getattr(book.properties, name, None)]
    personal = [one for one in personal if getattr(book.properties, one[0]) != "openpyxl"]
    if personal:
        found.append(Found("metadata", personal))
    names = [(name,) for name in book.defined_names]
    if names:
        found.append(Found("names", names))
    for sheet, own in zip(book.worksheets, computed.worksheets, strict=True):
        found += [*_besides(own), *_sheet(sheet, said, profile)]
    if len(book.worksheets) < len(book.sheetnames):
        found.append(Found("unknown", [(name,) for name in book.sheetnames]))
    return found


def _besides(sheet: Any) -> Iterator[Found]:
    """What a sheet holds besides its values: formulas, headers, names, rules."""
    place = str(sheet.title)
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    formulas = [(place, cell.coordinate) for cell in cells if cell.data_type == "f"]
    if formulas:
        yield Found("formulas", formulas)
    blank = [(place, cell.coordinate) for cell in cells if _invisible(cell)]
    if blank:
        yield Found("hidden", blank)
    links = [(place, cell.coordinate) for cell in cells if cell.hyperlink]
    if links:
        yield Found("names", links)
    pages = ("oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter")
    headers = [(place, name) for name in pages if _says(getattr(sheet, name))]
    if headers:
        yield Found("headers", headers)
    if sheet.defined_names:
        yield Found("names", [(place, name) for name in sheet.defined_names])
    rules = [(place, str(one.sqref)) for one in sheet.data_validations.dataValidation]
    rules += [(place, str(one.sqref)) for one in sheet.conditional_formatting]
    if sheet.auto_filter.ref:
        rules.append((place, str(sheet.auto_filter.ref)))
    if rules:
        yield Found("cell_rules", rules)


def _invisible(cell: Any) -> bool:
    """Whether a value is written so that nobody sees it."""
    color = cell.font.color if cell.font else None
    white = color is not None and color.type == "rgb" and str(color.rgb)[-6:].upper() == "FFFFFF"
    small = cell.font is not None and cell.font.sz is not None and cell.font.sz < _LEGIBLE
    return white or small or _BLANK.match(str(cell.number_format or "")) is not None


_LEGIBLE = 4  # points


def _says(header: Any) -> bool:
    return any(getattr(header, side).text for side in ("left", "center", "right"))


def _sheet(sheet: Any, said: Said, profile: Profile) -> list[Found]:
    found: list[Found] = []
    place = (str(sheet.title),)
    rows = [list(row) for row in sheet.iter_rows()]
    hidden: list[tuple[str, ...]] = [place] if sheet.sheet_state != "visible" else []
    for dimensions, size in ((sheet.row_dimensions, "height"), (sheet.column_dimensions, "width")):
        for key, one in dimensions.items():
            length = getattr(one, size)
            if one.hidden or (length is not None and length < 1):
                hidden.append((*place, str(key)))
    if hidden:
        found.append(Found("hidden", hidden))
    comments = [(*place, cell.coordinate) for row in rows for cell in row if cell.comment]
    if comments:
        found.append(Found("comments", comments))
    return [
        *found,
        *look(_table([[cell.value for cell in row] for row in rows]), said, profile, place),
    ]


def _table(rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns by the names in the first row that holds something."""
    filled = [row for row in rows if any(one not in (None, "") for one in row)]
    if not filled:
        return {}
    columns: dict[str, list[Any]] = {}
    for at, name in enumerate(filled[0]):
        own = str(name) if name not in (None, "") else f"{at + 1}"
        own = own if own not in columns else f"{own} ({at + 1})"
        columns[own] = [row[at] if at < len(row) else None for row in filled[1:]]
        if isinstance(name, int | float):  # no name: a table without a head
            columns[own].insert(0, name)
    return columns
