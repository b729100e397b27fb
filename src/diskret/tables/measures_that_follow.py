"""Measures of which one follows from others: what these show it cannot hide.

Revenue is what was sold at home and abroad, all employees are those of full and of part time. Where
no sum of measures says so, no equation ties the tables, but every reader can add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import comb, lcm
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import MeasureError
from diskret.tables.meanings import common_cells
from diskret.tables.one_measure import (
    SAMPLE,
    Valued,
    chance_explains,
    decimals_of,
    finest_of,
)
from diskret.tables.ties import MeasureSum

_PRIME = 2**31 - 1
#: Numerators and denominators of factors are not larger.
_SMALL = 10_000

#: Measure → its factor, in a sum that is 0 in every cell.
Relation = dict[str, int]


class Column(NamedTuple):
    """Values of a measure in some cells; `times` as much is in the units of all others."""

    value: NDArray[np.int64]
    times: int


Columns = dict[str, Column]


def refuse_undeclared_sums(
    new: Sequence[Valued], before: Sequence[Valued] = (), sums: Sequence[MeasureSum] = ()
) -> None:
    """Refuse tables of common records of which a measure that hides cells follows from others.

    Parameters as of `refuse_one_measure_twice`. Not found are, in fewer cells than there are
    measures, sums of more than two.

    Raises
    ------
    MeasureError
        A sum of three measures and more, each times a number, is 0 in all finest cells that they
        share; no sum of measures says so; and chance is no explanation.
    """
    hiding = {one.table.about.measure for one in (*new, *before) if one.hides}
    if not hiding or len({one.table.about.measure for one in (*new, *before)}) < 3:
        return
    counts = {one.table.about.measure for one in (*new, *before) if one.table.frequency}
    declared = [{s.total: 1} | dict.fromkeys(s.parts, -1) for s in sums]
    for one in {cells_of(one): one for one in new}.values():
        for columns, _ in side_by_side(one, [*new, *before], hiding):
            told = [*declared]
            for relation in _relations(columns):
                if not hiding & relation.keys():
                    told.append(relation)  # between measures that show all
                elif len(relation) > 2 and not _follows(relation, told):
                    if _no_chance(relation, columns):
                        raise MeasureError(_said(relation, columns, counts))


def cells_of(one: Valued) -> object:
    """What is the same for tables of the same cells, whatever is measured."""
    about = one.table.about
    trees = ((d.name, d.hierarchy.codes) for d in one.table.dimensions)
    return about.vintage, about.where, *trees


def side_by_side(
    one: Valued, every: Sequence[Valued], hiding: set[str], least: int = 3
) -> Iterator[tuple[Columns, NDArray[np.int64]]]:
    """Measures in the finest cells that they share with a table, and these cells.

    As many as `least` or more, of which one hides cells; those that do come last.
    """
    about, size = one.table.about, one.value.size
    value = {about.measure: one.value.ravel()}
    known = {about.measure: one.known.ravel()}
    unit = {about.measure: decimals_of(one)}
    for other in every:
        name = other.table.about.measure
        if name == about.measure or not about.shares_records(other.table.about):
            continue
        if cells_of(one) == cells_of(other):
            first = second = np.arange(size)
        else:
            first, second = common_cells(one.table, other.table)
        own = value.setdefault(name, np.zeros(size, dtype=np.int64))
        there = known.setdefault(name, np.zeros(size, dtype=bool))
        second, first = (at[other.known.ravel()[second]] for at in (second, first))
        own[first], there[first] = other.value.ravel()[second], True
        unit.setdefault(name, decimals_of(other))
    names = sorted(value, key=lambda name: (name in hiding, name))
    for mask in {known[name].tobytes(): known[name] for name in names}.values():
        inside = [name for name in names if known[name][mask].all()]
        if len(inside) < least or hiding.isdisjoint(inside):
            continue
        cells = np.flatnonzero(mask)
        cells = cells[finest_of(one.table, cells)]
        most = max(unit[name] for name in inside)
        columns = {n: Column(value[n][cells], 10 ** (most - unit[n])) for n in inside}
        yield {name: column for name, column in columns.items() if column.value.any()}, cells


def _relations(columns: Columns) -> Iterator[Relation]:
    """Sums of measures that are 0 in every cell: of each measure that follows from those before.

    Elimination is modulo a prime; what it finds is tried in whole numbers, in all cells.
    """
    names = [*columns]
    if not names:
        return
    rows = np.unique(np.linspace(0, len(columns[names[0]].value) - 1, SAMPLE).astype(np.int64))
    values = [(own.value[rows] % _PRIME) * (own.times % _PRIME) for own in columns.values()]
    reduced, pivots = _eliminated(np.stack(values, axis=1) % _PRIME)
    for at in sorted({*range(len(names))} - {*pivots}):
        before = [(k, pivot) for k, pivot in enumerate(pivots) if pivot < at and reduced[k, at]]
        factors = [_fraction(int(reduced[k, at])) for k, _ in before]
        if None in factors:
            continue
        own = [factor for factor in factors if factor is not None]
        times = lcm(*(factor.denominator for factor in own))
        relation = {names[at]: times}
        relation |= {names[p]: int(-f * times) for (_, p), f in zip(before, own, strict=True)}
        if _holds(relation, columns):
            yield relation
    if len(pivots) == len(rows):  # too few cells to say anything of so many measures
        for one, other, last in combinations(names, 3):
            for total, parts in ((one, (other, last)), (other, (one, last)), (last, (one, other))):
                relation = {total: 1} | dict.fromkeys(parts, -1)
                if _holds(relation, columns):
                    yield relation


def _eliminated(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
    """Reduced row echelon form modulo the prime, and the columns of its pivots."""
    pivots = list[int]()
    for column in range(values.shape[1]):
        rank = len(pivots)
        below = np.flatnonzero(values[rank:, column])
        if not len(below):
            continue
        values[[rank, rank + below[0]]] = values[[rank + below[0], rank]]
        values[rank] = values[rank] * pow(int(values[rank, column]), -1, _PRIME) % _PRIME
        others = values[:, column].copy()
        others[rank] = 0
        values = (values - others[:, None] * values[rank]) % _PRIME
        pivots.append(column)
    return values, pivots


def _fraction(residue: int) -> Fraction | None:
    """The fraction of small numbers that a number modulo the prime stands for, or None.

    >>> _fraction(_PRIME - 3), _fraction(pow(100, -1, _PRIME)), _fraction(123_456_789)
    (Fraction(-3, 1), Fraction(1, 100), None)
    """
    high, low, factor, of_low = _PRIME, residue, 0, 1
    while low > _SMALL:
        high, low, factor, of_low = low, high % low, of_low, factor - high // low * of_low
    return Fraction(low, of_low) if 0 < abs(of_low) <= _SMALL else None


def _holds(relation: Relation, columns: Columns) -> bool:
    """Whether a sum is 0 in every cell, exactly; first modulo 2**64, which is quick."""
    factors = [
        (factor * columns[name].times, columns[name].value) for name, factor in relation.items()
    ]
    wrapped = reduce(add, (np.uint64(f % 2**64) * v.astype(np.uint64) for f, v in factors))
    return not wrapped.any() and not reduce(add, (f * v.astype(object) for f, v in factors)).any()


def _follows(relation: Relation, told: Sequence[Relation]) -> bool:
    """Whether a relation is a sum of others, each times a number."""
    names = sorted({name for one in (*told, relation) for name in one})
    rows = np.array([[one.get(name, 0) for name in names] for one in (*told, relation)])
    ranks = [len(_eliminated(part.astype(np.int64) % _PRIME)[1]) for part in (rows, rows[:-1])]
    return ranks[0] == ranks[1]


def _no_chance(relation: Relation, columns: Columns) -> bool:
    """Whether values are too many and too large to satisfy the relation by chance."""
    values = np.abs(np.stack([columns[name].value for name in relation]))
    least = np.where(values == 0, values.max(axis=0), values).min(axis=0)
    number = len(relation)
    plain = {*map(abs, relation.values())} == {1}
    tried = comb(len(columns), number) * 2 ** (number - 1)
    return not chance_explains(least, 0 if plain else number - 1, tried)


def _said(relation: Relation, columns: Columns, counts: set[str]) -> str:
    cells = max(len(columns[name].value) for name in relation)
    ups, downs = ([n for n, f in relation.items() if f == sign] for sign in (1, -1))
    if len(ups) + len(downs) == len(relation) and 1 in (len(ups), len(downs)):
        [total], parts = (ups, downs) if len(ups) == 1 else (downs, ups)
        equation = f"{total} = {' + '.join(sorted(parts))}"
        said = (
            f"{equation!r} holds in all {cells:,} finest cells that tables of common records "
            "share, and nothing says so: what one of these measures hides the others show. "
        )
        for name in sorted(counts & relation.keys()):
            return said + (
                f"Leave one of them out, or sum a column of ones where {name!r} counts, and "
                "protect all of them in one call with that sum as sums="
            )
        return said + (
            f"Protect all of them in one call with sums=[{equation!r}], or leave one of them out"
        )
    named = ", ".join(map(repr, sorted(relation)))
    return (
        f"of the measures {named} each follows from the others, times some numbers, in all "
        f"{cells:,} finest cells that tables of common records share: what one of them hides the "
        "others show. Leave one of them out"
    )
