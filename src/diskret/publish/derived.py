"""What says of a public file that it is derived, or shows several tables side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io.from_json import check_form, read_json
from diskret.publish.digests import CERTIFICATE, digest, is_mark
from diskret.publish.read import Releases, public_folder
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.public_files import same_published

#: How the names of the files end that describe derived figures and combined tables.
DERIVED = ".derived.json"
COMBINED = ".combined.json"

_SCHEMA_DERIVED = "diskret/derived/1"
_SCHEMA_COMBINED = "diskret/combined/1"
_TABLE = (".csv", ".structure.json")
#: What an outline may hold, see `diskret.io.from_json`.
_FORMS = {
    _SCHEMA_DERIVED: {
        **dict.fromkeys(("schema", "name", "kind", "base"), str),
        "decimals": int,
        "of": [str],
        "inputs": [{"table": str, "files": {"*": str}}],
    },
    _SCHEMA_COMBINED: {"schema": str, "name": str, "parts": [str]},
}


def derived_outline(
    derived: Derived, tables: Iterable[Published], releases: Releases = ()
) -> dict[str, Any]:
    """How a derived figure is made, so that anyone can compute it again; JSON-ready.

    Inputs that were published in another of `releases` are named with the digests of their files.
    """
    tables = list(tables)
    return {
        "schema": _SCHEMA_DERIVED,
        "name": derived.name,
        "kind": derived.kind,
        "decimals": derived.decimals,
        **({"of": list(derived.of)} if derived.of else {}),
        **({"base": derived.base} if derived.base else {}),
        "inputs": [_source(derived, one, tables, releases) for one in derived.inputs],
    }


def combined_outline(combined: SideBySide) -> dict[str, Any]:
    """What stands side by side; JSON-ready."""
    parts = [part.name for part in combined.parts]
    return {"schema": _SCHEMA_COMBINED, "name": combined.name, "parts": parts}


def read_derived(
    path: Path, tables: Mapping[str, Published], releases: Releases = ()
) -> Derived | None:
    """The derived figure that an outline describes, from published tables alone.

    `tables` are those of its release by name. None if a table of another release is in none of
    `releases`; an `InputError` if the outline is damaged or names tables that are not there.
    """
    content = _read(path, _SCHEMA_DERIVED, path.name.removesuffix(DERIVED))
    inputs: list[Published] = []
    try:
        for source in content["inputs"]:
            name = source["table"]
            if "files" not in source:
                inputs.append(tables[name])
            elif (found := referred(name, source["files"], releases)) is None:
                return None
            else:
                inputs.append(found)
        return Derived(
            content["name"],
            content["kind"],
            tuple(inputs),
            tuple(content.get("of", ())),
            content.get("base", ""),
            content["decimals"],
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: is damaged or names no table of this release: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def read_combined(
    path: Path, parts: Mapping[str, Published | Derived], unknown: Collection[str] = ()
) -> SideBySide | None:
    """The combined table that an outline describes; None if it shows one of `unknown`.

    `unknown`: figures that cannot be computed because another release is missing.
    """
    content = _read(path, _SCHEMA_COMBINED, path.name.removesuffix(COMBINED))
    try:
        if set(content["parts"]) & set(unknown):
            return None
        return SideBySide(content["name"], tuple(parts[name] for name in content["parts"]))
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: is damaged or names no table of this release: {error}") from None


def _read(path: Path, schema: str, name: str) -> dict[str, Any]:
    content = read_json(path)
    check_form(content, _FORMS[schema], str(path))
    if (content.get("schema"), content.get("name")) != (schema, name):
        raise InputError(f"{path}: does not describe {name!r} in the schema {schema!r}")
    return content


# ── where the inputs are published ──────────────────────────────────────────────────


def _source(
    derived: Derived, table: Published, tables: Sequence[Published], releases: Releases
) -> dict[str, Any]:
    if any(table.name == other.name and same_published(table, other) for other in tables):
        return {"table": table.name}
    for folder in releases:
        files = listed_files(public_folder(folder), table.name)
        found = released(table.name, files, [folder]) if files else None
        if found is not None and same_published(found, table):
            return {"table": table.name, "files": files}
    where = f" nor in {', '.join(map(str, releases))}" if releases else ""
    raise InputError(
        f"{derived.name!r} is computed from {table.name!r}"
        f"{table.vintage and f' of {table.vintage}'}, which is published neither in this "
        f"release{where}; write its result into the same folder, or name the folder of the "
        "release it was published in with releases=[...]"
    )


def released(name: str, files: Mapping[str, str], releases: Releases) -> Published | None:
    """The table with these digests in the releases; its certificate must list them too."""
    for folder in releases:
        public = public_folder(folder)
        paths = {file: public / file for file in _files(name)}
        there = all(path.is_file() for path in paths.values())
        if there and {f: digest(path) for f, path in paths.items()} == files == listed_files(
            public, name
        ):
            return Published.read(public, name)
    return None


def referred(name: str, files: Mapping[str, str], releases: Releases) -> Published | None:
    """The table that an outline refers to by these digests; `InputError` if they are none."""
    if {*files} != {*_files(name)} or not all(map(is_mark, files.values())):
        raise InputError(f"the table {name!r} of another release is not named by its digests")
    return released(name, files, releases)


def listed_files(public: Path, name: str) -> dict[str, str]:
    """Digests of a table's files as its certificate states them; empty if it has none."""
    try:
        content = read_json(public / f"{name}{CERTIFICATE}")
        return {file: str(content["files"][file]) for file in _files(name)}
    except (InputError, KeyError, TypeError):
        return {}


def _files(name: str) -> list[str]:
    return [f"{name}{ending}" for ending in _TABLE]
