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
from diskret.tables import Perturbed, Publication, Published
from diskret.tables.perturbed import stands_for
from diskret.workflow.fingerprint import fingerprint
from diskret.workflow.perturbed_result import PerturbedResult
from diskret.workflow.related import kind_of, related
from diskret.workflow.result import Result

_NOTHING = np.empty(0, dtype=np.int64)
#: How notes of tables with noise begin, see `TableNote.perturbed`.
_NOISE = repr(Perturbed("noise", largest=1)).partition(",")[0]
_NO_LEVELS = Requirements(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def tied_to(
    entries: Sequence[Entry], results: Sequence[Result | PerturbedResult]
) -> tuple[list[tuple[Entry, int]], bool]:
    """Earlier tables, and whether they tie results that were not protected together."""
    groups: dict[int, list[Result | PerturbedResult]] = {}
    for result in results:
        together = result.certificate.proof if isinstance(result, Result) else result
        groups.setdefault(id(together), []).append(result)
    found: dict[tuple[int, int], tuple[Entry, int]] = {}
    number = 0
    for group in groups.values():
        first = group[0]
        sums = first.certificate.proof.publication.sums if isinstance(first, Result) else ()
        own = related(entries, [kind_of(result.published) for result in group], sums)
        number += len(own)
        found |= {(entry.number, at): (entry, at) for entry, at in own}
    return [found[key] for key in sorted(found)], number > len(found)


def noisy_counts(
    entries: Sequence[Entry], results: Sequence[Result | PerturbedResult]
) -> list[tuple[Entry, int]]:
    """Earlier tables with noise of known size on cells that new sums may be about.

    Counts are among them; no equation ties them to sums.
    """
    sums = [r.published for r in results if r.published.changed and not r.published.frequency]
    return [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed.startswith(_NOISE)
        and any(note.vintage == s.vintage and note.where.overlaps(s.where) for s in sums)
    ]


def published_by(
    entry: Entry, results: Sequence[Result | PerturbedResult], keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of results, and what is kept of each.

    Of values that were changed without a bound nothing is kept, for nothing follows from them;
    the entry says so.
    """
    found: list[Earlier] = []
    marks: list[str] = []
    how: list[str] = []
    unbounded: list[str] = []
    for result in results:
        if isinstance(result, Result):
            kept = [_keyed(result.remembered(entry.release), keys)]
        else:
            kept = changed_as_earlier(result, entry.release)
        if not kept:
            unbounded.append(result.name)
        found += kept
        marks += [fingerprint(keys, result.published, result.table)] * len(kept)
        how += ["" if isinstance(result, Result) else repr(result.known)] * len(kept)
    sums = dict.fromkeys(equation for earlier in found for equation in earlier.sums)
    if unbounded:
        entry = replace(
            entry,
            why=f"{', '.join(unbounded)}: values changed without a bound that can be relied on, so "
            "later tables are not proven beside them",
        )
    return _with_tables(replace(entry, sums=tuple(sums)), found, marks, how, keys)


def changed_as_earlier(result: PerturbedResult, release: str) -> list[Earlier]:
    """What later tables have to know of changed values; nothing if they have no bound."""
    if result.known is None:
        return []
    publication, original = Publication((result.published,)), result.table.measure.sum
    return as_earlier(release, publication, result.known, [original], None)


def _keyed(earlier: Earlier, keys: SecretKeys) -> Earlier:
    """The same with contributors that only the office can tell."""
    who = earlier.contributions
    return replace(earlier, contributions=who and store.keyed_contributions(who, keys))


def recorded(
    entry: Entry, tables: Sequence[Earlier], how: str, keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of tables from elsewhere; `how`: how they were perturbed, in words."""
    return _with_tables(entry, tables, [""] * len(tables), [how] * len(tables), keys)


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
    entry: Entry,
    tables: Sequence[Earlier],
    marks: Sequence[str],
    how: Sequence[str],
    keys: SecretKeys,
) -> tuple[Entry, list[Row]]:
    """The entry with what it says of its tables: fingerprint, and how they were perturbed."""
    rows = [store.row_of(table) for table in tables]
    notes = [
        store.note_of(table, row, keys, mark, changed)
        for table, row, mark, changed in zip(tables, rows, marks, how, strict=True)
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
