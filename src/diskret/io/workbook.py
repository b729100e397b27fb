"""A sheet of a workbook: names in one row, records below."""

from __future__ import annotations

import re
import warnings
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.errors import InputError
from diskret.io.columns import check_names
from diskret.io.data_file import DataFile

#: A formula without a value, as programs write it that compute nothing; in a text (t="str") it may
#: be an empty one.
_NEVER_COMPUTED = re.compile(
    rb'<c\b(?![^>]*\bt="str")[^>]*\br="([A-Z]+\d+)"[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*'
    rb"(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


def read_workbook(said: DataFile) -> pa.Table:
    """The records of a sheet.

    A column of numbers is one of whole numbers if all are whole; where numbers and text are mixed,
    as codes often are, all is text. Formulas count by the value that was last computed.
    """
    where, rows = _rows(said)
    first = 1 if said.columns else said.header
    head = () if said.columns else rows[first - 1] if first <= len(rows) else ()
    body = rows[first - 1 if said.columns else first :]
    while body and _empty(body[-1]):
        body.pop()
    if not said.columns and _empty(head):
        raise InputError(
            f"{where}, row {first}: is empty; it must hold the column names, or say in which row "
            "they stand: header="
        )
    above = len(rows) - len(rows[first - 1 if said.columns else first :])
    for at, row in enumerate(body, above + 1):
        if _empty(row):
            raise InputError(
                f"{where}, row {at}: is empty, and more follows; remove the row and what stands "
                "below the table, or say in which row the names stand: header="
            )
    names = tuple(said.names) if said.columns else _names(where, first, head)
    long = next((at for at, row in enumerate(body, above + 1) if not _empty(row[len(names) :])), 0)
    if long:
        raise InputError(
            f"{where}, row {long}: has values beyond the {len(names)} columns; give each column a "
            "name, or say in which row the names stand: header="
        )
    columns: list[pa.ChunkedArray] = []
    for i, name in enumerate(names):
        cells = [row[i] if i < len(row) and row[i] != "" else None for row in body]
        _check_errors(cells, where, above, name)
        _warn_of_lost_zeros(cells, where, above, name)
        columns.append(pa.chunked_array([_values(cells, said.decimal)]))
    return pa.table(columns, names=list(names))


def filled_sheets(file: Path) -> list[str]:
    """The titles of sheets in which something stands, be it a formula that was never computed."""
    book = _opened(file, formulas=True)
    try:
        return [
            sheet.title
            for sheet in book.worksheets
            if any(any(cell is not None for cell in row) for row in sheet.values)
        ]
    except Exception as error:  # sheets are read when they are asked for
        raise _unreadable(file, error) from error
    finally:
        book.close()


def _opened(file: Path, formulas: bool = False) -> Any:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise InputError(
            f"{file}: workbooks need openpyxl, which is not installed; install it with "
            "pip install 'diskret[excel]'"
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions, which are not looked at
            return load_workbook(file, read_only=True, data_only=not formulas)
    except Exception as error:  # damaged files raise errors of a dozen kinds
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> InputError:
    return InputError(
        f"{file}: cannot be read as a workbook; save it as .xlsx without a password "
        f"({type(error).__name__})"
    )


def _rows(said: DataFile) -> tuple[str, list[tuple[Any, ...]]]:
    """What messages begin with, and all rows of the sheet from the first one on."""
    title, _ = sheets(said)
    where = f"{said.file}, sheet {title!r}"
    book = _opened(said.file)
    try:
        sheet = book[title]
        sheet.reset_dimensions()  # what files say of their size is often wrong
        with sheet._get_source() as source:
            text = source.read()
        blank = _NEVER_COMPUTED.search(text) if b"<f" in text else None
        if blank is not None:
            raise InputError(
                f"{where}, cell {blank[1].decode()}: holds a formula that was never computed; open "
                "the file in a spreadsheet program and save it there"
            )
        return where, list(sheet.iter_rows(values_only=True))
    except InputError:
        raise
    except Exception as error:  # as above
        raise _unreadable(said.file, error) from error
    finally:
        book.close()


def sheets(said: DataFile) -> tuple[str, list[str]]:
    """The sheet that is read, and the others."""
    book = _opened(said.file)
    try:
        shown = {sheet.title: sheet.sheet_state == "visible" for sheet in book.worksheets}
    finally:
        book.close()
    if not shown or (said.sheet is not None and said.sheet not in shown):
        there = ", ".join(map(repr, shown)) or "none"
        raise InputError(f"{said.file}: there is no sheet {said.sheet!r}; the sheets are {there}")
    read = said.sheet or max(shown, key=lambda title: shown[title])
    return read, [title for title in shown if title != read]


def _empty(row: tuple[Any, ...]) -> bool:
    return all(_text(cell) is None for cell in row)


def _names(where: str, row: int, head: tuple[Any, ...]) -> tuple[str, ...]:
    names = [_text(cell) for cell in head]
    while names and names[-1] is None:
        names.pop()
    if None in names:
        raise InputError(
            f"{where}, row {row}: column {names.index(None) + 1} has no name; give it one, or "
            "remove the column"
        )
    found = tuple(name for name in names if name is not None)
    check_names(found, f"{where}, row {row}: ")
    return found


def _text(cell: Any, decimal: str = ".") -> str | None:
    """A cell as text; None if there is nothing in it."""
    if cell is None or isinstance(cell, str):
        return (cell or "").strip() or None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return repr(int(cell)) if cell.is_integer() else repr(cell).replace(".", decimal)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def _check_errors(cells: list[Any], where: str, above: int, name: str) -> None:
    for row, cell in enumerate(cells, above + 1):
        if isinstance(cell, str) and cell in _ERRORS:
            raise InputError(f"{where}, row {row}, column {name!r}: {cell}; correct the formula")


def _warn_of_lost_zeros(cells: list[Any], where: str, above: int, name: str) -> None:
    """A program that reads 01 as a number writes 1: both are one code then, and count as two."""
    padded = {cell.lstrip("0"): cell for cell in cells if isinstance(cell, str) and cell[:1] == "0"}
    if not padded:
        return
    for row, cell in enumerate(cells, above + 1):
        if isinstance(cell, int) and (text := padded.get(str(cell))) is not None:
            warnings.warn(
                f"{where}, row {row}, column {name!r}: holds the number {cell}, and elsewhere "
                f"the text {text!r}: these are two codes. If leading zeros were lost, write all "
                "codes of the column as text",
                stacklevel=2,
            )
            return


def _values(cells: list[Any], decimal: str) -> pa.Array:
    there = [cell for cell in cells if cell is not None]
    kinds = {type(cell) for cell in there}
    if kinds and kinds <= {int, float}:
        if all(float(cell).is_integer() and abs(cell) < 2**63 for cell in there):
            return pa.array([cell if cell is None else int(cell) for cell in cells], pa.int64())
        return pa.array([cell if cell is None else float(cell) for cell in cells], pa.float64())
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds == {datetime} and all(cell.time() == time() for cell in there):
        return pa.array([cell and cell.date() for cell in cells], pa.date32())
    return pa.array([_text(cell, decimal) for cell in cells], pa.large_string())
