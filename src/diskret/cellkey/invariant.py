"""Noise that leaves the distribution of cell values as it is. Confidential.

With t the numbers of cells of each value and R the probabilities of a value to become another one,
noise is invariant if ``t R = t``: as many cells are expected to leave a value as to reach it. Where
moreover every row had mean 0 there would be no noise at all: ``t R = t`` keeps the mean
square of all values, and noise of mean 0 adds its variance to it. So rows have a bias, and
only the mean over all cells is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.cellkey.table import PerturbationTable
from diskret.errors import InputError
from diskret.solver import Solver, Status
from diskret.texts.numbers import Count

#: Probabilities below are solver noise.
_NOTHING = 1e-9
#: What a solver may miss a bound by.
_TOLERANCE = 1e-7
#: Steps of the simplex method for one programme at most.
_PIVOTS = 200_000
#: How far the squares of means may be from their tangents on average, and how often to add some.
_NEAR, _ROUNDS = 1e-7, 30


def value_frequencies(counts: Sequence[NDArray[np.int64]], largest: int) -> NDArray[np.int64]:
    """How often each of the values 0, …, `largest` occurs in a set of tables; int64.

    Parameters
    ----------
    counts
        Counts of the cells of each table, any shape. Give a cell that stands in two tables once.
    largest
        Cells with larger values are not counted; they will be left alone.

    Examples
    --------
    >>> value_frequencies([np.array([3, 1, 2]), np.array([1, 9])], largest=3).tolist()
    [0, 2, 1, 1]
    """
    every = np.concatenate([own.ravel() for own in counts])
    return np.bincount(every[every <= largest], minlength=largest + 1).astype(np.int64)


def two_step_table(
    frequencies: NDArray[np.int64],
    max_noise: int,
    stay: float = 0.7,
    damping: float = 1.0,
) -> PerturbationTable:
    """Invariant noise from an arbitrary one and its reverse.

    Values first move by at most half of `max_noise`, each step as likely as the other; then they
    move back as Bayes' rule says for those that came from elsewhere.

    Parameters
    ----------
    frequencies
        Number of cells of each value 0, …, K, int64. Larger values are left alone, and so are 0
        and values that do not occur.
    max_noise
        Largest noise on either side, an even number ≥ 2.
    stay
        Probability not to move in the first step, 0 to 1.
    damping
        The table is so much of the invariant one and the rest no noise: above 0, at most 1.

    Raises
    ------
    InputError
        A figure is impossible, or fewer than two values occur.

    References
    ----------
    Shlomo, N., Young, C. (2008), Invariant post-tabular protection of census frequency counts,
    Privacy in Statistical Databases, LNCS 5262, 77-89.

    Examples
    --------
    >>> table = two_step_table(np.array([50, 40, 20, 10]), max_noise=2)
    >>> t = np.array([40, 20, 10])
    >>> moved = t @ np.array([[table.probability(i, j - i) for j in (1, 2, 3)] for i in (1, 2, 3)])
    >>> moved.round(9).tolist()
    [40.0, 20.0, 10.0]
    """
    if max_noise < 2 or max_noise % 2:
        raise InputError(f"two steps need an even max_noise from 2 upwards, not {max_noise}")
    if not 0 <= stay <= 1 or not 0 < damping <= 1:
        raise InputError("stay= is from 0 to 1, damping= above 0 and at most 1")
    value, t = _occurring(frequencies)
    apart = np.abs(value[:, None] - value[None, :])
    near = (apart <= max_noise // 2) & (apart > 0)
    alone = ~near.any(axis=1)
    first = near * ((1 - stay) / np.maximum(near.sum(axis=1), 1))[:, None]
    first[np.arange(len(t)), np.arange(len(t))] = np.where(alone, 1.0, stay)
    back = first.T * t / (t @ first)[:, None]
    moves = damping * (first @ back) + (1 - damping) * np.eye(len(t))
    return _table(moves, value, len(frequencies) - 1, max_noise)


def least_bias_table(
    frequencies: NDArray[np.int64], max_noise: int, most_stay: float = 0.5
) -> PerturbationTable:
    """Invariant noise whose rows have as little bias as invariance allows.

    Parameters
    ----------
    frequencies
        Number of cells of each value 0, …, K, int64. Larger values are left alone, and so are 0
        and values that do not occur.
    max_noise
        Largest noise on either side, D ≥ 1.
    most_stay
        No value stays as it is with a larger probability, from 0 to below 1. A value without
        enough others around it stays more often, as rarely as possible.

    Raises
    ------
    InputError
        A figure is impossible, or fewer than two values occur.

    Notes
    -----
    Minimises Σ t_i E[noise | i]² subject to t R = t, rows that sum up to 1, |noise| ≤ D and
    R_ii ≤ `most_stay`, by linear programmes with tangents to the squares. To forbid that values
    become, say, 1 or 2 would forbid that those of 1 and 2 change at all: who leaves must be
    replaced.

    Examples
    --------
    >>> table = least_bias_table(np.array([50, 40, 30, 25, 20]), max_noise=2)
    >>> bool(table.probability(1, 0) <= 0.5)
    True
    """
    if max_noise < 1 or not 0 <= most_stay < 1:
        raise InputError("max_noise= is at least 1, most_stay= from 0 to below 1")
    value, t = _occurring(frequencies)
    programme = _Programme(value, t, max_noise)
    stay = programme.least_stay(most_stay)
    cap = np.where(stay > most_stay + _NOTHING, np.minimum(stay + _TOLERANCE, 1.0), most_stay)
    moves = programme.least_bias(cap)
    return _table(moves, value, len(frequencies) - 1, max_noise)


def _occurring(frequencies: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values from 1 on that occur, and how often."""
    if frequencies.ndim != 1 or (frequencies < 0).any():
        raise InputError("frequencies are numbers of cells ≥ 0 of the values 0, 1, 2, …")
    value = 1 + np.flatnonzero(frequencies[1:])
    if len(value) < 2:
        number = Count(len(value))
        raise InputError(
            f"only {number} {number:value|values} from 1 on {number:occurs|occur}, so none can "
            "become another; give more tables, or a larger largest value"
        )
    return value.astype(np.int64), frequencies[value].astype(np.float64)


