"""Which records count: a filter by codes and by bounds, and the conditions it turns into."""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import pyarrow as pa

from diskret.engines import columns
from diskret.engines.columns import Check, Column, Reading
from diskret.errors import InputError
from diskret.hierarchy.codes import as_code, some

_TOO_LARGE = 10**20  # DECIMAL(38, 18) has 20 digits before the point
_DECIMALS = 18
_LARGEST_FLOAT = "1.7976931348623157E308"


@dataclass(frozen=True)
class Bounds:
    """Numbers from `min` to `max`, both included; None: no bound on that side."""

    min: Decimal | None
    max: Decimal | None

    def __str__(self) -> str:
        if self.max is None:
            return f"≥ {self.min:f}"
        return f"≤ {self.max:f}" if self.min is None else f"{self.min:f} to {self.max:f}"


#: A filter in its canonical form: columns in the order of their names, each once, with its
#: codes (sorted, none twice) or its bounds. Equal filters are equal values.
Where = tuple[tuple[str, tuple[str, ...] | Bounds], ...]


def canonical(where: Mapping[str, Any] | None) -> Where:
    """A filter as users write it, in its canonical form.

    Parameters
    ----------
    where
        Column → a code, several codes, or ``{"min": …, "max": …}`` with numbers (either may
        be None or left out). A record satisfies the filter if it does so in every column.

    Raises
    ------
    InputError
        What is asked of a column is neither; names the column.

    Examples
    --------
    >>> canonical({"year": 2025, "size": ["20+", "10-19"]})
    (('size', ('10-19', '20+')), ('year', ('2025',)))
    >>> told(canonical({"employees": {"min": 10, "max": None}}))
    'employees ≥ 10'
    """
    if where is not None and not isinstance(where, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"where= must be {{column: codes}}, not {type(where).__name__}")
    wanted = {name: _wanted(name, asked) for name, asked in (where or {}).items()}
    return tuple((name, wanted[name]) for name in sorted(wanted))


def told(where: Where) -> str:
    """A filter in words."""
    return ", ".join(
        f"{name} {wanted}" if isinstance(wanted, Bounds) else f"{name} = {' or '.join(wanted)}"
        for name, wanted in where
    )


def as_codes(where: Where) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A filter as columns with codes; bounds stand as one code in words.

    Examples
    --------
    >>> as_codes(canonical({"employees": {"min": 10}, "year": 2025}))
    (('employees', ('≥ 10',)), ('year', ('2025',)))
    """
    return tuple(
        (name, (str(wanted),) if isinstance(wanted, Bounds) else wanted) for name, wanted in where
    )


def disjoint(one: Where, other: Where) -> bool:
    """Whether no record can satisfy both: they ask for different codes of a column.

    Examples
    --------
    >>> disjoint(canonical({"year": "2024"}), canonical({"year": "2025", "size": "20+"}))
    True
    """
    theirs = dict(other)
    for name, wanted in one:
        asked = theirs.get(name)
        if isinstance(wanted, tuple) and isinstance(asked, tuple) and not {*wanted} & {*asked}:
            return True
    return False


# ── conditions ──────────────────────────────────────────────────────────────────────


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


# ── reading what users write ────────────────────────────────────────────────────────


def _wanted(name: str, asked: Any) -> tuple[str, ...] | Bounds:
    if isinstance(asked, Bounds):
        return asked
    if isinstance(asked, Mapping):
        return _bounds(name, asked)
    many = isinstance(asked, Iterable) and not isinstance(asked, (str, bytes))
    codes = {_code(name, code) for code in (asked if many else [asked])}
    if not codes:
        raise InputError(f"where=: no code is given for column {name!r}, so no record would count")
    return tuple(sorted(codes))


def _code(name: str, asked: Any) -> str:
    code = str(asked).lower() if isinstance(asked, bool) else as_code(asked)
    if not code:
        raise InputError(
            f"where=: {asked!r} is no code for column {name!r}; give text or a whole number, "
            "several of them, or {'min': …, 'max': …}"
        )
    return code


def _bounds(name: str, asked: Mapping[Any, Any]) -> Bounds:
    strange = [key for key in asked if key not in ("min", "max")]
    low, high = (_number(name, asked.get(key)) for key in ("min", "max"))
    if strange or (low is None and high is None):
        raise InputError(
            f"where=: bounds of column {name!r} are {{'min': number, 'max': number}}, at least one "
            f"of them, not {dict(asked)!r}"
        )
    if low is not None and high is not None and low > high:
        raise InputError(f"where=: no number in column {name!r} is both ≥ {low:f} and ≤ {high:f}")
    return Bounds(low, high)


def _number(name: str, asked: Any) -> Decimal | None:
    if asked is None:
        return None
    try:
        number = Decimal("NaN") if isinstance(asked, bool) else Decimal(str(asked))
    except InvalidOperation:
        number = Decimal("NaN")
    fits = number.is_finite() and abs(number) < _TOO_LARGE
    if not fits or (Fraction(number) * 10**_DECIMALS).denominator > 1:
        raise InputError(
            f"where=: the bound {asked!r} of column {name!r} is no number below 10^20 with at most "
            f"{_DECIMALS} decimals"
        )
    return number
