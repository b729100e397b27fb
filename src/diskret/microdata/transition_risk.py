"""What randomisation is worth, and what it costs: credibility and entropy by category."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diskret.microdata.transitions import TransitionMatrix


@dataclass(frozen=True, eq=False)
class TransitionRisk:
    """How credible published values are. Confidential.

    Parameters
    ----------
    matrix
        The transition matrix.
    frequencies
        True ones, t, ``(L,)``.
    posterior
        P(true = k | published = k) = t_k p_kk / Σ_l t_l p_lk, ``(L,)``; NaN where nothing is
        published.
    expectation_ratio
        ER(k) = t_k p_kk / Σ_{l≠k} t_l p_lk, ``(L,)``: how many published k are true for each
        one that is not. Below 1 most are false. Infinite where none is.
    expected_changes
        Records of k whose value changes, in expectation, t_k (1 − p_kk), ``(L,)``.
    entropy
        H(V | V' = k) in bits, ``(L,)``: how uncertain the true value behind a published k is;
        NaN where nothing is published.
    information_loss
        EBIL: the sum of these entropies over all records, in expectation.

    References
    ----------
    de Wolf and van Gelder (2004), "An empirical evaluation of PRAM", Statistics Netherlands:
    expectation ratio. Kooiman, Willenborg and Gouweleeuw (1998), "PRAM: a method for disclosure
    limitation of microdata", Statistics Netherlands: entropy.
    """

    matrix: TransitionMatrix
    frequencies: NDArray[np.float64]
    posterior: NDArray[np.float64]
    expectation_ratio: NDArray[np.float64]
    expected_changes: NDArray[np.float64]
    entropy: NDArray[np.float64]
    information_loss: float

    def __repr__(self) -> str:
        expected = self.expected_changes.sum()
        share = 100 * expected / max(float(self.frequencies.sum()), 1.0)
        return (
            f"TransitionRisk({len(self.posterior)} categories; {expected:,.1f} changes expected, "
            f"{share:.1f} %)"
        )

    @property
    def table(self) -> pa.Table:
        """The figures, a row for each category (for several variables a column for each)."""
        names = self.matrix.categories
        several = bool(names) and isinstance(names[0], tuple)
        parts = list(zip(*names, strict=True)) if several else [names]  # pyright: ignore[reportArgumentType]
        return pa.table(
            {
                **{
                    f"category_{at}" if several else "category": pa.array(list(part))
                    for at, part in enumerate(parts, start=1)
                },
                "frequency": self.frequencies,
                "published": self.frequencies @ self.matrix.probabilities,
                "stays": np.diag(self.matrix.probabilities),
                "expected_changes": self.expected_changes,
                "posterior": pa.array(self.posterior, from_pandas=True),
                "expectation_ratio": pa.array(self.expectation_ratio, from_pandas=True),
                "entropy": pa.array(self.entropy, from_pandas=True),
            }
        )


def transition_risk(matrix: TransitionMatrix, frequencies: NDArray[np.float64]) -> TransitionRisk:
    """Figures of credibility and loss.

    Parameters
    ----------
    matrix
        The transition matrix.
    frequencies
        True ones, ``(L,)``.

    Examples
    --------
    >>> from diskret.microdata import TransitionMatrix
    >>> found = TransitionMatrix(["a", "b"], [[0.9, 0.1], [0.5, 0.5]]).risk([90, 10])
    >>> found.expectation_ratio.round(3).tolist()
    [16.2, 0.556]
    >>> found
    TransitionRisk(2 categories; 14.0 changes expected, 14.0 %)
    """
    joint = frequencies[:, None] * matrix.probabilities
    published = joint.sum(axis=0)
    true = np.diag(joint)
    false = np.where(np.eye(len(true), dtype=bool), 0.0, joint).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        behind = joint / published
        bits = -np.where(behind > 0, behind * np.log2(behind), 0.0).sum(axis=0)
        entropy = np.where(published > 0, np.abs(bits), np.nan)
        posterior, ratio = true / published, true / false
    return TransitionRisk(
        matrix,
        frequencies,
        posterior,
        ratio,
        frequencies * (1 - np.diag(matrix.probabilities)),
        entropy,
        float(np.nansum(entropy * published)),
    )
