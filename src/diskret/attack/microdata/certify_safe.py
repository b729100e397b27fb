"""The certificate of a safe file: what anyone may know of it, and what was counted again."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from diskret.attack.microdata.certificate import SAFE, MicrodataCertificate
from diskret.attack.microdata.certify import refuse_identifiers
from diskret.attack.microdata.claims import Safe
from diskret.attack.microdata.leaving import Leaving
from diskret.attack.microdata.safe import Found, check_minimum, check_tables
from diskret.attack.microdata.sentences import NO_IDENTIFIERS
from diskret.attack.noise_certificate import Statement
from diskret.errors import InputError
from diskret.tables.counted import TableCounts
from diskret.tables.lists import each, table_lists

#: Readers are told figures of no fewer cells: else they could tell what became of a single one.
FEWEST_CELLS = 30

_ADDITIVE = Statement(
    "All tables made from the file are additive and agree with each other, because each of them "
    "is counted from the same records.",
    "Alle Tabellen aus der Datei sind additiv und stimmen miteinander überein, weil jede aus "
    "denselben Datensätzen gezählt wird.",
)
_NOT_CLAIMED = (
    Statement(
        "Nothing is said of how far tables deviate that are not among the controlled ones.",
        "Nichts ist darüber gesagt, wie weit Tabellen abweichen, die nicht zu den kontrollierten "
        "gehören.",
    ),
    Statement(
        "A combination that does not occur in the file may have occurred, and one that occurs need "
        "not have.",
        "Eine Kombination, die in der Datei fehlt, kann vorgekommen sein, und eine, die darin "
        "vorkommt, muss es nicht sein.",
    ),
    Statement(
        "Where all records of a group show the same value, this need not have been so; that a "
        "value is likely in a group may still be learnt.",
        "Wo alle Datensätze einer Gruppe denselben Wert zeigen, muss das nicht so gewesen sein; "
        "dass ein Wert in einer Gruppe wahrscheinlich ist, lässt sich dennoch erfahren.",
    ),
    Statement(
        "All this holds of this file alone: from a second file made of the same records, averages "
        "would tell more. No other must be released.",
        "All dies gilt für diese Datei allein: Aus einer zweiten Datei aus denselben Datensätzen "
        "ließe sich durch Mitteln mehr erfahren. Keine andere darf veröffentlicht werden.",
    ),
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
    direct identifier leaves is checked in any case.

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
    diskret.errors.ProofError: file 'persons': 1 of 1 combinations of all variables occur fewer \
than 5 times, e.g. ('N'): 4; protect the file anew with minimum=5, or claim a smaller minimum
    """
    if not table.num_rows:
        raise InputError(f"file {name!r} has no records; there is nothing to claim")
    refuse_identifiers(Leaving(name, table, ()), records, identifiers)
    file = check_minimum(name, table, claim.minimum)
    found = check_tables(name, file, claim, original)
    shown = _shown(claim, found)
    cells, total = int(found.cells.sum()), int(found.total.sum())
    return MicrodataCertificate(
        name,
        claimed=(NO_IDENTIFIERS, *safe_claimed(shown)),
        not_claimed=_NOT_CLAIMED,
        checked=_checked(claim, found, len(file.count)),
        shown=shown,
        figures={
            "records": file.records,
            "combinations": len(file.count),
            "cells": cells,
            "largest": found.worst,
            "mean": total / cells if cells else 0.0,
            "exact": found.exact,
            "became_empty": found.emptied,
            "were_empty": found.opened,
            "kept": found.kept,
            "tables": found.by_table,
        },
        family=SAFE,
    )


