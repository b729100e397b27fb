"""What contributors could tell beside tables that were not there when all was proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.attack import (
    Attacker,
    Insiders,
    InsidersWithstood,
    Requirements,
    UnsafeSums,
    examine,
    placed_in,
    unknown_cells,
    withstand_insiders,
)
from diskret.progress import Progress
from diskret.protect.earlier_tables import EarlierTables, as_table, with_values
from diskret.protect.insiders import InsiderJudge, Seat
from diskret.protect.known_contributions import contributing, present
from diskret.protect.plan import publish_whole
from diskret.protect.result import Result
from diskret.protect.unpublished_cells import unpublished
from diskret.tables import Earlier, Publication, Table
from diskret.tables.shares import called_at, names_of, place_of


def told_by_contributors(
    results: Sequence[Result],
    publication: Publication,
    earlier: Sequence[Earlier],
    progress: Progress,
) -> list[list[int]]:
    """Cells, or sums of them, that contributors could tell of results beside other tables now."""
    told: list[list[int]] = []
    proofs = {id(r.proof): r.certificate for r in results}
    names = {table.name for table in publication.tables}
    for certificate in proofs.values():
        proof = certificate.proof
        if proof.insiders is None or names <= {t.name for t in proof.publication.tables}:
            continue
        whole = [publish_whole(r.table, r.name) for r in results]
        before = with_values(whole, publication.sums, earlier, progress)
        tables = [*(r.table for r in results), *before.tables]
        original = np.concatenate([table.measure.sum.ravel() for table in tables])
        insiders = _insiders_now(
            proof.insiders, proof.publication, publication, results, before, original
        )
        found = examine(publication, certificate.attacker, original=original, progress=progress)
        _, seen = withstand_insiders(
            publication, found, certificate.attacker, insiders, original, progress
        )
        known, _ = unknown_cells(publication)
        target = insiders.target
        told += [known[target[[one.target]].indices].tolist() for one in seen.open]
    return told


def told_of_earlier(
    tables: Sequence[Table | None],
    publication: Publication,
    earlier: Sequence[Earlier],
    required: Requirements,
    unsafe: UnsafeSums,
    original: NDArray[np.int64],
    attacker: Attacker,
    progress: Progress,
) -> list[list[int]]:
    """The same of earlier releases that are protected against contributors, because of new tables.

    The ledger keeps levels and no rules, so each target's own level is asked for whoever attacks;
    that is never less than its rule asked for. `tables` are the new ones, None where nobody knows
    who contributes; in `publication` they stand before `earlier`. `required`, `unsafe` and
    `original` are of all tables one after the other.
    """
    starts = publication.starts[len(publication.own) :].tolist()
    kept = np.zeros(int(publication.starts[-1]), dtype=bool)
    for e, start in zip(earlier, starts, strict=False):
        if e.unsafe is not None and e.contributions is not None and e.original is not None:
            kept[start : start + e.published.value.size] = True
    required = required.only(kept[required.cell] & publication.suppressed[required.cell])
    others = unsafe.member @ (~(kept & publication.suppressed)).astype(np.int64)
    unsafe = unsafe.only(others == 0)
    if not len(required.cell) and not len(unsafe):
        return []
    before = EarlierTables(
        tuple(earlier),
        tuple(
            as_table(e.published, np.zeros_like(e.published.value) if o is None else o)
            for e in earlier
            for o in [e.original]
        ),
    )
    who = attacker if attacker.contributor else replace(attacker, contributor=True)
    seats = [Seat(table, None, strict=True) for table in contributing(tables, before)]
    judge = InsiderJudge(seats, who, max(1, attacker.coalition))
    found = examine(publication, who, original=original, progress=progress)

    def attacked():
        return judge.attack(publication, found, required, unsafe, original, progress)

    _, seen, asked = attacked()
    while judge.already(seen.open, asked, publication, required, unsafe, original, progress):
        _, seen, asked = attacked()
    return [asked.cells(one) for one in seen.open]


def _insiders_now(
    known: InsidersWithstood,
    publication: Publication,
    now: Publication,
    results: Sequence[Result],
    before: EarlierTables,
    original: NDArray[np.int64],
) -> Insiders:
    """The same insiders and targets, with all that they have in what is attacked now."""
    placed = placed_in(known.insiders, publication, now)
    tables = contributing([result.table for result in results], before)
    between = unpublished(tables, now, original, known.coalition)
    found = present(tables, now, *unknown_cells(now), between)
    former = _names_now(known, publication, now, results, before)
    order = np.argsort(former, kind="stable")
    at = np.searchsorted(former[order], found.names)
    same = at < len(order)
    same[same] = former[order][at[same]] == found.names[same]
    number = np.full(len(found.names), -1)
    number[same] = order[at[same]]

    def level(at: NDArray[np.int64], who: NDArray[np.int64]):
        # who has nothing in any target is owed what an outsider is
        return placed.level(at, np.where(who >= 0, number[np.maximum(who, 0)], -1))

    return replace(placed, own=found.own, number=found.number, bounded=found.bounded, level=level)


def _names_now(
    known: InsidersWithstood,
    publication: Publication,
    now: Publication,
    results: Sequence[Result],
    before: EarlierTables,
) -> NDArray[np.uint64]:
    """What contributors are called now: those of a ledger's tables by keyed fingerprints."""
    names = np.zeros(0, np.uint64) if known.names is None else known.names.copy()
    # who is known by size alone is called by the place of the table
    position = {table.name: i for i, table in enumerate(now.tables)}
    place = place_of(names)
    for i, table in enumerate(publication.own):
        names[place == i] = called_at(names[place == i], position[table.name])
    former, called = [names[:0]], [names[:0]]
    for result in results:
        own = result.table
        keyed = replace(own, contributions=before.named_alike(own.contributions))
        pair = names_of(own), names_of(keyed)
        if pair[0] is not None and pair[1] is not None:
            former.append(pair[0])
            called.append(pair[1])
    old, first = np.unique(np.concatenate(former), return_index=True)
    new = np.concatenate(called)[first]
    at = np.minimum(np.searchsorted(old, names), max(len(old) - 1, 0))
    same = old[at] == names if len(old) else np.zeros(len(names), dtype=bool)
    names[same] = new[at[same]]
    return names
