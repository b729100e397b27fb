"""Parts of categories that nobody published: none that subtraction reveals may be unsafe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import JudgedParts, Parts, UnsafeSums, may_have_parts, revealed_parts
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.protect.arguments import rules_judging_unions
from diskret.protect.crossed import Crossings, crossed_judge
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.plan import TableToProtect
from diskret.protect.rests import rests_judge
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import judge_unions
from diskret.system import System, cell_inside
from diskret.tables import Publication, Table
from diskret.tables.dimension import Dimension
from diskret.tables.made_of import ANYWHERE
from diskret.tables.meanings import Side, side_by_side
from diskret.tables.requirements import stacked
from diskret.tables.unions import union_table_of_parts

_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class UnsafeParts:
    """Revealed parts that a rule finds unsafe. Confidential.

    sums: each as a sum of cells of the protector's system, entries 1 and -1, with its levels.
    named: the first of them in words.
    judged: how many parts were revealed and judged, and how many could not be; None: no categories
        overlap.
    rests: the same of what is left beside filters; None: no filter lies beside a whole table.
    crossed: the same of what variables of different tables leave of each other's cells; None: all
        tables have the same variables.
    alone: rests of one or two records between two variables, that no rule could judge, in words.
    """

    sums: UnsafeSums
    named: str
    judged: JudgedParts | None
    rests: JudgedParts | None = None
    crossed: JudgedParts | None = None
    alone: str = ""


#: The unsafe parts that a publication reveals.
PartsJudge = Callable[[Publication], UnsafeParts]


def subtraction_judge(
    to_protect: Sequence[TableToProtect],
    before: EarlierTables,
    system: System,
    public: Callable[[NDArray[np.bool_]], Publication],
    told: Crossings,
) -> PartsJudge | None:
    """What the rules say of all that nobody published but subtraction reveals.

    That are parts of overlapping categories, see `parts_judge`, what is left beside filters, see
    `rests_judge`, and between variables, see `crossed_judge`; None if there is nothing of these.
    """
    cells = len(system.value)
    of_parts = parts_judge(to_protect, before, system, public)
    of_rests = rests_judge(to_protect, before, cells, public)
    of_crossed = crossed_judge(told, cells)
    if of_parts is None and of_rests is None and of_crossed is None:
        return None

    def judge(publication: Publication) -> UnsafeParts:
        parts = None if of_parts is None else of_parts(publication)
        rests = None if of_rests is None else of_rests(publication)
        between = None if of_crossed is None else of_crossed(publication)
        found = [one for one in (parts, rests, between) if one is not None]
        return UnsafeParts(
            stacked([one.sums for one in found], cells),
            "; ".join(one.named for one in found if one.named),
            None if parts is None else parts.judged,
            None if rests is None else rests.judged,
            None if between is None else between.judged,
            "" if between is None else between.alone,
        )

    return judge


def parts_judge(
    to_protect: Sequence[TableToProtect],
    before: EarlierTables,
    system: System,
    public: Callable[[NDArray[np.bool_]], Publication],
) -> PartsJudge | None:
    """What the rules say of parts that published cells reveal by subtraction.

    Parts are judged by the rules for all new tables of their measure. A part that earlier tables
    reveal by themselves cannot be protected any more and is left out. None if no categories
    overlap.

    to_protect: the new tables and their rules.
    before: what was published before; its tables stand behind the new ones.
    system: the cells of all tables, as `joint_system` makes it.
    public: what the world sees when these cells are suppressed.
    """
    if len(to_protect) + len(before.tables) == 1:
        return None
    everything = public(np.ones(len(system.value), dtype=bool))
    if not may_have_parts(everything):
        return None
    known: set[tuple[object, ...]] = set()
    if before.tables:
        hidden = revealed_parts(everything)
        known = {hidden.key(everything, i) for i in range(len(hidden))}
    tables = [one.table for one in to_protect]
    tables += [replace(table, contributions=e.contributions) for e, table in before.pairs]
    rules = [rules_judging_unions(table.measure.name, to_protect) for table in tables]
    for place, e in enumerate(before.earlier, start=len(to_protect)):
        if e.weight is not None:
            rules[place] = ()
    tables = [_with_room(*pair) for pair in zip(tables, rules, strict=True)]
    meaning = [finest_meanings(*own) for own in zip(tables, side_by_side(tables), strict=True)]

    def judge(publication: Publication) -> UnsafeParts:
        parts = revealed_parts(publication)
        if known:
            keys = (parts.key(publication, i) for i in range(len(parts)))
            parts = parts.only(np.array([key not in known for key in keys], dtype=bool))
        unsafe = np.zeros(len(parts), dtype=bool)
        levels = np.zeros((3, len(parts)), dtype=np.int64)
        unjudged = 0
        for place in np.unique(parts.table).tolist():
            own = np.flatnonzero(parts.table == place)
            of_table = parts.only(parts.table == place)
            sensitivity = _judged(rules[place], tables[place], of_table, meaning[place])
            if sensitivity is None:
                unjudged += len(own)
                continue
            unsafe[own] = sensitivity.unsafe[1:]
            levels[0, own] = sensitivity.lower[1:]
            levels[1, own] = sensitivity.upper[1:]
            levels[2, own] = sensitivity.sliding[1:]
        bad = parts.only(unsafe)
        return UnsafeParts(
            UnsafeSums(
                _members(bad, system), levels[0, unsafe], levels[1, unsafe], levels[2, unsafe]
            ),
            "; ".join(bad.name(publication, i) for i in range(min(len(bad), _EXAMPLES))),
            JudgedParts(len(parts) - unjudged, unjudged),
        )

    return judge


def _with_room(table: Table, rules: Sequence[Rule]) -> Table:
    """The table, if it lists contributions, with room for as many as rules look at."""
    if table.contributions is None:
        return table
    room = np.zeros((*table.shape, max((r.largest for r in rules), default=0)), dtype=np.int64)
    return replace(table, measures=tuple(replace(m, largest=room) for m in table.measures))


def finest_meanings(
    table: Table, sides: Mapping[str, Side]
) -> dict[str, dict[str, frozenset[str]]]:
    """Variable → finest code → what it stands for beside the other tables."""
    trees = {d.name: d.hierarchy for d in table.dimensions}
    return {
        name: {
            tree.codes[i]: sides[name].meaning[i] or frozenset()
            for i in tree.leaves.tolist()
            if tree.codes[i] not in tree.members
        }
        for name, tree in trees.items()
    }


def _judged(
    rules: Sequence[Rule],
    table: Table,
    parts: Parts,
    meaning: Mapping[str, Mapping[str, frozenset[str]]],
) -> Sensitivity | None:
    """What rules say of parts of a table, behind an empty total; None if they cannot tell."""
    if not rules or table.weight is not None:
        return None
    for unions in _unions(table, parts, meaning):
        try:
            return reduce(or_, [judge_unions(rule, unions) for rule in rules])
        except InputError:  # it looks at contributors who are not known
            continue
    return None


def _unions(
    table: Table, parts: Parts, meaning: Mapping[str, Mapping[str, frozenset[str]]]
) -> Iterator[Table]:
    """The parts as cells: of those who contribute to them, else of as many records."""
    cut = any(parts.cuts_filter(i) for i in range(len(parts)))
    if table.contributions is not None and not cut:
        names = {dimension.name for dimension in table.dimensions}
        inside = [
            {name: codes for name, codes in parts.inside(i).items() if name in names}
            for i in range(len(parts))
        ]
        with suppress(InputError):  # it was tabulated by codes that a part cuts in two
            yield union_table_of_parts(table, inside, meaning)
    if table.frequency:
        codes = ("Total", *map(str, range(1, len(parts) + 1)))
        parent = np.where(np.arange(len(codes)) == 0, -1, 0).astype(np.int32)
        union = Dimension("union", Hierarchy(codes, parent))
        yield Table((union,), np.append(0, parts.value), made_of=ANYWHERE)


def _members(parts: Parts, system: System) -> sparse.csr_array:
    """Each part as a sum of cells of the system, entries 1 and -1."""
    alone = parts.cells[:, 0] < 0
    first, second = parts.cells.T.copy()
    for i in np.flatnonzero(alone).tolist():
        first[i] = cell_inside(system, int(parts.table[i]), parts.inside(i))
    row = np.arange(len(parts))
    entries = np.repeat(np.array([1, -1]), (len(parts), int((~alone).sum())))
    at = np.concatenate((row, row[~alone])), np.concatenate((first, second[~alone]))
    return sparse.csr_array((entries, at), shape=(len(parts), len(system.value)))
