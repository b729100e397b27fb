"""Neighbourhoods of a cell in which the table can change while all the rest stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension

#: A block of all codes of a variable, the total included.
_ALL = -1


@dataclass(frozen=True)
class Block:
    """All cells of a table whose codes lie below given ones.

    Its cells can change without any change outside. Blocks of one `kind` have no cell in
    common.

    Parameters
    ----------
    table
        Number of the table.
    below
        For each variable the code whose descendants are meant, itself not among them; or
        −1 for all codes.
    kind
        Number of the table, and the level of each of these codes.
    size
        Number of cells.
    """

    table: int
    below: tuple[int, ...]
    kind: tuple[int, ...]
    size: int


class Blocks:
    """The blocks around the cells of one table or several.

    Parameters
    ----------
    tables
        The variables of each table. Cells are numbered in C order, one table after the
        other.
    group
        Group of each cell, −1 for those that cannot change, ``(n,)``; behind the cells of the
        tables there may be others.
    """

    def __init__(self, tables: Sequence[Sequence[Dimension]], group: NDArray[np.int64]):
        self._trees = [[dimension.hierarchy for dimension in own] for own in tables]
        self._group = group
        self._starts = np.cumsum([0, *(prod(len(t) for t in trees) for trees in self._trees)])
        self._below = [[_below(tree) for tree in trees] for trees in self._trees]

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
                below = [
                    _up(tree, code) for tree, code in zip(trees, top[group].tolist(), strict=True)
                ]
                yield self._block(table, below)
                while any(code != _ALL for code in below):
                    wider = [
                        [*below[:axis], _up(trees[axis], code), *below[axis + 1 :]]
                        for axis, code in enumerate(below)
                        if code != _ALL
                    ]
                    below = min(wider, key=partial(self._size, table))
                    yield self._block(table, below)
                return

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
