"""The p% rule: nobody may estimate the largest contribution too closely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from diskret.errors import InputError
from diskret.rules.contributions import largest
from diskret.rules.exact import ceil_divide, linear, percentage
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table


@dataclass(frozen=True)
class PPercent(Joinable):
    """A cell is unsafe if the second largest contributor can estimate the largest within p%.

    With total X and contributions x1 ≥ x2 ≥ … of units (or holdings, where given) a cell is
    unsafe iff X − x1 − x2 < (p/100)·x1. Its protection level on both sides is what the
    rule leaves open: (p/100)·x1 − (X − x1 − x2), rounded up.

    Parameters
    ----------
    p
        Percentage above 0, e.g. 5 or 10. Confidential: never published.
    minimum_level
        Smallest protection level, in published units, ≥ 0.

    Raises
    ------
    InputError
        On call: the table holds no measure, or fewer than two largest contributions.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 4.2.2.

    Examples
    --------
    >>> PPercent(5).largest
    2
    """

    p: float
    minimum_level: float = 0

    rank: ClassVar[int] = 1

    def __post_init__(self) -> None:
        percentage(self.p, "p")
        if not self.minimum_level >= 0:
            raise InputError(f"minimum_level must be ≥ 0, not {self.minimum_level!r}")

    @property
    def largest(self) -> int:
        """The rule looks at the two largest contributions."""
        return 2

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        measure = table.measure
        top = largest(table, 2, "the p% rule")
        share = percentage(self.p, "p")
        over, of = share.numerator, share.denominator
        x1, x2 = top[..., 0], top[..., 1]
        # of · level, which is positive exactly where the rule hits
        need = linear([(over + of, x1), (of, x2), (-of, measure.magnitude)])
        unsafe = np.asarray(need > 0, dtype=bool)
        smallest = round(self.minimum_level * 10**measure.decimals)
        return judged(table, "p_percent", unsafe, np.maximum(ceil_divide(need, of), smallest))
