"""Records divided into groups of k and more, verified, and what all of a group show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProofError
from diskret.microdata.aggregation.clustered import clustered_pca, clustered_projection
from diskret.microdata.aggregation.nearby import (
    Scale,
    gower,
    mdav,
    mdav_mixed,
    random_groups,
    random_nearest,
    rmd,
    vmdav,
)
from diskret.microdata.aggregation.ranked import optimal, pca, pca_robust, projection, single
from diskret.progress import Progress, silent
from diskret.risk import classes


@dataclass(frozen=True, eq=False)
class Groups:
    """Which records show the same."""

    #: the records that have a group, in an order that follows from their values, (m,)
    rows: NDArray[np.intp]
    of: NDArray[np.int64]  # their groups, from 0, (m,)
    #: records that are too few to form a group: fewer than k lack values of the same variables
    alone: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each group."""
        return np.bincount(self.of).astype(np.int64)


def groups(
    values: NDArray[np.float64],
    k: int,
    method: Method,
    *,
    strata: Sequence[NDArray[np.int32]] = (),
    scales: Sequence[Scale] | None = None,
    scale: bool = True,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Groups:
    """Divide records into groups of at least k within strata.

    Records that lack values of the same variables are grouped among themselves, by the variables
    they have; who has no value at all has no group.

    `values`: numbers, or codes of categories, NaN where missing, ``(n, p)``. `k`: least number of
    records in a group. `strata`: codes of variables that divide the records, -1 is a category of
    its own, each ``(n,)``. `scales`: of the variables; None: all are numbers. `scale`: divide
    numbers by their standard deviation, in each stratum; constant ones do not count. `weights`:
    weights, ``(n,)``; the order of otherwise equal records, and for methods that use them.

    >>> from diskret.microdata.aggregation.groups import METHODS
    >>> made = groups(np.array([[1.0], [9.0], [2.0], [8.0]]), 2, METHODS["mdav"])
    >>> made.rows.tolist(), made.of.tolist()
    ([0, 2, 3, 1], [0, 0, 1, 1])
    """
    n, p = values.shape
    gaps = np.isnan(values)
    with_gaps = np.flatnonzero(gaps.any(axis=0)).tolist()
    codes = [*strata, *(gaps[:, j].astype(np.int32) for j in with_gaps)]
    named: list[Scale] = ["number"] * p if scales is None else list(scales)
    rows: list[NDArray[np.intp]] = []
    of: list[NDArray[np.int64]] = []
    few: list[NDArray[np.intp]] = []
    made = 0
    for number, block in enumerate(_blocks(codes, n)):
        there = np.flatnonzero(~gaps[block[0]])
        if not len(there):
            continue
        if len(block) < k:
            few.append(block)
            continue
        own = values[np.ix_(block, there)] if len(there) < p or len(block) < n else values
        block = block[_ascending(own, None if weights is None else weights[block])]
        own = values[np.ix_(block, there)]
        here: list[Scale] = [named[j] for j in there.tolist()]
        given = dict(options or {})
        if method.categories:
            given["scales"] = here
        if method.scales:
            given["scale"] = scale
        group = method.partition(
            _comparable(own, here) if scale else own,
            k,
            weights=None if weights is None else weights[block],
            seed=None if seed is None else [seed, number],
            progress=progress,
            **given,
        )
        if group.min() < 0 or np.bincount(group).min() < k:
            raise ProofError(
                f"a group of fewer than {k} records was made; nothing was changed. Please report "
                "this with the method and its arguments"
            )
        rows.append(block)
        of.append(group + made)
        made += int(group.max()) + 1
    return Groups(_joined(rows, np.intp), _joined(of, np.int64), _joined(few, np.intp))


def _blocks(codes: Sequence[NDArray[np.int32]], n: int) -> list[NDArray[np.intp]]:
    """Records that agree in all codes, ascending."""
    if not codes:
        return [np.arange(n)]
    found = classes(codes, [int(one.max(initial=0)) + 1 for one in codes])
    order = np.argsort(found.of, kind="stable")
    return np.split(order, np.cumsum(found.count)[:-1])


def _ascending(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NDArray[np.intp]:
    """The order of records by their values, variable by variable, then by their weights."""
    columns = list(values.T) if weights is None else [*values.T, weights]
    return np.lexsort(columns[::-1])


def _comparable(values: NDArray[np.float64], scales: Sequence[Scale]) -> NDArray[np.float64]:
    """Numbers with mean 0 and standard deviation 1, constant ones 0; codes as they are."""
    made = values.copy()
    for j, one in enumerate(scales):
        if one == "number":
            column = made[:, j]
            if column.min() == column.max():
                made[:, j] = 0.0
            else:
                column -= column.mean()
                column /= column.std()
    return made


def _joined(parts: Sequence[NDArray[Any]], type_: type[np.integer[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=type_)


@dataclass(frozen=True)
class Method:
    """A way to divide records into groups."""

    #: called as partition(values, k, weights=, seed=, progress=, **options) with comparable numbers
    #: without gaps, (n, p), n ≥ k, and weights or None; gives the group of each record, from 0,
    #: (n,), int64, with k records or more each. Records come in ascending order of their values, so
    #: what is done with equally good choices depends on positions alone.
    partition: Callable[..., NDArray[np.int64]]
    options: tuple[str, ...] = ()  # names of the further options it takes
    draws: bool = False  # whether it needs a seed
    #: whether variables may be categories (codes); `partition` then takes scales
    categories: bool = False
    #: whether each variable has groups of its own; `partition` is called for one after another
    alone: bool = False
    #: whether a robust covariance is estimated, without variables that follow from others
    robust: bool = False
    #: whether `partition` makes numbers comparable in its own way, unless scale=False
    scales: bool = False


METHODS: Mapping[str, Method] = {
    "mdav": Method(mdav),
    "mdav_mixed": Method(mdav_mixed, categories=True),
    "gower": Method(gower, categories=True),
    "vmdav": Method(vmdav, options=("gamma",)),
    "random": Method(random_groups, draws=True),
    "random_nearest": Method(random_nearest, draws=True),
    "rmd": Method(rmd, robust=True, scales=True),
    "single": Method(single),
    "pca": Method(pca),
    "pca_robust": Method(pca_robust, robust=True),
    "projection": Method(projection),
    "clustered_pca": Method(clustered_pca, options=("clusters", "transform")),
    "clustered_projection": Method(clustered_projection, options=("clusters", "transform")),
    "individual": Method(single, alone=True),
    "optimal": Method(optimal, alone=True),
}


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
