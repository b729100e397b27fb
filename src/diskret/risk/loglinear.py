"""Whether a record that is alone in the sample is alone in the population, by a model of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk.keys import Keys

#: The margins of a log-linear model, each as positions of keys, ascending.
Model = tuple[tuple[int, ...], ...]

#: A search over models of so many cells takes less than a gigabyte.
_MOST_CELLS = 20_000_000
_SWEEPS = 100
#: Margins that are met to 0.01 records, or to 1 in 100,000 of small files, are met. Where the most
#: likely model has expected counts of 0, the last digits take very long; 1 record is accepted.
_MET, _MET_SHARE, _ACCEPTED = 0.01, 1e-5, 1.0
_CHUNK = 2**20
#: A criterion that would be beyond this in one of twenty right models.
_NEAR = 1.96
#: Points of the quadrature, and the logarithm of what is left out of the integral.
_POINTS, _NEGLIGIBLE = 64, 45.0


@dataclass(frozen=True)
class Criterion:
    """How well a log-linear model suits the estimates of risk.

    Parameters
    ----------
    model
        The margins that it reproduces.
    uniques, matches
        For the numbers of population uniques and of correct matches: the estimated bias of the
        estimate, divided by its standard deviation under the model. Within ±2 the model does;
        above 0 the risk is overestimated, as by models that are too simple for a sparse
        file, below 0 it is underestimated.
    """

    model: Model
    uniques: float
    matches: float

    @property
    def far(self) -> float:
        """The larger of the two, without sign."""
        return max(abs(self.uniques), abs(self.matches))


@dataclass(frozen=True, eq=False)
class Fit:
    """A log-linear model of the sample counts."""

    expected: NDArray[np.float64]  # expected sample count of each cell, μ, shape of the table
    criterion: Criterion  # how well it suits the estimates of risk


def table_of(keys: Keys) -> NDArray[np.int64]:
    """Sample counts of all cells that the categories allow; a missing value is the last one."""
    sizes = _sizes(keys)
    if prod(sizes) > _MOST_CELLS:
        largest = max(zip(sizes, keys.names, strict=True))
        raise InputError(
            f"the keys allow {prod(sizes):,} combinations; a log-linear model takes at most "
            f"{_MOST_CELLS:,}. Recode keys with many categories ({largest[1]!r} has "
            f"{largest[0]:,}), or leave some keys out"
        )
    counts = np.zeros(prod(sizes), dtype=np.int64)
    counts[cells_of(keys)] = keys.classes.count
    return counts.reshape(sizes)


def cells_of(keys: Keys) -> NDArray[np.intp]:
    """For each class of the keys its cell in the table of all, in C order."""
    at = np.zeros(len(keys.classes.count), dtype=np.intp)
    for size, codes in zip(_sizes(keys), keys.classes.codes.T, strict=True):
        at = at * size + np.where(codes < 0, size - 1, codes)
    return at


def _sizes(keys: Keys) -> tuple[int, ...]:
    gaps = keys.classes.codes.min(axis=0) < 0
    return tuple(size + int(gap) for size, gap in zip(keys.sizes, gaps, strict=True))


def chances(
    expected: NDArray[np.float64], fraction: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For a sample unique, P(F = 1 | f = 1) and E(1/F | f = 1).

    With the expected sample count μ = πλ and ν = (1 - π) λ these are exp(-ν) and
    (1 - exp(-ν)) / ν (Skinner and Holmes 1998, "Estimating the re-identification risk per
    record in microdata", J. Official Statistics 14).

    `expected`: μ for each sample unique. `fraction`: π for each, or for all.
    """
    nu = expected * ((1 - fraction) / fraction)
    return np.exp(-nu), _match(nu)


