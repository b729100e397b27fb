"""Parts of categories that nobody published: none that subtraction reveals may be unsafe."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import JudgedParts, Parts, UnsafeSums, overlapping, revealed_parts
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.hierarchy.meaning import base_codes
from diskret.release import Earlier
from diskret.rules import Sensitivity
from diskret.rules.unions import judge_unions, rules_for_unions
from diskret.system import System, cell_inside
from diskret.tables import Publication, Table
from diskret.tables.dimension import Dimension
from diskret.tables.unions import union_table_of_parts
from diskret.workflow.beside import Beside, with_contributors
from diskret.workflow.orders import Order

_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class UnsafeParts:
    """Revealed parts that a rule finds unsafe. Confidential.

    Parameters
    ----------
    sums
        Each as a sum of cells of the protector's system, entries 1 and -1, with its levels.
    named
        The first of them in words.
    judged
        How many parts were revealed and judged, and how many could not be.
    """

    sums: UnsafeSums
    named: str
    judged: JudgedParts


#: The unsafe parts that a publication reveals.
PartsJudge = Callable[[Publication], UnsafeParts]


def parts_judge(
    orders: Sequence[Order],
    before: Beside,
    system: System,
    public: Callable[[NDArray[np.bool_]], Publication],
) -> PartsJudge | None:
    """What the rules say of parts that published cells reveal by subtraction.

    Parts of a new table are judged by its own rule, those of an earlier table by the rule for a
    new table of the same measure. A part that earlier tables reveal by themselves cannot be
    protected any more and is left out. None if no categories overlap.

    Parameters
    ----------
    orders
        The new tables and their rules.
    before
        What was published before; its tables stand behind the new ones.
    system
        The cells of all tables, as `joint_system` makes it.
    public
        What the world sees when these cells are suppressed.
    """
    if len(orders) + len(before.tables) == 1:
        return None
    everything = public(np.ones(len(system.value), dtype=bool))
    if not overlapping(everything):
        return None
    known: set[tuple[object, ...]] = set()
    if before.tables:
        hidden = revealed_parts(everything)
        known = {hidden.key(everything, i) for i in range(len(hidden))}
    rules: list[tuple[Any, Table]] = [
        *((order.rule, order.table) for order in orders),
        *(_of_earlier(e, table, orders) for e, table in before.pairs),
    ]
    meaning = _meanings([table for _, table in rules])

    def judge(publication: Publication) -> UnsafeParts:
        found = revealed_parts(publication)
        keys = (found.key(publication, i) for i in range(len(found) if known else 0))
        new = np.array([key not in known for key in keys] or [True] * len(found), dtype=bool)
        parts = found.only(new)
        unsafe = np.zeros(len(parts), dtype=bool)
        levels = np.zeros((3, len(parts)), dtype=np.int64)
        unjudged = 0
        for place in np.unique(parts.table).tolist():
            own = np.flatnonzero(parts.table == place)
            rule, table = rules[place]
            sensitivity = _judged(rule, table, parts.only(parts.table == place), meaning)
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


def _of_earlier(earlier: Earlier, table: Table, orders: Sequence[Order]) -> tuple[Any, Table]:
    rules = [o.rule for o in orders if o.table.measure.name == earlier.published.measure]
    untold = earlier.perturbed or earlier.weight is not None
    if not rules or isinstance(rules[0], Sensitivity) or untold:
        return None, table
    return rules[0], with_contributors(earlier, table, rules[0].largest)


def _meanings(tables: Sequence[Table]) -> dict[str, dict[str, frozenset[str]]]:
    """Variable → code → the finest codes that it stands for."""
    trees: defaultdict[str, list[Hierarchy]] = defaultdict(list)
    for table in tables:
        for dimension in table.dimensions:
            trees[dimension.name].append(dimension.hierarchy)
    return {name: base_codes(of) for name, of in trees.items()}


def _judged(
    rule: Any, table: Table, parts: Parts, meaning: Mapping[str, Mapping[str, frozenset[str]]]
) -> Sensitivity | None:
    """What a rule says of parts of a table, behind an empty total; None if it cannot tell."""
    if rule is None or isinstance(rule, Sensitivity) or table.weight is not None:
        return None
    if not rules_for_unions(rule)[0]:
        return None
    for unions in _unions(table, parts, meaning):
        try:
            return judge_unions(rule, unions)
        except InputError:  # it looks at contributors who are not known
            continue
    return None


def _unions(
    table: Table, parts: Parts, meaning: Mapping[str, Mapping[str, frozenset[str]]]
) -> Iterator[Table]:
    """The parts as cells: of those who contribute to them, else of as many records."""
    if table.contributions is not None:
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
        yield Table((union,), np.append(0, parts.value))


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
