"""SDMX-CSV 1.0 and 2.0: what its columns are called, and its cells as a table.

With labels every column is headed ``ID: name``, and what stands in it may be ``code: label``.
"""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from diskret.errors import InputError
from diskret.io.code_book import CodeBook
from diskret.io.columns import check_names
from diskret.io.data_file import DataFile
from diskret.io.encoded import decoded
from diskret.texts.numbers import Count

#: Columns that say which data these are, in versions 1.0 and 2.0.
HEADS = {
    "1.0": ("DATAFLOW",),
    "2.0": ("STRUCTURE", "STRUCTURE_ID", "ACTION"),
}
#: The column of the values, and what is said of each.
VALUE, OBS_STATUS, CONF_STATUS = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"
#: The columns of periods and of several measures.
TIME, MEASURE = "TIME_PERIOD", "MEASURE"

_GERMAN = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)
_NO_CODE = re.compile(r"[^A-Za-z0-9_@$-]")
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
#: Periods as SDMX writes them: years, parts of years, days.
PERIOD = re.compile(
    r"\d{4}(?:-(?:A1|S[12]|T[1-3]|Q[1-4]|M(?:0[1-9]|1[0-2])|W[0-5]\d|D[0-3]\d\d"
    r"|(?:0[1-9]|1[0-2])(?:-[0-3]\d)?))?"
)


def code_ids(codes: Iterable[str], where: str) -> tuple[str, ...]:
    """The identifiers of codes: letters, digits, ``_ @ $ -``; other signs become ``_``.

    >>> code_ids(["01", "10.1", "Köln"], "town")
    ('01', '10_1', 'Koeln')
    """
    return _ids(codes, _NO_CODE, where)


def column_ids(names: Iterable[str], where: str) -> tuple[str, ...]:
    """The identifiers of columns: letters, digits, ``_ -``, a letter first.

    >>> column_ids(["Größe", "1. Stelle"], "firms")
    ('Groesse', 'X1__Stelle')
    """
    found = _ids(names, _NO_NAME, where)
    return tuple(name if name[:1].isalpha() else f"X{name}" for name in found)


def _ids(texts: Iterable[str], wrong: re.Pattern[str], where: str) -> tuple[str, ...]:
    texts = tuple(texts)
    found = tuple(wrong.sub("_", text.translate(_GERMAN)) for text in texts)
    seen: dict[str, str] = {}
    for text, one in zip(texts, found, strict=True):
        other = seen.setdefault(one, text)
        if other != text:
            raise InputError(
                f"{where}: in SDMX {other!r} and {text!r} would both be called {one!r}, because "
                "identifiers hold letters, digits and _ - only; give one of them another code"
            )
    return found


def parse_sdmx_csv(path: Path, encoding: str | None = None) -> list[list[str]]:
    """All lines of a file, each with as many fields as the first; the first are the columns.

    Raises
    ------
    InputError
        It is no SDMX-CSV.
    """
    text = decoded(path, encoding or "utf-8")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as SDMX-CSV ({error})") from error
    if not lines or not lines[0] or lines[0][0].partition(": ")[0] not in ("DATAFLOW", "STRUCTURE"):
        raise InputError(
            f"{path}, line 1: is no SDMX-CSV, whose first column is DATAFLOW or STRUCTURE; read "
            "other CSV without format="
        )
    wide = len(lines[0])
    for number, line in enumerate(lines, start=1):
        if len(line) != wide:
            many = Count(len(line))
            raise InputError(
                f"{path}: record {number} has {many} {many:field|fields}, and the first has {wide}"
            )
    return lines


def read_sdmx_csv(file: DataFile) -> tuple[pa.Table, CodeBook]:
    """The cells of a file as a table of text, an empty field is null; labels are in the book."""
    lines = parse_sdmx_csv(file.file, file.encoding)
    ids = [name.partition(": ")[0] for name in lines[0]]
    check_names(ids, f"{file.file}, line 1: ")
    labels: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    columns: dict[str, pa.Array] = {}
    known = {name for head in HEADS.values() for name in head}
    for i, name in enumerate(ids):
        if name in known:
            continue
        fields = [line[i] for line in lines[1:]]
        _, labelled, label = lines[0][i].partition(": ")
        if labelled:
            labels[name] = label
            parts = {one: one.partition(": ") for one in dict.fromkeys(fields)}
            values[name] = {code: text for code, mark, text in parts.values() if mark}
            fields = [parts[one][0] for one in fields]
        columns[name] = pa.array([one or None for one in fields], pa.string())
    book = CodeBook(labels=labels, values={name: of for name, of in values.items() if of})
    return pa.table(columns), book
