"""The ``.hrc`` files of τ-ARGUS: one code a line, its depth told by lead strings."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import some, total_code
from diskret.hierarchy.tree import Hierarchy


def read_hrc(
    path: str | PathLike[str], total: str = "Total", lead: str = "@", encoding: str = "utf-8"
) -> Hierarchy:
    """Read a tree from a ``.hrc`` file; the total is never in the file.

    See [`Hierarchy.read`][diskret.Hierarchy.read].
    """
    if not lead:
        raise HierarchyError("the lead string must not be empty; τ-ARGUS files use '@'")
    if Path(path).suffix.lower() == ".csv":
        raise HierarchyError(
            f"{path}: a .csv file is no .hrc file; read it as a frame and use "
            "Hierarchy.from_parents (columns code, parent), from_levels or from_prefix"
        )
    root = total_code(total, ())
    codes, parent = [root], [-1]
    line_of: dict[str, int] = {}
    chain = [0]  # positions from the total down to the code above
    problems: list[str] = []
    for number, line in enumerate(file_text(Path(path), encoding).split("\n"), start=1):
        if not line.strip():
            continue
        depth, code = _split(line, lead)
        problem = _problem(code, depth, lead, root, line_of, deepest=len(chain) - 1)
        if problem:
            problems.append(f"line {number}: {problem}")
        depth = min(depth, len(chain) - 1)
        parent.append(chain[depth])
        chain[depth + 1 :] = [len(codes)]
        codes.append(code)
        line_of.setdefault(code, number)
    if problems:
        count = f" ({len(problems)} problems in all)" if len(problems) > 1 else ""
        raise HierarchyError(f"{path}: {some(problems)}{count}")
    if not line_of:
        raise HierarchyError(f"{path}: the file holds no codes")
    return Hierarchy(tuple(codes), np.array(parent, dtype=np.int32))


def _problem(
    code: str, depth: int, lead: str, total: str, line_of: dict[str, int], deepest: int
) -> str | None:
    if not code or code.startswith(lead):
        return "no code after the lead strings"
    if code == total:
        return (
            f"the code {code!r} is also the code of the total; remove the line, "
            'or give the total another code, e.g. total="All"'
        )
    if code in line_of:
        return f"the code {code!r} stands in line {line_of[code]} already"
    if depth > deepest:
        return (
            f"the code {code!r} has {depth} lead strings where at most {deepest} fit; "
            "a code is at most one level below the one above it"
        )
    return None


def _split(line: str, lead: str) -> tuple[int, str]:
    depth = 0
    while line.startswith(lead, depth * len(lead)):
        depth += 1
    return depth, line[depth * len(lead) :].strip()


def file_text(path: Path, encoding: str) -> str:
    """The text of a file as written on any system; what is wrong is said as `HierarchyError`."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise HierarchyError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return raw.decode(encoding).removeprefix("\ufeff").rstrip("\x1a")  # end of file under DOS
    except LookupError as error:
        raise HierarchyError(f"the encoding {encoding!r} is not known") from error
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{path}: line {number} is not {encoding} text (byte 0x{raw[error.start]:02x}); pass "
            "the encoding of the file, e.g. encoding='latin-1' or, from Windows, 'cp1252'"
        ) from error
