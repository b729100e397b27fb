"""A protected table as its files show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.argus.data import Made
from diskret.protect.perturbed_result import PerturbedResult
from diskret.protect.result import Result
from diskret.rules import Sensitivity
from diskret.tables import Table

SAFE, SAFE_BY_HAND, UNSAFE, BY_HAND, PROTECTED, SECONDARY, EMPTY = 1, 2, 3, 9, 10, 11, 14
_OF_RULE = {
    "dominance": UNSAFE,
    "p_percent": UNSAFE,
    "pq": UNSAFE,
    "request": 4,
    "minimum_frequency": 5,
    "zero": 6,
    "apriori": BY_HAND,
}


@dataclass(frozen=True, eq=False)
class Done:
    """A table as its files show it, protected or not yet.

    result: what protects it; None before that.
    """

    made: Made
    sensitivity: Sensitivity
    result: Result | PerturbedResult | None = None

    @property
    def changed(self) -> bool:
        """Whether values were changed and not hidden."""
        return isinstance(self.result, PerturbedResult)

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """The cells that are not shown; without protection those that the rules find unsafe."""
        if isinstance(self.result, Result):
            return self.result.published.suppressed
        if self.changed:
            return np.zeros(self.made.table.shape, dtype=bool)
        return self.sensitivity.unsafe

    @property
    def empty(self) -> NDArray[np.bool_]:
        """The cells that anybody may know to be empty.

        Where values are changed, a true 0 must not be told from one that was made.
        """
        if isinstance(self.result, PerturbedResult):
            return self.result.published.empty
        return self.made.table.empty & ~self.hidden

    @property
    def original(self) -> tuple[NDArray[np.int64], int]:
        """What the table holds, as scaled integers, and their decimals."""
        return shown_values(self.made.table)

    @property
    def published(self) -> tuple[NDArray[np.int64], int]:
        """What is shown where nothing is hidden, as scaled integers, and their decimals."""
        if isinstance(self.result, PerturbedResult):
            return self.result.published.value, self.result.published.decimals
        return self.original

    @property
    def status(self) -> NDArray[np.int64]:
        """The status of every cell by its number in τ-ARGUS."""
        says = self.sensitivity
        status = np.full(self.made.table.shape, SAFE)
        if says.safe is not None:
            status[says.safe & ~self.made.unknown] = SAFE_BY_HAND
        if says.frozen is not None:
            status[says.frozen] = PROTECTED
        status[self.made.table.empty] = EMPTY
        status[self.hidden] = SECONDARY
        of_rule = np.array([*(_OF_RULE.get(name, UNSAFE) for name in says.reasons), SAFE])
        found = np.where(says.unsafe, of_rule[says.reason], status)
        if self.made.taken is not None:  # they are hidden to protect others, whoever says so
            found[self.made.taken & (found == BY_HAND)] = SECONDARY
        return found


def shown_values(table: Table) -> tuple[NDArray[np.int64], int]:
    """The values of a table as its file says them, and their decimals.

    Of values that are rounded in the file sums of parts are known, too; these are not shown.
    """
    measure = table.measure
    values = measure.sum if table.shown is None else table.shown
    if table.rounding > 1 and measure.decimals and not (values % 10).any():
        return values // 10, measure.decimals - 1
    return values, measure.decimals
