"""What pages show of suppressed cells: at which depths they lie, and in which intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.publish.pages.page import Bar, Cell, DataTable, IntervalBar, cell_texts
from diskret.tables import Published
from diskret.texts import Words, number, percent
from diskret.texts.numbers import Count

_NARROWEST, _WIDEST = 40, 20


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of all suppressed cells, in the order of the cells.

    `cell`: positions in C order, ascending. Ends are in published units, None where nothing bounds.
    """

    cell: NDArray[np.int64]
    lower: Sequence[float | None]
    upper: Sequence[float | None]

    @cached_property
    def width(self) -> NDArray[np.float64]:
        """Width as a share of the end farther from zero; infinite if an end is open."""
        low = np.array([-np.inf if v is None else v for v in self.lower], dtype=float)
        high = np.array([np.inf if v is None else v for v in self.upper], dtype=float)
        far = np.maximum(np.abs(low), np.abs(high))
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (high - low) / far
        return np.where(np.isinf(far), np.inf, np.where(far == 0, 0.0, share))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Positions of the intervals, narrowest first; ties in the order of the cells."""
        low = np.array([0 if v is None else v for v in self.lower], dtype=float)
        high = np.array([np.inf if v is None else v for v in self.upper], dtype=float)
        return np.lexsort((np.arange(len(low)), high - low, self.width))


def intervals_of(published: Published, certificate: Mapping[str, Any]) -> Intervals:
    """The intervals that a certificate states, one for each suppressed cell."""
    cell = np.flatnonzero(published.suppressed)
    columns = certificate.get("intervals", {})
    lower, upper = columns.get("lower", []), columns.get("upper", [])
    if not len(cell) == len(lower) == len(upper):
        number = Count(len(cell))
        raise InputError(
            f"{published.name}: the certificate holds {len(lower):,} lower and {len(upper):,} "
            f"upper ends for {number} suppressed {number:cell|cells}; use the certificate of this "
            "table"
        )
    return Intervals(cell, lower, upper)


def width_table(intervals: Intervals, words: Words) -> DataTable | None:
    """How many intervals are how wide; None: there are none."""
    if not len(intervals.cell):
        return None
    width = intervals.width
    endless = int(np.isinf(width).sum())
    rows = share_bins(width[np.isfinite(width)])
    if endless:
        rows.append((words["unbounded"], endless))
    return count_table(rows, words["width"], words["widths"], words)


def share_bins(share: NDArray[np.float64]) -> list[tuple[str, int]]:
    """Counts of shares in ten classes from 0 to 1; the last holds what is beyond as well."""
    at = np.clip((share * 10).astype(np.int64), 0, 9)
    counts = np.bincount(at, minlength=10)
    names = [f"{10 * i}–{10 * i + 10}\N{NO-BREAK SPACE}%" for i in range(10)]
    return list(zip(names, counts.tolist(), strict=True))


def count_table(
    rows: Sequence[tuple[str, int]], name: str, caption: str | None, words: Words
) -> DataTable:
    """Counts with bars."""
    language = words.language
    most = max((count for _, count in rows), default=0) or 1
    lines = [
        (text, number(count, language), Bar(count / most, f"{text}: {number(count, language)}"))
        for text, count in rows
    ]
    return DataTable((name, words["number"], ""), lines, caption=caption)


def interval_table(
    published: Published,
    intervals: Intervals,
    words: Words,
    more: Callable[[int], tuple[str, ...]] | None = None,
    heads: tuple[str, ...] = (),
    values: Sequence[float] | None = None,
) -> DataTable | None:
    """The narrowest and the widest intervals, with bars; None: there are none.

    `more`, `heads`: content of further columns of text for the position of an interval, and their
    names. `values`: the true ones in the order of the intervals, for the office only.
    """
    language, order = words.language, intervals.order
    if not len(order):
        return None
    whole = len(order) <= _NARROWEST + _WIDEST
    chosen = order if whole else np.concatenate((order[:_NARROWEST], order[-_WIDEST:]))
    texts = cell_texts(published, intervals.cell[chosen].tolist(), words)

    def ends(i: int) -> tuple[str, str]:
        low, high = (
            words["any"] if v is None else number(v, language, published.decimals)
            for v in (intervals.lower[i], intervals.upper[i])
        )
        return low, high

    rows: list[tuple[Cell, ...]] = []
    for text, i in zip(texts, chosen.tolist(), strict=True):
        low, high = ends(i)
        width = float(intervals.width[i])
        value = None if values is None else values[i]
        shown = words["unbounded"] if np.isinf(width) else percent(width, language)
        named = {"lower": low, "upper": high}
        if value is None:
            alt = words.said("interval alt", **named)
        else:
            named["value"] = number(value, language, published.decimals)
            alt = words.said("value alt", **named)
        picture = IntervalBar(intervals.lower[i], intervals.upper[i], value, alt)
        rows.append((text, *(more(i) if more else ()), low, high, shown, picture))
    if not whole:
        gap = words.said("more", count=len(order) - len(chosen))
        rows.insert(_NARROWEST, (gap, *[""] * (len(rows[0]) - 1)))
    caption = words["all intervals"]
    if not whole:
        caption = words.said("some intervals", narrow=_NARROWEST, wide=_WIDEST, all=len(order))
    names = (words["cell"], *heads, words["lower"], words["upper"], words["width"])
    return DataTable(
        (*names, words["interval"]), rows, caption=caption, text=2 if heads else 1, style="cells"
    )


# ── by depth ────────────────────────────────────────────────────────────────────────


def share_table(published: Published, words: Words) -> DataTable:
    """Cells published and suppressed at each depth, with the share suppressed."""
    language = words.language
    rows: list[tuple[Cell, ...]] = []
    suppressed = _by_depth(published, published.suppressed)
    empty = _by_depth(published, published.empty)
    for (name, depth, cells), (_, _, hidden), (_, _, nothing) in zip(
        _by_depth(published, np.ones(published.shape)), suppressed, empty, strict=True
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
    first = _by_depth(published, primary)
    second = _by_depth(published, published.suppressed & ~primary)
    filled = _by_depth(published, ~published.empty)
    all_values = _by_depth(published, size)
    lost_values = _by_depth(published, np.where(published.suppressed, size, 0))
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


def _by_depth(published: Published, what: NDArray[np.generic]) -> Iterator[tuple[str, int, float]]:
    """Dimension, depth and the sum over all cells there, for each dimension in turn."""
    for axis, dimension in enumerate(published.dimensions):
        others = tuple(i for i in range(what.ndim) if i != axis)
        sums = what.sum(axis=others, dtype=np.float64)
        depths = np.bincount(dimension.hierarchy.level, weights=sums)
        for depth, found in enumerate(depths.tolist()):
            yield dimension.name, depth, found
