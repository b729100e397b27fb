"""Protect groups by changes near them, in ever larger blocks, on all cores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from diskret.parallel import cores
from diskret.suppression.blocks import Block, Blocks
from diskret.suppression.exact import Change, Reach, part_of
from diskret.suppression.problem import Problem
from diskret.suppression.reduce import Changeable
from diskret.suppression.search import Search, fulfil

#: Of all cells; blocks that are larger are left to programs of the whole table.
_SHARE = 0.5

#: Changes, and the groups that they do not protect.
_Found = tuple[list[Change], list[int]]


def hide_in_blocks(
    problem: Problem,
    cells: Changeable,
    blocks: Blocks,
    hidden: NDArray[np.bool_],
    reach: Reach,
    share: float = _SHARE,
) -> list[Change]:
    """Hide the cheapest groups nearby until as much as possible is shown.

    Every group that misses its requirement is asked for in the smallest block around it;
    if that is not enough, in the next. Blocks of one kind have nothing in common, so they are
    searched at the same time, and the outcome does not depend on how many are.

    Parameters
    ----------
    problem
        For the time left and progress.
    cells
        The groups and their requirements.
    blocks
        Where changes can happen.
    hidden, reach
        The pattern and what it shows, ``(g,)``; both grow.
    share
        Of all cells; larger blocks are not searched.

    Returns
    -------
    list of Change
        The changes found.
    """
    queue: defaultdict[Block, list[int]] = defaultdict(list)
    missing = np.flatnonzero(reach.missing(cells)).tolist()
    ladders = {group: list(blocks.around(group)) for group in missing}
    for group, ladder in ladders.items():
        if ladder:
            queue[ladder.pop(0)].append(group)
    changes: list[Change] = []
    total, left = len(ladders), len(ladders)
    with ThreadPoolExecutor(cores()) as pool:
        while queue and problem.seconds() > 0:
            wave = _next_wave(queue)
            if wave[0].size > share * len(cells.group):
                break
            asked = [queue.pop(block) for block in wave]
            inside = [blocks.groups(block) for block in wave]
            tasks = (
                partial(_in_block, cells, groups, of, hidden, reach, problem.seconds)
                for groups, of in zip(inside, asked, strict=True)
            )
            together = len(np.unique(np.concatenate(inside))) == sum(map(len, inside))
            work = pool.map(_do, tasks) if together else map(_do, tasks)
            problem.work.step(sum(map(len, asked)))
            for groups, (found, failed) in zip(asked, work, strict=True):
                changes += found
                left -= len(groups)
                for group in failed:
                    if ladders[group]:
                        queue[ladders[group].pop(0)].append(group)
                        left += 1
                problem.progress("suppress", total - left, total)
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
) -> _Found:
    """Changes within a block for groups of it, largest need first; those it cannot protect."""
    asked = [group for group in groups if reach.misses(cells, group)]
    here = part_of(cells, inside) if asked else None
    if here is None or len(here.cell) == 0:
        return [], asked
    search = Search(here, hidden[here.cell], cells.price[here.cell])
    found: list[Change] = []
    for group in sorted(asked, key=lambda group: (-int(cells.need[group]), group)):
        if not reach.misses(cells, group) or seconds() <= 0:
            continue
        for change in fulfil(search, cells, reach, group, seconds):
            new = change.cell[~hidden[change.cell]]
            hidden[new] = True
            search.hide(np.searchsorted(here.cell, new))
            found.append(change)
    return found, [group for group in asked if reach.misses(cells, group)]
