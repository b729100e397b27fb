"""Column names: what they must be, and how an error message lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from diskret.errors import InputError


def check_names(names: Iterable[Any], where: str = "") -> None:
    """Refuse names that are not text or not unique; `where` begins the message."""
    listed = list(names)
    others = [name for name in listed if not isinstance(name, str)]
    if others:
        raise InputError(
            f"{where}column names must be text; {some('column', others)} "
            f"({type(others[0]).__name__}) must be renamed"
        )
    twice = [name for name, count in Counter(listed).items() if count > 1]
    if twice:
        raise InputError(
            f"{where}column names must be unique; {some('column', twice)} occurs more than once"
        )


def once(names: Iterable[str], parameter: str) -> tuple[str, ...]:
    """Names of columns that a parameter gives; refused where one is there twice."""
    listed = tuple(names)
    twice = [name for at, name in enumerate(listed) if name in listed[:at]]
    if twice:
        raise InputError(f"{parameter}= names {some('column', twice)} twice")
    return listed


def some(noun: str, items: list[Any]) -> str:
    """Name the first of some things and count the rest, e.g. "column 'a' (and 3 more)"."""
    more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    return f"{noun} {items[0]!r}{more}"
