"""l-diversity: how different the sensitive values of records are that agree in their keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.distributions import Distributions


def distinct(found: Distributions) -> NDArray[np.float64]:
    """Number of different values, ``(b,)``: the largest l of distinct l-diversity.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007).
    """
    return np.bincount(found.owner, minlength=len(found.rows)).astype(float)


def entropy(found: Distributions) -> NDArray[np.float64]:
    r"""Exponential of the entropy, ``(b,)``: the largest l of entropy l-diversity.

    $\exp(-\sum_v p_v \log p_v)$ with the shares of the values; it is the number of values if
    all are as frequent. Source: Machanavajjhala et al. (2007).
    """
    parts = found.share * np.log(found.share)
    return np.exp(-np.add.reduceat(parts, found.start))


def recursive(found: Distributions, l: int = 2) -> NDArray[np.float64]:  # noqa: E741
    r"""Ratio of the largest frequency to all from the l-th on, ``(b,)``.

    Records are recursively (c, l)-diverse for every c above it: $r_1 < c (r_l + … + r_m)$ with
    descending frequencies; infinite with fewer than l values. Source: Machanavajjhala et al.
    (2007).

    Raises
    ------
    InputError
        l is below 1.
    """
    if l < 1:
        raise InputError(f"l= must be at least 1, not {l!r}")
    order = np.lexsort((-found.count, found.owner))
    count = found.count[order]
    place = np.arange(len(count)) - found.start[found.owner]
    rest = np.add.reduceat(np.where(place >= l - 1, count, 0), found.start)
    with np.errstate(divide="ignore"):
        return count[found.start] / rest


def largest_share(found: Distributions) -> NDArray[np.float64]:
    """Share of the most frequent value, ``(b,)``: the smallest α of (α, k)-anonymity.

    Source: Wong, Li, Fu and Wang (2006).
    """
    return np.maximum.reduceat(found.count, found.start) / found.total
