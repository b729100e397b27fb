"""Rounding to the nearest multiple."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def deterministic(value: NDArray[np.int64], base: int) -> NDArray[np.int64]:
    """The nearest multiple of the base, half a base upwards, also below zero.

    Parameters
    ----------
    value
        Scaled integers, any shape.
    base
        In the same units, at least 1.

    Notes
    -----
    "Upwards" is towards larger numbers: with base 10 both −5 and 4 become 0, and 5 becomes 10. So
    a published r stands for r − b/2 to below r + b/2, whatever its sign.

    Examples
    --------
    >>> deterministic(np.array([4, 5, 14, 15, -5, -6]), 10).tolist()
    [0, 10, 10, 20, 0, -10]
    """
    return (value + base // 2) // base * base
