"""What a transition matrix tells: how credible published values are, what true ones were."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import FrameKind, from_arrow

if TYPE_CHECKING:
    from diskret.microdata.transitions import TransitionMatrix

#: Above this condition number nothing is left of a double's 16 digits but a few.
_SINGULAR = 1e10
#: Up to so many cells a table has its whole covariance matrix given.
_MOST_COVARIANCES = 5_000
#: Rounds of expectation and maximisation, and when they change nothing any more.
_ROUNDS = 10_000
_STILL = 1e-9


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
    """Figures of credibility and loss, by the true frequencies, ``(L,)``.

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


@dataclass(frozen=True, eq=False)
class PramEstimate:
    """A frequency table as it was before randomisation, estimated.

    Parameters
    ----------
    variables
        The axes of the table; names joined by " x " for variables that changed together.
    matrices
        Their transition matrices; axis j has L_j categories.
    published
        The table of the randomised records, weighted, ``(L_1, …, L_m)``.
    estimate
        Unbiased estimate, of the same shape; may be negative.
    variance
        Estimated variance of `estimate`, from randomisation alone, of the same shape. It
        supposes that records changed independently of each other. Where a margin was kept
        exactly they did not, and tables with other variables vary less than it says.
    squares
        The table of the randomised records with squared weights, of the same shape.
    condition
        Condition number of the transition matrices together, ≥ 1: by how much errors are
        amplified at most.
    kind
        Of frames.
    """

    variables: tuple[str, ...]
    matrices: tuple[TransitionMatrix, ...]
    published: NDArray[np.float64]
    estimate: NDArray[np.float64]
    variance: NDArray[np.float64]
    squares: NDArray[np.float64]
    condition: float
    kind: FrameKind = "pyarrow"

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.estimate.shape))
        return (
            f"PramEstimate({', '.join(self.variables)}: {shape} cells, "
            f"condition {self.condition:.3g})"
        )

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Root of the variance; 0 where its estimate is below 0."""
        return np.sqrt(np.maximum(self.variance, 0.0))

    @property
    def frame(self) -> Any:
        """A row for each cell: its categories, ``published``, ``estimate``, ``standard_error``."""
        cells = np.indices(self.estimate.shape).reshape(len(self.variables), -1)
        made: dict[str, Any] = {}
        for name, matrix, at in zip(self.variables, self.matrices, cells, strict=True):
            shown = [
                " x ".join(map(str, one)) if isinstance(one, tuple) else one
                for one in matrix.categories
            ]
            made[name] = pa.array(shown).take(pa.array(at))
        figures = {
            "published": self.published,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
        }
        made.update({name: values.ravel() for name, values in figures.items()})
        return from_arrow(pa.table(made), self.kind)

    @cached_property
    def nonnegative(self) -> NDArray[np.float64]:
        """The estimate of maximum likelihood, which is never negative and has the same total.

        Equal to the unbiased one where that is not negative. Else by expectation and
        maximisation: T_k ← T_k Σ_l p_kl T'_l / (T P)_l.
        """
        if self.estimate.min(initial=0) >= 0:
            return self.estimate
        forth = [matrix.probabilities.T for matrix in self.matrices]
        back = [matrix.probabilities for matrix in self.matrices]
        total = self.published.sum()
        made = np.maximum(self.estimate, 0.0) + total / self.estimate.size  # nothing starts at 0
        made *= total / made.sum()
        for _ in range(_ROUNDS):
            reached = along(forth, made)
            ratio = np.divide(self.published, reached, where=reached > 0, out=np.zeros_like(made))
            better = made * along(back, ratio)
            moved = float(np.abs(better - made).sum())
            made = better
            if moved <= _STILL * total:
                break
        return made

    def covariance(self) -> NDArray[np.float64]:
        """Estimated covariances of all cells in C order, ``(cells, cells)``.

        Raises
        ------
        InputError
            There are more than 5,000 cells.
        """
        cells = self.estimate.size
        if cells > _MOST_COVARIANCES:
            raise InputError(
                f"the table has {cells:,} cells, so {cells**2:,} covariances; `variance` holds "
                f"the variances, and tables of up to {_MOST_COVARIANCES:,} cells have covariances"
            )
        inverse = np.ones((1, 1))
        for matrix in self.matrices:
            inverse = np.kron(inverse, _inverse(matrix))
        true = along([_inverse(matrix).T for matrix in self.matrices], self.squares)
        return inverse.T @ (self.squares.reshape(-1, 1) * inverse) - np.diag(true.ravel())


def estimate_counts(
    variables: tuple[str, ...],
    matrices: tuple[TransitionMatrix, ...],
    published: NDArray[np.float64],
    squares: NDArray[np.float64],
    kind: FrameKind = "pyarrow",
) -> PramEstimate:
    """The estimate from published frequencies, ``(L_1, …, L_m)``, and those of squared weights."""
    condition = 1.0
    for name, matrix in zip(variables, matrices, strict=True):
        condition *= _condition(name, matrix)
    back = [_inverse(matrix).T for matrix in matrices]
    return PramEstimate(
        variables=variables,
        matrices=matrices,
        published=published,
        estimate=along(back, published),
        variance=along([one**2 for one in back], squares) - along(back, squares),
        squares=squares,
        condition=condition,
        kind=kind,
    )


def along(
    matrices: Sequence[NDArray[np.float64]], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply a table by a matrix along each axis: the Kronecker product, never built."""
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def _inverse(matrix: TransitionMatrix) -> NDArray[np.float64]:
    return np.linalg.inv(matrix.probabilities).astype(np.float64)


def _condition(name: str, matrix: TransitionMatrix) -> float:
    found = float(np.linalg.cond(matrix.probabilities)) if matrix.categories else 1.0
    if found <= _SINGULAR:
        return found
    rows = matrix.probabilities
    apart = np.abs(rows[:, None] - rows).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    first, second = np.unravel_index(int(apart.argmin()), apart.shape)
    alike = (
        f"; {matrix.categories[first]!r} and {matrix.categories[second]!r} become the same "
        "values equally likely"
        if apart[first, second] < 1e-6
        else ""
    )
    raise InputError(
        f"the matrix of {name!r} cannot be inverted (condition number {found:.1e}), so true "
        f"frequencies cannot be estimated{alike}; estimate combined categories, or ask for a "
        "matrix in which values stay more often"
    )
