"""Protection near each cell: in blocks of the table that change while all the rest stays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.parallel import in_order
from diskret.suppression.changeable import Changeable
from diskret.suppression.changes import Change, Reach, part_of
from diskret.suppression.cubes import hide_in_cubes
from diskret.suppression.problem import Problem
from diskret.suppression.search import Search, fulfil
from diskret.tables import Dimension

#: A block of all codes of a variable, the total included.
_ALL = -1


@dataclass(frozen=True)
class Block:
    """All cells of a table whose codes lie below given ones.

    Its cells can change without any change outside. Blocks of one `kind` have no cell in
    common.

    `table`: number of the table.
    `below`: for each variable the code whose descendants are meant, itself not among them; or −1
        for all codes.
    `kind`: number of the table, and the level of each of these codes.
    `size`: number of cells.
    """

    table: int
    below: tuple[int, ...]
    kind: tuple[int, ...]
    size: int


class Blocks:
    """The blocks around the cells of one table or several.

    `tables`: the variables of each table. Cells are numbered in C order, one table after the other.
    `group`: group of each cell, −1 for those that cannot change, ``(n,)``; behind the cells of the
    tables there may be others.
    """

    def __init__(self, tables: Sequence[Sequence[Dimension]], group: NDArray[np.int64]):
        self._trees = [[dimension.hierarchy for dimension in own] for own in tables]
        self._group = group
        self._starts = np.cumsum([0, *(prod(len(t) for t in trees) for trees in self._trees)])
        self._below = [[_below(tree) for tree in trees] for trees in self._trees]
        # cells below the same codes have the same blocks around them
        self._ladders: dict[tuple[int, tuple[int, ...]], list[Block]] = {}

    @cached_property
    def _home(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each table the groups that have all their cells there, and their topmost codes."""
        groups = int(self._group.max(initial=-1)) + 1
        members = np.bincount(self._group[self._group >= 0], minlength=groups)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for trees, start in zip(self._trees, self._starts.tolist(), strict=False):
            shape = tuple(len(tree) for tree in trees)
            own = self._group[start : start + prod(shape)]
            there = np.flatnonzero(own >= 0)
            codes = np.stack(np.unravel_index(there, shape), axis=1).astype(np.int64)
            # parents stand before children, so of the codes on one branch the least is the topmost
            top = np.full((groups, len(shape)), np.iinfo(np.int64).max)
            np.minimum.at(top, own[there], codes)
            complete = np.bincount(own[there], minlength=groups) == members
            found.append((complete & (members > 0), top))
        return found

    def around(self, group: int) -> Iterator[Block]:
        """Ever larger blocks around a group; none if it stands in several tables.

        From one to the next a single variable goes up by one level, the one that adds least.
        """
        for table, (complete, top) in enumerate(self._home):
            if complete[group]:
                trees = self._trees[table]
                below = tuple(map(_up, trees, top[group].tolist()))
                if (table, below) not in self._ladders:
                    self._ladders[table, below] = list(self._ladder(table, list(below)))
                yield from self._ladders[table, below]
                return

    def _ladder(self, table: int, below: list[int]) -> Iterator[Block]:
        trees = self._trees[table]
        yield self._block(table, below)
        while any(code != _ALL for code in below):
            wider = [
                [*below[:axis], _up(trees[axis], code), *below[axis + 1 :]]
                for axis, code in enumerate(below)
                if code != _ALL
            ]
            below = min(wider, key=partial(self._size, table))
            yield self._block(table, below)

    def _block(self, table: int, below: Sequence[int]) -> Block:
        levels = [
            int(tree.level[code]) if code != _ALL else _ALL
            for tree, code in zip(self._trees[table], below, strict=True)
        ]
        return Block(table, tuple(below), (table, *levels), self._size(table, below))

    def _size(self, table: int, below: Sequence[int]) -> int:
        return prod(len(d[code]) for d, code in zip(self._below[table], below, strict=True))

    def groups(self, block: Block) -> NDArray[np.int64]:
        """The groups with a cell in a block, ascending."""
        trees = self._trees[block.table]
        codes = [d[code] for d, code in zip(self._below[block.table], block.below, strict=True)]
        shape = tuple(len(tree) for tree in trees)
        flat = np.ravel_multi_index(np.ix_(*codes), shape).ravel() + self._starts[block.table]
        groups = np.unique(self._group[flat])
        return groups[groups >= 0]


def _up(tree: Hierarchy, code: int) -> int:
    """The code whose descendants are the next larger choice."""
    return int(tree.parent[code]) if code else _ALL


def _below(tree: Hierarchy) -> list[NDArray[np.int64]]:
    """The descendants of each code; at last, where `_ALL` finds them, all codes."""
    below: list[list[int]] = [[] for _ in tree.codes]
    for code in range(len(tree) - 1, 0, -1):
        below[tree.parent[code]] += [code, *below[code]]
    return [np.sort(np.array(codes, dtype=np.int64)) for codes in [*below, range(len(tree))]]


# ── changes in ever larger blocks, on all cores ───────────────────────────────────────


#: Of all cells; blocks that are larger are left to programs of the whole table.
_SHARE = 0.5

