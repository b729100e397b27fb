"""What a case is: records, and the tables that are to be made of them.

A cell is a *box*: for each variable the set of values a record may have there, as the bits of a
whole number. Names play no part in that, so groupings may share names on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

#: The second is the first in another unit, and the third is another thing.
MEASURES = ("turnover", "twice", "wages")
#: A number that is filtered by bounds or lists, and sometimes shown.
STAFF = "staff"
MOST_STAFF = 8
#: What nobody is seen to have: a missing value, or something between two whole numbers.
OTHER = "other"

#: Of what was revised.
LATER = "revised"

Box = tuple[int, ...]
Rule = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Axis:
    """The codes a table shows of a variable, each with the leaves it stands for."""

    codes: dict[str, frozenset[str]]
    parent: dict[str, str]  # of every code but the first
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)  # combined by `recode`
    total: str = "Total"

    @cached_property
    def parts(self) -> dict[str, list[str]]:
        """The codes directly below each code that has any."""
        found: dict[str, list[str]] = {}
        for code, above in self.parent.items():
            found.setdefault(above, []).append(code)
        return found


@dataclass(frozen=True)
class Layout:
    """One table: what it shows, of whom."""

    name: str
    axes: dict[str, Axis]
    where: dict[str, Any]
    measure: str | None  # None: counts
    vintage: str = ""

    def selects(self, name: str, element: str) -> bool:
        """Whether the filter lets a record with this value of a variable pass."""
        if name not in self.where:
            return True
        wanted = self.where[name]
        if not isinstance(wanted, dict):
            return element in ([wanted] if isinstance(wanted, str) else wanted)
        if element == OTHER:
            return False
        number = float(element)
        return wanted.get("min", -np.inf) <= number <= wanted.get("max", np.inf)


@dataclass(frozen=True)
class Varying:
    """The rule of the case holds for some categories of a variable, another one for all others."""

    variable: str
    categories: frozenset[str]
    others: Rule  # () for none


@dataclass(frozen=True)
class Case:
    """Records, tables of them in the order in which they are released, rule and attacker."""

    seed: int
    records: dict[str, list[Any]]  # a column for each variable; unit, holding, measures
    leaves: dict[str, tuple[str, ...]]
    releases: tuple[tuple[Layout, ...], ...]
    rule: Rule
    method: str
    coalition: int  # 0: the outsider
    holdings: bool
    listed: bool  # contributions=True
    intervals: bool
    ledger: bool
    noise: bool = False
    later: dict[str, list[Any]] | None = None  # the records of the vintage LATER
    default: bool = False  # nobody is named as the attacker
    weighted: bool = False
    waivers: bool = False
    requests: bool = False
    cells_given: str = ""  # tables from cells, their totals "said" or "found"
    judged: bool = False  # sums with noise, by a p% rule
    changed_first: bool = False  # what is released first is rounded, the rest is suppressed
    varying: Varying | None = None
    unlike: str = ""  # one table again, from another "lookup" or with other "keys" of rounding

    def columns(self, vintage: str = "") -> dict[str, list[Any]]:
        """The records of a vintage."""
        return self.records if vintage != LATER or self.later is None else self.later

    @property
    def layouts(self) -> list[Layout]:
        """All tables, in the order of their release."""
        return [layout for release in self.releases for layout in release]

    @property
    def further(self) -> list[str]:
        """What is out of the ordinary, in the words of the table of results."""
        measures = {layout.measure for layout in self.layouts}
        vintages = {layout.vintage for layout in self.layouts}
        said = {
            "two measures": len(measures) > 1 or (self.noise and self.summed),
            "two vintages": len(vintages) > 1,
            "consent and requests": self.waivers or self.requests,
            "weights": self.weighted,
            "files of cells": bool(self.cells_given),
            "levels above 1": "level" in dict(self.rule),
            "nobody named as attacker": self.default,
            "sums with noise judged by a rule": self.judged,
            "beside earlier rounding": self.changed_first,
            "rules by category": self.varying is not None,
            "one table with two noises": bool(self.unlike),
        }
        return [name for name, holds in said.items() if holds]

    @property
    def summed(self) -> bool:
        """Whether values are added, not records counted."""
        return any(layout.measure is not None for layout in self.layouts)

    def rules_of(self, categories: set[str]) -> list[Rule]:
        """What judges records of these categories of the variable by which rules differ."""
        if self.varying is None:
            return [self.rule]
        named = self.varying.categories
        found = [self.rule] if categories & named else []
        return found + ([self.varying.others] if categories - named else [])

    @cached_property
    def elements(self) -> dict[str, tuple[str, ...]]:
        """What a record can have in each variable, as far as a reader can tell."""
        found = {name: (*leaves, OTHER) for name, leaves in self.leaves.items()}
        numbers = sorted({float(e) for e in found.get(STAFF, ()) if e != OTHER})
        if not numbers:
            return found
        # below the first and above the last, too: an open filter does not say that nobody is there
        between = tuple(str(number - 0.5) for number in [*numbers, numbers[-1] + 1])
        return found | {STAFF: found[STAFF] + between}

    def box(self, layout: Layout, codes: tuple[str, ...]) -> Box:
        """The cell of a table with these codes."""
        chosen = dict(zip(layout.axes, codes, strict=True))
        box: list[int] = []
        for name, elements in self.elements.items():
            axis = layout.axes.get(name)
            top = axis is None or axis.parent.get(chosen[name]) is None
            inside = 0
            for bit, element in enumerate(elements):
                of_code = top or axis is None or element in axis.codes[chosen[name]]
                if of_code and layout.selects(name, element):
                    inside |= 1 << bit
            box.append(inside)
        return tuple(box)

    def nobody(self, layout: Layout) -> list[Box]:
        """Where a table has no records: values that are no leaf of a variable it shows."""
        found: list[Box] = []
        everything = self.box(layout, tuple(next(iter(a.codes)) for a in layout.axes.values()))
        for position, (name, elements) in enumerate(self.elements.items()):
            if name not in layout.axes:
                continue
            leaves = next(iter(layout.axes[name].codes.values()))
            outside = sum(1 << bit for bit, e in enumerate(elements) if e not in leaves)
            box = list(everything)
            box[position] &= outside
            if box[position]:
                found.append(tuple(box))
        return found

    def cells(self, layout: Layout) -> list[tuple[str, ...]]:
        """The codes of every cell of a table."""
        return list(product(*(axis.codes for axis in layout.axes.values())))
