"""What public files beside the CSV show, compared with what the CSV and its structure say.

Workbooks and pages are written again from the published values, in the language and with the
title that they have themselves, and must be what was written. So an internal file in the place of
a public one is found out even if all digests were made anew.
"""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from diskret.attack.microdata.said import told_weights_and_order
from diskret.errors import InputError, VerificationError
from diskret.publish.contract import software
from diskret.publish.digests import SIGNED, is_lock
from diskret.publish.formats.data_files import write_text_columns
from diskret.publish.formats.public_workbook import write_xlsx
from diskret.publish.formats.symbols import SymbolSet, symbol_sets
from diskret.publish.formats.workbook_layout import Layout
from diskret.publish.guard.check import file_names
from diskret.publish.guard.exchange import exchange_problems
from diskret.publish.guard.html import page_problems
from diskret.publish.guard.maps import map_problems
from diskret.publish.guard.tables import parquet_problems
from diskret.publish.guard.workbook import cells_of, same_workbook, sheets
from diskret.publish.in_words import table_words
from diskret.publish.pages.microdata import write_public_microdata_report
from diskret.publish.pages.microdata_outline import (
    LISTED,
    Family,
    Kind,
    Outline,
    Variable,
    variable,
)
from diskret.publish.pages.public import write_public_report
from diskret.publish.script import SCRIPT
from diskret.tables import Derived, Difference, Published, SideBySide
from diskret.tables.side_by_side import columns_text, decimals_of
from diskret.texts import LANGUAGES

#: Writes a page to a path, with a title and a language.
Write = Callable[[Path, str, str], None]

_HEAD = re.compile(r'<!DOCTYPE html>\n<html lang="(en|de)">')
_TITLE = re.compile(r"<h1>([^<>]*)</h1>")
_MARKUP = re.compile(r"<style>[^<]*</style>|<[^>]*>")
_MOST_SYMBOLS = 8

_TYPES: Mapping[str, pa.DataType] = {
    "whole": pa.int64(),
    "decimal": pa.float64(),
    "date": pa.timestamp("us"),
    "logical": pa.bool_(),
}
_ROW = re.compile(r'<tr><th scope="row">([^<]*)</th><td>([^<]*)</td>')
_ITEM = re.compile(r"<li>([^<]*)</li>")


def check_files(public: Path, published: Published, certificate: Mapping[str, Any]) -> str:
    """Compare all files of a table but the CSV file with its published values.

    Returns what could not be compared, for the line that says what was confirmed; mostly empty.
    """
    name = published.name
    found = list(parquet_problems(public / f"{name}.parquet", published))
    found += _of_workbook(public / f"{name}.xlsx", published)
    found += exchange_problems(public, published)
    found += map_problems(public, published)
    refuse(found)

    def write(path: Path, title: str, language: str) -> None:
        before = before_page(certificate, name)
        write_public_report(published, before, path, title=title, language=language)

    return check_page(public / f"{name}.html", certificate, write)


def check_columns(public: Path, shown: Derived | SideBySide | Difference) -> None:
    """Compare the files of what is made of published tables with its values."""
    check_text_columns(public, shown.name, columns_text(shown), decimals_of(shown))
    if not isinstance(shown, Difference):
        refuse(exchange_problems(public, shown))


def check_text_columns(public: Path, name: str, text: pa.Table, decimals: dict[str, int]) -> None:
    """Compare the workbook of columns of text, of which those in `decimals` are numbers."""
    path = public / f"{name}.xlsx"

    def write(folder: Path) -> Iterator[Path]:
        named = {table_words(one)["table"]: one for one in LANGUAGES}
        language = named.get(sheets(path)[0], "en")
        write_text_columns(name, text, decimals, folder, ("xlsx",), language)
        yield folder / path.name

    refuse(_differences(path, write))


