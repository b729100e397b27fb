"""Can a model tell original records from protected ones? The propensity score measure pMSE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from diskret.errors import InputError
from diskret.parameters import reading
from diskret.utility.deviations import NAN

Interactions = Literal["none", "numeric", "all"]

#: So many categories of a variable are told apart.
CATEGORIES = 100
_MOST_COLUMNS = 1_000
_CELLS = 2**21
#: Pairs of blocks: rows of the original file and the same rows of the protected one.
Blocks = Callable[[], Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]]

_STEPS = 100
#: A gain in deviance that is small beside the one by chance, which is 1 for each parameter.
_ENOUGH = 1e-6
#: Directions in which the columns vary less than this are combinations of the others.
_NOTHING = 1e-10


@dataclass(frozen=True)
class Propensity:
    """How well a logistic model tells protected records from original ones.

    Parameters
    ----------
    pmse
        Mean of (p̂ − ½)² over the records of both files: 0 if the model sees no difference, 1/4
        if it tells every record.
    parameters
        Number of parameters, the constant included.
    records
        Records of both files together, N.
    """

    pmse: float
    parameters: int
    records: int

    @property
    def expected(self) -> float:
        """Expected pMSE of records drawn anew from those of the original, (k − 1) / (8 N)."""
        return (self.parameters - 1) / (8 * self.records)

    @property
    def ratio(self) -> float:
        """PMSE divided by `expected`; NaN if there is nothing but a constant."""
        return self.pmse / self.expected if self.expected else NAN

    @property
    def standardised(self) -> float:
        """(pMSE − `expected`) in its standard deviations √(2(k − 1)) / (8 N)."""
        if self.parameters < 2:
            return NAN
        deviation = sqrt(2 * (self.parameters - 1)) / (8 * self.records)
        return (self.pmse - self.expected) / deviation


@dataclass(frozen=True, eq=False)
class Categories:
    """Codes of a categorical variable in both files, from 0 on, -1 where missing, ``(n,)``."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]


@reading
def propensity(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    categories: Sequence[Categories] = (),
    interactions: Interactions = "numeric",
) -> Propensity:
    """Fit a logistic model of "protected or original?" and measure how well it tells.

    Parameters
    ----------
    before, after
        Numeric variables of the n original and of the n protected records, ``(n, p)``, NaN where
        a value is missing; p may be 0.
    categories
        Categorical variables. The 99 most frequent categories of a variable, missing among them,
        are told apart if there are more than 100; all others are one.
    interactions
        ``"none"``: main effects. They see changed means and frequencies only. ``"numeric"``: also
        squares and products of the numeric variables, which see changed variances and
        covariances. ``"all"``: products of categorical variables, too.

    Raises
    ------
    InputError
        `interactions` is none of these, or the model would have more than 1,000 columns.

    Notes
    -----
    M.-J. Woo, J. Reiter, A. Oganian and A. Karr (2009), "Global measures of data utility for
    microdata masked for disclosure limitation", *Journal of Privacy and Confidentiality* 1(1); null
    expectation and standard deviation for c = ½: J. Snoke, G. Raab, B. Nowok, C. Dibben and
    A. Slavković (2018), "General and specific utility measures for synthetic data", *JRSS A* 181.
    They hold for files that are drawn anew. Protected records that are still those of the same
    persons can come closer: their ratio may be far below 1.

    Examples
    --------
    >>> incomes = np.random.default_rng(1).normal(1000, 200, (500, 1))
    >>> propensity(incomes, incomes).pmse
    0.0
    >>> round(propensity(incomes, incomes + 100).ratio, 1)
    70.1
    """
    design = _design(before, after, categories, interactions)
    if design.columns > _MOST_COLUMNS:
        raise InputError(
            f"the model would have {design.columns:,} columns, more than {_MOST_COLUMNS:,}; name "
            "fewer variables, or fewer interactions="
        )
    found = fit(design.blocks, design.columns)
    records = 2 * len(before)
    return Propensity(found.distance / records, found.rank, records)


