"""Workbooks and archives: what is packed in them, never unpacked to disk."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from diskret.outputs.files.kinds import names_of
from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said, look
from diskret.outputs.profile import Profile

_UNPACKED = 200_000_000  # bytes
#: Parts of a workbook that nobody sees, and what they are.
_HIDDEN = re.compile(
    r"/(pivotCache|embeddings|externalLinks|media|customXml|model|queryTables)/|"
    r"vbaProject|connections\.xml|oleObject",
    re.IGNORECASE,
)
_PERSONAL = ("creator", "lastModifiedBy", "title", "subject", "description", "keywords")


def archive(path: Path, profile: Profile) -> list[Found]:
    """An archive is not looked into further than its list of files."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = packed.namelist()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
        return [Found("unread")]
    forbidden = {name for suffix in profile.suffixes for name in names_of(suffix.lower())}
    inside = [(name,) for name in names if PurePosixPath(name).suffix.lower() in forbidden]
    return [Found("archive"), *([Found("forbidden", inside)] if inside else [])]


def workbook(path: Path, said: Said, profile: Profile) -> list[Found]:
    """The sheets of a workbook, and all that is hidden in it."""
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
        if sum(part.file_size for part in parts) > _UNPACKED:
            return [Found("too_big")]
        hidden = [(part.filename,) for part in parts if _HIDDEN.search("/" + part.filename)]
        found = [Found("embedded", hidden)] if hidden else []
        drawn = [(part.filename,) for part in parts if "/charts/" in part.filename]
        found += [Found("unknown", drawn)] if drawn else []
        return [*found, *_sheets(path, said, profile)]
    except ImportError:
        return [Found("unread")]
    except Exception:  # damaged workbooks raise errors of a dozen kinds
        return [Found("unread")]


def _sheets(path: Path, said: Said, profile: Profile) -> list[Found]:
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions, which are not looked at
        book: Any = load_workbook(path, data_only=True)
    found: list[Found] = []
    personal = [(name,) for name in _PERSONAL if getattr(book.properties, name, None)]
    personal = [one for one in personal if getattr(book.properties, one[0]) != "openpyxl"]
    if personal:
        found.append(Found("metadata", personal))
    for sheet in book.worksheets:
        found += _sheet(sheet, said, profile)
    if len(book.worksheets) < len(book.sheetnames):
        found.append(Found("unknown", [(name,) for name in book.sheetnames]))
    return found


def _sheet(sheet: Any, said: Said, profile: Profile) -> list[Found]:
    found: list[Found] = []
    place = (str(sheet.title),)
    rows = [list(row) for row in sheet.iter_rows()]
    hidden = [place] if sheet.sheet_state != "visible" else []
    hidden += [(*place, str(key)) for key, one in sheet.row_dimensions.items() if one.hidden]
    hidden += [(*place, str(key)) for key, one in sheet.column_dimensions.items() if one.hidden]
    if hidden:
        found.append(Found("hidden", hidden))
    comments = [(*place, cell.coordinate) for row in rows for cell in row if cell.comment]
    if comments:
        found.append(Found("comments", comments))
    return [
        *found,
        *look(_table([[cell.value for cell in row] for row in rows]), said, profile, place),
    ]


def _table(rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns by the names in the first row that holds something."""
    filled = [row for row in rows if any(one not in (None, "") for one in row)]
    if not filled:
        return {}
    columns: dict[str, list[Any]] = {}
    for at, name in enumerate(filled[0]):
        own = str(name) if name not in (None, "") else f"{at + 1}"
        own = own if own not in columns else f"{own} ({at + 1})"
        columns[own] = [row[at] if at < len(row) else None for row in filled[1:]]
        if isinstance(name, int | float):  # no name: a table without a head
            columns[own].insert(0, name)
    return columns
