"""All combinations of levels of several keys, and the classes that each makes of the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.microdata.ladder import Ladder
from diskret.risk import Keys, classes

#: Combinations of levels that can be searched.
LARGEST = 5_000_000
#: Nodes that are kept for later, and their classes as a multiple of those of the finest level.
_KEPT, _ROOM = 256, 8


@dataclass(frozen=True, eq=False)
class Node:
    """One combination of levels, and the classes of records that agree there in all keys.

    Parameters
    ----------
    lattice
        What it belongs to.
    levels
        One for each key.
    codes
        For each key the code of each class on its level, -1 where missing, each ``(c,)``.
    count
        Number of records of each class, ``(c,)``, int64.
    """

    lattice: Lattice
    levels: tuple[int, ...]
    codes: tuple[NDArray[np.int32], ...]
    count: NDArray[np.int64]

    @cached_property
    def merged(self) -> NDArray[np.intp]:
        """For each class of the finest level the class it is part of here."""
        base, ladders = self.lattice.base, self.lattice.ladders
        columns = [
            ladder.codes[level][codes]
            for ladder, level, codes in zip(ladders, self.levels, base.codes, strict=True)
        ]
        sizes = [ladder.sizes[g] for ladder, g in zip(ladders, self.levels, strict=True)]
        return classes(columns, sizes).of

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

    @cached_property
    def base(self) -> Node:
        """All keys as they are."""
        found = self.keys.classes
        codes = tuple(np.ascontiguousarray(column) for column in found.codes.T)
        return Node(self, (0,) * len(codes), codes, found.count)

    def node(self, levels: tuple[int, ...]) -> Node:
        """The classes on some levels, put together from those of a finer node that is kept."""
        finer = (
            n for n in self._kept if all(a <= b for a, b in zip(n.levels, levels, strict=True))
        )
        source = min(finer, key=lambda node: len(node.count), default=self.base)
        if source.levels == levels:
            return source
        columns = [
            codes if low == high else ladder.between(low, high)[codes]
            for ladder, codes, low, high in zip(
                self.ladders, source.codes, source.levels, levels, strict=True
            )
        ]
        sizes = [ladder.sizes[g] for ladder, g in zip(self.ladders, levels, strict=True)]
        found = classes(columns, sizes)
        count = np.bincount(found.of, weights=source.count, minlength=len(found.count))
        codes = tuple(np.ascontiguousarray(column) for column in found.codes.T)
        made = Node(self, levels, codes, count.astype(np.int64))
        room = _ROOM * len(self.base.count) - sum(len(node.count) for node in self._kept)
        if len(self._kept) < _KEPT and len(made.count) < room:
            self._kept.append(made)
        return made
