"""Codes are text: what a column of codes may hold, and what is said if it doesn't."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.errors import HierarchyError
from diskret.texts.numbers import Count


def as_codes(values: Iterable[Any], column: str, optional: bool = False) -> list[str]:
    """Make text of all values; null and blank are refused, or become "" if `optional`."""
    given = as_list(values)
    codes = [as_code(value) for value in given]
    wrong = [i for i, code in enumerate(codes) if code is None]
    if wrong:
        remedy = "convert them to text"
        if any(isinstance(given[i], (float, np.floating)) for i in wrong):
            remedy = (
                "pandas turns a whole-number column with gaps into floats: convert it with "
                'astype("Int64"), or read it as text so that leading zeros stay'
            )
        number = Count(len(wrong))
        raise HierarchyError(
            f"{number} of {len(codes)} values of {column!r} "
            f"{number:is neither text nor a whole number|are neither text nor whole numbers} "
            f"({some([f'{given[i]!r} in row {i + 1}' for i in wrong])}); {remedy}"
        )
    blank = [str(i + 1) for i, code in enumerate(codes) if code == ""]
    if blank and not optional:
        number = Count(len(blank))
        raise HierarchyError(
            f"{number} of {len(codes)} values of {column!r} {number:is|are} null or blank (row "
            f"{some(blank)}); give them a code or leave them out"
        )
    return [code or "" for code in codes]


def as_list(values: Iterable[Any]) -> list[Any]:
    """List the values as Python objects, which iterating over Arrow would not give."""
    if not isinstance(values, Iterable):
        raise HierarchyError(f"codes must be a list of codes, not {values!r}")
    arrow: Any = values
    return arrow.to_pylist() if isinstance(arrow, (pa.Array, pa.ChunkedArray)) else list(values)


def as_code(value: Any) -> str | None:
    """Make text without padding of one value: "" of null, None of what can be no code."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    # pandas.NA is told by its name: pandas is optional, and NA cannot be compared.
    if value is None or type(value).__name__ == "NAType":
        return ""
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return ""
    return None


def total_code(total: object, codes: Collection[str]) -> str:
    """Make text of the code of the total, which must not be one of `codes`."""
    code = as_code(total)
    if not code:
        raise HierarchyError(f"the code of the total must be text and not blank, not {total!r}")
    if code in codes:
        raise HierarchyError(
            f"the code {code!r} is also the code of the total; "
            'give the total another one, e.g. total="All"'
        )
    return code


def padded(codes: Iterable[str], known: Iterable[str]) -> str:
    """What a message says of codes that a program made numbers of, so that zeros were lost.

    >>> padded(["1", "20"], ["01", "02", "20"])
    "the hierarchy has '01': were leading zeros lost? Read or save the column as text; "
    >>> padded(["01"], ["1", "20"])
    "the hierarchy has '1': were its leading zeros lost? Read or save its codes as text; "
    """
    codes, known = list(codes), set(known)
    by_number = {code.lstrip("0"): code for code in known if code.startswith("0")}
    found = next((by_number[code] for code in codes if code in by_number), None)
    if found is not None:
        return (
            f"the hierarchy has {found!r}: were leading zeros lost? Read or save the column as "
            "text; "
        )
    shorter = (code.lstrip("0") for code in codes if code.startswith("0"))
    found = next((code for code in shorter if code in known), None)
    if found is not None:
        return (
            f"the hierarchy has {found!r}: were its leading zeros lost? Read or save its codes as "
            "text; "
        )
    return ""


def some(items: Sequence[str]) -> str:
    """List up to five examples for an error message."""
    return ", ".join(items[:5]) + (", …" if len(items) > 5 else "")
