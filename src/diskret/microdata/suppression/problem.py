"""What local suppression is asked for: conditions on keys, prices of values, groups apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.risk import Keys, classes, frequencies

#: Sets of keys are numbers of so many bits.
MOST_KEYS = 20


@dataclass(frozen=True, eq=False)
class Condition:
    """Each record agrees with enough records in some of the keys.

    Parameters
    ----------
    of
        Positions of these keys.
    least
        How many records each record agrees with at least, itself included, ``(n,)``, int64.
    """

    of: tuple[int, ...]
    least: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Which values may be suppressed, what that costs, and what has to hold afterwards.

    Parameters
    ----------
    keys
        The keys; values that are missing already agree with every value.
    conditions
        What each record needs.
    price
        Of a suppressed value of each key, ``(m,)``, above 0; inf: never suppressed.
    group
        Number of the stratum of each record, ``(n,)``; records agree within it only.

    Raises
    ------
    InputError
        There are too many keys.
    """

    keys: Keys
    conditions: tuple[Condition, ...]
    price: NDArray[np.float64]
    group: NDArray[np.int64]

    def __post_init__(self) -> None:
        if len(self.keys.columns) > MOST_KEYS:
            raise InputError(
                f"{len(self.keys.columns)} keys are too many for local suppression, which tries "
                f"sets of them; name at most {MOST_KEYS}, or use subsets= of fewer keys"
            )

    @cached_property
    def items(self) -> Items:
        """Records that agree in everything that matters, put together."""
        codes = [column.codes for column in self.keys.columns]
        sizes = list(self.keys.sizes)
        levels = [np.unique(one.least, return_inverse=True) for one in self.conditions]
        extra = [self.group.astype(np.int32), *(at.astype(np.int32) for _, at in levels)]
        widths = [int(self.group.max()) + 1, *(len(found) for found, _ in levels)]
        found = classes([*extra, *codes], [*widths, *sizes])
        before = len(extra)
        need = [least[found.codes[:, 1 + i]] for i, (least, _) in enumerate(levels)]
        return Items(
            of=found.of,
            codes=np.ascontiguousarray(found.codes[:, before:]),
            count=found.count,
            group=found.codes[:, 0].astype(np.int64),
            need=np.array(need, dtype=np.int64).reshape(len(levels), -1),
        )


@dataclass(frozen=True, eq=False)
class Items:
    """Records that share group, keys and needs; their order is that of their codes.

    Parameters
    ----------
    of
        For each record its item, ``(n,)``.
    codes
        Their codes, -1 where missing, ``(c, m)``, int32.
    count
        Number of records, ``(c,)``.
    group
        Their stratum, ``(c,)``; ascends.
    need
        For each condition how many records they have to agree with, ``(t, c)``.
    """

    of: NDArray[np.intp]
    codes: NDArray[np.int32]
    count: NDArray[np.int64]
    group: NDArray[np.int64]
    need: NDArray[np.int64]

    def keys(self, of: Sequence[int]) -> Keys:
        """Some of the keys of the items, and the group as one more."""
        columns = [self.group.astype(np.int32), *(self.codes[:, q] for q in of)]
        sizes = [int(column.max(initial=-1)) + 1 for column in columns]
        return Keys(
            tuple(
                Coded(str(i), pa.nulls(size), column)
                for i, (column, size) in enumerate(zip(columns, sizes, strict=True))
            )
        )

    def agreeing(self, of: Sequence[int]) -> NDArray[np.float64]:
        """How many records agree with each item in some of the keys, itself included, ``(c,)``."""
        return frequencies(self.keys(of), weights=self.count.astype(float)).population

    def part(self, at: slice) -> Items:
        """Some of the items; `of` stays that of all."""
        return Items(self.of, self.codes[at], self.count[at], self.group[at], self.need[:, at])
