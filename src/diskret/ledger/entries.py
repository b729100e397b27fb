"""What is entered into a ledger, and which earlier tables results have to stand beside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Requirements
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.publish.contract import Protected, Release
from diskret.publish.store.cells import Row, note_of, row_of
from diskret.publish.store.entry import UNBOUNDED, Entry
from diskret.tables import Earlier, MeasureSum, Perturbed, Publication, Published
from diskret.tables.requirements import NO_LEVELS, earlier_of
from diskret.tables.ties import About, tied_to

#: How notes of tables with noise begin, see `TableNote.perturbed`.
_NOISE = repr(Perturbed("noise", largest=1)).partition(",")[0]


def earlier_tied_to(
    entries: Sequence[Entry], new: Sequence[About], sums: Sequence[MeasureSum] = ()
) -> list[tuple[Entry, int]]:
    """The tables of releases, by their positions, that are tied to new ones.

    Also those that are tied to them only through other tables of releases. Tables with values
    changed without a bound tell nothing of others and are none of them.
    """
    every = [*sums, *(equation for entry in entries for equation in entry.sums)]
    rest = [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed != UNBOUNDED
    ]
    abouts = [entry.tables[at].about for entry, at in rest]
    return [rest[i] for i in tied_to(new, abouts, every)]


def earlier_of_results(
    entries: Sequence[Entry], results: Sequence[Protected]
) -> tuple[list[tuple[Entry, int]], bool]:
    """Earlier tables, and whether they tie results that were not protected together."""
    groups: dict[int, list[Protected]] = {}
    for result in results:
        together = result if result.proof is None else result.proof
        groups.setdefault(id(together), []).append(result)
    found: dict[tuple[int, int], tuple[Entry, int]] = {}
    number = 0
    for group in groups.values():
        proof = group[0].proof
        sums = () if proof is None else proof.publication.sums
        own = earlier_tied_to(entries, [result.published.about for result in group], sums)
        number += len(own)
        found |= {(entry.number, at): (entry, at) for entry, at in own}
    return [found[key] for key in sorted(found)], number > len(found)


def noisy_before(entries: Sequence[Entry], results: Sequence[Protected]) -> list[tuple[Entry, int]]:
    """Earlier tables with noise on cells that new ones may be about, in whatever measure.

    Counts stand beside sums; no equation ties them.
    """
    new = [result.published for result in results]
    return [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed == UNBOUNDED or note.perturbed.startswith(_NOISE)
        if any(note.about.shares_records(own.about) for own in new)
    ]


def changed_alike(
    entries: Sequence[Entry], results: Sequence[Protected]
) -> list[tuple[Entry, int]]:
    """Earlier tables with values changed without a bound that may show the cells of new ones."""
    new = [result.published.about for result in results]
    return [
        (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if note.perturbed == UNBOUNDED and any(note.about.shares_cells(own) for own in new)
    ]


def said_otherwise(
    entries: Sequence[Entry], tables: Sequence[Published], revised: Collection[str] = ()
) -> list[tuple[Entry, int]]:
    """Earlier tables that may say the same as new ones under other names.

    Of other measures and periods with common cells, each with the largest table, but for periods
    that new tables are a revision of; and of the same ones, for each choice of variables and number
    of cells the last, whose categories may have other names.
    """
    found = {
        (note.variables, note.cells): (entry, at)
        for entry in entries
        for at, note in enumerate(entry.tables)
        if any(note.about.shares_cells(own.about) for own in tables)
    }
    every = [*found.values(), *_measured_otherwise(entries, tables, revised)]
    chosen = {(entry.number, at): (entry, at) for entry, at in every}
    return [chosen[key] for key in sorted(chosen)]


def _measured_otherwise(
    entries: Sequence[Entry], tables: Sequence[Published], revised: Collection[str]
) -> list[tuple[Entry, int]]:
    found: dict[tuple[int, str, str], tuple[Entry, int]] = {}
    for number, new in enumerate(tables):
        names = {*new.variables, *new.where.asked}
        for entry in entries:
            for at, note in enumerate(entry.tables):
                its = {*note.variables, *note.where.asked}
                alike = names <= its or its <= names  # so that cells are common
                about, own = note.about, new.about
                other = note.measure != new.measure and about.shares_records(own)
                other = other or (about.of_another_period(own) and note.vintage not in revised)
                best = found.get((number, note.measure, note.vintage))
                larger = best is None or note.cells > best[0].tables[best[1]].cells
                if other and alike and larger:
                    found[number, note.measure, note.vintage] = entry, at
    return [*found.values()]


def published_by(
    entry: Entry, releases: Sequence[Release], keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of releases, and what is kept of each.

    Nothing follows for other cells from values that were changed without a bound; the entry says
    so. They are kept, so that no cell is published with another value.
    """
    kept: list[_Kept] = []
    unbounded: list[str] = []
    for release in releases:
        if release.memory is None:
            raise InputError(f"{release.name!r}: ledgers remember tables only")
        memory = release.memory(entry.release)
        how = UNBOUNDED if memory.unbounded else memory.how
        kept.append(_Kept(memory.table, release.inputs.get("table", ""), how))
        unbounded += [release.name] if memory.unbounded else []
    sums = dict.fromkeys(equation for one in kept for equation in one.table.sums)
    if unbounded:
        entry = replace(
            entry,
            why=f"{', '.join(unbounded)}: values changed without a bound that can be relied on, so "
            "later tables are not proven beside them",
        )
    return _with_tables(replace(entry, sums=tuple(sums)), kept, keys)


def recorded(
    entry: Entry, tables: Sequence[Earlier], how: str, keys: SecretKeys
) -> tuple[Entry, list[Row]]:
    """The entry of tables from elsewhere; `how`: how they were perturbed, in words."""
    return _with_tables(entry, [_Kept(table, "", how) for table in tables], keys)


def as_earlier(
    release: str,
    publication: Publication,
    noise: Perturbed | None,
    original: Sequence[NDArray[np.int64] | None] | None,
    requirements: Sequence[Requirements] | None,
) -> list[Earlier]:
    """Tables from elsewhere, with what is known of them."""
    tables = publication.tables
    values = original or [None] * len(tables)
    levels = requirements or [NO_LEVELS] * len(tables)
    if not len(values) == len(levels) == len(tables):
        raise InputError(
            f"original= and requirements= must hold one entry for each of the {len(tables)} tables"
        )
    found: list[Earlier] = []
    for table, value, level in zip(tables, values, levels, strict=True):
        _check_known(table, value, level)
        found.append(earlier_of(release, table, noise, value, level, publication.sums))
    return found


@dataclass(frozen=True, eq=False)
class _Kept:
    """A table that is entered: fingerprint of the original, how it was perturbed, in words."""

    table: Earlier
    fingerprint: str
    how: str


def _with_tables(entry: Entry, kept: Sequence[_Kept], keys: SecretKeys) -> tuple[Entry, list[Row]]:
    """The entry with what it says of its tables, and what is kept of each."""
    rows = [row_of(one.table) for one in kept]
    notes = [
        note_of(one.table, row, keys, one.fingerprint, one.how)
        for one, row in zip(kept, rows, strict=True)
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
