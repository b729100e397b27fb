"""Two cells and their total under real cell keys, which add up as the cells do."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.attack.cell_key_noise import NoiseRows, row_of
from diskret.attack.noise.chances import NoiseTable, check_for_counts, largest_noise
from diskret.attack.noise.constellations import (
    Certainty,
    Constellation,
    ConstellationRisk,
    UpTo,
    given_away,
)
from diskret.parameters import Probability, reading

#: Areas below this are rounding errors; keys of 32 bits are never so rare.
_NOTHING = 1e-13


class KeyIntervals(NoiseRows, Protocol):
    """What is asked of a lookup; see `diskret.cellkey.Lookup`."""

    def table(self) -> NoiseTable:
        """The probabilities that the intervals give."""
        ...


@reading
def keyed_constellation_risk(
    lookup: KeyIntervals,
    *,
    up_to: UpTo = 3,
    limit: Probability = 0.01,
    certainty: Certainty = 1.0,
) -> ConstellationRisk:
    """`constellation_risk` of two parts, exactly as cell keys come about.

    The key of a total is the sum of the keys of its parts. Where intervals of keys are in the
    order of the noise, noises of the three cells are not independent, although any two are. The
    attacker knows the intervals, but no key.

    Parameters
    ----------
    lookup
        Intervals of keys of the perturbation table.
    up_to, limit, certainty
        As in `constellation_risk`; all counts are equally likely.

    Raises
    ------
    InputError
        The lookup is not for the counts 0, 1, 2, … without a gap.

    Notes
    -----
    Keys are taken for continuous: the probability of three intervals is an area in the unit
    square, that of x in the first, y in the second and x + y (mod 1) in the third.

    Examples
    --------
    >>> class Halves:
    ...     counts, modulus, reuse = np.array([0, 1]), 2, 1
    ...     bounds = np.array([[2, 2], [1, 2]], dtype=np.uint64)
    ...     noise = np.array([[0, 0], [-1, 1]])
    ...     def table(self):
    ...         class Table:
    ...             counts, noise, step, reuse = self.counts, np.array([-1, 0, 1]), 1, 1
    ...             probabilities = np.array([[0, 1, 0], [0.5, 0, 0.5]])
    ...         return Table()
    >>> together_shown(Halves(), 1, 1, 3, 4)[0, 0].tolist()  # both keys small: half their sums too
    [0.0, 0.125, 0.0, 0.125]
    """
    table = lookup.table()
    check_for_counts(table)
    largest = largest_noise(table)
    counts = up_to + 2 * largest + 1
    shape = (up_to + largest + 1, up_to + largest + 1, 2 * up_to + largest + 1)
    pairs = np.array(
        [
            [together_shown(lookup, a, b, shape[0], shape[2]) for b in range(counts)]
            for a in range(counts)
        ]
    )
    sums = np.add.outer(np.arange(counts), np.arange(counts))
    of_total = (pairs[sums == value].sum(axis=0) for value in range(2 * counts - 1))
    first = given_away(iter(pairs.sum(axis=1)), shape, up_to, certainty)
    total = given_away(of_total, shape, up_to, certainty)
    found: list[Constellation] = []
    for a, b in combinations_with_replacement(range(up_to + 1), 2):
        away = (first == a) & (a > 0) | (first.swapaxes(0, 1) == b) | (total == a + b)
        joint = np.where(away & (b > 0), pairs[a, b], 0)
        risk = float(joint.sum())
        if risk > 0:
            *shown, y = (int(i) for i in np.unravel_index(np.argmax(joint), shape))
            found.append(Constellation((a, b), risk, tuple(shown), y))
        elif b > 0:
            found.append(Constellation((a, b), 0.0))
    found.sort(key=lambda c: (-c.risk, sum(c.parts), c.parts))
    return ConstellationRisk(tuple(found), limit, certainty)


def together_shown(
    lookup: KeyIntervals, first: int, second: int, parts: int, totals: int
) -> NDArray[np.float64]:
    """P(published values of two parts and their total), shape ``(parts, parts, totals)``.

    parts, totals: how many published values, from 0 on, are looked at of each part and of the
        total.
    """
    found = np.zeros((parts, parts, totals))
    edges, shown = zip(*(_row(lookup, n) for n in (first, second, first + second)), strict=True)
    if first == 0 or second == 0:  # the total is the same cell as the other part
        width, value = np.diff(edges[2]), shown[2]
        at = (0 * value, value) if first == 0 else (value, 0 * value)
        inside = value < parts
        np.add.at(found, (at[0][inside], at[1][inside], value[inside]), width[inside])
        return found
    areas = _areas(*edges)
    ends = (parts, parts, totals)
    inside = [np.flatnonzero(value < end) for value, end in zip(shown, ends, strict=True)]
    at = np.ix_(*(value[some] for value, some in zip(shown, inside, strict=True)))
    np.add.at(found, at, areas[np.ix_(*inside)])
    return np.where(found > _NOTHING, found, 0)


def _row(lookup: KeyIntervals, count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of a row's intervals between 0 and 1, and what is published in each."""
    row = int(row_of(lookup, np.array(count)))
    edges = np.concatenate(([0.0], lookup.bounds[row] / lookup.modulus))
    return edges, count + lookup.noise[row]


def _areas(
    x: NDArray[np.float64], y: NDArray[np.float64], total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Areas in the unit square of x and y in their intervals and x + y (mod 1) in its own."""

    def below(t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of x + y ≤ t in every rectangle."""
        corner = np.maximum(t - x[:, None, None] - y[None, :, None], 0) ** 2 / 2
        return np.diff(np.diff(corner, axis=0), axis=1)

    return np.diff(below(total), axis=2) + np.diff(below(1 + total), axis=2)
