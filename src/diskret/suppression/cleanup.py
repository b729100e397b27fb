"""Publish again what need not be hidden."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.progress import Progress, silent
from diskret.suppression.exact import Change, Reach, part
from diskret.suppression.reduce import Changeable
from diskret.suppression.search import Search, fulfil


def clean_up(
    cells: Changeable,
    hidden: NDArray[np.bool_],
    certified: Reach,
    changes: list[Change],
    deadline: float | None = None,
    progress: Progress = silent,
) -> tuple[NDArray[np.bool_], list[Change], bool]:
    """Publish hidden groups again, dearest first, while every requirement can be shown.

    One pass is enough: what cannot be published from a pattern cannot be published from a
    part of it either.

    Parameters
    ----------
    cells
        The groups and their requirements.
    hidden
        A pattern that meets all requirements, bool, ``(g,)``.
    certified
        What is shown by changes of primary groups alone.
    changes
        Changes within `hidden` that, with `certified`, show all requirements.
    deadline
        Value of ``time.monotonic()`` at which to stop.
    progress
        Told the number of groups tried.

    Returns
    -------
    hidden, changes, complete
        The smaller pattern, changes within it that show all requirements, and whether
        the pass was finished.
    """
    pattern = _Pattern(cells, hidden, certified, changes)
    candidates = np.flatnonzero(hidden & ~cells.primary)
    candidates = candidates[np.argsort(-cells.price[candidates], kind="stable")]
    for done, group in enumerate(candidates.tolist()):
        if deadline is not None and time.monotonic() > deadline:
            return pattern.hidden, pattern.changes, False
        progress("publish again", done, len(candidates))
        if pattern.hidden[group]:
            pattern.try_to_publish(group)
    progress("publish again", len(candidates), len(candidates))
    return pattern.hidden, pattern.changes, True


class _Pattern:
    """Hidden groups, and the changes that show their requirements."""

    def __init__(
        self,
        cells: Changeable,
        hidden: NDArray[np.bool_],
        certified: Reach,
        changes: list[Change],
    ):
        self.cells = cells
        self.hidden = hidden.copy()
        self.certified = certified
        self.reach = certified.copy()
        self.needy = certified.missing(cells)
        # the changes that move a group, in the order found
        self.moved_by: defaultdict[int, dict[Change, None]] = defaultdict(dict)
        here = part(cells, hidden)
        self.component = np.full(len(hidden), -1)
        self.component[here.cell] = here.component
        self.searches: dict[int, Search] = {}
        self.by_cell = sparse.csc_array(cells.equations)
        self.left = np.diff(cells.equations[:, np.flatnonzero(hidden)].indptr)
        for change in changes:
            for component in np.unique(self.component[change.cell]):
                self._keep(change.only(self.component[change.cell] == component))

    @property
    def changes(self) -> list[Change]:
        """All changes that move hidden groups only."""
        return list({change: None for moved in self.moved_by.values() for change in moved})

    def try_to_publish(self, group: int) -> None:
        """Publish a group if every requirement can still be shown without it."""
        gone = self._fixed_with(group)
        if any(self.cells.primary[i] for i in gone):
            return
        lost = {change for i in gone for change in self.moved_by[i]}
        moved = {i for change in lost for i in change.cell.tolist()} - gone
        moved = sorted(i for i in moved if self.needy[i])
        reach = self._without(lost, moved)
        index = np.array(sorted(gone), dtype=np.int64)
        shown, found = self._show(reach, moved, index)
        for change in found:
            self._keep(change)
        if shown:
            self._publish(index)
            for change in lost:
                for i in change.cell.tolist():
                    del self.moved_by[i][change]
            self.reach = reach

    def _show(
        self, reach: Reach, moved: list[int], gone: NDArray[np.int64]
    ) -> tuple[bool, list[Change]]:
        """Whether the moved groups meet their requirements without those gone, and how."""
        missing = [i for i in moved if reach.misses(self.cells, i)]
        found: list[Change] = []
        if missing:
            search = self._search(int(self.component[missing[0]]))
            fixed = np.flatnonzero(np.isin(search.here.cell, gone))
            search.publish(fixed)
            for i in missing:
                if reach.misses(self.cells, i):
                    found += fulfil(search, self.cells, reach, i)
                if reach.misses(self.cells, i):
                    break
            search.publish(fixed, False)
        return not any(reach.misses(self.cells, i) for i in missing), found

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

    def _without(self, lost: set[Change], moved: list[int]) -> Reach:
        """What is shown without some changes; `moved` are the groups they moved."""
        reach = self.reach.copy()
        reach.down[moved], reach.up[moved] = self.certified.down[moved], self.certified.up[moved]
        reach.width[moved] = self.certified.width[moved]
        for change in {change: None for i in moved for change in self.moved_by[i]}:
            if change not in lost:
                reach.add(change)
        return reach

    def _search(self, component: int) -> Search:
        if component not in self.searches:
            here = part(self.cells, self.hidden & (self.component == component))
            everything = np.ones(len(here.cell), dtype=bool)
            self.searches[component] = Search(here, everything, np.zeros(len(here.cell)))
        return self.searches[component]

    def _publish(self, gone: NDArray[np.int64]) -> None:
        self.hidden[gone] = False
        for i in gone:
            self.left[self._rows(i)] -= 1
        for component in np.unique(self.component[gone]).tolist():
            if component in self.searches:
                search = self.searches[component]
                search.publish(np.flatnonzero(np.isin(search.here.cell, gone)))

    def _rows(self, group: int) -> NDArray[np.int32]:
        return self.by_cell.indices[self.by_cell.indptr[group] : self.by_cell.indptr[group + 1]]

    def _keep(self, change: Change) -> None:
        self.reach.add(change)
        for i in change.cell.tolist():
            self.moved_by[i][change] = None
