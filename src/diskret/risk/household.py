"""Risk of households: if one member is recognised, all are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.io import Coded
from diskret.risk.sums import sums, total


@dataclass(frozen=True, eq=False)
class Households:
    """Households of the sample, and the risk that at least one member is recognised.

    Parameters
    ----------
    of
        For each record its household, ``(n,)``, intp.
    size
        Number of records of each household, ``(h,)``, int64.
    risk
        1 - Π (1 - r) over its members, ``(h,)``.
    """

    of: NDArray[np.intp]
    size: NDArray[np.int64]
    risk: NDArray[np.float64]

    @property
    def records(self) -> NDArray[np.float64]:
        """The risk of its household for each record, ``(n,)``."""
        return self.risk[self.of]

    @property
    def expected(self) -> float:
        """Expected number of households in which somebody is recognised."""
        return total(self.risk)

    @property
    def expected_persons(self) -> float:
        """Expected number of persons who are recognised, alone or through their household."""
        return total(self.risk * self.size)


def household_risk(risk: NDArray[np.float64], household: Coded) -> Households:
    """Put individual risks together by household.

    Members are recognised independently of each other, and one suffices:
    ``1 - Π (1 - r)``. It is summed up in logarithms, so that neither many members nor tiny
    risks are a problem; who has risk 1 makes that of the household exactly 1.

    Parameters
    ----------
    risk
        Individual risks from 0 to 1, ``(n,)``.
    household
        The household of each record, numbers or text; a record without one is a household of
        its own.

    References
    ----------
    Franconi and Polettini (2004), Individual risk estimation in μ-Argus: a review.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret.io import coded
    >>> flat = coded(pa.chunked_array([["b", "a", "b", None]]), "flat")
    >>> found = household_risk(np.array([0.5, 0.1, 0.5, 0.2]), flat)
    >>> found.records.round(3).tolist(), round(found.expected, 3), round(found.expected_persons, 3)
    ([0.75, 0.1, 0.75, 0.2], 1.05, 1.8)
    """
    alone = household.codes < 0
    of = household.codes.astype(np.intp)
    of[alone] = len(household.categories) + np.arange(alone.sum())
    size = np.bincount(of, minlength=len(household.categories))
    sure = risk >= 1  # there is no logarithm of 0
    joint = -np.expm1(sums(of, np.log1p(-np.where(sure, 0, risk)), len(size)))
    joint[of[sure]] = 1
    there = size > 0
    rank = np.cumsum(there) - 1
    return Households(rank[of], size[there], joint[there])
