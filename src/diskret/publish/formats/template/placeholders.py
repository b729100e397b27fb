"""What may stand between double braces in a template, and what it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from diskret.errors import InputError

#: A placeholder anywhere in a text.
PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)

_WORDS = ("title", "legend")
_FORMS = (
    "{{region=N; size=Total}}, {{turnover: region=N}}, {{label: region=N}}, "
    "{{table: rows=region; columns=size}}, {{title}} or {{legend}}"
)


@dataclass(frozen=True)
class Placeholder:
    """What a placeholder asks for.

    Parameters
    ----------
    kind
        ``cell``: one value; ``block``: a part of the table whose first column and row hold
        codes; ``label``: the text of one code; ``title`` and ``legend``: texts.
    table
        Name or measure of the table; None for the only one.
    at
        Dimension → code; dimensions that are left out are at their total.
    rows, columns
        Of a block: the dimension whose codes run down, and across; `columns` may be None.
    """

    kind: Literal["cell", "block", "label", "title", "legend"]
    table: str | None = None
    at: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: str | None = None
    columns: str | None = None


def read_placeholder(inner: str) -> Placeholder:
    """Read what stands between the braces.

    Parts are separated by semicolons, or by commas where the next part begins with a name and
    an equals sign; codes may hold anything else.

    Raises
    ------
    InputError
        It cannot be understood; shows the forms there are.

    Examples
    --------
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