def inverse_mean(count: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""E(1/F) if F - f is Poisson with mean ν: $\int_0^1 (1-u)^{f-1} e^{-\nu u} du$.

    For a sample unique it is the chance of a correct match of `chances`.

    `count`: f ≥ 1, ``(n,)``. `rest`: ν ≥ 0, ``(n,)``.

    >>> inverse_mean(np.array([1.0, 3.0, 2.0]), np.array([1.98, 0.0, 1.0])).round(4).tolist()
    [0.4353, 0.3333, 0.3679]
    """
    point, share = np.polynomial.legendre.leggauss(_POINTS)
    pairs, of = np.unique(count + 1j * rest, return_inverse=True)
    f, nu = pairs.real[:, None], pairs.imag[:, None]
    end = np.minimum(_NEGLIGIBLE / np.maximum(f - 1 + nu, 1e-9), 1.0)  # the rest is negligible
    u = end * (1 + point) / 2
    return ((1 - u) ** (f - 1) * np.exp(-nu * u) @ share * end[:, 0] / 2)[of]


def main_effects(m: int) -> Model:
    """The keys are independent."""
    return tuple((key,) for key in range(m))


def two_way(m: int) -> Model:
    """All pairs of keys depend on each other."""
    return tuple(combinations(range(m), 2)) or main_effects(m)


def with_margins(m: int, margins: Sequence[Sequence[int]]) -> Model:
    """These margins, and the single keys that are in none of them; no margin is part of another."""
    given = {tuple(sorted(set(margin))) for margin in margins} | set(main_effects(m))
    return tuple(
        sorted(margin for margin in given if not any(set(margin) < set(other) for other in given))
    )


def fit(counts: NDArray[np.int64], model: Model, fraction: float) -> Fit:
    """Fit a log-linear model to the sample counts of all cells, and judge it."""
    return _judged(counts, model, _fitted(counts, model), fraction)


def search(counts: NDArray[np.int64], fraction: float) -> tuple[Fit, tuple[Criterion, ...]]:
    """Add pairs of keys to the independent model until the criterion is near 0.

    The next pair is the one whose counts lie farthest from what the model expects, by
    (G² - df) / √(2 df). The search ends when both criteria are within ±1.96, or all pairs are
    in.

    Returns the model whose criterion is nearest to 0, and all that were looked at, in turn.
    """
    m = counts.ndim
    last = nearest = fit(counts, main_effects(m), fraction)
    tried = [last.criterion]
    pairs = {
        pair: counts.sum(axis=tuple(k for k in range(m) if k not in pair))
        for pair in combinations(range(m), 2)
    }
    taken: list[tuple[int, int]] = []
    while pairs and last.criterion.far > _NEAR:
        expected = last.expected
        pair = max(pairs, key=lambda two: _departure(pairs[two], expected, two))
        del pairs[pair]
        taken.append(pair)
        model = with_margins(m, taken)
        last = _judged(counts, model, _fitted(counts, model, expected), fraction)
        tried.append(last.criterion)
        if last.criterion.far < nearest.criterion.far:
            nearest = last
    return nearest, tuple(tried)


def _departure(
    observed: NDArray[np.int64], expected: NDArray[np.float64], pair: tuple[int, int]
) -> float:
    other = tuple(k for k in range(expected.ndim) if k not in pair)
    margin = expected.sum(axis=other)
    there = observed > 0
    deviance = 2 * float((observed[there] * np.log(observed[there] / margin[there])).sum())
    rows, columns = there.any(axis=1).sum(), there.any(axis=0).sum()
    freedom = max(int(rows - 1) * int(columns - 1), 1)
    return (deviance - freedom) / sqrt(2 * freedom)


def _fitted(
    counts: NDArray[np.int64], model: Model, start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Expected counts by iterative proportional fitting; one sweep is exact for single keys."""
    m = counts.ndim
    others = [tuple(k for k in range(m) if k not in margin) for margin in model]
    targets = [counts.sum(axis=other, keepdims=True).astype(float) for other in others]
    made = np.ones(counts.shape) if start is None else start.copy()
    near = min(_MET, _MET_SHARE * float(counts.sum()))
    worst = np.inf
    for _ in range(_SWEEPS):
        worst = 0.0
        for target, other in zip(targets, others, strict=True):
            now = made.sum(axis=other, keepdims=True)
            worst = max(worst, float(np.abs(now - target).max()))
            made *= np.divide(target, now, out=np.zeros_like(target), where=now > 0)
        if worst <= near:
            break
    if worst > _ACCEPTED:
        raise InputError(
            f"the log-linear model was not fitted after {_SWEEPS} sweeps: its margins are still "
            f"off by up to {worst:.2g} records; leave out pairs of keys, or use model='main'"
        )
    return made


def _judged(
    counts: NDArray[np.int64], model: Model, expected: NDArray[np.float64], fraction: float
) -> Fit:
    """The criteria of Skinner and Shlomo (2008): biases of both estimates over their deviations.

    The bias of the estimated number of uniques, Σ πλ exp(-πλ) (h(λ̂) - h(λ)), is expanded around
    λ̂ to the second order, where λ - λ̂ is estimated by (f - μ)/π and its square by
    ((f - μ)² - f)/π². The deviations of both from their expectations are uncorrelated under the
    model, with variances μ and 2μ².
    """
    odds = (1 - fraction) / fraction
    bias, variance = np.zeros(2), np.zeros(2)
    of_cell, in_cell = expected.ravel(), counts.ravel()
    for start in range(0, len(of_cell), _CHUNK):
        mu, f = of_cell[start : start + _CHUNK], in_cell[start : start + _CHUNK]
        nu = odds * mu
        away = f - mu
        square = away**2 - f
        alone = np.exp(-nu)
        match = _match_slopes(nu)
        for h, (slope, curve) in enumerate(((-alone, alone), match)):
            first = -nu * np.exp(-mu) * slope
            second = -odds / 2 * np.exp(-mu) * (2 * (1 - mu) * slope + nu * curve)
            bias[h] += float((first * away + second * square).sum())
            variance[h] += float((first**2 * mu + 2 * second**2 * mu**2).sum())
    scaled = np.divide(bias, np.sqrt(variance), out=np.zeros(2), where=variance > 0)
    return Fit(expected, Criterion(model, float(scaled[0]), float(scaled[1])))


def _match(nu: NDArray[np.float64]) -> NDArray[np.float64]:
    """(1 - exp(-ν)) / ν, and 1 for ν = 0."""
    return np.divide(-np.expm1(-nu), nu, out=np.ones_like(nu), where=nu > 0)


def _match_slopes(nu: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """First and second derivative of (1 - exp(-ν)) / ν."""
    small = nu < 0.01  # where the formulas below lose their digits
    safe = np.where(small, 1.0, nu)
    decay = np.exp(-safe)
    slope = (decay * (1 + safe) - 1) / safe**2
    curve = (2 - decay * (safe**2 + 2 * safe + 2)) / safe**3
    return (
        np.where(small, -1 / 2 + nu / 3 - nu**2 / 8 + nu**3 / 30, slope),
        np.where(small, 1 / 3 - nu / 4 + nu**2 / 10 - nu**3 / 36, curve),
    )
