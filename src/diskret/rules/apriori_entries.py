"""What was set by hand, one row a cell, from frames and from ``.hst`` files of τ-ARGUS; checked."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import DataFile
from diskret.io.columns import column as column_of
from diskret.io.kinds import is_text
from diskret.tables.dimension import Dimension
from diskret.texts.numbers import Count

STATUS = ("safe", "unsafe", "frozen")
NUMBERS = ("cost", "lower", "upper")
ANSWERS = ("reason", "who", "date")
COLUMNS = ("status", *NUMBERS, *ANSWERS)

_REMEDIES = {
    "reason": 'say why, e.g. "public source" or "consent"',
    "who": "say who decided it",
    "date": "give the day of the decision as year-month-day, e.g. 2025-12-31",
}

#: The number of a line of an ``.hst`` file and its fields.
Line = tuple[int, tuple[str, ...]]

_HST_STATUS = {"s": "safe", "u": "unsafe", "p": "frozen"}
_COMMENT = "//"
_SEPARATORS = ",;\t|"
_KNOWN = "s (safe), u (unsafe), p (protected), c or w (cost), pl (protection levels)"


@dataclass(frozen=True)
class Origin:
    """What entries came from, for messages: a name and, of a file, the line of each row."""

    name: str
    lines: tuple[int, ...] = ()

    def at(self, row: int) -> str:
        """The place of a row, counted from 0."""
        place = f"line {self.lines[row]}" if self.lines else f"row {row + 1}"
        return f"{self.name}, {place}"


def checked_entries(frame: pa.Table, where: Origin) -> pa.Table:
    """The entries with all of `COLUMNS` after the code columns; refuses what is not clear.

    >>> frame = pa.table({"region": ["N"], "cost": ["3"]})
    >>> checked_entries(frame, Origin("the list")).to_pylist()[0]["cost"]
    3.0
    """
    if not any(name in frame.column_names for name in ("status", *NUMBERS)):
        raise InputError(
            f"{where.name}: there is no column of what is to be set; give at least one of "
            "'status', 'cost', 'lower' and 'upper'"
        )
    texts = {name: _text(frame, name, where) for name in ("status", *ANSWERS)}
    numbers = {name: _number(frame, name, where) for name in NUMBERS}
    _check_status(texts["status"], numbers, where)
    _check_answers(texts, where)
    codes = {name: frame.column(name) for name in frame.column_names if name not in COLUMNS}
    return pa.table(
        {
            **codes,
            "status": texts["status"],
            **{name: pa.array(column, from_pandas=True) for name, column in numbers.items()},
            **{name: texts[name] for name in ANSWERS},
        }
    )


def check_date(day: str, where: str) -> None:
    """Refuse what is no day of the calendar as year-month-day."""
    if not _is_day(day):
        raise InputError(f"{where}: {day!r} is no date; {_REMEDIES['date']}")


def check_code_columns(entries: pa.Table, names: Sequence[str], where: str) -> None:
    """Refuse entries whose code columns are not the variables of the table."""
    taken = [name for name in names if name in COLUMNS]
    if taken:
        raise InputError(
            f"{where}: the table has a variable {taken[0]!r}, which is a column of its own here "
            f"({', '.join(COLUMNS)}); tabulate it under another name"
        )
    missing = [name for name in names if name not in entries.column_names]
    beyond = [name for name in entries.column_names if name not in (*names, *COLUMNS)]
    if missing or beyond:
        raise InputError(
            f"{where}: the code columns must be the variables of the table, "
            f"{', '.join(map(repr, names))}; missing: {', '.join(map(repr, missing)) or 'none'}, "
            f"not known: {', '.join(map(repr, beyond)) or 'none'}. Every row names one cell, "
            "totals by the code of the total"
        )


def read_hst(
    path: str | PathLike[str], separator: str | None = None, encoding: str = "utf-8"
) -> tuple[Line, ...]:
    """The lines that are neither blank nor comments, split by the separator or the likeliest."""
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

    The codes of a line come in the order of the dimensions; an empty one is the total. `answers`:
    reason, who and date of all of them.
    """
    totals = [dimension.hierarchy.total for dimension in dimensions]
    cells: dict[tuple[str, ...], dict[str, Any]] = {}
    first: dict[tuple[str, ...], int] = {}
    for number, fields in lines:
        codes, said = fields[: len(totals)], fields[len(totals) :]
        if not said:
            many = Count(len(fields))
            raise InputError(
                f"{where}, line {number}: {many} {many:field|fields}; a line holds {len(totals)} "
                "codes and what is set, e.g. ...,s. Is the separator right?"
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


def name_of(cells: Any) -> str:
    """What a file of cells is called in messages."""
    path = cells.path if isinstance(cells, DataFile) else cells
    return Path(path).name if isinstance(path, str | PathLike) else "the cells"


def given_entries(
    cells: pa.Table,
    by: Sequence[str],
    named: Mapping[str, str],
    who: str,
    date: str,
    where: str,
) -> pa.Table:
    """Entries from columns of the cells themselves, for the rows of which something is given.

    `named`: of ``status``, ``lower``, ``upper`` and ``cost`` those that are columns, with the name
    of the column.
    """
    given = {name: column_of(cells, own) for name, own in named.items()}
    said = np.full(cells.num_rows, None, dtype=object)
    if "status" in given:
        texts = _text(cells, named["status"], Origin(where))
        said = np.array(
            [
                _given(text, f"{where}, row {row}, column {named['status']!r}")
                for row, text in enumerate(texts.to_pylist(), 1)
            ],
            dtype=object,
        )
    levels = np.isin(said, ("safe", "frozen"))
    there = said != None  # noqa: E711 - of each
    for name in [name for name in given if name != "status"]:
        numbers = _number(cells, named[name], Origin(where))
        numbers[levels & (name != "cost")] = np.nan
        there |= ~np.isnan(numbers)
        given[name] = pa.chunked_array([pa.array(numbers, from_pandas=True)])
    status = pa.array([s for s in said], pa.string())  # noqa: C416 - objects as a list
    own = {
        "reason": pa.array([s and f"given in {where}" for s in said], pa.string()),
        "who": pa.array([s and who for s in said], pa.string()),
        "date": pa.array([s and date for s in said], pa.string()),
    }
    content = {"status": status, **{n: v for n, v in given.items() if n != "status"}, **own}
    entries = pa.table({**{name: column_of(cells, name) for name in by}, **content})
    return entries.filter(pa.array(there))


#: What a status column holds → what it says.
_GIVEN: dict[str, str | None] = {
    **dict.fromkeys(("unsafe", "u", "true", "1", "yes", "a", "b", "c", "f"), "unsafe"),
    **dict.fromkeys(("safe", "s"), "safe"),
    **dict.fromkeys(("frozen", "p"), "frozen"),
    **dict.fromkeys(("false", "0", "no", "v", "d", "m"), None),
}


def _given(text: str | None, place: str) -> str | None:
    if text is None:
        return None
    if text.lower() not in _GIVEN:
        raise InputError(
            f"{place}: {text!r} is no status; use true or false, A, B, C, F (unsafe), V, D "
            "(nothing given), U, S, P or M of τ-ARGUS, or unsafe, safe and frozen"
        )
    return _GIVEN[text.lower()]


def _check_status(
    status: pa.ChunkedArray, numbers: dict[str, NDArray[np.float64]], where: Origin
) -> None:
    kind = pc.index_in(status, pa.array(STATUS)).to_numpy(zero_copy_only=False)
    given = status.is_valid().to_numpy()
    unknown = given & np.isnan(kind.astype(np.float64))
    says = given | ~np.all([np.isnan(column) for column in numbers.values()], axis=0)
    unsafe = np.asarray(pc.fill_null(pc.equal(status, "unsafe"), False))
    known = f"use {', '.join(STATUS)}, or leave it empty"
    _refuse(unknown, where, "status", f"{_shown(status, unknown)}no status", known)
    nothing = "give a status, a cost or levels, or take the row out"
    _refuse(~says, where, "status", "the row sets nothing", nothing)
    for name in ("lower", "upper"):
        wrong = given & ~unsafe & ~np.isnan(numbers[name])
        _refuse(wrong, where, name, "levels are for cells that are unsafe", "leave it empty")


def _check_answers(texts: dict[str, pa.ChunkedArray], where: Origin) -> None:
    needed = texts["status"].is_valid().to_numpy()
    for name in ANSWERS:
        missing = needed & ~texts[name].is_valid().to_numpy()
        _refuse(
            missing, where, name, "missing for a cell whose status is set by hand", _REMEDIES[name]
        )
    days = texts["date"]
    bad = [day for day in pc.unique(days).to_pylist() if day is not None and not _is_day(day)]
    wrong = np.asarray(pc.is_in(days, pa.array(bad, pa.string())))
    _refuse(wrong, where, "date", f"{_shown(days, wrong)}no date", _REMEDIES["date"])


def _refuse(wrong: NDArray[np.bool_], where: Origin, column: str, what: str, remedy: str) -> None:
    """Raise for the first row that is wrong, if any is."""
    rows = np.flatnonzero(wrong)
    if len(rows) == 1:
        raise InputError(f"{where.at(int(rows[0]))}, column {column!r}: {what}; {remedy}")
    if len(rows):
        raise InputError(
            f"{where.at(int(rows[0]))}, column {column!r}: {what}, as in {len(rows):,} rows in "
            f"all; {remedy}"
        )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _shown(column: pa.ChunkedArray, wrong: NDArray[np.bool_]) -> str:
    return f"{column[int(np.argmax(wrong))].as_py()!r} is " if wrong.any() else ""


def _text(frame: pa.Table, name: str, where: Origin) -> pa.ChunkedArray:
    """A column as text without padding; null where nothing is said."""
    if name not in frame.column_names:
        return pa.chunked_array([pa.nulls(frame.num_rows, pa.string())])
    column = frame.column(name)
    if pa.types.is_timestamp(column.type):  # pandas has no days
        column = column.cast(pa.date32(), safe=False)
    try:
        text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    except pa.ArrowException as error:
        raise InputError(
            f"{where.name}, column {name!r}: must be text, not {column.type}"
        ) from error
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)


