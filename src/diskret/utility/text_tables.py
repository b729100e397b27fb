"""The tables of deviations that were published of SAFE, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskret.texts import number, words_in
from diskret.utility.cumulative import DeviationTable
from diskret.utility.groups import size_bounds

if TYPE_CHECKING:
    from diskret.utility.comparison import Comparison


def rows(comparison: Comparison, language: str) -> dict[str, list[list[str]]]:
    """Heading → rows of text, the first of them the head, see `Comparison.rows`."""
    words = words_in(language, "utility")
    return {
        words["by size"]: [words["size head"].split("|"), *_size_rows(comparison, language)],
        words["by deviation"]: deviation_rows(
            comparison.deviation_table, comparison.decimals, language
        ),
    }


def tables(comparison: Comparison, language: str) -> list[str]:
    """The two tables of deviations as lines of text, see `Comparison.tables`."""
    lines: list[str] = []
    for heading, table in rows(comparison, language).items():
        lines += [heading, "", *aligned(table), ""]
    return lines[:-1]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table as lines, columns aligned on the right.

    Examples
    --------
    >>> aligned([["from", "cells"], ["1", "12,345"]])
    ['from   cells', '   1  12,345']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _size_rows(comparison: Comparison, language: str) -> list[list[str]]:
    groups, decimals = comparison.by_size, comparison.decimals
    low, high = size_bounds(groups.group, decimals)
    places = (0, decimals, decimals + 2, decimals + 2, 2, 1)
    scale = (1, 1, 1, 1, 100, 100)
    return [
        [
            number(low[i], language, decimals),
            number(high[i], language, decimals),
            *(
                number(float(column[i]) * times, language, digits)
                for column, times, digits in zip(
                    groups.columns.values(), scale, places, strict=True
                )
            ),
        ]
        for i in range(len(groups.group))
    ]


def deviation_rows(
    table: DeviationTable, decimals: int, language: str, last: int | None = None
) -> list[list[str]]:
    """Cells on the left, cumulative shares on the right; the last row holds all cells.

    `last` is a number of variables that stands for all from it on.
    """
    words = words_in(language, "utility")
    names = [
        words.said("or more", number=dimension) if dimension == last else str(dimension)
        for dimension in table.dimension.tolist()
    ]
    head = [words["deviation"], *names, words["up to"], *names, words["all"]]
    rows = [
        [
            number(float(table.bound[i]), language, decimals),
            *(number(cells, language) if cells else "–" for cells in table.cells[i].tolist()),
            "",
            *(number(100 * share, language, 1) for share in table.shares[i].tolist()),
            number(100 * float(table.all_shares[i]), language, 1),
        ]
        for i in range(len(table.bound))
    ]
    totals = [number(cells, language) for cells in table.totals.tolist()]
    return [head, *rows, [words["all cells"], *totals, *[""] * (len(names) + 2)]]
