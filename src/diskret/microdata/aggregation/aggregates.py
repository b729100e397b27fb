"""What all records of a group show: mean, median, or most frequent category."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

#: What replaces numbers.
Measure = Literal["mean", "median"]
MEASURES: tuple[str, ...] = get_args(Measure)
#: Sums of weights that differ by so little (as a share) are equal.
_NEAR = 1e-12


def aggregate(
    values: NDArray[np.float64],
    of: NDArray[np.int64],
    weights: NDArray[np.float64],
    measure: Measure = "mean",
) -> NDArray[np.float64]:
    """Mean or median of numbers in each group; a group of equal values keeps them exactly.

    `values`: without gaps, ``(m,)``. `of`: the group of each, ``(m,)``; groups 0, 1, … occur all.
    `weights`: each value counts so often, > 0, ``(m,)``. `measure`: ``"mean"`` or ``"median"``, the
    middle of the lower and the upper one. Returns one for each group.

    >>> x, of = np.array([1.0, 2.0, 6.0, 0.1, 0.1]), np.array([0, 0, 0, 1, 1])
    >>> aggregate(x, of, np.ones(5)).tolist(), aggregate(x, of, np.ones(5), "median").tolist()
    ([3.0, 0.1], [2.0, 0.1])
    >>> aggregate(x, of, np.array([1.0, 7.0, 2.0, 1.0, 1.0])).tolist()
    [2.7, 0.1]
    """
    if measure == "median":
        lower, upper = median(values, of, weights)
        return lower + (upper - lower) / 2
    one = np.empty(int(of.max(initial=-1)) + 1)
    one[of] = values
    off = np.bincount(of, weights * (values - one[of])) / np.bincount(of, weights)
    return one + off


def median(
    values: NDArray[np.float64], of: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper median in each group.

    They differ where exactly half of the weight lies below a gap between values.

    `values`, `of`, `weights`: as for `aggregate`.

    >>> lower, upper = median(np.array([4.0, 1.0, 3.0, 2.0]), np.zeros(4, int), np.ones(4))
    >>> lower.tolist(), upper.tolist()
    ([2.0], [3.0])
    """
    order = np.lexsort((values, of))
    size = np.bincount(of)
    start = np.cumsum(size) - size
    half = np.bincount(of, weights) / 2
    below = np.zeros(len(size))
    lower, upper = np.full(len(size), np.nan), np.full(len(size), np.nan)
    for rank in range(int(size.max(initial=0))):
        here = np.flatnonzero(size > rank)
        at = order[start[here] + rank]
        below[here] += weights[at]
        for found, least in ((lower, 1 - _NEAR), (upper, 1 + _NEAR)):
            reached = np.isnan(found[here]) & (
                (below[here] >= half[here] * least) | (rank + 1 == size[here])
            )
            found[here[reached]] = values[at[reached]]
    return lower, upper


def mode(
    codes: NDArray[np.int64], of: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The code with the largest weight in each group, the lowest of several.

    `codes`: from 0, ``(m,)``. `of`, `weights`: as for `aggregate`.

    >>> mode(np.array([2, 1, 1, 5, 3]), np.array([0, 0, 0, 1, 1]), np.ones(5)).tolist()
    [1, 3]
    """
    levels = int(codes.max(initial=0)) + 1
    pairs, at = np.unique(of * levels + codes, return_inverse=True)
    weight = np.bincount(at, weights)
    order = np.lexsort((pairs, -weight, pairs // levels))
    first = np.flatnonzero(np.diff(pairs[order] // levels, prepend=-1))
    return pairs[order][first] % levels
