"""The minimum frequency rule: few contributors make a cell unsafe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from diskret.parameters import AnyPercentage, Whole
from diskret.rules.contributions import contributors, unprotected
from diskret.rules.percentages import percent_of
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


@dataclass(frozen=True)
class MinimumFrequency(Joinable):
    """A cell is unsafe if it has contributors, but fewer than n.

    Unsafe iff 0 < c < n, so "1 to 3 is unsafe" is ``MinimumFrequency(4)``. The protection
    level of a count is `level` on both sides, cut at 0 below; that of a sum is `range` percent
    of X, the sum of absolute contributions. Where all contributors have waived protection
    (`waiver=` of [`tabulate`][diskret.tabulate]) a cell is safe.

    Parameters
    ----------
    n
        Smallest number of contributors that may be published, ≥ 2. Confidential.
    of
        What is counted: ``"records"``, ``"units"`` or ``"holdings"``; None: units if the
        table sums a value and knows its units, else records.
    range
        Protection level of sums in percent of X, above 0.
    level
        Protection level of counts, ≥ 1; None: 1. Confidential. With 1, an attacker may be left
        with three values of which the true one is in the middle.

    Raises
    ------
    InputError
        On call: the table does not know what is to be counted.

    References
    ----------
    Hundepool et al. (2010), Handbook on Statistical Disclosure Control, section 4.2.

    Examples
    --------
    >>> MinimumFrequency(3)
    MinimumFrequency(n=3, of=None, range=10, level=None)
    """

    n: Annotated[int, Whole(2)]
    of: Literal["records", "units", "holdings"] | None = None
    range: Annotated[float, AnyPercentage()] = 10
    level: Annotated[int, Whole(1, 2**31 - 1)] | None = None

    rank: ClassVar[int] = 3
    judges_unions: ClassVar[bool] = True

    def against(self, coalition: int) -> Self:
        """The same rule against so many who pool what they know.

        n says what is safe from one of the contributors. Of m who pool, m - 1 more can take
        themselves out, so c contributors are too few iff 0 < c < n + m - 1.
        """
        return replace(self, n=self.n + coalition - 1)

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        count = contributors(table, self.of)
        unsafe = (count > 0) & (count < self.n) & unprotected(table)
        if table.frequency:
            level = np.full(table.shape, self.level or 1, dtype=np.int64)
        else:
            level = percent_of(table.measure.magnitude, self.range, "range")
        return judged(table, "minimum_frequency", unsafe, level)

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What has to stay uncertain for contributors who leave this over."""
        if left.frequency:
            return unsafe.astype(np.int64)
        level = percent_of(left.largest + left.rest, self.range, "range")
        return np.where(unsafe, np.maximum(level, 1), 0)
