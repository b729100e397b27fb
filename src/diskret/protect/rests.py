"""What subtraction leaves beside a filter: judged by those who really contribute to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import permutations
from operator import or_

import numpy as np
from numpy.typing import NDArray

from diskret.attack import JudgedParts, Rests, UnsafeSums, beside_filters, revealed_rests
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.protect.arguments import rules_of
from diskret.protect.earlier_tables import EarlierTables
from diskret.protect.plan import TableToProtect
from diskret.rules import MinimumFrequency, Rule, Sensitivity, Varying
from diskret.rules.unions import judge_unions, rules_for_unions
from diskret.tables import Earlier, Measure, Publication, Table
from diskret.tables.dimension import Dimension
from diskret.tables.made_of import MadeOf
from diskret.tables.requirements import stacked
from diskret.tables.rests import beyond_whole, rest_table, wholes_of

_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class UnsafeRests:
    """Rests that rules find unsafe, as sums of cells; what they are called, what was judged."""

    sums: UnsafeSums
    named: str
    judged: JudgedParts


#: The unsafe rests that a publication reveals.
RestsJudge = Callable[[Publication], UnsafeRests]


def rests_judge(
    to_protect: Sequence[TableToProtect],
    before: EarlierTables,
    cells: int,
    public: Callable[[NDArray[np.bool_]], Publication],
) -> RestsJudge | None:
    """What the rules say of what published cells leave beside filters.

    Rests that earlier tables reveal by themselves cannot be protected any more and are left out.
    None if there is no cell of which a filter lets only a part through.

    to_protect: the new tables and their rules.
    before: what was published before; its tables stand behind the new ones.
    cells: number of cells of the protector's system.
    public: what the world sees when these cells are suppressed.
    """
    if len(to_protect) + len(before.tables) == 1:
        return None
    everything = public(np.ones(cells, dtype=bool))
    if not beside_filters(everything):
        return None
    _warn_of_open_ends(everything)
    known: set[tuple[int, ...]] = set()
    if before.tables:
        known = {key for rests in revealed_rests(everything) for key in _keys(rests)}
    tables = _comparable(to_protect, before)
    listed = [*(o.table for o in to_protect), *before.tables]

    def judge(publication: Publication) -> UnsafeRests:
        starts = publication.starts
        asked: list[UnsafeSums] = []
        named: list[str] = []
        judged = unjudged = 0
        for found in revealed_rests(publication):
            rests = found.only(np.array([key not in known for key in _keys(found)], dtype=bool))
            if not len(rests):
                continue
            own = [tables[i] for i in rests.tables]
            rules = rules_of(listed[rests.tables[0]].measure.name, to_protect)
            cells_of = rests.cells - starts[[*rests.tables]]
            somebody = _somebody(own, cells_of) & ~beyond_whole(own, cells_of)
            judged += int((~somebody).sum())
            rests = rests.only(somebody)
            told, complete = judged_rests(rules, own, rests, cells_of[somebody])
            judged += len(rests) if complete else 0
            unjudged += 0 if complete else len(rests)
            if told is None:
                continue
            bad = told.unsafe[1:]
            levels = (told.lower[1:][bad], told.upper[1:][bad], told.sliding[1:][bad])
            unsafe = rests.only(bad)
            asked.append(UnsafeSums(unsafe.member(cells), *levels))
            named += [unsafe.name(publication, i) for i in range(len(unsafe))]
        return UnsafeRests(
            stacked(asked, cells), "; ".join(named[:_EXAMPLES]), JudgedParts(judged, unjudged)
        )

    return judge


def _warn_of_open_ends(publication: Publication) -> None:
    """Where a filter is a part of another one only if nobody lies beyond: differences are judged.

    What else readers could tell who know that nobody does is not.
    """
    for one, other in permutations(publication.tables, 2):
        clipped = other.where.up_to(one.where)
        alike = (one.measure, one.vintage) == (other.measure, other.vintage)
        if alike and clipped.inside(one.where) and not other.where.inside(one.where):
            warnings.warn(
                f"{one.name!r} is filtered by {one.where}, {other.name!r} by {other.where}. If "
                "nobody lies beyond the first filter, the second one is a part of it, but only "
                f"the differences of their cells are judged. If so, filter by {clipped} in place "
                f"of {other.where}",
                stacklevel=2,
            )
            return


def _keys(rests: Rests) -> Iterator[tuple[int, ...]]:
    return map(tuple, rests.cells.tolist())


def _comparable(to_protect: Sequence[TableToProtect], before: EarlierTables) -> list[Table]:
    """All tables, the new ones first, with contributors by the names that all have."""

    def of(table: Table, earlier: Earlier | None) -> Table:
        who = table.contributions if earlier is None else earlier.contributions
        if earlier is not None and (earlier.perturbed or earlier.weight is not None):
            return replace(table, contributions=None)
        return replace(table, contributions=before.named_alike(who, earlier))

    new = [of(one.table, None) for one in to_protect]
    return [*new, *(of(table, earlier) for earlier, table in before.pairs)]


def _somebody(tables: Sequence[Table], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where tables count records, whether any is left; where nothing is known, somebody is.

    Less than none is left where a filter with an open end has records that the whole does not have.
    """
    number = np.zeros(len(cells), dtype=np.int64)
    for table, at, sign in zip(tables, cells.T, [1] + [-1] * (len(tables) - 1), strict=True):
        if table.count is None or table.count is table.units:
            return np.ones(len(cells), dtype=bool)
        number += sign * table.count.ravel()[at]
    return number > 0


