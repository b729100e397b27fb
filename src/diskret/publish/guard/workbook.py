"""What a workbook consists of: its package, the elements of its parts, and what its sheets show.

Read with code of its own, which knows nothing of how workbooks are written.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree

from diskret.texts.numbers import Count

_EXAMPLES = 3
_STYLED = "xl/styles.xml"
# a height in points or a width in characters below which nothing can be seen
_THINNEST = 0.75
_PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(?:app|core)\.xml|xl/_rels/workbook\.xml\.rels"
    r"|xl/(?:workbook|styles|sharedStrings)\.xml|xl/worksheets/sheet\d+\.xml"
)
_RANGE = re.compile(r"(?:'(?:[^']|'')+'|\w+)!\$?[A-Z]*\$?\d*(?::\$?[A-Z]*\$?\d*)?")

# element → its attributes; text stands only in those of _WITH_TEXT
SHEET: Mapping[str, str] = {
    "worksheet": "",
    "sheetPr": "",
    "outlinePr": "summaryBelow summaryRight",
    "pageSetUpPr": "fitToPage autoPageBreaks",
    "dimension": "ref",
    "sheetViews": "",
    "sheetView": "workbookViewId showGridLines zoomScale tabSelected",
    "pane": "xSplit ySplit topLeftCell activePane state",
    "selection": "pane activeCell sqref",
    "sheetFormatPr": "baseColWidth defaultRowHeight defaultColWidth",
    "cols": "",
    "col": "min max width customWidth",
    "sheetData": "",
    "row": "r ht customHeight spans",
    "c": "r s t",
    "v": "",
    "is": "",
    "t": "space",
    "r": "",
    "rPr": "",
    **dict.fromkeys("b i strike outline shadow condense extend u vertAlign sz color".split(), "*"),
    **dict.fromkeys("rFont family charset scheme".split(), "*"),
    "mergeCells": "count",
    "mergeCell": "ref",
    "printOptions": "horizontalCentered verticalCentered headings gridLines gridLinesSet",
    "pageMargins": "left right top bottom header footer",
    "pageSetup": (
        "orientation paperSize scale fitToHeight fitToWidth firstPageNumber useFirstPageNumber "
        "pageOrder blackAndWhite draft errors"
    ),
    "headerFooter": "differentFirst differentOddEven",
    **dict.fromkeys(
        "oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter".split(), ""
    ),
    "rowBreaks": "count manualBreakCount",
    "colBreaks": "count manualBreakCount",
    "brk": "id min max man pt",
}
BOOK: Mapping[str, str] = {
    "workbook": "",
    "workbookPr": "",
    "workbookProtection": "",
    "bookViews": "",
    "workbookView": (
        "visibility minimized showHorizontalScroll showVerticalScroll showSheetTabs tabRatio "
        "firstSheet activeTab autoFilterDateGrouping"
    ),
    "sheets": "",
    "sheet": "name sheetId state id",
    "definedNames": "",
    "definedName": "name localSheetId",
    "calcPr": "calcId fullCalcOnLoad",
}
STYLES: Mapping[str, str] = {
    "cellStyle": "name xfId builtinId hidden",
    **dict.fromkeys(
        "styleSheet numFmts numFmt fonts font name family charset color sz scheme b i strike u "
        "outline shadow condense extend vertAlign fills fill patternFill fgColor bgColor "
        "gradientFill stop borders border left right top bottom diagonal start end vertical "
        "horizontal cellStyleXfs cellXfs xf alignment protection cellStyles tableStyles colors "
        "indexedColors rgbColor dxfs".split(),
        "*",
    ),
}
_STRINGS: Mapping[str, str] = {
    **{name: SHEET[name] for name in ("t", "r", "rPr")},
    **dict.fromkeys("b i strike outline shadow condense extend u vertAlign sz color".split(), "*"),
    **dict.fromkeys("rFont family charset scheme".split(), "*"),
    "sst": "count uniqueCount",
    "si": "",
}
LINKS: Mapping[str, str] = {
    "Relationships": "",
    "Relationship": "Id Type Target",
    "Types": "",
    "Default": "Extension ContentType",
    "Override": "PartName ContentType",
}
PROPERTIES: Mapping[str, str] = {
    "coreProperties": "",
    "created": "type",
    "Properties": "",
    "Application": "",
}
_WITH_TEXT = frozenset(
    "v t definedName oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter".split()
)
#: Element → the texts that it may hold.
PROPERTY_TEXTS: Mapping[str, Collection[str]] = {
    "created": ("2000-01-01T00:00:00Z",),
    "Application": ("Microsoft Excel",),
}
_HEADERS = frozenset(name for name in _WITH_TEXT if name.endswith(("Header", "Footer")))
# anything between quotes, escaped, or in brackets; what is left may be a pattern only
_SPELT = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[*_].', re.DOTALL)
_HARMLESS = re.compile(r"\[(?:\w+|\$[^\]\d-]*(?:-[0-9A-Fa-f]+)?)\]")


@dataclass(frozen=True)
class Content:
    """What a reader of one sheet sees: cell → number or text, and headers and footers.

    `exact` has the figures of numbers as they stand there, `looks` the style of each cell.
    """

    cells: Mapping[str, float | str]
    exact: Mapping[str, str]
    looks: Mapping[str, str]
    headers: frozenset[str]


def workbook_problems(path: Path, archive: zipfile.ZipFile) -> Iterator[str]:
    """What a workbook holds beyond sheets with cells that everybody sees."""
    found = list(package_problems(path, archive))
    yield from found
    if not found:
        for part in archive.namelist():
            yield from _part(archive, part)


def same_workbook(path: Path, wanted: Path) -> Iterator[str]:
    """What a workbook holds or lacks beside another one, written from what is published."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(wanted) as original:
        parts = set(original.namelist())
        found = list(package_problems(path, archive, parts))
        if missing := parts - set(archive.namelist()):
            found.append(f"no part {min(missing)}")
        if found:
            yield from found
            return
        # where styles are alike, cells look alike
        alike = archive.read(_STYLED) == original.read(_STYLED)
        for part in sorted(parts):
            if archive.read(part) == original.read(part):
                continue
            if not part.startswith("xl/worksheets/"):
                more = _said(archive, part) - _said(original, part)
                if more:
                    yield f"{min(more)!r} in its part {part}"
                continue
            found += _part(archive, part)
            written, given = (_sheet(_root(of, part), [], set()) for of in (archive, original))
            odd = [
                cell
                for cell in {**written.cells, **given.cells}
                if written.cells.get(cell) != given.cells.get(cell)
                or (alike and written.looks.get(cell) != given.looks.get(cell))
            ]
            if odd or written.headers != given.headers:
                number = Count(len(odd))
                found.append(
                    f"{number} {number:cell that does|cells that do} not show what is published, "
                    "e.g. "
                    f"{', '.join(odd[:_EXAMPLES]) or 'its header'} ({part})"
                )
        yield from found


