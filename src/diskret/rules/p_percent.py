"""The p% rule: nobody may estimate the largest contribution too closely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from diskret.rules.estimation import check_minimum_level, estimable
from diskret.rules.exact import percentage
from diskret.rules.sensitivity import Joinable, Sensitivity
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
        check_minimum_level(self.minimum_level)

    @property
    def largest(self) -> int:
        """The rule looks at the two largest contributions."""
        return 2

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        share = percentage(self.p, "p")
        return estimable(table, share, self.minimum_level, "p_percent", "the p% rule")