def check_page(path: Path, certificate: Mapping[str, Any], write: Write) -> str:
    """Compare a page with the one that is written again.

    Of a page of another release of the software, which may look otherwise, only numbers and what
    the certificate says are compared; then a remark is returned.
    """
    if not path.exists():
        return ""
    refuse(page_problems(path))
    text = path.read_text(encoding="utf-8")
    again, language = _written_again(path.name, text, write)
    if again == text:
        return ""
    shown, said = _shown(text), (certificate[key] for key in ("claimed", "not_claimed"))
    if (
        certificate["software"] == software()
        or _numbers(text) - _numbers(again)
        or not all(line in shown for both in said for line in both[language])
    ):
        raise VerificationError(
            f"{path.name} does not show what is published and certified, or shows more"
        )
    return (
        f"; of {path.name} only numbers and what the certificate says were compared, because it "
        f"was made with {certificate['software']}"
    )


def _written_again(name: str, text: str, write: Write) -> tuple[str, str]:
    """A page as it is written now, with the title of the other, and its language."""
    head, title = _HEAD.match(text), _TITLE.search(text)
    with TemporaryDirectory() as private:
        again = Path(private) / name
        try:
            if head is not None and title is not None:
                write(again, html.unescape(title[1]), head[1])
                return again.read_text(encoding="utf-8"), head[1]
        except (InputError, KeyError, TypeError, ValueError, IndexError):
            pass
    raise VerificationError(f"{name} is no page that is written of what is published and certified")


def _shown(page: str) -> str:
    """The text that a page shows to readers."""
    return html.unescape(_MARKUP.sub(" ", page))


def _numbers(page: str) -> Counter[str]:
    """The numbers that a page shows, and how often."""
    return Counter(re.findall(r"\d+", _shown(page)))


