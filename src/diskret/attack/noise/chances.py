"""How likely each published value is for each true count, and what one unit more changes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.attack.cell_key_noise import Rows, row_of
from diskret.errors import InputError
from diskret.parameters import Number, Probability, Whole, reading
from diskret.texts.numbers import Count

#: With which probability an attacker wants to be right.
Confidence = Annotated[float, Number(above=0, below=1)]

_ENOUGH = 1e-6


class NoiseTable(Rows, Protocol):
    """What attacks ask of a perturbation table; see `diskret.PerturbationTable`.

    Its rows stand for the counts 0, 1, 2, …
    """

    @property
    def noise(self) -> NDArray[np.int64]:
        """Admissible noise, in units of 1/`step`."""
        ...

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(noise | row)."""
        ...

    @property
    def step(self) -> int:
        """1 for counts."""
        ...


def chances(table: NoiseTable, up_to: int) -> NDArray[np.float64]:
    """P(published value | true count) of all counts up to a limit.

    up_to: the largest count, at least 0.

    Returns an array, shape ``(up_to + 1, up_to + 1 + D)`` with the largest noise D: row n, column j
        holds the probability that n is published as j.

    >>> class Ends:
    ...     counts, noise, step, reuse = np.array([0, 1]), np.array([-1, 0, 1]), 1, 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> chances(Ends(), 2).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0], [0.0, 0.25, 0.5, 0.25]]
    """
    check_for_counts(table)
    row = row_of(table, np.arange(up_to + 1))
    found = np.zeros((up_to + 1, up_to + 1 + largest_noise(table)))
    for at, noise in enumerate(table.noise.tolist()):
        chance = table.probabilities[row, at]
        true = np.flatnonzero(chance)
        found[true, true + noise] += chance[true]
    return found


def largest_noise(table: NoiseTable) -> int:
    """The largest noise on either side that some row can have, D."""
    return int(np.abs(table.noise[table.probabilities.any(axis=0)]).max(initial=0))


def noise_row(table: NoiseTable, count: int) -> NDArray[np.float64]:
    """P(noise | count) of the noise −D, …, D, shape ``(2D + 1,)``."""
    check_for_counts(table)
    if count < 0:
        raise InputError(f"a count is at least 0, not {count}")
    largest = largest_noise(table)
    chance = table.probabilities[row_of(table, np.array(count))]
    some = chance > 0
    found = np.zeros(2 * largest + 1)
    found[table.noise[some] + largest] = chance[some]
    return found


def check_for_counts(table: NoiseTable) -> None:
    """Refuse noise that is not for the counts 0, 1, 2, … without a gap, or makes one negative."""
    if table.step != 1:
        raise InputError(
            f"the noise of this table comes in steps of 1/{table.step}, so it is made for values; "
            "attacks on counts need a perturbation table for counts"
        )
    if not np.array_equal(table.counts, np.arange(len(table.counts))):
        raise InputError(
            "the rows of the perturbation table have to stand for the counts 0, 1, 2, … without a "
            f"gap, not for {table.counts[:8].tolist()}"
        )
    sums = table.probabilities.sum(axis=1)
    short = np.flatnonzero(np.abs(sums - 1) > _ENOUGH)
    if len(short):
        number = Count(len(short))
        raise InputError(
            f"{number} {number:row|rows} of the perturbation table {number:does|do} not sum up to "
            f"1, e.g. row {short[0]} to {sums[short[0]]:.6g}; complete {number:it|them}"
        )
    below = (table.counts[:, None] + table.noise[None, :] < 0) & (table.probabilities > 0)
    if below.any():
        row, at = (int(i) for i in np.argwhere(below)[0])
        number = Count(below.any(axis=1).sum())
        raise InputError(
            f"{number} {number:row|rows} of the perturbation table {number:publishes|publish} "
            f"negative counts, e.g. row {row} with the noise {table.noise[at]}; noise is at least "
            "−count"
        )


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """How well one published count tells whether a unit is in the cell. Confidential.

    Parameters
    ----------
    counts
        The smaller count n of each pair of neighbours n and n + 1; shape ``(pairs,)``, int64.
    without, including
        P(published | n) and P(published | n + 1); shape ``(pairs, values)``, float64.
    """

    counts: NDArray[np.int64]
    without: NDArray[np.float64]
    including: NDArray[np.float64]

    @reading
    def deltas(
        self, epsilon: Annotated[float, Number(low=0, infinite=True)]
    ) -> NDArray[np.float64]:
        """δ of each pair of neighbours, shape ``(pairs,)``; see `delta`."""
        return np.maximum(
            _excess(self.without, self.including, epsilon),
            _excess(self.including, self.without, epsilon),
        )

    def delta(self, epsilon: float) -> float:
        """The least δ that goes with an ε, for the worst count and in both directions.

        δ(ε) = max Σ_j max(0, P(j | n) − e^ε P(j | n′)) over neighbours n, n′. For ε = inf this is
        the probability of publishing a value that only one of the two can have.
        """
        return float(self.deltas(epsilon).max())

    @reading
    def epsilon(self, delta: Probability) -> float:
        """The least ε that goes with a δ; inf where δ is below `delta(inf)`.

        δ(ε) is piecewise linear in e^ε with kinks at the ratios P(j | n) / P(j | n′), so ε is
        solved for between two of them.
        """
        pairs = zip(self.without, self.including, strict=True)
        return max(max(_least(p, q, delta), _least(q, p, delta)) for p, q in pairs)


