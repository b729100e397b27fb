"""What may stand in the public files of microdata: the certified records, and nothing else."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from diskret.errors import InputError, VerificationError
from diskret.io.code_book import CodeBook
from diskret.io.data_file import DataFile
from diskret.io.files import read_plain_parquet
from diskret.io.formulas import without_marks
from diskret.io.from_json import Form, misfits, read_json
from diskret.io.kinds import is_text
from diskret.io.statistical import read_statistical, said_beside
from diskret.publish.contract import NEEDED, Records
from diskret.publish.digests import CERTIFICATE
from diskret.publish.guard.html import page_problems
from diskret.texts.numbers import Count

_KINDS = (
    is_text,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_temporal,
)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?")
#: What the names of public files may end with, after the name of the microdata.
MICRODATA_ENDINGS = (".csv", ".parquet", ".dta", ".sav", ".xpt", ".html", CERTIFICATE)

#: The admissible keys of a public certificate of microdata; see `allowlist`.
_COUNTED: Form = {
    **dict.fromkeys(("k", "unlike", "lean_on_gaps"), int),
    "keys": [str],
    "missing": str,
    "size": (int, None),
}
_SIZES: Form = {
    **dict.fromkeys(("from", "cells", "largest"), int),
    "to": (int, None),
    "mean": (int, float),
}
#: What is documented of a safe file: its tables by name, and deviations by size of the cell.
_SAFE: Form = {
    "minimum": int,
    "tables": {"*": [[str]]},
    "largest": int,
    **dict.fromkeys(("by_size_in_file", "by_size"), [_SIZES]),  # older ones: in the original
}
MICRODATA_CERTIFICATE: Form = {
    **NEEDED,
    "records": int,
    "columns": [str],
    "shown": {**_COUNTED, "further": [_COUNTED], **_SAFE},
    "inputs": {"records": str, "released": str},
}


def records_problems(public: Records, folder: Path) -> Iterator[str]:
    """What is wrong with the public files of records.

    CSV and Parquet must read back to exactly these values, columns and types, and hold no
    metadata.
    """
    name, records = public.name, public.table
    yield from _certificate(folder, public)
    yield from _csv(folder / f"{name}.csv", records)
    yield from _parquet(folder / f"{name}.parquet", records)
    for kind in ("dta", "sav", "xpt"):
        yield from _statistical(folder / f"{name}.{kind}", public)
    yield from page_problems(folder / f"{name}.html")


def read_records_csv(path: Path) -> pa.Table:
    """A public CSV file of records as text; an empty field is null, ``""`` an empty text."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names = next(csv.reader(file), [])
        records = pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return without_marks(records)
    except (OSError, ValueError, csv.Error, pa.ArrowException) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None


def read_records_parquet(path: Path) -> pa.Table:
    """A public Parquet file of records, without any metadata."""
    return read_plain_parquet(path, VerificationError)


def as_text(records: pa.Table) -> pa.Table:
    """Every value as the text that stands for it in CSV."""
    columns = [column.cast(pa.string()) for column in records.columns]
    return pa.table(columns, names=records.column_names)


def _certificate(folder: Path, public: Records) -> Iterator[str]:
    path = folder / f"{public.name}{CERTIFICATE}"
    try:
        content: dict[str, Any] = dict(read_json(path))
    except (InputError, ValueError, TypeError) as error:
        yield f"{path.name} cannot be read ({error})"
        return
    for problem in misfits(content, MICRODATA_CERTIFICATE):
        yield f"{path.name} {problem}"
    if any(content.get(key) != said for key, said in public.outline.items()):
        yield f"{path.name} is about other records"


def _csv(path: Path, records: pa.Table) -> Iterator[str]:
    if not path.exists():
        return
    try:
        read = read_records_csv(path)
    except VerificationError as error:
        yield str(error)
        return
    yield from _differences(path.name, read, as_text(records))


def _parquet(path: Path, records: pa.Table) -> Iterator[str]:
    if not path.exists():
        return
    try:
        read = read_records_parquet(path)
    except VerificationError as error:
        yield str(error)
        return
    schema = pa.schema([field.remove_metadata() for field in records.schema])
    if read.column_names == schema.names:
        # Parquet has fewer types of text, and of times, than Arrow
        kinds, certified = (list(map(_kind, of.types)) for of in (read.schema, schema))
        try:
            read = read.cast(schema)
        except pa.ArrowException:
            kinds = []
        if kinds != certified:
            yield f"{path.name} holds other types"
            return
    yield from _differences(path.name, read, records)


def _kind(kind: pa.DataType) -> list[bool]:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return [of_kind(plain) for of_kind in _KINDS]


