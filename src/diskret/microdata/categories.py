"""Coarser categories (groups of values, codes of a higher level) and coarser dates."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.hierarchy.number_classes import number_text
from diskret.io import Coded
from diskret.io.kinds import is_number, is_text
from diskret.parameters import reading
from diskret.texts.numbers import Count

#: What remains of a date.
Period = Literal["month", "quarter", "year", "age"]


def texts(values: pa.Array) -> list[str]:
    """Categories as the codes of a tree write them: without padding, whole numbers plainly.

    >>> texts(pa.array([30.0, 31.0])), texts(pa.array([" a", "b"]))
    (['30', '31'], ['a', 'b'])
    """
    return [number_text(v) if isinstance(v, float) else str(v).strip() for v in values.to_pylist()]


def grouped(
    column: Coded, groups: Mapping[str, Sequence[str]], missing: str | None = None
) -> pa.ChunkedArray:
    """Give values a common name; those in no group stay.

    Parameters
    ----------
    column
        The variable.
    groups
        New value → old values, as text; every old one at most once.
    missing
        What missing values become; None: they stay missing.

    Returns
    -------
    pyarrow.ChunkedArray
        Whole numbers if the values were, and all new ones are; else text.

    Raises
    ------
    InputError
        A value is in two groups; or none of those named is in the variable.

    Examples
    --------
    >>> from diskret.io import coded
    >>> job = coded(pa.chunked_array([["cook", "baker", None, "judge"]]), "job")
    >>> grouped(job, {"food": ["cook", "baker"]}, missing="none").to_pylist()
    ['food', 'food', 'none', 'judge']
    """
    new_of: dict[str, str] = {}
    for new, olds in groups.items():
        for old in olds:
            if new_of.setdefault(old, new) != new:
                raise InputError(
                    f"groups= puts {old!r} of {column.name!r} into {new_of[old]!r} and {new!r}; "
                    "a value can only be in one group"
                )
    known = texts(column.categories)
    if new_of and not set(new_of) & set(known):
        raise InputError(
            f"none of the values that groups= names ({some([repr(old) for old in new_of])}) is in "
            f"{column.name!r}, whose values are {some([repr(code) for code in known])}"
        )
    return _named(column, [new_of.get(code, code) for code in known], missing)


def raised(column: Coded, tree: Hierarchy, level: int) -> pa.ChunkedArray:
    """Show the code of a tree above each value, `level` steps below the total.

    Values that lie higher up stay.

    Raises
    ------
    InputError
        A value is not in the tree, or the tree has no such level.

    Examples
    --------
    >>> from diskret.io import coded
    >>> town = coded(pa.chunked_array([["011", "02", "012"]]), "town")
    >>> raised(town, Hierarchy.from_prefix(["011", "012", "02"], (2, 1)), 1).to_pylist()
    ['01', '02', '01']
    """
    depth = int(tree.level.max())
    if not 0 <= level < depth:
        raise InputError(
            f"level= must be from 0 (the total alone) to {depth - 1}, not {level!r}: the codes of "
            f"this tree lie on the levels 0 to {depth}"
        )
    return _named(column, above(column, tree, level), None, text=True)


def above(column: Coded, tree: Hierarchy, level: int) -> list[str]:
    """For each category the code of a tree at most `level` steps below the total."""
    known = texts(column.categories)
    unknown = [repr(code) for code in known if code not in tree.position]
    if unknown:
        number = Count(len(unknown))
        raise InputError(
            f"{number} of {len(known):,} values of {column.name!r} {number:is|are} not in the "
            f"tree ({some(unknown)}); add them to it, or recode them first"
        )
    found: list[str] = []
    for code in known:
        at = tree.position[code]
        while tree.level[at] > level:
            at = int(tree.parent[at])
        found.append(tree.codes[at])
    return found


def _named(
    column: Coded, names: Sequence[str], missing: str | None, text: bool = False
) -> pa.ChunkedArray:
    """The column with a name for each category, in its own type where that is possible."""
    values = pa.array([*names, missing], pa.string())
    values = values if text else as_before(values, column.categories.type)
    at = np.where(column.codes < 0, len(names), column.codes)
    return pa.chunked_array([values.take(pa.array(at))])


def as_before(values: pa.Array, before: Any) -> pa.Array:
    """Text as whole numbers or long text if the column had these, and all values allow it."""
    if pa.types.is_large_string(before):
        return values.cast(before)
    if not is_number(before):
        return values
    try:
        numbers = values.cast(pa.int64())
        same = pc.equal(numbers.cast(pa.string()), values)
        return numbers.cast(before) if pc.all(same).as_py() is not False else values
    except pa.ArrowInvalid:
        return values


@reading
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
        if is_text(values.type):
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
        number = Count(late)
        raise InputError(
            f"{number} {number:date|dates} in {name!r} {number:lies|lie} after at={at!r}, which "
            "gives no age"
        )
    return ages
