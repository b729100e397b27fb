"""Interval disclosure: how often original values, or records, lie close to the protected ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Number, Several, reading
from diskret.risk.neighbours import Numbers, distinct, space
from diskret.risk.robust import robust_scatter

#: Half the width of an interval.
HalfWidth = Annotated[float, Number(low=0)]
#: Two of them, as for `regions`.
HalfWidths = Annotated[tuple[float, float], Several(Number(low=0), number=2)]


@dataclass(frozen=True, eq=False)
class Inside:
    """Which original values lie in an interval around the protected value. Confidential.

    Parameters
    ----------
    inside
        ``(n, p)``.
    compared
        Values that are there in both files, ``(n, p)``; others are in no interval.
    """

    inside: NDArray[np.bool_]
    compared: NDArray[np.bool_]

    @property
    def any(self) -> NDArray[np.bool_]:
        """Records with at least one value inside, ``(n,)``."""
        return np.asarray(self.inside.any(axis=1))

    @property
    def all(self) -> NDArray[np.bool_]:
        """Records with all values inside that are compared, at least one, ``(n,)``."""
        shown = np.asarray(self.compared.any(axis=1))
        return np.asarray((self.inside | ~self.compared).all(axis=1)) & shown

    @property
    def shares(self) -> Numbers:
        """Share of the compared values of each variable that are inside, ``(p,)``; NaN if none."""
        number = self.compared.sum(axis=0)
        return np.where(number > 0, self.inside.sum(axis=0) / np.maximum(number, 1), np.nan)

    @property
    def share(self) -> float:
        """Share of all compared values that are inside."""
        return float(self.inside.sum() / max(int(self.compared.sum()), 1))

    @property
    def share_any(self) -> float:
        """Share of records with at least one value inside."""
        return float(self.any.mean())

    @property
    def share_all(self) -> float:
        """Share of records with all values inside."""
        return float(self.all.mean())


@reading
def deviation_intervals(original: Numbers, protected: Numbers, k: HalfWidth = 0.05) -> Inside:
    """Values within ±k standard deviations of the protected value (SDID).

    Parameters
    ----------
    original, protected
        Values of the same n records, ``(n, p)``, NaN where missing.
    k
        Half the width of the interval, in standard deviations of the original variable.

    Raises
    ------
    InputError
        The files do not have the same shape, or k is below 0.

    References
    ----------
    Pagliuca and Seri (1999), "Some results of individual ranking method on the system of enterprise
    accounts annual survey", Esprit SDC project.

    Examples
    --------
    >>> original = np.array([[10.0, 1.0], [20.0, 2.0], [30.0, 3.0]])
    >>> found = deviation_intervals(original, original + [0.0, 0.5])
    >>> found.shares.tolist(), found.share_any, found.share_all
    ([1.0, 0.0], 1.0, 0.0)
    """
    _check(original, protected)
    # the deviation of a variable without values is of no use to anybody
    columns = [column[~np.isnan(column)] for column in original.T]
    half = k * np.array([column.std() if len(column) else 0.0 for column in columns])
    return within(original, protected, half)


def within(original: Numbers, protected: Numbers, half: Numbers) -> Inside:
    """Values, ``(n, p)``, within half a width, ``(p,)`` or ``(n, p)``, of the protected value."""
    compared = ~(np.isnan(original) | np.isnan(protected))
    # two numbers that differ only by their rounding are the same
    slack = 1e-12 * np.maximum(np.abs(original), np.abs(protected))
    return Inside(compared & (np.abs(original - protected) <= half + slack), compared)


@reading
def rank_intervals(original: Numbers, protected: Numbers, k: HalfWidth = 0.05) -> Inside:
    """Values within k · n ranks of the protected value in the protected file.

    An attacker sorts the protected values of a variable and takes, around each of them, those
    that are up to k · n places away: the original value lies between the ends or not.

    Parameters
    ----------
    original, protected
        Values of the same n records, ``(n, p)``, NaN where missing.
    k
        Half the width, as a share of the records that show the variable.

    Raises
    ------
    InputError
        The files do not have the same shape, or k is below 0.

    References
    ----------
    Domingo-Ferrer and Torra (2001), "A quantitative comparison of disclosure control methods for
    microdata".

    Examples
    --------
    >>> original = np.arange(10.0)[:, None]
    >>> rank_intervals(original, original[::-1], k=0.1).inside[:, 0].nonzero()[0].tolist()
    [4, 5]
    """
    _check(original, protected)
    compared = ~(np.isnan(original) | np.isnan(protected))
    inside = np.zeros(original.shape, bool)
    for at, (true, shown) in enumerate(zip(original.T, protected.T, strict=True)):
        ordered = np.sort(shown[~np.isnan(shown)])
        rows = np.flatnonzero(compared[:, at])
        if not len(rows):
            continue
        steps = int(np.floor(k * len(ordered) + 1e-9))
        low = np.searchsorted(ordered, shown[rows], "left") - steps
        high = np.searchsorted(ordered, shown[rows], "right") - 1 + steps
        least, most = ordered[np.maximum(low, 0)], ordered[np.minimum(high, len(ordered) - 1)]
        inside[rows, at] = (least <= true[rows]) & (true[rows] <= most)
    return Inside(inside, compared)


def _check(original: Numbers, protected: Numbers) -> None:
    if original.shape != protected.shape:
        raise InputError(
            f"the two files do not have the same records and variables: {original.shape} and "
            f"{protected.shape}"
        )


@dataclass(frozen=True, eq=False)
class Regions:
    """Records at risk because they stay in a region around their protected values. Confidential.

    Parameters
    ----------
    outlying
        Robust Mahalanobis distance of each original, ``(n,)``; of a record with missing values that
        by the others, scaled up to all. 0 if it shows nothing.
    inside
        Values within the region.
    alone
        Protected records that no other is close to, ``(n,)``.
    singular
        Number of directions in which original values do not vary, as with a total beside its
        parts.
    """

    outlying: Numbers
    inside: Inside
    alone: NDArray[np.bool_]
    singular: int

    @property
    def first(self) -> RegionRisk:
        """RMDID1: records that stay in the region."""
        return RegionRisk(self.inside.any, self.inside.all, self.outlying)

    @property
    def second(self) -> RegionRisk:
        """RMDID2: of those, only records whose protected values are close to no other's."""
        return RegionRisk(self.inside.any & self.alone, self.inside.all & self.alone, self.outlying)


