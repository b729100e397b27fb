"""What public and internal workbooks have in common: neutral, deterministic, within limits."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from xlsxwriter import Workbook
from xlsxwriter.exceptions import XlsxWriterException
from xlsxwriter.worksheet import Worksheet

from diskret.errors import InputError

_MAX_ROWS = 1_048_576
_MAX_COLUMNS = 16_384
_A4 = 9  # as the file format numbers paper sizes
# a workbook says when it was made; the same table must give the same bytes
_CREATED = datetime(2000, 1, 1)


@contextmanager
def workbook(path: str | PathLike[str]) -> Generator[Workbook]:
    """A workbook without author, machine or date; written to `path` when all went well.

    Cells must be written row by row: rows are kept on disk, in a private folder beside
    `path` that is removed at the end.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    path = Path(path)
    try:
        with TemporaryDirectory(prefix=".", dir=path.parent) as private:
            book = Workbook(path, {"constant_memory": True, "tmpdir": private})
            book.set_properties({"created": _CREATED})
            yield book
            book.close()
    except (OSError, XlsxWriterException) as error:
        raise InputError(
            f"{path}: the workbook cannot be written; is the file open elsewhere, or the folder "
            f"missing or full? ({error})"
        ) from error


def check_fits(path: str | PathLike[str], rows: int, columns: int) -> None:
    """Refuse sheets beyond what the file format can hold.

    Raises
    ------
    InputError
        Says how large the sheet would be, the limits, and what to do.
    """
    if rows > _MAX_ROWS or columns > _MAX_COLUMNS:
        raise InputError(
            f"{path}: the sheet would have {rows:,} rows and {columns:,} columns; a workbook "
            f"holds at most {_MAX_ROWS:,} and {_MAX_COLUMNS:,}; write CSV instead, or a table "
            "with fewer codes"
        )


def print_wide(sheet: Worksheet) -> None:
    """Print a sheet across the page, all columns beside each other."""
    sheet.set_landscape()
    sheet.set_paper(_A4)
    sheet.fit_to_pages(1, 0)
