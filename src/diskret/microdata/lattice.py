"""The levels of keys, all combinations of them, and the classes that each makes of the records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, prod

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.codes import some
from diskret.hierarchy.number_classes import number_text
from diskret.io import Coded
from diskret.microdata.categories import above
from diskret.microdata.numbers import classed
from diskret.risk import Keys, classes

#: Combinations of levels that can be searched.
LARGEST = 5_000_000
#: Nodes that are kept for later, and their classes as a multiple of those of the finest level.
_KEPT, _ROOM = 256, 2
#: Keys are looked up together in tables of at most so many numbers, which stay near the processor.
_TABLE = 2**15
#: Up to so many possible combinations for each class a table of all is quicker than sorting.
_DENSE = 8
_LARGEST_NUMBER = 2**62

_Codes = tuple[NDArray[np.int32], ...]
_Parts = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of one key: 0 as it is, above it ever coarser, the last one tells nothing.

    Parameters
    ----------
    name
        Of the key.
    size
        Number of its categories.
    labels
        For each level from 1 on what each category is called there, ``(size,)``. Categories that
        have one name on a level have one name on all higher ones. Empty: the key stays as it is.
    """

    name: str
    size: int
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels)

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names on each level from 1 on, by code."""
        return tuple(tuple(sorted(set(labels))) for labels in self.labels)

    @cached_property
    def codes(self) -> tuple[NDArray[np.int32], ...]:
        """For each level the code of each category and, last, of a missing value.

        A missing value is -1, and stands at the end so that ``codes[level][key]`` is right for
        -1 as well. On the highest level it is told no more than any other.
        """
        found = [np.append(np.arange(self.size), -1).astype(np.int32)]
        for names, labels in zip(self.names, self.labels, strict=True):
            at = {name: code for code, name in enumerate(names)}
            found.append(np.array([*(at[label] for label in labels), -1], dtype=np.int32))
        if self.labels:
            found[-1][-1] = 0
        return tuple(found)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of codes on each level."""
        return (self.size, *(len(names) for names in self.names))

    def with_apart(self, names: Sequence[str], apart: NDArray[np.bool_]) -> Ladder:
        """The same with further categories, which keep their names on all levels but the highest.

        `names`: of all categories. `apart`: which of them are new, ``(n,)``; the others are those
        of this ladder, in the same order.
        """
        levels: list[tuple[str, ...]] = []
        for level, labels in enumerate(self.labels, 1):
            old = iter(labels)
            levels.append(
                tuple(
                    next(old) if not new else labels[0] if level == self.height else name
                    for name, new in zip(names, apart.tolist(), strict=True)
                )
            )
        return Ladder(self.name, len(names), tuple(levels))

    def between(self, low: int, high: int) -> NDArray[np.int32]:
        """For each code of a level, and last for missing, its code on a higher one."""
        lookup = np.full(self.sizes[low] + 1, -1, dtype=np.int32)
        lookup[self.codes[low]] = self.codes[high]
        return lookup

    def column(self, codes: NDArray[np.int32], level: int) -> pa.ChunkedArray:
        """What the records show on a level from 1 on, null where a code is -1."""
        names = pa.array(self.names[level - 1], pa.string())
        return pa.chunked_array([names.take(pa.array(codes, mask=codes < 0))])


def tree_ladder(column: Coded, tree: Hierarchy) -> Ladder:
    """The levels of a key that are those of its tree, the leaves as they are.

    >>> from diskret.io import coded
    >>> age = coded(pa.chunked_array([[31, 34, 48]]), "age")
    >>> tree_ladder(age, Hierarchy.from_widths([31, 34, 48], [10])).labels
    (('30-39', '30-39', '40-49'), ('Total', 'Total', 'Total'))
    """
    depth = int(tree.level.max())
    if depth < 1:
        raise InputError(f"the hierarchy of {column.name!r} has a total and nothing else")
    levels = (tuple(above(column, tree, level)) for level in range(depth - 1, -1, -1))
    return Ladder(column.name, len(column.categories), tuple(levels))


