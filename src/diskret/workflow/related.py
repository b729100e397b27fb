"""Which earlier tables say something of new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diskret.population import Population
from diskret.release.ledger import UNBOUNDED, Entry
from diskret.tables import MeasureSum, Published, Table


class Kind(NamedTuple):
    """What a table is about: measure, period and revision, and population."""

    measure: str
    vintage: str
    where: Population


def kind_of(table: Table | Published) -> Kind:
    """What a table is about."""
    if isinstance(table, Table):
        return Kind(table.measure.name, table.vintage, table.where)
    return Kind(table.measure, table.vintage, table.where)


def tied(one: Kind, other: Kind, sums: Sequence[MeasureSum] = ()) -> bool:
    """Whether equations can hold between two tables, as in `linked`.

    Examples
    --------
    >>> small, large = (Population.of({"staff": staff}) for staff in ({"max": 9}, {"min": 10}))
    >>> tied(Kind("sales", "2025", small), Kind("sales", "2025", Population()))
    True
    >>> tied(Kind("sales", "2025", small), Kind("sales", "2025", large))
    False
    """
    if one.vintage != other.vintage:
        return False
    if one.measure == other.measure and one.where.overlaps(other.where):
        return True
    return any({one.measure, other.measure} <= {s.total, *s.parts} for s in sums)


def related(
    entries: Sequence[Entry], kinds: Sequence[Kind], sums: Sequence[MeasureSum] = ()
) -> list[tuple[Entry, int]]:
    """The tables of releases, by their positions, that are tied to tables of these kinds.

    Also those that are tied to them only through other tables of releases. Tables with values
    changed without a bound tell nothing of others and are none of them.
    """
    every = [*sums, *(equation for entry in entries for equation in entry.sums)]
    rest = [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed != UNBOUNDED
    ]
    found: set[tuple[int, int]] = set()
    kinds = list(kinds)
    while kinds:
        kind = kinds.pop()
        for entry, at in rest:
            note = entry.tables[at]
            its = Kind(note.measure, note.vintage, note.where)
            if (entry.number, at) not in found and tied(kind, its, every):
                found.add((entry.number, at))
                kinds.append(its)
    return [(entry, at) for entry, at in rest if (entry.number, at) in found]
