"""What was worked out about a publication, so that it is not worked out again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from diskret.tables import Publication

Found = TypeVar("Found")

#: Of publications of more cells nothing is kept: it would fill memory.
MOST = 100_000


def remembered(work_out: Callable[[Publication], Found]) -> Callable[[Publication], Found]:
    """Let a publication of few cells keep what a function finds out about it.

    Nobody may change what was found. If somebody changes the publication, it is worked out anew.
    """

    @wraps(work_out)
    def found(publication: Publication) -> Found:
        if publication.starts[-1] > MOST:
            return work_out(publication)
        says = b"".join(
            array.tobytes()
            for table in publication.tables
            for array in (table.value, table.suppressed, table.empty, *table.intervals.values())
        )
        known = publication.worked_out.get(work_out.__qualname__)
        if known is None or known[0] != says:
            known = publication.worked_out[work_out.__qualname__] = says, work_out(publication)
        return known[1]

    return found
