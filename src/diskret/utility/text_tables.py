"""Tables of deviations, of a comparison and as they were printed of SAFE, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diskret.texts import number, words_in
from diskret.utility.groups import DeviationTable, Groups, size_bounds

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


def printed_rows(
    by_size: Groups, by_deviation: DeviationTable, language: str = "en", last: int | None = None
) -> dict[str, list[list[str]]]:
    """Heading → rows of text, the first of them the head.

    Parameters
    ----------
    by_size
        Deviations by size of the cell.
    by_deviation
        Cells by deviation and number of variables.
    language
        ``"en"`` or ``"de"``.
    last
        A number of variables that stands for all from it on.

    Notes
    -----
    Höhne, *SAFE – a method for anonymising the German Census* (UNECE work session, Tarragona).
    """
    words = words_in(language, "utility")
    low, high = size_bounds(by_size.group)
    sizes = [
        [
            number(low[i], language),
            number(high[i], language),
            number(float(by_size.cells[i]), language),
            number(float(by_size.largest[i]), language),
            number(float(by_size.mean[i]), language, 2),
        ]
        for i in range(len(by_size.group))
    ]
    return {
        words["by size"]: [words["printed size head"].split("|"), *sizes],
        words["by variables"]: deviation_rows(by_deviation, 0, language, last),
    }


def printed_tables(
    by_size: Groups, by_deviation: DeviationTable, language: str = "en", last: int | None = None
) -> list[str]:
    """The two tables as lines of text, see `printed_rows`.

    >>> import numpy as np
    >>> from diskret.utility.groups import deviation_table
    >>> from diskret.utility.groups import by_group, size_class
    >>> before, after = np.array([4, 60, 70]), np.array([3, 60, 72])
    >>> sizes = by_group(size_class(before), before, after)
    >>> shown = printed_tables(sizes, deviation_table(np.array([1, 1, 2]), before, after))
    >>> for line in shown[2:5]:
    ...     print(line)
    from  to  table cells  largest deviation  mean deviation
       1   9            1                  1            1.00
      10  99            2                  2            1.00
    """
    lines: list[str] = []
    for heading, rows in printed_rows(by_size, by_deviation, language, last).items():
        lines += [heading, "", *aligned(rows), ""]
    return lines[:-1]
