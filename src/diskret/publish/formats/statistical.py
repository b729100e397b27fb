"""Records as files of Stata, SPSS and SAS, with their labels; always the same bytes."""

# pyarrow has no type information for its classes; pandas and pyreadstat are optional.
# pyright: reportUnknownParameterType=false, reportMissingImports=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.hierarchy.codes import some
from diskret.io.code_book import CodeBook
from diskret.io.kinds import is_number, is_text
from diskret.io.xport import with_special_missing

#: What records may be written as beside CSV and Parquet.
STATISTICAL = ("dta", "sav", "xpt")
_SMALLEST, _LARGEST = 1e-78, 7e75  # of numbers in xport, which are those of an old mainframe
_SAS_HEAD = 8 * 80
_SAS_TIME = re.compile(rb"[0-9]{2}[A-Z]{3}[0-9]{2}(:[0-9]{2}){3}")
_NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
_FEW, _SHORT = 3, 8  # missing texts of a column of SPSS, and bytes of each
_LONGEST = 32  # of the names of columns in Stata and SAS
_MOST = 2**53  # larger whole numbers are none in a file that knows floating point only


def write_statistical(
    records: pa.Table,
    book: CodeBook,
    path: Path,
    missing: Mapping[str, pa.ChunkedArray] | None = None,
) -> None:
    """Write a .dta, .sav or .xpt file: values, labels of columns and codes, and missing codes.

    Whole numbers and logical values become numbers; a missing text is an empty one. Labels of codes
    that occur no more are left out: they would tell what was suppressed. Codes that mean missing
    stay what they are; `missing` has those of columns of numbers, see `codes_to_write`. Labels of
    codes have no place in xport.

    Raises
    ------
    InputError
        pyreadstat or pandas is missing, or the format cannot hold a name or a value.
    """
    try:
        import pandas as pd
        import pyreadstat
    except ImportError as error:
        raise InputError(
            f"{path.name}: files of Stata, SPSS and SAS need pyreadstat and pandas, which are not "
            "installed; install them with pip install 'diskret[stat]'"
        ) from error
    reasons = codes_to_write(records, book, missing or {}, path)
    if path.suffix == ".xpt":
        _write_xport(records, book, path, reasons)
        return
    stata = path.suffix == ".dta"
    columns: dict[str, Any] = {}
    labels: dict[str, dict[Any, str]] = {}
    tags: dict[str, list[str]] = {}
    for name in records.column_names:
        values = records.column(name)
        text = is_text(values.type)
        tagged = stata and holds_tags(values, name, book)
        columns[name] = _tagged(values) if tagged else _values(values, name, path)
        there = codes(values)
        if name in reasons:
            there |= codes(reasons[name])
            columns[name] = _with_codes(columns[name], reasons[name], stata)
        found = {code: text for code, text in book.values.get(name, {}).items() if code in there}
        if found and not (stata and text and not tagged):  # Stata has no labels of texts
            keys = {code: code if text and not tagged else _number(code) for code in found}
            labels[name] = {keys[code]: found[code] for code in found}
        if tagged or (stata and name in reasons):
            tags[name] = sorted(code[1:] for code in there if code.startswith("."))
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=_dtype(values)) for name, values in columns.items()}
    )
    given: dict[str, Any] = {
        "column_labels": {n: text for n, text in book.labels.items() if n in columns},
        "variable_value_labels": labels,
    }
    if stata:
        given["missing_user_values"] = {name: some for name, some in tags.items() if some}
    else:
        given["missing_ranges"] = {
            name: [{"lo": low, "hi": high} for low, high in ranges]
            for name, ranges in book.missing.items()
            if name in columns
            and not isinstance(next(iter(columns[name]), None), str)
            and not (name in (missing or {}) and name not in reasons)
        } | _missing_texts(records, book)
    try:
        (pyreadstat.write_dta if stata else pyreadstat.write_sav)(frame, str(path), **given)
    except Exception as error:  # whatever the format cannot hold
        raise _refused(path, columns, error) from error
    _without_time(path)


