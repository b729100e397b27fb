"""Further conditions: individual risk, and what records that agree show of sensitive variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.microdata.suppression.problem import Items, Problem
from diskret.microdata.suppression.suppress import Criterion
from diskret.risk import (
    Distributions,
    Keys,
    Measure,
    by_record,
    classes,
    frequencies,
    individual_risk,
)


@dataclass(frozen=True, eq=False)
class Sensitive:
    """What records that agree in their keys may show of a sensitive variable."""

    name: str  # the variable
    values: NDArray[np.int32]  # a number of at least 0 for the value of each record, (n,)
    measure: Measure  # one figure, as distinct or nominal of the assessment give it
    holds: Callable[[NDArray[np.float64]], NDArray[np.bool_]]  # whether figures are good enough


def at_most(
    items: Items, keys: Sequence[int], weights: NDArray[np.float64], threshold: float
) -> Criterion:
    """Whether the individual risk of what a record still shows of some keys is small enough."""
    total = _total(items, weights)

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        sample, population = _counted(items, [q for q in keys if q not in hidden], total)
        return individual_risk(sample, population) <= threshold

    return holds


def needed(
    problem: Problem, keys: Sequence[int], weights: NDArray[np.float64], threshold: float
) -> NDArray[np.int64]:
    """With how many records each has to agree so that its individual risk is small enough.

    Whoever comes to agree with a record is taken to weigh as little as anybody in the file, so
    the risk is at most the threshold whoever it is.

    Returns at least 1, ``(n,)``, int64; more than there are records if no number is enough.
    """
    items, n = problem.items, problem.keys.n
    sample, population = _counted(items, keys, _total(items, weights))
    least = float(weights.min())

    def small(at: NDArray[np.intp], count: NDArray[np.float64]) -> NDArray[np.bool_]:
        more = (count - sample[at]) * least
        return individual_risk(count, population[at] + more) <= threshold

    # between low, which is not enough, and need, which is, if it is at most n
    low, need = sample.copy(), np.ones(len(sample))
    left = np.flatnonzero(~small(np.arange(len(need)), sample))
    need[left] = n + 1.0
    while len(left):
        high = np.minimum(2 * low[left], n)
        enough = small(left, high)
        need[left[enough]] = high[enough]
        low[left[~enough]] = high[~enough]
        left = left[~enough & (high < n)]
    left = np.flatnonzero((need > 1) & (need <= n))
    while len(left := left[need[left] - low[left] > 1]):
        middle = np.floor((low[left] + need[left]) / 2)
        enough = small(left, middle)
        need[left[enough]] = middle[enough]
        low[left[~enough]] = middle[~enough]
    return need.astype(np.int64)[items.of]


def spread(items: Items, keys: Sequence[int], sensitive: Sensitive) -> Criterion:
    """Whether the original records that show the same satisfy what is asked of a variable.

    A missing value of a key counts as a value here.
    """
    numbers, number = np.unique(sensitive.values, return_inverse=True)
    width = len(numbers)
    pairs = classes([items.of.astype(np.int32), number.astype(np.int32)], [len(items.count), width])
    item, value = pairs.codes.T
    overall = np.bincount(number)

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        cells = items.keys([q for q in keys if q not in hidden]).classes
        cell = cells.of.astype(np.int32)
        found = classes([cell[item], value], [len(cells.count), width])
        owner, shown = found.codes.T.astype(np.intp)
        count = np.bincount(found.of, weights=pairs.count).astype(np.int64)
        figures = sensitive.measure(
            Distributions(np.arange(len(cells.count)), owner, shown, count, overall)
        )
        return sensitive.holds(figures)[cells.of]

    return holds


def until_they_hold(
    problem: Problem, mask: NDArray[np.bool_], asked: Sequence[Sensitive]
) -> NDArray[np.bool_]:
    """Hide more in records whose partners do not yet show what is asked for.

    With gaps in others, more records agree with one than share what it shows, and a distribution
    among more records may be further from that of the file. Such records hide the cheapest key
    they still show, and all are judged again, until every record is good enough.

    `problem`: what is asked for besides. `mask`: what is hidden so far, ``(n, m)``. `asked`: what
    has to hold.
    """
    mask, free = mask.copy(), np.isfinite(problem.price)
    order = np.argsort(problem.price, kind="stable")
    group = problem.group.astype(np.int32)
    while True:
        keys = Keys(
            tuple(column.without(mask[:, q]) for q, column in enumerate(problem.keys.columns))
        )
        bad = np.zeros(keys.n, dtype=bool)
        for one in asked:
            figures = by_record(keys, one.values, one_row(one.measure), known=[group])[0]
            bad |= ~one.holds(figures)
        if not bad.any():
            return mask
        shown = np.stack([column.codes >= 0 for column in keys.columns], axis=1) & free
        rows = np.flatnonzero(bad)
        stuck = rows[~shown[rows].any(axis=1)]
        if len(stuck):
            raise ProtectionError(
                "records that have nothing more to hide and still do not satisfy what is asked "
                f"of {', '.join(one.name for one in asked)}: {len(stuck):,} (first in row "
                f"{stuck[0] + 1}); ask for less, combine small strata, or let more keys be "
                "suppressed"
            )
        mask[rows, order[np.argmax(shown[rows][:, order], axis=1)]] = True


def one_row(measure: Measure) -> Measure:
    """The same figure, ``(1, b)``."""
    return lambda found: measure(found)[None]


def _total(items: Items, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.bincount(items.of, weights=weights, minlength=len(items.count)).astype(float)


def _counted(
    items: Items, keys: Sequence[int], total: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Records that agree with each item in some keys, and the sum of their weights."""
    return items.agreeing(keys), frequencies(items.keys(keys), weights=total).population
