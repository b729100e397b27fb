"""Grid cells and municipalities: what tables by different variables leave of each other's cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, islice, product
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import JudgedParts, UnsafeSums
from diskret.attack.all_cells import all_cells
from diskret.attack.equations import cell_name
from diskret.errors import InputError
from diskret.io import Source, source
from diskret.population import Population
from diskret.protect.arguments import rules_judging_unions
from diskret.protect.attackers import LISTED
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.plan import TableToProtect
from diskret.rules import Rule, Sensitivity
from diskret.rules.unions import judge_unions
from diskret.tables import Publication, Table
from diskret.tables.contributions import Asked
from diskret.tables.requirements import stacked
from diskret.tables.unions import union_table

if TYPE_CHECKING:
    from diskret.attack.crossed import CrossedRests
    from diskret.engines import LeafQuestion, Leaves
    from diskret.tables.crossed import Crossed

_EXAMPLES = 3
#: A rest of no more records is named where no rule can judge it.
_ALONE = 2
#: Larger crossings are not judged.
_MOST_PIECES = 1_000_000
_MOST_RESTS = 5_000_000
#: No more sets of three variables are judged.
_MOST_TRIPLES = 20


@dataclass(frozen=True, eq=False)
class UnsafeCrossed:
    """Unsafe rests, as sums of cells; what they are called, what was judged.

    `alone` names rests of one or two records that no rule could judge.
    """

    sums: UnsafeSums
    named: str
    alone: str
    judged: JudgedParts


#: The unsafe rests that a publication reveals.
CrossedJudge = Callable[[Publication], UnsafeCrossed]


@dataclass(frozen=True, eq=False)
class Crossings:
    """How variables lie in each other, as records told, of new tables and of all.

    found: each with the rules that judge what is left. missing: how many could not be told.
    """

    found: tuple[tuple[Crossed, tuple[Rule, ...]], ...]
    missing: int

    def staying(
        self, to_protect: Sequence[TableToProtect], before: EarlierTables
    ) -> list[TableToProtect]:
        """New tables with the cells that an earlier one shows as those of another variable.

        Hiding these protects nobody.
        """
        known = [np.zeros(one.table.shape, dtype=bool) for one in to_protect]
        for own, _ in self.found:
            if len(own.groupings) > 2:
                continue
            (new, cells), (place, others) = _the_same(own)
            if place >= len(known):
                seen = before.earlier[place - len(known)].published
                known[new].ravel()[cells[~seen.suppressed.ravel()[others]]] = True
        return [
            one.staying(where & ~one.sensitivity.unsafe)
            for one, where in zip(to_protect, known, strict=True)
        ]


def crossings(to_protect: Sequence[TableToProtect], before: EarlierTables) -> Crossings:
    """Ask the records once more, by pairs of variables and by three.

    Where they are gone, or tables are not of the same records, nothing is told.
    """
    new = [one.table for one in to_protect]
    tables = [*new, *before.tables]
    found: list[tuple[Crossed, tuple[Rule, ...]]] = []
    counted: dict[object, Leaves] = {}
    missing, weighted = 0, any(table.weight is not None for table in new)
    for places, names in _pairs(tables, len(new)):
        rules = () if weighted else rules_judging_unions(tables[places[0]].measure.name, to_protect)
        most = max((rule.largest for rule in rules), default=0)
        made = _crossed(tables, places, names, most, counted)
        if made is None:
            missing += 1
        else:
            found.append((made, rules))
    for places, names in islice(_triples(new), _MOST_TRIPLES):  # none of these is claimed
        rules = () if weighted else rules_judging_unions(new[places[0]].measure.name, to_protect)
        most = max((rule.largest for rule in rules), default=0)
        if rules and (made := _crossed(new, places, names, most, counted)) is not None:
            found.append((made, rules))
    return Crossings(tuple(found), missing)


def crossed_judge(told: Crossings, cells: int) -> CrossedJudge | None:
    """What the rules say of what tables by different variables leave of each other's cells.

    None if all tables have the same variables.
    """
    found, missing = told.found, told.missing
    if not found and not missing:
        return None

    def judge(publication: Publication) -> UnsafeCrossed:
        from diskret.attack.crossed import crossed_rests
        from diskret.protect.crossed_unions import crossed_unions

        asked, named, alone = list[UnsafeSums](), list[str](), list[str]()
        judged, left = 0, missing
        for own, rules in found:
            if len(own.groupings) == 2:
                same, its = shown_under_another_name(publication, own, cells)
                asked.append(same)
                named += its
            if not rules:
                left += 1
                alone += _alone(publication, own, crossed_rests(publication, own))
                continue
            rests, complete = crossed_unions(publication, own, rules)
            if len(own.groupings) == 2:
                rests = crossed_rests(publication, own).beside(rests)
                left += not complete
            judged += len(rests)
            if not len(rests):
                continue
            told = _judged(rules, own, rests)
            secret = _is_hidden(publication, own, rests)
            bad = told.unsafe[1:] | secret
            if bad.any():
                unsafe = rests.only(bad)
                lower, upper, sliding = (
                    of[1:][bad] * unsafe.times for of in (told.lower, told.upper, told.sliding)
                )
                sliding = np.maximum(sliding, secret[bad])  # no exact value
                member = _widened(unsafe.member, cells)
                asked.append(UnsafeSums(member, lower, upper, sliding, signed=unsafe.signed))
                named += [unsafe.name(publication, i) for i in range(min(len(unsafe), _EXAMPLES))]
        return UnsafeCrossed(
            stacked(asked, cells),
            "; ".join(named[:_EXAMPLES]),
            "; ".join(alone[:_EXAMPLES]),
            JudgedParts(judged, left),
        )

    return judge


def shown_under_another_name(
    publication: Publication, own: Crossed, cells: int
) -> tuple[UnsafeSums, list[str]]:
    """Cells that are published, and hidden as a category of another variable; their names.

    Categories of the same records, a city that is a land, have the same cells.
    """
    starts, unknown = publication.starts, all_cells(publication).unknown
    pair = np.stack([starts[table] + own_cells for table, own_cells in _the_same(own)])
    hidden = unknown[pair]
    shown = np.unique(np.where(hidden[0], pair[1], pair[0])[hidden[0] != hidden[1]])
    number = len(shown)
    member = sparse.csr_array(
        (np.ones(number, dtype=np.int64), (np.arange(number), shown)), shape=(number, cells)
    )
    none = np.zeros(number, dtype=np.int64)
    names = [cell_name(publication, int(cell)) for cell in shown[:_EXAMPLES]]
    return UnsafeSums(member, none, none, none + 1, number), names


def _the_same(own: Crossed) -> tuple[tuple[int, NDArray[np.intp]], tuple[int, NDArray[np.intp]]]:
    """Cells of two tables that hold the same records: each table's position, and its cells."""
    first, second = own.groupings
    size = [np.diff(grouping.pieces.indptr) for grouping in own.groupings]
    common = sparse.coo_array(first.pieces @ second.pieces.T)
    same = (common.data == size[0][common.row]) & (common.data == size[1][common.col])
    same &= first.some[common.row] & second.some[common.col]
    return (
        (first.table, first.cells[common.row[same]].ravel()),
        (second.table, second.cells[common.col[same]].ravel()),
    )