def codes_to_write(
    records: pa.Table, book: CodeBook, missing: Mapping[str, pa.ChunkedArray], path: Path
) -> dict[str, pa.ChunkedArray]:
    """The codes of missing numbers that a file can hold: column → code of each record, or null.

    Stata and SAS hold ``.a`` to ``.z``, SAS also ``._``, SPSS numbers. Where a protected value is
    now one of the numbers that mean missing, a reader would take it for a missing one: there no
    code is written.
    """
    found: dict[str, pa.ChunkedArray] = {}
    for name, reasons in missing.items():
        if (path.suffix == ".sav") is (name in book.tagged):
            continue
        values = records.column(name).cast(pa.float64())
        taken = [
            pc.any(pc.and_(pc.greater_equal(values, low), pc.less_equal(values, high))).as_py()
            for low, high in book.missing.get(name, ())
        ]
        if path.suffix == ".dta":
            reasons = pc.if_else(pc.equal(reasons, "._"), None, reasons)
        if not any(taken) and reasons.null_count < len(reasons):
            found[name] = reasons
    return found


def holds_tags(values: pa.ChunkedArray, name: str, book: CodeBook) -> bool:
    """Whether a column of text is one of numbers and ``.a`` to ``.z``, not of classes by now."""
    if name not in book.tagged or not is_text(values.type):
        return False
    known = pc.unique(values).drop_null()
    others = known.filter(pa.array(~book.means_missing(name, known)))
    return all(_NUMBER.fullmatch(code) for code in others.to_pylist())


def _missing_texts(records: pa.Table, book: CodeBook) -> dict[str, list[str]]:
    """Columns of text in which codes mean missing, as far as SPSS has room: three short ones."""
    found: dict[str, list[str]] = {}
    for name in sorted(book.with_missing.intersection(records.column_names)):
        values = records.column(name)
        if not is_text(values.type):
            continue
        known = pc.unique(values).drop_null()
        texts = sorted(known.filter(pa.array(book.means_missing(name, known))).to_pylist())
        if 0 < len(texts) <= _FEW and all(len(text.encode()) <= _SHORT for text in texts):
            found[name] = texts
    return found


def codes(values: pa.ChunkedArray) -> frozenset[str]:
    """The codes that occur, as text."""
    found = pc.unique(values).drop_null().to_pylist()
    return frozenset(
        str(int(v)) if isinstance(v, (bool, float)) and float(v).is_integer() else str(v)
        for v in found
    )


def _number(code: str) -> Any:
    """A code of a column of numbers, or the letter of one that means missing."""
    if code.startswith("."):
        return code[1:]
    return int(code) if re.fullmatch(r"[+-]?[0-9]+", code) else float(code)


def _with_codes(values: list[Any], reasons: pa.ChunkedArray, stata: bool) -> list[Any]:
    return [
        value if code is None else _number(code) if stata else float(code)
        for value, code in zip(values, reasons.to_pylist(), strict=True)
    ]


def _tagged(values: pa.ChunkedArray) -> list[Any]:
    found = [None if code is None else _number(code) for code in values.to_pylist()]
    # of whole numbers and others together the library makes texts
    mixed = any(isinstance(value, float) for value in found)
    return [float(v) if mixed and isinstance(v, int) else v for v in found]


def _values(values: pa.ChunkedArray, name: str, path: Path) -> list[Any]:
    kind = values.type
    if is_text(kind):
        return [text or "" for text in values.to_pylist()]
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    elif not is_number(kind):
        if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
            raise InputError(
                f"{path.name}: column {name!r} is of the type {kind}, which the format does not "
                "have; turn it into text or numbers, or leave this format out"
            )
        return values.to_pylist()
    listed = values.to_pylist()
    if pa.types.is_integer(kind) and any(abs(v) > _MOST for v in listed if v is not None):
        raise InputError(
            f"{path.name}: column {name!r} holds whole numbers beyond 2**53, which the format "
            "rounds; turn it into text, or leave this format out"
        )
    return [float("nan") if value is None else float(value) for value in listed]


