"""What is checked of results beside all that a ledger holds, before they are entered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from diskret.ledger.entries import (
    changed_alike,
    earlier_of_results,
    noisy_before,
    said_otherwise,
)
from diskret.ledger.refusals import (
    check_changed,
    check_noise_stays_unknown,
    check_same_values,
    check_zeros_before,
)
from diskret.progress import Progress
from diskret.protect.linked import check_measures, warn_of_corrections
from diskret.protect.result import Result
from diskret.protect.write import hiding
from diskret.publish.contract import Protected
from diskret.publish.store.entry import Entry
from diskret.tables import Earlier
from diskret.tables.ties import refuse_two_spellings

#: Attacks results that were protected together beside all earlier tables tied to them.
Again = Callable[[Sequence[Result], Sequence[Earlier]], None]


def check_beside_all(
    results: Sequence[Protected],
    entries: Sequence[Entry],
    load: Callable[[Sequence[tuple[Entry, int]]], list[Earlier]],
    *,
    since: str,
    revises: Collection[str] | None,
    again: Again,
    always: bool,
    progress: Progress,
) -> None:
    """Refuse results that undo what was published before, or that it undoes.

    load: reads tables of entries.
    since: the ledger's position; results that were protected at another one are attacked again.
    revises, again: see `Ledger.publish`.
    always: attack them again in any case.
    """
    shown = [result.published for result in results]
    hidden, changed = hiding(results), [result for result in results if result.proof is None]
    refuse_two_spellings(shown, [note for entry in entries for note in entry.tables])
    others = load(said_otherwise(entries, shown, revises or ()))
    check_measures(results, others)
    if revises is None:
        warn_of_corrections(results, others)
    wanted, shared = earlier_of_results(entries, results)
    moved = any(result.position != since for result in hidden)
    attacked = bool(hidden) and (moved or shared or always)
    if wanted and (attacked or changed):
        before = load(wanted)
        if attacked:
            again(hidden, before)
        check_changed(changed, before, progress)
        check_noise_stays_unknown(changed, [one for one in before if not one.perturbed])
    check_noise_stays_unknown(hidden, load(noisy_before(entries, hidden)))
    check_same_values(changed, load(changed_alike(entries, changed)))
    check_zeros_before(changed, load(noisy_before(entries, changed)))
