"""Perturbation tables that somebody wrote down: read exactly, and checked. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.intervals import Intervals, check_not_below_zero, upper_bounds
from diskret.errors import InputError
from diskret.io.arrays import from_list

#: A number as it is written: a floating point number means the shortest decimal that is read
#: as this number, so that 0.86 is 86/100.
Written = float | int | str | Decimal | Fraction


def exact(number: Written) -> Fraction:
    """The number that was written."""
    try:
        return Fraction(repr(float(number)) if isinstance(number, float) else number)
    except (ValueError, OverflowError, TypeError):
        raise InputError(f"{number!r} is not a number; write 0.25, not 0,25") from None


def rows_of(rows: Sequence[Sequence[Written]]) -> list[list[Written]]:
    """The rows of a matrix that was written down, at least one."""
    try:
        found = [list(row) for row in rows if not isinstance(row, str)]
    except TypeError:
        found = []
    if not found or len(found) < len(rows):
        raise InputError("a matrix has one row or more, each a list of numbers: [[0.5, 0, 0.5]]")
    return found


def columns_of(
    width: int, noise: Sequence[int] | None, targets: Sequence[int] | None
) -> tuple[NDArray[np.int64], bool]:
    """What the columns of a matrix stand for, and whether these are targets."""
    if (noise is None) == (targets is None):
        raise InputError("say what the columns are: noise= or targets= (what a count becomes)")
    names = "targets" if noise is None else "noise"
    named = np.atleast_1d(from_list(targets if noise is None else noise, names, np.int64))
    if len(named) != width or (np.diff(named) <= 0).any():
        shown = ", ".join(str(n) for n in named)
        raise InputError(f"{width} columns need as many ascending names; these are {shown}")
    return named, targets is not None


def probabilities_of(
    rows: Sequence[Sequence[Written]],
    named: NDArray[np.int64],
    are_targets: bool,
    incomplete: bool,
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Noise values and probabilities of the rows of 0, 1, 2, …, after all checks."""
    matrix = [[exact(p) for p in row] for row in rows]
    noise = np.unique(np.append(named - np.arange(1, len(rows) + 1)[:, None], 0))
    noise = noise if are_targets else np.unique(np.append(named, 0))
    allowed = exact(tolerance)
    found = np.zeros((len(rows) + 1, len(noise)))
    found[0, noise == 0] = 1
    for count, row in enumerate(matrix, start=1):
        values = [int(v) for v in (named - count if are_targets else named)]
        total = _total(count, row, values, incomplete, allowed)
        if total == 1 or abs(total - 1) > allowed:
            total = Fraction(1)  # nothing to make up for, or a row known to be incomplete
        for value, p in zip(values, row, strict=True):
            found[count, np.searchsorted(noise, value)] = float(p / total)
    used = found.any(axis=0)
    return noise[used], found[:, used]


def of_cumulative(
    rows: Sequence[Sequence[Written]], noise: Sequence[int], modulus: int
) -> Intervals:
    """Intervals of the rows of 1, 2, … from their cumulative probabilities."""
    rows = rows_of(rows)
    named, _ = columns_of(len(rows[0]), noise, None)
    found = [(upper_bounds([Fraction(1)], modulus), np.zeros(1, dtype=np.int64))]
    for count, row in enumerate(rows, start=1):
        upper = [exact(p) for p in row]
        check_width(count, len(upper), len(named))
        if upper != sorted(upper) or upper[0] < 0 or upper[-1] != 1:
            raise InputError(f"cumulative probabilities must ascend to 1; not so in row {count}")
        bounds = upper_bounds(upper, modulus)
        check_not_below_zero(count, named[np.diff(bounds, prepend=np.uint64(0)) > 0])
        found.append((bounds, named))
    return Intervals.of(np.arange(len(found)), modulus, found)


def check_width(count: int, has: int, needed: int) -> None:
    """A row is as long as the others."""
    if has != needed:
        raise InputError(f"row {count} has {has} entries; there are {needed} columns")


def _total(
    count: int, row: list[Fraction], values: list[int], incomplete: bool, allowed: Fraction
) -> Fraction:
    """Sum of a row that may be used."""
    check_width(count, len(row), len(values))
    if min(row) < 0:
        raise InputError(f"probabilities must not be negative; one of row {count} is")
    total = sum(row, Fraction(0))
    short = 1 - total > allowed
    if total - 1 > allowed or (short and not incomplete):
        remedy = "; if it was not printed in full, incomplete=True takes it as it is" * short
        raise InputError(
            f"probabilities must sum up to 1; those of row {count} sum up to {float(total):g}"
            + remedy
        )
    check_not_below_zero(count, np.array([v for v, p in zip(values, row, strict=True) if p]))
    mean = sum((v * p for v, p in zip(values, row, strict=True)), Fraction(0))
    if not short and abs(mean) > allowed:
        raise InputError(
            f"noise must have the mean 0; that of row {count} is {float(mean):g}, which would bias "
            "what is published; correct the row, or raise tolerance= if its numbers are rounded"
        )
    return total
