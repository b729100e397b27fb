"""Ways around groups that are to be published, found for one change and used for others.

Most changes that are lost with a group went through it for the same reason. What leads one of
them around it leads others around it too, in proportion, where there is room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.changes import Part

#: What a computed movement may be off by.
_NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class _Detour:
    """A balanced movement of some groups `at` of a part: `step`, and of those gone: `through`."""

    at: NDArray[np.int64]
    step: NDArray[np.float64]
    through: NDArray[np.float64]


class Detours:
    """What replaces movements of groups that are tried to be published.

    `gone`: these groups, ascending.
    """

    def __init__(self, gone: NDArray[np.int64]):
        self._gone = gone
        # by part: which of its groups are gone, and the ways around them
        self._known: dict[Part, tuple[NDArray[np.int64], list[_Detour]]] = {}

    def learn(
        self, here: Part, movement: NDArray[np.float64], instead: NDArray[np.float64]
    ) -> None:
        """Remember how a movement of a part led around the groups."""
        gone, known = self._of(here)
        way = instead - movement
        at = np.flatnonzero(way)
        if np.any(way[gone]):
            known.append(_Detour(at, way[at], way[gone]))

    def around(self, here: Part, movement: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
        """Movements like another one in which none of the groups moves, within all bounds.

        They are balanced up to rounding; how far a certain group moves in them is for the caller to
        see.
        """
        gone, known = self._of(here)
        for way in known:
            most = int(np.argmax(np.abs(way.through)))
            times = -movement[gone[most]] / way.through[most]
            if np.any(np.abs(movement[gone] + times * way.through) > _NEAR):
                continue
            there = movement[way.at] + times * way.step
            outside = (there > here.up[way.at] + _NEAR) | (-there > here.down[way.at] + _NEAR)
            if outside.any():
                continue
            found = movement.copy()
            found[way.at] = there
            found[gone] = 0
            yield found

    def _of(self, here: Part) -> tuple[NDArray[np.int64], list[_Detour]]:
        if here not in self._known:
            self._known[here] = np.flatnonzero(np.isin(here.cell, self._gone)), []
        return self._known[here]
