"""Clusters of similar records first, and an order within each of them."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from diskret.microdata.aggregation.ranked import (
    Component,
    Groups,
    Numbers,
    cut,
    principal,
    pursued,
)
from diskret.parameters import Whole, reading
from diskret.progress import Progress, silent
from diskret.risk.robust import robust_scale

#: What happens to values before clusters are looked for.
Transform = Literal["none", "log", "rank"]
#: How many clusters are looked for.
Clusters = Annotated[int, Whole(1)]
#: Rounds until clusters are taken as they are.
_ROUNDS = 50


@reading
def clustered_pca(
    values: Numbers,
    k: int,
    *,
    clusters: Clusters = 8,
    transform: Transform = "none",
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups along the first principal component of each cluster of similar records.

    Clusters are those of k-means, which begins with records cut into equal parts along their first
    principal component and moves until no record changes its cluster; nothing is drawn. A cluster
    of fewer than k records joins the nearest one.

    Parameters
    ----------
    values, k, seed
        As for [`single`][diskret.microdata.aggregation.ranked.single].
    clusters
        Number of clusters, at least 1; fewer may be left.
    transform
        What clusters are looked for in: the values (``"none"``), sign(z) log(1 + abs(z)) of z, the
        distance from the median in robust deviations (``"log"``), or ranks (``"rank"``). The last
        two keep a few extreme records from having clusters to themselves. Components are always
        those of the values.
    weights
        Above 0; of the components.
    progress
        Callback.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ``(n,)``, with k to 2 k - 1 records each.

    Raises
    ------
    InputError
        The number of clusters is not a whole number from 1, or the transformation has no meaning.

    References
    ----------
    Templ and Meindl (2008), Robust statistics meets SDC, Privacy in Statistical Databases.

    Examples
    --------
    Records on both sides of a corner, which no single direction follows:

    >>> values = np.array([[0.0, 9], [0, 8], [0, 7], [0, 6], [6, 0], [7, 0], [8, 0], [9, 0]])
    >>> clustered_pca(values, 2, clusters=2).tolist()
    [1, 1, 0, 0, 2, 2, 3, 3]
    """
    return _clustered(principal, values, k, clusters, transform, weights, progress)


@reading
def clustered_projection(
    values: Numbers,
    k: int,
    *,
    clusters: Clusters = 8,
    transform: Transform = "none",
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups along the direction in which the bulk of each cluster is widest.

    Clusters are those of `clustered_pca`, directions those of
    [`projection`][diskret.microdata.aggregation.ranked.projection].

    Parameters
    ----------
    values, k, clusters, transform, seed, progress
        As for `clustered_pca`.
    weights
        Without effect.

    Examples
    --------
    >>> values = np.array([[0.0, 9], [0, 8], [0, 7], [0, 6], [6, 0], [7, 0], [8, 0], [9, 0]])
    >>> clustered_projection(values, 2, clusters=2).tolist()
    [1, 1, 0, 0, 2, 2, 3, 3]
    """
    return _clustered(pursued, values, k, clusters, transform, weights, progress)


def _clustered(
    component: Component,
    values: Numbers,
    k: int,
    clusters: int,
    transform: Transform,
    weights: Numbers | None,
    progress: Progress,
) -> Groups:
    found = _clusters(_transformed(values, transform), k, clusters, progress)
    groups = np.empty(len(values), dtype=np.int64)
    made = 0
    for cluster in range(found.max(initial=-1) + 1):
        inside = np.flatnonzero(found == cluster)
        of = None if weights is None else weights[inside]
        along = values[inside] @ component(values[inside], of)
        parts = cut(np.argsort(along, kind="stable"), k)
        groups[inside] = made + parts
        made += int(parts.max()) + 1
    return groups


def _transformed(values: Numbers, transform: Transform) -> Numbers:
    if transform == "none":
        return values
    if transform == "log":
        center, scale = robust_scale(values)
        away = (values - center) / scale
        return np.sign(away) * np.log1p(np.abs(away))
    from scipy.stats import rankdata

    return np.column_stack([rankdata(column) for column in values.T])


def _clusters(values: Numbers, k: int, number: int, progress: Progress) -> NDArray[np.intp]:
    """Cluster of each record, from 0, with at least k records each (k-means, Lloyd 1982)."""
    n = len(values)
    number = max(1, min(number, n // k))
    along = np.argsort(values @ principal(values), kind="stable")
    found = np.empty(n, dtype=np.intp)
    found[along] = np.arange(n) * number // n
    for done in range(_ROUNDS):
        progress("clusters", done, _ROUNDS)
        centers = _means(values, found)
        # |x|² is the same for all centres
        distances = (centers**2).sum(axis=1) - 2 * values @ centers.T
        moved = np.argmin(distances, axis=1)
        if np.array_equal(moved, found):
            break
        found = np.unique(moved, return_inverse=True)[1]
    progress("clusters", _ROUNDS, _ROUNDS)
    while (size := np.bincount(found)).min() < k:
        small = int(size.argmin())
        centers = _means(values, found)
        distances = ((centers - centers[small]) ** 2).sum(axis=1)
        distances[small] = np.inf
        found[found == small] = distances.argmin()
        found = np.unique(found, return_inverse=True)[1]
    return found


def _means(values: Numbers, found: NDArray[np.intp]) -> Numbers:
    size = np.bincount(found)
    return np.column_stack([np.bincount(found, column) / size for column in values.T])
