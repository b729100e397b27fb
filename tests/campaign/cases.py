"""What is drawn: records, and the tables that are to be made of them.

A cell is a *box*: for each variable the set of values a record may have there, as the bits of a
whole number. Names play no part in that, so groupings may share names on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

NAMES = ("job", "place", "sex", "age")
LETTERS = ("abcde", "pqrst", "fmd", "uvwx")
#: The second is the first in another unit, and the third is another thing.
MEASURES = ("turnover", "twice", "wages")
#: A number that is filtered by bounds or lists, and sometimes shown.
STAFF = "staff"
MOST_STAFF = 8
#: What nobody is seen to have: a missing value, or something between two whole numbers.
OTHER = "other"

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

    @property
    def layouts(self) -> list[Layout]:
        """All tables, in the order of their release."""
        return [layout for release in self.releases for layout in release]

    @property
    def summed(self) -> bool:
        """Whether values are added, not records counted."""
        return any(layout.measure is not None for layout in self.layouts)

    @cached_property
    def elements(self) -> dict[str, tuple[str, ...]]:
        """What a record can have in each variable, as far as a reader can tell."""
        found = {name: (*leaves, OTHER) for name, leaves in self.leaves.items()}
        numbers = sorted({float(e) for e in found.get(STAFF, ()) if e != OTHER})
        between = tuple(str(number + 0.5) for number in numbers)
        return found | ({STAFF: found[STAFF] + between} if numbers else {})

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


# ── drawing ─────────────────────────────────────────────────────────────────────────


def draw(seed: int) -> Case:
    """The case with this number, always the same."""
    rng = np.random.default_rng([18, seed])
    summed = rng.random() < 0.5
    leaves = _leaves(rng)
    records = _records(rng, leaves, summed)
    ledger = rng.random() < 0.12
    number = int(rng.choice([2, 3])) if ledger else 1
    groups = _names(rng, leaves)
    collide = rng.random() < 0.15 and any(groups.values())
    releases = []
    for release in range(number):
        tables = int(rng.choice([1, 2])) if ledger else int(rng.choice([1, 2, 2, 3, 3]))
        made: list[Layout] = []
        for table in range(tables):
            measure = "turnover" if summed else None
            name = f"r{release}t{table}"
            how = _colliding if collide else _layout
            layout = how(rng, name, leaves, records, groups, measure)
            if layout is not None:
                made.append(layout)
        if made:
            releases.append(tuple(made))
    coalition = int(rng.choice([0, 0, 1, 1, 2])) if summed else int(rng.choice([0, 0, 0, 1]))
    single = sum(map(len, releases)) == 1
    methods = ["auto", "auto", "sequential", "modular", *["hypercube"] * single]
    noise = not ledger and bool(rng.random() < 0.1)
    if noise:  # rounding to whole numbers must not hide shares
        records |= {name: [100 * value for value in records[name]] for name in MEASURES}
    return Case(
        seed=seed,
        records=records,
        leaves=leaves,
        releases=tuple(releases),
        rule=_rule(rng, summed),
        method=str(rng.choice(methods)),
        coalition=coalition,
        holdings=summed and bool(rng.random() < 0.3),
        listed=coalition > 0 or bool(rng.random() < 0.7),
        intervals=bool(rng.random() < 0.15),
        ledger=ledger,
        noise=noise,
    )


def _leaves(rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    number = int(rng.choice([1, 2, 2, 3]))
    chosen = sorted(rng.choice(len(NAMES), size=number, replace=False))
    leaves = {
        NAMES[i]: tuple(LETTERS[i][: int(rng.integers(2, len(LETTERS[i]) + 1))]) for i in chosen
    }
    if number == 1 or rng.random() < 0.35:
        leaves[STAFF] = tuple(str(n) for n in range(1, MOST_STAFF + 1))
    return leaves


def _records(
    rng: np.random.Generator, leaves: dict[str, tuple[str, ...]], summed: bool
) -> dict[str, list[Any]]:
    number = int(rng.integers(5, 61))
    columns: dict[str, list[Any]] = {}
    for name, codes in leaves.items():
        share = rng.dirichlet(np.full(len(codes), 0.8))
        columns[name] = [codes[i] for i in rng.choice(len(codes), size=number, p=share)]
    units = int(rng.integers(max(3, number // 3), number + 1)) if rng.random() < 0.5 else number
    unit = rng.permutation(number) if units == number else rng.integers(0, units, number)
    holding = rng.integers(0, max(2, units // 2), units)
    alone = rng.random(units) < 0.3
    columns["unit"] = [int(u) for u in unit]
    columns["holding"] = [None if alone[u] else f"h{holding[u]}" for u in unit]
    value = np.round(rng.lognormal(3, rng.choice([0.5, 1.2, 1.8]), number)).astype(int)
    value[rng.random(number) < 0.08] = 0
    if summed and rng.random() < 0.04:
        value[rng.random(number) < 0.15] *= -1
    columns["turnover"] = [int(v) for v in value]
    columns["twice"] = [2 * v for v in columns["turnover"]]
    columns["wages"] = [int(v) for v in np.round(value * rng.lognormal(-1, 0.5, number))]
    return columns


def _names(
    rng: np.random.Generator, leaves: dict[str, tuple[str, ...]]
) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Groups of each variable under names of which some are used twice, for different groups."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for name, codes in leaves.items():
        groups: list[tuple[str, tuple[str, ...]]] = []
        for _ in range(4):
            if len(codes) < 3:
                break
            size = int(rng.integers(2, len(codes)))
            group = tuple(sorted(str(c) for c in rng.choice(codes, size=size, replace=False)))
            groups.append((str(rng.choice(["Other", "G", group[0]])), group))
        if groups and rng.random() < 0.5:
            groups.append(("H", groups[0][1]))  # one group, another name
        found[name] = groups
    return found


def _layout(
    rng: np.random.Generator,
    name: str,
    leaves: dict[str, tuple[str, ...]],
    records: dict[str, list[Any]],
    groups: dict[str, list[tuple[str, tuple[str, ...]]]],
    measure: str | None,
) -> Layout | None:
    names = [str(n) for n in rng.permutation(list(leaves))]
    shown = names[: int(rng.choice([1, 1, 2, 2, 3]))]
    if STAFF in shown and len(shown) > 1 and rng.random() < 0.8:
        shown.remove(STAFF)
    where: dict[str, Any] = {}
    for other in names:
        if rng.random() < (0.12 if other in shown else 0.3):
            where[other] = _filter(rng, other, leaves[other])
    combine = 0.5 if measure is None else 0.1  # sums of units that straddle cannot be combined
    axes = {own: _axis(rng, leaves[own], where.get(own), groups[own], combine) for own in shown}
    return _of_somebody(Layout(name, axes, where, measure), leaves, records)


def _of_somebody(
    layout: Layout, leaves: dict[str, tuple[str, ...]], records: dict[str, list[Any]]
) -> Layout | None:
    """The table, unless nobody is in it."""
    rows = zip(*(records[n] for n in leaves), strict=True)
    inside = (all(layout.selects(n, e) for n, e in zip(leaves, r, strict=True)) for r in rows)
    return layout if any(inside) else None


def _colliding(
    rng: np.random.Generator,
    name: str,
    leaves: dict[str, tuple[str, ...]],
    records: dict[str, list[Any]],
    groups: dict[str, list[tuple[str, tuple[str, ...]]]],
    measure: str | None,
) -> Layout | None:
    """A table that combines other categories than the next one, under the same name."""
    own, choice = next((n, g) for n, g in groups.items() if g)
    codes = leaves[own]
    where: dict[str, Any] = {}
    if rng.random() < 0.7:
        size = int(rng.integers(2, len(codes)))
        where[own] = sorted(str(c) for c in rng.choice(codes, size=size, replace=False))
    group = choice[int(rng.integers(len(choice)))][1]
    axes = {own: _combined(codes, "Other", group, measure is None or rng.random() < 0.1)}
    others = [n for n in leaves if n not in (own, STAFF)]
    if others and rng.random() < 0.4:
        axes[others[0]] = _axis(rng, leaves[others[0]], None, [], 0)
    return _of_somebody(Layout(name, axes, where, measure), leaves, records)


def _filter(rng: np.random.Generator, name: str, codes: tuple[str, ...]) -> Any:
    if name == STAFF:
        low, high = sorted(int(n) for n in rng.integers(1, MOST_STAFF + 1, 2))
        kind = rng.choice(["both", "min", "max", "list", "one"])
        if kind == "one":
            return str(low) if rng.random() < 0.5 else {"min": low, "max": low}
        if kind == "list":
            return [str(n) for n in range(low, high + 1)]
        return {"both": {"min": low, "max": high}, "min": {"min": low}, "max": {"max": high}}[kind]
    if len(codes) == 2 or rng.random() < 0.3:
        return str(rng.choice(codes))
    size = int(rng.integers(1, len(codes)))
    return sorted(str(c) for c in rng.choice(codes, size=size, replace=False))


def _axis(
    rng: np.random.Generator,
    leaves: tuple[str, ...],
    wanted: Any,
    groups: list[tuple[str, tuple[str, ...]]],
    combine: float,
) -> Axis:
    own = leaves
    if wanted is not None and not isinstance(wanted, dict) and rng.random() < 0.5:
        kept = tuple(code for code in leaves if code in wanted)
        own = kept if len(kept) > 1 else leaves  # only the codes that the filter leaves
    total = str(rng.choice(["Total", "Total", "T"]))
    parent = dict.fromkeys(own, total)
    codes = {total: frozenset(own)} | {code: frozenset({code}) for code in own}
    fitting = [(n, g) for n, g in groups if {*g} < {*own}]
    if not fitting or rng.random() < 0.45:
        return Axis(codes, parent, total=total)
    name, group = fitting[int(rng.integers(len(fitting)))]
    recoded = rng.random() < combine
    if name in group and not recoded:
        return Axis(codes, parent, total=total)
    return _combined(own, name, group, recoded, total)


def _combined(
    leaves: tuple[str, ...], name: str, group: tuple[str, ...], recoded: bool, total: str = "Total"
) -> Axis:
    """Codes of which some are combined, in their place or as a level above them."""
    codes = {total: frozenset(leaves)} | {code: frozenset({code}) for code in leaves}
    parent = dict.fromkeys(leaves, total)
    for code in group:
        if recoded:
            del codes[code], parent[code]
        else:
            parent[code] = name
    codes[name], parent[name] = frozenset(group), total
    return Axis(codes, parent, {name: group} if recoded else {}, total)


def _rule(rng: np.random.Generator, summed: bool) -> Rule:
    if not summed:
        return (("frequency", int(rng.choice([2, 3, 3, 3, 4]))),)
    drawn: dict[str, Any] = {
        "frequency": 3,
        "p": int(rng.choice([5, 10, 20])),
        "dominance": (int(rng.choice([1, 2])), int(rng.choice([75, 85]))),
    }
    kinds = ["p", "p", "frequency", "dominance"]
    chosen = {str(k) for k in rng.choice(kinds, size=int(rng.choice([1, 2])))}
    return tuple((kind, drawn[kind]) for kind in drawn if kind in chosen)
