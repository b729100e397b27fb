"""The certificate of counts that the cell key method changed: checked in code of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.attack.cell_key_noise import (
    NoiseRows,
    interval_noise,
    largest_noise,
    largest_ruled_out,
    row_moments,
)
from diskret.attack.noise_certificate import (
    NoiseCertificate,
    refuse_cells,
    refuse_impossible,
)
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.errors import ProofError
from diskret.tables import Block, Outline, Published, Table
from diskret.texts import Figure, Statement, sentence

#: Mean noise of a row that still counts as none: intervals of 256 keys miss 0 by about so much.
NO_MEAN = 0.005


#: What holds for all cell key noise, and what nobody should expect of it.
CONSISTENT = sentence("cell key.consistent")
UNBIASED = sentence("cell key.unbiased")
NOT_ADDITIVE = sentence("cell key.not additive")
NO_INTERVAL = sentence("cell key.no interval")
ZEROS = sentence("cell key.zeros")
BIASED = sentence("cell key.biased")
#: What holds of counts that nobody has seen before they were changed, and what does not.
UNSEEN = sentence("cell key.unseen")
NOT_COMPARED = sentence("cell key.not compared")


def certify_cell_key(
    table: Table,
    published: Published,
    intervals: NoiseRows,
    *,
    counted: NDArray[np.int64],
    weighted: bool = False,
    threshold: int | None = None,
) -> NoiseCertificate:
    """Check every claim about perturbed counts on published and true values.

    table: the original table with its key sums. Confidential.
    intervals: the noise of each count and cell key. Confidential.
    counted: the true numbers of counted units, shape of the table.
    weighted: whether values are counts times the mean weight of those counted.
    threshold: values below it, in scaled units, are withheld; None: none is. Confidential.
    """
    keys = keys_of(table, published, intervals.modulus)
    shown = ~(published.suppressed | published.empty)
    value = counted + interval_noise(intervals, counted, keys)
    if weighted:
        value = _times_mean_weight(value, counted, table.measure.sum, published.rounding)
    largest, ruled_out = largest_noise(intervals), 0

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        refuse_cells(published, wrong, what)

    refuse_impossible(published, counted != 0)
    refuse(shown & (counted == 0) & (published.value != 0), "are empty but shown as a number")
    if not weighted:
        ruled_out = largest_ruled_out(intervals)
        small = shown & (published.value >= 1) & (published.value <= ruled_out)
        refuse(small, "show a small number that the perturbation table rules out")
        far = shown & (np.abs(published.value - counted) > largest)
        refuse(far, "are farther from the truth than the largest noise")
        unlike = _unlike(counted, keys, published.value, shown)
        refuse(unlike, "were changed otherwise than cells with the same count and key")
    refuse(shown & (published.value != value), "are not the counts plus the noise of their keys")
    low = np.zeros_like(shown) if threshold is None else value < threshold
    refuse(
        (low != published.suppressed) & ~published.empty,
        "are withheld for another reason than what would be published",
    )
    checked = (_computed_again(published), *_of_noise(intervals, ruled_out))
    return _certificate(published, intervals, ruled_out, checked=checked)


def certify_unseen(published: Published, intervals: NoiseRows, least: int) -> NoiseCertificate:
    """The certificate of counts that were perturbed where the records lie; see `check_unseen`."""
    check_unseen(published.block(), intervals, least)
    return unseen_certificate(published, intervals)


def check_unseen(block: Block, intervals: NoiseRows, least: int) -> None:
    """Check what can be checked of some cells whose true counts nobody has seen.

    No count is negative or one that the perturbation table rules out, and none is shown that lies
    below `least`.

    intervals: the noise of each count and cell key. Confidential.
    least: the least perturbed count that is shown; 0: all are. Confidential.
    """

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        refuse_cells(block.table, block.start + np.flatnonzero(wrong), what)

    shown, value = ~block.suppressed, block.value
    small = shown & (value >= 1) & (value <= largest_ruled_out(intervals))
    refuse(small, "show a small number that the perturbation table rules out")
    refuse(value < 0, "are negative")
    refuse(shown & (value < least), "are shown though they are below the threshold")


def unseen_certificate(published: Outline, intervals: NoiseRows) -> NoiseCertificate:
    """What is certified of counts that nobody has seen, once all cells were checked."""
    ruled_out = largest_ruled_out(intervals)
    return _certificate(
        published,
        intervals,
        ruled_out,
        unseen=True,
        checked=_of_noise(intervals, ruled_out),
    )


def _certificate(
    published: Outline,
    intervals: NoiseRows,
    ruled_out: int,
    *,
    unseen: bool = False,
    checked: tuple[Statement, ...],
) -> NoiseCertificate:
    means, variances = row_moments(intervals)
    unbiased = bool(np.abs(means).max() <= NO_MEAN)
    claimed, not_claimed = said(unseen, unbiased)
    return NoiseCertificate(
        published=published,
        claimed=claimed,
        not_claimed=not_claimed,
        checked=checked,
        figures={
            "max_noise": largest_noise(intervals),
            "smallest_positive": ruled_out + 1,
            "counts": intervals.counts.tolist(),
            "means": [round(float(mean), 9) + 0.0 for mean in means],
            "variances": [round(float(variance), 9) for variance in variances],
        },
    )


def said(
    unseen: bool, unbiased: bool, of_sums: tuple[Statement, ...] = ()
) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """What a certificate claims of cell key noise, and what it does not.

    unseen: whether nobody has seen the true counts.
    of_sums: what noise on sums does not promise beside what noise on counts does not.
    """
    return (
        (CONSISTENT, *((UNSEEN,) if unseen else ()), *((UNBIASED,) if unbiased else ())),
        (
            *(NOT_ADDITIVE, NO_INTERVAL, *of_sums, ZEROS, GROUP_DISCLOSURE),
            *((NOT_COMPARED,) if unseen else ()),
            *(() if unbiased else (BIASED,)),
        ),
    )


def keys_of(table: Table, published: Published, modulus: int) -> NDArray[np.uint64]:
    """The cell keys of a table, which must belong to the perturbation table."""
    if table.key_sum is None or table.key_modulus != modulus:
        raise ProofError(
            f"the cell keys of {published.name!r} do not belong to the perturbation table; nothing "
            "is published"
        )
    return table.key_sum


def _unlike(
    count: NDArray[np.int64],
    key: NDArray[np.uint64],
    value: NDArray[np.int64],
    shown: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Cells whose value differs from that of the cell before with the same count and key."""
    at = np.flatnonzero(shown)
    counts, keys, values = (array.ravel()[at] for array in (count, key, value))
    order = np.lexsort((keys, counts))
    same = (np.diff(counts[order]) == 0) & (keys[order][1:] == keys[order][:-1])
    unlike = np.zeros(count.size, dtype=bool)
    unlike[at[order[1:][same & (np.diff(values[order]) != 0)]]] = True
    return unlike.reshape(count.shape)


