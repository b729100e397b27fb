"""Unbiased rounding up or down, drawn by a key."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def random(value: NDArray[np.int64], base: int, draw: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A multiple of the base next to each value: upwards with probability r/b, else downwards.

    Parameters
    ----------
    value
        Scaled integers, any shape.
    base
        In the same units, at least 1 and below 2**32.
    draw
        Uniform on all numbers of 64 bits, the same shape; equal cells have equal draws.

    Notes
    -----
    r is what a value b·k + r exceeds the next lower multiple by. The mean is the value itself (up
    to 2**−31), the variance r (b − r). Multiples stay (Hundepool et al., 2012, "Statistical
    Disclosure Control", section 5.4.2).

    Examples
    --------
    >>> low, high = np.uint64(0), np.uint64(2**64 - 1)
    >>> random(np.array([6, 7, 7]), 3, np.array([high, low, high])).tolist()
    [6, 9, 6]
    """
    rest = value % base
    up = (draw >> np.uint64(32)) * np.uint64(base) < rest.astype(np.uint64) << np.uint64(32)
    return value - rest + np.where(up, base, 0)
