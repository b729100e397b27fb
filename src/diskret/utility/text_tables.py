"""Tables of deviations, of a comparison and as they were printed of SAFE, as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from diskret.texts import number, words_in
from diskret.utility.groups import DeviationTable, Groups, size_bounds

if TYPE_CHECKING:
    from diskret.utility.comparison import Comparison


def rows(comparison: Comparison, language: str) -> dict[str, list[list[str]]]:
    """Heading → rows of text, the first of them the head, see `Comparison.rows`."""
    words, decimals = words_in(language, "utility"), comparison.decimals
    sizes = _size_rows(comparison.by_size, decimals, language)
    return {
        words["by size"]: [words["size head"].split("|"), *sizes],
        words["by deviation"]: deviation_rows(comparison.deviation_table, decimals, language),
    }


def lines(tables: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    """Tables, each below its heading, as lines of text."""
    made: list[str] = []
    for heading, table in tables.items():
        made += [heading, "", *aligned(table), ""]
    return made[:-1]


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


def _size_rows(
    groups: Groups, decimals: int, language: str, figures: int | None = None
) -> list[list[str]]:
    """A row for each size class: its bounds, and the first of its figures, or all."""
    places = (0, decimals, decimals + 2, decimals + 2, 2, 1)
    scales = (1, 1, 1, 1, 100, 100)  # the last two are percentages
    columns = [
        [number(end, language, decimals) for end in ends]
        for ends in size_bounds(groups.group, decimals)
    ]
    shown = zip(list(groups.columns.values())[:figures], scales, places, strict=False)
    columns += [
        [number(float(value) * times, language, digits) for value in column]
        for column, times, digits in shown
    ]
    return [list(row) for row in zip(*columns, strict=True)]


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
    sizes = _size_rows(by_size, 0, language, figures=3)
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
    return lines(printed_rows(by_size, by_deviation, language, last))
