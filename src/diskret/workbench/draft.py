"""The draft of a job: what a job file holds, as a mapping and as the text of the file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diskret.errors import JobError
from diskret.jobs.toml_text import key, toml

Draft = dict[str, Any]

#: Keys of tables that get a section of their own.
_OWN_SECTION = ("rules", "noise", "cells")


def read_draft(text: str, path: Path) -> Draft:
    """The content of a job file; whether it can be carried out is not asked.

    Raises
    ------
    JobError
        It is not TOML, or holds what no job file holds.
    """
    try:
        draft = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JobError(f"{path.name}: not valid TOML ({error})") from error
    check_draft(draft)
    return draft


def check_draft(value: Any) -> None:
    """Refuse values that a job file cannot hold."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            if not isinstance(name, str):
                raise JobError("keys of a job are texts")
            check_draft(one)
    elif isinstance(value, list):
        for one in value:
            check_draft(one)
    elif not isinstance(value, (str, bool, int, float)):
        raise JobError(f"a job holds texts, numbers, lists and sections, and no {_kind(value)}")


def draft_text(draft: Mapping[str, Any]) -> str:
    r"""The job file of a draft.

    >>> print(draft_text({"records": {"path": "a.csv"}, "tables": [{"by": {"x": "flat"}}]}))
    [records]
    path = "a.csv"
    <BLANKLINE>
    [[tables]]
    by = { x = "flat" }
    <BLANKLINE>
    """
    return "\n".join(_lines(draft)).lstrip("\n") + "\n"


def _lines(draft: Mapping[str, Any]) -> Iterator[str]:
    for name, value in draft.items():
        if not _has_section(value):
            yield f"{key(name)} = {toml(value)}"
    for name, value in draft.items():
        if isinstance(value, Mapping):
            yield from ("", f"[{key(name)}]")
            yield from (f"{key(one)} = {toml(inner)}" for one, inner in value.items())
        elif _has_section(value):
            for table in value:
                yield from _table(key(name), table)


def _table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    below = [
        one for one, inner in table.items() if one in _OWN_SECTION and isinstance(inner, Mapping)
    ]
    yield from ("", f"[[{name}]]")
    yield from (f"{key(one)} = {toml(value)}" for one, value in table.items() if one not in below)
    for one in below:
        yield from ("", f"[{name}.{one}]")
        yield from (f"{key(rule)} = {toml(value)}" for rule, value in table[one].items())


def _has_section(value: Any) -> bool:
    """Whether a value is a section, or a list of nothing but sections."""
    if isinstance(value, Mapping):
        return True
    return (
        isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
    )


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
