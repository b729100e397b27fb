"""How uncertain a sum must stay for contributors who know what is theirs.

Each rule that judges unions says so itself, by a method ``for_insiders(left, unsafe)`` that gives
the level, 0 or less where it asks for nothing. Definitions are on the page about contributors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.rules.apriori import Apriori
from diskret.rules.sensitivity import Rule, everything_in, parts
from diskret.rules.shadow import Shadow, more_decimals, share_of
from diskret.rules.unions import rules_for_unions
from diskret.rules.varying import Varying
from diskret.tables import Table
from diskret.tables.shares import Shares, shares


@dataclass(frozen=True, eq=False)
class Left:
    """What some contributors S leave over in cells or sums, one entry a question, ``(q,)``.

    Parameters
    ----------
    largest
        The largest |contribution| of somebody else who has not consented to publication.
    rest
        Σ|contribution| of all others outside S.
    inside
        Σ|contribution| of S.
    members
        How many of S contribute.
    top
        The largest |contributions| outside S, descending, ``(q, k)``.
    asked
        Whether somebody outside S asked for protection.
    frequency
        Whether values are counts.
    decimals
        Of the scaled integers above.
    """

    largest: NDArray[np.int64]
    rest: NDArray[np.int64]
    inside: NDArray[np.int64]
    members: NDArray[np.int64]
    top: NDArray[np.int64]
    asked: NDArray[np.bool_]
    frequency: bool
    decimals: int

    def times(self, factor: int, decimals: int) -> Left:
        """The same in more decimals."""
        return replace(
            self,
            largest=self.largest * factor,
            rest=self.rest * factor,
            inside=self.inside * factor,
            top=self.top * factor,
            decimals=decimals,
        )


@dataclass(frozen=True, eq=False)
class Known:
    """Shares of sets of cells, prepared for questions about what is left without some contributors.

    `kept`: how many of the largest outside S are told.
    """

    shares: Shares
    frequency: bool
    decimals: int
    kept: int

    def left(self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]) -> Left:
        """What contributors leave over in sets `at`, ``(q,)``; `who`, where `used`: ``(q, m)``."""
        own, size = self.shares, np.abs(self.shares.value)
        entry, there = self.entries(at, who, used)
        inside = added(size, entry, there)
        number = who.shape[1]
        top = self._outside(self._order, at, entry, there, number + self.kept)[:, : self.kept]
        largest = self._outside(self._protected, at, entry, there, number + 1)[:, :1]
        asked = np.bincount(own.at[own.asked], minlength=len(own.size))[at]
        return Left(
            largest.sum(axis=1),
            own.size[at] - inside - largest.sum(axis=1),
            inside,
            there.sum(axis=1),
            top,
            asked > added(own.asked, entry, there),
            self.frequency,
            self.decimals,
        )

    def open(
        self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Where somebody contributes who is none of these and has not consented."""
        own = self.shares
        entry, there = self.entries(at, who, used)
        listed = np.bincount(own.at, minlength=len(own.size))
        unlisted = np.where(own.number < 0, 0, own.number - listed)
        known = np.bincount(own.at[own.protected], minlength=len(own.size))
        mine = added(own.protected, entry, there)
        return (known[at] > mine) | (unlisted[at] > 0) | (own.number[at] < 0)

    def entries(
        self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The entry of each contributor in its set, and whether there is one, ``(q, m)``."""
        names, key = self._names
        if not len(key):
            return np.zeros(who.shape, dtype=np.int64), np.zeros(who.shape, dtype=bool)
        place = np.minimum(np.searchsorted(names, who), len(names) - 1)
        wanted = at[:, None] * len(names) + place
        entry = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return entry, used & (names[place] == who) & (key[entry] == wanted)

    @cached_property
    def _names(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        names, number = np.unique(self.shares.who, return_inverse=True)
        return names, self.shares.at * len(names) + number

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.lexsort((-np.abs(self.shares.value), self.shares.at))

    @cached_property
    def _protected(self) -> NDArray[np.int64]:
        order = self._order
        return order[self.shares.protected[order]]

    def _outside(
        self,
        order: NDArray[np.int64],
        at: NDArray[np.int64],
        entry: NDArray[np.int64],
        there: NDArray[np.bool_],
        number: int,
    ) -> NDArray[np.int64]:
        """The largest of an order of entries that are none of these, ``(q, number)``."""
        own = self.shares
        start = np.searchsorted(own.at[order], np.arange(len(own.size) + 1))
        position = start[at][:, None] + np.arange(number)
        inside = position < start[at + 1][:, None]
        if not len(order):
            return np.zeros((len(at), number), dtype=np.int64)
        chosen = order[np.minimum(position, len(order) - 1)]
        mine = ((chosen[:, :, None] == entry[:, None, :]) & there[:, None, :]).any(axis=2)
        size = np.where(inside & ~mine, np.abs(own.value[chosen]), 0)
        return -np.sort(-size, axis=1)


def added(
    values: NDArray[np.int64] | NDArray[np.bool_],
    entry: NDArray[np.int64],
    there: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """The sum of what the entries of each question have that are there, ``(q,)``; see `entries`."""
    found = np.zeros(there.shape, dtype=np.int64)
    found[there] = values[entry[there]]  # there may be no entries at all
    return found.sum(axis=1)


@dataclass(frozen=True, eq=False)
class Judged:
    """One rule, what it finds unsafe, where it holds, and what it looks at."""

    rule: Any
    unsafe: NDArray[np.bool_]
    held: NDArray[np.bool_]
    known: Known
    scale: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def level(
        self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The level that the rule asks for, 0 where it asks for nothing."""
        return np.where(self.held[at], self._level(at, who, used), 0)

    def _level(
        self, at: NDArray[np.int64], who: NDArray[np.uint64], used: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """The same as if the rule held everywhere."""
        left = self.known.left(at, who, used)
        if self.scale is None:
            return np.maximum(self.rule.for_insiders(left, self.unsafe[at]), 0)
        of, size = self.scale
        more = more_decimals(self.known.shares.size)
        factor = 10**more
        finer = left.times(factor, left.decimals + more)
        found = np.maximum(self.rule.for_insiders(finer, self.unsafe[at]), 0)
        shown = share_of(found, of[at] * factor, size[at])
        return np.where(found > 0, np.maximum(shown, 1), 0)


def judged_by(rule: Rule, table: Table, unions: Table, member: Any, place: int = 0) -> list[Judged]:
    """Each rule that judges unions, with its verdict and the contributors it looks at.

    `rule`: as it judges against this coalition (`diskret.rules.unions.against`). `unions`: the sets
    as `union_table` makes them; `member`, `place`: as for `shares`.
    """
    own = shares(table, member, place)
    found: list[Judged] = []
    for inner, unsafe, held, shadow in for_insiders(rule, unions):
        kept = max(1, inner.largest)
        if shadow:
            theirs = shares(table, member, place, shadow)
            decimals = next(m.decimals for m in table.measures if m.name == shadow)
            known = Known(theirs, False, decimals, kept)
            found.append(Judged(inner, unsafe, held, known, (theirs.size, own.size)))
        else:
            known = Known(own, table.frequency, table.measure.decimals, kept)
            found.append(Judged(inner, unsafe, held, known))
    return found


def for_insiders(
    rule: Rule, unions: Table
) -> Iterator[tuple[Any, NDArray[np.bool_], NDArray[np.bool_], str]]:
    """Each rule that says what contributors must not learn of unions, and where it says so.

    Yields the rule without what stands around it, the unions that it finds unsafe and those for
    which it holds, ``(unions,)``, and the shadow that it looks at, "" for none.
    """
    for one in rules_for_unions(rule)[0]:
        inner: Any = one
        held, shadow = np.ones(unions.shape, dtype=bool), ""
        while isinstance(inner, Shadow | Varying):
            if isinstance(inner, Shadow):
                shadow = inner.variable
            else:
                held = held & inner.held(unions)
            inner = inner.rules_inside[0]
        if hasattr(inner, "for_insiders"):
            yield inner, one(unions).unsafe.ravel()[1:], held.ravel()[1:], shadow


def largest_coalition(rule: Rule, coalition: int) -> int:
    """The larger of the attacker's coalition and those that rules name.

    >>> from diskret.rules import MinimumFrequency, PPercent
    >>> largest_coalition(PPercent(5, coalition=2) | MinimumFrequency(3), 1)
    2
    """
    named = [getattr(one, "coalition", 1) for one in everything_in(rule)]
    return max(coalition, *named)


def by_hand(rule: Rule, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Lower and upper levels that were set by hand, flat; None if there are none."""
    lists = [part(table) for part in parts(rule) if isinstance(part, Apriori)]
    if not lists:
        return None
    lower = np.max([one.lower for one in lists], axis=0)
    upper = np.max([one.upper for one in lists], axis=0)
    return lower.ravel(), upper.ravel()
