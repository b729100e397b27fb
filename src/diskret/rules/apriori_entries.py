"""What was set by hand: one row a cell, each with who answers for it."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError

STATUS = ("safe", "unsafe", "frozen")
NUMBERS = ("cost", "lower", "upper")
ANSWERS = ("reason", "who", "date")
COLUMNS = ("status", *NUMBERS, *ANSWERS)

_REMEDIES = {
    "reason": 'say why, e.g. "public source" or "consent"',
    "who": "say who decided it",
    "date": "give the day of the decision as year-month-day, e.g. 2025-12-31",
}


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

    Parameters
    ----------
    frame
        Code columns and some of `COLUMNS`: ``status`` (safe, unsafe, frozen or nothing),
        ``cost``, ``lower`` and ``upper`` (numbers ≥ 0 or nothing), ``reason``, ``who`` and
        ``date``, which must be there for every status.
    where
        What the entries came from.

    Raises
    ------
    InputError
        Names the first row and column that is wrong, how many are, and what to write.

    Examples
    --------
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
    """Refuse what is no day of the calendar as year-month-day.

    Raises
    ------
    InputError
        Names it.
    """
    if not _is_day(day):
        raise InputError(f"{where}: {day!r} is no date; {_REMEDIES['date']}")


def check_code_columns(entries: pa.Table, names: Sequence[str], where: str) -> None:
    """Refuse entries whose code columns are not the variables of the table.

    Raises
    ------
    InputError
        Names what is missing, and what the table does not have.
    """
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
    if len(rows):
        more = f" ({len(rows):,} rows in all)" if len(rows) > 1 else ""
        raise InputError(f"{where.at(int(rows[0]))}, column {column!r}: {what}{more}; {remedy}")


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
        source = text if pa.types.is_string(column.type) or _is_large(column) else column
        numbers = pc.fill_null(source.cast(pa.float64()), np.nan).to_numpy()
    except pa.ArrowException:
        numbers = np.array([_float(value) for value in text.to_pylist()])
    given &= text.to_numpy(zero_copy_only=False) != "nan"  # how pandas says that nothing is there
    wrong = given & ~((numbers >= 0) & (numbers < np.inf))
    found = f"{_shown(text, wrong)}no number ≥ 0"
    _refuse(wrong, where, name, found, "write 1234.5, not 1.234,5")
    return np.where(given, numbers, np.nan)


def _is_large(column: pa.ChunkedArray) -> bool:
    return pa.types.is_large_string(column.type)


def _float(text: str | None) -> float:
    try:
        return float("nan" if text is None else text)
    except ValueError:
        return float("nan")
