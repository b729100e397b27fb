"""What may stand in workbooks of our own, of any size: published cells, each in its place.

They are read row by row, by code that knows nothing of how they are written. Titles, symbols and
what these mean are what somebody wrote who knows that it is published; all else follows from the
table.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain, islice, product, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from diskret.publish.guard.sheet_rows import Cell, Row, SheetRows
from diskret.publish.guard.workbook import (
    BOOK,
    LINKS,
    PROPERTIES,
    PROPERTY_TEXTS,
    STYLES,
    package_problems,
    part_problems,
    sheet_parts,
)
from diskret.publish.in_words import circumstances, code_text, how_changed, measure, table_words
from diskret.publish.sheet import across, header_rows
from diskret.tables import NO_BOUND, Dimension, Published
from diskret.texts import LANGUAGES, Words, scaled
from diskret.texts.numbers import Count

_EXAMPLES = 3

_FALSE = "ScaleCrop LinksUpToDate SharedDoc HyperlinksChanged".split()
_PROPERTIES: Mapping[str, str] = {
    **PROPERTIES,
    **dict.fromkeys((*_FALSE, "creator", "lastModifiedBy", "Company"), ""),
    **dict.fromkeys(
        "HeadingPairs TitlesOfParts variant lpstr i4 DocSecurity AppVersion".split(), ""
    ),
    "modified": "type",
    "vector": "size baseType",
}
#: What they say beside the names of the sheets.
_SAID: Mapping[str, Collection[str]] = {
    **PROPERTY_TEXTS,
    **dict.fromkeys(_FALSE, ("false",)),
    "modified": PROPERTY_TEXTS["created"],
    "DocSecurity": ("0",),
    "i4": ("1", "2"),
    "AppVersion": ("12.0000",),
}
#: Part → its elements with their attributes.
_PARTS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("[Content_Types].xml", "_rels/.rels", "xl/_rels/workbook.xml.rels"), LINKS),
    **dict.fromkeys(("docProps/app.xml", "docProps/core.xml"), _PROPERTIES),
    "xl/workbook.xml": {
        **{name: BOOK[name] for name in "workbook bookViews sheets sheet calcPr".split()},
        "fileVersion": "appName lastEdited lowestEdited rupBuild",
        "workbookPr": "defaultThemeVersion",
        "workbookView": "xWindow yWindow windowWidth windowHeight",
    },
    "xl/styles.xml": STYLES,
    "xl/theme/theme1.xml": dict.fromkeys(
        "theme themeElements clrScheme dk1 sysClr lt1 dk2 srgbClr lt2 accent1 accent2 accent3 "
        "accent4 accent5 accent6 hlink folHlink fontScheme majorFont latin ea cs font minorFont "
        "fmtScheme fillStyleLst solidFill schemeClr gradFill gsLst gs tint satMod lin shade "
        "lnStyleLst ln prstDash effectStyleLst effectStyle effectLst outerShdw alpha scene3d "
        "camera rot lightRig sp3d bevelT bgFillStyleLst path fillToRect objectDefaults "
        "extraClrSchemeLst".split(),
        "*",
    ),
}

_Read = Callable[[zipfile.ZipFile, Words], Iterator[str]]


def table_workbook(path: Path, published: Published) -> Iterator[str]:
    """What is wrong with the workbook of a table; nothing if there is none."""
    return _problems(path, ("table", "legend"), lambda *of: _of_table(published, *of))


def columns_workbook(path: Path, cells: pa.Table, decimals: Collection[str]) -> Iterator[str]:
    """The same of one with columns of text, of which those in `decimals` are numbers."""
    return _problems(path, ("table",), lambda archive, _: _of_columns(archive, cells, decimals))


def _problems(path: Path, titles: Sequence[str], read: _Read) -> Iterator[str]:
    if not path.exists():
        return
    if not zipfile.is_zipfile(path):
        yield f"{path.name} is no workbook"
        return
    try:
        with zipfile.ZipFile(path) as archive:
            found = list(_around(path, archive, titles)) or list(_inside(archive, titles, read))
    except Exception as error:  # damaged archives and parts raise errors of a dozen kinds
        found = [f"content that cannot be read ({error!r})"]
    for problem in dict.fromkeys(found):
        yield f"{path.name} has {problem}"


def _around(path: Path, archive: zipfile.ZipFile, titles: Sequence[str]) -> Iterator[str]:
    """What is wrong with all but the sheets."""
    parts = {*_PARTS, *(_sheet(i) for i in range(len(titles)))}
    found = list(package_problems(path, archive, parts))
    found += [f"no part {part}" for part in sorted(parts - {*archive.namelist()})]
    names = {name for one in LANGUAGES for name in _titles(titles, one)}
    for part, listed in () if found else _PARTS.items():
        said = {**_SAID, "lpstr": {"Worksheets", *names}} if listed is _PROPERTIES else {}
        found += part_problems(archive, part, listed, said)
    yield from found


def _inside(archive: zipfile.ZipFile, titles: Sequence[str], read: _Read) -> Iterator[str]:
    there = list(sheet_parts(archive).items())
    for language in LANGUAGES:
        if there == [(name, _sheet(i)) for i, name in enumerate(_titles(titles, language))]:
            return read(archive, table_words(language, "workbook"))
    return iter(["other sheets"])


def _titles(titles: Sequence[str], language: str) -> list[str]:
    words = table_words(language, "workbook")
    return [words[title] for title in titles]


def _sheet(number: int) -> str:
    return f"xl/worksheets/sheet{number + 1}.xml"


# ── rows ────────────────────────────────────────────────────────────────────────────


class _Sign(Enum):
    """Texts that somebody chose: the title, and what stands for cells without a number."""

    TITLE, HIDDEN, EMPTY = range(3)


_Signs = Mapping[_Sign, set[str]]


class _Line(NamedTuple):
    """A row that must be there.

    `kinds`: column → what its cell must look like as others do, apart from being a number.
    """

    number: int
    wanted: Mapping[int, str | float | _Sign]
    kinds: Mapping[int, int] = MappingProxyType({})


def _compared(sheet: SheetRows, lines: Iterable[_Line], signs: _Signs) -> Iterator[str]:
    """What is wrong with a sheet that must have these rows."""
    wrong, looks = list[int](), set[tuple[int, bool, str]]()
    for found, line in zip_longest(sheet, lines):
        number, row = found or (line.number, {})
        if line is None or number != line.number or not _is(row, line, signs):
            wrong.append(number)
        else:
            looks |= {(kind, row[at].number, row[at].style) for at, kind in line.kinds.items()}
    yield from sheet.problems
    if wrong:
        some = ", ".join(map(str, wrong[:_EXAMPLES]))
        number = Count(len(wrong))
        yield (
            f"{number} {number:row that does|rows that do} not show what is published, e.g. {some} "
            f"({sheet.part})"
        )
    if len(looks) > len({(kind, number) for kind, number, _ in looks}):
        yield "cells of one kind that look different"


def _is(row: Row, line: _Line, signs: _Signs) -> bool:
    """Whether a row shows what must stand there and nothing else; `signs` are told."""
    columns = {*row, *line.wanted}
    return all([_equal(row.get(at, Cell()), line.wanted.get(at, ""), signs) for at in columns])


def _equal(cell: Cell, wanted: str | float | _Sign, signs: _Signs) -> bool:
    if isinstance(wanted, _Sign) and not cell.number:
        signs[wanted].add(cell.text)
        return wanted is _Sign.TITLE or bool(cell.text)
    if wanted is _Sign.EMPTY:
        wanted = 0.0  # it may be shown as a number
    if not isinstance(wanted, float):
        return not cell.number and cell.text == wanted
    # a spreadsheet keeps 15 digits
    return cell.number and f"{float(cell.text):.15g}" == f"{wanted:.15g}"


# ── columns of text ─────────────────────────────────────────────────────────────────


def _of_columns(
    archive: zipfile.ZipFile, cells: pa.Table, decimals: Collection[str]
) -> Iterator[str]:
    def lines() -> Iterator[_Line]:
        yield _Line(1, dict(enumerate(names)))
        for number, line in enumerate(zip(*columns, strict=True), start=2):
            texts = zip(names, line, strict=True)
            yield _Line(
                number,
                {
                    column: float(text) if text and name in decimals else text
                    for column, (name, text) in enumerate(texts)
                },
                {at: at for at, text in enumerate(line) if text},
            )

    names = cells.column_names
    columns = [cells[name].to_pylist() for name in names]
    yield from _compared(SheetRows(archive, _sheet(0)), lines(), {})


# ── a table ─────────────────────────────────────────────────────────────────────────


def _of_table(published: Published, archive: zipfile.ZipFile, words: Words) -> Iterator[str]:
    signs: _Signs = {sign: set() for sign in _Sign}
    lines = chain(_head(published, words), _body(published, words))
    yield from _compared(SheetRows(archive, _sheet(0)), lines, signs)
    hidden, empty = signs[_Sign.HIDDEN], signs[_Sign.EMPTY]
    if len(hidden) > 1 or len(empty) > 1 or hidden & empty:
        yield "several symbols for cells of one kind, or one for both"
    if any(mark.isdigit() for symbol in hidden for mark in symbol):
        yield "figures where nothing is published"
    yield from _legend(archive, published, words, signs)


def _head(published: Published, words: Words) -> Iterator[_Line]:
    top, last = across(published), header_rows(published)
    names = [d.name for d in published.dimensions if d is not top]
    yield _Line(1, {0: _Sign.TITLE})
    for heading, text in how_changed(published, words).items():
        yield _Line(2, {0: f"{heading}: {text}."})
    heads = [measure(published, words)]
    if top is not None:
        yield _Line(last - 1, {len(names): top.name})
        heads = _texts(top, words)
    yield _Line(last, dict(enumerate([*names, *heads])))


def _body(published: Published, words: Words) -> Iterator[_Line]:
    top = across(published)
    side = [enumerate(_texts(d, words)) for d in published.dimensions if d is not top]
    first, width = len(side), 1 if top is None else len(top)
    values = _values(published, words)
    for number, stub in enumerate(product(*side), start=header_rows(published) + 1):
        texts = [text for _, text in stub]
        wanted = dict(enumerate([*texts, *islice(values, width)]))
        # totals stand in the row of a total, and in the first of several columns
        total = any(at == 0 for at, _ in stub)
        kinds = {first + at: int(total or (top is not None and at == 0)) for at in range(width)}
        yield _Line(number, wanted, kinds)


def _texts(dimension: Dimension, words: Words) -> list[str]:
    return [code_text(dimension, at, words) for at in range(len(dimension))]


def _values(published: Published, words: Words) -> Iterator[str | float | _Sign]:
    """What stands for each cell, in their order."""
    arrays = (published.value, published.suppressed, published.empty)
    bounds = [bound.ravel() for bound in published.intervals.values()]
    for at, (value, hidden, empty) in enumerate(
        zip(*(array.ravel().tolist() for array in arrays), strict=True)
    ):
        if hidden:
            yield _range(published, [int(bound[at]) for bound in bounds], words) or _Sign.HIDDEN
        else:
            yield _Sign.EMPTY if empty else value / 10**published.decimals


def _range(published: Published, bounds: Sequence[int], words: Words) -> str:
    """A published range in words; empty without any bound."""
    told = [_number(b, published, words) for b in bounds if abs(b) != NO_BOUND]
    if len(told) != 1:
        return "\N{EN DASH}".join(told)
    return f"{words['at most' if abs(bounds[0]) == NO_BOUND else 'at least']} {told[0]}"


def _number(value: int, published: Published, words: Words) -> str:
    return scaled(value, published.decimals, words.language)


def _legend(
    archive: zipfile.ZipFile, published: Published, words: Words, signs: _Signs
) -> Iterator[str]:
    symbols = dict[str, str]()
    for number, row in SheetRows(archive, _sheet(1)):
        if number == len(symbols) + 2:
            symbols[row.get(0, Cell()).text] = row.get(1, Cell()).text
    hidden, empty = int(published.suppressed.sum()), int(published.empty.sum())
    about = {
        words["title"]: _Sign.TITLE,
        words["measure"]: measure(published, words),
        words["dimensions"]: ", ".join(d.name for d in published.dimensions),
        **circumstances(published, words, lambda value: _number(value, published, words)),
        **how_changed(published, words),
        words["cells"]: float(published.size),
        words["published"]: float(published.size - hidden - empty),
        words["suppressed"]: float(hidden),
        words["empty"]: float(empty),
    }
    blocks = ([(words["symbols"],), *symbols.items()], [(words["about"],), *about.items()])
    lines = [
        _Line(number, dict(enumerate(row)))
        for block, first in zip(blocks, (1, len(symbols) + 3), strict=True)
        for number, row in enumerate(block, start=first)
    ]
    yield from _compared(SheetRows(archive, _sheet(1)), lines, signs)
    ranges = {words["range"]: words["range note"]} if published.intervals else {}
    used = signs[_Sign.HIDDEN] | signs[_Sign.EMPTY] | ranges.keys()
    if not symbols.keys() >= used or any(symbols[one] != ranges[one] for one in ranges):
        yield "symbols without a legend"
    if len(signs[_Sign.TITLE]) > 1:
        yield "two titles"
