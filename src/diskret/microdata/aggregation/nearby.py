"""Groups of records that are near each other in all variables: MDAV, V-MDAV, random leaders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Number, reading
from diskret.progress import Progress, silent
from diskret.risk.robust import robust_scale, robust_scatter

#: How values of a variable are compared: numbers, places in an order, names.
Scale = Literal["number", "ordinal", "nominal"]
#: How near, in relation, further records are that join a group.
Gamma = Annotated[float, Number(low=0)]
#: Progress is reported about so many times.
_REPORTS = 50
#: With fewer records new boxes are not worth while.
_FEW = 64


def mdav(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups of k records, from the outside to the inside (MDAV).

    While at least 3 k records are left: the record farthest from their mean forms a group with
    the k - 1 nearest to it, then the record farthest from the first one does the same with those
    that are left. Of 2 k to 3 k - 1 records the farthest from the mean forms a group with its
    nearest, and the rest is one; fewer than 2 k are one. Of equally far or near records the first
    is taken. Distances are Euclidean, and the mean is exact before it is rounded.

    Parameters
    ----------
    values
        Comparable numbers without gaps, ``(n, p)``, n ≥ k.
    k
        Least number of records in a group.
    weights, seed
        Without effect: records count alike, and nothing is drawn.
    progress
        Callback.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ``(n,)``; groups have k to 2 k - 1 records.

    References
    ----------
    Domingo-Ferrer and Torra (2005), "Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation", Data Mining and Knowledge Discovery 11.

    Examples
    --------
    >>> mdav(np.array([[1.0], [2.0], [9.0], [5.0], [8.0], [1.0]]), 2).tolist()
    [1, 2, 0, 2, 0, 1]
    """
    p = values.shape[1]
    return _opposite(values, k, np.ones(p), np.full(p, 2), np.zeros(p, np.int64), progress)


