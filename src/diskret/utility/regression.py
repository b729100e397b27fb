"""Whether a linear regression on protected records says what it said on the original ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io.columns import some
from diskret.parameters import Number, reading
from diskret.utility.deviations import NAN

#: Level of confidence of an interval, 0.95 say.
Confidence = Annotated[float, Number(above=0, below=1)]

_NOTHING = 1e-10


@dataclass(frozen=True, eq=False)
class Regression:
    """A linear model fitted by least squares.

    Parameters
    ----------
    terms
        The constant, then the columns of the predictors.
    coefficients, errors
        Estimates and their standard errors, ``(terms,)``.
    records, degrees
        Records that took part, and degrees of freedom that are left.
    """

    terms: tuple[str, ...]
    coefficients: NDArray[np.float64]
    errors: NDArray[np.float64]
    records: int
    degrees: int


@dataclass(frozen=True, eq=False)
class RegressionComparison:
    """One regression on the original records and on the protected ones. Confidential.

    Parameters
    ----------
    response
        The variable that is explained.
    terms
        Of both models.
    before, after
        Coefficients, ``(terms,)``; NaN where a file has no such term, because a category does not
        occur in it.
    errors_before, errors_after
        Their standard errors.
    overlap
        For each term the mean share of the two confidence intervals that lies in both, from 0
        (apart) to 1 (equal).
    level
        Of the confidence intervals.
    """

    response: str
    terms: tuple[str, ...]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    errors_before: NDArray[np.float64]
    errors_after: NDArray[np.float64]
    overlap: NDArray[np.float64]
    level: float

    def __repr__(self) -> str:
        return (
            f"RegressionComparison({self.response} on {len(self.terms) - 1} terms; mean overlap "
            f"of {100 * self.level:g} % intervals {self.mean_overlap:.3f})"
        )

    @property
    def mean_overlap(self) -> float:
        """Mean overlap over all terms that both files have, the constant included."""
        there = self.overlap[~np.isnan(self.overlap)]
        return float(there.mean()) if len(there) else NAN

    @property
    def standardised(self) -> NDArray[np.float64]:
        """|after − before| in standard errors of the original model, ``(terms,)``."""
        moved = np.abs(self.after - self.before)
        out = np.where(moved == 0, 0.0, NAN)
        return np.divide(moved, self.errors_before, out=out, where=self.errors_before > 0)


def least_squares(
    response: NDArray[np.float64],
    columns: NDArray[np.float64],
    names: Sequence[str],
    weights: NDArray[np.float64] | None = None,
) -> Regression:
    """Fit a linear model with a constant.

    Parameters
    ----------
    response
        ``(n,)``.
    columns
        Predictors, ``(n, p)``. Records in which anything is NaN take no part.
    names
        Of the predictors.
    weights
        ``(n,)``. With weights the standard errors are those of the sandwich estimator, without
        those of equal variances.

    Raises
    ------
    InputError
        There are not more records than terms, or a predictor is a combination of others.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> found = least_squares(np.array([1.0, 3.0, 5.0, 7.5]), x, ["x"])
    >>> found.coefficients.round(3).tolist(), found.errors.round(3).tolist()
    ([0.9, 2.15], [0.162, 0.087])
    """
    there = ~(np.isnan(response) | np.isnan(columns).any(axis=1))
    y = response[there]
    x = np.column_stack([np.ones(len(y)), columns[there]])
    n, p = x.shape
    if n <= p:
        raise InputError(
            f"a model of {p} terms needs more than {p} records without missing values; there are "
            f"{n:,}"
        )
    w = np.ones(n) if weights is None else weights[there]
    _refuse_dependent(x, names)
    # centred, so that large values of a predictor leave the constant its digits
    size = np.sqrt(np.mean(x**2, axis=0))
    scaled = x / size
    inverse = np.linalg.inv((scaled * w[:, None]).T @ scaled)
    coefficients = inverse @ (scaled.T @ (w * y))
    residual = y - scaled @ coefficients
    if weights is None:
        variance = inverse * (residual @ residual / (n - p))
    else:
        score = scaled * (w * residual)[:, None]
        variance = inverse @ (score.T @ score) @ inverse * (n / (n - p))
    errors = np.sqrt(np.maximum(np.diag(variance), 0))
    return Regression(("constant", *names), coefficients / size, errors / size, n, n - p)


@reading
def interval_overlap(
    before: Regression, after: Regression, response: str, level: Confidence = 0.95
) -> RegressionComparison:
    """Put two fits of the same model beside each other, term by term.

    Notes
    -----
    With intervals [l, u] before and [l', u'] after, and the length c of what lies in both, the
    overlap is ½ (c/(u − l) + c/(u' − l')), from A. Karr, C. Kohnen, A. Oganian, J. Reiter and
    A. Sanil (2006), "A framework for evaluating the utility of data altered to protect
    confidentiality", *The American Statistician* 60(3).

    Raises
    ------
    InputError
        The level is not between 0 and 1.

    Examples
    --------
    >>> one = Regression(("constant",), np.array([0.0]), np.array([1.0]), 100, 99)
    >>> other = Regression(("constant",), np.array([1.0]), np.array([1.0]), 100, 99)
    >>> interval_overlap(one, other, "y").overlap.round(3).tolist()
    [0.748]
    """
    from scipy.stats import t as student  # takes long to import

    terms = tuple(dict.fromkeys([*before.terms, *after.terms]))
    (b, e), (c, f) = (_placed(model, terms) for model in (before, after))
    reach = [e * student.ppf((1 + level) / 2, before.degrees)]
    reach.append(f * student.ppf((1 + level) / 2, after.degrees))
    common = np.minimum(b + reach[0], c + reach[1]) - np.maximum(b - reach[0], c - reach[1])
    shares = [
        np.divide(
            np.maximum(common, 0),
            2 * half,
            # intervals of length 0: a model that fits without error
            out=np.where(half == 0, (b == c).astype(np.float64), NAN),
            where=half > 0,
        )
        for half in reach
    ]
    return RegressionComparison(response, terms, b, c, e, f, (shares[0] + shares[1]) / 2, level)


def _placed(
    model: Regression, terms: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found = np.full((2, len(terms)), NAN)
    at = [terms.index(term) for term in model.terms]
    found[0, at], found[1, at] = model.coefficients, model.errors
    return found[0], found[1]


def _refuse_dependent(x: NDArray[np.float64], names: Sequence[str]) -> None:
    """Name a predictor that is a combination of the constant and the others."""
    centred = x[:, 1:] - x[:, 1:].mean(axis=0)
    size = np.sqrt(np.sum(centred**2, axis=0))
    flat = [
        name for name, spread in zip(names, np.ptp(x[:, 1:], axis=0), strict=True) if not spread
    ]
    if flat:
        raise InputError(
            f"{some('predictor', flat)} has the same value in every record; leave it out"
        )
    scaled = centred / size
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    if len(values) and values[0] <= _NOTHING * values[-1]:
        shares = np.abs(vectors[:, 0])
        part = [repr(name) for name, share in zip(names, shares, strict=True) if share > 1e-4]
        raise InputError(
            f"predictors depend on each other: {', '.join(part)}; leave one of them out"
        )
