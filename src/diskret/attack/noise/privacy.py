"""What one unit more changes in a published count: the exact (ε, δ) of a perturbation table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise.chances import NoiseTable, chances
from diskret.errors import InputError


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

    def deltas(self, epsilon: float) -> NDArray[np.float64]:
        """δ of each pair of neighbours, shape ``(pairs,)``; see `delta`."""
        if epsilon < 0:
            raise InputError(f"epsilon= is at least 0, not {epsilon}")
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

    def epsilon(self, delta: float) -> float:
        """The least ε that goes with a δ; inf where δ is below `delta(inf)`.

        δ(ε) is piecewise linear in e^ε with kinks at the ratios P(j | n) / P(j | n′), so ε is
        solved for between two of them.
        """
        if not 0 <= delta <= 1:
            raise InputError(f"delta= lies between 0 and 1, not {delta}")
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
    ...     counts, noise, step = np.array([0, 1]), np.array([-1, 0, 1]), 1
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
