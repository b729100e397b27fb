"""Several periods of statistics by old and new areas: what each tells, and what to hide in all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.io.columns import code_text, column, once
from diskret.rules import Rule
from diskret.spatial.choice import Choice
from diskret.spatial.differences import differences_of
from diskret.spatial.limits import judging
from diskret.spatial.pieces import (
    Pieces,
    areas_of,
    check_two,
    hidden_of,
    in_period,
    no_geography,
    numbered,
    read_records,
)
from diskret.spatial.repair import Repair, hidden_together, named_areas
from diskret.spatial.told import Differences, named
from diskret.texts import words_in


@dataclass(frozen=True)
class PeriodRepair:
    """Areas to hide in each period, and what is told when they are hidden. Confidential.

    Parameters
    ----------
    periods
        Period → what to hide in it, and what is left.
    same
        Whether the same areas are hidden in all periods.
    bound
        No fewer areas are enough; of all periods together where each has its own.
    """

    periods: Mapping[str, Repair]
    same: bool
    bound: int

    @property
    def hidden(self) -> dict[str, tuple[str, ...]]:
        """Geography → areas that are hidden in one period or more."""
        found = dict[str, set[str]]()
        for one in self.periods.values():
            for name, codes in one.hidden.items():
                found.setdefault(name, set()).update(codes)
        return {name: tuple(sorted(codes)) for name, codes in found.items()}

    @property
    def number(self) -> int:
        """How many areas are hidden, over all periods where each has its own."""
        if self.same:
            return sum(map(len, self.hidden.values()))
        return sum(one.number for one in self.periods.values())

    @property
    def fewest(self) -> bool:
        """Whether no fewer areas are enough."""
        return self.number <= self.bound

    def __str__(self) -> str:
        return self.summary()

    def summary(self, language: str = "en") -> str:
        """What to hide, whether it is the least, and what is claimed, in ``"en"`` or ``"de"``."""
        words = words_in(language, "spatial")
        terms = [(name, code, 1.0) for name, own in self.hidden.items() for code in own]
        how = "same" if self.same else "own"
        areas = named(words, terms)
        hide = words.said(f"periods.{how}", number=self.number, periods=len(self.periods))
        bound = "fewest" if self.fewest else "at least"
        proof = words.said(f"bounds.{bound}", bound=self.bound)
        claims = dict.fromkeys(
            sentence for one in self.periods.values() for sentence in one.left.claim(language)
        )
        return "\n".join([f"{hide}: {areas}".rstrip(" :") + f". {proof}", *claims])


def differences_by_period(
    records: Any,
    by: Sequence[str],
    rule: Rule,
    *,
    period: str,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Differences]:
    """Find what totals by several geographies tell in each period.

    Old and new boundaries stay, persons and firms change: what the series of both tell together has
    to be looked at in each period, among its records.

    Parameters
    ----------
    records, by, rule, count, value, unit, decimals, hidden
        As for [`differences`][diskret.spatial.differences]; `hidden` of all periods.
    period
        Column of periods.

    Returns
    -------
    told
        Period → what is unsafe in it, in the order of their codes.

    Raises
    ------
    InputError
        As of `differences`.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> reform = pa.table(
    ...     {
    ...         "year": ["2024"] * 3 + ["2025"] * 3,
    ...         "1990": ["A", "A", "B"] * 2,
    ...         "2020": ["A", "B", "B"] * 2,
    ...         "persons": [97, 3, 50, 95, 6, 52],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> by = ["1990", "2020"]
    >>> found = dk.spatial.differences_by_period(
    ...     reform, by, few, period="year", count="persons"
    ... )
    >>> {year: len(told) for year, told in found.items()}
    {'2024': 1, '2025': 0}
    """
    threshold, limits = judging(rule, value is not None)
    maps = _maps(records, once(by, "by"), period, count, value, unit, decimals)
    told = dict[str, Differences]()
    for name, pieces in maps.items():
        seen = pieces.hiding(hidden_of(pieces, hidden))[0] if hidden else pieces
        told[name] = differences_of(seen, threshold, limits, value is not None)
    return told


def repair_by_period(
    records: Any,
    by: Sequence[str],
    rule: Rule,
    *,
    period: str,
    same: bool = True,
    new: Collection[str] | None = None,
    count: str | None = None,
    value: str | None = None,
    unit: str | None = None,
    decimals: int = 0,
    hidden: Mapping[str, Collection[str]] | None = None,
) -> PeriodRepair:
    """Find the fewest areas to hide so that nothing unsafe can be computed in any period.

    The same areas are hidden in all periods, so that a series has no gaps of its own, or each
    period hides the fewest. What all periods ask for is one programme in whole numbers, see
    [`repair`][diskret.spatial.repair].

    Parameters
    ----------
    records, by, rule, new, count, value, unit, decimals, hidden
        As for [`repair`][diskret.spatial.repair]; `hidden` in all periods.
    period
        Column of periods.
    same
        Whether the same areas are hidden in all periods.

    Returns
    -------
    PeriodRepair
        What to hide in each period, whether it is the least, and the searches that found nothing.

    Raises
    ------
    InputError
        As of `repair`.
    ProtectionError
        No areas can be hidden that keep an unsafe sum secret; it is named.
    ProofError
        The search was ended before all was tried.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> reform = pa.table(
    ...     {
    ...         "year": ["2024"] * 4 + ["2025"] * 4,
    ...         "1990": ["A", "A", "B", "C"] * 2,
    ...         "2020": ["A", "B", "B", "C"] * 2,
    ...         "persons": [97, 3, 50, 20, 95, 6, 52, 20],
    ...     }
    ... )
    >>> few = dk.rules.MinimumFrequency(4)
    >>> made = dk.spatial.repair_by_period(
    ...     reform, ["1990", "2020"], few, period="year", new=["2020"], count="persons"
    ... )
    >>> made.hidden, made.fewest
    ({'2020': ('A', 'B')}, True)
    """
    names = once(by, "by")
    open_ = names if new is None else once(new, "new")
    wrong = [name for name in open_ if name not in names]
    if wrong:
        raise no_geography("new=", wrong[0])
    threshold, limits = judging(rule, value is not None)
    maps = _maps(records, names, period, count, value, unit, decimals)
    may = [name in open_ for name in names]
    made, total = dict[str, Repair](), 0
    for some in [list(maps)] if same else [[name] for name in maps]:
        choices = [Choice(maps[name], may, hidden_of(maps[name], hidden or {})) for name in some]
        out, bound, left = hidden_together(choices, threshold, limits, value is not None)
        total += bound
        for name, told in zip(some, left, strict=True):
            made[name] = Repair(named_areas(maps[name], out), bound, told)
    return PeriodRepair(made, same, total)


def _maps(
    records: Any,
    names: tuple[str, ...],
    period: str,
    count: str | None,
    value: str | None,
    unit: str | None,
    decimals: int,
) -> dict[str, Pieces]:
    """The pieces of each period; the areas are those of all periods."""
    check_two(names)
    if period in names:
        raise InputError(f"period= names {period!r}, which is a geography of by")
    read = read_records(records, count, value, unit, decimals)
    geographies = [areas_of(read.table, name) for name in names]
    codes, at = numbered(code_text(column(read.table, period), period))
    return {code: in_period(read, geographies, np.asarray(at == i)) for i, code in enumerate(codes)}