def _dtype(values: list[Any]) -> str:
    return "float64" if all(isinstance(value, float) for value in values) else "object"


# ── SAS ───────────────────────────────────────────────────────────────────────────────


def _write_xport(
    records: pa.Table, book: CodeBook, path: Path, reasons: Mapping[str, pa.ChunkedArray]
) -> None:
    """Version 5, which every SAS reads, where names, labels and texts fit into it; else version 8.

    Labels of codes have no place in either.
    """
    import pandas as pd
    import pyreadstat

    columns: dict[str, list[Any]] = {}
    special: dict[int, list[str | None]] = {}
    for at, name in enumerate(records.column_names):
        values = records.column(name)
        if holds_tags(values, name, book):
            gone = pa.chunked_array([pa.array(book.means_missing(name, values))])
            special[at] = pc.if_else(gone, values, None).to_pylist()
            values = pc.if_else(gone, None, values).cast(pa.float64())
        elif name in reasons:
            special[at] = reasons[name].to_pylist()
        columns[name] = _values(values, name, path)
    labels = {name: text for name, text in book.labels.items() if name in columns}
    texts = {
        name: [value for value in values if isinstance(value, str)]
        for name, values in columns.items()
    }
    for name, values in columns.items():
        if any(text != text.rstrip(" ") for text in texts[name]):
            raise InputError(
                f"{path.name}: column {name!r} holds texts that end with a blank, which the format "
                "does not keep; take them away, or leave this format out"
            )
        sizes = [abs(v) for v in values if isinstance(v, float) and v == v and v]
        if sizes and not (_SMALLEST < min(sizes) and max(sizes) < _LARGEST):
            raise InputError(
                f"{path.name}: column {name!r} holds numbers that are too large or too close to 0 "
                "for the format; round them, or leave this format out"
            )
    old = (
        all(len(name) <= 8 and name.isascii() for name in columns)
        and all(len(text.encode()) <= 40 for text in labels.values())
        and all(len(text.encode()) <= 200 for some in texts.values() for text in some)
        and any(len(texts[name]) < len(columns[name]) for name in columns)  # else empty rows end it
    )
    frame = pd.DataFrame(
        {name: pd.Series(values, dtype=_dtype(values)) for name, values in columns.items()}
    )
    try:
        pyreadstat.write_xport(
            frame, str(path), column_labels=dict(labels), file_format_version=5 if old else 8
        )
    except Exception as error:  # whatever the format cannot hold
        raise _refused(path, columns, error) from error
    if special:
        raw = bytearray(path.read_bytes())
        with_special_missing(raw, path, special)
        path.write_bytes(bytes(raw))
    _without_time(path)


def _refused(path: Path, columns: Iterable[str], error: Exception) -> InputError:
    """The library does not say which name it means: those are told that look unlike others."""
    odd = [name for name in columns if not name.isidentifier() or len(name) > _LONGEST]
    if odd:
        return InputError(
            f"{path.name}: cannot be written in this format ({error}); columns are called "
            f"{some([*map(repr, odd)])}: rename them, or leave the format out"
        )
    return InputError(
        f"{path.name}: cannot be written in this format ({error}); rename or shorten what does "
        "not fit, or leave the format out"
    )


def _without_time(path: Path) -> None:
    """Put a fixed time in place of that of writing: the same records, the same bytes."""
    written = bytearray(path.read_bytes())
    if path.suffix == ".sav":
        written[92:109] = b"01 Jan 0000:00:00"  # date and time in the fixed head of the file
    elif path.suffix == ".xpt":
        head = _SAS_TIME.sub(b"01JAN00:00:00:00", bytes(written[:_SAS_HEAD]))
        written[:_SAS_HEAD] = head
    else:
        at = written.index(b"<timestamp>") + len(b"<timestamp>")
        length = written[at]
        if length:
            written[at + 1 : at + 1 + length] = b"01 Jan 2000 00:00".ljust(length)[:length]
    path.write_bytes(bytes(written))
