"""Where each key of a TOML text stands: tomllib reads the values but forgets the lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r'(?P<comment>#[^\n]*)|(?P<text>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}'
    r'|"(?:\\.|[^"\\])*"|\'[^\']*\')|(?P<newline>\n)|(?P<sign>[\[\]{},=.])'
    r"|(?P<bare>[^\s\[\]{},=.#\"']+)",
    re.DOTALL,
)


def key_lines(text: str) -> Mapping[Path, int]:
    r"""The line of every key, table and array element of a valid TOML text.

    text: TOML that `tomllib` has read without an error: nothing is checked here again.

    Returns: path of keys and positions → line, counted from 1. A table that is opened several
    times, or only through its keys, has the line of the first of them.

    >>> key_lines("[a]\nb = 1\n[[c]]\n[[c]]\nd = {e = 2}")[("c", 1, "d", "e")]
    5
    """
    return _Scan(text).document()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


class _Scan:
    """One pass over the tokens; knows the path of each key when it comes by."""

    def __init__(self, text: str):
        self.tokens = [*_tokens(text), _Token("end", "", 0)]
        self.next = 0
        self.lines: dict[Path, int] = {}
        self.elements: dict[Path, int] = {}

    def document(self) -> Mapping[Path, int]:
        table: Path = ()
        while (token := self.peek()).kind != "end":
            if token.kind == "newline":
                self.take()
            elif token.text == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.lines

    def header(self) -> Path:
        line = self.take().line
        is_array = self.peek().text == "["
        if is_array:
            self.take()
        keys = self.keys()
        self.take()
        if is_array:
            self.take()
        path: Path = ()
        for depth, key in enumerate(keys, start=1):
            path = (*path, key)
            self.see(path, line)
            if is_array and depth == len(keys):
                self.elements[path] = self.elements.get(path, -1) + 1
            if path in self.elements:
                path = (*path, self.elements[path])
                self.see(path, line)
        return path

    def pair(self, table: Path) -> None:
        line = self.peek().line
        path = table
        for key in self.keys():
            path = (*path, key)
            self.see(path, line)
        self.take()
        self.value(path)

    def keys(self) -> list[str]:
        keys = [_key(self.take())]
        while self.peek().text == ".":
            self.take()
            keys.append(_key(self.take()))
        return keys

    def value(self, path: Path) -> None:
        if self.peek().text == "[":
            self.array(path)
        elif self.peek().text == "{":
            self.inline_table(path)
        else:
            while self.peek().kind not in ("newline", "end") and self.peek().text not in ",]}":
                self.take()

    def array(self, path: Path) -> None:
        self.take()
        position = 0
        while (token := self.peek()).text != "]":
            if token.kind == "newline" or token.text == ",":
                self.take()
            else:
                self.see((*path, position), token.line)
                self.value((*path, position))
                position += 1
        self.take()

    def inline_table(self, path: Path) -> None:
        self.take()
        while (token := self.peek()).text != "}":
            if token.kind == "newline" or token.text == ",":
                self.take()
            else:
                self.pair(path)
        self.take()

    def see(self, path: Path, line: int) -> None:
        self.lines.setdefault(path, line)

    def peek(self) -> _Token:
        return self.tokens[self.next]

    def take(self) -> _Token:
        self.next += 1
        return self.tokens[self.next - 1]


def _tokens(text: str) -> Iterator[_Token]:
    line, seen = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        if match.lastgroup != "comment":
            yield _Token(str(match.lastgroup), match.group(), line)


def _key(token: _Token) -> str:
    # a quoted key may hold escapes: let tomllib read it
    return next(iter(tomllib.loads(f"{token.text} = 0"))) if token.kind == "text" else token.text
