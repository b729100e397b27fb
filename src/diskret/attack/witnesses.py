"""Witnesses: alternative tables that agree with everything public, checked exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, Point, times

#: Components share a witness as long as their common denominator stays below this.
_SHARED = 10**6


@dataclass(frozen=True, eq=False)
class Part:
    """Points of one component: numerators for its unknowns."""

    unknown: NDArray[np.int64]
    points: Sequence[Point]


def complete_tables(
    parts: Sequence[Part], link: sparse.csr_array, offset: NDArray[np.int64]
) -> Iterator[Point]:
    """Put points of all components together to few complete tables, one after the other.

    Parameters
    ----------
    parts
        The components; if one has no point at all, there is no complete table.
    link, offset
        The cells are ``link @ unknowns + offset``.
    """
    if not all(part.points for part in parts):
        return
    # every table consists of the simplest point of each component and differs here and there
    simplest = [min(part.points, key=lambda point: point.denominator) for part in parts]
    ground = lcm(*(point.denominator for point in simplest))
    basis = np.zeros(link.shape[1], dtype=np.int64)
    for part, point in zip(parts, simplest, strict=True):
        basis[part.unknown] = point.numerator * (ground // point.denominator)
    for denominator, chosen in _shared(parts, ground):
        unknowns = times(basis, denominator // ground)
        for i, point in chosen.items():
            factor = denominator // point.denominator
            unknowns[parts[i].unknown] = times(point.numerator, factor)
        cells = link @ unknowns + times(offset, denominator)
        if float(np.abs(cells).max(initial=0)) < LIMIT:
            yield Point(cells.astype(np.int64), denominator)


def extremes(
    witnesses: sparse.csr_array, denominator: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest value of each cell in witnesses, ``(k,)`` float64 each.

    A value that float64 cannot hold is rounded towards the inside, so that it is never
    claimed too far; without witnesses the result is inf and −inf.
    """
    low = np.full(witnesses.shape[1], np.inf)
    high = -low
    for row, unit in enumerate(denominator.tolist()):
        numerator = witnesses[[row]].toarray()[0]
        value = numerator / unit
        exact = (numerator % unit == 0) & (np.abs(value) < 2.0**53)
        doubt = np.where(exact, 0, 2 * np.spacing(np.abs(value)))
        np.minimum(low, value + doubt, out=low)
        np.maximum(high, value - doubt, out=high)
    return low, high


def _shared(parts: Sequence[Part], ground: int) -> list[tuple[int, dict[int, Point]]]:
    """Which points stand together in a table, and the common denominator of each table."""
    tables: list[tuple[int, dict[int, Point]]] = [(ground, {})]
    for i, part in enumerate(parts):
        place = 0
        for point in sorted(part.points, key=lambda point: point.denominator):
            while place < len(tables) and lcm(tables[place][0], point.denominator) > _SHARED:
                place += 1
            if place == len(tables):
                tables.append((ground, {}))
            common, chosen = tables[place]
            tables[place] = lcm(common, point.denominator), chosen | {i: point}
            place += 1
    return tables
