"""Noise on numeric variables: how it is made, and which means and covariances stay."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.products import product
from diskret.risk.robust import robust_scatter
from diskret.texts.numbers import Count

Numbers = NDArray[np.float64]

#: Share of the variance below which values are taken to lie in a plane (a total beside its parts).
_FLAT = 1e-20
#: Records whose values are turned together; odd, so that all directions pair up.
_BLOCK = 25
#: Blocks that are turned at the same time, for the sake of memory.
_BLOCKS = 4096


def additive(
    values: Numbers, share: float, rng: np.random.Generator, rescale: bool = False
) -> Numbers:
    """Add independent normal noise to each variable.

    Parameters
    ----------
    values
        ``(n, p)``, NaN where missing, which stays.
    share
        Standard deviation of the noise as a share of that of the variable.
    rng
        Source of chance.
    rescale
        Shrink the result towards the mean by √(1 + share²), so that means and variances are kept
        in expectation; covariances shrink by 1 + share².

    Raises
    ------
    InputError
        A variable has fewer than two values.

    Examples
    --------
    >>> values = np.arange(8.0).reshape(4, 2)
    >>> additive(values, 0.1, np.random.default_rng(1)).round(1).tolist()
    [[0.1, 1.2], [2.1, 2.7], [4.2, 5.1], [5.9, 7.2]]
    """
    missing = np.isnan(values)
    complete = not missing.any()
    add = np.sum if complete else np.nansum
    count = np.full(values.shape[1], len(values)) if complete else (~missing).sum(axis=0)
    if count.min(initial=2) < 2:
        raise InputError("a variable has fewer than 2 values, so that noise has no measure")
    mean = add(values, axis=0) / count
    centred = values - mean
    deviation = np.sqrt(add(np.square(centred), axis=0) / (count - 1))
    noise = rng.standard_normal(values.shape)
    noise *= deviation
    return _added(mean, centred, noise, share, rescale)


def correlated(
    values: Numbers, share: float, rng: np.random.Generator, rescale: bool = False
) -> Numbers:
    """Add normal noise whose covariances are `share`² times those of the values.

    Correlations are kept in expectation, and with `rescale` means and covariances, too. Linear
    relations between variables (a total and its parts) hold for the noise as well.

    Parameters
    ----------
    values
        ``(n, p)``, NaN where missing, which stays; covariances are those of complete records.
    share
        Standard deviation of the noise as a share of that of each variable.
    rng
        Source of chance.
    rescale
        Shrink the result towards the mean by √(1 + share²).

    Raises
    ------
    InputError
        Fewer than two records are complete.

    References
    ----------
    J. Kim (1986), "A method for limiting disclosure in microdata based on random noise and
    transformation", Proceedings of the Section on Survey Research Methods, ASA.

    Examples
    --------
    >>> values = np.array([[1.0, 2], [5, 10], [2, 4], [9, 18]])
    >>> made = correlated(values, 0.2, np.random.default_rng(1))
    >>> bool(np.abs(made[:, 1] - 2 * made[:, 0]).max() < 1e-12)
    True
    """
    complete = values[~np.isnan(values).any(axis=1)]
    if len(complete) < 2:
        number = Count(len(complete))
        raise InputError(
            f"{number} of {len(values):,} records {number:is|are} complete, and covariances need 2"
        )
    mean = complete.mean(axis=0)
    _, factor = _spread(complete - mean)
    noise = product(rng.standard_normal((len(values), len(factor))), factor)
    noise /= math.sqrt(len(complete) - 1)
    return _added(mean, values - mean, noise, share, rescale)


def restricted(values: Numbers, share: float, rng: np.random.Generator) -> Numbers:
    """Add normal noise so that means and covariances stay exactly as they are.

    The noise is made to have mean 0, the covariances of the values, and covariance 0 with them, all
    of it exactly; then x becomes mean + (x − mean + share · noise) / √(1 + share²). Values and
    results correlate by 1 / √(1 + share²). With ``share=math.inf`` nothing but noise remains:
    normal data with the same means and covariances.

    Parameters
    ----------
    values
        ``(n, p)``, complete.
    share
        Of noise to values, in terms of standard deviations.
    rng
        Source of chance.

    Raises
    ------
    InputError
        There are fewer than 2 r + 2 records, r being the number of variables that do not follow
        from others.

    References
    ----------
    Kim (1986) as for `correlated`; J. Burridge (2003), "Information preserving statistical
    obfuscation", Statistics and Computing 13 (noise with exact moments).

    Examples
    --------
    >>> values = np.random.default_rng(1).lognormal(size=(50, 2))
    >>> made = restricted(values, 0.5, np.random.default_rng(2))
    >>> np.abs(np.cov(made.T) - np.cov(values.T)).max().round(12)
    np.float64(0.0)
    """
    mean = values.mean(axis=0)
    centred = values - mean
    basis, factor = _spread(centred)
    if len(values) < 2 * len(factor) + 2:
        number = Count(len(values))
        raise InputError(
            f"{number} complete {number:record is|records are} too few to keep the covariances of "
            f"{len(factor)} variables; noise that is independent of them needs "
            f"{2 * len(factor) + 2}"
        )
    return _turned(mean, centred, product(exact_draws(basis, len(factor), rng), factor), share)


def romm(values: Numbers, share: float, rng: np.random.Generator) -> Numbers:
    """Multiply the records by a random orthogonal matrix that keeps means and covariances.

    The matrix is made of blocks, so that memory is that of a few copies. In a block of 25
    records, drawn at random, it turns all directions that leave the mean alone, in random pairs, by
    the angle arctan(share). So means and covariances are kept exactly, in each block even, and
    there values and results correlate by 1 / √(1 + share²). Unlike normal noise, this one is made
    of other records' values.

    Parameters
    ----------
    values
        ``(n, p)``, complete.
    share
        Of noise to values, in terms of standard deviations.
    rng
        Source of chance.

    Raises
    ------
    InputError
        There are fewer than 3 records, or 4.

    References
    ----------
    D. Ting, S. E. Fienberg and M. Trottini (2008), "Random orthogonal matrix masking methodology
    for microdata release", International Journal of Information and Computer Security 2.

    Examples
    --------
    >>> values = np.random.default_rng(1).lognormal(size=(50, 2))
    >>> made = romm(values, 0.5, np.random.default_rng(2))
    >>> np.abs(np.cov(made.T) - np.cov(values.T)).max().round(12)
    np.float64(0.0)
    """
    n, p = values.shape
    if n < 3 or n == 4:
        raise InputError(
            f"{n} complete {Count(n):record|records} cannot be turned so that each of them "
            "changes; 3, 5 or more can"
        )
    order = rng.permutation(n)
    whole, tail = _odd_blocks(n)
    made = np.empty_like(values)
    bounds = [*range(0, whole, _BLOCK * _BLOCKS), whole, *(whole + np.cumsum(tail))]
    sizes = [_BLOCK] * (len(bounds) - 1 - len(tail)) + tail
    for start, end, size in zip(bounds, bounds[1:], sizes, strict=False):
        rows = order[start:end]
        block = values[rows].reshape(-1, size, p)
        mean = block.mean(axis=1, keepdims=True)
        centred = block - mean
        made[rows] = _turned(mean, centred, _quarter_turn(centred, rng), share).reshape(-1, p)
    return made


def outliers(values: Numbers, quantile: float = 0.975) -> NDArray[np.bool_]:
    """Records that lie far from the bulk of all records, ``(n,)``.

    They are beyond a quantile of the robust Mahalanobis distance that normal data would have. A
    record that is not complete is judged by the values that it has.

    Parameters
    ----------
    values
        ``(n, p)``, NaN where missing.
    quantile
        Share of normally distributed records that would not be outliers, between 0 and 1.

    Raises
    ------
    InputError
        Fewer than two records are complete.

    Examples
    --------
    >>> values = np.random.default_rng(1).normal(size=(50, 2))
    >>> values[7] = 9
    >>> np.flatnonzero(outliers(values, 0.9999)).tolist()
    [7]
    """
    from scipy.stats import chi2

    missing = np.isnan(values)
    complete = ~missing.any(axis=1)
    if complete.sum() < 2:
        number = Count(complete.sum())
        raise InputError(
            f"{number} of {len(values):,} records {number:is|are} complete, and distances need 2"
        )
    scatter = robust_scatter(values[complete])
    found = np.zeros(len(values), dtype=np.bool_)
    found[complete] = scatter.distances(values[complete]) ** 2 > chi2.ppf(quantile, scatter.rank)
    gaps = np.flatnonzero(~complete)
    patterns, of = np.unique(missing[gaps], axis=0, return_inverse=True)
    for pattern, gone in enumerate(patterns):
        known, rows = np.flatnonzero(~gone), gaps[of == pattern]
        if len(known):
            inverse = np.linalg.pinv(scatter.covariance[np.ix_(known, known)], hermitian=True)
            away = values[np.ix_(rows, known)] - scatter.center[known]
            rank = np.linalg.matrix_rank(inverse, hermitian=True)
            distance = np.einsum("ij,jk,ik->i", away, inverse, away)
            found[rows] = distance > chi2.ppf(quantile, rank)
    return found


def exact_draws(basis: Numbers, columns: int, rng: np.random.Generator) -> Numbers:
    """Normal draws made orthonormal, and orthogonal to a basis and to the constant.

    `basis`: orthonormal columns that are orthogonal to the constant, ``(n, r)``. `columns`: how
    many are drawn, at most n − r − 1. Returns ``(n, columns)``; sums are 0 and sums of squares 1.
    """
    made = rng.standard_normal((len(basis), columns))
    for _ in range(2):  # the second time removes what rounding left
        made -= made.mean(axis=0)
        made -= basis @ (basis.T @ made)
        made = np.linalg.qr(made)[0]
    return made


def _spread(centred: Numbers) -> tuple[Numbers, Numbers]:
    """Orthonormal columns and a factor, the product of which are the values.

    Columns are as many as there are variables that do not follow from others.
    """
    scale = np.sqrt(np.square(centred).sum(axis=0))
    unit = np.where(scale > 0, scale, 1.0)
    basis, size, direction = np.linalg.svd(centred / unit, full_matrices=False)
    varies = size**2 > _FLAT * max(len(centred), 1)
    return basis[:, varies], size[varies, None] * direction[varies] * scale


def _added(mean: Numbers, centred: Numbers, noise: Numbers, share: float, rescale: bool) -> Numbers:
    """Values with noise; writes over `centred` and `noise`."""
    if rescale:
        return _turned(mean, centred, noise, share)
    centred += mean
    noise *= share
    centred += noise
    return centred


def _turned(mean: Numbers, centred: Numbers, noise: Numbers, share: float) -> Numbers:
    """Values mixed with noise of the same size so that variances stay; writes over both."""
    angle = math.atan(share)
    centred *= 0.0 if math.isinf(share) else math.cos(angle)
    centred += mean
    noise *= math.sin(angle)
    centred += noise
    return centred


def _odd_blocks(n: int) -> tuple[int, list[int]]:
    """How many records come into whole blocks, and the odd sizes of one or two other blocks."""
    rest = n if n < 2 * _BLOCK else _BLOCK + n % _BLOCK
    half = rest // 2 - (rest // 2 + 1) % 2
    return n - rest, [rest] if rest % 2 else [half, rest - half]


def _quarter_turn(centred: Numbers, rng: np.random.Generator) -> Numbers:
    """All directions but the mean, paired at random in each block, turned by a right angle.

    ``(m, b, p)`` as `centred`. The turn J is orthogonal and J' = −J, so that no variable correlates
    with its turned self, and cos · I + sin · J is orthogonal, too.
    """
    m, b, _ = centred.shape
    frame = rng.standard_normal((m, b, b - 1))
    frame -= frame.mean(axis=1, keepdims=True)
    frame, right = np.linalg.qr(frame)
    frame *= np.sign(np.diagonal(right, axis1=1, axis2=2))[:, None, :]
    along = np.matmul(frame.transpose(0, 2, 1), centred)
    turned = np.empty_like(along)
    turned[:, 0::2], turned[:, 1::2] = -along[:, 1::2], along[:, 0::2]
    return np.matmul(frame, turned)
