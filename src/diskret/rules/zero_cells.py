"""The zero rule: a sum of 0 says of every contributor that it has nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from diskret.errors import InputError
from diskret.parameters import Positive
from diskret.rules.sensitivity import Joinable, Sensitivity, judged
from diskret.tables import Table


@dataclass(frozen=True)
class ZeroCells(Joinable):
    """A cell is unsafe if it has contributors and all of them contribute 0.

    Unsafe iff c > 0 and X = 0, X the sum of absolute contributions. Cells without
    contributors are empty and stay published; where a table does not know its contributors,
    every 0 counts as empty.

    No other rule but a minimum frequency finds such cells: nobody is large in them. Everybody
    knows that a sum of contributions ≥ 0 is at least 0, so there is nothing to protect below:
    the lower level is 0 and the upper `level`. Where contributions may be negative, `level`
    holds on both sides.

    Parameters
    ----------
    level
        Protection level in published units, above 0: an absolute distance, since a
        percentage of 0 is 0. Confidential.

    Raises
    ------
    InputError
        On call: the table holds no measure.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, safety rule ZERO(r).

    Examples
    --------
    >>> import pyarrow as pa
    >>> cells = pa.table({"branch": ["A", "B", "C"], "tax": [0, 0, 7], "firms": [4, 0, 5]})
    >>> table = Table.from_cells(cells, by={"branch": None}, value="tax", count="firms")
    >>> sensitivity = ZeroCells(10)(table)
    >>> sensitivity.unsafe.tolist(), sensitivity.upper.tolist()
    ([False, True, False, False], [0, 10, 0, 0])
    """

    level: Positive

    rank: ClassVar[int] = 6
    judges_unions: ClassVar[bool] = True
    of_sums: ClassVar[bool] = True

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        if table.frequency:
            raise InputError(
                "the zero rule judges sums and this is a frequency table, in which 0 means that "
                "nobody is there; tabulate a value= or leave the rule out"
            )
        measure = table.measure
        nobody = True if table.count is None else table.count == 0
        unsafe = (measure.magnitude == 0) & np.logical_not(nobody)
        level = ceil(Fraction(str(self.level)) * 10**measure.decimals)
        return judged(table, "zero", unsafe, np.full(table.shape, level))