def sheets(path: Path) -> list[str]:
    """The names of the sheets of a workbook."""
    with zipfile.ZipFile(path) as archive:
        return [*sheet_parts(archive)]


def sheet_parts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Name of each sheet → its part, in their order."""
    links = {link.get("Id"): link for link in _root(archive, "xl/_rels/workbook.xml.rels")}
    found: dict[str, str] = {}
    for sheet in _root(archive, "xl/workbook.xml").iter():
        if tag_of(sheet) == "sheet":
            link = next(v for k, v in sheet.attrib.items() if k.endswith("}id"))
            target = str(links[link].get("Target"))
            part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
            found[str(sheet.get("name"))] = part
    return found


def cells_of(path: Path, number: int) -> Mapping[str, float | str]:
    """What the cells of one sheet show, by their names; sheets count from 1."""
    with zipfile.ZipFile(path) as archive:
        return _sheet(_root(archive, f"xl/worksheets/sheet{number}.xml"), [], set()).cells


# ── the package ─────────────────────────────────────────────────────────────────────


def package_problems(
    path: Path, archive: zipfile.ZipFile, parts: Collection[str] | None = None
) -> Iterator[str]:
    """Bytes of a file that no reader of workbooks shows, and parts other than these."""
    entries = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    names = [entry.filename for entry in entries]
    if archive.comment or any(entry.comment or entry.extra for entry in entries):
        yield "a comment on the archive"
    if len(set(names)) < len(names):
        yield "a part that is there twice"
    for name in names:
        if not (_PARTS.fullmatch(name) if parts is None else name in parts):
            yield f"the part {name}"
    end = 0
    for entry in entries:
        if entry.header_offset != end:
            yield "bytes between its parts"
        end = entry.header_offset + 30 + len(entry.filename.encode()) + entry.compress_size
    if end != archive.start_dir:
        yield "bytes between its parts"
    directory = sum(46 + len(name.encode()) for name in names)
    if path.stat().st_size != archive.start_dir + directory + 22:
        yield "bytes behind its parts"


def _part(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    if part.startswith("xl/worksheets/"):
        return part_problems(archive, part, SHEET)
    if part.startswith("docProps/"):
        return part_problems(archive, part, PROPERTIES, PROPERTY_TEXTS)
    return part_problems(archive, part, _LISTS.get(part, LINKS))


_LISTS = {"xl/workbook.xml": BOOK, _STYLED: STYLES, "xl/sharedStrings.xml": _STRINGS}


def part_problems(
    archive: zipfile.ZipFile,
    part: str,
    listed: Mapping[str, str],
    fixed: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Iterator[str]:
    """What a part holds beyond what it may.

    `listed`: element → its attributes; `fixed`: element → the texts that it may hold.
    """
    content = archive.read(part).decode("utf-8")
    head = re.match(r"<\?xml [^?]*\?>", content)
    if re.search(r"<[!?]", content[head.end() if head else 0 :]):
        yield f"a comment or declaration ({part})"
        return
    for element in ElementTree.fromstring(content).iter():  # noqa: S314 - no declarations
        yield from element_problems(element, listed, part, fixed)


def element_problems(
    element: ElementTree.Element,
    listed: Mapping[str, str],
    part: str,
    fixed: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Iterator[str]:
    """The same of one element."""
    tag = tag_of(element)
    if tag not in listed:
        yield f"the element <{tag}> ({part})"
        return
    attributes = {name.rpartition("}")[2]: text for name, text in element.attrib.items()}
    if listed[tag] != "*":
        for name in sorted(set(attributes) - set(listed[tag].split())):
            yield f"the attribute {name} of <{tag}> ({part})"
    if (element.tail or "").strip():
        yield f"text outside of cells ({part})"
    text = element.text or ""
    if tag in fixed:
        if text not in fixed[tag]:
            yield f"properties of its own ({part})"
    elif text.strip() and tag not in _WITH_TEXT:
        yield f"text outside of cells ({part})"
    if tag == "numFmt" and _shows_figures(attributes.get("formatCode", "")):
        yield f"the number format {attributes['formatCode']!r}, which shows figures of its own"
    if tag == "cellStyle" and attributes.get("name") != "Normal":
        yield f"the style {attributes.get('name')!r}"
    if tag in ("sheet", "workbookView"):
        state = attributes.get("state", attributes.get("visibility", "visible"))
        if state != "visible":
            yield f"the hidden sheet {attributes.get('name', '')!r}"
    sizes = [float(attributes[name]) for name in ("ht", "width") if name in attributes]
    if tag in ("row", "col") and any(size < _THINNEST for size in sizes):
        yield f"hidden rows or columns ({part})"
    if tag == "definedName":
        printing = attributes.get("name") in ("_xlnm.Print_Area", "_xlnm.Print_Titles")
        if not printing or not all(_RANGE.fullmatch(area.strip()) for area in text.split(",")):
            yield f"the name {attributes.get('name')!r}"


def _shows_figures(code: str) -> bool:
    spelt = [text for text in _SPELT.findall(code) if not _HARMLESS.fullmatch(text)]
    return bool(re.search(r"\d", "".join(spelt)) or re.search("[1-9]", _SPELT.sub("", code)))


# ── reading ─────────────────────────────────────────────────────────────────────────


def contents(archive: zipfile.ZipFile) -> tuple[dict[str, Content], list[str]]:
    """Title → content of each sheet, and what no sheet shows of the texts and sheets there are."""
    shared: list[str] = []
    if "xl/sharedStrings.xml" in archive.namelist():
        shared = [_shown(item) for item in _root(archive, "xl/sharedStrings.xml")]
    used: set[int] = set()
    parts = sheet_parts(archive)
    found = {title: _sheet(_root(archive, part), shared, used) for title, part in parts.items()}
    there = [name for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
    unseen = sorted({*there} - {*parts.values()})
    unused = [f"a text that no cell shows ({t!r})" for i, t in enumerate(shared) if i not in used]
    return found, [*unused, *(f"a sheet that is not in the workbook ({name})" for name in unseen)]


def _sheet(root: ElementTree.Element, shared: Sequence[str], used: set[int]) -> Content:
    cells: dict[str, float | str] = {}
    exact: dict[str, str] = {}
    looks: dict[str, str] = {}
    for cell in (element for element in root.iter() if tag_of(element) == "c"):
        where, kind = str(cell.get("r")), cell.get("t", "n")
        looks[where] = cell.get("s", "")
        made_of = [tag_of(part) for part in cell]
        if made_of not in ([], ["is" if kind == "inlineStr" else "v"]):
            raise ValueError(f"the cell {where} holds more than it shows")
        value = "".join(part.text or "" for part in cell)
        if kind == "s":
            used.add(int(value))
            cells[where] = shared[int(value)]
        elif kind == "inlineStr":
            cells[where] = "".join(map(_shown, cell))
        elif kind == "n":
            if value:
                cells[where], exact[where] = float(value), value
        else:  # truth values and errors: as given, or not at all
            cells[where] = f"{kind}:{value}"
    headers = {e.text for e in root.iter() if tag_of(e) in _HEADERS and e.text}
    return Content(cells, exact, looks, frozenset(headers))


def _shown(item: ElementTree.Element) -> str:
    """The text of a string, plain or in parts of different looks."""
    parts = [item, *(part for part in item if tag_of(part) == "r")]
    texts = [part.text or "" for of in parts for part in of if tag_of(part) == "t"]
    return "".join(texts).replace("\r\n", "\n")


def _said(archive: zipfile.ZipFile, part: str) -> set[str]:
    """All that a part says: its elements, texts and attributes."""
    found: set[str] = set()
    for element in _root(archive, part).iter():
        found |= {tag_of(element), (element.text or "").strip(), (element.tail or "").strip()}
        found |= {f"{name.rpartition('}')[2]}={text}" for name, text in element.attrib.items()}
    return found


def _root(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    content = archive.read(part)
    if b"<!" in content:
        raise ValueError(f"{part} holds a declaration")
    return ElementTree.fromstring(content)  # noqa: S314 - no declarations


def tag_of(element: ElementTree.Element) -> str:
    """The name of an element without its space of names."""
    return element.tag.rpartition("}")[2]
