"""Unbiased rounding of a matrix: all margins stay, and on average nothing changes.

Cox (1987), "A constructive procedure for unbiased controlled rounding", Journal of the American
Statistical Association 82. A row or column with a fraction has a second one, so from one fraction a
way leads along rows and columns in turn to another, and so on until it closes. Along the circle the
cells rise and fall in turn until one of them is whole; the direction is drawn so that nothing is
expected to change.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
from numpy.typing import NDArray


def rounded_with_margins(
    table: NDArray[np.float64], draw: Callable[[], float], near: float, *, last: bool = False
) -> NDArray[np.int64]:
    """Round each cell up or down so that all row and column sums stay, as a fair draw.

    `table`: numbers ≥ 0 whose row and column sums are whole, ``(rows, columns)``. `draw`: gives a
    number from 0 to below 1 for each circle. `near`: nearer than this to a whole number is whole.
    `last`: a way begins behind the first fraction of all, and goes on at the last one of a row or
    column where it cannot at the first; else it begins in front, and goes on at the second. Either
    is as good, but what is drawn with the same key differs.
    """
    floor = np.floor(table + near)
    circles = _Circles(np.maximum(table - floor, 0.0), near, last)
    circles.close_all(draw)
    return (floor + np.rint(circles.rest)).astype(np.int64)


#: Row → columns in which it has a fraction, or the other way round; ordered, unlike sets.
_Lines = dict[int, dict[int, None]]


class _Circles:
    """Fractions that are left, by row and by column."""

    def __init__(self, rest: NDArray[np.float64], near: float, last: bool) -> None:
        self.rest, self.near, self.last = rest, near, last
        self.lines: tuple[_Lines, _Lines] = ({}, {})
        for row, column in np.argwhere((rest > near) & (rest < 1 - near)).tolist():
            self.lines[0].setdefault(row, {})[column] = None
            self.lines[1].setdefault(column, {})[row] = None

    def close_all(self, draw: Callable[[], float]) -> None:
        """Walk and turn circles until no fraction is left; the way to a circle is kept."""
        way: list[tuple[int, int]] = []  # cells; their row and column change in turn
        nodes: list[tuple[int, int]] = []  # (0, row) or (1, column) before, between, behind them
        place: dict[tuple[int, int], int] = {}
        first: tuple[int, int] | None = None  # what leads to the first of them
        while self.lines[0]:
            if not nodes:
                row, columns = next(iter(self.lines[0].items()))
                first = (row, next(iter(columns))) if self.last else None
                nodes.append((1, first[1]) if first else (0, row))
                place[nodes[0]] = 0
            cell = self._next(nodes[-1], way[-1] if way else first)
            if cell is None:  # a margin that is whole but for rounding errors: nothing to move
                del place[nodes.pop()]
                behind = way.pop() if way else first
                if behind is not None:
                    self._whole(behind)
                continue
            way.append(cell)
            side = nodes[-1][0]
            node = (1 - side, cell[1 - side])
            start = place.setdefault(node, len(nodes))
            if start == len(nodes):
                nodes.append(node)
                continue
            self._turn(way[start:], draw())
            kept = start + 1 if start else 0
            for left in nodes[kept:]:
                del place[left]
            del nodes[kept:], way[start:]

    def _next(
        self, node: tuple[int, int], before: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        """Another fraction of the row or column, if there is one."""
        side, line = node
        others = self.lines[side].get(line, {})
        further = reversed(others) if self.last else islice(others, 1, None)
        for other in (next(iter(others), None), next(further, None)):
            if other is not None:
                cell = (line, other) if side == 0 else (other, line)
                if cell != before:
                    return cell
        return None

    def _turn(self, circle: list[tuple[int, int]], drawn: float) -> None:
        """Raise the cells of a circle and lower those between, or the other way round."""
        rise, fall = circle[::2], circle[1::2]
        up = min(
            min(1 - self.rest[cell] for cell in rise), min(float(self.rest[cell]) for cell in fall)
        )
        down = min(
            min(float(self.rest[cell]) for cell in rise), min(1 - self.rest[cell] for cell in fall)
        )
        step = up if drawn * (up + down) < down else -down
        for cell in rise:
            self._move(cell, step)
        for cell in fall:
            self._move(cell, -step)

    def _move(self, cell: tuple[int, int], step: float) -> None:
        self.rest[cell] += step
        if abs(self.rest[cell] - np.rint(self.rest[cell])) <= self.near:
            self._whole(cell)

    def _whole(self, cell: tuple[int, int]) -> None:
        self.rest[cell] = np.rint(self.rest[cell])
        for side in (0, 1):
            line = self.lines[side][cell[side]]
            del line[cell[1 - side]]
            if not line:
                del self.lines[side][cell[side]]