def judged_rests(
    rules: Sequence[Rule],
    tables: Sequence[Table],
    rests: Rests,
    cells: NDArray[np.int64],
) -> tuple[Sensitivity | None, bool]:
    """What rules say of rests, behind an empty total, and whether they could say all."""
    if not rules or any(isinstance(rule, Sensitivity) for rule in rules):
        return None, False
    used = [rule for rule in rules if rules_for_unions(rule)[0]]
    if len(used) < len(rules) or any(table.weight is not None for table in tables):
        return None, False
    model = model_of(used, tables)
    with suppress(InputError):  # contributions are not listed, or not of all that a rule looks at
        left = rest_table(model, tables, cells)
        return _by(used, left), True
    with suppress(InputError):  # it looks at contributors, who are not known
        if model.frequency:
            return _by(used, counted_rests(rests.value, wholes_of(tables, cells))), True
    counts = [table.units if table.units is not None else table.count for table in tables]
    least = [own for rule in used for own in _frequencies(rule)]
    if model.frequency or not least or any(count is None for count in counts):
        return None, False
    each = [c.ravel()[at] for c, at in zip(counts, cells.T, strict=True) if c is not None]
    number = np.maximum(each[0] - sum(each[1:]), 0)
    # every record a contributor of its own, and counted: nothing is left to be told
    alone = all(table.contributors == "records" and table.units is None for table in tables)
    enough = alone and all(len(_frequencies(r)) == len(rules_for_unions(r)[0]) for r in used)
    wholes = wholes_of(tables, cells)
    return _by(least, counted_rests(number, wholes, model.measure, rests.value)), enough


def model_of(rules: Sequence[Rule], tables: Sequence[Table]) -> Table:
    """One of the tables, with room for as many contributions as rules look at."""
    model = next((t for t in tables if t.measures and t.count is not None), tables[0])
    room = np.zeros((*model.shape, max(r.largest for r in rules)), dtype=np.int64)
    return replace(model, measures=tuple(replace(m, largest=room) for m in model.measures))


def _by(rules: Sequence[Rule], rests: Table) -> Sensitivity:
    return reduce(or_, [judge_unions(rule, rests) for rule in rules])


def _frequencies(rule: Rule) -> list[Rule]:
    """The minimum frequencies among joined rules, whatever they count."""

    def of_records(one: Rule) -> Rule | None:
        if isinstance(one, Varying):  # all that is inside is one rule
            inside = of_records(one.rules_inside[0])
            return inside and one.with_rules(lambda _: inside)
        return replace(one, of=None) if isinstance(one, MinimumFrequency) else None

    found = (of_records(one) for one in rules_for_unions(rule)[0])
    return [one for one in found if one is not None]


def counted_rests(
    number: NDArray[np.int64],
    wholes: MadeOf,
    measure: Measure | None = None,
    value: NDArray[np.int64] | None = None,
) -> Table:
    """A table of so many records, perhaps with their sums, behind an empty total.

    wholes: the cells in which they lie.
    """
    codes = ("Total", *map(str, range(1, len(number) + 1)))
    parent = np.where(np.arange(len(codes)) == 0, -1, 0).astype(np.int32)
    union = Dimension("rest", Hierarchy(codes, parent))
    count = np.append(0, number)
    if measure is None or value is None:
        return Table((union,), count, made_of=wholes)
    total = np.append(0, value)
    nobody = np.empty((len(codes), 0), dtype=np.int64)
    own = Measure(measure.name, measure.decimals, total, np.abs(total), nobody, signed=True)
    return Table((union,), count, measures=(own,), made_of=wholes)
