"""The two tables of deviations as they were printed of SAFE for the German census."""

from __future__ import annotations

from diskret.texts import number, words_in
from diskret.utility.cumulative import DeviationTable
from diskret.utility.groups import Groups, size_bounds
from diskret.utility.text_tables import aligned, deviation_rows


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

    Examples
    --------
    >>> import numpy as np
    >>> from diskret.utility.cumulative import deviation_table
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
