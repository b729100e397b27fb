"""Counts of a file of cells that are not exact: rounded ones, and weighted ones in their place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import AdditivityError, InputError
from diskret.io.columns import numbers, whole_numbers
from diskret.io.record_errors import RecordError
from diskret.tables.add_up import add_up, leaf_mask
from diskret.tables.dimension import Dimension
from diskret.texts.numbers import Count

_LEAST_BASE = 3


def check_within(within: object, value: str | None, count: str | None) -> None:
    """Refuse what `count_within` cannot be, and a table whose only values are inexact counts."""
    if isinstance(within, bool) or not isinstance(within, int) or within < 0:
        raise InputError(f"count_within= must be a whole number of at least 0, not {within!r}")
    if not within:
        return
    if count is None:
        raise InputError("count_within= is about the column of counts; name it with count=")
    if value is None:
        raise InputError(
            "count_within= is for counts that judge sums; a table of rounded counts is protected "
            "by its rounding, and what it still shows cannot be judged by counts that nobody "
            "knows. Give the true counts, or audit the published table: audit(frequency=True, "
            "rounding=…)"
        )


def counts(values: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Whole numbers ≥ 0; says what to do about weighted ones."""
    try:
        return whole_numbers(values, name)
    except InputError:
        try:
            found = numbers(values, name)
        except InputError:
            found = np.zeros(0)
        broken = np.flatnonzero(np.isfinite(found) & (found != np.floor(found)))
        if not len(broken):
            raise
        number = Count(len(broken))
        raise RecordError(
            lambda place: (
                f"{number} {number:count|counts} in {name!r} {number:is|are} not whole, the first "
                f"in {place.named(broken[0])}: {float(found[broken[0]])!r}. A weighted count is a "
                "sum of weights: name it in value=, with its decimals=, and in count= the column "
                "of the unweighted count, which frequency rules look at; without one no rule can "
                "count contributors"
            )
        ) from None


def maybe_rounded(error: AdditivityError, given: NDArray[np.int64], name: str) -> AdditivityError:
    """The error, and where all counts are multiples of a number what that may mean."""
    base = int(np.gcd.reduce(given)) if len(given) else 0
    if base < _LEAST_BASE:
        return error
    return AdditivityError(
        f"{error}; all counts in {name!r} are multiples of {base}: if they were rounded, say how "
        f"far a true count may lie from them, count_within={base // 2} if to the nearest, "
        f"{base - 1} if at random"
    )


def least_counts(
    dimensions: tuple[Dimension, ...],
    at: NDArray[np.int64],
    given: NDArray[np.int64],
    within: int,
    filled: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The least number of contributors that each cell can have, shape of the table.

    Where something is added up (`filled`) or the count is not 0 there is one at least, and a total
    has as many as its parts have at least.
    """
    shown = np.zeros(filled.shape, dtype=np.int64)
    shown.ravel()[at] = given
    there = filled | (shown > 0)
    own = np.where(there, np.maximum(shown - within, 1), 0)
    inner = np.where(leaf_mask(dimensions), own, 0)
    return np.maximum(own, add_up(inner, [d.hierarchy for d in dimensions]))
