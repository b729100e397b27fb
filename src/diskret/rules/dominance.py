"""The (n, k) dominance rule."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import Percentage, Whole
from diskret.rules.contributions import largest, unprotected
from diskret.rules.percentages import ceil_divide, linear, percentage
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


@dataclass(frozen=True)
class Dominance(Joinable):
    """A cell is unsafe if its n largest contributions are more than k% of the total.

    Unsafe iff x1 + … + xn > (k/100)·X. The protection level on both sides is
    (100/k)·(x1 + … + xn) − X, rounded up. For n < 3 a warning says that a competitor may
    still compute the largest contribution and who calls the rule obsolete (Rothe 2015). With
    waivers (`waiver=` of [`tabulate`][diskret.tabulate]) a cell is unsafe only if one of the n
    largest has none.

    Parameters
    ----------
    n
        Number of largest contributions, ≥ 1.
    k
        Percentage from 1 to 100, not a share such as 0.8. Confidential: never published.
    quiet
        No warning for n < 3, where the rule is required nevertheless.

    Raises
    ------
    InputError
        On call: the table holds no measure, or fewer than n largest contributions.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, section 4.2.2.

    Examples
    --------
    >>> Dominance(3, 70).largest
    3
    """

    n: Annotated[int, Whole(1)]
    k: Annotated[float, Percentage(high=100)]
    quiet: bool = field(default=False, repr=False, compare=False)

    rank: ClassVar[int] = 0
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 3 and not self.quiet:
            warnings.warn(
                f"the ({self.n},k) dominance rule lets a competitor estimate the largest "
                "contribution, and is obsolete by decision of the heads of the German statistical "
                "offices (Rothe 2015, footnote 1); use PPercent, or quiet=True if it is required",
                stacklevel=3,
            )

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rule needs: n."""
        return self.n

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        measure = table.measure
        top = largest(table, self.n, "the dominance rule")
        share = percentage(self.k, "k")
        over, of = share.numerator, share.denominator
        # over · level, which is positive exactly where the rule hits
        need = linear([(of, top.sum(axis=-1)), (-over, measure.magnitude)])
        unsafe = np.asarray(need > 0, dtype=bool) & unprotected(table)
        if "no_waiver" in table.marked:
            unsafe &= measure.marked["no_waiver"] >= top[..., -1]
        unknown = measure.magnitude - top.sum(axis=-1)
        return judged(table, "dominance", unsafe, ceil_divide(need, over), unknown=unknown)

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What has to stay uncertain for contributors who leave this over."""
        share = percentage(self.k, "k")
        others = np.maximum(self.n - left.members, 0)
        top = np.where(np.arange(left.top.shape[1]) < others[:, None], left.top, 0).sum(axis=1)
        total = left.inside + left.largest + left.rest
        need = linear(
            [(share.denominator, left.inside), (share.denominator, top), (-share.numerator, total)]
        )
        # where all of the largest have consented the rule asks for nothing
        return np.where(unsafe & (others > 0), ceil_divide(need, share.numerator), 0)
