"""The ``.hst`` files of τ-ARGUS: cells set by hand, a line for each thing said of a cell."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.errors import InputError
from diskret.rules.apriori_entries import COLUMNS, Origin
from diskret.tables.dimension import Dimension

#: The number of a line and its fields.
Line = tuple[int, tuple[str, ...]]

_STATUS = {"s": "safe", "u": "unsafe", "p": "frozen"}
_COMMENT = "//"
_SEPARATORS = ",;\t|"
_KNOWN = "s (safe), u (unsafe), p (protected), c or w (cost), pl (protection levels)"


def read_hst(
    path: str | PathLike[str], separator: str | None = None, encoding: str = "utf-8"
) -> tuple[Line, ...]:
    """The lines that are neither blank nor comments (beginning with ``//``), split.

    Parameters
    ----------
    path
        The file.
    separator
        One character; None: the most frequent of , ; tab and | in the first line.
    encoding
        Of the file.

    Raises
    ------
    InputError
        The file cannot be read, or holds nothing.
    """
    try:
        text = Path(path).read_text(encoding=encoding).removeprefix("\ufeff").rstrip("\x1a")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (LookupError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read as {encoding} text; pass the encoding of the file, e.g. "
            "encoding='latin-1' or, from Windows, 'cp1252'"
        ) from error
    # as in batch files of τ-ARGUS; the numbers of the other lines stay
    lines = ["" if line.lstrip().startswith(_COMMENT) else line for line in text.splitlines()]
    if not any(line.strip() for line in lines):
        raise InputError(f"{path}: the file is empty; it must hold one line for each cell")
    if separator is None:
        first = next(line for line in lines if line.strip())
        separator = max(_SEPARATORS, key=first.count)
    elif len(separator) != 1:
        raise InputError(f"separator must be one character, not {separator!r}")
    rows = csv.reader(lines, delimiter=separator)
    split = [(number, tuple(f.strip() for f in row)) for number, row in enumerate(rows, start=1)]
    return tuple((number, fields) for number, fields in split if any(fields))


def hst_entries(
    lines: Sequence[Line],
    dimensions: Sequence[Dimension],
    answers: dict[str, str],
    where: str,
) -> tuple[pa.Table, Origin]:
    """The lines as entries, one row a cell, and the line that names it first.

    The codes of a line come in the order of the dimensions; an empty one is the total.

    Parameters
    ----------
    lines
        What `read_hst` gave.
    dimensions
        Of the table.
    answers
        ``reason``, ``who`` and ``date``, the same for every line.
    where
        The file, for messages.

    Raises
    ------
    InputError
        A line cannot be understood, or says of a cell what another line says already.
    """
    totals = [dimension.hierarchy.total for dimension in dimensions]
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    first: dict[tuple[str, ...], int] = {}
    for number, fields in lines:
        codes, said = fields[: len(totals)], fields[len(totals) :]
        if not said:
            raise InputError(
                f"{where}, line {number}: {len(fields)} fields; a line holds {len(totals)} codes "
                "and what is set, e.g. ...,s. Is the separator right?"
            )
        cell = tuple(code or total for code, total in zip(codes, totals, strict=True))
        entry = cells.setdefault(cell, {})
        first.setdefault(cell, number)
        for column, value in _said(said, f"{where}, line {number}").items():
            if column in entry:
                raise InputError(
                    f"{where}, line {number}: the {column} of this cell is set in an earlier "
                    f"line already ({', '.join(cell)}); keep one of them"
                )
            entry[column] = value
    names = [dimension.name for dimension in dimensions]
    codes = {name: [cell[i] for cell in cells] for i, name in enumerate(names)}
    content = {
        column: [
            answers[column] if column in answers else entry.get(column) for entry in cells.values()
        ]
        for column in COLUMNS
    }
    columns = {**codes, **content}
    table = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    return table, Origin(where, tuple(first.values()))


def _said(fields: tuple[str, ...], where: str) -> dict[str, str]:
    kind, values = fields[0].lower(), tuple(field for field in fields[1:] if field)
    if kind in _STATUS:
        columns, values = ("status",), (_STATUS[kind], *values)
    elif kind in ("c", "w"):
        columns = ("cost",)
    elif kind == "pl":
        columns = ("lower", "upper")
    elif kind in ("m", "ml"):
        raise InputError(
            f"{where}: {fields[0]!r} takes over a secondary suppression of another run, but "
            "a pattern is proven as a whole; give the cell a low cost (c) or set it to u"
        )
    else:
        raise InputError(f"{where}: {fields[0]!r} is not known; use {_KNOWN}")
    if len(values) != len(columns):
        numbers = len(columns) - (kind in _STATUS)
        raise InputError(
            f"{where}: {fields[0]!r} must be followed by {numbers} numbers, but there are "
            f"{len(fields) - 1} fields"
        )
    return dict(zip(columns, values, strict=True))