def _number(frame: pa.Table, name: str, where: Origin) -> NDArray[np.float64]:
    """A column of numbers ≥ 0; NaN where nothing is said."""
    if name not in frame.column_names:
        return np.full(frame.num_rows, np.nan)
    column = frame.column(name)
    text = _text(frame, name, where)
    given = text.is_valid().to_numpy()
    try:
        source = text if is_text(column.type) else column
        numbers = pc.fill_null(source.cast(pa.float64()), np.nan).to_numpy()
    except pa.ArrowException:
        numbers = np.array([_float(value) for value in text.to_pylist()])
    given &= text.to_numpy(zero_copy_only=False) != "nan"  # how pandas says that nothing is there
    wrong = given & ~((numbers >= 0) & (numbers < np.inf))
    found = f"{_shown(text, wrong)}no number ≥ 0"
    _refuse(wrong, where, name, found, "write 1234.5, not 1.234,5")
    return np.where(given, numbers, np.nan)


def _float(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("nan")


def _said(fields: tuple[str, ...], where: str) -> dict[str, str]:
    kind, values = fields[0].lower(), tuple(field for field in fields[1:] if field)
    if kind in _HST_STATUS:
        columns, values = ("status",), (_HST_STATUS[kind], *values)
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
        numbers = len(columns) - (kind in _HST_STATUS)
        number = Count(len(fields) - 1)
        raise InputError(
            f"{where}: {fields[0]!r} must be followed by {numbers} "
            f"{Count(numbers):number|numbers}, but there {number:is|are} {number} "
            f"{number:field|fields}"
        )
    return dict(zip(columns, values, strict=True))
