"""Rules of τ-ARGUS as rules of this package: its order, its strictness, its levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from diskret.argus.rule_text import OneRule, RuleSet
from diskret.argus.text import said_at
from diskret.errors import InputError, JobError
from diskret.rules import (
    PQ,
    Dominance,
    MinimumFrequency,
    MissingSafe,
    NoRule,
    PPercent,
    Request,
    Rule,
    Sensitivity,
    Shadow,
    ZeroCells,
)
from diskret.rules.percentages import percent_of
from diskret.rules.sensitivity import Joinable, judged, rank
from diskret.tables import Table

#: A range of 0 percent asks for one unit of the last decimal, as every level does at least.
_HARDLY = 1e-9
#: Rules that look at contributions, so that it matters whose they are.
OF_CONTRIBUTIONS = ("P", "NK", "REQ")


@dataclass(frozen=True)
class FewWithRange(Joinable):
    """A count below n is unsafe; its level is a share of the count, and 1 at least."""

    n: int
    range: float

    rank: ClassVar[int] = MinimumFrequency.rank
    judges_unions: ClassVar[bool] = True

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        found = MinimumFrequency(self.n, of="records")(table)
        share = np.maximum(percent_of(table.measure.sum, self.range, "range"), 1)
        level = np.where(found.unsafe, share, 0)
        return replace(found, lower=np.minimum(level, table.measure.sum), upper=level)


@dataclass(frozen=True)
class FewWeighted(Joinable):
    """A sum of records whose weights are together below n is unsafe; `counted` sums the weights."""

    n: int
    range: float
    counted: str

    rank: ClassVar[int] = MinimumFrequency.rank

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        weights = table[self.counted].measure
        unsafe = (weights.sum > 0) & (weights.sum < self.n * 10**weights.decimals)
        level = percent_of(table.measure.magnitude, self.range, "range")
        return judged(table, "minimum_frequency", unsafe, level)


@dataclass(frozen=True)
class OnRecords(Joinable):
    """A rule that judges records where the table holds contributions of holdings."""

    rule: Rule
    records: Table = field(repr=False, compare=False)

    @property
    def rank(self) -> int:
        """The place of the rule inside among joined rules."""
        return rank(self.rule)

    def __call__(self, table: Table) -> Sensitivity:
        """Judge every cell."""
        return self.rule(self.records)


@dataclass(frozen=True)
class Judged:
    """What a table is judged by.

    shadow: the variable that rules of contributions look at; "" for the response.
    missing: variable → the codes of what is not known.
    counted: the measure that sums the weights; "": records are counted.
    """

    rules: RuleSet
    frequency: bool = False
    of_cells: bool = False
    shadow: str = ""
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    counted: str = ""

    @property
    def holdings(self) -> bool:
        """Whether a rule judges holdings."""
        return any(one.holdings for one in self.rules.rules)

    @property
    def of_both(self) -> bool:
        """Whether contributions of holdings and of records are judged."""
        kinds = {r.holdings for r in self.rules.rules if r.kind in OF_CONTRIBUTIONS}
        return self.holdings and False in kinds

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rules look at."""
        inside = [one for one in self.rules.rules if one.kind in OF_CONTRIBUTIONS]
        return max((_made(one, self.frequency).largest for one in inside), default=0)

    def check(self) -> None:
        """Refuse rules that cannot judge such a table."""
        for one in self.rules.rules:
            if self.frequency and one.kind != "FREQ":
                raise JobError(
                    f"{one.place}: {one.kind} judges sums, and this table counts records; leave it "
                    "out, or sum a variable"
                )
            if self.of_cells and (one.holdings or one.kind == "REQ"):
                raise JobError(
                    f"{one.place}: a file of cells does not say who belongs to a holding or asks "
                    "for protection; leave the rule out, or start from the records"
                )
            if self.rules.weighted and one.kind == "FREQ" and one.holdings:
                raise JobError(
                    f"{one.place}: holdings have no weights, so FREQ does not judge them with "
                    "WGT(1); use WGT(0), or leave FREQ of holdings out"
                )
            _made(one, self.frequency)

    def rule(self, records: Table | None, by_hand: Sequence[Rule]) -> Rule:
        """All rules joined; `records`: the table with the contributions of records."""
        found: list[Rule] = []
        for one in self.rules.rules:
            rule = _made(one, self.frequency)
            if self.counted and isinstance(rule, MinimumFrequency):
                rule = FewWeighted(rule.n, rule.range, self.counted)
            if one.kind in OF_CONTRIBUTIONS:
                rule = Shadow(rule, self.shadow) if self.shadow else rule
                if self.holdings and not one.holdings and records is not None:
                    rule = OnRecords(rule, records)
            found.append(rule)
        if self.rules.missing_safe and self.missing:
            found.append(MissingSafe(self.missing))
        found += by_hand
        return reduce(lambda a, b: a | b, found) if found else NoRule()  # type: ignore[operator]


def _made(one: OneRule, frequency: bool) -> Any:
    with said_at(one.place):
        return _RULES[one.kind](one, frequency)


def _p(one: OneRule, frequency: bool) -> Rule:
    p, q, n = one.numbers if len(one.numbers) == 3 else (one.numbers[0], 100, one.numbers[1])
    n = _whole(n, one)
    return PPercent(p, coalition=n) if q == 100 else PQ(p, q, coalition=n)


def _freq(one: OneRule, frequency: bool) -> Rule:
    n, level = max(_whole(one.numbers[0], one), 1), one.numbers[1] or _HARDLY
    if n == 1:
        return NoRule()  # no cell has less than one record and any
    if frequency:
        return FewWithRange(n, level)
    return MinimumFrequency(n, of="holdings" if one.holdings else "records", range=level)


def _req(one: OneRule, frequency: bool) -> Rule:
    share, second, least, *more = one.numbers
    return Request(
        share, second=second, minimum=_whole(least, one), range=(*more, 10)[0] or _HARDLY
    )


def _whole(value: float, one: OneRule) -> int:
    if value != int(value):
        raise InputError(f"{one.kind} counts contributors, so {value:g} must be a whole number")
    return int(value)


_RULES: Mapping[str, Callable[[OneRule, bool], Rule]] = {
    "P": _p,
    "NK": lambda one, _: Dominance(_whole(one.numbers[0], one), one.numbers[1], quiet=True),
    "FREQ": _freq,
    "REQ": _req,
    "ZERO": lambda one, _: ZeroCells(one.numbers[0]),
}