@dataclass(frozen=True, eq=False)
class RegionRisk:
    """Records at risk, in two readings. Confidential.

    Parameters
    ----------
    at_risk_any, at_risk_all
        Records with at least one value, or with all values, in the region, ``(n,)``.
    outlying
        Robust Mahalanobis distance of each original, ``(n,)``.
    """

    at_risk_any: NDArray[np.bool_]
    at_risk_all: NDArray[np.bool_]
    outlying: Numbers

    def __repr__(self) -> str:
        return f"RegionRisk(any {self.any:.4f}, all {self.all:.4f})"

    @property
    def any(self) -> float:
        """Share of records with at least one value in the region (as in R's ``dRiskRMD``)."""
        return float(self.at_risk_any.mean())

    @property
    def all(self) -> float:
        """Share of records with all values in the region."""
        return float(self.at_risk_all.mean())

    @property
    def weighted_any(self) -> float:
        """The share where a record counts as much as it is far from the others."""
        return self._weighted(self.at_risk_any)

    @property
    def weighted_all(self) -> float:
        """The same for records with all values in the region."""
        return self._weighted(self.at_risk_all)

    def _weighted(self, at_risk: NDArray[np.bool_]) -> float:
        whole = float(self.outlying.sum())
        return float(self.outlying[at_risk].sum()) / whole if whole else 0.0


