"""What was suppressed at each depth of each classification."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from diskret.publish.pages.page import Bar, Cell, DataTable
from diskret.tables import Published
from diskret.texts import Words, number, percent


def share_table(published: Published, words: Words) -> DataTable:
    """Cells published and suppressed at each depth, with the share suppressed."""
    language = words.language
    rows: list[tuple[Cell, ...]] = []
    suppressed = by_depth(published, published.suppressed)
    empty = by_depth(published, published.empty)
    for (name, depth, cells), (_, _, hidden), (_, _, nothing) in zip(
        by_depth(published, np.ones(published.shape)), suppressed, empty, strict=True
    ):
        share = hidden / (cells - nothing) if cells > nothing else 0.0
        numbers = (cells - hidden - nothing, hidden, nothing)
        rows.append(
            (
                name,
                str(depth),
                number(cells, language),
                *(number(n, language) for n in numbers),
                percent(share, language),
                Bar(share, percent(share, language)),
            )
        )
    keys = ("classification", "depth", "cells", "published", "suppressed", "empty", "share")
    return DataTable([*(words[k] for k in keys), ""], rows)


def loss_table(
    published: Published,
    primary: NDArray[np.bool_],
    value: NDArray[np.float64],
    words: Words,
) -> DataTable:
    """Primary and secondary cells and what they hold at each depth. Confidential.

    `primary`: cells that are unsafe themselves; `value`: true values in published units; both in
    the shape of the table.
    """
    language = words.language
    size = np.abs(value)
    first = by_depth(published, primary)
    second = by_depth(published, published.suppressed & ~primary)
    filled = by_depth(published, ~published.empty)
    all_values = by_depth(published, size)
    lost_values = by_depth(published, np.where(published.suppressed, size, 0))
    rows: list[tuple[Cell, ...]] = []
    for (name, depth, cells), (*_, a), (*_, b), (*_, total), (*_, lost) in zip(
        filled, first, second, all_values, lost_values, strict=True
    ):
        share, of_value = (a + b) / (cells or 1), lost / (total or 1)
        rows.append(
            (
                name,
                str(depth),
                number(a, language),
                number(b, language),
                percent(share, language),
                Bar(share, percent(share, language)),
                number(lost, language, published.decimals),
                percent(of_value, language),
                Bar(of_value, percent(of_value, language)),
            )
        )
    keys = ("classification", "depth", "primary", "secondary", "share")
    heads = [*(words[k] for k in keys), "", words["lost value"], words["lost share"], ""]
    return DataTable(heads, rows)


def by_depth(published: Published, what: NDArray[np.generic]) -> Iterator[tuple[str, int, float]]:
    """Dimension, depth and the sum over all cells there, for each dimension in turn."""
    for axis, dimension in enumerate(published.dimensions):
        others = tuple(i for i in range(what.ndim) if i != axis)
        sums = what.sum(axis=others, dtype=np.float64)
        depths = np.bincount(dimension.hierarchy.level, weights=sums)
        for depth, found in enumerate(depths.tolist()):
            yield dimension.name, depth, found
