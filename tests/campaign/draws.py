"""What is drawn for a case: records, tables, rule, attacker, and what is out of the ordinary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from campaign.cases import LATER, MEASURES, MOST_STAFF, STAFF, Axis, Case, Layout, Rule, Varying

NAMES = ("job", "place", "sex", "age")
LETTERS = ("abcde", "pqrst", "fmd", "uvwx")
#: What totals are called in files of cells.
TOTALS = ("Total", "T", "_T", "Insgesamt")


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
    drawn = Case(
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
    drawn = _further(drawn, np.random.default_rng([20, seed]))
    return _by_category(drawn, np.random.default_rng([22, seed]))


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


# ── what is out of the ordinary ─────────────────────────────────────────────────────


def _further(case: Case, rng: np.random.Generator) -> Case:
    """Marks, weights, periods, two measures, files of cells, nobody named as the attacker."""

    def hit(share: float) -> bool:
        return bool(rng.random() < share)

    if case.noise:
        case = _changed(case, _apart)
        unlike = str(rng.choice(["lookup", "keys"])) if hit(0.3) else ""
        return replace(case, judged=hit(0.5), unlike=unlike, ledger=hit(0.4), intervals=False)
    if case.ledger and hit(0.5):
        case = _revised(case, rng)
    if case.ledger and not case.summed and not case.coalition and hit(0.4):
        first = tuple(map(_apart, case.releases[0])) if case.releases else ()
        case = replace(case, releases=(first, *case.releases[1:]), changed_first=bool(first))
    if case.summed and hit(0.25):
        case = _changed(case, lambda own: replace(own, measure=MEASURES[2 * hit(0.5)]))
    if case.summed and hit(0.07):
        weight = rng.integers(1, 6, len(case.records["unit"]))  # of a unit
        columns = {"weight": lambda unit: int(weight[unit % len(weight)])}
        return replace(_of_units(case, columns), weighted=True, listed=False, coalition=0)
    if hit(0.1):
        case = replace(case, default=True, listed=True, coalition=int(case.summed))
    if case.summed and hit(0.1):
        case = _of_units(case, {"request": _some(rng, 0.4)})
        rule = (*case.rule, ("request", int(rng.choice([40, 70]))))
        case = replace(case, requests=True, rule=rule)
    if hit(0.1):
        case = replace(_of_units(case, {"waiver": _some(rng, 0.4)}), waivers=True)
    if not case.summed and hit(0.1):
        case = replace(case, rule=(*case.rule, ("level", int(rng.choice([2, 3])))))
    if not case.summed and not case.waivers and hit(0.15):
        total = str(rng.choice(TOTALS))
        case = replace(case, cells_given=str(rng.choice(["said", "found"])))
        case = _changed(case, lambda own: _called(own, total))
    return case


def _by_category(case: Case, rng: np.random.Generator) -> Case:
    """Some cases with rules that differ by a variable that each release shows."""
    shown = [{name for own in release for name in own.axes} for release in case.releases]
    common = sorted(set.intersection(*shown) - {STAFF}) if shown else []
    strange = case.noise or case.cells_given or case.changed_first
    if strange or not common or rng.random() >= 0.12:
        return case
    name = str(rng.choice(common))
    leaves = case.leaves[name]
    number = int(rng.integers(1, len(leaves)))
    chosen = frozenset(map(str, rng.choice(leaves, size=number, replace=False)))
    others = _rule(rng, case.summed) if rng.random() < 0.5 else ()
    axes = [own.axes[name] for own in case.layouts if name in own.axes]
    # where a combination has the name of a category, the rule is for the combination
    if any(axis.codes.get(leaf, {leaf}) != {leaf} for axis in axes for leaf in chosen):
        return case
    return replace(case, varying=Varying(name, chosen, others))


def _some(rng: np.random.Generator, share: float) -> Callable[[int], bool]:
    """Whether a unit is one of some."""
    chosen = rng.random(200) < share
    return lambda unit: bool(chosen[unit % len(chosen)])


def _of_units(case: Case, columns: dict[str, Callable[[int], Any]]) -> Case:
    """The case with columns of which all records of a unit have the same."""

    def more(records: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return records | {n: [of(u) for u in records["unit"]] for n, of in columns.items()}

    later = None if case.later is None else more(case.later)
    return replace(case, records=more(case.records), later=later)


def _changed(case: Case, how: Callable[[Layout], Layout]) -> Case:
    return replace(case, releases=tuple(tuple(map(how, own)) for own in case.releases))


def _revised(case: Case, rng: np.random.Generator) -> Case:
    """Some tables are of revised records: some are gone, some were counted wrongly."""
    number = len(case.records["unit"])
    stays = np.flatnonzero(rng.random(number) < 0.85)
    later = {name: [column[i] for i in stays] for name, column in case.records.items()}
    wrong = rng.random(len(stays)) < 0.4
    for measure in MEASURES:
        later[measure] = [v + 3 * int(w) for v, w in zip(later[measure], wrong, strict=True)]
    leaves = {name: later[name] for name in case.leaves}

    def revised(own: Layout) -> Layout:
        late = rng.random() < 0.5 and _of_somebody(own, case.leaves, leaves) is not None
        return replace(own, vintage=LATER) if late else own

    return _changed(replace(case, later=later), revised)


def _apart(layout: Layout) -> Layout:
    """The table without combined codes, which have no keys of their own."""

    def axis(own: Axis) -> Axis:
        leaves = sorted(own.codes[own.total])
        codes = {own.total: own.codes[own.total]} | {leaf: frozenset({leaf}) for leaf in leaves}
        return Axis(codes, dict.fromkeys(leaves, own.total), total=own.total)

    axes = {name: axis(own) if own.groups else own for name, own in layout.axes.items()}
    return replace(layout, axes=axes)


def _called(layout: Layout, total: str) -> Layout:
    """The table with other codes of totals."""

    def axis(own: Axis) -> Axis:
        codes = {total if code == own.total else code: of for code, of in own.codes.items()}
        parent = {c: total if of == own.total else of for c, of in own.parent.items()}
        return replace(own, codes=codes, parent=parent, total=total)

    return replace(layout, axes={name: axis(own) for name, own in layout.axes.items()})
