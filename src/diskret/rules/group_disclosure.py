"""The group disclosure rule: a cell must not hold most of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from diskret.parameters import AnyPercentage, Percentage, Whole
from diskret.rules.contributions import compared
from diskret.rules.parents import NO_PARENT, smallest_parent
from diskret.rules.percentages import linear, percent_of, percentage
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table


@dataclass(frozen=True)
class GroupDisclosure(Joinable):
    """A cell is unsafe if it holds at least `percent` of the contributors to one of its totals.

    Unsafe iff X ≥ (percent/100)·M for a parent M ≥ minimum_parent: a total of the cell,
    along one or several variables, that is not the same cell (the total of a code with a
    single child is). X and M are numbers of contributors: those published in a frequency
    table; in a table of sums units if these are known, else records.

    The lower level of a count takes it just below the share: to the largest whole number
    less than (percent/100)·M, for the smallest such M. The upper level is 0: more of the
    same is no comfort. Since the other parts of M may all be empty, the rule lets empty
    cells become secondaries.

    Parameters
    ----------
    percent
        Percentage from 1 to 100. Confidential: never published.
    minimum_parent
        Totals with fewer contributors are not looked at, a whole number ≥ 1.
    range
        Lower level of sums in percent of the sum of absolute contributions, above 0.

    Raises
    ------
    InputError
        On call: the table does not know its contributors.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, chapter 5 (group disclosure).

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "ill": [19, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="ill")
    >>> sensitivity = GroupDisclosure(90)(table)
    >>> sensitivity.unsafe.tolist(), sensitivity.lower.tolist()
    ([False, True, False], [0, 2, 0])
    """

    percent: Annotated[float, Percentage(high=100)]
    minimum_parent: Annotated[int, Whole(1)] = 3
    range: Annotated[float, AnyPercentage()] = 10

    rank: ClassVar[int] = 5

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        count = compared(table, "GroupDisclosure")
        parent = smallest_parent(table, count, at_least=self.minimum_parent)
        has_parent = parent < NO_PARENT
        share = percentage(self.percent, "percent")
        over, of = share.numerator, share.denominator
        # of · (X − share · M), which is 0 or more exactly where the rule hits
        excess = linear([(of, count), (-over, np.where(has_parent, parent, 0))])
        unsafe = has_parent & np.asarray(excess >= 0, dtype=bool)
        if table.frequency:
            lower = (excess // of).astype(np.int64) + 1
        else:
            lower = percent_of(table.measure.magnitude, self.range, "range")
        return judged(
            table,
            "group_disclosure",
            unsafe,
            lower,
            upper=np.zeros(table.shape, dtype=np.int64),
            zeros_may_hide=bool(unsafe.any()),
        )
