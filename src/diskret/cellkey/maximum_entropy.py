"""Perturbation tables that say no more about the noise than what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.admissible import Admissible, for_rows, unbalanced
from diskret.errors import InputError

VarianceRule = Literal["at_most", "exact"]

#: Newton steps; about ten are needed, more only close to what is just possible.
_STEPS = 100

#: To what precision mean, variance and stay are sought, and how far they may be off, in units
#: of the largest noise and its square.
_PRECISION, _ENOUGH = 1e-14, 1e-11

#: The dual is computed to this precision; close to the minimum it cannot tell good steps.
_ROUNDING = 1e-13

#: Variances that differ by less, relatively, are equal.
_EQUAL = 1e-9

#: Values within this distance count as equal: a block that monotony holds together.
_SAME = 1e-11


def most_entropy(
    admissible: Admissible, variance: float, rule: VarianceRule | Sequence[VarianceRule]
) -> NDArray[np.float64]:
    """Probabilities of largest entropy in each row, with mean 0 and a given variance.

    `admissible`: what else the rows must satisfy. `variance`: of the noise in every row but that of
    0. `rule`: ``"at_most"``: rows may have less where they cannot have more, or where more would
    cost entropy. ``"exact"``: all have it. Or one for each row besides that of 0. Returns shape
    ``(rows, m)``, float64.

    Giessing (2016), "Computational issues in the design of transition probabilities and
    disclosure risk estimation for additive noise", LNCS 9867, states the problem. Its solution
    is p(v) ∝ exp(a v + b v² + c [v = 0]): a makes the mean 0, b the variance right, and c ≥ 0
    lifts the probability of no noise where it must stay. Monotony replaces the exponents by the
    nondecreasing sequence nearest to them, the means of blocks with equal probabilities (Robertson,
    Wright and Dykstra, 1988, "Order restricted statistical inference", chapter 1). a, b and c
    minimise the dual, log Σ exp(…) - b · variance - c · stay: three numbers for each row, found by
    Newton's method in all rows at once.
    """
    rules = for_rows(rule, len(admissible.counts) - 1, "variance_rule")
    exact = np.array([one == "exact" for one in rules])
    probabilities = np.zeros(admissible.allowed.shape)
    probabilities[0] = admissible.noise == 0
    if exact.any():
        probabilities[1:][exact] = _rows(admissible.rows(exact), variance, "exact")
    if not exact.all():
        probabilities[1:][~exact] = _rows(admissible.rows(~exact), variance, "at_most")
    return probabilities


def _rows(
    admissible: Admissible, variance: float, rule: Literal["at_most", "exact"]
) -> NDArray[np.float64]:
    """All rows but that of 0, by one rule."""
    found = np.zeros(admissible.allowed[1:].shape)
    ends = _check_variance(admissible, variance, rule)
    for row in np.flatnonzero(ends):  # just possible: there is no other distribution
        extreme = admissible.extreme(int(row) + 1, largest=bool(ends[row] > 0))
        if extreme is None:
            raise unbalanced(int(admissible.counts[row + 1]))
        found[row] = extreme
    inside = ends == 0
    if inside.any():
        found[inside] = _Dual(admissible.rows(inside), variance, rule).minimise()
    return found


def _check_variance(
    admissible: Admissible, variance: float, rule: Literal["at_most", "exact"]
) -> NDArray[np.int64]:
    """Which rows have the least (−1) or the largest variance (1) that they can have."""
    least = admissible.least_variance()[1:]
    counts = admissible.counts[1:]
    if np.isinf(least).any():
        raise unbalanced(int(counts[np.isinf(least)][0]))
    if rule == "at_most":
        row = int(np.argmax(least))
        if variance < least[row] * (1 - _EQUAL):
            raise InputError(
                f"a variance of at most {variance:g} is not possible: row {counts[row]} needs "
                f"at least {least[row]:g}, for it may not become 1 to small_counts; raise the "
                "variance, or lower small_counts"
            )
        return np.where(variance <= least * (1 + _EQUAL), -1, 0)
    bounds = admissible.variance_bounds()[1:]
    low, high = bounds[:, 0], bounds[:, 1]
    wrong = np.flatnonzero((variance < low * (1 - _EQUAL)) | (variance > high * (1 + _EQUAL)))
    if len(wrong):
        shown = "; ".join(f"row {counts[r]}: from {low[r]:.4g} to {high[r]:.4g}" for r in wrong[:5])
        raise InputError(
            f"a variance of exactly {variance:g} is not possible in {len(wrong)} of "
            f"{len(counts)} rows ({shown}); "
            + (
                f"from {low.max():.4g} (row {counts[low.argmax()]}) to {high.min():.4g} (row "
                f"{counts[high.argmin()]}) it is in all, or take variance_rule='at_most'"
                if low.max() <= high.min()
                else "no variance is possible in all: take variance_rule='at_most', or one for each"
            )
        )
    highest = np.where(variance >= high * (1 - _EQUAL), 1, 0)
    return np.where(variance <= low * (1 + _EQUAL), -1, highest)


class _Dual:
    """The dual in a, b and c of every row but that of 0."""

    def __init__(self, admissible: Admissible, variance: float, rule: VarianceRule) -> None:
        self.allowed = admissible.allowed[1:]
        rows = len(self.allowed)
        largest = np.abs(admissible.noise).max()
        scaled = admissible.noise / largest
        self.features = np.column_stack([scaled, scaled**2, scaled == 0])
        spread = variance * (admissible.step / largest) ** 2
        self.wanted = np.column_stack([np.zeros(rows), np.full(rows, spread), admissible.stay[1:]])
        self.lowest = np.full((rows, 3), -np.inf)
        self.highest = np.full((rows, 3), np.inf)
        self.lowest[:, 2] = 0
        self.highest[self.wanted[:, 2] == 0, 2] = 0
        if rule == "at_most":
            self.highest[:, 1] = 0
        self.start = np.column_stack([np.zeros(rows), np.full(rows, -0.5 / spread), np.zeros(rows)])
        self.left = admissible.noise <= 0
        self.chained = self.allowed & self.left & admissible.monotone[1:, None]

    def minimise(self) -> NDArray[np.float64]:
        """Probabilities at the minimum, shape ``(rows, m)``."""
        x, gradient = self.start, np.full_like(self.start, np.inf)
        value, p = self.at(x)
        for _ in range(_STEPS):
            gradient = p @ self.features - self.wanted
            bound = ((x <= self.lowest) & (gradient >= 0)) | ((x >= self.highest) & (gradient <= 0))
            gradient[bound] = 0
            if np.abs(gradient).max() <= _PRECISION:
                return p
            step = self.newton(x, p, gradient, bound)
            x, value, p = self.along(x, value, gradient, step)
        if np.abs(gradient).max() <= _ENOUGH:
            return p
        raise InputError(
            "no table of this variance was found: it lies too close to what is just possible; "
            "see variance_bounds() and choose another one"
        )

    def at(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value of the dual and probabilities for each row."""
        exponent = self.exponents(x)
        top = exponent.max(axis=1, keepdims=True)
        weight = np.exp(exponent - top)
        total = weight.sum(axis=1, keepdims=True)
        value = np.log(total[:, 0]) + top[:, 0] - (x * self.wanted).sum(axis=1)
        return value, weight / total

    def exponents(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Exponents of the probabilities, nondecreasing where they must be."""
        exponent = np.where(self.allowed, x @ self.features.T, -np.inf)
        risen = _risen(
            np.where(self.chained, exponent, 0)[:, self.left], self.chained[:, self.left]
        )
        exponent[:, self.left] = np.where(self.chained[:, self.left], risen, exponent[:, self.left])
        return exponent

    def newton(
        self,
        x: NDArray[np.float64],
        p: NDArray[np.float64],
        gradient: NDArray[np.float64],
        bound: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Newton's direction in the coordinates that are not held by a bound."""
        features = self.pooled(x)
        mean = np.einsum("rm,rmf->rf", p, features)
        apart = features - mean[:, None, :]
        hessian = np.einsum("rm,rmf,rmg->rfg", p, apart, apart)
        held = bound[:, :, None] | bound[:, None, :]
        hessian = np.where(held, 0, hessian)
        hessian[:, range(3), range(3)] += np.where(bound, 1, 1e-13)
        return -np.asarray(np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0], np.float64)

    def pooled(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Features of each noise value, averaged over its block; shape ``(rows, m, 3)``."""
        exponent = np.where(self.chained, self.exponents(x), np.nan)
        with np.errstate(invalid="ignore"):
            same = np.abs(exponent[:, :, None] - exponent[:, None, :]) <= _SAME
        same |= np.eye(len(self.features), dtype=bool)
        share = same.astype(np.float64)
        share /= share.sum(axis=2, keepdims=True)
        return share @ self.features

    def along(
        self,
        x: NDArray[np.float64],
        value: NDArray[np.float64],
        gradient: NDArray[np.float64],
        step: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """A point that is no worse in any row: the step, halved where it is too long."""
        length = np.ones((len(x), 1))
        for _ in range(60):
            there = np.clip(x + length * step, self.lowest, self.highest)
            new, p = self.at(there)
            promised = (gradient * (there - x)).sum(axis=1)
            long = new > value + 1e-4 * promised + _ROUNDING * (1 + np.abs(value))
            if not long.any():
                return there, new, p
            length[long] /= 2
        return x, *self.at(x)


def _risen(exponent: NDArray[np.float64], chained: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The nearest nondecreasing sequence along each row, among the chained entries.

    Its k-th entry is max over s ≤ k of min over t ≥ k of the mean of entries s to t.
    """
    zero = np.zeros((len(exponent), 1))
    sums = np.concatenate([zero, np.cumsum(exponent, axis=1)], axis=1)
    number = np.concatenate([zero, np.cumsum(chained, axis=1)], axis=1)
    total = sums[:, None, 1:] - sums[:, :-1, None]
    mean = total / np.maximum(number[:, None, 1:] - number[:, :-1, None], 1)
    least = np.minimum.accumulate(mean[:, :, ::-1], axis=2)[:, :, ::-1]
    size = exponent.shape[1]
    first = np.arange(size)[:, None] <= np.arange(size)
    return np.where(first, least, -np.inf).max(axis=1)