def mdav_mixed(
    values: NDArray[np.float64],
    k: int,
    *,
    scales: Sequence[Scale],
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """MDAV for numbers and categories.

    The squared distance adds, for a number, the squared difference; for an ordinal variable, the
    squared difference of places as a share of their range; for a nominal one, 1 if they differ.
    The centre is the mean, the (lower) median, and the most frequent category (the first of
    several).

    Parameters
    ----------
    values
        As for `mdav`; categories as codes from 0.
    k, weights, seed, progress
        As for `mdav`.
    scales
        Of each variable.

    References
    ----------
    Domingo-Ferrer and Torra (2005), as for `mdav`.

    Examples
    --------
    >>> jobs = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> mdav_mixed(jobs, 2, scales=["nominal"]).tolist()
    [1, 0, 1, 0]
    """
    factor, power, levels = _categories(values, scales)
    return _opposite(values, k, factor, np.where(power == 1, 2, power), levels, progress)


def gower(
    values: NDArray[np.float64],
    k: int,
    *,
    scales: Sequence[Scale],
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """MDAV by Gower's distance, in which every variable counts for the same.

    The distance adds, for numbers and ordinal variables, the difference as a share of the range,
    for nominal ones 1 if they differ. Centres are those of `mdav_mixed`.

    Parameters
    ----------
    values, k, scales, weights, seed, progress
        As for `mdav_mixed`.

    References
    ----------
    Gower (1971), "A general coefficient of similarity and some of its properties", Biometrics 27.

    Examples
    --------
    >>> gower(np.array([[1.0], [2.0], [9.0], [8.0]]), 2, scales=["number"]).tolist()
    [0, 0, 1, 1]
    """
    factor, power, levels = _categories(values, scales)
    factor = np.where(power == 2, _shares(values), factor)
    return _opposite(values, k, factor, np.where(power == 2, 1, power), levels, progress)


@reading
def vmdav(
    values: NDArray[np.float64],
    k: int,
    *,
    gamma: Gamma = 0.2,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups of k to 2 k - 1 records that grow where others are near (V-MDAV).

    The record farthest from the mean of all that is in no group yet forms one with the k - 1
    nearest. The group grows while the nearest record outside is nearer to one of its members than
    `gamma` times its distance to any other record without a group. Fewer than k that are left in
    the end join the groups with the nearest means.

    Parameters
    ----------
    values, k, weights, seed, progress
        As for `mdav`.
    gamma
        0: groups do not grow; the authors take 0.2 for scattered and 1.1 for clustered records.

    Returns
    -------
    numpy.ndarray
        As for `mdav`; at most k - 1 records join, so a group may be larger than 2 k - 1.

    Raises
    ------
    InputError
        `gamma` is negative or not a number.

    References
    ----------
    Solanas and Martínez-Ballesté (2006), "V-MDAV: a multivariate microaggregation with variable
    group size", COMPSTAT.

    Examples
    --------
    >>> vmdav(np.array([[1.0], [2.0], [3.0], [8.0], [9.0]]), 2, gamma=1.1).tolist()
    [1, 1, 1, 0, 0]
    """
    far = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    return led(values, np.argsort(-far, kind="stable"), k, gamma=gamma, progress=progress)


def random_nearest(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups around records that are drawn: each with the k - 1 nearest that are left.

    Fewer than k that are left in the end join the groups with the nearest means.

    Parameters
    ----------
    values, k, weights, progress
        As for `mdav`.
    seed
        Of the draws.

    Examples
    --------
    >>> random_nearest(np.array([[1.0], [2.0], [9.0], [8.0]]), 2, seed=1).tolist()
    [0, 0, 1, 1]
    """
    return led(values, np.random.default_rng(seed).permutation(len(values)), k, progress=progress)


def random_groups(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups of k records that are drawn, whatever their values; what is left joins the last one.

    Parameters
    ----------
    values, k, weights, progress
        As for `mdav`.
    seed
        Of the draws.

    Examples
    --------
    >>> sorted(random_groups(np.zeros((5, 1)), 2, seed=1).tolist())
    [0, 0, 1, 1, 1]
    """
    n = len(values)
    made = np.empty(n, dtype=np.int64)
    made[np.random.default_rng(seed).permutation(n)] = np.minimum(np.arange(n) // k, n // k - 1)
    return made


def led(
    values: NDArray[np.float64],
    leaders: NDArray[np.int64],
    k: int,
    *,
    gamma: float = 0.0,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups around records in a given order, each with the k - 1 nearest without a group.

    `values`, `k`, `gamma`, `progress`: as for `vmdav`. `leaders`: records in the order in which
    they lead groups, ``(n,)``. Returns group of each record, from 0, ``(n,)``. Fewer than k that
    are left in the end join the groups with the nearest means.
    """
    from diskret.microdata.aggregation import group_kernels

    values = np.ascontiguousarray(values)  # compiled for one layout only
    p = values.shape[1]

    def rounds(tree: Any, group: NDArray[np.int64], made: int, left: int, until: int) -> Any:
        rest = leaders[group[leaders] < 0]
        return group_kernels.led_groups(tree, values, rest, k, gamma, group, made, left, until)

    made = _in_rounds(values, np.ones(p), np.full(p, 2), k, rounds, progress)
    late = np.flatnonzero(made < 0)
    if len(late):
        size = np.bincount(made[made >= 0])
        means = np.column_stack(
            [np.bincount(made[made >= 0], values[made >= 0, j]) / size for j in range(p)]
        )
        for record in late.tolist():
            made[record] = ((means - values[record]) ** 2).sum(axis=1).argmin()
    return made


def _opposite(
    values: NDArray[np.float64],
    k: int,
    factor: NDArray[np.float64],
    power: NDArray[np.int64],
    levels: NDArray[np.int64],
    progress: Progress,
) -> NDArray[np.int64]:
    from diskret.microdata.aggregation import group_kernels

    values = np.ascontiguousarray(values)  # compiled for one layout only
    p = values.shape[1]
    often = np.zeros((p, max(int(levels.max(initial=0)), 1)), dtype=np.int64)
    centre = group_kernels.Centre(np.zeros(p), np.zeros(p), often, levels, power)
    group_kernels.count_all(centre, values)

    def rounds(tree: Any, group: NDArray[np.int64], made: int, left: int, until: int) -> Any:
        return group_kernels.opposite_groups(tree, centre, values, k, group, made, left, until)

    return _in_rounds(values, factor, power, k, rounds, progress)


def _in_rounds(
    values: NDArray[np.float64],
    factor: NDArray[np.float64],
    power: NDArray[np.int64],
    k: int,
    rounds: Callable[[Any, NDArray[np.int64], int, int, int], tuple[int, int]],
    progress: Progress,
) -> NDArray[np.int64]:
    """Make groups until fewer than k records are left; new boxes whenever half of them are gone."""
    from diskret.microdata.aggregation import group_kernels

    n = left = len(values)
    group = np.full(n, -1, dtype=np.int64)
    made, boxed, tree = 0, 0, None
    while left >= k:
        if tree is None or (2 * left <= boxed and left > _FEW):
            tree = group_kernels.boxes(values, np.flatnonzero(group < 0), factor, power)
            boxed = left
        until = max(left - max(n // _REPORTS, 2 * k), boxed // 2 if boxed > 2 * _FEW else 0)
        made, left = rounds(tree, group, made, left, min(until, left - 1))
        progress("groups", n - left, n)
    return group


def _categories(
    values: NDArray[np.float64], scales: Sequence[Scale]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Factor, power (2 numbers, 1 ordinal, 0 nominal) and number of codes of each variable."""
    power = np.array([("nominal", "ordinal", "number").index(one) for one in scales])
    levels = np.where(power == 2, 0, values.max(axis=0, initial=0).astype(np.int64) + 1)
    factor = np.where(power == 1, _shares(values), 1.0)
    return factor, power, levels


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One over the range of each variable, 0 if it is constant."""
    width = np.ptp(values, axis=0)
    return np.divide(1, width, out=np.zeros_like(width), where=width > 0)


def rmd(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    scale: bool = True,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Groups of k records around those that are farthest from the bulk (RMD).

    Of the records without a group the one with the largest robust Mahalanobis distance
    ([`robust_scatter`][diskret.risk.robust.robust_scatter]) forms one with the k - 1 nearest to
    it. Near is Euclidean, in robust deviations from the medians unless `scale` is False. Fewer than
    k that are left in the end join the groups with the nearest means. Distances between all pairs
    are never computed, and variables that follow from others (a total and its parts) are no
    obstacle.

    Parameters
    ----------
    values
        Numbers without gaps, ``(n, p)``, n ≥ k.
    k
        Least number of records in a group.
    weights, seed
        Without effect: records count alike, and nothing is drawn.
    scale
        Whether what is near is looked for in robust deviations, so that units do not matter; False:
        as the numbers are. Which records lie far depends on units in neither case.
    progress
        Callback.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ``(n,)``, with k to 2 k - 1 records each.

    References
    ----------
    Templ and Meindl (2008), Robust statistics meets SDC, Privacy in Statistical Databases.

    Examples
    --------
    >>> values = np.array([[1.0, 1], [2, 3], [3, 1], [4, 2], [80, 9], [90, 1]])
    >>> rmd(values, 2).tolist()
    [2, 1, 2, 1, 0, 0]
    """
    comparable = values
    if scale:
        center, spread = robust_scale(values)
        comparable = (values - center) / spread
    # the last digits of equal distances may differ
    far = robust_scatter(values).distances(values).round(9)
    return led(comparable, np.argsort(-far, kind="stable"), k, progress=progress)
