"""Groups of records that follow each other in an order: by a variable, or by a component."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.progress import Progress, silent
from diskret.risk.robust import robust_scatter

Numbers = NDArray[np.float64]
Groups = NDArray[np.int64]

#: A direction looked for among records, ``(n, p)``, with their weights or None: ``(p,)``.
Component = Callable[[Numbers, Numbers | None], Numbers]
#: A direction is looked for among so many candidates, judged by so many records.
_CANDIDATES, _JUDGES = 250, 10_000


def single(
    values: Numbers,
    k: int,
    *,
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups of k records that follow each other by the first variable.

    Parameters
    ----------
    values
        Comparable numbers without gaps, ``(n, p)``, n ≥ k. Ties keep their order.
    k
        Least number of records in a group.
    weights, seed, progress
        Without effect: records count alike, nothing is drawn, and nothing takes long.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ``(n,)``, with k records each, the last one up to 2 k - 1.

    References
    ----------
    Defays and Nanopoulos (1993), Panels of enterprises and confidentiality: the small aggregates
    method.

    Examples
    --------
    >>> single(np.array([[1.0], [9.0], [2.0], [8.0], [7.0]]), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    return cut(np.argsort(values[:, 0], kind="stable"), k)


def pca(
    values: Numbers,
    k: int,
    *,
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups of k records that follow each other along the first principal component.

    Parameters
    ----------
    values, k, progress
        As for `single`.
    weights
        Above 0; the component is that of the population they stand for.
    seed
        Without effect.

    References
    ----------
    Mateo-Sanz and Domingo-Ferrer (1998), A comparative study of microaggregation methods, Qüestiió
    22.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0], [9.0, 8.0], [2.0, 1.0], [8.0, 9.5]])
    >>> pca(values, 2).tolist()
    [0, 1, 0, 1]
    """
    return _along(principal, values, k, weights)


def pca_robust(
    values: Numbers,
    k: int,
    *,
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups along the first principal component of the bulk of the records.

    The component is that of the covariance by
    [`robust_scatter`][diskret.risk.robust.robust_scatter]: a few extreme records do not turn it.

    Parameters
    ----------
    values, k, weights, seed, progress
        As for `single`.

    References
    ----------
    Templ and Meindl (2008), Robust statistics meets SDC, Privacy in Statistical Databases.

    Examples
    --------
    The last record alone makes the second variable that of the usual component:

    >>> values = np.array([[1.0, 1], [4, 0], [7, 2], [10, 1], [13, 0], [16, 1], [0, 90]])
    >>> pca(values, 3).tolist(), pca_robust(values, 3).tolist()
    ([1, 0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 1, 0])
    """
    return _along(principal_robust, values, k, weights)


def projection(
    values: Numbers,
    k: int,
    *,
    weights: Numbers | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Groups:
    """Groups along the direction in which the bulk of the records is widest.

    Of the directions from the centre (medians) to records, up to 250 of them spread over the
    file, the one with the largest median absolute deviation is taken (projection pursuit). Of a
    large file, 10,000 records spread over it measure the deviation.

    Parameters
    ----------
    values, k, weights, seed, progress
        As for `single`.

    References
    ----------
    Croux and Ruiz-Gazen (2005), High breakdown estimators for principal components: the
    projection-pursuit approach revisited, Journal of Multivariate Analysis 95.

    Examples
    --------
    >>> values = np.array([[1.0, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [1, -90]])
    >>> projection(values, 3).tolist()
    [0, 0, 1, 1, 1, 1, 0]
    """
    return _along(pursued, values, k, weights)


def principal(values: Numbers, weights: Numbers | None = None) -> Numbers:
    """Direction of the largest variance, ``(p,)``, of length 1."""
    n = len(values)
    share = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    away = values - share @ values
    return _widest((away.T * share) @ away)


def principal_robust(values: Numbers, weights: Numbers | None = None) -> Numbers:
    """Direction of the largest variance of the bulk of the records; weights have no effect."""
    covariance = robust_scatter(values).covariance
    # half of the records may agree in everything
    return _widest(covariance) if covariance.any() else principal(values)


def pursued(values: Numbers, weights: Numbers | None = None) -> Numbers:
    """Direction to a record in which the bulk is widest; weights have no effect."""
    away = values - np.median(values, axis=0)
    length = np.sqrt(np.einsum("ij,ij->i", away, away))
    outside = np.flatnonzero(length > 0)
    if len(outside) == 0:
        return _widest(np.zeros((values.shape[1],) * 2))
    chosen = outside[:: -(-len(outside) // _CANDIDATES)]
    directions = away[chosen] / length[chosen, None]
    on = away[:: -(-len(away) // _JUDGES)] @ directions.T
    on -= np.median(on, axis=0)
    width = np.median(np.abs(on), axis=0)
    if not width.any():  # in every direction half of the records agree
        width = on.std(axis=0)
    return _upwards(directions[np.argmax(width)])


def _widest(covariance: Numbers) -> Numbers:
    return _upwards(np.linalg.eigh(covariance)[1][:, -1])


def _upwards(direction: Numbers) -> Numbers:
    """Of a direction and its opposite, the one whose largest part is positive."""
    return direction * np.sign(direction[np.argmax(np.abs(direction).round(9))])


def _along(component: Component, values: Numbers, k: int, weights: Numbers | None) -> Groups:
    return cut(np.argsort(values @ component(values, weights), kind="stable"), k)


def cut(order: NDArray[np.intp], k: int) -> Groups:
    """Groups of k records that follow each other in an order; the last has up to 2 k - 1.

    >>> cut(np.array([4, 2, 0, 1, 3]), 2).tolist()
    [1, 1, 0, 1, 0]
    """
    n = len(order)
    groups = np.empty(n, dtype=np.int64)
    groups[order] = np.minimum(np.arange(n) // k, n // k - 1)
    return groups


def optimal(
    values: NDArray[np.float64],
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """The groups with the least sum of squares around their means, of all there are.

    Some best groups hold values that follow each other, k to 2 k - 1 of them, and so are a shortest
    path through the sorted values; it takes about 2 k n steps.

    Parameters
    ----------
    values
        Numbers without gaps, ``(n, 1)``, n ≥ k.
    k
        Least number of records in a group.
    weights, seed, progress
        Without effect: records count alike (with weights, best groups may overlap), nothing is
        drawn, and nothing takes long.

    Returns
    -------
    numpy.ndarray
        Group of each record, from 0, ascending with the value, ``(n,)``.

    Raises
    ------
    InputError
        There are several variables, for which the best groups are out of reach.

    References
    ----------
    Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation,
    IEEE Transactions on Knowledge and Data Engineering 15.

    Examples
    --------
    Cutting the order into pairs would put 3 and 8 together:

    >>> optimal(np.array([[1.0], [2.0], [3.0], [8.0], [9.0]]), 2).ravel().tolist()
    [0, 0, 0, 1, 1]
    """
    from diskret.microdata.aggregation import group_kernels

    if values.shape[1] != 1:
        raise InputError(
            f"the best groups can be found for one variable only, not for {values.shape[1]}"
        )
    order = np.argsort(values[:, 0], kind="stable")
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = group_kernels.least_spread(values[order, 0], k)
    return groups
