"""What the codes and filters of tables stand for when they are read side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diskret.hierarchy.meaning import Shown, base_codes
from diskret.population import Bounds, pieces
from diskret.tables.published import Published
from diskret.tables.table import Table

#: What a code stands for: a set of base codes, or None for everything.
Meaning = frozenset[str] | None


@dataclass(frozen=True, eq=False)
class Side:
    """A variable of one table, beside others.

    Parameters
    ----------
    meaning
        What each code stands for within the filter, the total's first.
    absent
        What other tables show of the variable and nobody of this table's population is in.
    """

    meaning: tuple[Meaning, ...]
    absent: frozenset[str]


def side_by_side(tables: Sequence[Table | Published]) -> list[dict[str, Side]]:
    """The variables of each table, those of its filter last.

    Whether a code of one table is that of another follows from the texts of the records that
    they stand for, see [`base_codes`][diskret.hierarchy.meaning.base_codes]. A table that was
    tabulated shows all texts that its records have, so others are nobody's there.

    Raises
    ------
    HierarchyError
        It cannot be told what a code of an already tabulated file stands for.
    """
    names = dict.fromkeys(name for table in tables for name in _variables(table))
    sides = {name: _sides(tables, name) for name in names}
    return [{name: sides[name][i] for name in _variables(t)} for i, t in enumerate(tables)]


def _variables(table: Table | Published) -> list[str]:
    own = [dimension.name for dimension in table.dimensions]
    return own + [name for name, _ in table.where if name not in own]


def _sides(tables: Sequence[Table | Published], name: str) -> dict[int, Side]:
    """What a variable is in the tables that have it."""
    trees = {i: d.hierarchy for i, t in enumerate(tables) for d in t.dimensions if d.name == name}
    asked = {i: t.where.asked[name] for i, t in enumerate(tables) if name in t.where.asked}
    lists = {i: codes for i, codes in asked.items() if not isinstance(codes, Bounds)}
    recorded = {i for i, table in enumerate(tables) if table.recorded}
    every = [*trees.items(), *lists.items()]
    read = base_codes([Shown(codes, i in recorded) for i, codes in every])
    bases = dict(zip(trees, read, strict=False))
    let = {i: _union(own) for i, own in zip(lists, read[len(trees) :], strict=True)}
    known = _union([*(own[0] for own in bases.values()), *let.values()])
    bounds = [i for i in asked if i not in lists]
    let |= dict(zip(bounds, pieces([asked[i] for i in bounds], sorted(known)), strict=True))
    everything = _union(
        [*(bases[i][0] for i in recorded & {*bases}), *(let[i] for i in recorded & {*let})]
    )

    def side(i: int) -> Side:
        only = let.get(i)
        if i not in bases:
            return Side((only,), frozenset())
        inside = bases[i] if only is None else [codes & only for codes in bases[i]]
        around = everything if only is None else only & everything
        absent = around - bases[i][0] if i in recorded else frozenset[str]()
        return Side((only, *inside[1:]), absent)

    return {i: side(i) for i in {*bases, *let}}


def _union(codes: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*codes)
