"""Whether every combination of regressors rests on enough units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from diskret.outputs.fitted import Numbers

_EVERY = 30_000  # combinations that are all tried
_RECORDS = 100_000  # of which it is asked how many are different
_WORK = 5 * 10**7  # units times combinations
_TRIES = 300  # combinations that are tried where several directions are free
_TOLERANCE = 1e-6  # of a record that is a combination of others, relative to its size


def usual(column: Numbers, first: NDArray[np.intp], threshold: int) -> list[float]:
    """The values that all but fewer than `threshold` units may have.

    Among 2 × threshold units such a value has the majority; among fewer, one unit at least.

    Parameters
    ----------
    column
        Shape (records,).
    first
        One record of each of 2 × threshold units, or of all if there are fewer.
    threshold
        The fewest units.
    """
    values, counts = np.unique(column[first], return_counts=True)
    if len(first) < 2 * threshold:
        return values.tolist()
    return values[counts > threshold].tolist()


def first_records(units: NDArray[np.int32] | None, number: int, wanted: int) -> NDArray[np.intp]:
    """One record of each of so many units, or of all units."""
    if units is None:
        return np.arange(min(wanted, number))
    return np.unique(units, return_index=True)[1][:wanted]


@dataclass(frozen=True, eq=False)
class Spread:
    """Whether every combination of columns rests on enough units.

    Parameters
    ----------
    proven
        Whether it is so.
    combination
        Shape (columns,): factors of a combination that is zero for all but few units; None:
        none was found, which proves nothing.
    """

    proven: bool
    combination: Numbers | None = None


def spread(x: Numbers, units: NDArray[np.int32] | None, threshold: int) -> Spread:
    """Whether no combination of the columns is zero for all but fewer than `threshold` units.

    It is so if there are `threshold` sets of records without a common unit, each of which has as
    many independent records as there are independent columns: fewer units leave one of the sets
    untouched, and what is zero on that set is zero everywhere. Such sets are looked for.
    Where none is left, every combination that is zero on as many different records as can be is
    tried, if these are not too many; else what is zero on the remaining records.

    Parameters
    ----------
    x
        Shape (records, columns).
    units
        Shape (records,): the unit of each record; None: each is one.
    threshold
        The fewest units.

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=(100, 3))
    >>> spread(x, None, 10).proven
    True
    >>> spy = np.arange(100) < 9
    >>> found = spread(np.column_stack([x, x[:, 0] + spy]), None, 10)
    >>> found.proven, np.abs(found.combination / found.combination[0]).round(6).tolist()
    (False, [1.0, 0.0, 0.0, 1.0])
    """
    size = np.array([np.abs(column).max(initial=0) for column in x.T])
    size[size == 0] = 1
    rank = rank_of((x.T @ x) / np.outer(size, size))
    pool = _pool(x, units, threshold, rank)
    rows = x[pool] / size
    rows /= np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-300)
    owner = pool if units is None else units[pool]
    left = np.ones(len(pool), bool)
    for _ in range(threshold):
        found = independent(rows, left, rank)
        if found is None:
            exact = _every(x, size, rank, units, threshold)
            return exact or Spread(False, _alone(x, size, rows, left, units, threshold))
        left &= ~np.isin(owner, owner[found])
    return Spread(True)


def _every(
    x: Numbers,
    size: Numbers,
    rank: int,
    units: NDArray[np.int32] | None,
    threshold: int,
) -> Spread | None:
    """The answer from all combinations that are zero on rank - 1 records; None: they are too many.

    What is zero for all but few is zero on such records, or another one is zero on more.
    """
    if len(x) > _RECORDS or not rank:
        return None
    # in directions of one length, so that regressors that hang together closely are told apart
    apart, single, basis = np.linalg.svd(x / size, full_matrices=False)
    apart, basis = apart[:, :rank], basis[:rank] / single[:rank, None]
    kinds, place = np.unique(apart.round(11), axis=0, return_inverse=True)
    place = place.reshape(-1)
    if comb(len(kinds), rank - 1) > _EVERY:
        return None
    some = np.array([*combinations(range(len(kinds)), rank - 1)], np.intp)
    normals = np.ones((1, 1))
    if rank > 1:
        normals = np.linalg.svd(kinds[some])[2][:, -1]
    off = np.abs(kinds @ normals.T)
    off = off > _TOLERANCE * off.max(axis=0)
    if units is None:
        number = np.bincount(place, minlength=len(kinds)) @ off
    else:
        whose = np.unique(units, return_inverse=True)[1].reshape(-1)
        inside = np.zeros((int(whose.max()) + 1, len(kinds)), np.float32)
        inside[whose, place] = 1
        if inside.shape[0] * off.shape[1] > _WORK:
            return None
        number = ((inside @ off.astype(np.float32)) > 0).sum(axis=0)
    least = int(number.argmin())
    if number[least] >= threshold:
        return Spread(True)
    direction = normals[least] @ basis
    direction[np.abs(direction) <= _TOLERANCE * np.abs(direction).max()] = 0
    return Spread(False, direction / size)


def _alone(
    x: Numbers,
    size: Numbers,
    rows: Numbers,
    left: NDArray[np.bool_],
    units: NDArray[np.int32] | None,
    threshold: int,
) -> Numbers | None:
    """A combination that is zero on the rows left, if it is zero for all but few units, not all."""
    width = x.shape[1]
    _, single, directions = np.linalg.svd(np.vstack([rows[left], np.zeros((width, width))]))
    free = directions[single <= _TOLERANCE * single.max(initial=1)]
    for direction in _candidates(free, rows[~left]):
        factors = np.where(np.abs(direction) > _TOLERANCE, direction, 0) / size
        inside = np.abs(x @ factors) > _TOLERANCE * (np.abs(x) @ np.abs(factors))
        number = number_of_units(inside, units)
        if 0 < number < threshold:
            return factors
    return None


def _candidates(free: Numbers, rows: Numbers) -> Iterator[Numbers]:
    """Combinations of free directions: each, and those that are zero on as many rows as can be."""
    yield from free
    if len(free) < 2:
        return
    values = np.unique((rows @ free.T).round(9), axis=0)
    values = values[np.abs(values).max(axis=1) > _TOLERANCE]
    for some in islice(combinations(range(len(values)), len(free) - 1), _TRIES):
        yield np.linalg.svd(values[list(some)])[2][-1] @ free


def number_of_units(inside: NDArray[np.bool_], units: NDArray[np.int32] | None) -> int:
    """How many units some records are of."""
    if units is None:
        return int(np.count_nonzero(inside))
    return int(np.count_nonzero(np.bincount(units[inside])))


def rank_of(gram: Numbers) -> int:
    """The rank of a matrix of products of columns that are of about the same size."""
    values = np.linalg.eigvalsh(gram)
    return int((values > 1e-12 * values.max(initial=0)).sum())


def _pool(
    x: Numbers, units: NDArray[np.int32] | None, threshold: int, rank: int
) -> NDArray[np.intp]:
    """Records to choose from, common ones first: with those that are unlike most in some column."""
    number = len(x)
    wanted = 3 * threshold
    first = first_records(units, number, wanted * max(rank, 1))
    chosen = [first, np.linspace(0, number - 1, min(number, wanted * rank)).astype(np.intp)]
    for column in x.T:
        values, counts = np.unique(column[first], return_counts=True)
        unlike = np.flatnonzero(column != values[counts.argmax()])
        if len(unlike) < number / 4:
            if units is not None:
                unlike = unlike[np.unique(units[unlike], return_index=True)[1]]
            chosen.append(unlike[:wanted])
    pool = np.unique(np.concatenate(chosen))
    rare = np.zeros(len(pool))
    for column in x[pool].T:
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        if len(counts) < len(pool) / 2:
            rare += 1 / counts[place]
    return pool[np.argsort(rare, kind="stable")]


def independent(rows: Numbers, left: NDArray[np.bool_], rank: int) -> NDArray[np.intp] | None:
    """So many independent records of those that are left, the first that there are."""
    at = np.flatnonzero(left)
    rest = rows[at].copy()
    found: list[int] = []
    for _ in range(rank):
        size = np.sqrt((rest**2).sum(axis=1))
        good = np.flatnonzero(size > _TOLERANCE)
        if not len(good):
            return None
        direction = rest[good[0]] / size[good[0]]
        found.append(int(good[0]))
        rest -= np.outer(rest @ direction, direction)
    return at[found]
