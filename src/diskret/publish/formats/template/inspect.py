"""What a template may hold: what a reader sees, and nothing else."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

from diskret.errors import InputError
from diskret.texts.lists import first_of
from diskret.texts.numbers import Count

_EXAMPLES = 6
_MAX_SIZE = 200 << 20
_THINNEST = 0.75
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# parts that are read, and parts that are simply not taken over: properties and settings
_PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|xl/(workbook|styles|sharedStrings)\.xml"
    r"|xl/(worksheets/)?_rels/[^/]+\.rels|xl/worksheets/[^/]+\.xml|xl/theme/[^/]+"
    r"|docProps/(core|app|custom)\.xml|docProps/thumbnail\.\w+|docMetadata/[^/]+"
    r"|xl/printerSettings/[^/]+|customXml/.+"
)
_NAMED_PARTS = (
    (re.compile(r"vbaProject|macrosheets|\.bin$", re.IGNORECASE), "macros"),
    (re.compile("[cC]omments|persons/"), "comments"),
    (re.compile("externalLink|connections|queryTables"), "links to other files"),
    (re.compile("pivot|slicer|xl/model/"), "pivot tables with the data behind them"),
    (re.compile("charts?|drawing|media/|embeddings"), "charts, pictures or drawings"),
    (re.compile("xl/tables/"), "tables in the sense of Excel (convert them to ranges)"),
    (re.compile("calcChain"), "formulas"),
)
_SHEET_PARTS = frozenset(
    "sheetPr dimension sheetViews sheetFormatPr cols sheetData mergeCells printOptions pageMargins "
    "pageSetup headerFooter rowBreaks colBreaks phoneticPr ignoredErrors sheetCalcPr".split()
)
_NAMED_SHEET_PARTS = {
    "dataValidations": "data validation",
    "conditionalFormatting": "conditional formatting",
    "hyperlinks": "links",
    "sheetProtection": "sheet protection",
    "autoFilter": "a filter",
    "extLst": "extensions such as sparklines",
    "legacyDrawing": "comments or drawings",
    "drawing": "charts, pictures or drawings",
    "tableParts": "tables in the sense of Excel (convert them to ranges)",
}
_PRINTING = ("_xlnm.Print_Area", "_xlnm.Print_Titles")
# text in quotes, escaped, of a currency, or repeated; colours and languages in brackets; spacing
_LITERAL = re.compile(
    r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[0-9A-Fa-f]*)?\]|\*(.)|\[(?![<>=$])\w+\]|_.', re.DOTALL
)


def check_template(path: str | PathLike[str]) -> None:
    """Refuse a template that holds more than readers see.

    What is neither on the list nor visible could carry anything into the publication: hidden
    sheets, rows and columns, comments, names, links, macros, formulas with the values they had,
    pivot tables, charts, validations. Properties of the document are no reason to refuse; they are
    not taken over.
    """
    path = Path(path)
    if path.suffix.lower() != ".xlsx":
        raise InputError(f"{path}: a template must be a workbook without macros (.xlsx)")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MAX_SIZE:
                raise InputError(f"{path}: the template is larger than 200 MB unpacked; shorten it")
            problems = list(dict.fromkeys(_problems(archive)))
    except (OSError, zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read as an .xlsx workbook; save it as one again ({error})"
        ) from None
    if problems:
        number = Count(len(problems))
        raise InputError(
            f"{path}: the template holds {number} {number:thing|things} that cannot be published: "
            f"{first_of(problems, _EXAMPLES, '; ')}; delete them, or unhide what is hidden, for "
            "readers could find there what they must not see"
        )


def _problems(archive: zipfile.ZipFile) -> Iterator[str]:
    for part in archive.namelist():
        if part.endswith("/"):
            continue
        named = (words for pattern, words in _NAMED_PARTS if pattern.search(part))
        if not _PARTS.fullmatch(part):
            yield f"{next(named, 'an unknown part')} ({part})"
    yield from _book(_root(archive, "xl/workbook.xml"))
    for title, part in sheet_parts(archive):
        yield from _sheet(title, _root(archive, part))
    yield from _styles(_root(archive, "xl/styles.xml"))


def sheet_parts(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Title and part of each sheet, in their order."""
    target = {
        link.get("Id"): str(link.get("Target"))
        for link in _root(archive, "xl/_rels/workbook.xml.rels")
    }
    found: list[tuple[str, str]] = []
    for sheet in _all(_root(archive, "xl/workbook.xml"), "sheet"):
        link = next((v for k, v in sheet.attrib.items() if k.endswith("}id")), "")
        part = target[link]
        part = part.removeprefix("/") if part.startswith("/") else f"xl/{part}"
        found.append((sheet.get("name", ""), part))
    return found


def _book(root: ElementTree.Element) -> Iterator[str]:
    for sheet in _all(root, "sheet"):
        if sheet.get("state", "visible") != "visible":
            yield f"the hidden sheet {sheet.get('name')!r}"
    for name in _all(root, "definedName"):
        if name.get("name") not in _PRINTING:
            yield f"the name {name.get('name')!r} (only print areas and titles may have names)"
    if next(_all(root, "externalReference"), None) is not None:
        yield "links to other files"


def _sheet(title: str, root: ElementTree.Element) -> Iterator[str]:
    where = f"in the sheet {title!r}"
    if _tag(root) != "worksheet":
        yield f"{title!r}, which is no sheet of cells"
        return
    for part in root:
        if _tag(part) not in _SHEET_PARTS:
            yield f"{_NAMED_SHEET_PARTS.get(_tag(part), _tag(part))} {where}"
    for row in _all(root, "row"):
        if _hidden(row) or _too_thin(row.get("ht")):
            yield f"the hidden row {row.get('r')} {where}"
    for column in _all(root, "col"):
        if _hidden(column) or _too_thin(column.get("width")):
            yield f"the hidden column {column.get('min')} {where}"
    if any(_true(form.get("zeroHeight")) for form in _all(root, "sheetFormatPr")):
        yield f"hidden rows {where}"
    for cell in _all(root, "c"):
        if any(_tag(part) == "f" for part in cell):
            yield f"a formula in {cell.get('r')} {where}"
    for text in (part.text or "" for part in root.iter() if _tag(part) in ("oddHeader", "oddFooter",
                 "evenHeader", "evenFooter", "firstHeader", "firstFooter")):  # fmt: skip
        if "{{" in text:
            yield f"a placeholder in the header or footer {where}"
    if "{{" in title:
        yield f"a placeholder in the name of the sheet {title!r}"


def _styles(root: ElementTree.Element) -> Iterator[str]:
    for form in _all(root, "numFmt"):
        code = form.get("formatCode", "")
        # digits belong to a pattern of 0, # and ?; others could be a value in disguise
        literal = " ".join("".join(texts) for texts in _LITERAL.findall(code))
        if re.search(r"\d", literal) or re.search(r"[1-9]", _LITERAL.sub("", code)):
            yield f"the number format {code!r}, which shows figures of its own"


def _root(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    content = archive.read(part)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ElementTree.ParseError(f"{part} has a document type")
    return ElementTree.fromstring(content)  # noqa: S314 - without document type


def _all(root: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    return (element for element in root.iter() if _tag(element) == tag)


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _hidden(element: ElementTree.Element) -> bool:
    return _true(element.get("hidden"))


def _too_thin(size: str | None) -> bool:
    """Whether a height in points or a width in characters leaves nothing to see."""
    return size is not None and float(size) < _THINNEST


def _true(text: str | None) -> bool:
    return text in ("1", "true")
