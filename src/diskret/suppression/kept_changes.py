"""Changes that show the requirements of a pattern, and what each of them shows of each group.

A group rests on many changes and a change moves many groups, so both ways are asked all the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from diskret.suppression.changes import Change

#: What an entry says of a group that a change moves, as a row of all entries.
_CHANGE, _CELL, _DOWN, _UP, _WIDTH = range(5)
#: Changes and entries for which there is room at first.
_FEW = 256


class KeptChanges:
    """Changes, numbered as they come; a number is good until changes are given up.

    `about`: groups of which something is asked, bool, ``(g,)``; nothing is told of the others.
    """

    def __init__(self, about: NDArray[np.bool_]):
        self._about = about
        self._changes: list[Change] = []
        self._kept = np.zeros(_FEW, dtype=bool)
        # an entry for each such group that a change moves; those of one change stand together
        self._entry = np.empty((5, _FEW), dtype=np.int64)
        self._start = [0]
        self._of_group: defaultdict[int, list[int]] = defaultdict(list)
        self._given_up = 0

    @property
    def changes(self) -> list[Change]:
        """All that are kept."""
        return [self._changes[i] for i in np.flatnonzero(self._kept).tolist()]

    def add(self, change: Change) -> None:
        """Keep a change."""
        number, start = len(self._changes), self._start[-1]
        own = np.flatnonzero(self._about[change.cell])
        cell, end = change.cell[own], start + len(own)
        if number == len(self._kept):
            self._kept = np.append(self._kept, np.zeros(number + 1, dtype=bool))
        if end > self._entry.shape[1]:
            room = np.empty((5, end), dtype=np.int64)
            self._entry = np.concatenate((self._entry, room), axis=1)
        here = self._entry[:, start:end]
        here[_CHANGE], here[_CELL] = number, cell
        here[_DOWN], here[_UP], here[_WIDTH] = change.down[own], change.up[own], change.width[own]
        lists = map(self._of_group.__getitem__, cell.tolist())
        any(map(list.append, lists, range(start, end)))  # a loop in Python takes thrice as long
        self._changes.append(change)
        self._start.append(end)
        self._kept[number] = True

    def give_up(self, which: NDArray[np.int64]) -> None:
        """Forget changes."""
        self._kept[which] = False
        self._given_up += int(np.diff(self._start)[which].sum())
        if 2 * self._given_up > self._start[-1]:
            self._number_anew()

    def _number_anew(self) -> None:
        """Make room: what was given up is not told of any more."""
        self._changes = self.changes
        size = np.diff(self._start)[self._kept[: len(self._start) - 1]]
        entry = self._entry[:, : self._start[-1]]
        self._entry = entry[:, self._kept[entry[_CHANGE]]]
        self._entry[_CHANGE] = np.repeat(np.arange(len(size)), size)
        self._start = [0, *np.cumsum(size).tolist()]
        self._kept = np.ones(len(size), dtype=bool)
        self._given_up = 0
        order = np.argsort(self._entry[_CELL], kind="stable")
        group, first = np.unique(self._entry[_CELL][order], return_index=True)
        entries = (own.tolist() for own in np.split(order, first)[1:])
        self._of_group = defaultdict(list, zip(group.tolist(), entries, strict=True))

    def moving(self, groups: Iterable[int]) -> NDArray[np.int64]:
        """The changes that move any of some groups, ascending."""
        entries = chain.from_iterable(self._of_group[group] for group in groups)
        change = np.unique(self._entry[_CHANGE, np.fromiter(entries, dtype=np.int64)])
        return change[self._kept[change]]

    def told(self, which: NDArray[np.int64]) -> NDArray[np.int64]:
        """Groups that changes move, and how far: cell, down, up and width, ``(4, entries)``."""
        own = [np.arange(self._start[i], self._start[i + 1]) for i in which.tolist()]
        return self._entry[_CELL:, np.concatenate([*own, []]).astype(np.int64)]

    def shown_without(
        self, which: NDArray[np.int64], groups: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """What all but some changes show of groups: down, up and width, ``(3, s)``."""
        each = [self._of_group[group] for group in groups.tolist()]
        length = np.fromiter(map(len, each), dtype=np.int64, count=len(each))
        entry = np.fromiter(chain.from_iterable(each), dtype=np.int64)
        counts = self._kept.copy()
        counts[which] = False
        far = self._entry[_DOWN:, entry] * counts[self._entry[_CHANGE, entry]]
        shown = np.zeros((3, len(each)), dtype=np.int64)
        some = length > 0
        starts = (np.cumsum(length) - length)[some]
        if len(starts):
            shown[:, some] = np.maximum.reduceat(far, starts, axis=1)
        return shown

    def furthest(self, which: NDArray[np.int64], group: int, up: bool) -> Change | None:
        """That of some changes in which a group moves furthest up, or down, if it does in any."""
        entry = np.array(self._of_group[group], dtype=np.int64)
        change = self._entry[_CHANGE, entry]
        far = self._entry[_UP if up else _DOWN, entry] * np.isin(change, which)
        if not far.any():
            return None
        return self._changes[int(change[np.argmax(far)])]
