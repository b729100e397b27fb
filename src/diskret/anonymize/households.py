"""Who lives together: records by household, and columns by which members are found again."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.risk import classes

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@dataclass(frozen=True, eq=False)
class Members:
    """Who lives with whom; h households of n records.

    Households are numbered by their names, not by the order of the records; where there is no
    household but an id, by that.
    """

    of: NDArray[np.intp]  # for each record its household, (n,)
    first: NDArray[np.intp]  # for each household the first row of a member, (h,)
    size: NDArray[np.int64]  # number of members, (h,)
    order: NDArray[np.intp]  # rows by household, (n,)

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


#: A column is one of households if in so many of those with several members all have one value.
_ALIKE = 0.9
#: Columns are looked at together if they have more values; nearly every household is unique in
#: enough columns of few values.
_MANY = 20
#: Columns together tell if they give back so many of the households with several members.
_GIVEN_BACK = 0.1
_TOGETHER = 3
#: Of more columns those with the most values are looked at together.
_MOST = 12


@dataclass(frozen=True)
class Told:
    """What columns tell of who lives together. Confidential."""

    names: tuple[str, ...]  # the columns
    #: households with several members of whom at least two show values that nobody outside has
    households: int
    several: int  # households with several members

    @property
    def name(self) -> str:
        """The columns in words."""
        return " + ".join(self.names)


def telling(md: Microdata, names: Iterable[str]) -> tuple[Told, ...]:
    """The columns of households by which some of them are found again, the worst first.

    A weight of the household, its income or its rent: where no other household has the same, the
    records that share it live together. Single columns come first, then two or three with many
    values each that give back a tenth of the households, and of which no fewer do.
    """
    if md.roles.household is None:
        return ()
    group = members(md)
    several = int((group.size > 1).sum())
    if not several:
        return ()
    of_homes = [one for name in names if (one := _of_homes(md, name, group)) is not None]
    alone = [Told((one.name,), _found_again(one.code, group), several) for one in of_homes]
    many = sorted(of_homes, key=lambda one: (-one.values, one.name))[:_MOST]
    many = [one for one in many if one.values > _MANY]
    enough = _GIVEN_BACK * several
    telling_ = [{*one.names} for one in alone if one.households >= enough]
    joint: list[Told] = []
    for size in range(2, _TOGETHER + 1):
        for chosen in combinations(many, size):
            own = {one.name for one in chosen}
            if any(fewer <= own for fewer in telling_):
                continue
            code = _joined([one.code for one in chosen])
            found = Told(tuple(one.name for one in chosen), _found_again(code, group), several)
            if found.households >= enough:
                joint.append(found)
        telling_ += [{*one.names} for one in joint]
    there = [one for one in alone if one.households]
    return tuple(
        worst for part in (there, joint) for worst in sorted(part, key=lambda one: -one.households)
    )


@dataclass(frozen=True, eq=False)
class _OfHomes:
    """A column that nearly all households share: its values as numbers, -1 if missing."""

    name: str
    code: NDArray[np.int32]
    values: int


def _of_homes(md: Microdata, name: str, group: Members) -> _OfHomes | None:
    values = md.table_column(name)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    known = pc.unique(values.drop_null())
    code = pc.fill_null(pc.index_in(values, value_set=known), -1).to_numpy().astype(np.int32)
    pairs = classes([code, group.of.astype(np.int32)], [len(known), len(group.size)])
    value, home = pairs.codes.T
    several = group.size > 1
    alike = int(((pairs.count == group.size[home]) & (value >= 0) & several[home]).sum())
    return None if alike < _ALIKE * several.sum() else _OfHomes(name, code, len(known))


def _joined(codes: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Combinations of values as numbers, -1 if one is missing."""
    found = classes(list(codes), [int(code.max(initial=0)) + 1 for code in codes])
    missing = np.stack(codes).min(axis=0) < 0
    return np.where(missing, -1, found.of).astype(np.int32)


def _found_again(code: NDArray[np.int32], group: Members) -> int:
    """Households two members of which share a value that nobody outside has."""
    width = int(code.max(initial=0)) + 1
    pairs = classes([code, group.of.astype(np.int32)], [width, len(group.size)])
    value, home = pairs.codes.T
    homes = np.bincount(value[value >= 0], minlength=width)  # that have the value
    alone = (value >= 0) & (pairs.count > 1)
    alone[alone] = homes[value[alone]] == 1
    return len(np.unique(home[alone]))
