"""What local suppression is asked for: conditions on keys, prices of values, groups apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.risk import Keys, classes, frequencies

#: Sets of keys are numbers of so many bits.
MOST_KEYS = 62
#: Of so many keys at most all sets can be tried.
LISTED_KEYS = 20
#: Importance decides between sets of values that cost the same, so it weighs little.
_LITTLE = 1e-4


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
                f"{len(self.keys.columns)} keys are too many for local suppression; name at most "
                f"{MOST_KEYS}, or use subsets= of fewer keys"
            )

    def listed(self, why: str) -> None:
        """Refuse more keys than all sets can be tried of.

        `why`: the arguments that need it.

        Raises
        ------
        InputError
            There are too many keys.
        """
        if len(self.keys.columns) > LISTED_KEYS:
            raise InputError(
                f"{len(self.keys.columns)} keys are too many for {why}, which tries all sets of "
                f"keys; name at most {LISTED_KEYS}, or leave it out"
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


def prices(
    names: Sequence[str],
    sizes: Sequence[int],
    importance: Sequence[str] | Mapping[str, float] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Collection[str] = (),
) -> NDArray[np.float64]:
    """The price of suppressing one value of each key, ``(m,)``.

    Parameters
    ----------
    names, sizes
        The keys, and how many distinct values each has.
    importance
        Keys from the most important to the least, or key → rank (1: most important); of
        solutions that cost the same, the one is taken that spares important keys. Keys that are
        not named are less important than those that are: the fewer distinct values, the more
        important, and of equal numbers the one that stands first in `names`.
    costs
        Key → cost of one value, above 0; inf: never suppressed. Keys that are not named cost 1.
    keep
        Keys that are never suppressed.

    Raises
    ------
    InputError
        A name is no key, a key has no rank, or a cost is not above 0.

    Examples
    --------
    >>> prices(["sex", "age"], [2, 90]).round(6).tolist()
    [1.0001, 1.00005]
    >>> prices(["sex", "age"], [2, 90], costs={"age": 3.0}, keep=["sex"]).round(6).tolist()
    [inf, 3.00015]
    """
    costs = dict(costs or {})
    for given, role in ((costs, "costs"), (keep, "keep"), (importance or (), "importance")):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise InputError(
                f"{role}= names {unknown[0]!r}, which is no key here; the keys are "
                f"{', '.join(map(repr, names))}"
            )
    wrong = [name for name, cost in costs.items() if not cost > 0]
    if wrong:
        raise InputError(
            f"a suppressed value of {wrong[0]!r} cannot cost {costs[wrong[0]]!r}; a cost is above 0"
        )
    cost = np.array([np.inf if name in keep else costs.get(name, 1.0) for name in names])
    rank = _ranks(names, sizes, importance)
    unit = cost[np.isfinite(cost)].min(initial=np.inf)
    made: NDArray[np.float64] = cost + (unit if np.isfinite(unit) else 0.0) * _LITTLE * (
        1 - (rank - 1) / len(names)
    )
    return made


def _ranks(
    names: Sequence[str],
    sizes: Sequence[int],
    importance: Sequence[str] | Mapping[str, float] | None,
) -> NDArray[np.float64]:
    """From 1, the most important; equal values have equal ranks."""
    named = list(importance or ())
    if len(named) > len(set(named)):
        raise InputError("importance= names a key twice; name each once")
    others = [name for _, name in sorted(zip(sizes, names, strict=True), key=lambda one: one[0])]
    others = [name for name in others if name not in named]
    ranks = importance if isinstance(importance, Mapping) else {n: i for i, n in enumerate(named)}
    last = max(ranks.values(), default=0.0)
    place = {**ranks, **{name: last + 1 + i for i, name in enumerate(others)}}
    value = np.array([float(place[name]) for name in names])
    return (np.unique(value, return_inverse=True)[1] + 1).astype(float)


def of_sets(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """The price of each set of keys, ``(2^m,)``; sets are numbers of bits."""
    total = np.zeros(1)
    for one in price:
        total = np.concatenate([total, total + one])
    return total
