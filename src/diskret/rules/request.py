"""The request rule: who asks for protection gets it, if large enough in the cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.parameters import AnyPercentage, Percentage, Whole
from diskret.rules.contributions import contributors, largest, unprotected
from diskret.rules.percentages import linear, percent_of, percentage
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table

if TYPE_CHECKING:
    from diskret.rules.insiders import Left


@dataclass(frozen=True)
class Request(Joinable):
    """A cell is unsafe if its largest contributor asked for protection and has a large share.

    Unsafe iff the largest contributor asked for protection (`request=` of
    [`tabulate`][diskret.tabulate]) and x1 > (share/100)·X; those who asked at the second
    level are judged by `second`. With `minimum`, a cell with fewer contributors is unsafe
    too if any of them asked. A holding asks if one of its units in the cell does. The
    protection level is `range` percent of X, the sum of absolute contributions.

    Parameters
    ----------
    share
        Percentage from 1 to 100 for requests at the first level. Confidential.
    second
        The same for requests at the second level; None: `share`.
    minimum
        Number of contributors from which on a request by a smaller one counts for nothing;
        0: never does.
    range
        Protection level in percent of X, above 0.

    Raises
    ------
    InputError
        On call: the table holds no measure, no largest contribution, or no requests.

    Notes
    -----
    This is REQ(p1, p2, n, r) of τ-ARGUS (manual, section 5.7).

    Examples
    --------
    >>> Request(70).largest
    1
    """

    share: Annotated[float, Percentage(high=100)]
    second: Annotated[float, Percentage(high=100)] | None = None
    minimum: Annotated[int, Whole(0)] = 0
    range: Annotated[float, AnyPercentage()] = 10

    rank: ClassVar[int] = 2
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    @property
    def largest(self) -> int:
        """The rule looks at the largest contribution."""
        return 1

    def against(self, coalition: int) -> Self:
        """The same rule against so many who pool what they know: `minimum`, if any, grows.

        As with a minimum frequency, m - 1 more can take themselves out.
        """
        return replace(self, minimum=self.minimum + coalition - 1) if self.minimum else self

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        x1 = largest(table, 1, "the request rule")[..., 0]
        if "request" not in table.marked:
            raise InputError(
                "the table does not know who asked for protection; give request= when it is made"
            )
        unsafe = self._asked(table, "request", self.share, x1)
        if "request 2" in table.marked:
            second = self.share if self.second is None else self.second
            unsafe |= self._asked(table, "request 2", second, x1)
        level = percent_of(table.measure.magnitude, self.range, "range")
        return judged(table, "request", unsafe & unprotected(table), level)

    def for_insiders(self, left: Left, unsafe: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What has to stay uncertain for contributors who leave this over."""
        level = percent_of(left.largest + left.rest, self.range, "range")
        return np.where(unsafe & left.asked, np.maximum(level, 1), 0)

    def _asked(
        self, table: Table, mark: str, percent: float, x1: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        measure, share = table.measure, percentage(percent, "share")
        over = linear([(share.denominator, x1), (-share.numerator, measure.magnitude)])
        there = table.marked[mark] > 0
        unsafe = there & (measure.marked[mark] >= x1) & np.asarray(over > 0, dtype=bool)
        if self.minimum:
            unsafe |= there & (contributors(table, None) < self.minimum)
        return unsafe
