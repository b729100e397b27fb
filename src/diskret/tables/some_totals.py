"""Codes that are the sum of some of the others: the EU among countries, and totals said twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

#: Of so many codes all subsets are gone through.
_FEW = 14
#: Of more codes only those are looked at that depend on each other, if they are no more than this.
_MOST = 400
#: And no more totals among them.
_TRIED = 40
#: Steps of a search for the parts of one code.
_NODES = 2_000
_FLOAT = 2.0**52


@dataclass(frozen=True, eq=False)
class SumOfSome:
    """A code that is the sum of others in every combination and column.

    code, parts: positions among the codes that were looked at.
    tried: among how many sets of codes these were found.
    """

    code: int
    parts: tuple[int, ...]
    tried: float


def sums_of_some(values: NDArray[np.int64], half: NDArray[np.int64]) -> Iterator[SumOfSome]:
    """Codes that are sums of two or more others, but not of all others.

    Values of which one is negative are not looked at: there sums tell little.

    values: of each code, by combination of the other variables and column, ``(codes, values)``.
    half: half the unit that each value is rounded to, ``(values,)``.

    >>> EU, DE, FR, NO = [9, 5, 1], [4, 3, 1], [5, 2, 0], [2, 7, 7]
    >>> [found] = sums_of_some(np.array([EU, DE, FR, NO]), np.zeros(3, dtype=np.int64))
    >>> found.code, found.parts
    (0, (1, 2))
    """
    codes = np.flatnonzero(values.any(axis=1))
    own = values[codes].astype(np.float64)
    if len(codes) < 4 or (own < 0).any() or own.sum() > _FLOAT:
        return
    if len(codes) <= _FEW:
        for at in range(len(codes)):
            yield from _of_all_subsets(own, half, at, codes)
    elif len(codes) <= _MOST:
        for at in _dependent(own, half)[:_TRIED]:
            yield from _searched(own, half, at, codes)


def _of_all_subsets(
    own: NDArray[np.float64], half: NDArray[np.int64], at: int, codes: NDArray[np.intp]
) -> Iterator[SumOfSome]:
    others = _smaller(own, half, at)
    if len(others) < 2:
        return
    chosen = _subsets(len(others))
    chosen = chosen[chosen.sum(axis=1) < len(own) - 1]
    tried, number = float(len(chosen)) * len(own), 1 + chosen.sum(axis=1)
    # all values together leave few
    off = np.abs(chosen @ own[others].sum(axis=1) - own[at].sum())
    chosen = chosen[off <= half.sum() * number]
    off = np.abs(chosen @ own[others] - own[at])
    slack = half * (1 + chosen.sum(axis=1))[:, None]
    for row in chosen[(off <= slack).all(axis=1)]:
        parts = tuple(codes[others[row]].tolist())
        yield SumOfSome(int(codes[at]), parts, tried)


@lru_cache(_FEW)
def _subsets(n: int) -> NDArray[np.bool_]:
    """All subsets of two or more of n things, ``(subsets, n)``."""
    every = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    return every[every.sum(axis=1) > 1]


def _smaller(own: NDArray[np.float64], half: NDArray[np.int64], at: int) -> NDArray[np.intp]:
    """Other codes that are nowhere larger than one, and so may be parts of it."""
    fits = (own <= own[at] + 2 * half).all(axis=1)
    fits[at] = False
    return np.flatnonzero(fits)


def _dependent(own: NDArray[np.float64], half: NDArray[np.int64]) -> list[int]:
    """Codes that are combinations of others, the largest first; exact values only."""
    if half.any() or own.shape[1] < len(own):
        return []
    own = own[:, _telling(own)]
    scaled = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1.0)
    left, size, _ = np.linalg.svd(scaled, full_matrices=False)
    null = left[:, size <= 1e-9 * max(float(size[0]), 1.0)]
    involved = np.flatnonzero((np.abs(null) > 1e-6).any(axis=1)) if null.size else np.zeros(0, int)
    return sorted(involved.tolist(), key=lambda i: -float(own[i].sum()))


def _searched(
    own: NDArray[np.float64], half: NDArray[np.int64], at: int, codes: NDArray[np.intp]
) -> Iterator[SumOfSome]:
    from scipy.optimize import LinearConstraint, milp

    others = _smaller(own, half, at)
    if len(others) < 2:
        return
    some = _telling(own)
    scale = np.maximum(own[at, some], 1.0)
    right = own[at, some] / scale
    found = milp(
        np.ones(len(others)),
        integrality=np.ones(len(others)),
        bounds=(0, 1),
        constraints=LinearConstraint(own[np.ix_(others, some)].T / scale[:, None], right - 1e-9,
                                     right + 1e-9),
        options={"node_limit": _NODES},
    )  # fmt: skip
    if found.x is None:
        return
    chosen = others[found.x > 0.5]
    exact = np.array_equal(own[chosen].sum(axis=0), own[at])
    if exact and 1 < len(chosen) < len(own) - 1:
        yield SumOfSome(int(codes[at]), tuple(codes[chosen].tolist()), 2.0 ** len(others))


def _telling(own: NDArray[np.float64]) -> NDArray[np.intp]:
    """The values that are largest over all codes: a few for each code are enough."""
    return np.argsort(-own.sum(axis=0), kind="stable")[: 3 * len(own)]


def twins(values: NDArray[np.int64]) -> list[Sequence[int]]:
    """Sets of codes that have the same values everywhere, and some at all."""
    _, of = np.unique(values, axis=0, return_inverse=True)
    of = of.ravel()
    sets = [np.flatnonzero(of == one) for one in np.flatnonzero(np.bincount(of) > 1)]
    return [same.tolist() for same in sets if values[same[0]].any()]
