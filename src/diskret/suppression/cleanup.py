"""Publish again what need not be hidden."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import Enum, auto
from functools import partial

import numpy as np
from numpy.typing import NDArray

from diskret.deadline import Deadline
from diskret.parallel import meanwhile
from diskret.suppression.blocks import Block, Blocks
from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Change, Part, Reach, part, part_of
from diskret.suppression.detours import Detours
from diskret.suppression.kept_changes import KeptChanges
from diskret.suppression.linear import QUANTUM
from diskret.suppression.narrowing import Narrowing
from diskret.suppression.problem import Problem
from diskret.suppression.search import Search, fulfil

#: Components of more groups are searched in blocks, blocks of more cells not at all.
_SMALL, _NEARBY = 4_000, 3_000
#: Programs that are kept for later.
_KEPT = 500
#: The share of the cost that a quantum of work has to save.
_WORTH = 0.004
#: What a group can lose counts with this power where a movement is looked for.
_LESS = 0.25
#: Work from which on single equations are asked before programmes: what asks them has to be loaded.
_FEW = QUANTUM / 2


class End(Enum):
    """Why no more is published again: all was tried, the last work saved little, time is up."""

    ALL = auto()
    POOR = auto()
    TIME = auto()


def clean_up(
    problem: Problem,
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: list[Change],
    blocks: Blocks | None = None,
    until: float | None = None,
    needed: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.bool_], list[Change], End]:
    """Publish hidden groups again, dearest first, while every requirement can be shown.

    One pass is enough: what cannot be published from a pattern cannot be published from a
    part of it either. It ends when a quantum of work saves too little: cells of little cost that
    nothing needs may stay hidden.

    `hidden`: A pattern that meets all requirements, bool, ``(g,)``. `blocks`: where to look for
    other changes in large patterns; None: everywhere. A group that could only be published by
    changes of more than a large block stays hidden. `until`: value of ``time.monotonic()`` at which
    to stop, if that is before time is up. `needed`: groups that could not be published from a
    pattern of which this is a part, bool, ``(g,)``; they are not tried, and those found are added.
    Gives the smaller pattern, changes within it that show all requirements, and why the pass ended.
    """
    needed = np.zeros(len(hidden), dtype=bool) if needed is None else needed
    candidates = np.flatnonzero(hidden & ~cells.primary & ~needed)
    candidates = candidates[np.argsort(-cells.price[candidates], kind="stable")]
    done = 0

    def tell() -> None:
        problem.progress("publish again", done, len(candidates))

    pattern = _Pattern(cells, hidden, certified, changes, blocks, problem.deadline, tell)
    work, cost = 0, pattern.cost
    for done, group in enumerate(candidates.tolist()):
        if problem.seconds() <= 0 or (until is not None and time.monotonic() > until):
            return pattern.hidden, pattern.kept.changes, End.TIME
        problem.work.step()
        problem.progress("publish again", done, len(candidates))
        if pattern.hidden[group]:
            needed[group] = not pattern.try_to_publish(group)
        if pattern.work - work >= QUANTUM:
            if pattern.cost > (1 - _WORTH) * cost:
                return pattern.hidden, pattern.kept.changes, End.POOR
            work, cost = pattern.work, pattern.cost
    problem.progress("publish again", len(candidates), len(candidates))
    return pattern.hidden, pattern.kept.changes, End.ALL


class _Pattern:
    """Hidden groups, and the changes that show their requirements."""

    def __init__(
        self,
        cells: Changeable,
        hidden: NDArray[np.bool_],
        certified: Reach,
        changes: list[Change],
        blocks: Blocks | None,
        deadline: Deadline,
        tell: Callable[[], None],
    ):
        self.cells, self._tell = cells, tell
        self.hidden = hidden.copy()
        self.cost = float(cells.price[hidden & ~cells.primary].sum())
        self.work = 0
        self.certified = certified
        self.reach = certified.copy()
        self.needy = certified.missing(cells)
        self.kept = KeptChanges(self.needy | ~cells.primary)
        here = part(cells, hidden)
        self.component = np.full(len(hidden), -1)
        self.component[here.cell] = here.component
        self.searches = _Searches(cells, self.hidden, self.component, blocks, deadline)
        # groups that did not meet their requirements in a pattern that was tried, and when
        self.failed: dict[int, int] = {}
        self.failures = 0
        self.narrowing: Narrowing | None = None
        self.left = np.diff(cells.equations[:, np.flatnonzero(hidden)].indptr)
        for change in changes:
            for component in np.unique(self.component[change.cell]):
                self._keep(change.only(self.component[change.cell] == component))

    def try_to_publish(self, group: int) -> bool:
        """Publish a group if every requirement can still be shown without it."""
        gone = self._fixed_with(group)
        if any(self.cells.primary[i] for i in gone):
            return False
        lost = self.kept.moving(gone)
        index = np.array(sorted(gone), dtype=np.int64)
        moved = np.setdiff1d(self._resting_on(lost), index)
        before = self.reach.at(moved)
        self.reach.set_to(moved, self._shown_without(lost, moved))
        shown, found = self._show(moved, index, lost)
        if not shown:
            self.reach.raise_to(moved, before)
        for change in found:
            self._keep(change)
        if shown:
            self.hidden[index] = False
            self.cost -= float(self.cells.price[index].sum())
            for i in index:
                self.left[self._rows(i)] -= 1
            self.searches.publish(index)
            self.kept.give_up(lost)
        return shown

    def _show(
        self, moved: NDArray[np.int64], gone: NDArray[np.int64], lost: NDArray[np.int64]
    ) -> tuple[bool, list[Change]]:
        """Whether the moved groups meet their requirements without those gone, and how."""
        found: list[Change] = []
        asked: list[int] = moved[self.reach.missing(self.cells, moved)].tolist()
        # who was in the way last is likely to be so again
        asked.sort(key=lambda i: (-self.failed.get(i, 0), -int(self.cells.need[i]), i))
        failing = self._told_impossible(asked, gone)
        detours = Detours(gone)
        for i in asked if failing is None else ():
            for search in self.searches.around(i):
                if not self.reach.misses(self.cells, i):
                    break
                fixed = np.flatnonzero(np.isin(search.here.cell, gone))
                before = search.work
                search.publish(fixed)
                near = partial(self._as_it_was, search, lost, i)
                found += fulfil(search, self.cells, self.reach, i, near=near, detours=detours)
                search.publish(fixed, False)
                self.work += search.work - before
            if self.reach.misses(self.cells, i):
                failing = i
                break
        if self.narrowing is not None:
            self.narrowing.decide(failing is None)
        if failing is None:
            return True, found
        self.failures += 1
        self.failed[failing] = self.failures
        return False, found

    def _told_impossible(self, asked: list[int], gone: NDArray[np.int64]) -> int | None:
        """A group of which single equations tell that it cannot move far enough any more."""
        if self.work < _FEW:
            return None
        if self.narrowing is None:
            # what has to be compiled at the first use on a computer takes seconds
            self.narrowing = meanwhile(lambda: Narrowing(self.cells, self.hidden), self._tell)
        before = self.narrowing.seen
        self.narrowing.publish(gone)
        failing = self.narrowing.first_impossible(asked)
        self.work += self.narrowing.seen - before
        return failing

    def _as_it_was(
        self, search: Search, lost: NDArray[np.int64], group: int, up: bool
    ) -> NDArray[np.float64] | None:
        """How a group moved up, or down, in the change that is lost and in which it moved most."""
        best = self.kept.furthest(lost, group, up)
        if best is None:
            return None
        here = search.here.cell
        at = np.minimum(np.searchsorted(here, best.cell), len(here) - 1)
        if np.any(here[at] != best.cell):
            return None  # it goes beyond the block
        own = best.step[int(np.searchsorted(best.cell, group))]
        sign = 1 if (own > 0) == up else -1
        movement = np.zeros(len(here))
        movement[at] = sign * best.step / best.divisor
        return movement

    def _fixed_with(self, group: int) -> set[int]:
        """The group and all that would be alone in an equation once it is published."""
        gone, queue = {group}, [group]
        left: dict[int, int] = {}
        rows = self.cells.equations
        while queue:
            i = queue.pop()
            for row in self._rows(i).tolist():
                left[row] = left.get(row, int(self.left[row])) - 1
                if left[row] == 1:
                    members = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
                    alone = [int(j) for j in members[self.hidden[members]] if j not in gone]
                    gone.update(alone)
                    queue += alone
        return gone

    def _resting_on(self, lost: NDArray[np.int64]) -> NDArray[np.int64]:
        """The groups of which some changes show more than is shown without them."""
        at, down, up, width = self.kept.told(lost)
        reach = self.reach
        most = (width >= reach.width[at]) | ((down > 0) & (down >= reach.down[at]))
        most |= (up > 0) & (up >= reach.up[at])
        return np.unique(at[most & self.needy[at]])

    def _shown_without(
        self, lost: NDArray[np.int64], groups: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """What all other changes show of some groups, ``(3, s)``."""
        shown = np.maximum(self.certified.at(groups), self.kept.shown_without(lost, groups))
        shown[2] = np.maximum(shown[2], shown[0] + shown[1])
        return shown

    def _rows(self, group: int) -> NDArray[np.int32]:
        by_group = self.cells.by_group
        return by_group.indices[by_group.indptr[group] : by_group.indptr[group + 1]]

    def _keep(self, change: Change) -> None:
        self.reach.add(change)
        self.kept.add(change)


class _Searches:
    """Programs of hidden groups: whole components if these are small, else blocks.

    `hidden` is the pattern's own array, which changes; the programs follow when they are used.
    """

    def __init__(
        self,
        cells: Changeable,
        hidden: NDArray[np.bool_],
        component: NDArray[np.int64],
        blocks: Blocks | None,
        deadline: Deadline,
    ):
        self._deadline = deadline
        self._cells, self._hidden, self._component, self._blocks = cells, hidden, component, blocks
        self._size = np.bincount(component + 1)[1:]
        self._published: list[NDArray[np.int64]] = []
        self._kept: dict[int | Block, tuple[Search, int]] = {}

    def publish(self, gone: NDArray[np.int64]) -> None:
        """These groups are not hidden any more."""
        self._published.append(gone)

    def around(self, group: int) -> Iterator[Search]:
        """Ever larger programs in which a group can move."""
        component = int(self._component[group])
        if self._blocks is None or self._size[component] <= _SMALL:
            yield self._search(component, lambda: np.flatnonzero(self._component == component))
            return
        for block in self._blocks.around(group):
            if block.size > _NEARBY:
                return
            yield self._search(block, partial(self._blocks.groups, block))

    def _search(self, where: int | Block, inside: Callable[[], NDArray[np.int64]]) -> Search:
        search, upto = self._kept.pop(where, (None, 0))
        if search is None:
            groups = inside()
            here = part_of(self._cells, groups[self._hidden[groups]])
            # short changes depend on few groups, so that few are looked for again
            nothing = np.zeros(len(here.cell), dtype=bool)
            one = np.ones(len(here.cell))
            search = Search(here, nothing, one, self._deadline.seconds, _falling(here))
        elif upto < len(self._published):
            gone = np.concatenate(self._published[upto:])
            search.publish(np.flatnonzero(np.isin(search.here.cell, gone)))
        self._kept[where] = search, len(self._published)
        if len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return search


def _falling(here: Part) -> NDArray[np.float64]:
    """How dear it is to move groups of a part down: what can lose little needs others beside it."""
    down = np.clip(here.down, 1, 2.0**53)
    return (np.median(down) / down) ** _LESS
