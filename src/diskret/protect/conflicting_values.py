"""Refuse tables with changed values that say other things of the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.publish.contract import Protected
from diskret.tables import Published
from diskret.tables.dimension import describe
from diskret.tables.meanings import common_cells

_EXAMPLES = 3


def check_alike(results: Sequence[Protected]) -> None:
    """Two values for one cell tell more of the true one than either of them."""
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
    check_sums_beside(counts, ~counts.suppressed & (counts.value == 0), sums)


def check_sums_beside(counts: Published, zero: NDArray[np.bool_], sums: Published) -> None:
    """Refuse sums of cells whose count noise made 0.

    counts, zero: a table of counts, and where it shows 0, bool, in its shape.
    """
    if not counts.about.shares_records(sums.about):
        return
    first, second = common_cells(counts, sums)
    none = zero.ravel()[first]
    told = none & ~sums.suppressed.ravel()[second] & (sums.value.ravel()[second] != 0)
    if told.any():
        cells = "; ".join(describe(counts.dimensions, int(c)) for c in first[told][:_EXAMPLES])
        raise InputError(
            f"{int(told.sum()):,} cells have a count of 0 in {counts.name!r} and a sum in "
            f"{sums.name!r} ({cells}), which tells that somebody is there. Give the noise of the "
            "sums the perturbation table of the counts, counts=: they are then 0 as well"
        )


def _check_values(one: Published, other: Published) -> None:
    """Refuse tables that show different values for a cell of both."""
    first, second = common_cells(one, other)
    shown = ~(one.suppressed.ravel()[first] | other.suppressed.ravel()[second])
    differ = shown & (one.value.ravel()[first] != other.value.ravel()[second])
    if differ.any() or (len(first) and one.decimals != other.decimals):
        cells = "; ".join(describe(one.dimensions, int(c)) for c in first[differ][:_EXAMPLES])
        raise InputError(
            f"{one.name!r} and {other.name!r} have {len(first):,} cells in common and show "
            f"different values for {int(differ.sum()):,} of them ({cells}). Whoever compares them "
            "learns more than from either; change both together in one call, or by a method that "
            "always changes a cell in the same way"
        )
