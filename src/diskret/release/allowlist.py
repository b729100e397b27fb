"""The last guard before files leave: nothing is public that is not on a list."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.from_json import Form, misfits, read_json
from diskret.io.plain_parquet import read_plain_parquet
from diskret.release.allowlist_derived import combined_problems, derived_problems
from diskret.release.allowlist_html import page_problems
from diskret.release.allowlist_template import template_problems
from diskret.release.derived import COMBINED, DERIVED, Releases
from diskret.release.digests import CERTIFICATE, check_digests, is_lock
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.public_files import exact_cells, structure
from diskret.tables.read_public import read_published

#: What the names of public files may end with, after the name of a table.
PUBLIC_ENDINGS = (".csv", ".parquet", ".structure.json", ".xlsx", ".html", CERTIFICATE)
#: The same for derived figures, and for tables side by side.
_COLUMNS = (".csv", ".parquet", ".xlsx")
DERIVED_ENDINGS = (*_COLUMNS, DERIVED)
COMBINED_ENDINGS = (*_COLUMNS, COMBINED)

#: What a public certificate may hold, as `diskret.io.from_json` describes it: nothing else is
#: written, and nothing else is verified. The time of writing is left out: the same release, the
#: same bytes.
_TEXT: Form = {"en": [str], "de": [str]}
_ENDS: Form = [(int, float, None)]
#: What every certificate holds.
NEEDED: Form = {
    **dict.fromkeys(("schema", "family", "name", "software"), str),
    "claimed": _TEXT,
    "not_claimed": _TEXT,
    "files": {"*": str},
    "inputs": {"*": str},
}
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


@dataclass(frozen=True)
class FilledTemplate:
    """A workbook in the layout of the office among the public files.

    Parameters
    ----------
    name
        Of the public file.
    template
        The workbook it was made from.
    texts
        What may stand in it beside the texts of the template: symbols, legends, titles, labels.
    """

    name: str
    template: Path
    texts: Collection[str]


def check_public(
    folder: str | PathLike[str],
    tables: Sequence[Published],
    filled: FilledTemplate | None = None,
    *,
    derived: Sequence[Derived] = (),
    combined: Sequence[SideBySide] = (),
    releases: Releases = (),
) -> None:
    """Refuse a public folder that holds anything beyond what may leave.

    Checked are file names, the keys of the certificates, the digests in them, that CSV,
    structure and Parquet read back to exactly what was proven, the parts and markup of
    workbooks, and the markup of reports. A filled template is read back cell by cell.
    Derived figures are compared with what the published values give.

    Parameters
    ----------
    folder
        The folder with the public files, complete.
    tables
        What was proven, and the files were made from.
    filled
        The workbook in the layout of the office, if there is one.
    derived
        Derived figures among the files.
    combined
        Tables side by side among the files.
    releases
        Folders of other releases that inputs of derived figures were published in.

    Raises
    ------
    ProofError
        Says which file holds what.
    """
    folder = Path(folder)
    problems = list(_names(folder, tables, filled, derived, combined))
    if not problems:
        for published in tables:
            problems += _certificate(folder, published)
            problems += _cells(folder, published)
            problems += parquet_problems(folder / f"{published.name}.parquet", published)
            problems += _workbook(folder / f"{published.name}.xlsx")
            problems += page_problems(folder / f"{published.name}.html")
        for figure in derived:
            problems += derived_problems(folder, figure, tables, releases)
            problems += _workbook(folder / f"{figure.name}.xlsx")
        for shown in combined:
            problems += combined_problems(folder, shown, tables)
            problems += _workbook(folder / f"{shown.name}.xlsx")
        if filled is not None:
            path = folder / filled.name
            problems += template_problems(path, filled.template, tables, filled.texts)
        problems += _digests(folder, tables)
    if problems:
        raise ProofError(
            "the public files were not released, because they hold more or other things than "
            f"may leave: {'; '.join(problems)}"
        )


def _names(
    folder: Path,
    tables: Sequence[Published],
    filled: FilledTemplate | None,
    derived: Sequence[Derived],
    combined: Sequence[SideBySide],
) -> Iterator[str]:
    expected = {t.name + ending for t in tables for ending in PUBLIC_ENDINGS}
    expected |= {d.name + ending for d in derived for ending in DERIVED_ENDINGS}
    expected |= {c.name + ending for c in combined for ending in COMBINED_ENDINGS}
    if filled is not None:
        # it must not take the place of a table's own workbook, which is checked otherwise
        if filled.name in expected:
            yield f"{filled.name} is the name of two files"
        expected.add(filled.name)
    for path in sorted(folder.iterdir()):
        if is_lock(path):
            continue
        if path.name not in expected:
            yield f"{path.name} is no file of these tables"
        elif path.is_symlink() or not path.is_file():
            yield f"{path.name} is not a plain file"


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


def _digests(folder: Path, tables: Sequence[Published]) -> Iterator[str]:
    try:
        listed: dict[str, str] = {}
        for published in tables:
            listed |= read_json(folder / f"{published.name}{CERTIFICATE}")["files"]
        check_digests(folder, listed)
    except (InputError, OSError, ValueError, KeyError, TypeError) as error:
        yield f"the certificates do not list the files ({error!r})"
    except VerificationError as error:
        yield str(error)


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
        elif cells.exists() and not _same(read_published(folder, published.name), published):
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


def _workbook(path: Path) -> Iterator[str]:
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
