"""How far two records are apart: numbers put on one scale, that of the original values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.robust import robust_scale, robust_scatter

Numbers = NDArray[np.float64]

#: How distances are measured.
Metric = Literal["standardised", "robust", "mahalanobis", "robust_mahalanobis", "gower"]
#: Directions with less than this share of the largest variance count as none.
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Space:
    """Where records lie, so that plain distances between them are those of a metric.

    Parameters
    ----------
    center, width
        Of each variable, ``(p,)``; a value is placed at (value - center) / width.
    scatter
        Covariance of values placed so, ``(p, p)``, where the metric takes it out; else None.
    power
        Distances are Euclidean (2) or sums of absolute differences (1).
    """

    center: Numbers
    width: Numbers
    scatter: Numbers | None
    power: int

    def coordinates(self, values: Numbers, shown: NDArray[np.intp]) -> Numbers:
        """Where records lie by some of the variables.

        Parameters
        ----------
        values
            ``(n, p)``, complete in the variables `shown`.
        shown
            Positions of variables.

        Returns
        -------
        numpy.ndarray
            ``(n, d)``, with d at most the number of variables shown.
        """
        placed = (values[:, shown] - self.center[shown]) / self.width[shown]
        if self.scatter is None or not len(shown):
            return placed
        size, direction = np.linalg.eigh(self.scatter[np.ix_(shown, shown)])
        varies = size > _FLAT * max(size[-1], 0.0)
        return placed @ (direction[:, varies] / np.sqrt(size[varies]))


def space(original: Numbers, metric: Metric = "standardised") -> Space:
    """The scale of a metric, taken from the original values alone.

    Parameters
    ----------
    original
        Values before protection, ``(n, p)``, NaN where missing.
    metric
        ``"standardised"``: Euclidean distance in standard deviations. ``"robust"``: in median
        absolute deviations (standard deviations where that is 0). ``"mahalanobis"``: Euclidean,
        with variances and correlations taken out. ``"robust_mahalanobis"``: with those of the bulk
        of records. ``"gower"``: sum of absolute differences in ranges. Directions in which the
        original values do not vary, as with a total beside its parts, tell no record from another.

    Raises
    ------
    InputError
        The metric is unknown.

    Notes
    -----
    If both files were put on scales of their own, values that are all 20 % too high would count
    as unprotected, and a few outliers added to one file as protection.

    Examples
    --------
    >>> incomes = np.array([[1000.0, 1.0], [2000.0, 2.0], [3000.0, 6.0]])
    >>> space(incomes, "gower").coordinates(incomes, np.array([0, 1])).round(2).tolist()
    [[-0.5, -0.2], [0.0, 0.0], [0.5, 0.8]]
    """
    if metric not in get_args(Metric):
        raise InputError(f"metric= is one of {', '.join(get_args(Metric))}, not {metric!r}")
    columns = [column[~np.isnan(column)] for column in original.T]
    scales = [_scale(column, metric) for column in columns]
    center, width = (np.array([scale[at] for scale in scales]) for at in (0, 1))
    scatter: Numbers | None = None
    if metric.endswith("mahalanobis"):
        whole = original[~np.isnan(original).any(axis=1)]
        placed = (whole - center) / width
        scatter = np.eye(len(width))
        if metric == "robust_mahalanobis" and len(placed):
            scatter = robust_scatter(placed).covariance
        elif len(placed):
            scatter = np.cov(placed, rowvar=False, bias=True).reshape(scatter.shape)
    return Space(center, width, scatter, 1 if metric == "gower" else 2)


def _scale(values: Numbers, metric: Metric) -> tuple[float, float]:
    """Centre and unit of one variable; the unit is 1 where all values agree."""
    if not len(values) or np.ptp(values) == 0:
        return (float(values[0]) if len(values) else 0.0), 1.0
    if metric.startswith("robust"):
        center, width = robust_scale(values[:, None])
        return float(center[0]), float(width[0])
    if metric == "gower":
        return float(np.median(values)), float(np.ptp(values))
    return float(values.mean()), float(values.std())
