"""Which tables lie in others, which add up to each other, and which hang together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import NamedTuple

from diskret.jobs.toml_text import stem, toml
from diskret.plan.axes import Axes
from diskret.plan.places import few
from diskret.plan.values import (
    Answers,
    Asked,
    Axis,
    Breakdown,
    Description,
    FieldAnswer,
    IndicatorAnswer,
    Note,
    PlannedTable,
    Question,
)
from diskret.population import Population
from diskret.tables import MeasureSum
from diskret.tables.ties import About, tied, tied_groups
from diskret.texts import Statement

#: So many indicators are named in a question.
_NAMED = 8


@dataclass(frozen=True)
class Part:
    """A table that is asked for, or what of it lies in one tree of each axis."""

    description: Description
    by: tuple[Breakdown, ...]

    @cached_property
    def along(self) -> dict[tuple[str, str], frozenset[str]]:
        """Axis and tree → codes."""
        return {(one.axis, one.tree): one.codes for one in self.by}


@dataclass(eq=False)
class Covering:
    """Whether codes are shown by others, or are sums of them; each pair is looked at once."""

    axes: Mapping[str, Axis]
    known: dict[tuple[object, ...], bool] = field(default_factory=dict[tuple[object, ...], bool])

    def holds(self, whole: Part, part: Part) -> bool:
        """Whether all cells of a part are cells of another one, or sums of them."""
        return all(
            at in whole.along and self.covers(at, whole.along[at], codes)
            for at, codes in part.along.items()
        )

    def covers(self, at: tuple[str, str], whole: frozenset[str], codes: frozenset[str]) -> bool:
        """Whether each of the codes is one of `whole`, or what some of these add up to."""
        axis = self.axes[at[0]]
        if codes <= whole:
            return True
        if not at[1]:
            return not axis.flat  # levels of a tree that is not given yet
        asked = (at, whole, codes)
        if asked not in self.known:
            bits = axis.masks[at[1]]
            self.known[asked] = all(
                code in whole or _sum_of(bits[code], (bits[one] for one in whole)) for code in codes
            )
        return self.known[asked]


def _sum_of(bits: int, others: Iterable[int]) -> bool:
    found = 0
    for one in others:
        if one & ~bits == 0:
            found |= one
    return found == bits


class _Alike(NamedTuple):
    """What tables have in common whose indicators are protected side by side."""

    field: str
    component: int
    by: frozenset[Breakdown]


def tables_of(axes: Axes) -> tuple[PlannedTable, ...]:
    """The tables to protect, with their clusters."""
    asked, answers = axes.asked, axes.answers
    parts: dict[tuple[str, str], list[Part]] = {}
    for table in asked.tables:
        for by in product(*axes.breakdowns(table)):
            parts.setdefault((table.field, table.indicator), []).append(Part(table, by))
    covering = Covering(axes.named)
    united: dict[_Alike, list[tuple[str, list[str]]]] = {}
    component = components(asked, answers)
    for (about, indicator), own in parts.items():
        for by, names in _united(covering, own):
            alike = _Alike(about, component[indicator], frozenset(by))
            united.setdefault(alike, []).append((indicator, names))
    order = {table.name: i for i, table in enumerate(asked.tables)}
    tables: list[PlannedTable] = []
    for alike, members in united.items():
        sample = members[0][1]
        names = sorted({name for _, own in members for name in own}, key=lambda n: order[n])
        tables.append(
            PlannedTable(
                "",
                alike.field,
                tuple(indicator for indicator, _ in members),
                _ordered(asked, axes, alike.by, sample),
                tuple(names),
            )
        )
    return _clustered(_named(tables), axes)


def _united(
    covering: Covering, parts: Sequence[Part]
) -> list[tuple[tuple[Breakdown, ...], list[str]]]:
    """The parts that lie in no other one, with the codes and names of those that lie in them."""
    held = [[covering.holds(whole, part) for whole in parts] for part in parts]
    first = [
        not any(held[i][k] and (not held[k][i] or k < i) for k in range(len(parts)) if k != i)
        for i in range(len(parts))
    ]
    roots = [i for i, is_first in enumerate(first) if is_first]
    codes = {i: dict(parts[i].along) for i in roots}
    names = {i: [parts[i].description.name] for i in roots}
    for i, part in enumerate(parts):
        if i in codes:
            continue
        root = min((k for k in roots if held[i][k]), key=lambda k: (_extra(part, codes[k]), k))
        for at, own in part.along.items():
            codes[root][at] |= own
        names[root].append(part.description.name)
    return [
        (
            tuple(Breakdown(axis, tree, own) for (axis, tree), own in codes[i].items()),
            list(dict.fromkeys(names[i])),
        )
        for i in roots
    ]


def _extra(part: Part, codes: Mapping[tuple[str, str], frozenset[str]]) -> float:
    """How many cells more a table gets that takes in another one."""
    before = after = 1
    for at, own in codes.items():
        before *= len(own) + 1
        after *= len(own | part.along.get(at, frozenset())) + 1
    return after - before + 1e-9 * before


def _ordered(
    asked: Asked, axes: Axes, by: frozenset[Breakdown], names: Sequence[str]
) -> tuple[Breakdown, ...]:
    """Dimensions in the order in which the widest of the tables names them."""
    found = [table for table in asked.tables if table.name in names]
    widest = max(found, key=lambda table: len(table.by))
    place = {one.axis: i for i, own in enumerate(axes.breakdowns(widest)) for one in own}
    return tuple(sorted(by, key=lambda one: (place.get(one.axis, len(place)), one.axis)))


# ── indicators that add up ──────────────────────────────────────────────────────────────


def equations_of(asked: Asked, answers: Answers) -> tuple[MeasureSum, ...]:
    """The sums all of whose indicators are published."""
    there = {table.indicator for table in asked.tables}
    return tuple(one for one in answers.equations if {one.total, *one.parts} <= there)


def components(asked: Asked, answers: Answers) -> dict[str, int]:
    """Indicator → the number of the group that sums tie together, or that is said to add up."""
    names = list(dict.fromkeys(table.indicator for table in asked.tables))
    place = {name: i for i, name in enumerate(names)}
    sums = equations_of(asked, answers)
    pairs = [(place[one.total], place[part]) for one in sums for part in one.parts]
    for group, members in open_groups(asked, answers).items():
        pairs += [(place[members[0]], place[name]) for name in members[1:] if group]
    groups = tied_groups(len(names), pairs)
    return {names[i]: number for number, group in enumerate(groups) for i in group}


def open_groups(asked: Asked, answers: Answers) -> dict[str, list[str]]:
    """Names under which indicators add up → the indicators, where no equation says how."""
    groups: dict[str, list[str]] = {}
    for table in asked.tables:
        if table.indicator_group and table.indicator_group not in answers.no_equation:
            own = groups.setdefault(table.indicator_group, [])
            if table.indicator not in own:
                own.append(table.indicator)
    said = [{one.total, *one.parts} for one in answers.equations]
    return {
        name: own
        for name, own in groups.items()
        if len(own) > 1 and not any({*own} <= one for one in said)
    }


def questions_of_indicators(asked: Asked, answers: Answers) -> list[Question]:
    """What is open about sums of indicators."""
    found = _open_indicators(asked, answers)
    for group, names in open_groups(asked, answers).items():
        lines = [
            line for table in asked.tables if table.indicator_group == group for line in table.lines
        ]
        said = Statement.said("plan", "which sum", group=group, indicators=", ".join(names))
        answer = (
            f'equations = ["{names[-1]} = {" + ".join(names[:-1])}"]   # or as it is; or\n'
            f"no_equation = {toml([group])}"
        )
        found.append(Question(said, answer, tuple(lines)))
    return found


def _open_indicators(asked: Asked, answers: Answers) -> list[Question]:
    """Indicators of which nothing says whether they add up: only a metadata frame does."""
    lines: dict[str, list[int]] = {}
    for table in asked.tables:
        lines.setdefault(table.indicator, []).extend(table.lines)
    said = {name for one in answers.equations for name in (one.total, *one.parts)}
    left = [name for name in lines if name not in {*said, *answers.no_equation}]
    if asked.says_sums or len(lines) < 2 or not left:
        return []
    what = Statement.said("plan", "any sum", indicators=few(left, _NAMED))
    total, *parts = [*left, *(name for name in lines if name not in left)][:3]
    answer = (
        f'equations = ["{total} = {" + ".join(parts)}"]   # an example; and those without a sum:\n'
        f"no_equation = {toml(left)}"
    )
    return [Question(what, answer, tuple(line for name in left for line in lines[name]))]


def notes_of_equations(asked: Asked, answers: Answers) -> list[Note]:
    """Equations that name what is not published here tie nothing."""
    there = {table.indicator for table in asked.tables}
    return [
        Note(
            Statement.said(
                "plan",
                "not published",
                equation=str(one),
                indicators=", ".join(sorted({one.total, *one.parts} - there)),
            )
        )
        for one in answers.equations
        if not {one.total, *one.parts} <= there
    ]


# ── what hangs together ─────────────────────────────────────────────────────────────────


def about_of(asked: Asked, answers: Answers, field_name: str, indicator: str) -> About:
    """Measure, vintage and population of a table, as far as they are known."""
    own = answers.indicators.get(indicator, IndicatorAnswer())
    said = answers.fields.get(field_name, FieldAnswer())
    measure = "count" if own.count else own.value or indicator
    vintage = said.vintage
    if vintage is None:
        where_known = bool(said.where)
        groups = {t.field_group for t in asked.tables if t.field == field_name}
        group = next((g for g in groups if g), None)
        vintage = "" if where_known else (group or field_name)
    where = Population.of({**said.where, **own.where})
    return About(measure, vintage, where)


def _clustered(tables: Sequence[PlannedTable], axes: Axes) -> tuple[PlannedTable, ...]:
    """The tables with the numbers of their clusters, in the order of these."""
    asked, answers = axes.asked, axes.answers
    measure = {
        table.indicator: about_of(asked, answers, table.field, table.indicator).measure
        for table in asked.tables
    }
    sums = [
        MeasureSum(measure[one.total], tuple(measure[part] for part in one.parts))
        for one in equations_of(asked, answers)
    ]
    component = components(asked, answers)
    pairs: list[tuple[int, int]] = []
    abouts = [
        [about_of(asked, answers, table.field, name) for name in table.indicators]
        for table in tables
    ]
    for i, k in combinations(range(len(tables)), 2):
        together = any(
            tied(one, other, sums)
            or (a != b and component[a] == component[b] and one.vintage == other.vintage)
            for a, one in zip(tables[i].indicators, abouts[i], strict=True)
            for b, other in zip(tables[k].indicators, abouts[k], strict=True)
        )
        if together:
            pairs.append((i, k))
    groups = tied_groups(len(tables), pairs)
    groups.sort(key=lambda group: group[0])
    return tuple(
        replace(tables[i], cluster=number)
        for number, group in enumerate(groups, start=1)
        for i in group
    )


def _named(tables: Sequence[PlannedTable]) -> list[PlannedTable]:
    """Tables with names that no two have, of which files can be made."""
    several = len({table.field for table in tables}) > 1
    taken: set[str] = set()
    found: list[PlannedTable] = []
    for table in tables:
        about = [table.field] if several and table.field else []
        axes = [one.axis for one in table.by]
        names = tuple(_free([*about, one, *axes], taken) for one in table.indicators)
        found.append(replace(table, name=names[0], names=names))
    return found


#: Files have further endings, and 255 characters at most.
_LONGEST = 120


def _free(parts: Sequence[str], taken: set[str]) -> str:
    """A name of these parts that is not taken, whatever the case of its letters."""
    own = wanted = "_".join(map(stem, parts))[:_LONGEST]
    number = 1
    while own.casefold() in taken:
        number += 1
        own = f"{wanted}_{number}"
    taken.add(own.casefold())
    return own
