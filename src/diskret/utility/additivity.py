"""How far published totals lie from the sum of their published parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.utility.deviations import NAN
from diskret.utility.pairs import Pair


@dataclass(frozen=True)
class Additivity:
    """Defects of the equations total = sum of parts, in the measure's own unit.

    Parameters
    ----------
    equations
        How many there are between cells that are all published with a value.
    broken
        How many of them do not hold.
    mean, largest
        Mean, over all equations, and largest of |total − sum of parts|.
    """

    equations: int
    broken: int
    mean: float
    largest: float


def additivity(pairs: Iterable[Pair]) -> Additivity:
    """The additivity defect of what is published.

    Examples
    --------
    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables import Dimension, Table
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> table = Table((region,), count=np.array([13, 8, 5]))
    >>> shown = np.ones(3, dtype=bool)
    >>> additivity([Pair(table, np.array([12, 9, 6]), shown)])
    Additivity(equations=1, broken=1, mean=3.0, largest=3.0)
    """
    equations = broken = largest = 0
    total, decimals = 0.0, 0
    for pair in pairs:
        decimals = pair.table.measure.decimals
        for axis, dimension in enumerate(pair.table.dimensions):
            values = np.moveaxis(pair.protected, axis, 0)
            shown = np.moveaxis(pair.shown, axis, 0)
            for code, children in enumerate(dimension.hierarchy.children):
                if len(children):
                    defect = _defect(values, shown, code, children)
                    equations += defect.size
                    broken += int(np.count_nonzero(defect))
                    total += float(defect.sum(dtype=np.float64))
                    largest = max(largest, int(defect.max(initial=0)))
    mean = total / equations / 10**decimals if equations else NAN
    return Additivity(equations, broken, mean, largest / 10**decimals)


def _defect(
    values: NDArray[np.int64], shown: NDArray[np.bool_], code: int, children: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Defects of one total's equations, of those whose cells are all shown."""
    complete = shown[code] & shown[children].all(axis=0)
    return np.abs(values[code] - values[children].sum(axis=0))[complete]
