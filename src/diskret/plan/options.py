"""Code trees and records that are named beside a template, as a publication file would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import JobError
from diskret.io.data_file import SUFFIXES
from diskret.jobs.schema import Section
from diskret.plan.rows import read_csv

#: Where trees are: folders, files, or name → file.
Trees = str | PathLike[str] | Sequence[str | PathLike[str]] | Mapping[str, str | PathLike[str]]
#: Under this name they would stand in the current folder.
PUBLICATION = "publication.toml"
_SUFFIXES = (".csv", ".hrc")


def as_publication(
    trees: Trees | None = None, records: str | PathLike[str] | None = None
) -> Section:
    """The publication file that says the same; it would lie in the current folder."""
    values: dict[str, Any] = {}
    files = _files(trees)
    if files:
        values["hierarchies"] = {name: _tree(path) for name, path in files.items()}
        values["variables"] = {name: {"hierarchy": name} for name in files}
    if records is not None:
        values["records"] = {"path": _records(Path(records))}
    return Section(Path.cwd() / PUBLICATION, {}, (), values)


def _records(path: Path) -> str:
    if not path.exists():
        raise JobError(f"there is no file {path} of records")
    if path.is_file() and path.suffix.lower() not in SUFFIXES:
        raise JobError(
            f"the suffix of {path.name} does not tell the format of the records; describe them in "
            "a publication file, [records]"
        )
    return str(path)


def _files(trees: Trees | None) -> dict[str, Path]:
    """The files of trees by their names: those that were given, else what the files are called."""
    if trees is None:
        return {}
    if isinstance(trees, Mapping):
        named = [(str(name), Path(path)) for name, path in trees.items()]
    else:
        several = [trees] if isinstance(trees, (str, PathLike)) else list(trees)
        named = [one for path in several for one in _inside(Path(path))]
    found: dict[str, Path] = {}
    for name, path in named:
        if not path.is_file():
            raise JobError(f"there is no file {path} of a code tree")
        if path.suffix.lower() not in _SUFFIXES:
            raise JobError(f"{path.name}: a code tree ends in .csv or .hrc")
        if name in found:
            raise JobError(
                f"two files hold a code tree {name!r}: {found[name]} and {path}; rename one"
            )
        found[name] = path
    return found


def _inside(path: Path) -> list[tuple[str, Path]]:
    """The trees of a folder, or the tree of a file."""
    if not path.is_dir():
        return [(path.stem, path)]
    inside = sorted(one for one in path.iterdir() if one.suffix.lower() in _SUFFIXES)
    if not inside:
        raise JobError(f"{path}: there are no code trees (.csv or .hrc) in this folder")
    return [(one.stem, one) for one in inside]


def _tree(path: Path) -> dict[str, Any]:
    """How a tree is read: a file without the columns of parents has one column for each level."""
    if path.suffix.lower() != ".csv":
        return {"file": str(path)}
    columns = read_csv(path).columns
    if "parent" in columns:
        return {"file": str(path)}
    return {"file": str(path), "levels": list(columns)}
