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
from diskret.release.ledger import UNBOUNDED, Entry, Row
from diskret.tables import NO_BOUND, Perturbed, Publication, Published
from diskret.tables.perturbed import stands_for
from diskret.workflow.fingerprint import fingerprint
from diskret.workflow.perturbed_result import PerturbedResult
from diskret.workflow.related import Kind, kind_of, related, tied
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


def noisy_before(
    entries: Sequence[Entry], results: Sequence[PerturbedResult]
) -> list[tuple[Entry, int]]:
    """Earlier tables with noise on cells that new ones may be about, in whatever measure.

    Counts stand beside sums; no equation ties them.
    """
    new = [result.published for result in results]
    return [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed == UNBOUNDED or note.perturbed.startswith(_NOISE)
        if any(note.vintage == own.vintage and note.where.overlaps(own.where) for own in new)
    ]


def changed_alike(
    entries: Sequence[Entry], results: Sequence[PerturbedResult]
) -> list[tuple[Entry, int]]:
    """Earlier tables with values changed without a bound that may show the cells of new ones."""
    kinds = [kind_of(result.published) for result in results]
    return [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed == UNBOUNDED
        and any(tied(Kind(note.measure, note.vintage, note.where), kind) for kind in kinds)
    ]


def published_by(
    entry: Entry, results: Sequence[Result | PerturbedResult], keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of results, and what is kept of each.

    Nothing follows for other cells from values that were changed without a bound; the entry says
    so. They are kept, so that no cell is published with another value.
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
        found += kept
        marks += [fingerprint(keys, result.published, result.table)] * len(kept)
        if isinstance(result, Result):
            how.append("")
        elif result.known is not None:
            how += [repr(result.known)] * len(kept)
        else:
            how.append(UNBOUNDED)
            unbounded.append(result.name)
    sums = dict.fromkeys(equation for earlier in found for equation in earlier.sums)
    if unbounded:
        entry = replace(
            entry,
            why=f"{', '.join(unbounded)}: values changed without a bound that can be relied on, so "
            "later tables are not proven beside them",
        )
    return _with_tables(replace(entry, sums=tuple(sums)), found, marks, how, keys)


def changed_as_earlier(result: PerturbedResult, release: str) -> list[Earlier]:
    """What later tables have to know of changed values; without a bound only what was shown."""
    if result.known is None:
        return [_as_shown(result.published, release)]
    publication, original = Publication((result.published,)), result.table.measure.sum
    return as_earlier(release, publication, result.known, [original], None)


def _as_shown(published: Published, release: str) -> Earlier:
    """Values of which nothing but themselves is known."""
    nothing = np.full(published.shape, NO_BOUND)
    hidden = replace(
        published,
        value=np.zeros_like(published.value),
        suppressed=np.ones_like(published.suppressed),
        empty=np.zeros_like(published.empty),
        rounding=1,
        changed="",
        lower=-nothing,
        upper=nothing,
    )
    return Earlier(
        release, hidden, None, _NO_LEVELS, perturbed=True, shown=_values_shown(published)
    )


def _values_shown(published: Published) -> NDArray[np.int64]:
    return np.where(published.suppressed, NO_BOUND, published.value)


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
                shown=None if noise is None else _values_shown(table),
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