#: Work (see `Program`) for all answers, at least, which takes some two minutes, and for each cell.
#: What there is no work for is left to cubes.
_WORK, _WORK_OF_A_CELL = 10**10, 5 * 10**4


@dataclass(frozen=True, eq=False)
class _Found:
    """What one block gave.

    `changes`: in the order found. `failed`: groups that they do not protect. `given_up`: those of
    them that are not asked for again, as more groups take still more. `work`: see `Program`.
    """

    changes: list[Change]
    failed: list[int]
    given_up: set[int]
    work: int


def hide_in_blocks(
    problem: Problem,
    cells: Changeable,
    blocks: Blocks,
    hidden: NDArray[np.bool_],
    reach: Reach,
    share: float = _SHARE,
    whole: bool = True,
) -> list[Change]:
    """Hide the cheapest groups nearby until as much as possible is shown.

    Every group that misses its requirement is asked for in the smallest block around it;
    if that is not enough, in the next. Blocks of one kind have nothing in common, so they are
    searched at the same time, and the outcome does not depend on how many are. Work is bounded, and
    each block has a share of it; what took all of it, or has none left, is protected by cubes.

    `hidden`, `reach`: the pattern and what it shows, ``(g,)``; both grow. `whole`: whether to look
    for changes in whole numbers where programmes give fractions and these are no answer. Gives
    the changes found.
    """
    # fractions of values that no check takes move most of a block: a larger one is quicker
    whole = whole and cells.whole
    queue: defaultdict[Block, list[int]] = defaultdict(list)
    missing = np.flatnonzero(reach.missing(cells)).tolist()
    problem.progress("suppress", 0, len(missing))
    ladders = {group: list(blocks.around(group)) for group in missing}
    for group, ladder in ladders.items():
        if ladder:
            queue[ladder.pop(0)].append(group)
    changes: list[Change] = []
    given_up: list[int] = []
    total, left = len(ladders), len(ladders)
    work_left = max(_WORK, _WORK_OF_A_CELL * len(cells.group))

    def tell() -> None:
        problem.progress("suppress", total - left, total)

    while queue and problem.seconds() > 0:
        wave = _next_wave(queue)
        if wave[0].size > share * len(cells.group):
            break
        share_of_one = max(work_left, 0) // sum(map(len, queue.values()))
        asked = [queue.pop(block) for block in wave]
        inside = [blocks.groups(block) for block in wave]
        tasks = [
            partial(
                _in_block,
                cells,
                groups,
                of,
                hidden,
                reach,
                problem.seconds,
                whole,
                share_of_one * len(of),
            )
            for groups, of in zip(inside, asked, strict=True)
        ]
        together = len(np.unique(np.concatenate(inside))) == sum(map(len, inside))
        work = in_order(_do, tasks, tell) if together else map(_do, tasks)
        problem.work.step(sum(map(len, asked)))
        for groups, found in zip(asked, work, strict=True):
            changes += found.changes
            work_left -= found.work
            left -= len(groups)
            for group in found.failed:
                if ladders[group] and group not in found.given_up:
                    queue[ladders[group].pop(0)].append(group)
                    left += 1
            given_up += sorted(found.given_up)
            tell()
    if given_up and problem.seconds() > 0:
        todo = np.array(given_up, dtype=np.int64)
        todo = todo[np.argsort(-cells.need[todo], kind="stable")]
        changes += hide_in_cubes(problem, cells, hidden, reach, todo)
    return changes


def _do(task: Callable[[], _Found]) -> _Found:
    return task()


def _next_wave(queue: Iterable[Block]) -> list[Block]:
    """The blocks of the kind whose largest block is the smallest."""
    kinds: defaultdict[tuple[int, ...], list[Block]] = defaultdict(list)
    for block in queue:
        kinds[block.kind].append(block)
    kind = min(kinds, key=lambda kind: (max(block.size for block in kinds[kind]), kind))
    return sorted(kinds[kind], key=lambda block: block.below)


def _in_block(
    cells: Changeable,
    inside: NDArray[np.int64],
    groups: Sequence[int],
    hidden: NDArray[np.bool_],
    reach: Reach,
    seconds: Callable[[], float],
    whole: bool,
    work: int,
) -> _Found:
    """Changes within a block for groups of it, largest need first; those it cannot protect."""
    asked = [group for group in groups if reach.misses(cells, group)]
    here = part_of(cells, inside) if asked else None
    if here is None or len(here.cell) == 0:
        return _Found([], asked, set(), 0)
    search = Search(here, hidden[here.cell], cells.price[here.cell], seconds)
    found: list[Change] = []
    given_up = set[int]()
    for group in sorted(asked, key=lambda group: (-int(cells.need[group]), group)):
        if not reach.misses(cells, group) or seconds() <= 0:
            continue
        if search.work >= work:
            given_up.add(group)
            continue
        for change in fulfil(search, cells, reach, group, seconds if whole else None):
            new = change.cell[~hidden[change.cell]]
            hidden[new] = True
            search.hide(np.searchsorted(here.cell, new))
            found.append(change)
        if search.cut_short and not whole:
            given_up.add(group)
    failed = [group for group in asked if reach.misses(cells, group)]
    return _Found(found, failed, given_up.intersection(failed), search.work)
