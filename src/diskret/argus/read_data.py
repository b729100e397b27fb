"""Data files as τ-ARGUS has them: fixed places or separators, and no line of names."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from diskret.argus.metadata import Metadata, Variable
from diskret.argus.text import encoding_of, text_of
from diskret.errors import InputError
from diskret.io import Column, read_fixed
from diskret.io.csv_lines import check_quotes, numbered, spans_lines
from diskret.io.placed import first_record
from diskret.io.record_errors import Place, RecordError
from diskret.texts.numbers import Count


def read_data(
    path: Path, kind: Literal["records", "cells"], metadata: Metadata, needed: Sequence[Variable]
) -> pa.Table:
    """The needed columns as text without padding; decimal commas become points."""
    if kind == "records" and not metadata.separator:
        columns = [Column(v.name, v.start or 1, v.width or 1) for v in needed]
        try:
            encoding = encoding_of(path.read_bytes())
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error
        found = read_fixed(path, columns, encoding).arrow
        frame = pa.table({}) if found is None else found
    else:
        frame = _free(path, metadata).select([v.name for v in needed])
    for at, variable in enumerate(needed):
        if variable.roles & {"code", "tree"} or not _has_numbers(variable):
            continue
        points = pc.replace_substring(frame.column(at), ",", ".")
        frame = frame.set_column(at, variable.name, points)
    return frame


def _has_numbers(variable: Variable) -> bool:
    numbers = {"numeric", "weight", "frequency", "largest", "cost", "lower", "upper", "shadow"}
    numbers |= {"key"}
    return bool(variable.roles & numbers) or not variable.roles


def _free(path: Path, metadata: Metadata) -> pa.Table:
    """Text with separators; all columns, as text."""
    text = text_of(path)
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise InputError(f"{path}: holds no records")
    first = next(csv.reader(lines[:1], delimiter=metadata.separator))
    names = [variable.name for variable in metadata.variables]
    heads = [field.strip().casefold() for field in first[: len(names)]]
    if heads == [name.casefold() for name in names]:
        raise InputError(
            f"{path}: line 1 holds the names of the variables; files of τ-ARGUS begin with data, "
            "so remove this line"
        )
    if len(first) < len(names):
        fields, number = Count(len(first)), Count(len(names))
        raise InputError(
            f"{path}: the first line has {fields} {fields:field|fields}, and {metadata.path.name} "
            f"names {number} {number:variable|variables}; check the separator "
            f"{metadata.separator!r}"
        )
    if spans_lines([text.encode()]):
        check_quotes(path, io.StringIO(text, newline=""), metadata.separator, len(first))
    # trailing separators and columns that the metadata do not name are passed over
    taken = {name.casefold() for name in names}
    spare = [f"spare {i}" for i in range(len(first) - len(names))]
    columns = names + [f"{name} " if name in taken else name for name in spare]
    try:
        frame = arrow_csv.read_csv(
            io.BytesIO("\n".join(lines).encode()),
            arrow_csv.ReadOptions(column_names=columns),
            arrow_csv.ParseOptions(delimiter=metadata.separator),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException as error:
        for line, fields in numbered(io.StringIO(text, newline=""), metadata.separator):
            if fields != len(first):
                raise InputError(
                    f"{path}, line {line}: {fields} {Count(fields):field|fields} with "
                    f"{metadata.separator!r} between them, and the first line has {len(first)}; "
                    "every record needs as many"
                ) from error
        raise InputError(
            f"{path}: cannot be read with the separator {metadata.separator!r} and "
            f"{len(first)} fields in every line ({error})"
        ) from error
    trimmed = [pc.utf8_trim_whitespace(column) for column in frame.columns]
    empty = pa.scalar(None, pa.string())
    return pa.table(
        {
            name: pc.if_else(pc.equal(column, ""), empty, column)
            for name, column in zip(columns, trimmed, strict=True)
        }
    )


def line_of(path: Path, record: int) -> int:
    """The line of a record; empty ones are passed over."""
    lines = text_of(path).split("\n")
    return [number for number, line in enumerate(lines, start=1) if line.strip()][record]


@contextmanager
def in_lines(path: Path, frame: pa.Table, begin: str) -> Generator[None]:
    """Errors about single records say in which line of their file these are.

    `frame`: the records as they were read. `begin`: what messages begin with, if anything.
    """
    try:
        yield
    except RecordError as error:
        raise error.placed(
            Place(
                begin,
                lambda record: f"line {line_of(path, record)}",
                lambda column, values: first_record(frame, column, values),
            )
        ) from error.__cause__