@reading
def regions(original: Numbers, protected: Numbers, k: HalfWidths = (0.05, 0.05)) -> Regions:
    """Find the records whose protected values stay close, measured by how outlying they are.

    Parameters
    ----------
    original, protected
        Values of the same n records, ``(n, p)``, NaN where missing.
    k
        Two widths in standard deviations of the original variables. The first, times the robust
        Mahalanobis distance of a record, is half the width of its region in each variable. Within
        the second, as a Euclidean distance, another protected record is close.

    Raises
    ------
    InputError
        The files do not have the same shape, or k is not two numbers from 0.

    Notes
    -----
    Both files are put on one scale, that of the original values. The distance is that by the MCD
    estimate; where the original values lie in a plane, it is taken within the plane.

    References
    ----------
    Templ and Meindl (2008), "Robust statistics meets SDC: new disclosure risk measures for
    continuous microdata masking", Privacy in Statistical Databases.

    Examples
    --------
    An outlier that moves by ten has moved little, a usual value has not:

    >>> original = np.array([[-1.5], [-1.0], [-0.5], [0.0], [0.5], [1.0], [1.5], [300.0]])
    >>> found = regions(original, original + 10)
    >>> found.first.at_risk_any.tolist()[-2:], found.second.any
    ([False, True], 0.125)
    """
    _check(original, protected)
    outlying, singular = _outlying(original)
    spread = np.array([_deviation(column) for column in original.T])
    inside = within(original, protected, k[0] * outlying[:, None] * spread)
    return Regions(outlying, inside, _alone(original, protected, k[1]), singular)


def _deviation(values: Numbers) -> float:
    there = values[~np.isnan(values)]
    return float(there.std()) if len(there) else 0.0


def _outlying(original: Numbers) -> tuple[Numbers, int]:
    """Robust distance from the centre, and the number of directions without spread."""
    n, p = original.shape
    missing = np.isnan(original)
    whole = ~missing.any(axis=1)
    found = np.zeros(n)
    if not whole.any():
        raise InputError(
            "no record has a value in all numeric variables, so how far records are from the "
            "others cannot be judged; choose fewer variables="
        )
    scatter = robust_scatter(original[whole])
    found[whole] = scatter.distances(original[whole])
    patterns, of = np.unique(missing[~whole], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        shown = np.flatnonzero(~pattern)
        if not len(shown):
            continue
        rows = np.flatnonzero(~whole)[of.reshape(-1) == number]
        unit = np.sqrt(np.diag(scatter.covariance)[shown])
        unit[unit == 0] = 1.0
        away = (original[np.ix_(rows, shown)] - scatter.center[shown]) / unit
        inverse = np.linalg.pinv(
            scatter.covariance[np.ix_(shown, shown)] / np.outer(unit, unit),
            rcond=1e-9,
            hermitian=True,
        )
        squared = np.einsum("ij,jk,ik->i", away, inverse, away)
        found[rows] = np.sqrt(np.maximum(squared, 0.0) * p / len(shown))
    return found, p - scatter.rank


def _alone(original: Numbers, protected: Numbers, k: float) -> NDArray[np.bool_]:
    """Complete protected records without another complete one within a distance.

    A record with a missing value is alone: nobody can say that it is close to another.
    """
    from scipy.spatial import cKDTree

    from diskret.parallel import cores

    whole = np.flatnonzero(~np.isnan(protected).any(axis=1))
    alone = np.ones(len(protected), bool)
    if len(whole) < 2:
        return alone
    every = np.arange(original.shape[1])
    points, of, _ = distinct(space(original).coordinates(protected[whole], every))
    single = np.bincount(of) == 1
    if len(points) > 1:
        far = cKDTree(points).query(points[single], k=[2], workers=cores())[0][:, 0]
        single[single] = far > k
    alone[whole] = single[of]
    return alone
