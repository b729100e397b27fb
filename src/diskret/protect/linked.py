"""Tables that are published together: how they are tied, what they are called, what they share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.protect.arguments import for_each
from diskret.system import definitions
from diskret.tables import Earlier, MeasureSum, Published, Table
from diskret.tables.dimension import describe_some
from diskret.tables.meanings import common_cells
from diskret.tables.measures_that_follow import refuse_undeclared_sums
from diskret.tables.nearly_follow import refuse_sums_but_for_rounding
from diskret.tables.one_measure import (
    Valued,
    mostly_equal,
    refuse_one_measure_twice,
    remembered,
    valued,
)
from diskret.tables.renamed import refuse_renamed_categories
from diskret.tables.ties import refuse_two_spellings, tied_groups, tied_pairs
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.publish.contract import Protected

Scalar = TypeVar("Scalar", bound=np.generic)


def linked(tables: Sequence[Table], sums: Sequence[MeasureSum] = ()) -> list[list[int]]:
    """Groups of tables that equations tie together, each in the order given."""
    refuse_two_spellings(tables)
    _refuse_two_periods(tables)
    abouts = [table.about for table in tables]
    for equation in sums:
        missing = {equation.total, *equation.parts} - {about.measure for about in abouts}
        if missing:
            raise InputError(
                f"sums=: '{equation}' names {', '.join(map(repr, sorted(missing)))}, but no table "
                "has this measure; a sum ties tables that are protected together"
            )
    pairs = tied_pairs(abouts, sums)
    _refuse_different_weights(tables, pairs)
    return tied_groups(len(tables), pairs)


def _refuse_two_periods(tables: Sequence[Table]) -> None:
    """Refuse tables of the same records that are said to be of two periods, which ties nothing."""
    for one, other in combinations(tables, 2):
        if one.asked is None or other.asked is None:
            continue
        if one.about.of_another_period(other.about) and one.asked.same_records(other.asked):
            raise InputError(
                f"two tables of {one.measure.name!r} from the same records are of the vintages "
                f"{one.vintage!r} and {other.vintage!r}, so nothing ties what the one hides to "
                "what the other shows; give both one vintage=, or say by where= which records are "
                "of which period"
            )


def _refuse_different_weights(tables: Sequence[Table], tied: Sequence[tuple[int, int]]) -> None:
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
    given = for_each(given, tables, "name")
    found = [name or table.measure.name for name, table in zip(given, tables, strict=True)]
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise InputError(
            f"several tables are called {', '.join(map(repr, twice))}; give each a name of its own "
            "with name=[...]"
        )
    return found


def of_each(values: NDArray[Scalar], tables: Sequence[Table]) -> list[NDArray[Scalar]]:
    """Values of the cells of several tables, one after the other, as those of each in its shape.

    What stands behind them belongs to no table.
    """
    ends = np.cumsum([table.measure.sum.size for table in tables])
    parts = np.split(values[: ends[-1]], ends[:-1])
    return [part.reshape(table.shape) for part, table in zip(parts, tables, strict=True)]


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


_EXAMPLES = 3


def check_alike(results: Sequence[Protected]) -> None:
    """Two values for one cell tell more of the true one than either of them."""
    refuse_two_spellings([result.published for result in results])
    check_measures(results)
    for one, other in combinations(results, 2):
        _check_weighted(one, other)
        tables = one.published, other.published
        _check_zeros(*tables)
        _check_zeros(*tables[::-1])
        common = tables[0].about.shares_cells(tables[1].about)
        if not common or not any(table.changed for table in tables):
            continue
        if not all(table.changed for table in tables):
            raise InputError(
                f"{one.name!r} and {other.name!r} are about the same records, but the one hides "
                "cells and the other shows them with changed values; protect both by the same "
                "method"
            )
        _check_values(*tables)


def check_measures(results: Sequence[Protected], earlier: Sequence[Earlier] = ()) -> None:
    """Refuse measures of results and earlier releases that are one, or follow from each other.

    Where nothing says so, names and sums of measures tie no tables.
    """
    new: list[Valued] = []
    judged: dict[str, frozenset[int]] = {}  # earlier table → proofs
    for one in results:
        if one.before is None:
            continue
        own = valued(one.before, one.published)
        if one.proof is not None and one.proof.crossed_claimed:
            own = own._replace(judged=frozenset({id(one.proof)}))
            for release, name in one.proof.publication.beside:
                key = f"{release}/{name}"
                judged[key] = judged.get(key, frozenset()) | own.judged
        new.append(own)
    sums = [total for one in results if one.proof for total in one.proof.publication.sums]
    check_valued(new, earlier, sums, judged)


def warn_of_corrections(results: Sequence[Protected], earlier: Sequence[Earlier]) -> None:
    """Warn where results look like an earlier release of which some values were corrected.

    Of each the one with most of its values: where little changes, all months have many in common.
    """
    before = [(table.release, its) for table in earlier for its in remembered(table)]
    for one in results:
        if one.before is None:
            continue
        own = valued(one.before, one.published)
        told = [(found, release) for release, its in before if (found := mostly_equal(own, its))]
        if told:
            (equal, number), release = max(told, key=lambda one: one[0][0] / one[0][1])
            warnings.warn(
                f"{equal:,} of {number:,} values of {own.table.about.measure!r} are those of "
                f"release {release!r}, of another vintage, as if the others were corrected: what "
                "the one hides may be known from the other. If so, deliver a revision, which is "
                "attacked together with it ([edition] in a job); if not, say so by revision = "
                "false there, or revises=()",
                stacklevel=4,
            )


def check_valued(
    new: Sequence[Valued],
    earlier: Sequence[Earlier],
    sums: Sequence[MeasureSum] = (),
    judged: Mapping[str, frozenset[int]] = MappingProxyType({}),
) -> None:
    """The same of tables with what is known of their values.

    judged: earlier table → as `Valued.judged`.
    """
    if len(new) + len(earlier) < 2:
        return
    before = [
        one._replace(judged=judged.get(table.name, frozenset()))
        for table in earlier
        for one in remembered(table)
    ]
    known = [*sums, *(total for table in earlier for total in table.sums)]
    refuse_one_measure_twice(new, before, known)
    refuse_undeclared_sums(new, before, known)
    refuse_sums_but_for_rounding(new, before, known)
    refuse_renamed_categories(new, before)


def _check_weighted(*pair: Protected) -> None:
    """Refuse a weighted count beside its count: together they tell the mean weight exactly."""
    for one, other in (pair, pair[::-1]):
        if one.settings.get("changed") != "weighted counts" or not other.published.frequency:
            continue
        shown, count = one.published, other.published
        if shown.about.shares_records(count.about):
            raise InputError(
                f"{one.name!r} is a weighted count and {other.name!r} a count of the same records: "
                "together they tell the mean weight of each cell exactly, and so perhaps how many "
                "are counted; publish one of them"
            )


def _check_zeros(counts: Published, sums: Published) -> None:
    """Refuse a count that noise made 0 beside a sum that is not: somebody must be there."""
    if not counts.frequency or sums.frequency or counts.changed != "cell_key" or not sums.changed:
        return
    check_sums_of_zero_counts(counts, ~counts.suppressed & (counts.value == 0), sums)


def check_sums_of_zero_counts(counts: Published, zero: NDArray[np.bool_], sums: Published) -> None:
    """Refuse sums of cells whose count noise made 0.

    counts, zero: a table of counts, and where it shows 0, bool, in its shape.
    """
    if not counts.about.shares_records(sums.about):
        return
    first, second = common_cells(counts, sums)
    none = zero.ravel()[first]
    told = none & ~sums.suppressed.ravel()[second] & (sums.value.ravel()[second] != 0)
    if told.any():
        cells = describe_some(counts.dimensions, first[told], _EXAMPLES)
        number = Count(told.sum())
        raise InputError(
            f"{number} {number:cell has|cells have} a count of 0 in {counts.name!r} and a sum in "
            f"{sums.name!r} ({cells}), which tells that somebody is there. Give the noise of the "
            "sums the perturbation table of the counts, counts=: they are then 0 as well"
        )


def _check_values(one: Published, other: Published) -> None:
    """Refuse tables that show different values for a cell of both."""
    first, second = common_cells(one, other)
    shown = ~(one.suppressed.ravel()[first] | other.suppressed.ravel()[second])
    differ = shown & (one.value.ravel()[first] != other.value.ravel()[second])
    if differ.any() or (len(first) and one.decimals != other.decimals):
        cells = describe_some(one.dimensions, first[differ], _EXAMPLES)
        number = Count(len(first))
        raise InputError(
            f"{one.name!r} and {other.name!r} have {number} {number:cell|cells} in common and "
            f"show different values for {int(differ.sum()):,} of them ({cells}). Whoever compares "
            "them learns more than from either; change both together in one call, or by a method "
            "that always changes a cell in the same way"
        )
