"""The rows of a template with the lines they stand in: text files, frames, sheets."""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.errors import InputError, JobError
from diskret.io import DataFile, to_arrow
from diskret.io.encoded import utf8_text
from diskret.io.workbook import filled_sheets
from diskret.texts.numbers import Count

_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Rows:
    """Rows of text, one value for each column; `lines` are those of the file, from 1.

    file: how messages name it. `line`: what a row is called there.
    sheets: the line before the first of each sheet → the sheet, where lines count over several.
    """

    file: str
    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    line: str = "line"
    sheets: Mapping[int, str] = field(default_factory=dict[int, str])

    def column(self, name: str) -> list[str]:
        """The values of a column."""
        at = self.columns.index(name)
        return [row[at] for row in self.values]

    def each(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The line of each row, and its values by column."""
        for line, row in zip(self.lines, self.values, strict=True):
            yield line, dict(zip(self.columns, row, strict=True))

    def error_at(self, line: int, message: str) -> JobError:
        """An error that names the line."""
        file, own = self.place(line)
        return JobError(f"{file}, {self.line} {own}: {message}")

    def place(self, line: int) -> tuple[str, int]:
        """The file or sheet that a line stands in, and its number there."""
        return placed(self.file, self.sheets, line)


def placed(file: str, sheets: Mapping[int, str], line: int) -> tuple[str, int]:
    """The file or sheet that a line stands in, and its number there.

    >>> placed("books", {0: "north", 40: "south"}, 42)
    ('south', 2)
    """
    starts = sorted(sheets)
    before = starts[bisect_left(starts, line) - 1] if starts else 0
    return sheets.get(before, file), line - before


def read_csv(path: Path) -> Rows:
    """The rows of a CSV file, as text; its first line holds the names."""
    text = utf8_text(path, JobError)
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    values: list[tuple[str, ...]] = []
    lines: list[int] = []
    columns: tuple[str, ...] = ()
    begins = 1
    try:
        for row in reader:
            cells = tuple(cell.strip() for cell in row)
            if not columns and any(cells):
                columns = cells
                _check_names(path.name, begins, columns)
            elif any(cells):
                if len(cells) != len(columns):
                    number = Count(len(cells))
                    raise JobError(
                        f"{path.name}, line {begins}: has {number} {number:field|fields}, and the "
                        f"first line names {len(columns)} columns; correct the line"
                    )
                values.append(cells)
                lines.append(begins)
            begins = reader.line_num + 1
    except csv.Error as error:
        raise JobError(
            f"{path.name}, line {reader.line_num}: not valid CSV ({error}); are quotes closed?"
        ) from error
    return _filled(Rows(path.name, columns, tuple(values), tuple(lines)))


def _check_names(file: str, line: int, columns: Sequence[str]) -> None:
    if "" in columns:
        raise JobError(
            f"{file}, line {line}: column {columns.index('') + 1} has no name; give it one, or "
            "remove the column"
        )
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise JobError(f"{file}, line {line}: two columns are called {twice!r}; rename one")


def _filled(rows: Rows) -> Rows:
    if not rows.values:
        raise JobError(
            f"{rows.file}: there are no rows; a template has a line of names and one line for each "
            "table or cell"
        )
    return rows


def of_frame(frame: Any, file: str = "frame") -> Rows:
    """The rows of a frame, numbered from 1."""
    table, _ = to_arrow(frame)
    return _of_arrow(table, file, 1, "row")


def sheets(path: Path) -> list[Rows]:
    """The rows of each sheet of a workbook that is not empty."""
    try:
        titles = filled_sheets(path)
    except InputError as error:
        raise JobError(str(error)) from error
    found: list[Rows] = []
    for title in titles:
        table, _ = to_arrow(DataFile(path, sheet=title))
        found.append(_of_arrow(table, f"{path.name}, sheet {title!r}", 2, "row"))
    return found


def _of_arrow(table: pa.Table, file: str, first: int, line: str) -> Rows:
    names = tuple(str(name) for name in table.column_names)
    _check_names(file, 1, names)
    columns = [[_text(value) for value in table.column(i).to_pylist()] for i in range(len(names))]
    values = tuple(zip(*columns, strict=True))
    return _filled(Rows(file, names, values, tuple(range(first, first + len(values))), line))


def _text(value: Any) -> str:
    if value is None or value != value:  # noqa: PLR0124 (not a number)
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
