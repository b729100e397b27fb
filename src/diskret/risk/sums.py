"""Sums by group that do not depend on the order of the records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sums(of: NDArray[np.intp], values: NDArray[np.float64], groups: int = 1) -> NDArray[np.float64]:
    """Sum of values by group, the same to the last digit in whatever order they come.

    Every value is cut into a multiple of a power of two so large that all sums of such multiples
    are exact, and a rest. The rests are so small that their sums are exact too, unless values
    differ in size by more than a billion or so; only the two sums are rounded, once.

    `of`: group of each value, 0 … groups - 1, ``(n,)``. `values`: finite numbers, ``(n,)``.
    `groups`: number of groups.
    """
    _, exponent = np.frexp(np.abs(values).sum())
    unit = np.ldexp(1.0, int(exponent) - 51)
    coarse = np.rint(values / unit) * unit
    rest = values - coarse
    made = np.bincount(of, weights=coarse, minlength=groups) + np.bincount(
        of, weights=rest, minlength=groups
    )
    return made.astype(np.float64, copy=False)


def total(values: NDArray[np.float64]) -> float:
    """The sum of all values, the same in whatever order they come."""
    return float(sums(np.zeros(len(values), dtype=np.intp), values)[0])