def _times_mean_weight(
    perturbed: NDArray[np.int64],
    count: NDArray[np.int64],
    weights: NDArray[np.int64],
    unit: int,
) -> NDArray[np.int64]:
    """Perturbed counts times mean weights, to the nearest unit, in Python's own integers."""
    filled = count > 0
    up = perturbed[filled].astype(object) * weights[filled]
    down = count[filled].astype(object) * unit
    value = np.zeros(count.shape, dtype=np.int64)
    value[filled] = ((2 * up + down) // (2 * down) * unit).astype(np.int64)
    return value


def _computed_again(published: Published) -> Statement:
    cells = published.value.size
    shown = cells - int((published.suppressed | published.empty).sum())
    return sentence("cell key.counts computed again", shown=shown, cells=cells)


def _of_noise(intervals: NoiseRows, ruled_out: int) -> tuple[Statement, Statement]:
    """How large the noise is, and how it varies."""
    variances = row_moments(intervals)[1]
    rows = variances[1:] if len(variances) > 1 else variances
    spread = " – ".join(dict.fromkeys((f"{rows.min():.4g}", f"{rows.max():.4g}")))
    largest = str(largest_noise(intervals))
    if ruled_out > 1:
        noise = sentence(
            "cell key.largest noise, no small ones", largest=largest, ruled_out=str(ruled_out)
        )
    elif ruled_out:
        noise = sentence("cell key.largest noise, no one", largest=largest)
    else:
        noise = sentence("cell key.largest noise", largest=largest)
    return (
        noise,
        sentence("cell key.variance", spread=Figure(spread)),
    )
