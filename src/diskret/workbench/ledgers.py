"""What was published before, as a ledger says it, and what of it the tables of a draft touch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diskret.jobs.values import TableJob
from diskret.ledger.ledger import Ledger
from diskret.publish.store.entry import LedgerRelease, TableNote
from diskret.tables import MeasureSum
from diskret.tables.ties import About, tied
from diskret.texts import words_in


def ledger_told(
    place: Path, tables: Sequence[TableJob], sums: Sequence[str], language: str
) -> list[dict[str, Any]]:
    """The releases of a ledger; of each table, which tables of the job it is tied to.

    sums: equations between measures, as a job says them.
    """
    own = [(one.name, About(one.measure, one.vintage, one.where)) for one in tables]
    equations = [MeasureSum.read(text) for text in sums]
    return [_release(one, own, equations, language) for one in Ledger(str(place)).releases()]


def _release(
    release: LedgerRelease,
    own: Sequence[tuple[str, About]],
    sums: Sequence[MeasureSum],
    language: str,
) -> dict[str, Any]:
    entry, gone = release.entry, release.withdrawn
    return {
        "name": entry.release,
        "when": entry.when[:10],
        "who": entry.who,
        "withdrawn": None if gone is None else {"when": gone.when[:10], "why": gone.why},
        "tables": [_table(note, own, [*sums, *entry.sums], language) for note in entry.tables],
    }


def _table(
    note: TableNote, own: Sequence[tuple[str, About]], sums: Sequence[MeasureSum], language: str
) -> dict[str, Any]:
    return {
        "name": note.name,
        "measure": note.measure,
        "vintage": note.vintage,
        "where": note.where.words(", ", words_in(language, "commands")["to"]),
        "variables": list(note.variables),
        "cells": note.cells,
        "suppressed": note.suppressed,
        "tied": [name for name, about in own if tied(note.about, about, sums)],
    }
