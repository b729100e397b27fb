"""Which way the cells of a table run on the sheet of its workbook, for what writes and reads it."""

from __future__ import annotations

from diskret.tables import Dimension, Published

_MOST_ACROSS = 30


def across(published: Published) -> Dimension | None:
    """The dimension whose codes are columns; None for a long list.

    It is the last of several, unless it has more than 30 codes.
    """
    last = published.dimensions[-1]
    several = len(published.dimensions) > 1
    return last if several and len(last) <= _MOST_ACROSS else None


def header_rows(published: Published) -> int:
    """Rows above the first value: title, a line below it, and the headings."""
    return 3 if across(published) is None else 4
