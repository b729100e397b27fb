"""What says of a public file that it is the difference to the last delivery, and of which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io.from_json import check_form, read_json
from diskret.publish.derived import listed_files, referred, released
from diskret.publish.read import Releases, public_folder
from diskret.tables import Difference, Published
from diskret.tables.public_files import STRUCTURE, same_published, tables_in

#: How the names of the files end that say what a difference is to.
PREVIOUS = ".previous.json"
#: What the name of a table is followed by in that of its difference.
SUFFIX = "_difference"

_SCHEMA = "diskret/difference/1"
_FORM = {"schema": str, "name": str, "table": str, "previous": {"files": {"*": str}}}


def differences_to(tables: Sequence[Published], folder: str | PathLike[str]) -> list[Difference]:
    """The difference of each table to that of the same name in the last delivery.

    A table that is new has none. `InputError`: the folder is no release, its files are not those
    that its certificates list, or it has none of the tables.
    """
    before = last_delivery(folder, [table.name for table in tables])
    return [
        Difference(f"{table.name}{SUFFIX}", table, before[table.name])
        for table in tables
        if table.name in before
    ]


def last_delivery(folder: str | PathLike[str], names: Sequence[str]) -> dict[str, Published]:
    """The tables of these names in the folder of the last delivery, by name.

    `InputError` as of `differences_to`.
    """
    public = public_folder(folder)
    if not public.is_dir():
        raise InputError(f"there is no folder {folder}; name that of the last delivery")
    there = tables_in(public)
    if not there:
        raise InputError(
            f"{public} holds no published table (no *{STRUCTURE} file); name the folder "
            "of the last delivery, or its folder public"
        )
    common = [name for name in names if name in there]
    if not common:
        raise InputError(
            f"{public} holds the tables {', '.join(there)} and none of these: "
            f"{', '.join(names)}; name the delivery of the same tables, or give them the names "
            "that they had"
        )
    return {name: _released_table(public, name) for name in common}


def difference_outline(difference: Difference, releases: Releases) -> dict[str, Any]:
    """Which tables are compared, so that anyone can do it again; JSON-ready.

    The earlier one is found in one of `releases` and named with the digests of its files.
    """
    before = difference.previous
    for folder in releases:
        files = listed_files(public_folder(folder), before.name)
        found = released(before.name, files, [folder]) if files else None
        if found is not None and same_published(found, before):
            return {
                "schema": _SCHEMA,
                "name": difference.name,
                "table": difference.now.name,
                "previous": {"files": files},
            }
    raise InputError(
        f"{difference.name!r} is a difference to a table {before.name!r} that is published in none "
        f"of {', '.join(map(str, releases))}"
    )


def read_outline(path: Path) -> dict[str, Any]:
    """What an outline says, checked; an `InputError` if it is damaged."""
    content = read_json(path)
    check_form(content, _FORM, str(path))
    name = path.name.removesuffix(PREVIOUS)
    known = isinstance(content, dict) and set(content) == set(_FORM)
    if not known or (content["schema"], content["name"]) != (_SCHEMA, name):
        raise InputError(f"{path}: does not describe {name!r} in the schema {_SCHEMA!r}")
    return content


def read_difference(
    path: Path, tables: Mapping[str, Published], releases: Releases
) -> Difference | None:
    """The difference that an outline describes, from published tables alone.

    None if the earlier table is in none of `releases`.
    """
    content = read_outline(path)
    table = tables.get(content["table"])
    if table is None:
        raise InputError(f"{path}: names {content['table']!r}, which is no table of this release")
    before = referred(table.name, content["previous"]["files"], releases)
    return None if before is None else Difference(content["name"], table, before)


def _released_table(public: Path, name: str) -> Published:
    found = released(name, listed_files(public, name), [public])
    if found is None:
        raise InputError(
            f"the files of {name!r} in {public} are not those that its certificate "
            "lists; take the delivery as it was published"
        )
    return found
