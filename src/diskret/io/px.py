"""Files of PC-Axis (PX): what they say, keyword by keyword, and their cells as a table.

A text in such a file holds no quotation mark, and ``#`` in it is the end of a line. Both signs
can be kept by their full-width twins, which are turned back when a file is read.
"""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from diskret.errors import InputError
from diskret.io.code_book import CodeBook
from diskret.io.columns import check_names
from diskret.io.data_file import DataFile
from diskret.io.encoded import decoded
from diskret.texts.numbers import Count

#: What stands in the place of a number: one to six dots, or a dash for "nothing".
NOTHING = "-"
_MISSING = re.compile(r"\.{1,6}")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

_HEAD = re.compile(
    r'\s*([A-Z][A-Z0-9-]*)\s*(?:\[([^\]"]*)\])?\s*(?:\(((?:\s*"[^"]*"\s*,?)*)\))?\s*=', re.DOTALL
)
_BODY = re.compile(r'(?:[^";]|"[^"]*")*;', re.DOTALL)
_TEXT = re.compile(r'"([^"]*)"')
_PIECE = re.compile(r'\s*(?:"([^"]*)"|([^",]+)|(,))', re.DOTALL)
_TOKEN = re.compile(r'"([^"]*)"|([^\s,;"]+)')
_CODEPAGE = re.compile(rb'CODEPAGE\s*=\s*"([^"]*)"')
_TWINS = {
    '"': "\N{FULLWIDTH QUOTATION MARK}",
    "#": "\N{FULLWIDTH NUMBER SIGN}",
    "\n": "#",
}

#: Keyword, language (or ""), and the texts in brackets after it.
Key = tuple[str, str, tuple[str, ...]]


def px_text(text: str) -> str:
    r"""A text as it stands between quotation marks.

    >>> px_text('the "other"\nside'), said('the ＂other＂#side')
    ('the ＂other＂#side', 'the "other"\nside')
    """
    for sign in (_TWINS['"'], _TWINS["#"], "\r"):
        if sign in text:
            raise InputError(
                f"a PX file cannot hold the sign {sign!r}, which stands in {text!r}; write it "
                "otherwise"
            )
    return text.translate(str.maketrans(_TWINS))


def said(text: str) -> str:
    """What a text between quotation marks stands for; the other way round."""
    return text.translate(str.maketrans({twin: sign for sign, twin in _TWINS.items()}))


