"""How easily records are recognised, in figures, for reports and checklists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.io import Coded
from diskret.risk.drawn_households import risk_of_drawn
from diskret.risk.frequencies import frequencies
from diskret.risk.individual import household_risk
from diskret.risk.keys import Keys

#: Groups of frequencies: from, to.
GROUPS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 99), (100, None))
_COMBINATIONS = 10


@dataclass(frozen=True, eq=False)
class RiskSummary:
    """What is known of the risk of a file. Confidential."""

    sample: NDArray[np.float64]  # for each record the number of records that share its keys, (n,)
    #: the same where a match that needs a missing value counts nothing, (n,)
    strict: NDArray[np.float64]
    risk: NDArray[np.float64]  # its risk of being recognised, (n,)
    #: expected number of households in which somebody is recognised; None: no household is named
    households: float | None

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.sample)

    @property
    def uniques(self) -> int:
        """Number of records whose keys nobody shares."""
        return self.below(2)

    def below(self, k: int) -> int:
        """Number of records that agree with fewer than k, themselves included."""
        return int((self.sample < k).sum())

    def below_shown(self, k: int) -> int:
        """The same by the values that are shown, without the help of missing ones."""
        return int((self.strict < k).sum())

    @property
    def expected(self) -> float:
        """Expected number of records that are recognised."""
        return float(self.risk.sum())

    @property
    def largest(self) -> float:
        """Largest risk of a record."""
        return float(self.risk.max())

    def groups(self) -> Mapping[tuple[int, int | None], int]:
        """Frequencies from, to → number of records; to None: and above."""
        return {
            (low, high): int(
                (
                    (self.sample >= low) & (self.sample < (np.inf if high is None else high + 1))
                ).sum()
            )
            for low, high in GROUPS
        }


def summary(
    keys: Keys,
    weights: NDArray[np.float64] | None = None,
    household: Coded | None = None,
    together: NDArray[np.int64] | None = None,
) -> RiskSummary:
    """The risk of records by their keys; a missing value agrees with every value.

    `weights`: sampling weights > 0, ``(n,)``; None: the records are all there are. `household`: the
    household of each record. `together`: the same as numbers, if households were drawn whole.

    >>> import pyarrow as pa
    >>> from diskret.io import coded
    >>> found = summary(Keys((coded(pa.chunked_array([["a", "b", "b"]]), "town"),)))
    >>> found.uniques, found.expected
    (1, 2.0)
    """
    found = frequencies(keys, weights)
    risk = risk_of_drawn(keys, found, together)
    households = None if household is None else household_risk(risk, household).expected
    strict = frequencies(keys, missing="conservative").sample
    return RiskSummary(found.sample, strict, risk, households)


@dataclass(frozen=True)
class Combination:
    """Records with the same keys."""

    #: what they show, one text for each key, None where it is missing
    values: tuple[str | None, ...]
    records: int  # how many show exactly this
    frequency: float  # how many agree with them, missing values agreeing with all
    risk: float  # risk of each


def riskiest(keys: Keys, found: RiskSummary) -> tuple[Combination, ...]:
    """The ten combinations of keys with the largest risks, those of fewest records first."""
    classes = keys.classes
    first = np.zeros(len(classes.count), dtype=np.intp)
    first[classes.of] = np.arange(keys.n)  # any record of the class
    risk, frequency = found.risk[first], found.sample[first]
    order = np.lexsort((classes.count, frequency, -risk))[:_COMBINATIONS]
    texts = [column.categories.cast("string").to_pylist() for column in keys.columns]
    return tuple(
        Combination(
            tuple(
                None if code < 0 else text[code]
                for code, text in zip(classes.codes[at], texts, strict=True)
            ),
            int(classes.count[at]),
            float(frequency[at]),
            float(risk[at]),
        )
        for at in order
    )