@dataclass(frozen=True, eq=False)
class _Design:
    """How rows of the model are made: a constant, main effects, products of pairs of columns."""

    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    codes: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    widths: tuple[int, ...]
    products: tuple[NDArray[np.int64], NDArray[np.int64]]

    @property
    def main(self) -> int:
        """Number of columns of main effects."""
        return self.values[0].shape[1] + sum(self.widths)

    @property
    def columns(self) -> int:
        return 1 + self.main + len(self.products[0])

    def blocks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        n = len(self.values[0])
        step = max(256, _CELLS // self.columns)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            yield self._rows(0, part), self._rows(1, part)

    def _rows(self, file: int, part: slice) -> NDArray[np.float64]:
        values = self.values[file][part]
        rows = np.zeros((len(values), self.columns))
        rows[:, 0] = 1
        to = 1 + values.shape[1]
        rows[:, 1:to] = values
        for codes, width in zip(self.codes, self.widths, strict=True):
            code = codes[file][part]
            # the first category is what all others are compared with
            at = np.flatnonzero(code > 0)
            rows[at, to + code[at] - 1] = 1
            to += width
        first, second = self.products
        rows[:, to:] = rows[:, 1 + first] * rows[:, 1 + second]
        return rows


def _design(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    categories: Sequence[Categories],
    interactions: Interactions,
) -> _Design:
    values, numeric = _standardised(before, after)
    codes = tuple(_numbered(variable) for variable in categories)
    widths = tuple(int(max(old.max(), new.max())) for old, new in codes)
    pairs: list[tuple[int, int]] = []
    if interactions != "none":
        pairs += combinations_with_replacement(range(numeric), 2)
    if interactions == "all":
        groups = [range(at, at + 1) for at in range(values[0].shape[1])]
        to = len(groups)
        for width in widths:
            groups.append(range(to, to + width))
            to += width
        pairs += [
            (one, other)
            for first, second in combinations(groups, 2)
            if len(second) and second[0] >= numeric
            for one in first
            for other in second
        ]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return _Design(values, codes, widths, (both[:, 0], both[:, 1]))


def _standardised(
    before: NDArray[np.float64], after: NDArray[np.float64]
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], int]:
    """Columns in standard deviations of both files, then one that says "missing" where needed.

    A missing value is at the mean. Columns that do not vary are left out.
    """
    kept: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    gaps: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for x, y in zip(before.T, after.T, strict=True):
        pooled = np.concatenate([x, y])
        missing = np.isnan(pooled)
        there = pooled[~missing]
        if len(there) and np.ptp(there):
            centre, spread = there.mean(), there.std()
            kept.append((_filled((x - centre) / spread), _filled((y - centre) / spread)))
        if missing.any():
            gaps.append((np.isnan(x).astype(np.float64), np.isnan(y).astype(np.float64)))
    n = len(before)
    old, new = (
        np.column_stack([pair[file] for pair in kept + gaps]) if kept + gaps else np.empty((n, 0))
        for file in (0, 1)
    )
    return (old, new), len(kept)


def _filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(values), 0.0, values)


def _numbered(variable: Categories) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes by falling frequency in both files, the rarest ones together."""
    pooled = np.concatenate([variable.before, variable.after]) + 1  # missing is a category, too
    counts = np.bincount(pooled)
    order = np.argsort(-counts, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    if np.count_nonzero(counts) > CATEGORIES:
        place = np.minimum(place, CATEGORIES - 1)
    codes = place[pooled]
    n = len(variable.before)
    return codes[:n], codes[n:]


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Parameters
    ----------
    distance
        Σ(p̂ − ½)² over the rows of both files.
    rank
        Number of columns that are no combination of others, the constant included.
    """

    distance: float
    rank: int


@dataclass(frozen=True, eq=False)
class _State:
    deviance: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    distance: float


def fit(blocks: Blocks, columns: int) -> Fit:
    """Fit P(row is protected) by Newton's method, halving steps that make it worse.

    A row of the original file and its protected one are added in the same way, so that for files
    that are equal the gradient at the start is exactly 0, and with it the distance. Where a column
    tells the files apart without error there is no maximum; the steps end when the fit no longer
    gets better.

    Parameters
    ----------
    blocks
        Gives the blocks anew at each call, the same ones in the same order.
    columns
        Of each block, the constant included.
    """
    at = np.zeros(columns)
    state = _evaluated(blocks, at)
    rank = 0
    for _ in range(_STEPS):
        if not state.gradient.any():
            return Fit(state.distance, rank or _solved(state)[1])
        step, found = _solved(state)
        rank = rank or found
        size, better = 1.0, _evaluated(blocks, at + step)
        while better.deviance > state.deviance and size > 1e-4:
            size /= 2
            better = _evaluated(blocks, at + size * step)
        gained = state.deviance - better.deviance
        if gained <= 0:
            break
        at, state = at + size * step, better
        if gained <= _ENOUGH:
            break
    return Fit(state.distance, rank)


def _evaluated(blocks: Blocks, at: NDArray[np.float64]) -> _State:
    deviance, distance = 0.0, 0.0
    gradient = np.zeros(len(at))
    hessian = np.zeros((len(at), len(at)))
    for pair in blocks():
        parts: list[NDArray[np.float64]] = []
        for rows, protected in zip(pair, (False, True), strict=True):
            linear = rows @ at
            share = expit(linear)
            # −2 log likelihood, without loss for shares near 0 and 1
            deviance += 2 * float(np.sum(np.logaddexp(0, -linear if protected else linear)))
            distance += float(np.sum((share - 0.5) ** 2))
            parts.append((share - protected) @ rows)
            hessian += (rows * (share * (1 - share))[:, None]).T @ rows
        gradient -= parts[0] + parts[1]
    return _State(deviance, gradient, hessian, distance)


def _solved(state: _State) -> tuple[NDArray[np.float64], int]:
    """The step, and the number of directions in which there is one."""
    size = np.sqrt(np.diag(state.hessian))
    scale = np.divide(1, size, out=np.zeros_like(size), where=size > 0)
    values, vectors = np.linalg.eigh(state.hessian * np.outer(scale, scale))
    held = values > _NOTHING * values[-1]
    vectors = vectors[:, held]
    step = vectors @ ((vectors.T @ (scale * state.gradient)) / values[held])
    return scale * step, int(held.sum())
