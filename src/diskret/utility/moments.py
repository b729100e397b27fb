"""Means, variances, correlations and what follows from them, of the numbers of one file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from diskret.utility.deviations import NAN

#: Shares at which quantiles are compared.
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
#: Eigenvalues below this share of the largest one are 0.
_NOTHING = 1e-10


@dataclass(frozen=True, eq=False)
class Moments:
    """What p numeric variables of one file have in common.

    Parameters
    ----------
    mean, deviation
        Mean and standard deviation of each variable, ``(p,)``, of the values that are there.
    quantiles
        One row for each share, ``(shares, p)``.
    covariance, correlation
        Of the records without a missing value, ``(p, p)``. A variable that does not vary has the
        correlation 0 with every other.
    spearman, robust
        Rank correlations of the same records: of the ranks themselves (Spearman), and of normal
        scores, which outliers do not move (Gaussian rank correlation; Boudt, Cornelissen and
        Croux 2012), ``(p, p)``.
    complete
        Number of records without a missing value.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    quantiles: NDArray[np.float64]
    covariance: NDArray[np.float64]
    correlation: NDArray[np.float64]
    spearman: NDArray[np.float64]
    robust: NDArray[np.float64]
    complete: int


def moments(values: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Moments:
    """Moments, quantiles and correlations of numeric variables.

    Parameters
    ----------
    values
        ``(n, p)``, NaN where a value is missing.
    weights
        How many persons of the population each record stands for, ``(n,)``. Ranks are those of
        records; their correlation is weighted.

    Examples
    --------
    >>> found = moments(np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]]))
    >>> found.mean.tolist(), found.correlation[0, 1].round(3).item(), found.spearman[0, 1].item()
    ([2.0, 20.0], 0.5, 0.5)
    """
    from scipy.stats import rankdata  # takes long to import

    n, p = values.shape
    given = np.ones(n) if weights is None else weights
    mean, deviation = np.full(p, NAN), np.full(p, NAN)
    quantiles = np.full((len(LEVELS), p), NAN)
    for at in range(p):
        there = ~np.isnan(values[:, at])
        one, w = values[there, at], given[there]
        if len(one):
            mean[at] = _mean(one, w)
            deviation[at] = np.sqrt(_covariance(one[:, None], w)[0, 0])
            quantiles[:, at] = _quantiles(one, None if weights is None else w)
    whole = ~np.isnan(values).any(axis=1)
    rows, w = values[whole], given[whole]
    ranks = np.column_stack([rankdata(rows[:, at]) for at in range(p)])
    covariance = _covariance(rows, w)
    return Moments(
        mean,
        deviation,
        quantiles,
        covariance,
        _correlation(covariance),
        _correlation(_covariance(ranks, w)),
        _correlation(_covariance(ndtri(ranks / (len(rows) + 1)), w)),
        len(rows),
    )


def eigenvalue_loss(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    """Mean relative change of the eigenvalues of a correlation matrix, Σ|λ' − λ|/λ / m.

    Parameters
    ----------
    before, after
        Correlation matrices of the same variables, ``(p, p)``. The m eigenvalues that are not 0
        before count.

    Examples
    --------
    >>> half = np.array([[1.0, 0.5], [0.5, 1.0]])  # eigenvalues 1.5 and 0.5; of no correlation 1, 1
    >>> round(eigenvalue_loss(half, np.eye(2)), 4)
    0.6667
    """
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return NAN
    old, new = np.linalg.eigvalsh(before), np.linalg.eigvalsh(after)
    held = old > _NOTHING * old.max()
    return float(np.mean(np.abs(new[held] - old[held]) / old[held]))


def inverse_correlation_loss(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    r"""Młodak's γ: how much the dependence of each variable on all others has shifted, 0 to 1.

    With r the diagonal of the inverse correlation matrix before (r_j = 1/(1 − R²) of variable j
    on the others) and r' after, γ = ‖r/‖r‖ − r'/‖r'‖‖ / √2. The inverse of a singular matrix is
    the pseudo-inverse.

    Notes
    -----
    A. Młodak (2020), "Information loss resulting from statistical disclosure control of output
    data", *Wiadomości Statystyczne* 65(9).

    Examples
    --------
    >>> none = np.eye(3)
    >>> some = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> inverse_correlation_loss(none, none), round(inverse_correlation_loss(none, some), 4)
    (0.0, 0.1345)
    """
    if not (np.isfinite(before).all() and np.isfinite(after).all()):
        return NAN
    old, new = (
        np.diag(np.linalg.pinv(matrix, rcond=_NOTHING, hermitian=True))
        for matrix in (before, after)
    )
    return float(np.linalg.norm(old / np.linalg.norm(old) - new / np.linalg.norm(new)) / np.sqrt(2))


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(weights @ values / weights.sum())


def _covariance(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """With n − 1 in the denominator where all weights are equal; exactly 0 for a constant."""
    n, p = rows.shape
    if n < 2:
        return np.full((p, p), NAN)
    shifted = rows - rows[0]  # large numbers that differ little keep their digits
    shifted -= weights @ shifted / weights.sum()
    shifted[:, np.ptp(rows, axis=0) == 0] = 0
    return (shifted * weights[:, None]).T @ shifted / (weights.sum() * (n - 1) / n)


def _correlation(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    deviation = np.sqrt(np.diag(covariance))
    product = np.outer(deviation, deviation)
    found = np.divide(covariance, product, out=np.zeros_like(covariance), where=product != 0)
    np.fill_diagonal(found, 1)
    return found


def _quantiles(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The least value such that at least the share of the weights lies at or below it."""
    method = "inverted_cdf"
    return np.quantile(values, LEVELS, weights=weights, method=method)