def _is_hidden(publication: Publication, own: Crossed, rests: CrossedRests) -> NDArray[np.bool_]:
    """Which rests are the records of a cell that is hidden, which they would tell."""
    unknown = all_cells(publication).unknown
    hidden = set[bytes]()
    for grouping in own.groupings:
        cells = publication.starts[grouping.table] + grouping.cells
        for context in range(own.contexts.shape[0]):
            codes = np.flatnonzero(unknown[cells[:, context]])
            there = sparse.csr_array(grouping.pieces[codes].multiply(own.contexts[[context]]))
            hidden.update(_rows(there))
    plain = ~rests.signed & (rests.times == 1)
    found = [row in hidden for row in _rows(rests.pieces)]
    return np.array(found, dtype=bool) & plain


def _rows(matrix: sparse.csr_array) -> list[bytes]:
    """The columns of each row as something that can be compared."""
    matrix.sort_indices()
    parts = np.split(matrix.indices.astype(np.int64), matrix.indptr[1:-1])
    return [part.tobytes() for part in parts][: matrix.shape[0]]


def _pairs(tables: Sequence[Table], new: int) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """Tables that may be of the same records, and a variable of each that the other one lacks.

    Who filters by a variable has it, for the other table as for a map. The first of each pair is
    new. Pairs of variables of which some table shows the combinations are left out:
    there the equations between cells say everything.
    """
    shown = [{d.name for d in table.dimensions} for table in tables]
    asked = [{*t.where.asked} - s for t, s in zip(tables, shown, strict=True)]
    names = [one | other for one, other in zip(shown, asked, strict=True)]
    for i, j in combinations(range(len(tables)), 2):
        one, other = tables[i], tables[j]
        if i >= new or not one.about.shares_cells(other.about):
            continue
        for pair in product(sorted(names[i] - names[j]), sorted(names[j] - names[i])):
            if not any({*pair} <= own for own in shown):
                yield (i, j), pair


def _triples(
    tables: Sequence[Table],
) -> Iterator[tuple[tuple[int, int, int], tuple[str, str, str]]]:
    """Three tables that may be of the same records, and a variable of each that others lack."""
    pairs = set(_pairs(tables, len(tables)))
    for places in combinations(range(len(tables)), 3):
        names = [sorted(d.name for d in tables[place].dimensions) for place in places]
        for one, other, last in product(*names):
            i, j, k = places
            wanted = ((i, j), (one, other)), ((i, k), (one, last)), ((j, k), (other, last))
            if all(pair in pairs for pair in wanted):
                yield (i, j, k), (one, other, last)


