"""Tables with changed values beside what was published before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError, ProofError
from diskret.ledger.check import check
from diskret.progress import Progress, silent
from diskret.protect.linked import check_sums_beside
from diskret.publish.contract import Protected
from diskret.tables import NO_BOUND, Earlier, Published
from diskret.tables.dimension import describe
from diskret.tables.meanings import common_cells

_EXAMPLES = 3


def check_changed(
    results: Sequence[Protected], earlier: Sequence[Earlier], progress: Progress = silent
) -> None:
    """Refuse changed values that open what earlier releases hide, or differ from earlier ones.

    Parameters
    ----------
    results
        What would be published.
    earlier
        Tables of earlier releases that are tied to them.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    ProofError
        Cells that an earlier release hides could be narrowed down too far, or nothing can be said
        about that, because nobody knows how far true values can lie from changed ones.
    InputError
        A cell was published before with other noise; two values tell more than one.
    """
    bounded = [result for result in results if result.known is not None]
    for result in results:
        beside = [
            one for one in earlier if result.published.about.shares_cells(one.published.about)
        ]
        hiding = [one for one in beside if not one.perturbed and one.published.suppressed.any()]
        if hiding and result.known is None:
            raise ProofError(
                f"{result.name!r} was changed without a bound that can be relied on, so nothing "
                f"can be proven about the cells that release {hiding[0].release!r} hides; suppress "
                "cells here as well, or round"
            )
        for one in beside:
            if one.perturbed and result.published.about.shares_cells(one.published.about):
                _check_same(result, one)
    if not bounded:
        return
    broken = check(bounded, earlier, limit=0, progress=progress).broken
    opened = [cell for cell in broken if not cell.already]
    if opened:
        examples = "; ".join(f"{c.release}/{c.table}: {c.codes}" for c in opened[:_EXAMPLES])
        raise ProofError(
            f"with these values {len(opened):,} cells that earlier releases hide could be computed "
            f"exactly or too closely ({examples}); nothing was written"
        )


def check_zeros_before(results: Sequence[Protected], noisy: Sequence[Earlier]) -> None:
    """Refuse sums of cells whose count noise made 0, where the one or the other is earlier.

    Parameters
    ----------
    results
        What would be published.
    noisy
        Earlier tables with noise. A count that was shown as 0 stands for an interval from 0 on,
        any other number for one from 1 on at least.

    Raises
    ------
    InputError
        Names the cells.
    """
    for one in noisy:
        if one.published.frequency:
            zero = _zero(one)
            for result in results:
                if result.published.changed and not result.published.frequency:
                    named = replace(one.published, name=one.name)
                    check_sums_beside(named, zero, result.published)
        elif one.shown is not None:
            hidden = one.shown >= NO_BOUND
            sums = replace(one.published, name=one.name, value=one.shown, suppressed=hidden)
            for result in results:
                counts = result.published
                if counts.frequency and counts.changed == "cell_key":
                    check_sums_beside(counts, ~counts.suppressed & (counts.value == 0), sums)


def _zero(counts: Earlier) -> NDArray[np.bool_]:
    """Where counts were shown as 0, and somebody may be there."""
    low, high = counts.published.intervals.values()
    if counts.shown is not None:
        return (counts.shown.ravel() == 0) & (high > 0)
    return (low == 0) & (high > 0) & (high < NO_BOUND)


def check_same_values(results: Sequence[Protected], earlier: Sequence[Earlier]) -> None:
    """Refuse changed values of cells that earlier releases showed with others.

    Parameters
    ----------
    results
        What would be published.
    earlier
        Tables whose values were changed without a bound.

    Raises
    ------
    InputError
        Names the table and the release.
    """
    for result in results:
        for one in earlier:
            if result.published.about.shares_cells(one.published.about):
                _check_same(result, one)


def check_noise_stays_unknown(results: Sequence[Protected], earlier: Sequence[Earlier]) -> None:
    """Refuse a cell as it is beside the same cell with noise, whichever of them is earlier.

    Whoever has both has the noise itself, and from many of them the secret table that it comes
    from. Rounding by a public rule has no secret to keep.

    Parameters
    ----------
    results
        What would be published.
    earlier
        Tables of earlier releases; of those with changed values the ones with noise.

    Raises
    ------
    InputError
        Names the table and the release.
    """
    for result in results:
        new = result.published
        for one in earlier:
            alike = bool(new.changed) == one.perturbed or new.changed == "rounding"
            if alike or not new.about.shares_cells(one.published.about):
                continue
            first, second = common_cells(new, one.published)
            shown = ~new.suppressed.ravel()[first]
            if new.changed:
                plain = one.published.value.ravel()[second]
                shown &= ~one.published.suppressed.ravel()[second]
            else:
                plain = new.value.ravel()[first]
                there = NO_BOUND if one.shown is None else one.shown.ravel()[second]
                shown &= there < NO_BOUND
            told = shown & (plain != 0)  # 0 has no noise
            if told.any():
                cells = "; ".join(describe(new.dimensions, int(c)) for c in first[told][:_EXAMPLES])
                raise InputError(
                    f"{int(told.sum()):,} of {len(first):,} cells of {result.name!r} were "
                    f"published in release {one.release!r} ({cells}), here as they are and there "
                    "with noise, or the other way round: both together show the noise itself. "
                    "Publish all of it by the same method, or give new data another vintage="
                )


def _check_same(result: Protected, earlier: Earlier) -> None:
    """Refuse cells whose published values were others before, or stood for other intervals."""
    now = result.remembered("")
    new, old = now.published, earlier.published
    first, second = common_cells(new, old)
    differ = np.zeros(len(first), dtype=bool)
    if now.shown is not None and earlier.shown is not None:
        mine, theirs = now.shown.ravel()[first], earlier.shown.ravel()[second]
        differ |= (mine < NO_BOUND) & (theirs < NO_BOUND) & (mine != theirs)
    for mine, theirs in zip(_sides(new), _sides(old), strict=True):
        known = (np.abs(mine[first]) < NO_BOUND) & (np.abs(theirs[second]) < NO_BOUND)
        differ |= known & (mine[first] != theirs[second])
    if differ.any():
        raise InputError(
            f"{int(differ.sum()):,} of {len(first):,} cells of {result.name!r} were published in "
            f"release {earlier.release!r} with other noise. Two values for one cell tell more than "
            "one: use the same method, parameters and keys, or give new data another vintage="
        )


def _sides(published: Published) -> list[NDArray[np.int64]]:
    return [bound.ravel() for bound in published.intervals.values()]
