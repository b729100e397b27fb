"""What is entered into a ledger, and which earlier tables results have to stand beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Requirements
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.release import Earlier
from diskret.release import ledger as store
from diskret.release.ledger import Entry, Row
from diskret.tables import MeasureSum, Perturbed, Publication, Published
from diskret.tables.perturbed import stands_for
from diskret.workflow.fingerprint import fingerprint
from diskret.workflow.related import kind_of, related
from diskret.workflow.result import Result

_NOTHING = np.empty(0, dtype=np.int64)
_NO_LEVELS = Requirements(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def tied_to(
    entries: Sequence[Entry], results: Sequence[Result]
) -> tuple[list[tuple[Entry, int]], bool]:
    """Earlier tables, and whether they tie results that were not protected together."""
    groups: dict[int, list[Result]] = {}
    for result in results:
        groups.setdefault(id(result.certificate.proof), []).append(result)
    found: dict[tuple[int, int], tuple[Entry, int]] = {}
    number = 0
    for group in groups.values():
        sums = group[0].certificate.proof.publication.sums
        own = related(entries, [kind_of(result.published) for result in group], sums)
        number += len(own)
        found |= {(entry.number, at): (entry, at) for entry, at in own}
    return [found[key] for key in sorted(found)], number > len(found)


def published_by(
    entry: Entry, results: Sequence[Result], keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of results, and what is kept of each."""
    sums: dict[MeasureSum, None] = {}
    found: list[Earlier] = []
    for result in results:
        table, proven = result.table, result.certificate
        who = table.contributions
        own = proven.proof.publication.sums
        sums |= dict.fromkeys(own)
        found.append(
            Earlier(
                entry.release,
                result.published,
                original=table.measure.sum,
                requirements=proven.requirements,
                contributions=None if who is None else store.keyed_contributions(who, keys),
                sums=own,
                weight=table.weight,
            )
        )
    marks = [fingerprint(keys, result.published, result.table) for result in results]
    return _with_tables(replace(entry, sums=tuple(sums)), found, marks, "", keys)


def recorded(
    entry: Entry, tables: Sequence[Earlier], how: str, keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of tables from elsewhere; `how`: how they were perturbed, in words."""
    return _with_tables(entry, tables, [""] * len(tables), how, keys)


def as_earlier(
    release: str,
    publication: Publication,
    noise: Perturbed | None,
    original: Sequence[NDArray[np.int64] | None] | None,
    requirements: Sequence[Requirements] | None,
) -> list[Earlier]:
    """Tables from elsewhere, with what is known of them.

    Raises
    ------
    InputError
        Original values or levels do not belong to the tables.
    """
    tables = publication.tables
    values = original or [None] * len(tables)
    levels = requirements or [_NO_LEVELS] * len(tables)
    if not len(values) == len(levels) == len(tables):
        raise InputError(
            f"original= and requirements= must hold one entry for each of the {len(tables)} tables"
        )
    found: list[Earlier] = []
    for table, value, level in zip(tables, values, levels, strict=True):
        _check_known(table, value, level)
        found.append(
            Earlier(
                release,
                table if noise is None else stands_for(table, noise),
                value,
                level,
                sums=publication.sums,
                perturbed=noise is not None,
            )
        )
    return found


def _with_tables(
    entry: Entry, tables: Sequence[Earlier], marks: Sequence[str], how: str, keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry with what it says of its tables: fingerprint, and how they were perturbed."""
    rows = [store.row_of(table) for table in tables]
    notes = [
        store.note_of(table, row, keys, mark, how)
        for table, row, mark in zip(tables, rows, marks, strict=True)
    ]
    return replace(entry, tables=tuple(notes)), rows


def _check_known(table: Published, value: NDArray[np.int64] | None, levels: Requirements) -> None:
    """Refuse original values and levels that do not belong to a table."""
    if value is not None and value.shape != table.shape:
        raise InputError(
            f"original= of {table.name!r} has shape {value.shape}, the table has {table.shape}"
        )
    if len(levels.cell) and value is None:
        raise InputError(
            f"levels of {table.name!r} can be checked only with its original values: original="
        )
    if len(levels.cell) and int(levels.cell.max()) >= table.value.size:
        raise InputError(f"requirements= of {table.name!r} name cells that it does not have")
