"""Tables in plain texts: Markdown, and columns between which one sign stands."""

from __future__ import annotations

import re

from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said, columns_of, look
from diskret.outputs.profile import Profile

_RULE = re.compile(r"[\s|+:=-]*[-=]{2}[\s|+:=-]*")
_TITLE = re.compile(r"#{1,6} [^\d]*")


def plain(text: str, said: Said, profile: Profile, place: tuple[str, ...] = ()) -> list[Found]:
    """A text that is a table, line by line; one that says anything else is for a person."""
    kept = [
        (number + 1, line.strip("\r "))
        for number, line in enumerate(text.split("\n"))
        if line.strip() and not _RULE.fullmatch(line) and not _TITLE.fullmatch(line)
    ]
    if not kept:
        return [Found("unknown", [place] if place else [])]
    rows = [_fields(line) for _, line in kept]
    width = max(map(len, rows))
    odd = [number for (number, _), row in zip(kept, rows, strict=True) if len(row) != width]
    if width < 2 or odd:
        first = odd[0] if width >= 2 and odd else kept[0][0]
        return [Found("prose", [(*place, f"line {first}")])]
    columns = columns_of(rows, 1)
    if columns is None:
        return [Found("unknown", [place] if place else [])]
    return look(columns, said, profile, place)


def _fields(line: str) -> list[str]:
    for sign in ("|", "\t", ";"):
        if sign in line:
            inner = line.strip().removeprefix("|").removesuffix("|") if sign == "|" else line
            return [one.strip() for one in inner.split(sign)]
    return re.split(r"\s{2,}", line.strip())
