"""Code trees at the workbench: out of codes, out of files, and as files again."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy
from diskret.io import DataFile, to_arrow
from diskret.io.columns import column
from diskret.jobs.text_files import TextFile, write_files
from diskret.jobs.toml_text import stem


def rows_of(tree: Hierarchy, language: str = "") -> list[dict[str, str]]:
    """Code, the code above it, and label; the total first."""
    parents = ["", *(tree.codes[at] for at in tree.parent[1:].tolist())]
    return [
        {"code": code, "parent": parent, "label": tree.label(code, language)}
        for code, parent in zip(tree.codes, parents, strict=True)
    ]


def flat_of(file: DataFile, name: str) -> Hierarchy:
    """The codes of a column below one total."""
    return Hierarchy.flat(_codes(file, name))


def prefix_of(file: DataFile, name: str, widths: Sequence[int]) -> Hierarchy:
    """A tree of the codes of a column, which begin with the code above them."""
    return Hierarchy.from_prefix(_codes(file, name), widths)


def written(
    folder: Path, name: str, rows: Sequence[Mapping[str, str]], taken: Collection[str] = ()
) -> dict[str, str]:
    """Write a tree as a file of codes, parents and labels; what a job says of it.

    taken: files of other trees, which are left alone.

    Raises
    ------
    HierarchyError
        The rows are no tree.
    """
    if not rows:
        raise HierarchyError("a code tree needs codes")
    columns = {one: [str(row.get(one, "")) for row in rows] for one in ("code", "parent", "label")}
    tree = Hierarchy.from_parents(columns)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["code", "parent", "label"])
    lines.writerows([row["code"], row["parent"], row["label"]] for row in rows_of(tree))
    others, number = {one.casefold() for one in taken}, 1
    file = f"{stem(name)}.tree.csv"
    while file.casefold() in others:
        number += 1
        file = f"{stem(name)}_{number}.tree.csv"
    write_files([TextFile(folder / file, text.getvalue(), internal=True)])
    return {"file": file}


def _codes(file: DataFile, name: str) -> list[Any]:
    return pc.unique(column(to_arrow(file)[0], name).drop_null()).to_pylist()
