"""Movements that single equations forbid: told at once, before a programme is asked in vain.

Each group moves between bounds, and each equation says what its other groups leave to one. These
bounds narrow each other, and where nothing is left for a group, a movement is impossible. Most
of what tidying asks in vain is told in this way, in a fraction of the time; what is not told may be
impossible all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.changeable import Changeable

#: Changes of bounds that are noted, and entries of equations that one question looks at.
_NOTED, _SEEN = 50_000, 300_000


class Narrowing:
    """Bounds of the movements of hidden groups while some of them are tried to be published.

    `hidden`: the groups that can move, bool, ``(g,)``.

    `seen`: entries of equations looked at so far: the same on every computer.
    """

    def __init__(self, cells: Changeable, hidden: NDArray[np.bool_]):
        from diskret.suppression.narrowing_kernels import Bounds, Rows

        self._cells = cells
        equations, by_group = cells.equations, cells.by_group
        self._rows = Rows(
            equations.indptr,
            equations.indices,
            equations.data.astype(np.float64),
            by_group.indptr,
            by_group.indices,
        )
        self._bounds = Bounds(
            np.where(hidden, -cells.down, 0.0),
            np.where(hidden, cells.up, 0.0),
            np.empty(_NOTED, dtype=np.int64),
            np.empty(_NOTED),
            np.empty(_NOTED),
        )
        self._queue = np.empty(max(equations.shape[0], 1), dtype=np.int64)
        self._queued = np.zeros(max(equations.shape[0], 1), dtype=bool)
        self._used = 0
        self.seen = 0
        self._narrow(np.flatnonzero(hidden))
        self.decide(True)
        # nothing to do: compiled here, where others are told that it goes on
        self.first_impossible([])
        self.decide(False)

    def publish(self, gone: NDArray[np.int64]) -> None:
        """These groups do not move any more; `decide` says whether it stays so."""
        for group in gone.tolist():
            self._set(group, 0.0, 0.0)
        self._narrow(gone)

    def decide(self, published: bool) -> None:
        """What was published since the last decision stays so, or moves again."""
        from diskret.suppression.narrowing_kernels import take_back

        if not published:
            take_back(self._bounds, self._used, 0)
        self._used = 0

    def first_impossible(self, groups: Sequence[int]) -> int | None:
        """The first of some groups that cannot move as far as required, as far as is told."""
        from diskret.suppression.narrowing_kernels import first_impossible

        at, cells = np.array(groups, dtype=np.int64), self._cells
        needs = np.stack([cells.below[at], cells.above[at], cells.width[at]]).astype(np.float64)
        place, seen = first_impossible(
            at, needs, self._rows, self._bounds, self._used, self._queue, self._queued, _SEEN
        )
        self.seen += int(seen)
        return None if place < 0 else groups[int(place)]

    def _set(self, group: int, low: float, high: float) -> None:
        bounds = self._bounds
        if self._used == len(bounds.group):
            return  # too much was changed to be taken back: wider bounds say less, never too much
        bounds.group[self._used] = group
        bounds.low[self._used], bounds.high[self._used] = bounds.lower[group], bounds.upper[group]
        bounds.lower[group], bounds.upper[group] = low, high
        self._used += 1

    def _narrow(self, changed: NDArray[np.int64]) -> bool:
        """Whether nothing is possible any more."""
        from diskret.suppression.narrowing_kernels import narrow

        broken, self._used, seen = narrow(
            changed, self._rows, self._bounds, self._used, self._queue, self._queued, _SEEN
        )
        self.seen += seen
        return broken