def before_page(certificate: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The certificate as it was when the page was written: it cannot list its own digest."""
    files = {file: mark for file, mark in certificate["files"].items() if file != f"{name}.html"}
    return {**certificate, "files": files}


def check_names(
    public: Path,
    tables: Collection[str],
    records: Collection[str],
    figures: Collection[str],
    combined: Collection[str],
    differences: Collection[str],
) -> list[str]:
    """Refuse files that belong to nothing; a line for each that was not compared.

    A workbook in the layout of the office cannot be compared without the office's template.
    """
    known = file_names(
        tables=tables,
        records=records,
        figures=figures,
        combined=combined,
        differences=differences,
    )
    others = [
        path
        for path in sorted(public.iterdir())
        if path.name not in {*known, SIGNED, SCRIPT} and not is_lock(path)
    ]
    foreign = [path.name for path in others if path.suffix != ".xlsx"]
    refuse(f"{name} is no file of this release" for name in foreign)
    return [
        f"{path.name}: file unchanged; not compared, because the layout is the office's own"
        for path in others
    ]


def refuse(problems: Iterator[str] | Sequence[str]) -> None:
    """Refuse what has problems."""
    found = list(problems)
    if found:
        raise VerificationError("; ".join(found))


# ── workbooks ───────────────────────────────────────────────────────────────────────


def _of_workbook(path: Path, published: Published) -> list[str]:
    def write(folder: Path) -> Iterator[Path]:
        language, title, symbols = _looks(path, published)
        again = folder / path.name
        for one, dotted in product(symbols, (False, True)):
            write_xlsx(published, again, title=title, language=language, symbols=one, dotted=dotted)
            yield again

    return _differences(path, write)


def _differences(path: Path, write: Callable[[Path], Iterator[Path]]) -> list[str]:
    """What is wrong with a workbook, if it is none of those written; the fewest problems."""
    if not path.exists():
        return []
    found: list[list[str]] = []
    with TemporaryDirectory() as private:
        try:
            for again in write(Path(private)):
                found.append(list(same_workbook(path, again)))
                if not found[-1]:
                    return []
        except Exception as error:  # damaged archives and parts raise errors of a dozen kinds
            return [f"{path.name} cannot be read: {type(error).__name__}"]
    shortest = min(found, key=len, default=["symbols without a legend"])
    return [f"{path.name} has {problem}" for problem in shortest]


def _looks(path: Path, published: Published) -> tuple[str, str, list[SymbolSet]]:
    """Language, title and admissible symbols of a workbook, as its second sheet tells them."""
    classic = symbol_sets()["de-classic"]
    layouts = [Layout(published, classic, language, None) for language in LANGUAGES]
    names = sheets(path)
    words = next(
        (one.words for one in layouts if names == [one.words["table"], one.words["legend"]]), None
    )
    if words is None:
        raise InputError("other sheets")
    language = words.language
    cells = cells_of(path, 2)
    symbols: dict[str, str] = {}
    row = 2
    while f"A{row}" in cells:
        symbols[str(cells[f"A{row}"])] = str(cells.get(f"B{row}", ""))
        row += 1
    if published.intervals:
        symbols.pop(words["range"], None)
    about = row + 1 if f"A{row + 1}" in cells else row
    title = str(cells.get(f"B{about + 1}", ""))
    return language, title, list(_symbol_sets(symbols, language))


def _symbol_sets(symbols: Mapping[str, str], language: str) -> Iterator[SymbolSet]:
    known = [one for one in symbol_sets().values() if one.legend[language] == symbols]
    if known or len(symbols) > _MOST_SYMBOLS:
        yield from known
        return
    both = {"en": dict(symbols), "de": dict(symbols)}
    for hidden, nothing in permutations(symbols, 2):
        with suppress(InputError):
            yield SymbolSet("own", hidden, nothing, both)


# ── the page beside released microdata ───────────────────────────────────────────────


def check_microdata_page(
    public: Path, name: str, certificate: Mapping[str, Any], records: pa.Table, typed: bool
) -> str:
    """Compare the page with what the records and the certificate say; says what was not compared.

    What the page alone tells are the kinds of methods, in fixed words, with names of variables.
    `typed`: the records have their types, read from Parquet, and are not text from CSV.
    """
    path = public / f"{name}.html"
    if not path.exists():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")

    def write(path: Path, title: str, language: str) -> None:
        words = table_words(language, "report", "microdata_report")
        items = [html.unescape(item) for item in _ITEM.findall(text)]
        weight, shuffled = told_weights_and_order(certificate["not_claimed"])
        shown = Outline(
            name=name,
            records=records.num_rows,
            variables=tuple(_page_variables(text, records, typed, words)),
            families=dict(_page_families(items, records.column_names, words)),
            weight=weight,
            shuffled=shuffled,
        )
        before = before_page(certificate, name)
        write_public_microdata_report(shown, before, path, title=title, language=language)

    return check_page(path, certificate, write)


def _page_families(
    items: list[str], columns: list[str], words: Mapping[str, str]
) -> Iterator[tuple[Family, tuple[str, ...]]]:
    """The kinds of methods that a page names, with names of columns and nothing else."""
    several = "|".join(map(re.escape, columns))
    names = re.compile(rf"(?:{several})(?:, (?:{several}))*")
    for item in items:
        for family in get_args(Family):
            rest = item.removeprefix(f"{words[family]} ")
            if rest != item and names.fullmatch(rest):
                yield family, (rest,)


def _page_variables(
    text: str, records: pa.Table, typed: bool, words: Mapping[str, str]
) -> Iterator[Variable]:
    kinds: dict[str, Kind] = {words[kind]: kind for kind in get_args(Kind)}
    told = {html.unescape(name): html.unescape(kind) for name, kind in _ROW.findall(text)}
    for name in records.column_names:
        column = records.column(name)
        if typed:
            yield variable(name, column)
        else:
            yield _from_text(name, column, kinds[told[name]])


def _from_text(name: str, text: pa.ChunkedArray, kind: Kind) -> Variable:
    """A variable whose values are known as text: in the order of what the text stands for."""
    if kind == "text":
        return variable(name, text)
    there = pc.unique(text).drop_null()
    try:
        order = pc.sort_indices(there.cast(_TYPES[kind]))
    except pa.ArrowInvalid:
        raise VerificationError(f"{name} does not hold what the page says it does") from None
    ordered = there.take(order).to_pylist()
    found = Variable(name, kind, len(ordered), text.null_count)
    if len(ordered) > LISTED:
        return replace(found, ends=(ordered[0], ordered[-1]))
    return replace(found, listed=tuple(ordered))
