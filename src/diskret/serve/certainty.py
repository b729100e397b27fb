"""How much answers tell about a single record: a bound for whoever knows all the others."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated

import numpy as np

from diskret.attack.noise import NoiseTable, chances
from diskret.parameters import Whole, reading


@dataclass(frozen=True)
class Resistance:
    """What a noise table is worth against questions about one record. Confidential.

    Each is the least of all counts: 1 means that nothing is told, 0 that everything is.

    Parameters
    ----------
    neighbours
        Of two counts that differ by the record: Σ √(p p').
    twins
        Of two cells that are the same without the record: Σ p √p'.
    both
        The same where the record is in one of two places: Σ p p'.
    """

    neighbours: float
    twins: float
    both: float

    def certainty(self, tables: Annotated[int, Whole(0)], twins: bool = True) -> float:
        """How often somebody is right, at most, who has to say whether a record is there.

        Parameters
        ----------
        tables
            That count the record.
        twins
            Whether tables may hold cells that differ by this record alone.
        """
        return _certain(self.twins if twins else self.neighbours, tables)

    def certainty_of_value(self, tables: Annotated[int, Whole(0)], twins: bool = True) -> float:
        """The same for which of two values a record has that is there for sure."""
        return _certain(self.both if twins else self.neighbours, 2 * tables)

    def tables(self, certainty: float, twins: bool = True) -> int:
        """The most tables after which nobody is more certain than this of a record's presence."""
        coefficient = self.twins if twins else self.neighbours
        least = 1 - (2 * certainty - 1) ** 2
        if coefficient <= 0 or least >= 1:
            return 0
        if coefficient >= 1 or least <= 0:
            return 10**9
        return int(log(least) / (2 * log(coefficient)) + 1e-9)


@reading
def resistance(noise: NoiseTable, known_empty: bool = True) -> Resistance:
    """What a noise table is worth against questions about one record.

    Parameters
    ----------
    noise
        How likely each noise is for each count, see `PerturbationTable`.
    known_empty
        Whether the attacker may know that nobody else is in a cell. An empty cell shows 0 for
        sure, so this is where a single table tells most.

    Returns
    -------
    Resistance
        The coefficients of the bound ½ + ½ √(1 − c^(2m)) after m tables, see decision 98.

    References
    ----------
    Bhattacharyya (1943), "On a measure of divergence between two statistical populations", Bulletin
    of the Calcutta Mathematical Society 35. Kailath (1967), "The divergence and Bhattacharyya
    distance measures in signal selection", IEEE Transactions on Communication Technology 15(1).

    Examples
    --------
    >>> from diskret import PerturbationTable
    >>> found = resistance(PerturbationTable.maximum_entropy(5, 3), known_empty=False)
    >>> round(found.neighbours, 3), round(found.certainty(1, twins=False), 3)
    (0.932, 0.681)
    """
    shown = chances(noise, int(noise.counts[-1]) + 1)
    one, more = shown[:-1], shown[1:]
    if not known_empty:
        one, more = one[1:], more[1:]
    return Resistance(
        float(np.sqrt(one * more).sum(1).min()),
        float((one * np.sqrt(more)).sum(1).min()),
        float((one * more).sum(1).min()),
    )


def _certain(coefficient: float, times: int) -> float:
    """Who has to tell two distributions apart, both equally likely (Kailath, 1967)."""
    return 0.5 + 0.5 * sqrt(max(1 - min(coefficient, 1.0) ** (2 * times), 0.0))
