"""Alternative tables of some cells, and how far those move while one of them stands still."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.attack.exact import LIMIT, Point, times

#: Tables, and deviations in them, kept for looking up again; one found beyond is used once.
_TABLES, _KEPT = 1024, 2 * 10**7
#: How many tables on each side are mixed, and with how many on the other.
_MIXED, _PARTNERS = 200, 6

#: The lowest and the highest value of each cell.
Reach = tuple[NDArray[np.float64], NDArray[np.float64]]


class Alternatives:
    """Tables that agree with everything public, the original one among them.

    A table in which a cell has its original value is still possible after that value has been
    published, so the others move at least as far as in all such tables. Where values need not
    be whole, so is the mean of two tables, weighted so that the cell has its original value in
    it: equations are linear, and bounds leave no gaps.

    Parameters
    ----------
    truth
        The original values, ``(n,)``, int64.
    whole
        Only whole numbers are possible: tables are not mixed.

    Examples
    --------
    >>> known = Alternatives(np.array([5, 8, 2]), whole=False)
    >>> _ = [known.add(Point(np.array(table), 1)) for table in ([6, 7, 2], [1, 8, 6])]
    >>> low, high = known.reach(2)
    >>> low.tolist(), high.tolist()
    ([5.0, 7.0, 2.0], [6.0, 8.0, 2.0])

    Four parts of the first table and one of the second leave the first cell at 5:

    >>> low, high = known.mixed(0, np.array([1, 2]))
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([5.0, 7.2, 2.0], [5.0, 8.0, 2.8])
    """

    def __init__(self, truth: NDArray[np.int64], whole: bool):
        self.truth, self.whole = truth, whole
        self._moved = np.zeros((8, len(truth)))
        self._size = 0
        self.add(Point(truth, 1))

    def add(self, table: Point) -> Reach:
        """Keep a table, if there is room for it; how far cells move in it alone."""
        # the difference is exact, so it is zero if and only if nothing moved
        difference = table.numerator - times(self.truth, table.denominator)
        moved = difference.astype(np.float64) / table.denominator
        fraction = difference % table.denominator != 0
        moved -= np.where(fraction, 2 * np.sign(moved) * np.spacing(np.abs(moved)), 0)
        if not self._size or self._size < min(_TABLES, _KEPT // len(moved)):
            if self._size == len(self._moved):
                self._moved = np.concatenate((self._moved, np.zeros_like(self._moved)))
            self._moved[self._size] = moved
            self._size += 1
        return self.values(np.minimum(moved, 0), np.maximum(moved, 0))

    def reach(self, still: int) -> Reach:
        """How far cells move in tables that leave one of them where it is."""
        moved = self._moved[: self._size]
        moved = moved[moved[:, still] == 0]
        return self.values(moved.min(axis=0), moved.max(axis=0))

    def mixed(self, still: int, cells: NDArray[np.int64]) -> Reach:
        """The same, of some cells, for means of a table that raises one and one that lowers it.

        Only some pairs are tried: of tables that move these cells little for each unit of the
        cell that is to stand still. Not to be asked of whole numbers.
        """
        low, high = np.zeros(len(self.truth)), np.zeros(len(self.truth))
        at = self._moved[: self._size, still]
        if self.whole or not len(cells) or not ((at > 0).any() and (at < 0).any()):
            return self.values(low, high)
        sides: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        for side in (at > 0, at < 0):
            moved, by = self._moved[: self._size][side][:, cells], at[side]
            effort = np.sqrt(np.abs(moved)).mean(axis=1) / np.sqrt(np.abs(by))
            chosen = np.argsort(effort, kind="stable")[:_MIXED]
            sides.append((moved[chosen], by[chosen, None]))
        for (these, up), (others, down) in (sides, sides[::-1]):
            for partner, fall in zip(others[:_PARTNERS], down[:_PARTNERS], strict=True):
                weight = up / (up - fall)
                first, second = (1 - weight) * these, weight * partner
                both = first + second
                doubt = 1e-14 * (np.abs(first) + np.abs(second))
                low[cells] = np.minimum(low[cells], (both + doubt).min(axis=0, initial=0))
                high[cells] = np.maximum(high[cells], (both - doubt).max(axis=0, initial=0))
        return self.values(low, high)

    def values(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> Reach:
        """Deviations as values; what is rounded is rounded towards the original value."""
        ends: list[NDArray[np.float64]] = []
        for moved, inwards in ((low, 1), (high, -1)):
            value = self.truth + moved
            size = np.maximum(np.abs(value), np.abs(self.truth))
            exact = (moved == np.rint(moved)) & (size < 2.0**52)
            ends.append(np.where(exact, value, value + inwards * 4 * np.spacing(size)))
        return ends[0], ends[1]


def within(numerator: NDArray[np.int64]) -> bool:
    """Whether numbers, perhaps Python's own, are small enough for int64 arithmetic."""
    return float(np.abs(numerator).max(initial=0)) < LIMIT


def farther(one: Reach, other: Reach) -> Reach:
    """The lower of the low ends and the higher of the high ones."""
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