def privacy_loss(table: NoiseTable, *, zeros: bool = True) -> PrivacyLoss:
    """The exact (ε, δ) of one published count with respect to one unit.

    Parameters
    ----------
    table
        The perturbation table.
    zeros
        Whether the counts 0 and 1 are compared, too. As a true zero is never published as another
        number, every other value tells that somebody is there.

    Notes
    -----
    Noise is bounded, so δ is never 0: the mass that only one of two neighbours can reach tells
    them apart for certain. One cell is looked at; a unit is in many cells, and for k of them with
    independent noise ε and δ add up to kε and kδ.

    References
    ----------
    Rinott, O'Keefe, Shlomo & Skinner (2018), Confidentiality and differential privacy in the
    dissemination of frequency tables, Statistical Science 33. Bailie & Chien (2019), ABS
    perturbation methodology through the lens of differential privacy.

    Examples
    --------
    >>> class Ends:
    ...     counts, noise, step, reuse = np.array([0, 1]), np.array([-1, 0, 1]), 1, 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> loss = privacy_loss(Ends(), zeros=False)
    >>> loss.delta(np.inf), round(loss.epsilon(0.25), 6)
    (0.25, 0.693147)
    """
    last = len(table.counts) - 1
    found = chances(table, last + 1)
    first = 0 if zeros else 1
    return PrivacyLoss(np.arange(first, last + 1), found[first:-1], found[first + 1 :])


def _excess(
    one: NDArray[np.float64], other: NDArray[np.float64], epsilon: float
) -> NDArray[np.float64]:
    """Σ max(0, one − e^ε other) of each row; e^inf · 0 is 0."""
    both = other > 0
    times = np.exp(min(epsilon, 700.0))
    left = np.where(both, one - times * other if np.isfinite(epsilon) else 0.0, one)
    return np.maximum(left, 0).sum(axis=1)


def _least(one: NDArray[np.float64], other: NDArray[np.float64], delta: float) -> float:
    """The least ε ≥ 0 with Σ max(0, one − e^ε other) ≤ delta."""
    both = (one > 0) & (other > 0)
    alone = one[(one > 0) & ~both].sum()
    if alone > delta * (1 + 1e-12):
        return float(np.inf)
    ratio = one[both] / other[both]
    order = np.argsort(-ratio, kind="stable")
    ratio, top, bottom = ratio[order], np.cumsum(one[both][order]), np.cumsum(other[both][order])
    # where e^ε lies below the k-th ratio, the first k terms count
    excess_at = alone + top - ratio * bottom
    enough = np.flatnonzero(excess_at > delta)
    terms = int(enough[0]) if len(enough) else len(ratio)
    if terms == 0:
        return 0.0
    times = (alone + top[terms - 1] - delta) / bottom[terms - 1]
    return float(np.log(max(times, 1.0)))


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

    @reading
    def pairs_needed(self, confidence: Confidence = 0.95) -> int:
        """Number of such pairs, each with other units, of which one tells with this probability."""
        if self.told <= 0:
            raise InputError("these pairs never differ, so no number of them tells anything")
        if self.told >= 1:
            return 1
        return ceil(log(1 - confidence) / log(1 - self.told))


@reading
def differencing(
    table: NoiseTable, count: Annotated[int, Whole(0)], units: Annotated[int, Whole(1)] = 1
) -> Differencing:
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
    ...     counts, noise, step, reuse = np.array([0, 1]), np.array([-1, 0, 1]), 1, 1
    ...     probabilities = np.array([[0, 1, 0], [0.25, 0.5, 0.25]])
    >>> found = differencing(Ends(), count=5)
    >>> found.values.tolist(), found.probability.tolist()
    ([-1, 0, 1, 2, 3], [0.0625, 0.25, 0.375, 0.25, 0.0625])
    >>> found.told, found.pairs_needed()
    (0.75, 3)
    """
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
