"""Top coding: extreme values are replaced by what they have in common, so that totals stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.keys import sums
from diskret.risk.robust import robust_scatter
from diskret.texts.numbers import Count

Numbers = NDArray[np.float64]
#: What extreme values are replaced by.
Keep = Literal["mean", "median", "value"]


@dataclass(frozen=True, eq=False)
class Cut:
    """What top coding did."""

    values: Numbers  # the new values, NaN where they are missing, (n,)
    replaced: NDArray[np.bool_]  # which of them are, (n,)
    number: NDArray[np.int64]  # how many in each stratum, (s,)
    #: strata in which fewer than k values were asked for, so that more were replaced, (s,)
    extended: NDArray[np.bool_]
    #: strata with something to replace, but fewer than k values, in which nothing was, (s,)
    short: NDArray[np.bool_]
    #: of the (weighted) sum of the replaced values in a stratum, the share of the largest one; 0 if
    #: there are none, (s,)
    largest_share: Numbers


def cut(
    values: Numbers,
    strata: NDArray[np.intp],
    weights: Numbers | None = None,
    *,
    share: float | None = None,
    limit: float | None = None,
    keep: Keep = "mean",
    k: int = 3,
) -> Cut:
    """Replace the largest values of each stratum by one value.

    `values`: numbers, NaN if missing, ``(n,)``. `strata`: the stratum of each, from 0, ``(n,)``.
    `weights`: above 0, ``(n,)``; None: 1. `share`: that share of the values of each stratum is
    replaced, rounded up; values equal to the smallest replaced one, too. `limit`: values above it
    are replaced. `keep`: ``"mean"`` and ``"median"``, with the weights, of the replaced values; or
    ``"value"``: the limit, or the smallest replaced value. `k`: at least so many values are
    replaced by the same one: if there are fewer beyond the limit, the next smaller ones, too.

    >>> found = cut(np.array([1.0, 9, 4, 20, 7]), np.zeros(5, np.intp), limit=8)
    >>> found.values.tolist(), found.extended.tolist()
    ([1.0, 12.0, 4.0, 12.0, 12.0], [True])
    """
    there = np.flatnonzero(~np.isnan(values))
    size = int(strata.max(initial=-1)) + 1
    order = there[np.lexsort((-values[there], strata[there]))]
    of, ordered = strata[order], values[order]
    number = np.bincount(of, minlength=size)
    start = np.cumsum(number) - number
    if limit is not None:
        beyond = np.bincount(of[ordered > limit], minlength=size)
    else:
        # 0.07 · 100 is a bit more than 7
        beyond = np.ceil((share or 0) * number - 1e-9).astype(np.int64)
    short = (beyond > 0) & (number < k)
    some = (beyond > 0) & ~short
    least = np.maximum(beyond, k)
    smallest = np.full(size, np.inf)
    smallest[some] = ordered[start[some] + least[some] - 1]
    replaced = np.zeros(len(values), dtype=bool)
    replaced[there] = values[there] >= smallest[strata[there]]
    rows = order[::-1][replaced[order[::-1]]]  # strata one after another, values ascend
    weight = np.ones(len(rows)) if weights is None else weights[rows]
    if keep == "mean":
        new = _mean(strata[rows], values[rows], weight, size)
    elif keep == "median":
        new = _median(strata[rows], values[rows], weight, size)
    else:
        new = smallest if limit is None else np.where(beyond < k, smallest, limit)
    made = values.copy()
    made[replaced] = new[strata[replaced]]
    return Cut(
        made,
        replaced,
        np.bincount(strata[replaced], minlength=size).astype(np.int64),
        some & (beyond < k),
        short,
        _largest_share(strata[rows], values[rows], weight, size),
    )


def _mean(of: NDArray[np.intp], values: Numbers, weight: Numbers, size: int) -> Numbers:
    return sums(of, values * weight, size) / np.maximum(sums(of, weight, size), np.spacing(1))


def _median(of: NDArray[np.intp], values: Numbers, weight: Numbers, size: int) -> Numbers:
    """Weighted medians; strata come one after another, and their values ascend."""
    new = np.zeros(size)
    for at in np.split(np.arange(len(of)), np.flatnonzero(np.diff(of)) + 1):
        reached = np.cumsum(weight[at]) / weight[at].sum()
        low, high = (int(np.searchsorted(reached, half)) for half in (0.5 - 1e-12, 0.5 + 1e-12))
        new[of[at]] = (values[at[low]] + values[at[high]]) / 2
    return new


def _largest_share(of: NDArray[np.intp], values: Numbers, weight: Numbers, size: int) -> Numbers:
    parts = np.abs(values) * weight
    largest = np.zeros(size)
    np.maximum.at(largest, of, parts)
    whole = sums(of, parts, size)
    return np.divide(largest, whole, out=np.zeros(size), where=whole > 0)


def pulled_in(values: Numbers, quantile: float = 0.975) -> tuple[Numbers, NDArray[np.bool_]]:
    """Pull records far from the others back to the ellipsoid around them.

    `values`: numbers, NaN if missing, ``(n, p)``. A record with a missing value stays as it is.
    `quantile`: of the χ² distribution with as many degrees of freedom as values vary in directions:
    of normally distributed records so many lie inside. Returns the new values, ``(n, p)``, and the
    records that were pulled in, ``(n,)``.

    A record at the robust distance d from the centre c, beyond the limit l, becomes
    c + (x - c) l / d: in the same direction, on the ellipsoid. Where one variable is a sum of
    others, it stays their sum.

    >>> angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    >>> circle = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> made, replaced = pulled_in(np.concatenate((circle, [[100.0, 0]])))
    >>> replaced.sum(), bool(made[80, 0] < 3), made[80, 1].round(9) == 0
    (np.int64(1), True, np.True_)
    """
    from scipy.special import chdtri

    there = ~np.isnan(values).any(axis=1)
    if there.sum() < 2:
        number = Count(there.sum())
        raise InputError(
            f"{number} {number:record has|records have} all {values.shape[1]} values, and at "
            "least 2 are needed; leave out variables with many missing values"
        )
    found = robust_scatter(values[there])
    limit = float(np.sqrt(chdtri(max(found.rank, 1), 1 - quantile)))
    distance = np.zeros(len(values))
    distance[there] = found.distances(values[there])
    replaced = distance > limit
    made = values.copy()
    made[replaced] = found.center + (values[replaced] - found.center) * (
        limit / distance[replaced, None]
    )
    return made, replaced
