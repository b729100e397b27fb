"""The certificate of a file whose records were replaced: minimum, tables, deviations."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from diskret.attack.microdata.certificate import SAFE, MicrodataCertificate
from diskret.attack.microdata.certify import refuse_identifiers
from diskret.attack.microdata.check_safe import Found, check_minimum, check_tables
from diskret.attack.microdata.claims import Safe
from diskret.attack.microdata.leaving import Leaving
from diskret.attack.microdata.said import NO_IDENTIFIERS
from diskret.errors import InputError
from diskret.tables.counted import TableCounts
from diskret.tables.lists import each, table_lists
from diskret.texts import Figure, Statement, sentence

#: Readers are told figures of no fewer cells: else they could tell what became of a single one.
FEWEST_CELLS = 30

_ADDITIVE = sentence("safe.additive")
_NOT_CLAIMED = (
    sentence("safe.other tables"),
    sentence("safe.combinations"),
    sentence("safe.groups"),
    sentence("safe.second file"),
)


def certify_safe(
    name: str,
    table: pa.Table,
    claim: Safe,
    original: Iterable[TableCounts],
    *,
    records: pa.Table | None = None,
    identifiers: Sequence[str] = (),
) -> MicrodataCertificate:
    """Check that a file is safe, on the values as they leave, and say what holds.

    Everything is counted again from the records, in code that knows nothing of the method. That no
    direct identifier leaves is checked in any case. Missing values that another column tells need
    not be filled in, as they are for claims about keys: all columns are counted together, so that
    combinations can only fall together.

    Parameters
    ----------
    name
        Of the file.
    table
        The columns and records exactly as they leave.
    claim
        What is claimed, with the controlled tables.
    original
        The cells of these tables in the original file, one table after another.
    records, identifiers
        The original records, and the names of direct identifiers among their columns.

    Raises
    ------
    ProofError
        The claim does not hold; says for how many combinations or cells, with examples.
    InputError
        It cannot be checked.

    Examples
    --------
    >>> from diskret.tables.counted import combined, counted_all
    >>> before = combined(pa.table({"town": ["N", "N", "N", "S"]}), ["town"])
    >>> file = pa.table({"town": ["N", "N", "N", "N"]})
    >>> claim = Safe(3, tables=["town", ()])
    >>> made = certify_safe("persons", file, claim, counted_all(before, claim.tables))
    >>> made.shown["largest"], made.figures["mean"]
    (1, 0.6666666666666666)
    >>> certify_safe("persons", file, Safe(5, ["town"]), [])
    Traceback (most recent call last):
    ...
    diskret.errors.ProofError: file 'persons': 1 of 1 combinations of all variables occurs fewer \
than 5 times, e.g. ('N'): 4; protect the file anew with minimum=5, or claim a smaller minimum
    """
    if not table.num_rows:
        raise InputError(f"file {name!r} has no records; there is nothing to claim")
    refuse_identifiers(Leaving(name, table, ()), records, identifiers)
    file = check_minimum(name, table, claim.minimum)
    found = check_tables(name, file, claim, original)
    shown = _shown(claim, found)
    claimed, not_claimed = safe_says(shown)
    return MicrodataCertificate(
        name,
        claimed=claimed,
        not_claimed=not_claimed,
        checked=_checked(claim, found, len(file.count)),
        shown=shown,
        figures={
            "records": file.records,
            "combinations": len(file.count),
            "cells": found.cells,
            "largest": found.largest,
            "mean": found.mean,
            "exact": found.exact,
            "became_empty": found.emptied,
            "were_empty": found.opened,
            "kept": found.kept,
            "tables": found.by_table,
        },
        family=SAFE,
    )


def safe_says(
    shown: Mapping[str, Any],
) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """What a public certificate claims that shows these figures, and what it does not."""
    number = len(each(table_lists(shown["tables"])))
    said = [
        NO_IDENTIFIERS,
        sentence("safe.minimum", minimum=Figure(f"{shown['minimum']:,}")),
        _ADDITIVE,
    ]
    if number:
        said.append(
            sentence("safe.deviations", tables=number, largest=Figure(f"{shown['largest']:,}"))
        )
    return tuple(said), _NOT_CLAIMED


def _shown(claim: Safe, found: Found) -> dict[str, Any]:
    """What SAFE documents: the tables, the largest deviation, deviations by size of the cell.

    That nothing deviates is told nobody who was not promised it: else every 0 would be true.
    """
    return {
        "minimum": claim.minimum,
        "tables": {
            counter: [list(columns) for columns in tables]
            for counter, tables in (claim.tables or {}).items()
        },
        "largest": max(found.largest, 1) if claim.largest is None else claim.largest,
        "by_size_in_file": _by_size(found),
    }


def _by_size(found: Found) -> list[dict[str, Any]]:
    """Figures by size in the file, classes put together until each has enough cells.

    Not by size in the original: the number of cells would tell how many are empty in the file only,
    and so of a 0 that it is none, or that all are true. A class in which nothing deviates would
    tell true counts.
    """
    rows: list[_Class] = []
    for digits, cells in enumerate(found.shown.tolist()):
        own = _Class(digits, digits, cells, int(found.off[digits]), int(found.total[digits]))
        if cells and rows and rows[-1].enough:
            rows.append(own)
        elif cells:
            rows[-1:] = [rows[-1].joined(own)] if rows else [own]
    if len(rows) > 1 and not rows[-1].enough:
        rows[-2:] = [rows[-2].joined(rows[-1])]
    return [
        {
            "from": 10**row.first,
            "to": 10 ** (row.last + 1) - 1,
            "cells": row.cells,
            "largest": row.largest,
            "mean": round(row.total / row.cells, 2),
        }
        for row in rows
        if row.enough
    ]


class _Class(NamedTuple):
    """Cells with so many digits in the file, and the largest and the sum of their deviations."""

    first: int
    last: int
    cells: int
    largest: int
    total: int

    @property
    def enough(self) -> bool:
        """Whether its figures tell nothing of a single cell."""
        return self.cells >= FEWEST_CELLS and self.largest > 0

    def joined(self, high: _Class) -> _Class:
        """Together with the class that follows."""
        return _Class(
            self.first,
            high.last,
            self.cells + high.cells,
            max(self.largest, high.largest),
            self.total + high.total,
        )


def _checked(claim: Safe, found: Found, combinations: int) -> tuple[Statement, ...]:
    """What was counted, for the office."""
    said = [
        sentence(
            "safe.counted",
            combinations=combinations,
            minimum=claim.minimum,
            cells=found.cells,
            tables=len(found.by_table),
            largest=found.largest,
            mean=Figure(f"{found.mean:.2f}"),
            exact=found.exact,
        ),
        sentence("safe.emptied", emptied=found.emptied, opened=found.opened),
    ]
    if found.kept:
        said.append(sentence("safe.kept", kept=found.kept))
    return tuple(said)