@dataclass(frozen=True, eq=False)
class PxFile:
    """What a PX file says.

    `keywords`: key → the texts or words of its value, in the order of the file. `data`: what
    stands in each cell, the last variable of the heading fastest.
    """

    path: Path
    keywords: Mapping[Key, tuple[str, ...]] = field(repr=False)
    data: tuple[str, ...] = field(repr=False)

    def texts(self, keyword: str, *of: str) -> tuple[str, ...]:
        """The value of a keyword in the file's own language, empty if it has none."""
        return self.keywords.get((keyword, "", of), ())

    def text(self, keyword: str, *of: str) -> str:
        """The only text of a keyword, ``""`` if it has none."""
        return "".join(self.texts(keyword, *of)[:1])

    @property
    def variables(self) -> tuple[str, ...]:
        """The classifying variables, that of the contents among them."""
        return (*self.texts("STUB"), *self.texts("HEADING"))

    def codes(self, variable: str) -> tuple[str, ...]:
        """The codes of a variable; its values if it has none."""
        return self.texts("CODES", variable) or self.texts("VALUES", variable)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each variable."""
        return tuple(len(self.codes(variable)) for variable in self.variables)


def parse_px(path: Path, encoding: str | None = None) -> PxFile:
    """Read a file; every keyword once, and as many cells as its variables say.

    Raises
    ------
    InputError
        It is no PX file, or contradicts itself.
    """
    text = decoded(path, encoding or _encoding(path))
    keywords: dict[Key, tuple[str, ...]] = {}
    at = 0
    while found := _HEAD.match(text, at):
        keyword, language, of = found[1], found[2] or "", tuple(map(said, _texts(found[3] or "")))
        body = _BODY.match(text, found.end())
        if body is None:
            raise InputError(
                f"{path}, line {_line(text, found.end(1))}: the value of {keyword} does not end "
                "with a semicolon; take a copy of the file that is whole"
            )
        if (keyword, language, of) in keywords and keyword != "NOTE":
            raise InputError(
                f"{path}, line {_line(text, found.end(1))}: {keyword} is there twice; remove one"
            )
        at = body.end()
        value = body[0][:-1]
        if keyword == "DATA":
            if text[at:].strip():
                raise InputError(f"{path}: there is text behind the data; remove it")
            whole = PxFile(path, keywords, tuple(quoted or bare for quoted, bare in
                                                 _TOKEN.findall(value)))  # fmt: skip
            _check(whole)
            return whole
        key = (keyword, language, of)
        keywords[key] = (*keywords.get(key, ()), *_values(value))
    raise InputError(
        f"{path}: cannot be read as a PX file, from line {_line(text, at)} on: keywords must "
        "follow each other, each with = and a value that ends with a semicolon, and DATA must be "
        "the last"
    )


def read_px(file: DataFile) -> tuple[pa.Table, CodeBook]:
    """The cells of a file as a table of text, and what it says of its columns.

    There is a column for each variable, with its codes; then one for each content, with numbers as
    the file writes them, null where there is none, and 0 for a dash; each is followed by what
    stands in place of numbers, ``status``, or ``<content>_status`` if there are several. An only
    content is called as ``CONTENTS`` says.
    """
    return px_table(parse_px(file.file, file.encoding))


def px_table(px: PxFile) -> tuple[pa.Table, CodeBook]:
    """The same of a file that was read already."""
    contents = px.text("CONTVARIABLE")
    names = px.variables
    if contents and contents not in names:
        raise InputError(f"{px.path}: CONTVARIABLE names {contents!r}, which is no variable of it")
    shape = dict(zip(names, px.shape, strict=True))
    cells = pa.array(range(len(px.data)), pa.int64()).to_numpy().reshape(px.shape)
    if contents:
        # the contents last, so that those of one cell stand beside each other
        order = [i for i, name in enumerate(names) if name != contents]
        cells = cells.transpose([*order, names.index(contents)])
        measures = px.codes(contents)
    else:
        measures = (px.text("CONTENTS") or "value",)
    flat = cells.reshape(-1, len(measures))
    others = [name for name in names if name != contents]
    columns: dict[str, pa.Array] = {}
    rows, inner = len(flat), len(flat)
    listed: list[tuple[str, pa.Array]] = []
    for name in others:
        inner //= shape[name]
        codes = pa.array(px.codes(name), pa.string())
        positions = [i for i in range(shape[name]) for _ in range(inner)]
        listed.append((name, codes.take(pa.array(positions * (rows // len(positions))))))
    for i, measure in enumerate(measures):
        found = [px.data[at] for at in flat[:, i].tolist()]
        number = [_value(token) for token in found]
        status = [token if _is_symbol(token) else "" for token in found]
        beside = f"{measure}_status" if contents else "status"
        listed += [(measure, pa.array(number, pa.string())), (beside, pa.array(status))]
    check_names([name for name, _ in listed], f"{px.path}: ")
    columns = dict(listed)
    values = {
        name: dict(zip(px.codes(name), px.texts("VALUES", name), strict=True))
        for name in names
        if px.texts("CODES", name)
    }
    return pa.table(columns), CodeBook(values=values)


# ── the parts of a file ─────────────────────────────────────────────────────────────


def _encoding(path: Path) -> str:
    """What the file says; else that of Windows in which most are written, if it is no UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    if raw.startswith(codecs.BOM_UTF8):
        return "utf-8"
    if named := _CODEPAGE.search(raw):
        return named[1].decode("latin-1")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _texts(inside: str) -> list[str]:
    return _TEXT.findall(inside)


def _values(value: str) -> tuple[str, ...]:
    """The texts and words of a value; texts that touch each other are one."""
    found: list[str] = []
    joined = False
    for quoted, bare, comma in _PIECE.findall(value):
        if comma:
            joined = False
        elif bare:
            if bare.strip():
                found.append(bare.strip())
                joined = False
        elif joined:
            found[-1] += quoted
        else:
            found.append(quoted)
            joined = True
    return tuple(map(said, found))


def _check(px: PxFile) -> None:
    if any(keyword == "KEYS" for keyword, _, _ in px.keywords):
        raise InputError(
            f"{px.path}: lists only some of its cells (KEYS); save it with all of them"
        )
    if not px.variables:
        raise InputError(f"{px.path}: names no variables in STUB or HEADING")
    for variable in px.variables:
        values, codes = px.texts("VALUES", variable), px.texts("CODES", variable)
        if not values:
            raise InputError(f"{px.path}: {variable!r} has no VALUES")
        if codes and len(codes) != len(values):
            raise InputError(
                f"{px.path}: {variable!r} has {len(values):,} VALUES and {len(codes):,} CODES; "
                "there must be one for each"
            )
        if len(set(px.codes(variable))) < len(values):
            raise InputError(f"{px.path}: a code of {variable!r} is there twice; give it another")
    expected = math.prod(px.shape)
    if len(px.data) != expected:
        number = Count(len(px.data))
        raise InputError(
            f"{px.path}: has {number} {number:cell|cells}, and its variables say {expected:,}; "
            "take a copy of the file that is whole"
        )
    wrong = next((t for t in px.data if not _is_symbol(t) and not _NUMBER.fullmatch(t)), None)
    if wrong is not None:
        raise InputError(
            f"{px.path}: {wrong!r} stands among the data and is neither a number nor a symbol "
            "(one to six dots, or a dash)"
        )


def _is_symbol(token: str) -> bool:
    return token == NOTHING or bool(_MISSING.fullmatch(token))


def _value(token: str) -> str | None:
    if token == NOTHING:
        return "0"
    return None if _is_symbol(token) else token
