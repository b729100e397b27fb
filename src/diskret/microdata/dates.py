"""Coarser dates: months, quarters, years, ages."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from datetime import date
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError

#: What remains of a date.
Period = Literal["month", "quarter", "year", "age"]


def shortened(
    values: pa.ChunkedArray, name: str, period: Period, at: str | None = None
) -> pa.ChunkedArray:
    """What remains of dates: ``2024-03``, ``2024-Q1``, 2024, or completed years at a date.

    Parameters
    ----------
    values
        Dates, times, or text such as ``2024-03-31``.
    name
        Of the variable.
    period
        ``"month"``, ``"quarter"``, ``"year"`` or ``"age"``.
    at
        For ages: the date at which they are reached, ``YYYY-MM-DD``.

    Returns
    -------
    pyarrow.ChunkedArray
        Text for months and quarters, whole numbers for years and ages.

    Raises
    ------
    InputError
        Values are no dates, the period is unknown, `at` is missing, not needed, or before
        a date of birth.

    Examples
    --------
    >>> born = pa.chunked_array([["1990-06-30", None, "2001-12-01"]])
    >>> shortened(born, "born", "quarter").to_pylist()
    ['1990-Q2', None, '2001-Q4']
    >>> shortened(born, "born", "age", at="2024-06-30").to_pylist()
    [34, None, 22]
    """
    if period not in ("month", "quarter", "year", "age"):
        raise InputError(f"period= must be 'month', 'quarter', 'year' or 'age', not {period!r}")
    dates = _dates(values, name)
    if period == "age":
        return _ages(dates, name, at)
    if at is not None:
        raise InputError("at= is the date at which ages are reached; it is for period='age' only")
    if period == "year":
        return pc.year(dates)
    if period == "month":
        return pc.strftime(dates, format="%Y-%m")
    year, quarter = pc.year(dates).cast(pa.string()), pc.quarter(dates).cast(pa.string())
    return pc.binary_join_element_wise(year, quarter, "-Q")


def _dates(values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return values
    try:
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            return values.cast(pa.timestamp("s")).cast(pa.date32())
    except pa.ArrowInvalid as error:
        raise InputError(f"{name!r} holds text that is no date ({error})") from None
    raise InputError(
        f"{name!r} holds no dates ({values.type}); turn it into dates, or into text such as "
        "2024-03-31"
    )


def _ages(dates: pa.ChunkedArray, name: str, at: str | None) -> pa.ChunkedArray:
    try:
        then = date.fromisoformat(at or "")
    except ValueError:
        raise InputError(
            f"an age is reached at a date: give it as at='2024-12-31', not {at!r}"
        ) from None
    day = pc.add(pc.multiply(pc.month(dates), 100), pc.day(dates))
    had_birthday = pc.less_equal(day, then.month * 100 + then.day)
    years = pc.subtract(then.year, pc.year(dates))
    ages = pc.if_else(had_birthday, years, pc.subtract(years, 1))
    late = pc.sum(pc.less(ages, 0)).as_py()
    if late:
        raise InputError(f"{late:,} dates in {name!r} lie after at={at!r}, which gives no age")
    return ages
