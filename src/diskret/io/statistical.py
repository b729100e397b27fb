"""Files of SAS, SPSS and Stata: their values, and what they say of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa

from diskret.errors import InputError
from diskret.io.before_reading import check_dictionary, check_length
from diskret.io.code_book import CodeBook
from diskret.io.columns import check_names
from diskret.io.data_file import DataFile
from diskret.io.xport import special_missing

_READERS = {"sas7bdat": "read_sas7bdat", "xpt": "read_xport", "sav": "read_sav", "dta": "read_dta"}
_TAG = re.compile(r"[a-z_]")


def read_statistical(said: DataFile) -> tuple[pa.Table, Mapping[str, pa.ChunkedArray], CodeBook]:
    """The records, columns as they are if they are used as numbers, and what the file says.

    Codes that mean missing are categories like others, ``.a`` to ``.z`` in Stata and SAS; where a
    column is used as numbers they are missing. Only columns that have such codes are in the second
    answer.
    """
    found, told = _read(said)
    names = list(found)
    check_names(names, f"{said.file}: ")
    if not names:
        raise InputError(f"{said.file}: has no columns")
    special: dict[str, list[str | None]] = {}
    if said.format == "xpt":
        of = special_missing(said.file, len(next(iter(found.values()))))
        special = {names[column]: reasons for column, reasons in of.items()}
    book = _book(told, special)
    columns: list[pa.ChunkedArray] = []
    numbers: dict[str, pa.ChunkedArray] = {}
    for name in names:
        values = list(found[name])
        if name in special:
            values = [v if c is None else c[1:] for v, c in zip(values, special[name], strict=True)]
        if name in book.tagged:
            columns.append(_column([_tagged(value) for value in values]))
            numbers[name] = _column([None if isinstance(v, str) else v for v in values])
            continue
        columns.append(_column(values))
        if name in book.with_missing:
            gone = book.means_missing(name, columns[-1]).tolist()
            numbers[name] = _column([None if m else v for v, m in zip(values, gone, strict=True)])
    return pa.table(columns, names=names), numbers, book


def _read(said: DataFile) -> tuple[Mapping[str, Any], Any]:
    """The values of each column, and what pyreadstat tells of them."""
    try:
        import pyreadstat
    except ImportError as error:
        raise InputError(
            f"{said.file}: files of SAS, SPSS and Stata need pyreadstat, which is not installed; "
            "install it with pip install 'diskret[stat]'"
        ) from error
    options: dict[str, Any] = {"output_format": "dict"}
    if said.encoding is not None:
        options["encoding"] = said.encoding
    if said.format != "xpt":
        options["user_missing"] = True
    if said.format == "sav":
        check_dictionary(said.file)
    elif said.format == "dta":
        check_length(said.file)
    try:
        return getattr(pyreadstat, _READERS[said.format or ""])(str(said.file), **options)
    except Exception as error:  # damaged files raise errors of many kinds
        raise InputError(
            f"{said.file}: cannot be read as a file of the kind {said.format}; is it complete, and "
            f"one? If its text is in another encoding, say so: encoding= ({error})"
        ) from error


def _book(told: Any, special: Iterable[str]) -> CodeBook:
    """Labels, and codes that mean missing; `special`: columns of an XPT file that have any."""
    ranges: Mapping[str, Any] = told.missing_ranges or {}
    missing = {
        name: tuple((float(one["lo"]), float(one["hi"])) for one in given)
        for name, given in ranges.items()
        if all(isinstance(one["lo"], (int, float)) for one in given)
    }
    texts = {
        name: frozenset(str(one["lo"]) for one in given)
        for name, given in ranges.items()
        if name not in missing
    }
    kinds = told.readstat_variable_types or {}
    tagged = [name for name, tags in (told.missing_user_values or {}).items() if tags]
    return CodeBook(
        labels={name: text for name, text in told.column_names_to_labels.items() if text},
        values={
            name: {
                str(value) if kinds.get(name) == "string" else _code(value): str(text)
                for value, text in values.items()
            }
            for name, values in (told.variable_value_labels or {}).items()
        },
        missing=missing,
        texts=texts,
        tagged=frozenset((*tagged, *special)),
    )


def said_beside(file: Path) -> list[str]:
    """What a file says beside its columns: a label of its own, notes, sets, labels of no column."""
    import pyreadstat

    read = getattr(pyreadstat, _READERS[file.suffix[1:]])
    _, told = read(str(file), metadataonly=True)
    unused = {*told.value_labels} - {*told.variable_to_label.values()}
    return [str(one) for one in (told.file_label, *told.notes, *told.mr_sets, *unused) if one]


def _tagged(value: Any) -> str | None:
    """A number as the text of its code, and a tag as it is written in Stata."""
    if isinstance(value, str):
        return f".{value.lower()}" if _TAG.fullmatch(value.lower()) else value
    return None if value is None or value != value else _code(value)


def _code(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str) and _TAG.fullmatch(value.lower()):
        return f".{value.lower()}"
    return str(value)


def _column(values: list[Any]) -> pa.ChunkedArray:
    """Whole numbers if all are whole; text without nothing but blanks; dates as such."""
    there = [v for v in values if v is not None and v == v]
    kinds = {type(value) for value in there}
    plain: list[Any] = [None if v is None or v != v else v for v in values]
    if kinds and kinds <= {int, float}:
        if all(float(value).is_integer() and abs(value) < 2**53 for value in there):
            return pa.chunked_array(
                [pa.array([v if v is None else int(v) for v in plain], pa.int64())]
            )
        return pa.chunked_array(
            [pa.array([v if v is None else float(v) for v in plain], pa.float64())]
        )
    for kind, arrow in (
        (date, pa.date32()),
        (datetime, pa.timestamp("us")),
        (time, pa.time64("us")),
    ):
        if kinds == {kind}:
            return pa.chunked_array([pa.array(plain, arrow)])
    texts = [None if v is None or v == "" else str(v) for v in plain]
    return pa.chunked_array([pa.array(texts, pa.large_string())])
