"""The p% and the pq rule: how closely other contributors may estimate the largest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import Number, Percentage, Whole
from diskret.rules.contributions import largest, target, unprotected
from diskret.rules.percentages import LARGEST, ceil_divide, linear, percentage
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left

#: A smallest protection level; no value is larger than the largest.
_Level = Annotated[float, Number(low=0, high=10**15)]
#: How many contributors pool what they know.
_Coalition = Annotated[int, Whole(1)]


class _Ambiguity(Joinable):
    """What the p% and the pq rule have in common: both ask for a share of the largest value."""

    minimum_level: float
    coalition: int
    _name: ClassVar[str]
    _title: ClassVar[str]

    rank: ClassVar[int] = 1
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    @property
    def _share(self) -> Fraction:
        """The share of x1 that an estimate must not reach."""
        raise NotImplementedError

    @property
    def largest(self) -> int:
        """The largest contribution and those of the coalition."""
        return self.coalition + 1

    def against(self, coalition: int) -> Self:
        """The same rule against at least so many who pool what they know."""
        return replace(cast(Any, self), coalition=max(self.coalition, coalition))

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell: unsafe iff X − x1 − … − x(n+1) < share·x1, n the coalition's size.

        With waivers x1 is the largest contribution without one, and where all have waived a cell
        is safe.
        """
        measure = table.measure
        top = largest(table, self.largest, self._title)
        over, of = self._share.numerator, self._share.denominator
        x1, others = target(table, top)
        coalition_sum = others[..., : self.coalition].sum(axis=-1)
        # of · level, which is positive exactly where the rule hits
        need = linear([(over + of, x1), (of, coalition_sum), (-of, measure.magnitude)])
        unsafe = np.asarray(need > 0, dtype=bool) & unprotected(table)
        smallest = min(round(self.minimum_level * 10**measure.decimals), LARGEST)
        return judged(
            table,
            self._name,
            unsafe,
            np.maximum(ceil_divide(need, of), smallest),
            unknown=measure.magnitude - x1 - coalition_sum,
        )

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What contributors leave open: share·a' − R', rounded up, where it is positive.

        a' is the largest protected contribution of somebody else, R' all the rest outside.
        """
        over, of = self._share.numerator, self._share.denominator
        need = ceil_divide(linear([(over, left.largest), (-of, left.rest)]), of)
        smallest = min(round(self.minimum_level * 10**left.decimals), LARGEST)
        return np.where(need > 0, np.maximum(need, smallest), 0)


@dataclass(frozen=True)
class PPercent(_Ambiguity):
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
        Percentage from 1 upwards, e.g. 5 or 10, not a share such as 0.05. Confidential: never
        published.
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
    minimum_level: _Level = 0
    coalition: _Coalition = 1

    _name: ClassVar[str] = "p_percent"
    _title: ClassVar[str] = "the p% rule"

    @property
    def _share(self) -> Fraction:
        """The share of x1 that an estimate must not reach."""
        return percentage(self.p, "p")


@dataclass(frozen=True)
class PQ(_Ambiguity):
    """A cell is unsafe if who knows contributions within q% can learn the largest within p%.

    With total X and contributions x1 ≥ x2 ≥ … of units (or holdings, where given) a cell is
    unsafe iff X − x1 − x2 < (p/q)·x1. Its protection level on both sides is what the rule
    leaves open: (p/q)·x1 − (X − x1 − x2), rounded up. ``PQ(p, 100)`` judges as
    ``PPercent(p)``. Waivers count as in the p% rule.

    Parameters
    ----------
    p
        Percentage that the estimate must not reach, at least 1 and below q. Confidential:
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
    minimum_level: _Level = 0
    coalition: _Coalition = 1

    _name: ClassVar[str] = "pq"
    _title: ClassVar[str] = "the pq rule"

    def __post_init__(self) -> None:
        super().__post_init__()
        if percentage(self.p, "p") >= percentage(self.q, "q"):
            raise InputError(
                f"p must be below q, but p={self.p!r} and q={self.q!r}: a publication cannot "
                "be asked to leave more open than was open before"
            )

    @property
    def _share(self) -> Fraction:
        """The share of x1 that an estimate must not reach."""
        return percentage(self.p, "p") / percentage(self.q, "q")
