"""Random samples: how many units each stratum gives, and which are drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: A product of a rate and a number that is a half but for floating point is rounded up.
_ROUNDING = 1e-9


def by_rate(units: NDArray[np.int64], rate: NDArray[np.float64]) -> NDArray[np.int64]:
    """Units that a rate draws of each stratum, ``(h,)``: the nearest number, at least one.

    >>> by_rate(np.array([100, 50, 3]), np.array([0.05, 0.05, 0.05])).tolist()
    [5, 3, 1]
    """
    return np.clip(np.floor(units * rate + 0.5 + _ROUNDING), 1, units).astype(np.int64)


def proportional(units: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A number of units shared out among strata by their size, ``(h,)``: at least one of each.

    Quotas are rounded by largest remainders; what strata with a quota of none get is taken from
    the others in proportion. `size`: from the number of strata to that of all units.

    >>> proportional(np.array([900, 97, 3]), 100).tolist()
    [89, 10, 1]
    """
    drawn = _shared(units, size)
    none = drawn == 0
    drawn[none] = 1
    return drawn - _shared(drawn - 1, int(none.sum()))


def _shared(parts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A whole number divided in proportion to parts, none of which gets more than it is."""
    if not size:
        return np.zeros_like(parts)
    quota = parts * (size / parts.sum())
    found = np.floor(quota + _ROUNDING).astype(np.int64)
    most = np.argsort(found - quota, kind="stable")[: size - int(found.sum())]
    found[most] += 1
    return found


def drawn_of_each(
    stratum: NDArray[np.intp], wanted: NDArray[np.int64], draw: np.random.Generator
) -> NDArray[np.bool_]:
    """Which units are drawn, ``(u,)``: of each stratum so many, every set of them alike likely.

    `stratum`: of each unit, 0 … h - 1, ``(u,)``. `wanted`: of each stratum how many are drawn, no
    more than it has, ``(h,)``.

    >>> found = drawn_of_each(np.array([0, 0, 0, 1]), np.array([2, 1]), np.random.default_rng(1))
    >>> int(found[:3].sum()), bool(found[3])
    (2, True)
    """
    order = draw.permutation(len(stratum))
    if len(wanted) > 1:
        small = np.min_scalar_type(len(wanted))  # of 16 bits at most sorting takes no comparisons
        order = order[np.argsort(stratum[order].astype(small), kind="stable")]
    units = np.bincount(stratum, minlength=len(wanted))
    place = np.arange(len(stratum)) - np.repeat(np.cumsum(units) - units, units)
    found = np.zeros(len(stratum), dtype=np.bool_)
    found[order[place < np.repeat(wanted, units)]] = True
    return found
