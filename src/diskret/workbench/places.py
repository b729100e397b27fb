"""Files that the workbench may open: those below the folder that was named when it was started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io.data_file import SUFFIXES

#: Keys of job files that name files or folders.
NAMING = frozenset(
    {
        "path",
        "file",
        "folder",
        "labels",
        "template",
        "previous",
        "earlier",
        "ledger",
        "table",
        "layout",
        "reuse",
        "structural_zeros",
    }
)
#: What can be opened.
_OPENED = {*SUFFIXES, ".toml", ".hrc", ".hst", ".db"}


def inside(folder: Path, name: str) -> Path:
    """A file or folder below the one of the workbench; links count as what they lead to.

    folder: resolved.

    Raises
    ------
    InputError
        It lies elsewhere.
    """
    if "\0" in name or "://" in name:
        raise InputError(f"{name!r} is not below the folder that the workbench was started with")
    found = (folder / name).resolve()
    if found != folder and folder not in found.parents:
        raise InputError(f"{name!r} is not below the folder that the workbench was started with")
    return found


def check_places(folder: Path, draft: Mapping[str, Any]) -> None:
    """Refuse a draft that names a file elsewhere, or a database.

    Raises
    ------
    InputError
        It does.
    """
    for key, text in _named(draft):
        if key == "url":
            raise InputError(
                "the workbench opens files only; records in a database need diskret protect"
            )
        inside(folder, text)


def listed(folder: Path, below: str) -> list[dict[str, Any]]:
    """Folders and data files in a folder, without hidden ones and links that lead elsewhere."""
    place = inside(folder, below)
    found: list[dict[str, Any]] = []
    for path in sorted(place.iterdir(), key=lambda one: (not one.is_dir(), one.name.casefold())):
        if path.name.startswith(".") or not _is_inside(folder, path):
            continue
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found.append({"name": path.name, "path": name, "kind": "folder"})
        elif path.suffix.lower() in _OPENED:
            kind = path.suffix.lower().removeprefix(".")
            size = path.stat().st_size
            found.append({"name": path.name, "path": name, "kind": kind, "size": size})
    return found


def _is_inside(folder: Path, path: Path) -> bool:
    found = path.resolve()
    return folder in found.parents


def _named(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every key that names files, with each of its texts."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            # below labels stand languages
            yield from _named(one, key if key == "labels" else str(name))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            yield from _named(one, key)
    elif isinstance(value, str) and (key in NAMING or key == "url"):
        yield key, value
