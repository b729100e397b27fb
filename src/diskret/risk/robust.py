"""Centre and spread of numbers in several variables that outliers do not distort."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.risk.products import product, squared_lengths

Numbers = NDArray[np.float64]

#: Share of its variance that is left of a variable which follows from others, at most.
_FOLLOWS = 1e-9
#: Variance in a direction in which records agree, as a share of the largest, at most.
_AGREE = 1e-12
#: A median absolute deviation of normally distributed values times this is their deviation.
_NORMAL = 1.4826022185056018
#: Steps until a search for the tightest half ends at the latest; a handful is usual.
_STEPS = 50
#: Records beyond this quantile of a normal distribution do not count in the last estimate.
_USUAL = 0.975


@dataclass(frozen=True, eq=False)
class RobustScatter:
    """Centre and covariance of the bulk of records.

    Attributes
    ----------
    center
        ``(p,)``, in the units of the variables.
    covariance
        ``(p, p)``, in the units of the variables.
    rank
        Number of variables that do not follow from those before them: less than p if a variable is
        constant, or the sum of others.
    agreeing
        Number of directions, of those, in which half of the records or more agree. The covariance
        has no spread there; in distances the variance of all records stands in for it.
    """

    center: Numbers
    covariance: Numbers
    rank: int
    agreeing: int
    _sphere: Numbers

    def distances(self, values: Numbers) -> Numbers:
        """Mahalanobis distance of each record from the centre, ``(n,)``.

        Variables that followed from those before them do not count (a generalised inverse).
        """
        return np.sqrt(squared_lengths(product(values, self._sphere, self.center)))


def robust_scale(values: Numbers) -> tuple[Numbers, Numbers]:
    """Median and normalised median absolute deviation of each column, ``(p,)`` both.

    Where half of the values agree, which makes the deviation 0, the standard deviation is given
    instead; 1 where all agree.

    Examples
    --------
    >>> center, scale = robust_scale(np.array([[1.0, 0, 5], [2, 0, 5], [4, 0, 5], [90, 8, 5]]))
    >>> center.tolist(), scale.round(2).tolist()
    ([3.0, 0.0, 5.0], [2.22, 3.46, 1.0])
    """
    by_column = np.ascontiguousarray(values.T)
    center = np.median(by_column, axis=1)
    scale = _NORMAL * np.median(np.abs(by_column - center[:, None]), axis=1)
    if not scale.all():
        scale = np.where(scale > 0, scale, values.std(axis=0))
    return center, np.where(np.ptp(values, axis=0) > 0, scale, 1.0)


def robust_scatter(values: Numbers, share: float = 0.5) -> RobustScatter:
    """Centre and covariance of the records that lie closest together (deterministic MCD).

    Of all sets of h records the one whose covariance has the smallest determinant is looked for,
    h being the share of all, but more than half. The search begins with five rough estimates that
    outliers hardly influence, and moves from each to the h records that are nearest by their
    Mahalanobis distance, again and again, which never makes the determinant larger. The result
    is made consistent for normally distributed values, and estimated once more from all records
    within the 97.5 % quantile (unless half of the records agree in some direction). Nothing is
    drawn at random, and memory is that of a few copies.

    Where a variable follows from those before it (a total after its parts), the covariance is
    singular, and records are judged by the variables that do not follow, which says the same.

    Parameters
    ----------
    values
        Finite numbers, ``(n, p)``, n at least 1; the unit of a variable does not matter.
    share
        Share of records that are certainly no outliers, 0.5 to 1.

    References
    ----------
    Rousseeuw and Van Driessen (1999), A fast algorithm for the minimum covariance determinant
    estimator; Hubert, Rousseeuw and Verdonck (2012), A deterministic algorithm for robust location
    and scatter (the starts, without the one by pairs of variables).

    Examples
    --------
    A cloud around (0, 0), and a fifth of the records far away from it:

    >>> angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    >>> cloud = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> far = np.full((20, 2), 50.0) + cloud[:20] / 10
    >>> found = robust_scatter(np.concatenate((cloud, far)))
    >>> bool(np.abs(found.center).max() < 0.5)
    True
    >>> bool(found.distances(far).min() > 10 > found.distances(cloud).max())
    True
    """
    n, p = values.shape
    middle, unit = robust_scale(values)
    y = (values - middle) / unit
    free, follow = _independent(y)
    if len(free) == 0:
        return RobustScatter(middle, np.zeros((p, p)), 0, 0, np.zeros((p, 0)))
    y = np.asfortranarray(y[:, free])
    h = min(n, max(int(np.ceil(share * n)), (n + len(free) + 1) // 2))
    center = np.ones(n) @ y / n
    everybody = y.T @ y / n - np.outer(center, center)
    starts = _starts(y, everybody)
    best = min((_concentrated(y, start, h, everybody) for start in starts), key=_tightness)
    found = _usual(y, best, everybody)

    # back to all variables and their units
    out = follow * unit
    sphere = np.zeros((p, len(free)))
    sphere[free] = found.sphere / unit[free][:, None]
    rest = values[0] - values[0, free] / unit[free] @ out
    center = rest + (middle[free] / unit[free] + found.center) @ out
    covariance = out.T @ found.covariance @ out
    return RobustScatter(center, covariance, len(free), best.agreeing, sphere)


def following(values: Numbers) -> list[int]:
    """Variables that follow from those before them: constants, and sums of others.

    Parameters
    ----------
    values
        Finite numbers, ``(n, p)``, n at least 1.

    Examples
    --------
    >>> parts = np.array([[1.0, 5.0], [2.0, 2.0], [7.0, 1.0]])
    >>> following(np.column_stack((parts, parts.sum(axis=1), [3, 3, 3])))
    [2, 3]
    """
    center, scale = robust_scale(values)
    free, _ = _independent((values - center) / scale)
    return [j for j in range(values.shape[1]) if j not in free]


def _independent(y: Numbers) -> tuple[NDArray[np.intp], Numbers]:
    """Variables that do not follow from those before them, and how all follow: ``(r, p)``."""
    p = y.shape[1]
    # seen from a record, which lies in every plane that all lie in; outliers count like the rest
    away = y - y[np.argmin(squared_lengths(y))]
    length = np.sqrt(squared_lengths(away))
    away /= np.where(length > 0, length, 1.0)[:, None]
    product = away.T @ away
    free: list[int] = []
    follow = np.zeros((p, p))
    for j in range(p):
        weights = np.linalg.solve(product[np.ix_(free, free)], product[free, j])
        if product[j, j] - weights @ product[free, j] > _FOLLOWS * product[j, j]:
            follow[j, j] = 1.0
            free.append(j)
        else:
            follow[free, j] = weights
    return np.array(free, dtype=np.intp), follow[free]


@dataclass(frozen=True, eq=False)
class _Shape:
    """Centre and covariance of some records; ``y @ sphere`` has variance 1 in all directions."""

    center: Numbers
    covariance: Numbers
    direction: Numbers
    sphere: Numbers
    determinant: float  # its logarithm, without directions of spread 0
    agreeing: int


def _tightness(shape: _Shape) -> tuple[int, float]:
    return -shape.agreeing, shape.determinant


def _shape(y: Numbers, everybody: Numbers, scale: float = 1.0) -> _Shape:
    center = np.ones(len(y)) @ y / len(y)
    away = y - center
    return _of_moments(center, away.T @ away * (scale / len(y)), everybody)


def _of_moments(center: Numbers, covariance: Numbers, everybody: Numbers) -> _Shape:
    size, direction = np.linalg.eigh(covariance)
    usual = np.einsum("ij,ij->j", direction, everybody @ direction)
    flat = size <= _AGREE * size[-1]
    return _Shape(
        center,
        (direction * np.where(flat, 0.0, size)) @ direction.T,
        direction,
        direction / np.sqrt(np.where(flat, usual, size)),
        float(np.log(size[~flat]).sum()),
        int(flat.sum()),
    )


def _squared(y: Numbers, shape: _Shape) -> Numbers:
    from diskret.risk.robust_kernels import squared_distances

    return squared_distances(y.T, shape.center, shape.sphere)


def _concentrated(y: Numbers, distances: Numbers, h: int, everybody: Numbers) -> _Shape:
    """The shape of h records at which moving to the nearest ones comes to rest."""
    shape = _shape_nearby(y, distances, h, everybody)
    for _ in range(_STEPS):
        tighter = _shape_nearby(y, _squared(y, shape), h, everybody)
        if _tightness(tighter) >= _tightness(shape):
            break
        shape = tighter
    return shape


def _shape_nearby(y: Numbers, distances: Numbers, h: int, everybody: Numbers) -> _Shape:
    """The shape of the `_nearest`, which are not put together."""
    from diskret.risk.robust_kernels import moments

    limit = float(np.partition(distances, h - 1)[h - 1])
    center, covariance = moments(y.T, distances, limit)
    return _of_moments(center, covariance, everybody)


def _nearest(y: Numbers, distances: Numbers, h: int) -> Numbers:
    """The h records of least distance, and those that tie with the last of them."""
    return y.take(np.flatnonzero(distances <= np.partition(distances, h - 1)[h - 1]), axis=0)


def _starts(y: Numbers, everybody: Numbers) -> Iterator[Numbers]:
    """Rough distances from the bulk of the records, in five ways."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n = len(y)
    half = (n + 1) // 2
    ranks = np.column_stack([rankdata(column) for column in y.T])
    squared = squared_lengths(y)
    for rough in (
        np.tanh(y),
        ranks,
        ndtri((ranks - 1 / 3) / (n + 1 / 3)),
        y / np.sqrt(np.where(squared > 0, squared, 1.0))[:, None],
        _nearest(y, squared, half),
    ):
        turned = product(y, _shape(rough, np.eye(y.shape[1])).direction)
        center, scale = robust_scale(turned)
        turned -= center
        turned /= scale
        yield _squared(y, _shape_nearby(y, squared_lengths(turned), half, everybody))


def _usual(y: Numbers, shape: _Shape, everybody: Numbers) -> _Shape:
    """The shape of all records that are no outliers by the one given."""
    from scipy.special import gammainc, gammaincinv

    if shape.agreeing:  # those who agree are the bulk
        return shape
    r = y.shape[1]
    squared = _squared(y, shape)
    # distances of normally distributed values have this median
    factor = float(np.median(squared)) / (2 * gammaincinv(r / 2, 0.5))
    limit = 2 * gammaincinv(r / 2, _USUAL)
    kept = y[squared <= limit * factor]
    # leaving the tails out makes the covariance of normally distributed values smaller
    return _shape(kept, everybody, _USUAL / gammainc(r / 2 + 1, limit / 2))
