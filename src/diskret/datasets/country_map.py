"""Borders of a made-up country: areas that cover it without gaps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

#: A square of a lattice: its row and its column.
Square = tuple[int, int]
#: One side of a square: whether it goes up, the row and the column where it begins.
_Side = tuple[bool, int, int]
#: Corners of a side between its ends; how far ends and corners are moved, of a square's width.
_CORNERS, _ENDS, _BENDS = 4, 0.22, 0.05


class Lattice:
    """Squares whose sides are bent, each side once, so that neighbours have it in common.

    Parameters
    ----------
    rng
        Draws how sides are bent.
    west, south
        Its corner in metres.
    width
        Of a square, in metres.
    number
        Of rows, and of columns.
    """

    def __init__(
        self, rng: np.random.Generator, west: float, south: float, width: float, number: int
    ):
        self.number = number
        steps = np.arange(number + 1) * width
        ends = np.stack(np.meshgrid(west + steps, south + steps), axis=-1)
        ends += rng.uniform(-_ENDS, _ENDS, ends.shape) * width
        self.ends = np.rint(ends)
        self._between = {
            up: self._bent(rng, self.ends, np.roll(self.ends, -1, axis=1 - up), width)
            for up in (False, True)
        }

    @staticmethod
    def _bent(
        rng: np.random.Generator, begin: NDArray[np.float64], end: NDArray[np.float64], width: float
    ) -> NDArray[np.float64]:
        along = (np.arange(_CORNERS) + 1)[:, None] / (_CORNERS + 1)
        corners = begin[:, :, None] * (1 - along) + end[:, :, None] * along
        return np.rint(corners + rng.uniform(-_BENDS, _BENDS, corners.shape) * width)

    def middle(self, square: Square) -> NDArray[np.float64]:
        """A point in a square, far from its sides."""
        row, column = square
        return self.ends[row : row + 2, column : column + 2].reshape(4, 2).mean(axis=0)

    def rings(self, squares: Iterable[Square]) -> list[NDArray[np.float64]]:
        """Borders of some squares together; sides between two of them are none."""
        after = dict[tuple[Square, _Side], bool]()
        for row, column in squares:
            for side, forward in (
                ((False, row, column), True),
                ((True, row, column + 1), True),
                ((False, row + 1, column), False),
                ((True, row, column), False),
            ):
                begin, end = _ends(side)
                if not forward:
                    begin, end = end, begin
                if after.pop((end, side), None) is None:
                    after[begin, side] = forward
        leaving = dict[Square, list[tuple[_Side, bool]]]()
        for (begin, side), forward in after.items():
            leaving.setdefault(begin, []).append((side, forward))
        rings = list[NDArray[np.float64]]()
        while leaving:
            at = first = next(iter(leaving))
            parts = list[NDArray[np.float64]]()
            while True:
                side, forward = leaving[at].pop()
                if not leaving[at]:
                    del leaving[at]
                corners = self._between[side[0]][side[1], side[2]]
                parts += [self.ends[at][None], corners if forward else corners[::-1]]
                at = _ends(side)[1 if forward else 0]
                if at == first:
                    break
            rings.append(np.concatenate(parts))
        return rings


def _ends(side: _Side) -> tuple[Square, Square]:
    up, row, column = side
    return (row, column), (row + 1, column) if up else (row, column + 1)
