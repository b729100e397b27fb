"""What ties tables to each other: the same records under the same measure, or a sum of measures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from diskret.errors import InputError
from diskret.graphs import connected
from diskret.io.names import canonical
from diskret.population import Population


@dataclass(frozen=True)
class MeasureSum:
    """A measure that is the sum of others in every cell, e.g. revenue = domestic + export.

    >>> MeasureSum.read("revenue = domestic + export")
    MeasureSum(total='revenue', parts=('domestic', 'export'))
    """

    total: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.total} = {' + '.join(self.parts)}"

    @classmethod
    def read(cls, text: str) -> MeasureSum:
        """From text such as ``"revenue = domestic + export"``."""
        total, equals, right = (part.strip() for part in text.partition("="))
        parts = tuple(part.strip() for part in re.split(r"\s\+\s", right))
        if not equals or not total or not all(parts) or len({total, *parts}) < 1 + len(parts):
            raise InputError(
                f"{text!r} is no sum of measures; write it like 'revenue = domestic + export', "
                "each measure once and blanks around +"
            )
        return cls(total, parts)


class About(NamedTuple):
    """What a table is about: measure, period and revision, and population."""

    measure: str
    vintage: str
    where: Population

    def shares_records(self, other: About) -> bool:
        """Whether a record can be in both tables, whatever is measured of it."""
        return self.vintage == other.vintage and self.where.overlaps(other.where)

    def shares_cells(self, other: About) -> bool:
        """Whether a cell can stand in both."""
        return self.measure == other.measure and self.shares_records(other)

    def of_another_period(self, other: About) -> bool:
        """Whether both are of one measure, however it is spelled, and of two vintages."""
        same = canonical(self.measure) == canonical(other.measure)
        return same and self.vintage != other.vintage and self.where.overlaps(other.where)


class Named(Protocol):
    """A table, or what a ledger notes of it, with the names by which it is tied to others."""

    @property
    def about(self) -> About:
        """What it is about."""
        ...

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the classifying variables."""
        ...


def refuse_two_spellings(new: Sequence[Named], before: Sequence[Named] = ()) -> None:
    """Refuse tables of common records of which two spell a measure, variable or period in two ways.

    Tables are tied by these names: where one says `Turnover` and another `turnover`, what the one
    hides could be computed from the other.

    Parameters
    ----------
    new
        Tables that are compared with each other and with all others.
    before
        Tables that are out already.

    Raises
    ------
    InputError
        Names differ in case, blanks around them or composed letters only.
    """
    for i, one in enumerate(new):
        for other in (*new[:i], *before):
            alike = canonical(one.about.vintage) == canonical(other.about.vintage)
            if not alike or not one.about.where.overlaps(other.about.where):
                continue
            for name, its in _two_spellings(one, other):
                raise InputError(
                    f"two tables of common records say {name!r} and {its!r}, one name in two "
                    "spellings. Tables are tied by names, so what the one hides the other could "
                    "show; spell it alike, as earlier releases do"
                )


def _two_spellings(one: Named, other: Named) -> Iterator[tuple[str, str]]:
    """The spellings of each name that two tables spell differently."""
    variables = ([*named.variables, *named.about.where.asked] for named in (one, other))
    for names, others in (
        ([one.about.measure], [other.about.measure]),
        ([one.about.vintage], [other.about.vintage]),
        tuple(variables),
    ):
        spelled = {canonical(name): name for name in others}
        for name in names:
            its_own = spelled.get(canonical(name), name)
            if name not in others and its_own not in names:
                yield name, its_own


def tied(one: About, other: About, sums: Sequence[MeasureSum] = ()) -> bool:
    """Whether an equation can hold between the cells of two tables.

    They are tied by a common measure and vintage if a record can be in both, or by a sum of
    their measures.

    >>> small, large = (Population.of({"staff": staff}) for staff in ({"max": 9}, {"min": 10}))
    >>> tied(About("sales", "2025", small), About("sales", "2025", Population()))
    True
    >>> tied(About("sales", "2025", small), About("sales", "2025", large))
    False
    """
    if one.shares_cells(other):
        return True
    measures = {one.measure, other.measure}
    return one.vintage == other.vintage and any(measures <= {s.total, *s.parts} for s in sums)


def tied_pairs(tables: Sequence[About], sums: Sequence[MeasureSum] = ()) -> list[tuple[int, int]]:
    """Positions of the tables that are tied to each other, the earlier position first."""
    return [
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(tables), 2)
        if tied(one, other, sums)
    ]


def tied_groups(number: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Groups of things that pairs tie together, directly or through others."""
    ends = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    graph = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(number, number))
    label = connected(graph)
    return [np.flatnonzero(label == group).tolist() for group in np.unique(label)]


def tied_to(
    new: Sequence[About], others: Sequence[About], sums: Sequence[MeasureSum] = ()
) -> list[int]:
    """Positions of the other tables that are tied to new ones, directly or through each other."""
    found: set[int] = set()
    waiting = list(new)
    while waiting:
        one = waiting.pop()
        for at, other in enumerate(others):
            if at not in found and tied(one, other, sums):
                found.add(at)
                waiting.append(other)
    return sorted(found)
