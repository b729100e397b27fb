"""Parts of a job file as text: values, keys, comments, names of files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def stem(name: str) -> str:
    """A name as part of that of a file."""
    kept = "".join(c if c.isalnum() or c in "_-" else "_" for c in name)
    return kept[:40] or "file"


def plain(text: str) -> str:
    """Text for a comment: no characters that would end it."""
    return "".join(c if c.isprintable() else " " for c in text.strip())


def key(name: str) -> str:
    """A name as a key, in quotes where it needs them."""
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else toml(name)


#: The head of a job file that was written for somebody.
CONFIDENTIAL = "# Confidential: it holds the parameters of the rules. Paths are seen from here."


def toml(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> toml({"p": 10.0, "of": 'a "b"', "at": [1, True]})
    '{ p = 10, of = "a \\"b\\"", at = [1, true] }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key(name)} = {toml(one)}" for name, one in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(toml, value)) + "]"
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
