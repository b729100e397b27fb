"""Data shuffling: values change places, in step with a model of how they go together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.microdata.noise import exact_draws
from diskret.texts.numbers import Count

Numbers = NDArray[np.float64]

#: Variances below this, of normal scores, count as none.
_FLAT = 1e-9


def shuffled_by_copula(values: Numbers, given: Numbers, rng: np.random.Generator) -> Numbers:
    """New ranks of the values, by a normal copula with the same rank correlations.

    All variables become normal scores of their ranks. Their correlations are 2 sin(π r / 6), r
    being Spearman's rank correlation. New scores are drawn from the normal distribution with these
    correlations, under the condition of the scores of the given variables. The noise in them is
    made uncorrelated with the given scores exactly if there are records enough.

    Parameters
    ----------
    values
        Those that change places, ``(n, p)``, NaN where missing.
    given
        Those that stay, ``(n, q)``; q may be 0. A missing value counts as the median.
    rng
        Source of chance.

    Returns
    -------
    numpy.ndarray
        Scores, ``(n, p)``: the record with the smallest score gets the smallest value.

    Raises
    ------
    InputError
        Fewer than two records are complete.

    References
    ----------
    K. Muralidhar and R. Sarathy (2006), "Data shuffling: a new masking approach for numerical
    data", Management Science 52.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> given = rng.normal(size=(500, 1))
    >>> values = np.exp(given + 0.5 * rng.normal(size=(500, 1)))
    >>> made = shuffled_by_copula(values, given, rng)
    >>> from scipy.stats import spearmanr
    >>> spearmanr(values, given)[0].round(2), spearmanr(made, given)[0].round(2)
    (np.float64(0.85), np.float64(0.85))
    """
    like = _possible(2 * np.sin(np.pi / 6 * correlations(_complete(np.hstack((values, given))))))
    p = values.shape[1]
    weights = np.linalg.pinv(like[p:, p:], rcond=_FLAT, hermitian=True) @ like[p:, :p]
    left = like[:p, :p] - like[:p, p:] @ weights
    return _drawn(normal_scores(given), weights, left, rng)


def shuffled_by_regression(values: Numbers, given: Numbers, rng: np.random.Generator) -> Numbers:
    """New ranks of the values, by linear regression of their normal scores on given columns.

    The given columns are used as they are, so that indicators of categories may be among them. New
    scores are what the regression predicts, and normal noise with the covariances of the residuals.

    Parameters
    ----------
    values
        Those that change places, ``(n, p)``, NaN where missing.
    given
        Columns that predict them, ``(n, q)``, without missing values.
    rng
        Source of chance.

    Returns
    -------
    numpy.ndarray
        Scores, ``(n, p)``.

    Raises
    ------
    InputError
        Fewer than two records are complete.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> female = np.arange(500)[:, None] % 2.0
    >>> values = np.exp(female + rng.normal(size=(500, 1)))
    >>> made = shuffled_by_regression(values, female, rng)
    >>> bool(made[female == 1].mean() > made[female == 0].mean() + 0.5)
    True
    """
    scores = normal_scores(values)
    known = ~np.isnan(values).any(axis=1)
    _complete(values)
    centred = given - given[known].mean(axis=0)
    weights = np.linalg.lstsq(centred[known], scores[known], rcond=_FLAT)[0]
    residuals = scores[known] - centred[known] @ weights
    left = residuals.T @ residuals / len(residuals)
    return _drawn(centred, weights, left, rng)


def normal_scores(values: Numbers) -> Numbers:
    """Normal quantiles of the ranks of each column, ``(n, p)``; equal values share theirs.

    A missing value has score 0, that of the median.

    >>> normal_scores(np.array([[3.0], [1], [np.nan], [2]])).ravel().round(2).tolist()
    [0.97, -0.97, 0.0, 0.0]
    """
    from scipy.special import ndtri
    from scipy.stats import rankdata

    made = np.zeros_like(values)
    for at in range(values.shape[1]):
        there = ~np.isnan(values[:, at])
        made[there, at] = ndtri((rankdata(values[there, at]) - 0.5) / max(there.sum(), 1))
    return made


def correlations(values: Numbers) -> Numbers:
    """Spearman's rank correlations of columns; those of a constant with others are 0.

    >>> correlations(np.array([[1.0, 2, 7], [2, 4, 7], [3, 3, 7]])).round(9).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0)
    ranks -= ranks.mean(axis=0)
    size = np.sqrt(np.square(ranks).sum(axis=0))
    ranks /= np.where(size > 0, size, 1.0)
    found = ranks.T @ ranks
    np.fill_diagonal(found, 1.0)
    return found


def placed(values: Numbers, scores: Numbers) -> NDArray[np.intp]:
    """For each record the one whose value it gets, so that values are in the order of scores.

    Parameters
    ----------
    values
        ``(n,)``, NaN where missing; these stay missing.
    scores
        ``(n,)``.

    Examples
    --------
    >>> placed(np.array([30.0, 10, np.nan, 20]), np.array([0.1, 0.2, 0.0, 0.3])).tolist()
    [1, 3, 2, 0]
    """
    source = np.arange(len(values))
    there = np.flatnonzero(~np.isnan(values))
    to = there[np.argsort(scores[there], kind="stable")]
    source[to] = there[np.argsort(values[there], kind="stable")]
    return source


def _complete(values: Numbers) -> Numbers:
    found = values[~np.isnan(values).any(axis=1)]
    if len(found) < 2:
        number = Count(len(found))
        raise InputError(
            f"{number} of {len(values):,} records {number:is|are} complete, and correlations need 2"
        )
    return found


def _possible(like: Numbers) -> Numbers:
    """The correlations, moved to some that can exist if they cannot."""
    size, direction = np.linalg.eigh(like)
    if size.min(initial=0) >= 0:
        return like
    made = (direction * np.maximum(size, 0)) @ direction.T
    scale = np.sqrt(np.diagonal(made))
    return made / np.outer(scale, scale)


def _drawn(given: Numbers, weights: Numbers, left: Numbers, rng: np.random.Generator) -> Numbers:
    """What the given columns predict, and noise that leaves their relation to it alone."""
    size, direction = np.linalg.eigh(left)
    varies = size > _FLAT
    factor = direction[:, varies] * np.sqrt(size[varies])
    n, columns = len(given), factor.shape[1]
    predicted = given @ weights
    basis = _basis(given)
    if n > basis.shape[1] + columns:
        noise = exact_draws(basis, columns, rng) * np.sqrt(n)
    else:
        noise = rng.standard_normal((n, columns))
    return predicted + noise @ factor.T


def _basis(given: Numbers) -> Numbers:
    """Orthonormal columns that span the given ones without their means."""
    centred = given - given.mean(axis=0)
    size = np.sqrt(np.square(centred).sum(axis=0))
    basis, length, _ = np.linalg.svd(centred / np.where(size > 0, size, 1.0), full_matrices=False)
    return basis[:, length > _FLAT]
