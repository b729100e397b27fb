"""Records on an engine: how they are asked, which of them count, which cannot be used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from sqlglot.expressions import Select

from diskret.engines import columns, sql
from diskret.engines.cells import told
from diskret.engines.codes import MOST_CELLS, MOST_CODES, refuse_too_many, spellings_of_codes
from diskret.engines.columns import Check, Column, Reading, counted
from diskret.engines.contract import PlacedValues
from diskret.errors import InputError
from diskret.hierarchy.codes import some
from diskret.io.columns import no_column
from diskret.io.record_errors import RecordError
from diskret.population import Bounds, Population

_LARGEST_FLOAT = "1.7976931348623157E308"
_FLOAT_DIGITS = 15  # numbers with so many digits that differ are different floats


class Records(Protocol):
    """Records on an engine: the relation ``source`` with the columns ``c0 …``."""

    @property
    def columns(self) -> Sequence[Column]:
        """What ``source`` holds."""
        ...

    def fetch(self, query: Select) -> pa.Table:
        """Run a query."""
        ...

    def stream(self, query: Select) -> pa.RecordBatchReader:
        """Run a query whose answer may be large."""
        ...

    def placed_values(self, query: Select, rows: int) -> Iterator[PlacedValues]:
        """Run a query for cells at positions ``at`` with a ``value``, both whole numbers.

        All cells of positions below a multiple of `rows` come before all others.
        """
        ...

    def attach(self, name: str, table: pa.Table) -> None:
        """Make a small table ``raw``, ``leaf`` known under a name, replacing an earlier one."""
        ...

    def survey(self, codes: Sequence[str], checks: Sequence[Check], where: str | None) -> Survey:
        """Which codes there are in some columns, and how many records fail each check."""
        ...

    def placed(self, shape: sql.Shape) -> sql.Shape:
        """The shape once ``m0 …`` are attached, as this engine best finds the leaf of a record."""
        ...

    def contributors(self, shape: sql.Shape, part: sql.SomeRecords) -> Contributors:
        """Contributors of one kind: those of a single leaf together, the others one by one."""
        ...


@dataclass(frozen=True, eq=False)
class Survey:
    """What the records hold in the columns that a question names.

    `codes`: for each column of codes its distinct values, ``raw``, with their numbers of
        ``records``; not all of them where they are more than `MOST_CODES`,
        or `MOST_CELLS` where the records have cells of a grid.
    `failed`: for each check the number of records that fail it.
    """

    codes: tuple[pa.Table, ...]
    failed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Contributors:
    """Contributors of one kind, as engines tell them; read by `contributions.read`.

    `stayers`: a row for each leaf, ascending: those who lie in it alone.
    `straddlers`: a row for each other contributor and leaf, sorted by both; contributors are
        numbered in the order of their identifiers: numbers by size, text by code points. None:
        each record is a contributor of its own.
    `conflicts`: how many of them have more than one record key.
    `unequal`: how many of them have more than one weight, if that was asked.
    """

    stayers: pa.Table
    straddlers: pa.Table | None
    conflicts: int = 0
    unequal: int = 0


def column_named(records: Records, name: str) -> Column:
    """The column that the user calls by a name."""
    for column in records.columns:
        if column.name == name:
            return column
    raise no_column(name, [column.name for column in records.columns])


def reader(
    records: Records,
) -> tuple[Callable[[str, Callable[[Column], Reading]], str], list[Check]]:
    """What reads a column of this name in some way, and the checks that it has met so far."""
    checks: list[Check] = []

    def read(name: str, how: Callable[[Column], Reading]) -> str:
        reading = how(column_named(records, name))
        checks.extend(reading.checks)
        return reading.expression

    return read, checks


def code_counts(records: Records, column: Column, where: str | None = None) -> pa.Table:
    """Distinct values of a dimension, ``raw``, with their numbers of ``records``; not too many.

    Of cells of a grid there is the id, too; records that lie in none are refused.
    """
    check(records, column.checks, where)
    most = MOST_CODES if column.cells is None else MOST_CELLS
    return told(column, records.fetch(sql.code_counts(columns.code(column), most + 1, where)))


def filtered(asked: Population, records: Records) -> str | None:
    """The condition on the records that count; what it names is attached."""
    conditions: list[str] = []
    for i, (name, wanted) in enumerate(asked):
        column = column_named(records, name)
        if isinstance(wanted, Bounds):
            reading = _within(column, wanted)
            check(records, reading.checks)
            conditions.append(reading.expression)
        else:
            code = columns.code(column)
            found = code_counts(records, column)
            refuse_too_many(name, found)
            records.attach(f"f{i}", spellings_of_codes(name, found, wanted))
            conditions.append(f"{code} IN (SELECT raw FROM f{i})")  # noqa: S608 - internal
    if not conditions:
        return None
    where = " AND ".join(conditions)
    if not records.fetch(sql.record_count(where))["records"][0].as_py():
        raise InputError(f"no record satisfies where=: {asked}")
    return where


def check(records: Records, checks: Sequence[Check], where: str | None = None) -> None:
    """Refuse records that cannot be read, with their number and examples."""
    if not checks:
        return
    counts = records.fetch(sql.check_counts(tuple(checks), where)).to_pylist()[0]
    refuse_failed(records, checks, [counts[f"n{i}"] for i in range(len(checks))], where)


def refuse_failed(
    records: Records, checks: Sequence[Check], failed: Sequence[int], where: str | None
) -> None:
    """Refuse records that fail a check, with their number and examples."""
    for check, number in zip(checks, failed, strict=True):
        if number:
            raise _failed(check, number, _found(records, sql.check_examples(check, where)))


def _failed(check: Check, number: int, found: Sequence[object]) -> RecordError:
    return RecordError(
        lambda _: f"{counted(number)}: {check.problem}{_shown(found)}; {check.remedied(found)}",
        (check.column.name, found),
    )


def examples(records: Records, query: Select) -> str:
    """The column ``example`` of an answer, in brackets; nothing if it is empty."""
    return _shown(_found(records, query))


def _found(records: Records, query: Select) -> list[object]:
    return [x for x in records.fetch(query)["example"].to_pylist() if x is not None]


def _shown(found: Sequence[object]) -> str:
    return f" ({some(list(map(repr, found)))})" if found else ""


def _within(column: Column, bounds: Bounds) -> Reading:
    """The condition that a number lies in bounds; nothing, NaN and infinity lie nowhere.

    Text and decimals are compared exactly, floats as floats.
    """
    if column.kind in ("other", "unusable"):
        raise InputError(
            f"where=: column {column.name!r} holds no numbers but {column.type}; give codes instead"
        )
    c, low, high = column.internal, bounds.min, bounds.max
    if column.kind == "integer":
        return Reading(
            _between(
                c,
                None if low is None else str(math.ceil(low)),
                None if high is None else str(math.floor(high)),
            )
        )
    lowest = None if low is None else f"{low:f}"
    highest = None if high is None else f"{high:f}"
    if column.kind == "float":
        long = [end for end in (low, high) if end and len(end.as_tuple().digits) > _FLOAT_DIGITS]
        if long:
            raise InputError(
                f"where=: the bound {long[0]:f} of column {column.name!r} has more than "
                f"{_FLOAT_DIGITS} digits, which floating point numbers cannot tell apart; round it"
            )
        x = f"CAST({c} AS DOUBLE)"
        ends = [None if end is None else f"CAST({end} AS DOUBLE)" for end in (lowest, highest)]
        return Reading(f"ABS({x}) <= {_LARGEST_FLOAT} AND {_between(x, *ends)}")
    text = f"TRIM({c})" if column.kind == "text" else c
    number = f"TRY_CAST({text} AS DECIMAL(38, 18))"
    unreadable, there = f"{number} IS NULL", f"NOT {c} IS NULL"
    if column.kind == "text":
        unreadable = f"({unreadable} OR POSITION('_' IN {text}) > 0)"
        there = f"NOT NULLIF({text}, '') IS NULL"
    problem = f"no numbers below 10^20 in column {column.name!r}, which where= bounds"
    check = Check(column, f"{there} AND {unreadable}", problem, "write 1234.5, not 1.234,5")
    return Reading(_between(number, lowest, highest), (check,))


def _between(x: str, low: str | None, high: str | None) -> str:
    parts = [f"{x} >= {low}"] if low is not None else []
    return " AND ".join([*parts, f"{x} <= {high}"] if high is not None else parts)
