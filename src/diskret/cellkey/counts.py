"""Counts with noise that the cell key chooses, and weighted counts that follow them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.table import Lookup
from diskret.errors import InputError
from diskret.texts.numbers import Count

_FITS = 2**62


def perturbed_counts(
    count: NDArray[np.int64], key: NDArray[np.uint64], lookup: Lookup
) -> NDArray[np.int64]:
    """Counts plus the noise of their cell keys; 0 stays 0.

    `count`: numbers of counted units, int64, any shape. `key`: sums of their record keys modulo
    `lookup.modulus`, uint64, the same shape. `lookup`: which noise each key means. Returns int64,
    the same shape.

    Source: Fraser and Wooton (2006), "A proposed method for confidentialising tabular output to
    protect against differencing", Monographs of official statistics, Eurostat.
    """
    if lookup.step != 1:
        raise InputError(
            f"this perturbation table has noise in steps of 1/{lookup.step}, for sums; counts need "
            "one in whole numbers"
        )
    value = count + lookup(count, key)
    below = int((value < 0).sum())
    if below:
        raise InputError(
            f"the perturbation table takes {below:,} {Count(below):count|counts} below 0; its "
            "noise for a count of i must be at least -i"
        )
    return value


def weighted_counts(
    count: NDArray[np.int64],
    perturbed: NDArray[np.int64],
    weights: NDArray[np.int64],
    unit: int,
) -> NDArray[np.int64]:
    """Perturbed counts times the mean weight of those counted, rounded half a unit upwards.

    `count`, `perturbed`: True and perturbed numbers of counted units, int64, same shape. `weights`:
    sums of their weights, scaled integers, same shape. `unit`: scaled units that the result is a
    multiple of. Returns scaled integers, int64, same shape; 0 where nobody is counted.

    Three persons stand for 37.0; their count is published as 4, so 4 · 37/3 = 49.3 is:

    >>> counts = np.array([3]), np.array([4])
    >>> weighted_counts(*counts, np.array([370]), unit=1).tolist()
    [493]
    >>> weighted_counts(*counts, np.array([370]), unit=10).tolist()
    [490]
    """
    divisor = np.maximum(count, 1)
    noise = np.where(count > 0, perturbed - count, 0)
    most = int(np.abs(noise).max(initial=0)) * int(np.abs(weights).max(initial=0))
    if most < _FITS:
        whole, rest = np.divmod(noise * weights, divisor)
    else:  # more than 64 bits on the way: Python's own integers
        whole, rest = (
            part.astype(np.int64)
            for part in np.divmod(noise.astype(object) * weights, divisor.astype(object))
        )
    return rounded_up(weights + whole, 2 * rest >= divisor, unit)


def rounded_up(whole: NDArray[np.int64], half: NDArray[np.bool_], unit: int) -> NDArray[np.int64]:
    """The nearest multiple of a unit, half a unit upwards.

    `whole`: values without their fraction (floor), int64. `half`: whether the fraction is a half or
    more. `unit`: the result is a multiple of it.
    """
    # half an odd unit ends in a half itself, which the fraction may fill up
    return (whole + unit // 2 + (half & (unit % 2 == 1))) // unit * unit