def breaks_ladder(column: Coded, breaks: Sequence[Sequence[float]]) -> Ladder:
    """The levels of a key whose numbers lie in ever wider classes.

    `breaks`: for each level its breaks, the narrowest classes first; the lower break of a class
    belongs to it, and the ends may be infinite. The highest level is called Total.

    >>> from diskret.io import coded
    >>> age = coded(pa.chunked_array([[31, 34, 48]]), "age")
    >>> breaks_ladder(age, [[30, 35, 50], [30, 50]]).labels[:2]
    (('30-34', '30-34', '35-49'), ('30-49', '30-49', '30-49'))
    """
    for fine, coarse in zip(breaks, breaks[1:], strict=False):
        inner = [b for b in coarse if b not in fine and abs(b) < inf]
        if inner:
            raise InputError(
                f"breaks {some([number_text(b) for b in inner])} of a coarser level of "
                f"{column.name!r} are not among those of the finer one, so a narrow class would "
                "lie in two wide ones"
            )
    values = pa.chunked_array([column.categories])
    levels = [tuple(classed(values, column.name, level).to_pylist()) for level in breaks]
    everything = ("Total",) * len(column.categories)
    return Ladder(column.name, len(column.categories), (*levels, everything))


@dataclass(frozen=True, eq=False)
class Node:
    """One combination of levels, and the classes of records that agree there in all keys.

    Parameters
    ----------
    lattice
        What it belongs to.
    levels
        One for each key.
    count
        Number of records of each class, ``(c,)``, int64.
    """

    lattice: Lattice
    levels: tuple[int, ...]
    count: NDArray[np.int64]
    _parts: Callable[[], _Parts]

    @cached_property
    def parts(self) -> _Parts:
        """For each of the lattice's `groups` of keys one number for their codes, each ``(c,)``."""
        return self._parts()

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """`count` as it is added up, which saves a conversion each time."""
        return self.count.astype(np.float64)

    @cached_property
    def codes(self) -> _Codes:
        """For each key the code of each class on its level, -1 where missing, each ``(c,)``."""
        widths = self.lattice.widths(self.levels)
        return tuple(
            (code - 1).astype(np.int32)
            for part, group in zip(self.parts, self.lattice.groups, strict=True)
            for code in _split(part, [widths[at] for at in group])
        )

    @cached_property
    def merged(self) -> NDArray[np.intp]:
        """For each class of the finest level the class it is part of here."""
        base, ladders = self.lattice.base, self.lattice.ladders
        columns = [
            ladder.codes[level][codes]
            for ladder, level, codes in zip(ladders, self.levels, base.codes, strict=True)
        ]
        return classes(columns, self.lattice.sizes(self.levels)).of

    @property
    def of(self) -> NDArray[np.intp]:
        """For each record its class, ``(n,)``."""
        return self.merged[self.lattice.keys.classes.of]


