"""Two published counts of which one holds a unit more: what their difference tells."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise.chances import NoiseTable, noise_row
from diskret.errors import InputError


@dataclass(frozen=True, eq=False)
class Differencing:
    """What is published of the difference of two nested sets A ⊂ B. Confidential.

    Parameters
    ----------
    count, units
        Number of units in A, and how many more are in B.
    values
        Published differences that can occur, ascending; shape ``(m,)``, int64.
    probability
        Their probabilities, shape ``(m,)``, float64.
    """

    count: int
    units: int
    values: NDArray[np.int64]
    probability: NDArray[np.float64]

    @property
    def told(self) -> float:
        """Probability that the two published values differ.

        Had B no unit more, it would be the same cell as A with the same noise, so any other
        difference than 0 tells for certain that somebody is in between.
        """
        return float(1 - self.probability[self.values == 0].sum())

    @property
    def nobody(self) -> float:
        """Probability that nobody is in between if the two are the same, with even odds before."""
        return 1 / (2 - self.told)

    def pairs_needed(self, confidence: float = 0.95) -> int:
        """Number of such pairs, each with other units, of which one tells with this probability."""
        if not 0 < confidence < 1:
            raise InputError(f"confidence= lies between 0 and 1, not {confidence}")
        if self.told <= 0:
            raise InputError("these pairs never differ, so no number of them tells anything")
        if self.told >= 1:
            return 1
        return ceil(log(1 - confidence) / log(1 - self.told))


def differencing(table: NoiseTable, count: int, units: int = 1) -> Differencing:
    """The distribution of the published difference of two nested sets of units.

    Parameters
    ----------
    table
        The perturbation table.
    count
        Number of units in the smaller set A, at least 0.
    units
        How many more are in the larger set B, at least 1.

    Notes
    -----
    The cell key of B is that of A plus the keys of the units in between, which are uniform and
    independent of it. So the noise of the two is independent, and the distribution is the exact
    convolution of two rows.

    Examples
    --------
    >>> class Ends:
    ...     counts, noise, step = np.array([0, 1]), np.array([-1, 0, 1]), 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> found = differencing(Ends(), count=5)
    >>> found.values.tolist(), found.probability.tolist()
    ([-1, 0, 1, 2, 3], [0.0625, 0.25, 0.375, 0.25, 0.0625])
    >>> found.told, found.pairs_needed()
    (0.75, 3)
    """
    if not count >= 0 or not units >= 1 or count % 1 or units % 1:
        raise InputError(f"count= is at least 0 and units= at least 1, not {count} and {units}")
    smaller, larger = noise_row(table, count), noise_row(table, count + units)
    probability = np.convolve(larger, smaller[::-1])
    values = np.arange(len(probability)) - len(smaller) + 1 + units
    return Differencing(count, units, values[probability > 0], probability[probability > 0])


def worst_differencing(table: NoiseTable, *, zeros: bool = False) -> Differencing:
    """The count at which one unit more is noticed most often.

    Parameters
    ----------
    table
        The perturbation table.
    zeros
        Whether an empty set A is looked at, too.
    """
    counts = range(0 if zeros else 1, len(table.counts) + 1)
    return max((differencing(table, count) for count in counts), key=lambda found: found.told)
