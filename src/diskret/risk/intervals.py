"""Interval disclosure: how often an original value lies close to the protected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.metrics import Numbers


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


def deviation_intervals(original: Numbers, protected: Numbers, k: float = 0.05) -> Inside:
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
    _check(original, protected, k)
    # the deviation of a variable without values is of no use to anybody
    columns = [column[~np.isnan(column)] for column in original.T]
    half = k * np.array([column.std() if len(column) else 0.0 for column in columns])
    return within(original, protected, half)


def within(original: Numbers, protected: Numbers, half: Numbers) -> Inside:
    """Values within half a width of the protected value.

    Parameters
    ----------
    original, protected
        ``(n, p)``, NaN where missing.
    half
        ``(p,)`` or ``(n, p)``.
    """
    compared = ~(np.isnan(original) | np.isnan(protected))
    # two numbers that differ only by their rounding are the same
    slack = 1e-12 * np.maximum(np.abs(original), np.abs(protected))
    return Inside(compared & (np.abs(original - protected) <= half + slack), compared)


def rank_intervals(original: Numbers, protected: Numbers, k: float = 0.05) -> Inside:
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
    _check(original, protected, k)
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


def _check(original: Numbers, protected: Numbers, k: float | Sequence[float]) -> None:
    if original.shape != protected.shape:
        raise InputError(
            f"the two files do not have the same records and variables: {original.shape} and "
            f"{protected.shape}"
        )
    widths = np.atleast_1d(np.asarray(k, dtype=np.float64))
    if not (np.isfinite(widths) & (widths >= 0)).all():
        raise InputError(f"k= is a number from 0 (half the width of an interval), not {k!r}")