def _statistical(path: Path, public: Records) -> Iterator[str]:
    """Values as they were certified, and labels of nothing that does not occur."""
    if not path.exists():
        return
    try:
        read, as_numbers, book = read_statistical(DataFile(path))
    except InputError as error:
        yield str(error)
        return
    if said_beside(path):
        yield f"{path.name} says more than its columns do"
    records, allowed = public.table, public.book
    if read.column_names != records.column_names or read.num_rows != records.num_rows:
        yield f"{path.name} holds other columns or records"
        return
    for name in records.column_names:
        reasons = public.missing.get(name)
        found = read.column(name)
        if reasons is not None and name in as_numbers:
            raw, found = found, as_numbers[name]
            why = pc.if_else(pc.is_null(found), raw.cast(pa.string()), None)
            if any(
                b is not None and a != b for a, b in zip(_texts(reasons), _texts(why), strict=True)
            ):
                yield f"{path.name} says of {name!r} that values are missing for other reasons"
        numbers = name in allowed.tagged
        mine, theirs = (_canonical(one, numbers) for one in (records.column(name), found))
        if mine != theirs:
            yield f"{path.name} holds other values of {name!r}"
        there = {*map(_as_code, mine)}
        there |= set() if reasons is None else {text for text in _texts(reasons) if text}
        known = allowed.values.get(name, {})
        if any(known.get(c) != text or c not in there for c, text in _labels(book, name)):
            yield f"{path.name} labels codes of {name!r} that do not occur, or otherwise"
        known_ranges = set(book.missing.get(name, ())) <= set(allowed.missing.get(name, ()))
        texts = pa.array(sorted(book.texts.get(name, ())), pa.string())
        if not (known_ranges and allowed.means_missing(name, texts).all()):
            yield f"{path.name} says of {name!r} that other codes mean missing"
    if not book.labels.items() <= allowed.labels.items():
        yield f"{path.name} has other labels of columns"


def statistical_problems(path: Path, records: pa.Table, why: Collection[str]) -> Iterator[str]:
    """What is wrong with a file of Stata, SPSS or SAS, as far as anybody can tell.

    Its values are those of the released records, and it has labels of nothing that does not occur;
    columns in `why` may tell for which reason a value is missing. `records` may be text, from CSV.
    """
    try:
        read, _, book = read_statistical(DataFile(path))
    except InputError as error:
        yield str(error)
        return
    if said_beside(path):
        yield f"{path.name} says more than its columns do"
    if read.column_names != records.column_names or read.num_rows != records.num_rows:
        yield f"{path.name} holds other columns or records"
        return
    for name in records.column_names:
        raw = read.column(name)
        reason = book.means_missing(name, raw) if name in why else np.zeros(len(raw), dtype=bool)
        mine, theirs = (list(map(_plain, one.to_pylist())) for one in (records.column(name), raw))
        if not all(
            _alike(a, b) or (a is None and missing)
            for a, b, missing in zip(mine, theirs, reason, strict=True)
        ):
            yield f"{path.name} holds other values of {name!r}"
        elif {code for code, _ in _labels(book, name)} - {*map(_as_code, _canonical(raw, False))}:
            yield f"{path.name} labels codes of {name!r} that do not occur"


def _plain(value: Any) -> float | str | None:
    """A value in the form that it has in every file."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, (bool, int, float, Decimal)):
        return float(value)
    if isinstance(value, date):
        return datetime.fromisoformat(value.isoformat()).isoformat()
    text = str(value)
    if _NUMBER.fullmatch(text):
        return float(text)
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return text


def _alike(one: float | str | None, other: float | str | None) -> bool:
    """Whether two values are the same; numbers with a point may have been of single precision."""
    if isinstance(one, float) and isinstance(other, float) and not one.is_integer():
        return one == other or np.float32(one) == np.float32(other)
    return one == other


def _texts(values: pa.ChunkedArray) -> list[str | None]:
    return values.to_pylist()


def _labels(book: CodeBook, name: str) -> Iterator[tuple[str, str]]:
    yield from book.values.get(name, {}).items()


def _canonical(values: pa.ChunkedArray, numbers: bool) -> list[Any]:
    """Values as any of the formats can hold them; `numbers`: texts of numbers are such."""
    found: list[Any] = []
    for value in values.to_pylist():
        if value is None or value == "" or value != value:
            found.append(None)
        elif isinstance(value, (bool, int, float, Decimal)):
            found.append(float(value))
        elif numbers and isinstance(value, str) and _NUMBER.fullmatch(value):
            found.append(float(value))
        else:
            found.append(value)
    return found


def _as_code(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def _differences(file: str, read: pa.Table, records: pa.Table) -> Iterator[str]:
    if read.column_names != records.column_names:
        yield f"{file} has the columns {', '.join(map(repr, read.column_names))}"
    elif read.num_rows != records.num_rows:
        number = Count(read.num_rows)
        yield f"{file} holds {number} {number:record|records}, not {records.num_rows:,}"
    else:
        for name in records.column_names:
            if not pc.all(_same(read.column(name), records.column(name))).as_py():
                yield f"{file} holds other values of {name!r}"


def _same(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    """Where two columns agree; missing agrees with missing."""
    missing = pc.and_(pc.is_null(one), pc.is_null(other))
    return pc.or_(missing, pc.fill_null(pc.equal(one, other), False))
