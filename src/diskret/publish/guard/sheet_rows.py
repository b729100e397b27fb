"""Reads the sheets of our own workbooks row by row, and says what is in them beside cells."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from xml.etree import ElementTree

from diskret.publish.guard.workbook import SHEET, element_problems

_BLOCK = 1 << 20
_ELEMENTS: Mapping[str, str] = {
    name: SHEET[name]
    for name in (
        "worksheet sheetPr pageSetUpPr dimension sheetViews sheetView pane selection "
        "sheetFormatPr cols col sheetData row c v is t pageMargins pageSetup"
    ).split()
}
#: What a sheet has so much of that it is looked at by its attributes alone.
_MANY = {name: frozenset(_ELEMENTS[name].split()) for name in ("c", "v", "is", "t")}
_CELL = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
#: What a cell consists of, by its type: nothing, or a number; a text.
_MADE_OF = {"n": ([], ["v"]), "inlineStr": (["is", "t"],)}
# how a text is written that would be read as the number of a character
_ESCAPED = re.compile(r"_x005F(?=_x[0-9A-Fa-f]{4}_)")


class Cell(NamedTuple):
    """What a cell shows, a text or the figures of a number, and in which of the styles."""

    text: str = ""
    number: bool = False
    style: str = ""


#: The cells of a row by column, which count from 0.
Row = Mapping[int, Cell]


class SheetRows:
    """The rows of a sheet by their numbers, none of which is kept, and what is wrong beside them.

    `problems` are known once all rows were read.
    """

    def __init__(self, archive: zipfile.ZipFile, part: str) -> None:
        self.part = part
        self.problems: Iterable[str] = ()
        self._archive = archive

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        reader = _Reader(self.part)
        self.problems = reader.problems
        parser = ElementTree.XMLParser(target=reader)  # noqa: S314 - declarations are refused
        with self._archive.open(self.part) as content:
            while block := content.read(_BLOCK):
                parser.feed(block)
                yield from reader.rows
                reader.rows.clear()
        parser.close()


class _Reader:
    """Collects rows, and what is not on the lists; the parser of the standard library calls it."""

    def __init__(self, part: str) -> None:
        self.problems: dict[str, None] = {}
        self.rows: list[tuple[int, Row]] = []
        self._part = part
        self._open: list[str] = []
        self._row = 0
        self._cells: dict[int, Cell] = {}
        self._cell: Mapping[str, str] = {}
        self._made_of: list[str] = []
        self._texts: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.rpartition("}")[2]
        if tag not in _MANY or attributes.keys() - _MANY[tag]:
            element = ElementTree.Element(name, dict(attributes))
            self._note(*element_problems(element, _ELEMENTS, self._part))
        if tag == "row":
            number = int(attributes["r"])
            if number <= self._row:
                self._note(f"rows out of order ({self._part})")
            self._row, self._cells = number, {}
        elif tag == "c":
            self._cell, self._made_of, self._texts = attributes, [], []
        elif "c" in self._open:
            self._made_of.append(tag)
        self._open.append(tag)

    def data(self, text: str) -> None:
        if self._open[-1] in ("v", "t"):
            self._texts.append(text)
        elif text.strip():
            self._note(f"text outside of cells ({self._part})")

    def end(self, name: str) -> None:
        tag = self._open.pop()
        if tag == "row":
            self.rows.append((self._row, self._cells))
        elif tag == "c":
            self._take()

    def comment(self, text: str) -> None:
        self._note(f"a comment or declaration ({self._part})")

    def pi(self, target: str, data: str | None = None) -> None:
        self.comment(target)

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        raise ValueError(f"{self._part} holds a declaration")

    def close(self) -> None:
        pass

    def _take(self) -> None:
        where = _CELL.fullmatch(self._cell.get("r", ""))
        kind = self._cell.get("t", "n")
        if where is None or int(where[2]) != self._row or self._made_of not in _MADE_OF[kind]:
            self._note(f"cells that are no text and no number ({self._part})")
            return
        column = _column(where[1])
        if column <= max(self._cells, default=-1):
            self._note(f"cells out of order ({self._part})")
        text = _ESCAPED.sub("", "".join(self._texts))
        self._cells[column] = Cell(text, self._made_of == ["v"], self._cell.get("s", ""))

    def _note(self, *problems: str) -> None:
        self.problems |= dict.fromkeys(problems)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
