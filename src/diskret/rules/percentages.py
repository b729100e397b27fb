"""Percentages of integers, and comparisons of such shares without rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

#: Levels and values stay below this.
LARGEST = 2**62
_LEAST, _MOST = Fraction(1, 10**12), Fraction(10**5)
_SHOWN = 20


def percentage(value: float | int | str | Fraction, name: str) -> Fraction:
    """A percentage as an exact fraction of 1; ``0.1`` means exactly one tenth of a percent."""
    try:
        share = Fraction(str(value)) / 100
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if share <= 0:
        raise InputError(f"{name} must be a number above 0 (a percentage), not {value!r}")
    if not _LEAST <= share <= _MOST:
        raise InputError(
            f"{name} must be a percentage from {float(_LEAST * 100):g} to "
            f"{float(_MOST * 100):g}, not {str(value)[:_SHOWN]}"
        )
    return share


def linear(terms: list[tuple[int, NDArray[np.int64]]]) -> NDArray[np.object_] | NDArray[np.int64]:
    """The sum of integer multiples of integer arrays, in 64 bits where that suffices."""
    bound = sum(abs(factor) * int(np.abs(array).max(initial=0)) for factor, array in terms)
    if bound < LARGEST:
        return sum((factor * array for factor, array in terms), np.int64(0))  # type: ignore[return-value]
    return sum((factor * array.astype(object) for factor, array in terms), 0)  # type: ignore[return-value]


def percent_of(
    values: NDArray[np.int64], percent: float | int | str | Fraction, name: str
) -> NDArray[np.int64]:
    """So many percent of integers, rounded up."""
    share = percentage(percent, name)
    return ceil_divide(linear([(share.numerator, values)]), share.denominator)


def ceil_divide(
    numerator: NDArray[np.object_] | NDArray[np.int64], by: int | NDArray[np.int64]
) -> NDArray[np.int64]:
    """Quotients of integers rounded up."""
    quotient = -(-numerator // by)
    if quotient.dtype == object and quotient.size and np.abs(quotient).max() >= LARGEST:
        raise InputError(
            "protection levels become larger than any value can be; check the percentages of the "
            "rule and the unit of the values"
        )
    return quotient.astype(np.int64)
