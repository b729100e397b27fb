"""The marginal value rule: a cell that is (nearly) all of a total says so of everybody in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from diskret.errors import InputError
from diskret.parameters import AnyPercentage, Names, Whole
from diskret.rules.contributions import compared
from diskret.rules.parents import NO_PARENT, smallest_parent
from diskret.rules.percentages import LARGEST, percent_of
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table


@dataclass(frozen=True)
class MarginalValue(Joinable):
    """A cell is unsafe if at most `distance` contributors to one of its totals are elsewhere.

    Unsafe iff X > 0 and M − X ≤ distance for a parent M: a total of the cell along the
    `variables` that is not the same cell (the total of a code with a single child is).
    Whether it does harm to know that nearly all of M have the property of X is a judgement
    of content, so say which variables the rule is for. X and M are numbers of contributors:
    those published in a frequency table; in a table of sums units if these are known, else
    records.

    The lower level of a count is 1 and the upper level 0: a part cannot exceed its total.
    Since the other parts of M may all be empty, the rule lets empty cells become
    secondaries.

    Parameters
    ----------
    distance
        A whole number from 0 to 2 to the 62. Confidential.
    variables
        Names of the variables along which totals are compared; None: all.
    strict
        Whether an attacker must not even know that X is within `distance` of M: the lower
        level is then X − M + distance + 1, but at most X. For frequency tables only.
    range
        Lower level of sums in percent of the sum of absolute contributions, above 0.

    Raises
    ------
    InputError
        On call: the table has no such variable or does not know its contributors; `strict`
        with a table of sums.

    References
    ----------
    Hundepool et al. (2010), Handbook on Statistical Disclosure Control, chapter 5 (group
    disclosure); German: Randwertregel, Randsummenkriterium.

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"religion": ["a", "b", "c"], "persons": [4, 0, 1]})
    >>> table = Table.from_cells(cells, by={"religion": None}, count="persons")
    >>> MarginalValue()(table).unsafe.tolist()
    [False, True, False, False]
    """

    distance: Annotated[int, Whole(0, LARGEST)] = 1
    variables: Annotated[Sequence[str], Names(some=True, alone=False)] | None = None
    strict: bool = False
    range: Annotated[float, AnyPercentage()] = 10

    rank: ClassVar[int] = 4

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        if self.strict and not table.frequency:
            raise InputError(
                "strict=True is a claim about counts and this is a table of sums; leave it out, "
                "or judge the frequencies: table['count']"
            )
        count = compared(table, "MarginalValue")
        parent = smallest_parent(table, count, self.variables)
        unsafe = (count > 0) & (parent < NO_PARENT) & (parent - count <= self.distance)
        if not table.frequency:
            lower = percent_of(table.measure.magnitude, self.range, "range")
        elif self.strict:
            lower = count - parent + self.distance + 1
        else:
            lower = np.ones(table.shape, dtype=np.int64)
        return judged(
            table,
            "marginal_value",
            unsafe,
            lower,
            upper=np.zeros(table.shape, dtype=np.int64),
            zeros_may_hide=bool(unsafe.any()),
        )
