"""Records put together by household, and what is the same for all its members."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@dataclass(frozen=True, eq=False)
class Members:
    """Who lives with whom; h households of n records.

    Households are numbered by their names, not by the order of the records; where there is no
    household but an id, by that.

    of: for each record its household, ``(n,)``.
    first: for each household the first row of a member, ``(h,)``.
    size: number of members, ``(h,)``.
    order: rows by household, ``(n,)``.
    """

    of: NDArray[np.intp]
    first: NDArray[np.intp]
    size: NDArray[np.int64]
    order: NDArray[np.intp]

    @property
    def number(self) -> int:
        """Of households."""
        return len(self.first)

    def least(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of values of the records the smallest of each household, ``(h,)``."""
        return np.minimum.reduceat(values[self.order], self._start)

    def largest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of values of the records the largest of each household, ``(h,)``."""
        return np.maximum.reduceat(values[self.order], self._start)

    @property
    def _start(self) -> NDArray[np.int64]:
        return np.cumsum(self.size) - self.size


def members(md: Microdata) -> Members:
    """The households of microdata; a record that names none is a household of its own."""
    of = _numbers(md)
    order = np.argsort(of, kind="stable")
    size = np.bincount(of)
    return Members(of, order[np.cumsum(size) - size], size, order)


def _numbers(md: Microdata) -> NDArray[np.intp]:
    if md.roles.household is not None:
        named = md.coded(md.roles.household)
        of, alone = named.codes.astype(np.intp), named.codes < 0
        of[alone] = len(named.categories) + np.arange(alone.sum())
        return of
    if md.roles.id is not None:
        numbers = md.coded(md.roles.id)
        if len(numbers.categories) == md.n:
            return numbers.codes.astype(np.intp)
    return np.arange(md.n)


def check_alike(md: Microdata, name: str, codes: NDArray[Any], where: str, group: Members) -> None:
    """Refuse a variable, a number for each record, that differs between members of a household."""
    differs = codes != codes[group.first[group.of]]
    if not differs.any():
        return
    row = int(differs.argmax())
    first = int(group.first[group.of[row]])
    values = md.table_column(name)
    home = md.table_column(md.roles.household or "")[row]
    wrong = len(np.unique(group.of[differs]))
    raise InputError(
        f"{where} names {name!r}, which differs between members of {wrong:,} of {group.number:,} "
        f"households: in household {home} it is {values[first]} in row {first + 1} and "
        f"{values[row]} in row {row + 1}; households move whole, so name only variables that are "
        "the same for all members (the size of the household, not an age)"
    )
