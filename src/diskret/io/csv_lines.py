"""Lines of CSV files: where a record stands, and quotation marks that swallow records."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from diskret.errors import InputError

_QUOTE = ord('"')


def numbered(lines: Iterable[str], delimiter: str, skipped: int = 0) -> Iterator[tuple[int, int]]:
    """The line that each record begins in and its number of fields; empty lines are no records.

    `lines` with their ends; the first `skipped` are left out.

    >>> list(numbered(["a;b", "", '1;"x', 'y"', "2;z"], ";"))
    [(1, 2), (3, 2), (5, 2)]
    """
    rest = iter(lines)
    for _ in range(skipped):
        next(rest, None)
    reader = csv.reader(rest, delimiter=delimiter)
    begin = skipped + 1
    for fields in reader:
        if fields:
            yield begin, len(fields)
        begin = skipped + reader.line_num + 1


def line_of(lines: Iterable[str], delimiter: str, record: int, skipped: int = 0) -> int | None:
    """The line that a record begins in, counted from 0; None: it cannot be told."""
    try:
        found = islice(numbered(lines, delimiter, skipped), record, None)
        return next((line for line, _ in found), None)
    except (csv.Error, UnicodeError):
        return None


def spans_lines(blocks: Iterable[bytes]) -> bool:
    """Whether some quotation mark is not closed in its line; bytes of a superset of ASCII."""
    odd = False
    for block in blocks:
        if b'"' not in block:
            if odd and (b"\n" in block or b"\r" in block):
                return True
            continue
        data = np.frombuffer(block, dtype=np.uint8)
        inside = np.bitwise_xor.accumulate(data == _QUOTE) ^ odd
        if (inside & ((data == ord("\n")) | (data == ord("\r")))).any():
            return True
        odd = bool(inside[-1])
    return odd


def check_quotes(path: Path, lines: Iterable[str], delimiter: str, columns: int) -> None:
    """Refuse quotation marks that are opened and not closed where they should be.

    What follows would be one text: records would be lost. A text may go over several lines, but
    not where each of them is a record by itself.

    Raises
    ------
    InputError
        One is never closed, or closed inside a text, or in the line of another record.
    """
    read: list[str] = []

    def kept() -> Iterator[str]:
        for line in lines:
            read.append(line)
            yield line

    reader = csv.reader(kept(), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for _ in reader:
            if len(read) > 1 and columns > 1:
                _check_alone(path, begin, read, delimiter, columns)
            read.clear()
            begin = reader.line_num + 1
    except UnicodeError:
        return  # which the reader says better
    except csv.Error as error:
        if "expected after" in str(error):
            raise InputError(
                f"{path}, line {begin + len(read) - 1}: something follows a quotation mark that "
                f"closes a text; is one left open in line {begin}? Close it, or write it twice "
                "inside quoted text"
            ) from error
        if "end of data" in str(error) or "field limit" in str(error):
            raise InputError(
                f"{path}, line {begin}: a quotation mark is opened and never closed; close it, or "
                "write it twice inside quoted text"
            ) from error


def _check_alone(path: Path, begin: int, read: list[str], delimiter: str, columns: int) -> None:
    if all(line.count(delimiter) == columns - 1 for line in read):
        raise InputError(
            f"{path}, line {begin}: a quotation mark is opened here and closed in line "
            f"{begin + len(read) - 1}, and each of these lines is a record by itself; close it in "
            "its line. If it is one text, take the line breaks out of it"
        )