def safe_claimed(shown: Mapping[str, Any]) -> tuple[Statement, ...]:
    """What a public certificate claims that shows these figures."""
    number = len(each(table_lists(shown["tables"])))
    said = [
        Statement.of(
            "Every combination of values of all variables that occurs, occurs at least {minimum} "
            "times.",
            "Jede Kombination von Werten aller Merkmale, die vorkommt, kommt mindestens {minimum} "
            "Mal vor.",
            minimum=f"{shown['minimum']:,}",
        ),
        _ADDITIVE,
    ]
    if number:
        said.append(
            Statement.of(
                "Number of controlled tables: {tables}. No cell of theirs that is not empty in "
                "the original deviates from it by more than {largest}.",
                "Zahl der kontrollierten Tabellen: {tables}. Keines ihrer Felder, das in den "
                "Ausgangsdaten nicht leer ist, weicht davon um mehr als {largest} ab.",
                tables=f"{number:,}",
                largest=f"{shown['largest']:,}",
            )
        )
    return tuple(said)


def _shown(claim: Safe, found: Found) -> dict[str, Any]:
    """What SAFE documents: the tables, the largest deviation, deviations by size of the cell."""
    return {
        "minimum": claim.minimum,
        "tables": {
            counter: [list(columns) for columns in tables]
            for counter, tables in (claim.tables or {}).items()
        },
        "largest": found.worst if claim.largest is None else claim.largest,
        "by_size": _by_size(found),
    }


def _by_size(found: Found) -> list[dict[str, Any]]:
    """Figures by size, classes put together until each has enough cells."""
    rows: list[list[int]] = []  # first and last class, cells, largest, total
    for digits, cells in enumerate(found.cells.tolist()):
        own = [digits, digits, cells, int(found.largest[digits]), int(found.total[digits])]
        if cells and rows and rows[-1][2] >= FEWEST_CELLS:
            rows.append(own)
        elif cells:
            rows[-1:] = [_joined(rows[-1], own)] if rows else [own]
    if len(rows) > 1 and rows[-1][2] < FEWEST_CELLS:
        rows[-2:] = [_joined(rows[-2], rows[-1])]
    return [
        {
            "from": 10**first,
            "to": 10 ** (last + 1) - 1,
            "cells": cells,
            "largest": largest,
            "mean": round(total / cells, 2),
        }
        for first, last, cells, largest, total in rows
        if cells >= FEWEST_CELLS
    ]


def _joined(low: list[int], high: list[int]) -> list[int]:
    return [low[0], high[1], low[2] + high[2], max(low[3], high[3]), low[4] + high[4]]


def _checked(claim: Safe, found: Found, combinations: int) -> tuple[Statement, ...]:
    """What was counted, for the office."""
    cells, total = int(found.cells.sum()), int(found.total.sum())
    said = [
        Statement.of(
            "Counted again: {combinations} combinations, each at least {minimum} times; {cells} "
            "cells of {tables} controlled tables that are not empty in the original deviate by at "
            "most {largest}, on average by {mean}; {exact} are exact.",
            "Nachgezählt: {combinations} Kombinationen, jede mindestens {minimum} Mal; {cells} in "
            "den Ausgangsdaten nicht leere Felder von {tables} kontrollierten Tabellen weichen um "
            "höchstens {largest} ab, im Mittel um {mean}; {exact} sind exakt.",
            combinations=f"{combinations:,}",
            minimum=f"{claim.minimum:,}",
            cells=f"{cells:,}",
            tables=f"{len(found.by_table):,}",
            largest=f"{found.worst:,}",
            mean=f"{total / cells if cells else 0:.2f}",
            exact=f"{found.exact:,}",
        ),
        Statement.of(
            "Cells of controlled tables that are empty in the file but not in the original: "
            "{emptied}; the other way round: {opened}.",
            "Felder kontrollierter Tabellen, die in der Datei leer sind, aber nicht in den "
            "Ausgangsdaten: {emptied}; umgekehrt: {opened}.",
            emptied=f"{found.emptied:,}",
            opened=f"{found.opened:,}",
        ),
    ]
    if found.kept:
        said.append(
            Statement.of(
                "Cells that had to keep their counts and do: {kept}.",
                "Felder, die ihre Anzahl behalten mussten und behalten: {kept}.",
                kept=f"{found.kept:,}",
            )
        )
    return tuple(said)