def _crossed(
    tables: Sequence[Table],
    places: tuple[int, ...],
    names: tuple[str, ...],
    largest: int,
    counted: dict[object, Leaves],
) -> Crossed | None:
    """The records by these variables and all that the tables share; None if nobody can tell.

    counted: what the records were asked before, which is not asked twice.
    """
    one, *others = (tables[i] for i in places)
    if one.asked is None:
        return None
    every = [one.asked]
    where, *wheres = (_beyond(tables[i], name) for i, name in zip(places, names, strict=True))
    for other in others:
        if other.asked is None or not one.asked.same_records(other.asked):
            return None
        if _whose(one.asked) != _whose(other.asked):
            return None
        every.append(other.asked)
    bounded = any(name in tables[i].where.bounded for i, name in zip(places, names, strict=True))
    if bounded or any(its != where for its in wheres):
        return None
    from diskret.protect.tabulate import leaves_of
    from diskret.tables.crossed import crossed

    questions = [asked.question for asked in every]
    first, (records, engine) = questions[0], _with_cells(every)
    shared = [n for n in first.by if all(n in own.by for own in questions)]
    named = first.unit is not None or first.holding is not None
    question = replace(
        first,
        by={name: own.by.get(name) for name, own in zip(names, questions, strict=True)}
        | {name: first.by[name] for name in shared},
        where=where,
        totals={name: of for own in reversed(questions) for name, of in own.totals.items()},
        record_key=None,
        largest=max(first.largest, largest),
        contributions=named and first.weight is None,
        most_listed=LISTED,
    )
    asked = _said(question, tables, one.asked)
    if asked not in counted:
        opened = records if isinstance(records, Source) else source(records)
        try:
            counted[asked] = leaves_of(opened, question, engine)
        except InputError:  # what a filter asks for may have no codes elsewhere
            return None
    leaves = counted[asked]
    if len(leaves.count) > _MOST_PIECES or (question.contributions and leaves.listed is None):
        return None
    with suppress(InputError):  # codes were combined in a way that nobody knows
        made = crossed(tables, places, names, leaves)
        contexts = made.contexts.shape[0]
        rests = contexts * sum(len(g.parent) for g in made.groupings)
        return made if rests <= _MOST_RESTS and _unchanged(made, tables) else None
    return None


def _with_cells(every: Sequence[Asked]) -> tuple[Any, Callable[..., Any] | None]:
    """Records and engine of one of the tables: one whose records have cells that are computed."""
    computed = [a for a in every if isinstance(a.records, Source) and a.records.cells is not None]
    found = (computed or every)[0]
    return found.records, found.engine


def _said(question: LeafQuestion, tables: Sequence[Table], asked: Asked) -> object:
    """What is asked of which records, as something that can be compared."""
    which = next(i for i, t in enumerate(tables) if t.asked and t.asked.same_records(asked))
    by = [
        (name, tree and (tree.codes, tree.parent.tobytes())) for name, tree in question.by.items()
    ]
    who = map(repr, _whose(asked))
    return which, *by, question.where, question.largest, *question.totals.items(), *who


def _beyond(table: Table, name: str) -> Population:
    """What a table asks of records besides a variable that it may show."""
    shown = any(d.name == name for d in table.dimensions)
    return table.where if shown else table.where.without([name])


def _whose(asked: Asked) -> tuple[object, ...]:
    of = asked.question
    return of.unit, of.holding, of.weight, of.weight_decimals, of.marks, dict(of.values)


def _unchanged(made: Crossed, tables: Sequence[Table]) -> bool:
    """Whether the records are still what the tables were made of."""
    of = made.records.count
    if of is None:
        return False
    counted = [(g, tables[g.table].count) for g in made.groupings]
    return all(
        count is None or count.ravel()[0] == (grouping.pieces[[0]] @ of.ravel()[1:])[0]
        for grouping, count in counted
    )


def _judged(rules: Sequence[Rule], own: Crossed, rests: CrossedRests) -> Sensitivity:
    """What rules say of rests, behind an empty total."""
    nothing = sparse.csr_array((len(rests), 1), dtype=np.int64)
    member = sparse.hstack([nothing, rests.pieces], format="csr")
    unions = union_table(own.records, member)
    unions = unions.of_units() if own.records.counted == "units" else unions
    return reduce(or_, [judge_unions(rule, unions) for rule in rules])


def _widened(member: sparse.csr_array, cells: int) -> sparse.csr_array:
    """The same sums in a system that has more cells behind those that are published."""
    return sparse.csr_array(
        (member.data, member.indices, member.indptr), shape=(member.shape[0], cells)
    )


def _alone(publication: Publication, own: Crossed, rests: CrossedRests) -> list[str]:
    """The names of rests of one or two records."""
    if own.records.count is None or not len(rests):
        return []
    records = rests.pieces @ own.records.count.ravel()[1:]
    return [rests.name(publication, i) for i in np.flatnonzero(records <= _ALONE).tolist()]
