"""What may stand between double braces in a template, and which cells of a block it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from diskret.errors import InputError
from diskret.tables import Dimension

#: A placeholder anywhere in a text.
PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)

_WORDS = ("title", "legend")
_FORMS = (
    "{{region=N; size=Total}}, {{turnover: region=N}}, {{label: region=N}}, "
    "{{table: rows=region; columns=size}}, {{title}} or {{legend}}"
)

_EXAMPLES = 3
_TOTALS = ("total", "insgesamt")


@dataclass(frozen=True)
class Placeholder:
    """What a placeholder asks for.

    `kind` ``cell`` is one value, ``block`` a part of the table whose first column and row hold
    codes, ``label`` the text of one code. `table` is a name or measure, None for the only one; `at`
    is dimension → code, and dimensions left out are at their total. Of a block the codes of `rows`
    run down and those of `columns`, if any, across.
    """

    kind: Literal["cell", "block", "label", "title", "legend"]
    table: str | None = None
    at: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: str | None = None
    columns: str | None = None


def read_placeholder(inner: str) -> Placeholder:
    """Read what stands between the braces.

    Parts are separated by semicolons, or by commas where the next part begins with a name and an
    equals sign; codes may hold anything else.

    >>> read_placeholder("turnover: region=N, size=Total").at
    {'region': 'N', 'size': 'Total'}
    >>> read_placeholder("table: rows=nace; columns=size").rows
    'nace'
    >>> read_placeholder("firms: title")
    Placeholder(kind='title', table='firms', at={}, rows=None, columns=None)
    """
    inner = " ".join(inner.split())
    head, colon, rest = inner.partition(":")
    if "=" in head:  # the colon belongs to a code
        head, colon, rest = "", "", inner
    prefix = head.strip() if colon else ""
    body = rest.strip() if colon else (rest or head).strip()
    if body.casefold() in _WORDS:
        word = "title" if body.casefold() == "title" else "legend"
        return Placeholder(word, None if prefix in ("", "table") else prefix)
    parts = _parts(body, inner)
    if prefix == "label":
        if len(parts) != 1:
            raise _unreadable(inner, "a label is that of one code")
        return Placeholder("label", None, parts)
    table = None if prefix in ("", "table") else prefix
    if "rows" in parts or "columns" in parts:
        if "rows" not in parts:
            raise _unreadable(inner, "a block needs rows=")
        rows, columns = parts.pop("rows"), parts.pop("columns", None)
        return Placeholder("block", table, parts, rows, columns)
    return Placeholder("cell", table, parts)


def _parts(body: str, inner: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in re.split(r";|,(?=[^,;=]+=)", body):
        name, equals, code = (text.strip() for text in part.partition("="))
        if not equals or not name or not code:
            raise _unreadable(inner, f"{part.strip()!r} is not a dimension, '=' and a code")
        if name in found:
            raise _unreadable(inner, f"{name!r} is there twice")
        found[name] = code
    return found


def _unreadable(inner: str, why: str) -> InputError:
    return InputError(f"{{{{{inner}}}}} cannot be understood: {why}; write e.g. {_FORMS}")


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of a dimension, found by what an office writes into its tables."""

    dimension: Dimension

    def find(self, text: object) -> int:
        """The position of a code: by itself, by its number (8 for 08), or by a label.

        The total is also found by "Total" or "Insgesamt" where no other code is called so.
        """
        wanted = " ".join(str(text).split())
        if isinstance(text, float) and text.is_integer():
            wanted = str(int(text))
        found = self._position.get(wanted)
        if found is not None:
            return found
        names = self._labels.get(wanted.casefold(), ())
        if not names and isinstance(text, int | float) and wanted.isdecimal():
            names = tuple(
                i for i, code in enumerate(self.codes) if code.isdecimal() and
                int(code) == int(wanted)
            )  # fmt: skip
        if not names and wanted.casefold() in _TOTALS:
            names = (0,)
        if len(names) == 1:
            return names[0]
        name = self.dimension.name
        if names:
            several = ", ".join(repr(self.codes[i]) for i in names[:_EXAMPLES])
            raise InputError(f"{wanted!r} could be {several} of {name!r}; write the code instead")
        there = ", ".join(map(repr, self.codes[:_EXAMPLES]))
        raise InputError(
            f"{wanted!r} is no code or label of {name!r} in the published table (these are "
            f"{there}, … {len(self.codes):,} in all)"
        )

    def known(self, text: object) -> bool:
        """Whether exactly one code is meant."""
        try:
            self.find(text)
        except InputError:
            return False
        return True

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes."""
        return self.dimension.hierarchy.codes

    @cached_property
    def _position(self) -> Mapping[str, int]:
        return self.dimension.hierarchy.position

    @cached_property
    def _labels(self) -> Mapping[str, tuple[int, ...]]:
        tree = self.dimension.hierarchy
        found: dict[str, list[int]] = {}
        for i, code in enumerate(tree.codes):
            labels = {tree.label(code, name) for name in ("", *tree.translations)} - {""}
            texts = {*labels, *(f"{code} {label}" for label in labels)}
            for text in {" ".join(text.split()).casefold() for text in texts}:
                found.setdefault(text, []).append(i)
        return {text: tuple(positions) for text, positions in found.items()}


def heads(cells: list[Any], codes: Codes) -> dict[int, int]:
    """Which cells of a first row or column hold which code: position in `cells` → that of the code.

    A cell with ``{{label: dimension=code}}`` counts as that code. Empty cells are gaps. The block
    ends before another placeholder, and with the last code that is followed by an empty cell; what
    comes later is none of its business.
    """
    texts = [None if _blank(cell) else _labelled(cell, codes.dimension.name) for cell in cells]
    stop = next(
        (i for i, text in enumerate(texts) if text is not None and PLACEHOLDER.search(str(text))),
        len(texts),
    )
    known = [i for i in range(stop) if texts[i] is not None and codes.known(texts[i])]
    # what stands directly below the last code belongs to the block and must be a code, too
    end = (known[-1] if known else -1) + 1
    while end < stop and texts[end] is not None:
        end += 1
    try:
        found = {i: codes.find(texts[i]) for i in range(end) if texts[i] is not None}
    except InputError as error:
        raise InputError(
            f"{error}; correct it, or leave a cell empty between the codes and texts that are "
            "not part of the block"
        ) from None
    if not found:
        raise InputError(
            f"there is no code of {codes.dimension.name!r} beside the marker; write those of rows= "
            "below it and those of columns= to its right, e.g. "
            f"{', '.join(map(repr, codes.dimension.hierarchy.codes[:3]))}"
        )
    again = [i for i in found if list(found.values()).count(found[i]) > 1]
    if again:
        raise InputError(f"the code {codes.codes[found[again[0]]]!r} is there more than once")
    return found


def _blank(cell: object) -> bool:
    return cell is None or not str(cell).strip()


def _labelled(cell: object, dimension: str) -> object:
    """The code whose label a cell asks for, if it is one of this dimension; else its content."""
    marker = PLACEHOLDER.fullmatch(str(cell).strip())
    if marker is None:
        return cell
    asked = read_placeholder(marker[1])
    return asked.at.get(dimension, cell) if asked.kind == "label" else cell
