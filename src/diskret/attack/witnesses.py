"""Alternative tables as changes against few complete ones, so that many of them stay small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.exact import LIMIT, Point, times

#: Starts whose multiples stay below this can be changed without leaving int64.
_ROOM = LIMIT // 2


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Alternative tables of all ``n`` values that are unknown.

    A table that shows how far one cell moves agrees with others nearly everywhere. So each is told
    as what it changes in a table that it starts from, and only few starts are told completely.
    Nothing is lost: the tables are the numbers that were given.

    hidden: which of the unknown values are suppressed cells, bool, ``(n,)``; the others are rounded
        values, and cells that nobody published but that tie tables together.
    start: numerators of the tables to start from, ``(b, n)``, int64.
    unit: their denominators, ``(b,)``, int64.
    of: which start each witness changes, ``(w,)``, int64.
    step: what it changes there, ``(w, n)``, int64 CSR: its numerators are
        ``start[of] * (denominator / unit[of]) + step``.
    denominator: ``(w,)``, int64; multiples of `unit`.

    >>> tables = [Point(np.array(table), 1) for table in ([5, 8, 2], [6, 7, 2], [5, 8, 2])]
    >>> found = Witnesses.gathered(tables, np.array([True, True, False]))
    >>> found.start.tolist(), found.step.toarray().tolist()
    ([[5, 8, 2]], [[0, 0, 0], [1, -1, 0], [0, 0, 0]])
    >>> [point.numerator.tolist() for point in found]
    [[5, 8, 2], [6, 7, 2], [5, 8, 2]]
    """

    hidden: NDArray[np.bool_]
    start: NDArray[np.int64]
    unit: NDArray[np.int64]
    of: NDArray[np.int64]
    step: sparse.csr_array
    denominator: NDArray[np.int64]

    @classmethod
    def gathered(cls, points: Iterable[Point], hidden: NDArray[np.bool_]) -> Witnesses:
        """These tables, of which the first is a start; no two need to be in memory together."""
        n, none = len(hidden), np.zeros(0, dtype=np.int64)
        step = sparse.csr_array((0, n), dtype=np.int64)
        empty = cls(hidden, np.zeros((0, n), dtype=np.int64), none, none, step, none)
        return empty.with_points(points)

    def __len__(self) -> int:
        return len(self.denominator)

    def __iter__(self) -> Iterator[Point]:
        """All tables, one after the other."""
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Point:
        """One of the tables, with all that is unknown."""
        unit, of = int(self.denominator[place]), int(self.of[place])
        numerator = self.start[of] * (unit // int(self.unit[of]))
        entries = slice(*self.step.indptr[place : place + 2].tolist())
        numerator[self.step.indices[entries]] += self.step.data[entries]
        return Point(numerator, unit)

    def different(self, columns: NDArray[np.int64], most: int) -> Iterator[Point]:
        """What of some of the unknown values is possible, by at most so many of the tables."""
        step = sparse.csr_array(self.step[:, columns])
        # a table that changes nothing here is its start
        own = np.where(np.diff(step.indptr) > 0, len(self.unit) + np.arange(len(self)), self.of)
        rows = np.sort(np.unique(own, return_index=True)[1])[:most]
        unit, of = self.denominator[rows], self.of[rows]
        numerator = self.start[:, columns][of] * (unit // self.unit[of])[:, None]
        numerator += sparse.csr_array(step[rows]).toarray()
        for row in np.unique(np.column_stack((unit, numerator)), axis=0):
            yield Point(row[1:], int(row[0]))

    def among(self, columns: NDArray[np.int64], hidden: NDArray[np.bool_]) -> Witnesses:
        """The same tables with some of the unknown values; `hidden` says what they are."""
        step = sparse.csr_array(self.step[:, columns])
        return Witnesses(hidden, self.start[:, columns], self.unit, self.of, step, self.denominator)

    def with_points(self, points: Iterable[Point], start: Point | None = None) -> Witnesses:
        """The same with more tables.

        start: what they are expected to change little, of the same values; it need not be possible.
        """
        starts = [Point(*pair) for pair in zip(self.start, self.unit.tolist(), strict=True)]
        starts += [] if start is None else [start]
        of, unit = self.of.tolist(), self.denominator.tolist()
        none = np.zeros(0, dtype=np.int64)
        changed, steps = [none], [none]
        for table in points:
            point = Point(table.numerator.astype(np.int64), table.denominator)
            nearest = _nearest(point, starts)
            if nearest is None:
                starts.append(point)
                nearest = len(starts) - 1, none, none
            of.append(nearest[0])
            unit.append(point.denominator)
            changed.append(nearest[1])
            steps.append(nearest[2])
        more = sparse.csr_array(
            (
                np.concatenate(steps),
                np.concatenate(changed),
                np.cumsum([len(one) for one in changed]),
            ),
            shape=(len(changed) - 1, len(self.hidden)),
        )
        used, place = np.unique(np.array(of, dtype=np.int64), return_inverse=True)
        kept = [starts[i] for i in used.tolist()]
        return Witnesses(
            self.hidden,
            np.stack([one.numerator for one in kept]) if kept else self.start[:0],
            np.array([one.denominator for one in kept], dtype=np.int64),
            place.astype(np.int64),
            sparse.csr_array(sparse.vstack([self.step, more], format="csr", dtype=np.int64)),
            np.array(unit, dtype=np.int64),
        )

    def extremes(self, first: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and the largest value of each suppressed cell, ``(k,)`` float64 each.

        A value that float64 cannot hold is rounded towards the inside, so that it is never
        claimed too far; without tables the result is inf and −inf. Tables before the `first` one
        are not looked at.
        """
        column = np.cumsum(self.hidden) - 1
        low = np.full(int(self.hidden.sum()), np.inf)
        high = -low
        later = self.step[first:]
        of, unit = self.of[first:], self.denominator[first:]
        row = np.repeat(np.arange(len(of)), np.diff(later.indptr))
        for start, own in enumerate(self.start):
            told = int(np.count_nonzero(of == start))
            if not told:
                continue
            mine = np.flatnonzero((of[row] == start) & self.hidden[later.indices])
            at, by = later.indices[mine], unit[row[mine]]
            moved = own[at] * (by // self.unit[start]) + later.data[mine]
            changed = np.bincount(column[at], minlength=len(low))
            # a value that every table changes is not the start's
            kept = changed < told
            ends_kept = ends(own[self.hidden][kept], int(self.unit[start]))
            ends_moved = ends(moved, by)
            low[kept] = np.minimum(low[kept], ends_kept[0])
            high[kept] = np.maximum(high[kept], ends_kept[1])
            np.minimum.at(low, column[at], ends_moved[0])
            np.maximum.at(high, column[at], ends_moved[1])
        return low, high

    def problem(self) -> str:
        """What makes these numbers no tables that can be computed with exactly; else nothing."""
        shapes = self.start.shape, self.step.shape
        n = len(self.hidden)
        if shapes != ((len(self.unit), n), (len(self), n)) or np.any(self.denominator < 1):
            return (
                f"tables of shape {self.step.shape} that start from some of shape "
                f"{self.start.shape} do not belong to {len(self.hidden)} unknown values and "
                f"{len(self)} positive denominators"
            )
        if len(self.of) != len(self) or np.any((self.of < 0) | (self.of >= len(self.unit))):
            return "a table starts from one that is not there"
        if np.any(self.unit < 1) or np.any(self.denominator % self.unit[self.of]):
            return "the denominator of a table is no multiple of that of its start"
        if not self._each_once:
            return "a table changes a value twice"
        factor = self.denominator // self.unit[self.of]
        told = (factor > 1) | (np.diff(self.step.indptr) > 0)
        largest = np.abs(self.start).max(axis=1, initial=0).tolist()
        pairs = zip(self.of[told].tolist(), factor[told].tolist(), strict=True)
        if any(largest[of] * by >= _ROOM for of, by in pairs):
            return "the numbers of a table are too large"
        return ""

    @property
    def _each_once(self) -> bool:
        """Whether no table changes a value twice: one of the changes would not count."""
        if self.step.has_canonical_format:
            return True
        ordered = self.step.copy()
        ordered.sort_indices()
        return bool(ordered.has_canonical_format)


def ends(
    numerator: NDArray[np.int64], unit: int | NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values as float64: what is not below, and what is not above them, if that cannot hold them.

    >>> low, high = ends(np.array([2**53 + 1, 7, 1]), 3)
    >>> [f"{end:.1f}" for end in (low[0], high[0])], bool(low[1] > 7 / 3 > high[1])
    (['3002399751580331.0', '3002399751580331.0'], True)
    """
    whole, rest = np.divmod(numerator, unit)
    exact = (rest == 0) & (np.abs(whole) < 2**53)
    # a large numerator is rounded before it is divided
    value = np.where(exact, whole, numerator / unit)
    doubt = np.where(exact, 0, 2 * np.spacing(np.abs(value)))
    return value + doubt, value - doubt


def _nearest(
    point: Point, starts: Sequence[Point]
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]] | None:
    """The start in which a table changes least, and what; None if it can be told of none."""
    best = None
    size = int(np.abs(point.numerator).max(initial=0))
    for of, start in enumerate(starts):
        factor, rest = divmod(point.denominator, start.denominator)
        from_here = times(start.numerator, factor)
        if rest or from_here.dtype == object or size >= _ROOM:
            continue
        if int(np.abs(from_here).max(initial=0)) >= _ROOM:
            continue
        step = point.numerator - from_here
        changed = np.flatnonzero(step)
        if best is None or len(changed) < len(best[1]):
            best = of, changed, step[changed]
    return best
