"""How the columns of the records are read: codes, identifiers, exact values, record keys.

Expressions are portable SQL text over internal column names, so case, quoting and reserved
words of the user's own names never matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from diskret.errors import InputError
from diskret.io.cells import ComputedCells
from diskret.io.columns import AS_THE_FILE_DOES, OF_THOUSANDS, decimals_advice
from diskret.io.record_errors import RecordError
from diskret.texts.numbers import Count

Kind = Literal["text", "integer", "decimal", "float", "other", "cell", "unusable"]

INT64 = 2**63 - 1
_FLOAT = 2**53  # beyond it neighbouring whole numbers share one float64
_WEIGHT_DECIMALS = 9  # so that the product of two units of weight fits 64 bits
_DECIMALS = 18  # 10**18 is the largest power of ten that fits 64 bits

#: What to do about records in which a number is missing.
FILL_IN = "fill it in, or leave such records out"
#: What to do about texts that are no numbers: written otherwise, or none.
_AS_NUMBERS = f"write 1234.5, not 1.234,5 or 1_234.5, {AS_THE_FILE_DOES}"
_NO_NUMBERS = "put numbers in their place, leave such records out, or name the column of numbers"
_NUMBER = re.compile(r"\s*[+-]?[\d.,_ '\u2019\xa0\u202f]*\d[\d.,_ '\u2019\xa0\u202f]*\s*")


@dataclass(frozen=True)
class Column:
    """A column of the records.

    `name`: as the user wrote it.
    `internal`: as the engine knows it, e.g. ``c3``.
    `kind`: what can be done with it: ``"other"`` has a text form (dates, booleans), ``"unusable"``
        has none (lists, bytes); a ``"cell"`` of a grid is computed.
    `type`: the engine's name of its type, for messages.
    `cells`: what the numbers of cells mean. `checks`: what must hold for them to be right.
    """

    name: str
    internal: str
    kind: Kind
    type: str
    cells: ComputedCells | None = None
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Check:
    """A condition that is true for unusable records, and what is wrong with them.

    The `problem` is told as "1,234 records: no value in column 'turnover' …".
    """

    column: Column
    wrong: str
    problem: str
    remedy: str
    decimals: int | None = None

    def remedied(self, examples: Iterable[object]) -> str:
        """What to do about some examples."""
        if self.remedy == _AS_NUMBERS and not any(_NUMBER.fullmatch(str(one)) for one in examples):
            return _NO_NUMBERS
        return self.remedy if self.decimals is None else decimals_advice(examples, self.decimals)


@dataclass(frozen=True)
class Reading:
    """The expression that reads a column, and what must hold for it to be right."""

    expression: str
    checks: tuple[Check, ...] = ()


def coded(column: Column) -> Reading:
    """Read a dimension, computed or not."""
    return Reading(code(column), column.checks)


def code(column: Column) -> str:
    """Read a dimension; distinct values are text or whole numbers."""
    if column.kind == "cell":
        return column.internal
    _refuse_unusable(column, "codes")
    if column.kind == "float":
        raise RecordError(
            lambda _: (
                f"column {column.name!r} holds floating point numbers ({column.type}), which have "
                "no unique spelling as codes; turn them into text or whole numbers first"
            )
        )
    if column.kind in ("text", "integer"):
        return column.internal
    return f"CAST({column.internal} AS VARCHAR)"


def key(column: Column) -> Reading:
    """Read a key variable as text or whole numbers; null and NaN are missing.

    Nothing is trimmed. Dates, times and logical values become text.
    """
    _refuse_unusable(column, "categories")
    c = column.internal
    if column.kind == "other":
        return Reading(f"CAST({c} AS VARCHAR)")
    if column.kind in ("text", "integer"):
        return Reading(c)
    # frames without nullable integers turn whole numbers with gaps into floats
    most, odd = (INT64, "") if column.kind == "decimal" else (_FLOAT, f" AND {_not_nan(c)}")
    whole = f"ABS({c}) <= {most} AND {c} = FLOOR({c})"
    problem = f"numbers with decimals, which are no categories, in column {column.name!r}"
    remedy = "recode them into classes first"
    check = Check(column, f"NOT ({whole}){odd}", problem, remedy)
    return Reading(f"CASE WHEN ABS({c}) <= {most} THEN CAST({c} AS BIGINT) END", (check,))


def identifier(column: Column, required: bool) -> Reading:
    """Read a unit or holding; padding does not count and blank text is missing."""
    _refuse_unusable(column, "identifiers")
    c = column.internal
    checks: list[Check] = []
    if required:
        checks.append(_missing(column, "identify them, or leave such records out"))
    if column.kind == "text":
        return Reading(_blank_is_null(column), tuple(checks))
    if column.kind == "float":
        # frames without nullable integers turn whole numbers with gaps into floats
        whole = f"ABS({c}) < {_FLOAT} AND {c} = FLOOR({c})"
        problem = f"floating point numbers that identify nothing in column {column.name!r}"
        remedy = "give identifiers as text or whole numbers"
        checks.append(Check(column, f"NOT ({whole})", problem, remedy))
        return Reading(f"CAST({c} AS BIGINT)", tuple(checks))
    return Reading(c, tuple(checks))


def value(column: Column, decimals: int, rounded: bool = False) -> Reading:
    """Read a value as a whole number of units of ``10**-decimals``, exactly, or `rounded`.

    Floats hold decimal fractions only nearly: they must be within ``1e-6 + 4e-16·|x|`` of a
    whole number ``x`` of units. Text and decimals must be exact, to the 18th decimal.
    """
    if not 0 <= decimals <= _DECIMALS:
        raise InputError(
            f"decimals={decimals} for column {column.name!r}; it must be from 0 to {_DECIMALS}"
        )
    finer = (
        f"with more than {decimals} {Count(decimals):decimal|decimals}"
        if decimals
        else "with decimals"
    )
    problem = f"values that are not finite, too large or {finer} in column {column.name!r}"
    remedy = "state decimals=, or round them first"
    return _whole(column, 10**decimals, (-INT64, INT64), problem, remedy, decimals, rounded)


def weight(column: Column, decimals: int) -> Reading:
    """Read a sampling weight ≥ 1 as a whole number of units of ``10**-decimals``, exactly."""
    if not 0 <= decimals <= _WEIGHT_DECIMALS:
        raise InputError(
            f"weight_decimals={decimals} for column {column.name!r}; it must be from 0 to "
            f"{_WEIGHT_DECIMALS}"
        )
    finer = (
        f"with more than {decimals} {Count(decimals):decimal|decimals}"
        if decimals
        else "with decimals"
    )
    problem = f"weights that are below 1, not finite, too large or {finer} in column "
    remedy = "a record stands at least for itself; state weight_decimals=, or round them first"
    bounds = 10**decimals, INT64
    return _whole(column, 10**decimals, bounds, f"{problem}{column.name!r}", remedy)


def sampling_weight(column: Column, decimals: int) -> Reading:
    """Read a sampling weight > 0 as a whole number of units of ``10**-decimals``, rounded.

    Weights are estimates with as many digits as a program happened to write: rounding them to
    whole units makes their sums exact, and so the same on every engine.
    """
    _refuse_unusable(column, "numbers")
    if column.kind == "other":
        raise RecordError(lambda _: f"column {column.name!r} holds no numbers but {column.type}")
    problem = f"weights that are no numbers above 0 in column {column.name!r}"
    remedy = "a weight says how many persons of the population a record stands for"
    c, unit, most = column.internal, 10**decimals, INT64 // 10**decimals
    missing = _missing(column, FILL_IN)
    if column.kind == "integer":
        check = Check(column, f"NOT {c} BETWEEN 1 AND {most}", problem, remedy)
        return Reading(f"CAST({c} AS BIGINT) * {unit}", (missing, check))
    number = f"TRY_CAST(TRIM({c}) AS DECIMAL(38, 18))" if column.kind == "text" else c
    # the unit comes first: to multiply decimals exactly, as values are, is not wanted here
    x = f"(CAST({unit} AS DOUBLE) * CAST({number} AS DOUBLE))"
    # rounding as engines do it differs between them where a number lies halfway
    rounded = f"FLOOR({x} + 0.5)"
    # NaN and infinity are greater than every number, so this refuses them
    right = f"COALESCE({x} >= 0.5 AND {x} <= {most * unit}, FALSE)"
    if column.kind == "text":  # as for values
        right += f" AND POSITION('_' IN {c}) = 0"
    check = Check(column, f"NOT ({right})", problem, remedy)
    return Reading(f"CAST({rounded} AS BIGINT)", (missing, check))


def record_key(column: Column, modulus: int, digits: int | None = None) -> Reading:
    """Read a record key, a whole number in ``[0, modulus)``, or a decimal in [0, 1)."""
    if not 1 <= modulus <= INT64:
        raise InputError(f"the modulus of record keys is {modulus}; it must be from 1 to 2^63 - 1")
    problem = f"record keys that are no whole numbers from 0 to {modulus - 1:,} in {column.name!r}"
    remedy = (
        "state the modulus the keys were made with; of decimals in [0, 1) state how many digits "
        "they have: key_digits="
    )
    if digits is not None:
        problem = (
            f"record keys that are no decimals of at least 0 and below 1 with at most {digits} "
            f"{Count(digits):digit|digits} in {column.name!r}"
        )
        remedy = (
            "state as many key_digits= as the keys were made with; of keys with more digits than a "
            "file can hold exactly keep some by diskret.keys.scaled_keys"
        )
        return _whole(column, 10**digits, (0, 10**digits - 1), problem, remedy)
    return _whole(column, 1, (0, modulus - 1), problem, remedy)


def _whole(
    column: Column,
    unit: int,
    bounds: tuple[int, int],
    problem: str,
    remedy: str,
    decimals: int | None = None,
    rounded: bool = False,
) -> Reading:
    _refuse_unusable(column, "numbers")
    if column.kind == "other":
        raise RecordError(lambda _: f"column {column.name!r} holds no numbers but {column.type}")
    c = column.internal
    low, high = bounds
    # keys below 1: what is in the last unit is looked at below
    within = f"BETWEEN {-(-low // unit)} AND {high // unit or 1}"
    checks = [_missing(column, FILL_IN)]

    if column.kind == "integer":
        checks.append(
            Check(column, f"NOT {c} BETWEEN {-(-low // unit)} AND {high // unit}", problem, remedy)
        )
        return Reading(f"CAST({c} AS BIGINT) * {unit}", tuple(checks))

    if column.kind == "float":
        x = f"(CAST({c} AS DOUBLE) * CAST({unit} AS DOUBLE))"
        slack = "1e-6 + " if high >= unit else ""
        near = f"ABS({x} - ROUND({x})) <= {slack}4e-16 * ABS({x})"
        # NaN and infinity are greater than every number, so the first comparison refuses them
        right = f"ABS({x}) < {_FLOAT} AND ROUND({x}) BETWEEN {low} AND {high}"
        right = right if rounded else f"{right} AND {near}"
        checks.append(Check(column, f"NOT ({right})", problem, remedy, decimals))
        if rounded:
            up = f"CASE WHEN {x} - FLOOR({x}) >= 0.5 THEN 1 ELSE 0 END"
            return Reading(f"CAST(FLOOR({x}) AS BIGINT) + {up}", tuple(checks))
        return Reading(f"CAST(ROUND({x}) AS BIGINT)", tuple(checks))

    text = f"TRIM({c})" if column.kind == "text" else c
    number = f"TRY_CAST({text} AS DECIMAL(38, 18))"
    if column.kind == "text":
        # engines read 1_234 as a number; a statistician would not
        unreadable = f"{number} IS NULL OR POSITION('_' IN {text}) > 0"
        what = f"texts that are no numbers below 10^20 in column {column.name!r}"
        checks.append(Check(column, unreadable, what, _AS_NUMBERS))
        if decimals is not None and decimals < 3 and not rounded:
            # 1.234 is refused below as a fraction; 2.000 would pass as 2
            doubtful = f"{text} LIKE '%.000' AND ABS({number}) BETWEEN 1 AND 999"
            what = f"numbers that may be thousands, as 2.000, in column {column.name!r}"
            checks.append(Check(column, doubtful, what, OF_THOUSANDS))
    if rounded:
        wrong = f"NOT COALESCE({number} {within}, FALSE)"
        checks.append(Check(column, wrong, problem, remedy, decimals))
        return Reading(f"CAST(FLOOR({number} * {unit} + 0.5) AS BIGINT)", tuple(checks))
    x = f"CASE WHEN {number} {within} THEN {number} * {unit} END"
    below = "" if high >= unit else f" AND {x} <= {high}"
    wrong = f"NOT COALESCE({x} = FLOOR({x}){below}, FALSE)"
    checks.append(Check(column, wrong, problem, remedy, decimals))
    return Reading(f"CAST({number} * {unit} AS BIGINT)", tuple(checks))


def counted(records: int) -> str:
    """Say how many records."""
    return "1 record" if records == 1 else f"{records:,} records"


def _missing(column: Column, remedy: str) -> Check:
    empty = _blank_is_null(column) if column.kind == "text" else column.internal
    return Check(column, f"{empty} IS NULL", f"nothing in column {column.name!r}", remedy)


def _not_nan(c: str) -> str:
    return f"{c} <> CAST('NaN' AS DOUBLE)"  # which equals itself in engines


def _blank_is_null(column: Column) -> str:
    return f"NULLIF(TRIM({column.internal}), '')"


def _refuse_unusable(column: Column, use: str) -> None:
    if column.kind in ("cell", "unusable"):
        raise RecordError(
            lambda _: f"column {column.name!r} has the type {column.type}, which gives no {use}"
        )
