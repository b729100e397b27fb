"""Points of connected parts, put together to few tables that are checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack.equations import Equations
from diskret.attack.exact import LIMIT, Point, times
from diskret.attack.moves import Moves, hold, small
from diskret.attack.reduction import Reduction
from diskret.attack.witnesses import Witnesses

#: Components share a witness as long as their common denominator stays below this.
_SHARED = 10**6


@dataclass(frozen=True, eq=False)
class ComponentPoints:
    """Points of one component: numerators for its unknowns."""

    unknown: NDArray[np.int64]
    points: Sequence[Point] | Witnesses

    @property
    def denominator(self) -> NDArray[np.int64]:
        """Of each point."""
        if isinstance(self.points, Witnesses):
            return self.points.denominator
        return np.array([point.denominator for point in self.points], dtype=np.int64)


def put_together(
    parts: Sequence[ComponentPoints],
    known: Equations,
    reduced: Reduction,
    bounds: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> Witnesses:
    """The possible ones among few tables in which all points occur.

    The first one is checked completely, of the others what they change in it: all of a large table
    for each of many witnesses takes longer than finding them did. Where the first one is no whole
    table, not possible, or too large to be added to, each is checked completely.

    parts: the components; if one has no point at all, there is no table.
    bounds: of the cells.
    """
    if all(len(part.points) for part in parts):
        told = _told_as_moves(parts, reduced)
        if told is not None:
            start, moves = told
            right = Point(start, 1).solves(known.matrix, known.right, *bounds)
            if right and small(moves, start, known.matrix).all():
                holds = hold(moves, start, known.matrix, *bounds)
                return moves.those(holds).tables(start, known.hidden)
    tables = complete_tables(parts, reduced.link, reduced.offset)
    possible = (table for table in tables if table.solves(known.matrix, known.right, *bounds))
    return Witnesses.gathered(possible, known.hidden)


def _told_as_moves(
    parts: Sequence[ComponentPoints], reduced: Reduction
) -> tuple[NDArray[np.int64], Moves] | None:
    """The first of the `complete_tables`, and the others as moves of its cells; None if it cannot.

    Every table consists of the simplest point of each component, and differs here and there.
    """
    simplest = [int(part.denominator.argmin()) for part in parts]
    if any(part.denominator[at] > 1 for part, at in zip(parts, simplest, strict=True)):
        return None
    basis = np.zeros(reduced.link.shape[1], dtype=np.int64)
    for part, at in zip(parts, simplest, strict=True):
        basis[part.unknown] = part.points[at].numerator
    start = reduced.link @ basis + reduced.offset
    if float(np.abs(start).max(initial=0)) >= LIMIT // 2:
        return None
    unit: list[int] = []
    none = np.zeros(0, dtype=np.int64)
    row, unknown, step = [none], [none], [none]
    for table, (denominator, chosen) in enumerate(islice(_shared(parts, 1), 1, None)):
        unit.append(denominator)
        for i, place in chosen.items():
            apart = _apart(parts[i].points, simplest[i], place)
            if float(np.abs(apart[1]).max(initial=0)) * denominator >= LIMIT // 2:
                return None
            row.append(np.full(len(apart[0]), table))
            unknown.append(parts[i].unknown[apart[0]])
            factor = denominator // int(parts[i].denominator[place])
            step.append((apart[1] * factor).astype(np.int64))
    of_unknowns = sparse.csr_array(
        (np.concatenate(step), (np.concatenate(row), np.concatenate(unknown))),
        shape=(len(unit), len(basis)),
    )
    of_cells = sparse.csr_array(of_unknowns @ sparse.csr_array(reduced.link.T))
    of_cells.eliminate_zeros()
    of_cells.sort_indices()
    return start.astype(np.int64), Moves(of_cells, np.array(unit, dtype=np.int64))


def _apart(
    points: Sequence[Point] | Witnesses, first: int, place: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Where a point differs from a whole one, and by how much, as its numerators."""
    if isinstance(points, Witnesses) and points.of[first] == points.of[place]:
        ends = points.step.indptr
        if ends[first] == ends[first + 1]:  # the start itself
            entries = slice(ends[place], ends[place + 1])
            return points.step.indices[entries].astype(np.int64), points.step.data[entries]
    point = points[place]
    change = point.numerator - times(points[first].numerator, point.denominator)
    at = np.flatnonzero(change)
    return at, change[at]


def complete_tables(
    parts: Sequence[ComponentPoints], link: sparse.csr_array, offset: NDArray[np.int64]
) -> Iterator[Point]:
    """Put points of all components together to few complete tables, one after the other.

    parts: the components; if one has no point at all, there is no complete table.
    link, offset: the cells are ``link @ unknowns + offset``.
    """
    if not all(len(part.points) for part in parts):
        return
    # every table consists of the simplest point of each component and differs here and there
    simplest = [part.points[int(part.denominator.argmin())] for part in parts]
    ground = lcm(*(point.denominator for point in simplest))
    basis = np.zeros(link.shape[1], dtype=np.int64)
    for part, point in zip(parts, simplest, strict=True):
        basis[part.unknown] = point.numerator * (ground // point.denominator)
    for denominator, chosen in _shared(parts, ground):
        unknowns = times(basis, denominator // ground)
        for i, place in chosen.items():
            point = parts[i].points[place]
            factor = denominator // point.denominator
            unknowns[parts[i].unknown] = times(point.numerator, factor)
        cells = link @ unknowns + times(offset, denominator)
        if float(np.abs(cells).max(initial=0)) < LIMIT:
            yield Point(cells.astype(np.int64), denominator)


def _shared(parts: Sequence[ComponentPoints], ground: int) -> Iterator[tuple[int, dict[int, int]]]:
    """Which points stand together in each table, by their places, and its common denominator."""
    common: list[int] = [ground]
    chosen: list[dict[int, int]] = [{}]
    for i, part in enumerate(parts):
        table, units = 0, part.denominator
        for place in np.argsort(units, kind="stable").tolist():
            unit = int(units[place])
            while table < len(common) and lcm(common[table], unit) > _SHARED:
                table += 1
            if table == len(common):
                common.append(ground)
                chosen.append({})
            common[table] = lcm(common[table], unit)
            chosen[table][i] = place
            table += 1
    return zip(common, chosen, strict=True)