@dataclass(frozen=True, eq=False)
class Lattice:
    """Keys, and the levels that each can be shown on.

    Parameters
    ----------
    keys
        The records.
    ladders
        The levels of each key, in the order of the keys.

    Raises
    ------
    InputError
        There are too many combinations of levels.
    """

    keys: Keys
    ladders: Sequence[Ladder]
    _kept: list[Node] = field(default_factory=list[Node])

    def __post_init__(self) -> None:
        if prod(self.shape) > LARGEST:
            raise InputError(
                f"the levels of the keys have {prod(self.shape):,} combinations, more than "
                f"{LARGEST:,}; give fewer levels for some of them"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each key."""
        return tuple(ladder.height + 1 for ladder in self.ladders)

    def sizes(self, levels: Sequence[int]) -> list[int]:
        """Number of codes of each key on some levels."""
        return [ladder.sizes[g] for ladder, g in zip(self.ladders, levels, strict=True)]

    def widths(self, levels: Sequence[int]) -> list[int]:
        """The same with one more, the first, for missing values."""
        return [size + 1 for size in self.sizes(levels)]

    @cached_property
    def groups(self) -> list[list[int]]:
        """Positions of keys that follow each other, and whose codes are looked up together."""
        made: list[list[int]] = []
        size = 0
        for at, width in enumerate(self.widths((0,) * len(self.ladders))):
            if made and size * width <= _TABLE:
                made[-1].append(at)
                size *= width
            else:
                made.append([at])
                size = width
        return made

    @cached_property
    def base(self) -> Node:
        """All keys as they are."""
        found = self.keys.classes
        levels = (0,) * len(self.ladders)
        parts = self._together(found.codes, levels)
        return Node(self, levels, found.count, lambda: parts)

    def node(self, levels: tuple[int, ...]) -> Node:
        """The classes on some levels, put together from those of a finer node that is kept."""
        source = self._source(levels)
        if source.levels == levels:
            return source
        widths = self.widths(levels)
        if prod(widths) > _LARGEST_NUMBER:
            found = classes(
                [
                    up[codes]
                    for up, codes in zip(self._up(source, levels), source.codes, strict=True)
                ],
                self.sizes(levels),
            )
            count = np.bincount(found.of, weights=source.weight, minlength=len(found.count))
            parts = partial(self._together, found.codes, levels)
            made = Node(self, levels, count.astype(np.int64), parts)
        else:
            tables = self._tables(source, levels, widths)
            first, *others = zip(tables, source.parts, strict=True)
            number = first[0].take(first[1])
            for table, part in others:
                number += table.take(part)
            numbers, count = _counted(number, source.weight, prod(widths))
            spans = [prod(widths[at] for at in group) for group in self.groups]
            made = Node(self, levels, count, partial(_split, numbers, spans))
        self._keep(made, source)
        return made

    def _source(self, levels: tuple[int, ...]) -> Node:
        """The kept node with the fewest classes that none of the levels lies below."""
        finer = (
            n for n in self._kept if all(a <= b for a, b in zip(n.levels, levels, strict=True))
        )
        source = min(finer, key=lambda node: len(node.count), default=self.base)
        if source in self._kept:  # those that help stay longest
            self._kept.remove(source)
            self._kept.append(source)
        return source

    def _up(self, source: Node, levels: Sequence[int]) -> list[NDArray[np.int32]]:
        """For each key the codes on some levels of the codes of a finer node."""
        return [
            ladder.between(low, high)
            for ladder, low, high in zip(self.ladders, source.levels, levels, strict=True)
        ]

    def _tables(
        self, source: Node, levels: Sequence[int], widths: Sequence[int]
    ) -> list[NDArray[np.int64]]:
        """For each group, by its number in a finer node, what it adds to that of some levels."""
        up, stride = self._up(source, levels), prod(widths)
        made: list[NDArray[np.int64]] = []
        for group in self.groups:
            table = np.zeros(1, dtype=np.int64)
            for at in group:
                stride //= widths[at]
                # what becomes of a missing value stands last there, and comes first here
                own = (np.roll(up[at], 1).astype(np.int64) + 1) * stride
                table = (table[:, None] + own).ravel()
            made.append(table)
        return made

    def _together(self, codes: NDArray[np.int32], levels: Sequence[int]) -> _Parts:
        """For each group one number for the codes of classes, ``(c, m)``, on some levels."""
        widths = self.widths(levels)
        made: list[NDArray[np.intp]] = []
        for group in self.groups:
            number = np.zeros(len(codes), dtype=np.intp)
            for at in group:
                number = number * widths[at] + (codes[:, at] + 1)
            made.append(number)
        return tuple(made)

    def _keep(self, made: Node, source: Node) -> None:
        """Keep a node that saves work, and let go those that did not help for longest."""
        room = _ROOM * len(self.base.count)
        if 2 * len(made.count) > min(len(source.count), room):
            return
        self._kept.append(made)
        total = sum(len(node.count) for node in self._kept)
        while total > room or len(self._kept) > _KEPT:
            total -= len(self._kept.pop(0).count)


def _counted(
    number: NDArray[np.int64], weight: NDArray[np.float64], span: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct numbers in [0, span), ascending, and the records of each."""
    if span <= _DENSE * len(number) + 2**16:
        total = np.bincount(number, weights=weight)
        numbers = np.flatnonzero(total > 0).astype(np.int64, copy=False)
        return numbers, total.take(numbers).astype(np.int64)
    numbers, of = np.unique(number, return_inverse=True)
    return numbers, np.bincount(of, weights=weight).astype(np.int64)


def _split(numbers: NDArray[np.intp], widths: Sequence[int]) -> _Parts:
    """The digits that numbers are made of, by their widths."""
    found: list[NDArray[np.intp]] = []
    for width in reversed(widths[1:]):
        numbers, digit = np.divmod(numbers, width)
        found.append(digit)
    return (numbers, *reversed(found))
