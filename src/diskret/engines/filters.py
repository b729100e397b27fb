"""The conditions on records that a population turns into."""

from __future__ import annotations

import difflib
import math
import warnings

import pyarrow as pa

from diskret.engines import columns
from diskret.engines.columns import Check, Column, Reading
from diskret.errors import InputError
from diskret.hierarchy.codes import as_code, some
from diskret.population import Bounds

_LARGEST_FLOAT = "1.7976931348623157E308"
_FLOAT_DIGITS = 15  # numbers with so many digits that differ are different floats


def having_codes(column: Column, number: int) -> str:
    """The condition that the code is in the relation ``f0 …`` of this number."""
    return f"{columns.code(column)} IN (SELECT raw FROM f{number})"  # noqa: S608 - internal


def spellings(name: str, found: pa.Table, codes: tuple[str, ...]) -> pa.Table:
    """The distinct values of a column that are spellings of codes, e.g. with blanks around.

    Parameters
    ----------
    name
        The column, for messages.
    found
        Column ``raw`` with a row for each distinct value, text or whole numbers.
    codes
        The codes a filter asks for.

    Returns
    -------
    pyarrow.Table
        The columns ``raw`` and ``leaf``, which is 0.

    Raises
    ------
    InputError
        None of the codes occurs. If only some do, there is a warning.
    """
    read = [as_code(value) for value in found["raw"].to_pylist()]
    missing = [code for code in codes if code not in read]
    if missing:
        there = sorted({code for code in read if code})
        near = difflib.get_close_matches(missing[0], there, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"it holds {some([*map(repr, there)])}"
        problem = (
            f"where=: column {name!r} holds no record with {some([*map(repr, missing)])}; {hint}"
        )
        if len(missing) == len(codes):
            raise InputError(problem)
        warnings.warn(problem, stacklevel=2)
    mask = pa.array([code in codes for code in read], pa.bool_())
    raw = found["raw"].filter(mask)
    return pa.table({"raw": raw, "leaf": pa.array([0] * len(raw), pa.int32())})


def within(column: Column, bounds: Bounds) -> Reading:
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
