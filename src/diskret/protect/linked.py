"""Tables that are protected and published together: how they are tied, their names, empty cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.system import definitions
from diskret.tables import MeasureSum, Table
from diskret.tables.ties import tied_groups, tied_pairs


def linked(tables: Sequence[Table], sums: Sequence[MeasureSum] = ()) -> list[list[int]]:
    """Groups of tables that equations tie together, each in the order given."""
    abouts = [table.about for table in tables]
    for equation in sums:
        missing = {equation.total, *equation.parts} - {about.measure for about in abouts}
        if missing:
            raise InputError(
                f"sums=: '{equation}' names {', '.join(map(repr, sorted(missing)))}, but no table "
                "has this measure; a sum ties tables that are protected together"
            )
    pairs = tied_pairs(abouts, sums)
    _refuse_unlike_weights(tables, pairs)
    return tied_groups(len(tables), pairs)


def _refuse_unlike_weights(tables: Sequence[Table], tied: Sequence[tuple[int, int]]) -> None:
    for pair in tied:
        one, other = (tables[i] for i in pair)
        if one.weight != other.weight and not (one.frequency or other.frequency):
            said = [f"by {t.weight!r}" if t.weight else "by nothing" for t in (one, other)]
            raise InputError(
                f"tables of {one.measure.name!r} and {other.measure.name!r} have records in common "
                f"but are weighted {said[0]} and {said[1]}, so no equation ties what one shows to "
                "what the other hides; tabulate both with the same weight="
            )


def sums_between(tables: Sequence[Table], sums: Sequence[MeasureSum]) -> tuple[MeasureSum, ...]:
    """The sums that are about these tables."""
    names = {table.measure.name for table in tables}
    return tuple(equation for equation in sums if equation.total in names)


def default_names(tables: Sequence[Table], names: Sequence[str | None] | None) -> list[str]:
    """A name for each table; by default its measure, with the variables if there are several."""
    if names is None:
        measures = [table.measure.name for table in tables]
        given: list[str | None] = [None] * len(tables)
        for i, table in enumerate(tables):
            if measures.count(measures[i]) > 1:
                parts = [measures[i], *(d.name for d in table.dimensions), table.vintage]
                stem = name = "_".join(part for part in parts if part)
                number = 1
                while name in given:
                    number += 1
                    name = f"{stem}_{number}"
                given[i] = name
    else:
        given = list(names) if not isinstance(names, str) else [names]
    if len(given) != len(tables):
        raise InputError(
            f"name= has {len(given)} entries for {len(tables)} tables; give one for each"
        )
    found = [name or table.measure.name for name, table in zip(given, tables, strict=True)]
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise InputError(
            f"several tables are called {', '.join(map(repr, twice))}; give each a name of its own "
            "with name=[...]"
        )
    return found


def known_empty(
    tables: Sequence[Table], shown: Sequence[NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    """Empty cells of each table that some table shows as empty, whatever its measure.

    Where nobody is counted nothing is earned: an empty cell of a table of turnover says that
    the number of firms is 0 there, too, and the other way round.

    shown: which cells of each table are shown as empty, in its shape.

    Returns for each table which of its empty cells are known, in its shape, bool.
    """
    known = [np.zeros(table.shape, dtype=bool) for table in tables]
    for vintage in {table.vintage for table in tables}:
        own = [i for i, table in enumerate(tables) if table.vintage == vintage]
        defined = definitions([tables[i] for i in own])
        seen = np.concatenate([where[shown[i]] for i, where in zip(own, defined, strict=True)])
        for i, where in zip(own, defined, strict=True):
            known[i] = tables[i].empty & np.isin(where, seen)
    return known
