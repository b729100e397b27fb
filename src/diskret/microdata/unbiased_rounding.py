"""A table of fractions becomes one of whole numbers with the same margins, without bias."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

#: So near to a whole number a cell or margin is one.
_NEAR = 1e-6


def rounded_with_margins(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Round each cell up or down so that all row and column sums stay, as a fair draw.

    Parameters
    ----------
    table
        Numbers ≥ 0 whose row and column sums are whole, ``(rows, columns)``.
    rng
        Source of chance.

    Returns
    -------
    numpy.ndarray
        int64. The mean of each cell over all draws is the cell; whole cells stay.

    Raises
    ------
    InputError
        A margin is not whole.

    Notes
    -----
    Cox (1987), "A constructive procedure for unbiased controlled rounding", Journal of the
    American Statistical Association 82. A row or column with a fraction has a second one, so from
    one fraction a way leads along rows and columns in turn to another, and so on until it
    closes. Along the circle the cells rise and fall in turn until one of them is whole; the
    direction is drawn so that nothing is expected to change.

    Examples
    --------
    >>> half = np.full((2, 2), 0.5)
    >>> rounded_with_margins(half, np.random.default_rng(1)).sum(axis=0).tolist()
    [1, 1]
    """
    floor = np.floor(table + _NEAR)
    rest = np.maximum(table - floor, 0.0)
    for axis, line in ((1, "row"), (0, "column")):
        sums = table.sum(axis=axis)
        off = np.flatnonzero(np.abs(sums - np.rint(sums)) > _NEAR)
        if len(off):
            raise InputError(
                f"the sum of {line} {off[0] + 1} of the table to round is {sums[off[0]]:.9g}, "
                "which is no whole number"
            )
    circles = _Circles(rest)
    circles.close_all(rng)
    return (floor + np.rint(circles.rest)).astype(np.int64)


#: Row → columns in which it has a fraction, or the other way round; ordered, unlike sets.
_Lines = dict[int, dict[int, None]]


class _Circles:
    """Fractions that are left, by row and by column."""

    def __init__(self, rest: NDArray[np.float64]) -> None:
        self.rest = rest
        self.lines: tuple[_Lines, _Lines] = ({}, {})
        for row, column in np.argwhere((rest > _NEAR) & (rest < 1 - _NEAR)).tolist():
            self.lines[0].setdefault(row, {})[column] = None
            self.lines[1].setdefault(column, {})[row] = None

    def close_all(self, rng: np.random.Generator) -> None:
        """Walk and turn circles until no fraction is left; the way to a circle is kept."""
        way: list[tuple[int, int]] = []  # cells; their row and column change in turn
        nodes: list[tuple[int, int]] = []  # (0, row) or (1, column) before, between, behind them
        place: dict[tuple[int, int], int] = {}
        while self.lines[0]:
            if not nodes:
                nodes.append((0, next(iter(self.lines[0]))))
                place[nodes[0]] = 0
            cell = self._next(nodes[-1], way[-1] if way else None)
            if cell is None:  # a margin that is whole but for rounding errors: nothing to move
                del place[nodes.pop()]
                if way:
                    self._whole(way.pop())
                continue
            way.append(cell)
            side = nodes[-1][0]
            node = (1 - side, cell[1 - side])
            start = place.setdefault(node, len(nodes))
            if start == len(nodes):
                nodes.append(node)
                continue
            self._turn(way[start:], rng)
            for left in nodes[start + 1 :]:
                del place[left]
            del nodes[start + 1 :], way[start:]

    def _next(
        self, node: tuple[int, int], before: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        """Another fraction of the row or column, if there is one."""
        side, line = node
        for other in self.lines[side].get(line, ()):
            cell = (line, other) if side == 0 else (other, line)
            if cell != before:
                return cell
        return None

    def _turn(self, circle: list[tuple[int, int]], rng: np.random.Generator) -> None:
        """Raise the cells of a circle and lower those between, or the other way round."""
        rise, fall = circle[::2], circle[1::2]
        up = min(
            min(1 - self.rest[cell] for cell in rise), min(float(self.rest[cell]) for cell in fall)
        )
        down = min(
            min(float(self.rest[cell]) for cell in rise), min(1 - self.rest[cell] for cell in fall)
        )
        step = up if rng.random() * (up + down) < down else -down
        for cell in rise:
            self._move(cell, step)
        for cell in fall:
            self._move(cell, -step)

    def _move(self, cell: tuple[int, int], step: float) -> None:
        self.rest[cell] += step
        if abs(self.rest[cell] - np.rint(self.rest[cell])) <= _NEAR:
            self._whole(cell)

    def _whole(self, cell: tuple[int, int]) -> None:
        self.rest[cell] = np.rint(self.rest[cell])
        for side in (0, 1):
            line = self.lines[side][cell[side]]
            del line[cell[1 - side]]
            if not line:
                del self.lines[side][cell[side]]
