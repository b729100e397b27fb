"""Further conditions on what a record still shows: individual risk, diversity, closeness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProtectionError
from diskret.io import Coded
from diskret.microdata.suppression.problem import Items, Problem
from diskret.microdata.suppression.visible import Criterion
from diskret.risk import frequencies
from diskret.risk.individual import individual_risk

_NEAR = 1e-12


def at_most(
    items: Items, keys: Sequence[int], weights: NDArray[np.float64], threshold: float
) -> Criterion:
    """Whether the individual risk of what a record still shows is at most a threshold.

    Parameters
    ----------
    items
        The records.
    keys
        Positions of the keys that an attacker knows.
    weights
        Of the records, ``(n,)``.
    threshold
        Above 0, at most 1.
    """
    total = np.bincount(items.of, weights=weights, minlength=len(items.count)).astype(float)

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        sample, population = _counted(items, [q for q in keys if q not in hidden], total)
        return individual_risk(sample, population) <= threshold

    return holds


def needed(
    problem: Problem, keys: Sequence[int], weights: NDArray[np.float64], threshold: float
) -> NDArray[np.int64]:
    """With how many records each has to agree so that its individual risk is small enough.

    Whoever comes to agree with a record weighs as little as anybody in the file, so the risk is at
    most the threshold whoever it is.

    Returns
    -------
    numpy.ndarray
        At least 1, ``(n,)``, int64; more than there are records if none is enough.
    """
    items = problem.items
    total = np.bincount(items.of, weights=weights, minlength=len(items.count)).astype(float)
    sample, population = _counted(items, keys, total)
    least = float(weights.min())
    n = problem.keys.n

    def small(at: NDArray[np.intp], count: NDArray[np.float64]) -> NDArray[np.bool_]:
        more = (count - sample[at]) * least
        return individual_risk(count, population[at] + more) <= threshold

    need = np.ones(len(items.count))
    left = np.flatnonzero(~small(np.arange(len(need)), sample))
    low, high = sample.copy(), np.minimum(2 * sample, n)
    need[left] = n + 1.0
    while len(left):  # the first count that is known to be enough
        enough = small(left, high[left])
        need[left[enough]] = high[left[enough]]
        left = left[~enough & (high[left] < n)]
        low[left], high[left] = high[left], np.minimum(2 * high[left], n)
    left = np.flatnonzero((need > 1) & (need <= n))
    while len(left := left[need[left] - low[left] > 1]):
        middle = np.floor((low[left] + need[left]) / 2)
        enough = small(left, middle)
        need[left[enough]] = middle[enough]
        low[left[~enough]] = middle[~enough]
    return need.astype(np.int64)[items.of]


def _counted(
    items: Items, keys: Sequence[int], total: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Records that agree with each item in some keys, and the sum of their weights."""
    return items.agreeing(keys), frequencies(items.keys(keys), weights=total).population


def diverse(items: Items, keys: Sequence[int], sensitive: Coded, least: int) -> Criterion:
    """Whether records that show the same have at least so many different sensitive values.

    Values of keys that are missing in the original file count as one value; that finds too
    few values, never too many.

    Raises
    ------
    ProtectionError
        There are fewer in the whole file.
    """
    item, value, _ = _pairs(items, sensitive)
    there = len(np.unique(value))
    if there < least:
        raise ProtectionError(
            f"{sensitive.name!r} has {there:,} different values in the whole file, so no record "
            f"can be among {least:,}; ask for at most {there:,}"
        )

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        cell = items.keys([q for q in keys if q not in hidden]).classes.of
        pairs = np.unique(cell[item] * np.int64(len(sensitive.categories)) + value)
        found = np.bincount(pairs // len(sensitive.categories), minlength=len(cell))
        enough: NDArray[np.bool_] = found[cell] >= least
        return enough

    return holds


def close(
    items: Items, keys: Sequence[int], sensitive: Coded, most: float, ordered: bool
) -> Criterion:
    """Whether sensitive values are spread among records that show the same as in the whole file.

    The distance is the earth mover's (Li, Li and Venkatasubramanian, t-closeness, ICDE 2007):
    for values without order half the sum of absolute differences of shares, for ordered ones the
    sum of absolute differences of cumulated shares over the number of values less one. Records
    without a sensitive value are left out.

    Parameters
    ----------
    items, keys, sensitive
        The records, positions of their keys, and the sensitive variable.
    most
        Largest distance, from 0 to 1.
    ordered
        Whether values have an order; it is that of their codes.
    """
    item, value, count = _pairs(items, sensitive)
    values, place = np.unique(value, return_inverse=True)
    share = np.bincount(place, weights=count).astype(float)
    share /= share.sum()
    under = np.cumsum(share)
    sums = np.concatenate([[0.0], np.cumsum(under)])  # of shares cumulated

    def holds(hidden: Sequence[int]) -> NDArray[np.bool_]:
        cell = items.keys([q for q in keys if q not in hidden]).classes.of
        pair, at = np.unique(cell[item] * np.int64(len(values)) + place, return_inverse=True)
        of, here = pair // len(values), pair % len(values)
        size = np.bincount(cell[item], weights=count, minlength=len(cell))
        part = np.bincount(at, weights=count) / size[of]
        if not ordered:
            apart = np.bincount(of, np.abs(part - share[here]) - share[here], len(cell)) + 1.0
            distance = apart / 2
        else:
            first = np.r_[True, of[1:] != of[:-1]][: len(of)]
            before = np.cumsum(part)
            before -= np.repeat(
                before[first] - part[first], np.diff(np.r_[np.flatnonzero(first), len(of)])
            )
            until = np.where(np.r_[first[1:], True], len(values), np.r_[here[1:], 0])
            apart = np.bincount(of, _between(before, here, until, under, sums), len(cell))
            apart += np.bincount(of[first], sums[here[first]], len(cell))
            distance = apart / max(1, len(values) - 1)
        near: NDArray[np.bool_] = ((distance <= most + _NEAR) & (size > 0))[cell]
        return near

    return holds


def _between(
    level: NDArray[np.float64],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    under: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum of absolute differences between a level and shares cumulated, from start to stop."""
    turn = np.clip(np.searchsorted(under, level), start, stop)
    below = (turn - start) * level - (sums[turn] - sums[start])
    return below + (sums[stop] - sums[turn]) - (stop - turn) * level


def _pairs(
    items: Items, sensitive: Coded
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Item and sensitive value wherever both occur together, and how often."""
    width = len(sensitive.categories)
    there = sensitive.codes >= 0
    pair, count = np.unique(
        items.of[there] * np.int64(width) + sensitive.codes[there], return_counts=True
    )
    return pair // width, pair % width, count
