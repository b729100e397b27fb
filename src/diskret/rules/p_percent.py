"""The p% rule: nobody may estimate the largest contribution too closely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Percentage
from diskret.rules.estimation import Coalition, Level, estimable, estimable_left
from diskret.rules.exact import percentage
from diskret.rules.sensitivity import Joinable, Sensitivity
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


@dataclass(frozen=True)
class PPercent(Joinable):
    """A cell is unsafe if the second largest contributor can estimate the largest within p%.

    With total X and contributions x1 ≥ x2 ≥ … of units (or holdings, where given) a cell is
    unsafe iff X − x1 − x2 < (p/100)·x1. Its protection level on both sides is what the
    rule leaves open: (p/100)·x1 − (X − x1 − x2), rounded up.

    With waivers (`waiver=` of [`tabulate`][diskret.tabulate]) only the others are protected:
    the largest contribution without a waiver takes the place of x1, and the largest of all
    other contributors, waived or not, that of x2.

    Parameters
    ----------
    p
        Percentage above 0, e.g. 5 or 10. Confidential: never published.
    minimum_level
        Smallest protection level, in published units, ≥ 0.
    coalition
        How many contributors pool what they know to estimate the largest, ≥ 1. With n of
        them x2 becomes x2 + … + x(n+1) in both formulas.

    Raises
    ------
    InputError
        On call: the table holds no measure, or fewer than `coalition` + 1 largest
        contributions.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 4.2.2. Coalitions: de
    Wolf et al., τ-ARGUS user's manual 4.1, safety rule P(p, n).

    Examples
    --------
    >>> PPercent(5).largest, PPercent(5, coalition=2).largest
    (2, 3)
    """

    p: Annotated[float, Percentage()]
    minimum_level: Level = 0
    coalition: Coalition = 1

    rank: ClassVar[int] = 1
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    @property
    def largest(self) -> int:
        """The largest contribution and those of the coalition."""
        return self.coalition + 1

    def against(self, coalition: int) -> Self:
        """The same rule against at least so many who pool what they know."""
        return replace(self, coalition=max(self.coalition, coalition))

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        share = percentage(self.p, "p")
        return estimable(
            table, share, self.minimum_level, self.coalition, "p_percent", "the p% rule"
        )

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What has to stay uncertain for contributors who leave this over."""
        return estimable_left(left, percentage(self.p, "p"), self.minimum_level)
