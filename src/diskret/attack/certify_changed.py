"""What holds of adjusted tables, of perturbed ones made additive, and of invariant noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise_certificate import (
    NoiseCertificate,
    check_adding_up,
    refuse_cells,
    refuse_hidden,
    refuse_impossible,
)
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.attack.ties import same_cells
from diskret.errors import ProofError
from diskret.tables import Publication, Published, Table
from diskret.tables.requirements import Requirements
from diskret.texts import Figure, sentence
from diskret.texts.numbers import Count

ADJUSTED = (
    sentence("adjusted.additive"),
    sentence("adjusted.changed where revealing"),
)
NOT_OF_ADJUSTED = (
    sentence("adjusted.no interval"),
    sentence("adjusted.none exact"),
    sentence("adjusted.not consistent"),
    GROUP_DISCLOSURE,
)


def certify_adjustment(
    published: Sequence[Published], tables: Sequence[Table], needs: Sequence[Requirements]
) -> list[NoiseCertificate]:
    """Check tables that were adjusted together, and say what holds of each.

    needs: how far each sensitive value must have moved: down by `lower` or up by `upper`. A level
        of 0 rules its direction out; where both are 0, any move will do.
    """
    check_adding_up(published)
    return [_adjusted(*own) for own in zip(published, tables, needs, strict=True)]


def _adjusted(published: Published, table: Table, needs: Requirements) -> NoiseCertificate:
    refuse_hidden(published, published.suppressed | published.empty)
    original, value = table.measure.sum.ravel(), published.value.ravel()
    moved = value - original
    step = moved[needs.cell]
    risen = (needs.upper > 0) & (step >= needs.upper)
    fallen = (needs.lower > 0) & (-step >= needs.lower)
    anywhere = (needs.upper == 0) & (needs.lower == 0) & (step != 0)
    refuse_cells(
        published, needs.cell[~(risen | fallen | anywhere)], "are too close to their values"
    )
    refuse_cells(
        published, np.flatnonzero(table.empty.ravel() & (value != 0)), "are empty and not 0"
    )
    if table.nonnegative:
        refuse_cells(published, np.flatnonzero(value < 0), "are negative")
    units = 10.0**published.decimals
    relative = 100 * np.abs(moved) / np.maximum(np.abs(original), 1)
    others = np.setdiff1d(np.flatnonzero(original), needs.cell)
    sensitive, changed = len(needs.cell), int((moved[others] != 0).sum())
    far = float(relative[others].max(initial=0))
    mean = float(relative[original != 0].mean()) if original.any() else 0.0
    return NoiseCertificate(
        published,
        ADJUSTED,
        NOT_OF_ADJUSTED,
        shown={"additive": True},
        checked=(
            sentence(
                "adjusted.changes",
                sensitive=sensitive,
                changed=changed,
                others=len(others),
                far=Figure(f"{far:.2f}"),
                mean=Figure(f"{mean:.2f}"),
            ),
        ),
        figures={
            "sensitive": sensitive,
            "others": len(others),
            "others_changed": changed,
            "largest_change": float(np.abs(moved).max(initial=0)) / units,
            "largest_relative_change_of_others": far,
            "mean_relative_change": mean,
            "total_change": float(np.abs(moved).sum()) / units,
        },
    )


MADE_ADDITIVE = (
    sentence("made additive.additive"),
    sentence("made additive.from perturbed values"),
)
NOT_OF_ADDITIVE = (
    sentence("made additive.not consistent"),
    sentence("made additive.no interval"),
)


def certify_additive(published: Published, before: Published, table: Table) -> NoiseCertificate:
    """Check a perturbed table that was made additive.

    before: the perturbed one that it was made from.
    """
    check_adding_up([published])
    refuse_hidden(published, published.suppressed)
    refuse_impossible(published, ~table.empty)
    opened = np.flatnonzero(((before.value == 0) & (published.value != 0)).ravel())
    refuse_cells(published, opened, "were 0 and are not any more")
    if published.nonnegative:
        refuse_cells(published, np.flatnonzero(published.value < 0), "are negative")
    again = np.abs(published.value - before.value) / 10.0**published.decimals
    noise = (published.value - table.measure.sum) / 10.0**published.decimals
    changed, size = int(np.count_nonzero(again)), again.size
    largest, mean = float(again.max(initial=0)), float(again.mean())
    return NoiseCertificate(
        published,
        MADE_ADDITIVE,
        NOT_OF_ADDITIVE,
        shown={"additive": True},
        checked=(
            sentence(
                "made additive.changes",
                changed=changed,
                size=size,
                share=Figure(f"{100 * changed / size:.1f}"),
                largest=Figure(f"{largest:g}"),
                mean=Figure(f"{mean:.2f}"),
            ),
        ),
        figures={
            "changed_again": changed,
            "share_changed_again": 100 * changed / size,
            "largest_second_change": largest,
            "mean_second_change": mean,
            "added_variance": float((again**2).mean()),
            "mean_noise": float(noise.mean()),
            "mean_square_noise": float((noise**2).mean()),
        },
    )


SAME_VALUES = sentence("invariant.frequencies")
SAME_ON_AVERAGE = sentence("invariant.frequencies on average")
SAME_IN_ALL = sentence("invariant.same cell")
NOT_OF_INVARIANT = (
    sentence("invariant.not additive"),
    sentence("invariant.not consistent"),
    sentence("invariant.no interval"),
)


def certify_invariant(
    published: Sequence[Published],
    tables: Sequence[Table],
    max_noise: float,
    exact: bool = True,
) -> list[NoiseCertificate]:
    """Check tables that were perturbed together by invariant noise.

    max_noise: the largest noise. Confidential.
    exact: whether every value has to be as frequent as it was, not only on average.
    """
    if len({own.vintage for own in published}) > 1:
        raise ProofError("tables of different vintages were perturbed together by invariant noise")
    before = np.concatenate([own.measure.sum.ravel() for own in tables])
    after = np.concatenate([own.value.ravel() for own in published])
    label = same_cells(Publication(tuple(published)))
    _, first, same = np.unique(label, return_index=True, return_inverse=True)
    twice = int((after != after[first][same]).sum())
    if twice:
        raise ProofError(
            f"{twice:,} {Count(twice):cell has|cells have} other values than the same cell of "
            "another table"
        )
    for seen, table in zip(published, tables, strict=True):
        refuse_hidden(seen, seen.suppressed | seen.empty)
        moved = np.abs(seen.value - table.measure.sum)
        refuse_cells(
            seen, moved > max_noise, "are farther from their values than the largest noise"
        )
        refuse_cells(
            seen, (table.measure.sum == 0) & (seen.value != 0), "are empty but not shown as 0"
        )
    if after.min() < 0:
        raise ProofError("counts became negative")
    if exact:
        _check_frequencies(before[first], after[first])
    changed = int((after != before)[first].sum())
    said = sentence("invariant.changes", changed=changed, cells=len(first))
    figures = {"cells": len(first), "changed": changed, "max_noise": max_noise}
    return [
        NoiseCertificate(
            own,
            (SAME_VALUES if exact else SAME_ON_AVERAGE, SAME_IN_ALL),
            NOT_OF_INVARIANT,
            checked=(said,),
            figures=figures,
        )
        for own in published
    ]


def _check_frequencies(before: NDArray[np.int64], after: NDArray[np.int64]) -> None:
    """Refuse values that got rarer or more frequent."""
    high = int(max(before.max(), after.max()))
    was, now = (np.bincount(x, minlength=high + 1) for x in (before, after))
    wrong = np.flatnonzero(was != now)
    if len(wrong):
        value = int(wrong[0])
        number = Count(len(wrong))
        raise ProofError(
            f"{number} {number:value is|values are} not as frequent as they were, e.g. {value} "
            f"occurs {now[value]:,} times instead of {was[value]:,}"
        )
