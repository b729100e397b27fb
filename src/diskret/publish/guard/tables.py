"""What may stand in the public files of a table: what was proven, and nothing else."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.io.files import read_plain_parquet
from diskret.io.from_json import Form, misfits, read_json
from diskret.publish.contract import NEEDED
from diskret.publish.digests import CERTIFICATE
from diskret.publish.guard.html import page_problems
from diskret.tables import Published
from diskret.tables.public_files import exact_cells, structure

#: What the names of public files may end with, after the name of a table.
PUBLIC_ENDINGS = (".csv", ".parquet", ".structure.json", ".xlsx", ".html", CERTIFICATE)

_ENDS: Form = [(int, float, None)]
#: What a public certificate of a table may hold.
PUBLIC_CERTIFICATE: Form = {
    **NEEDED,
    "attacker": str,
    "tables": [str],
    "beside": [dict.fromkeys(("release", "table", "digest"), str)],
    "sums": [str],
    "refined_to": (str, None),
    "outer_intervals": int,
    "intervals": {"lower": _ENDS, "upper": _ENDS, "*": [str]},
    "shown": {"method": str, "base": (int, float), "additive": bool},
    "inputs": {"table": str},
}

_WORKBOOK_PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml"
    r"|xl/(_rels/workbook\.xml\.rels|workbook\.xml|styles\.xml|theme/theme1\.xml"
    r"|sharedStrings\.xml|worksheets/sheet[12]\.xml)"
)
# text between tags cannot hold "<", so these only match markup
_WORKBOOK_SECRETS: Mapping[str, re.Pattern[bytes]] = {
    "a formula": re.compile(rb"<f[\s>/]"),
    "hidden rows, columns or sheets": re.compile(
        rb"<(?:row|col|sheet)\s[^>]*(?:\bhidden=|state=\"(?:veryH|h)idden)"
    ),
    "a defined name": re.compile(rb"<definedName[\s>]"),
    "an author": re.compile(rb"<(?:dc:creator|cp:lastModifiedBy|Manager|Company)>[^<]"),
}
_BLOCK, _OVERLAP = 1 << 20, 4096


def table_problems(published: Published, folder: Path) -> Iterator[str]:
    """What is wrong with the public files of a table.

    CSV, structure and Parquet must read back to exactly what was proven.
    """
    yield from _certificate(folder, published)
    yield from _cells(folder, published)
    yield from parquet_problems(folder / f"{published.name}.parquet", published)
    yield from workbook_secrets(folder / f"{published.name}.xlsx")
    yield from page_problems(folder / f"{published.name}.html")


# ── certificates ────────────────────────────────────────────────────────────────────


def _certificate(folder: Path, published: Published) -> Iterator[str]:
    name = f"{published.name}{CERTIFICATE}"
    try:
        content: dict[str, Any] = dict(read_json(folder / name))
    except (InputError, ValueError, TypeError) as error:
        yield f"{name} cannot be read ({error})"
        return
    dimensions = [d.name for d in published.dimensions]
    columns = dict.fromkeys(dimensions, [str]) | {"lower": _ENDS, "upper": _ENDS}
    for problem in misfits(content, {**PUBLIC_CERTIFICATE, "intervals": columns}):
        yield f"{name} {problem}"
    intervals = content.get("intervals", {})
    # intervals of some suppressed cells only would tell these from the others
    hidden = int(published.suppressed.sum())
    columns = list(intervals.values()) if isinstance(intervals, dict) else [intervals]
    if any(not isinstance(column, list) or len(column) != hidden for column in columns):
        yield f"{name} does not hold one interval for each suppressed cell"


# ── cells and structure ─────────────────────────────────────────────────────────────


def _cells(folder: Path, published: Published) -> Iterator[str]:
    if np.any(published.value[published.suppressed | published.empty]):
        yield f"{published.name} carries values for suppressed or empty cells"
    outline, cells = folder / f"{published.name}.structure.json", folder / f"{published.name}.csv"
    if not outline.exists():
        if cells.exists():
            yield f"{cells.name} cannot be read without {outline.name}"
        return
    try:
        if read_json(outline) != structure(published):
            yield f"{outline.name} is not the structure of the table"
        elif cells.exists() and not _same(Published.read(folder, published.name), published):
            yield f"{cells.name} does not hold the cells of the table"
    except (InputError, ValueError) as error:
        yield str(error)


def parquet_problems(path: Path, published: Published) -> Iterator[str]:
    """What is wrong with the Parquet file of a table; nothing if there is none."""
    if not path.exists():
        return
    try:
        if not read_plain_parquet(path).equals(exact_cells(published)):
            yield f"{path.name} does not hold the cells of the table"
    except InputError as error:
        yield str(error)


def _same(read: Published, proven: Published) -> bool:
    arrays = (
        (read.value, proven.value),
        (read.suppressed, proven.suppressed),
        (read.empty, proven.empty),
    )
    bounds = read.intervals.keys() == proven.intervals.keys() and all(
        np.array_equal(read.intervals[side][hidden], bound[hidden])
        for hidden in [proven.suppressed.ravel()]
        for side, bound in proven.intervals.items()
    )
    return bounds and all(np.array_equal(a, b) for a, b in arrays)


# ── workbooks ───────────────────────────────────────────────────────────────────────


def workbook_secrets(path: Path) -> Iterator[str]:
    """Parts and markup of a workbook that its reader does not see."""
    if not path.exists():
        return
    if not zipfile.is_zipfile(path):
        yield f"{path.name} is no workbook"
        return
    with zipfile.ZipFile(path) as archive:
        if archive.comment:
            yield f"{path.name} has a comment on the archive"
        for part in archive.namelist():
            if not _WORKBOOK_PARTS.fullmatch(part):
                yield f"{path.name} has the part {part}"
                continue
            for secret in _secrets(archive, part):
                yield f"{path.name} has {secret} ({part})"


def _secrets(archive: zipfile.ZipFile, part: str) -> set[str]:
    found: set[str] = set()
    tail = b""
    with archive.open(part) as content:
        while block := content.read(_BLOCK):
            # a tag may lie across two blocks
            text = tail + block
            found |= {name for name, tag in _WORKBOOK_SECRETS.items() if tag.search(text)}
            tail = text[-_OVERLAP:]
    return found