def _table(
    moves: NDArray[np.float64], value: NDArray[np.int64], largest: int, max_noise: int
) -> PerturbationTable:
    """Probabilities by noise; 0, values that do not occur and those above `largest` stay."""
    noise = np.arange(-max_noise, max_noise + 1, dtype=np.int64)
    probabilities = np.zeros((largest + 2, len(noise)))
    probabilities[:, max_noise] = 1.0
    probabilities[value, max_noise] = 0.0
    line, column = np.nonzero(moves)
    step = value[column] - value[line]
    probabilities[value[line], step + max_noise] = moves[line, column]
    return PerturbationTable(np.arange(largest + 2), noise, probabilities)


class _Programme:
    """Moves between values no farther than `max_noise` apart, rows first."""

    def __init__(self, value: NDArray[np.int64], t: NDArray[np.float64], max_noise: int):
        self.t, k = t, len(t)
        self.line, self.column = np.nonzero(np.abs(value[:, None] - value) <= max_noise)
        self.step = (value[self.column] - value[self.line]).astype(np.float64)
        self.n, at = len(self.line), np.arange(len(self.line))
        sums = sparse.csr_array((np.ones(self.n), (self.line, at)), shape=(k, self.n))
        # divided by what arrives, so that rare values count as much as frequent ones
        share = t[self.line] / t[self.column]
        arrivals = sparse.csr_array((share, (self.column, at)), shape=(k, self.n))
        # the last arrival follows from all others
        self.equations = sparse.csr_array(sparse.vstack([sums, arrivals])[:-1])
        self.stays = np.flatnonzero(self.line == self.column)

    def least_stay(self, most: float) -> NDArray[np.float64]:
        """By how little each value can stay: the least excess over `most` of all cells together."""
        k = len(self.t)
        over = sparse.csr_array((np.full(k, -1.0), (np.arange(k), np.arange(k))), shape=(k, k))
        own = sparse.csr_array((np.ones(k), (np.arange(k), self.stays)), shape=(k, self.n))
        matrix = sparse.vstack(
            [
                sparse.hstack([self.equations, sparse.csr_array((2 * k - 1, k))]),
                sparse.hstack([own, over]),
            ]
        )
        low = np.concatenate([np.ones(2 * k - 1), np.full(k, -np.inf)])
        high = np.concatenate([np.ones(2 * k - 1), np.full(k, most)])
        cost = np.concatenate([np.zeros(self.n), self.t / self.t.sum()])
        found = _solve(sparse.csr_array(matrix), low, high, cost, np.ones(self.n + k))
        return found[self.stays]

    def least_bias(self, cap: NDArray[np.float64]) -> NDArray[np.float64]:
        """The moves with the least Σ t_i (mean step)², ``(k, k)``.

        Squares are their tangents' upper envelope; tangents are added where the last solution
        lies until they say what its squares are.
        """
        k = len(self.t)
        means = sparse.csr_array((self.step, (self.line, np.arange(self.n))), shape=(k, self.n))
        widest = int(np.abs(self.step).max())
        at = np.repeat(np.arange(-widest, widest + 1.0), k)
        upper = np.concatenate([np.ones(self.n), np.full(k, np.inf)])
        upper[self.stays] = cap
        weight = self.t / self.t.sum()
        cost = np.concatenate([np.zeros(self.n), weight])
        whose = np.tile(np.arange(k), 2 * widest + 1)
        found = np.zeros(self.n + k)
        for _ in range(_ROUNDS):
            # square − 2·a·mean ≥ −a² for each tangent point a
            line = np.arange(len(at))
            one = sparse.csr_array((np.ones(len(at)), (line, whose)), shape=(len(at), k))
            slope = sparse.diags_array(-2 * at) @ means[whose]
            matrix = sparse.vstack(
                [
                    sparse.hstack([self.equations, sparse.csr_array((2 * k - 1, k))]),
                    sparse.hstack([slope, one]),
                ]
            )
            low = np.concatenate([np.ones(2 * k - 1), -(at**2)])
            high = np.concatenate([np.ones(2 * k - 1), np.full(len(at), np.inf)])
            found = _solve(sparse.csr_array(matrix), low, high, cost, upper)
            mean = means @ found[: self.n]
            if weight @ (mean**2 - found[self.n :]) < _NEAR:
                break
            at, whose = np.concatenate([at, mean]), np.concatenate([whose, np.arange(k)])
        moves = np.zeros((k, k))
        part = found[: self.n]
        moves[self.line, self.column] = self._exact(np.where(part < _NOTHING, 0.0, part))
        return moves

    def _exact(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Satisfy the equations to machine precision, by the least change where there are moves."""
        for _ in range(4):
            used = np.flatnonzero(found)
            off = self.equations @ found - 1
            found[used] -= np.linalg.lstsq(self.equations[:, used].toarray(), off, rcond=None)[0]
            found = np.maximum(found, 0.0)
        return found


def _solve(
    matrix: sparse.csr_array,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    cost: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Minimise ``cost @ x`` subject to ``low <= matrix @ x <= high`` and ``0 <= x <= upper``."""
    solver = Solver(primal_feasibility_tolerance=1e-9)
    solver.load(cost, matrix, columns=(0, upper), rows=(low, high))
    if solver.run(pivots=_PIVOTS) is not Status.OPTIMAL:
        raise InputError(
            "no invariant noise was found for these frequencies "
            f"({solver.said}); use two_step_table, or a smaller largest value"
        )
    return solver.x
