"""The pq rule: prior knowledge of q percent must not become knowledge of p percent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Percentage
from diskret.rules.estimation import Coalition, Level, estimable, estimable_left
from diskret.rules.exact import percentage
from diskret.rules.sensitivity import Joinable, Sensitivity
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


@dataclass(frozen=True)
class PQ(Joinable):
    """A cell is unsafe if who knows contributions within q% can learn the largest within p%.

    With total X and contributions x1 ≥ x2 ≥ … of units (or holdings, where given) a cell is
    unsafe iff X − x1 − x2 < (p/q)·x1. Its protection level on both sides is what the rule
    leaves open: (p/q)·x1 − (X − x1 − x2), rounded up. ``PQ(p, 100)`` judges as
    ``PPercent(p)``. Waivers count as in the p% rule.

    Parameters
    ----------
    p
        Percentage that the estimate must not reach, above 0 and below q. Confidential:
        never published.
    q
        Percentage within which everybody knows each contribution before the publication,
        at most 100. Confidential.
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
    >>> PQ(5, 50).largest
    2
    """

    p: Annotated[float, Percentage()]
    q: Annotated[float, Percentage(high=100)]
    minimum_level: Level = 0
    coalition: Coalition = 1

    rank: ClassVar[int] = 1
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if percentage(self.p, "p") >= percentage(self.q, "q"):
            raise InputError(
                f"p must be below q, but p={self.p!r} and q={self.q!r}: a publication cannot "
                "be asked to leave more open than was open before"
            )

    @property
    def largest(self) -> int:
        """The largest contribution and those of the coalition."""
        return self.coalition + 1

    def against(self, coalition: int) -> Self:
        """The same rule against at least so many who pool what they know."""
        return replace(self, coalition=max(self.coalition, coalition))

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        share = percentage(self.p, "p") / percentage(self.q, "q")
        return estimable(table, share, self.minimum_level, self.coalition, "pq", "the pq rule")

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What has to stay uncertain for contributors who leave this over."""
        share = percentage(self.p, "p") / percentage(self.q, "q")
        return estimable_left(left, share, self.minimum_level)
