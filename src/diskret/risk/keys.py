"""Combinations of keys: who shares them, and sums over these, whatever the order of records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import Coded
from diskret.io.columns import some

#: Up to so many possible combinations for each record a table of all is quicker than sorting.
_DENSE = 8
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Keys:
    """The key variables of all records."""

    #: one coded variable for each key, all of the same length n; m of them
    columns: tuple[Coded, ...]

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.columns[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the keys."""
        return tuple(column.name for column in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of categories of each key."""
        return tuple(len(column.categories) for column in self.columns)

    def select(self, names: Sequence[str]) -> Keys:
        """Some of the keys, in the order asked for."""
        at = {column.name: column for column in self.columns}
        return Keys(tuple(at[name] for name in names))

    @cached_property
    def classes(self) -> Classes:
        """Records that agree in all keys; a missing value counts as a category of its own."""
        return classes([column.codes for column in self.columns], self.sizes)


@dataclass(frozen=True, eq=False)
class Classes:
    """Records put together by what they show in all keys.

    The order of classes is that of their codes, whatever the order of the records.
    """

    of: NDArray[np.intp]  # for each record its class, (n,)
    codes: NDArray[np.int32]  # for each class its codes, -1 where missing, (c, m); rows ascend
    count: NDArray[np.int64]  # number of records, (c,)

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of values of the records, ``(n,)``, in each class, ``(c,)``, in any order of them."""
        return sums(self.of, values, len(self.count))


def classes(codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> Classes:
    """Group records by several codes at once; -1 (missing) is a category like others.

    `codes`: for each of m variables the codes of all records, -1 … size - 1, each ``(n,)``.
    `sizes`: number of codes of each variable.

    >>> sex, age = np.array([0, 1, 0, 0], np.int32), np.array([2, 0, 2, -1], np.int32)
    >>> made = classes([sex, age], [2, 3])
    >>> made.of.tolist(), made.count.tolist(), made.codes.tolist()
    ([1, 2, 1, 0], [1, 2, 1], [[0, -1], [0, 2], [1, 0]])
    """
    number, span, part, numbered = _mixed(codes, sizes)
    found, of = _numbered(number, span)
    rows = np.arange(len(found))
    columns: list[NDArray[np.int64]] = []
    while True:
        value = found[rows]
        for width in reversed(part):
            columns.append(value % width - 1)
            value = value // width
        if not numbered:
            break
        rows, (found, part) = value, numbered.pop()
    table = np.stack(columns[::-1], axis=1).astype(np.int32)
    return Classes(of, table, np.bincount(of, minlength=len(table)).astype(np.int64))


def grouped(
    codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[NDArray[np.intp], int]:
    """The classes of records and their number, where nobody asks for the codes of a class."""
    number, span, _, _ = _mixed(codes, sizes)
    found, of = _numbered(number, span)
    return of, len(found)


def _mixed(
    codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], int, list[int], list[tuple[NDArray[np.int64], list[int]]]]:
    """One number for all codes of a record, in a mixed radix; how to read it again.

    Returns the numbers, which lie in [0, span), span, the widths of the last digits, and where
    numbers had to be numbered anew on the way: the distinct ones, and the widths before.
    """
    widths = [size + 1 for size in sizes]
    number = np.zeros(len(codes[0]), dtype=np.int64)
    span = 1  # numbers so far lie in [0, span)
    numbered: list[tuple[NDArray[np.int64], list[int]]] = []
    part: list[int] = []
    for column, width in zip(codes, widths, strict=True):
        if span * width > _LARGEST:
            found, number = np.unique(number, return_inverse=True)
            numbered.append((found, part))
            span, part = len(found), []
        number = number * width + (column + 1)
        span *= width
        part.append(width)
    return number, span, part, numbered


def _numbered(number: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Distinct numbers, ascending, and for each record which of them it has."""
    if span > _DENSE * len(number) + 2**16:
        found, of = np.unique(number, return_inverse=True)
        return found, of.astype(np.intp)
    there = np.zeros(span, dtype=bool)
    there[number] = True
    found = np.flatnonzero(there)
    rank = np.empty(span, dtype=np.intp)
    rank[found] = np.arange(len(found))
    return found, rank[number]


def check_keys(given: Iterable[str], keys: Sequence[str], parameter: str) -> None:
    """Refuse names that are none of the keys."""
    unknown = [name for name in given if name not in keys]
    if unknown:
        raise InputError(
            f"{parameter}= names {some('column', unknown)}, which is no key; the keys are "
            f"{', '.join(map(repr, keys)) or 'none'}"
        )


def possible(sizes: Sequence[int]) -> int:
    """Number of combinations that the categories allow."""
    return prod(sizes)


def sums(of: NDArray[np.intp], values: NDArray[np.float64], groups: int = 1) -> NDArray[np.float64]:
    """Sum of values by group, the same to the last digit in whatever order they come.

    Every value is cut into a multiple of a power of two so large that all sums of such multiples
    are exact, and a rest. The rests are so small that their sums are exact too, unless values
    differ in size by more than a billion or so; only the two sums are rounded, once.

    `of`: group of each value, 0 … groups - 1, ``(n,)``. `values`: finite numbers, ``(n,)``.
    `groups`: number of groups.
    """
    _, exponent = np.frexp(np.abs(values).sum())
    unit = np.ldexp(1.0, int(exponent) - 51)
    coarse = np.rint(values / unit) * unit
    rest = values - coarse
    made = np.bincount(of, weights=coarse, minlength=groups) + np.bincount(
        of, weights=rest, minlength=groups
    )
    return made.astype(np.float64, copy=False)


def total(values: NDArray[np.float64]) -> float:
    """The sum of all values, the same in whatever order they come."""
    return float(sums(np.zeros(len(values), dtype=np.intp), values)[0])
