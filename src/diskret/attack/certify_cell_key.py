"""The certificate of counts that the cell key method changed: checked in code of its own."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.attack.noise_certificate import NoiseCertificate, refuse_cells
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.errors import ProofError
from diskret.tables import Published, Table
from diskret.texts import Figure, Statement, sentence

#: So many cells at a time are compared with the intervals of their rows.
_BLOCK = 2**16
#: Mean noise of a row that still counts as none: intervals of 256 keys miss 0 by about so much.
NO_MEAN = 0.005


class NoiseRows(Protocol):
    """Which noise each cell key means: rows, their upper bounds and their noise."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """What the rows stand for, ``(rows,)``."""
        ...

    @property
    def modulus(self) -> int:
        """Of the cell keys."""
        ...

    @property
    def bounds(self) -> NDArray[np.uint64]:
        """Upper bounds of the intervals of each row, ``(rows, k)``."""
        ...

    @property
    def noise(self) -> NDArray[np.int64]:
        """Noise of each interval in units of 1/`step`, ``(rows, k)``."""
        ...

    @property
    def step(self) -> int:
        """Noise values are multiples of 1/`step`."""
        ...

    @property
    def reuse(self) -> int:
        """Counts beyond the last row take the last so many rows in turn."""
        ...


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

    refuse(shown & (counted == 0) & (published.value != 0), "are empty but shown as a number")
    if not weighted:
        ruled_out = _ruled_out(intervals)
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
    """The certificate of counts that were perturbed where the records lie.

    What can be checked without true counts is checked: that no count is negative or one that the
    perturbation table rules out, and that none is shown that lies below `least`.

    intervals: the noise of each count and cell key. Confidential.
    least: the least perturbed count that is shown; 0: all are. Confidential.
    """
    ruled_out, shown = _ruled_out(intervals), ~published.suppressed
    small = shown & (published.value >= 1) & (published.value <= ruled_out)
    refuse_cells(published, small, "show a small number that the perturbation table rules out")
    refuse_cells(published, published.value < 0, "are negative")
    low = shown & (published.value < least)
    refuse_cells(published, low, "are shown though they are below the threshold")
    return _certificate(
        published,
        intervals,
        ruled_out,
        claimed=(UNSEEN,),
        not_claimed=(NOT_COMPARED,),
        checked=_of_noise(intervals, ruled_out),
    )


def _certificate(
    published: Published,
    intervals: NoiseRows,
    ruled_out: int,
    *,
    claimed: tuple[Statement, ...] = (),
    not_claimed: tuple[Statement, ...] = (),
    checked: tuple[Statement, ...],
) -> NoiseCertificate:
    means, variances = row_moments(intervals)
    unbiased = bool(np.abs(means).max() <= NO_MEAN)
    return NoiseCertificate(
        published=published,
        claimed=(CONSISTENT, *claimed, *((UNBIASED,) if unbiased else ())),
        not_claimed=(
            *(NOT_ADDITIVE, NO_INTERVAL, ZEROS, GROUP_DISCLOSURE),
            *not_claimed,
            *(() if unbiased else (BIASED,)),
        ),
        checked=checked,
        figures={
            "max_noise": largest_noise(intervals),
            "smallest_positive": ruled_out + 1,
            "counts": intervals.counts.tolist(),
            "means": [round(float(mean), 9) + 0.0 for mean in means],
            "variances": [round(float(variance), 9) for variance in variances],
        },
    )


def largest_noise(intervals: NoiseRows) -> int:
    """The largest change that some key brings about."""
    return int(np.abs(intervals.noise[_possible(intervals)]).max())


def interval_noise(
    intervals: NoiseRows, count: NDArray[np.int64], key: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """The noise of each count and key, in units of 1/`step`: the row, then the interval.

    The interval is as many places to the right as there are upper bounds that are not greater
    than the key.
    """
    flat, keys = count.ravel(), key.ravel()
    row = _row(intervals, flat)
    noise = np.empty(len(flat), dtype=np.int64)
    for start in range(0, len(flat), _BLOCK):
        part = slice(start, start + _BLOCK)
        passed = (intervals.bounds[row[part]] <= keys[part, None]).sum(axis=1)
        noise[part] = intervals.noise[row[part], passed]
    return noise.reshape(count.shape)


def row_moments(intervals: NoiseRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of the noise of each row, as its intervals of whole keys realise them."""
    share = _widths(intervals) / intervals.modulus
    noise = intervals.noise / intervals.step
    means = (share * noise).sum(axis=1)
    return means, (share * noise**2).sum(axis=1) - means**2


def keys_of(table: Table, published: Published, modulus: int) -> NDArray[np.uint64]:
    """The cell keys of a table, which must belong to the perturbation table."""
    if table.key_sum is None or table.key_modulus != modulus:
        raise ProofError(
            f"the cell keys of {published.name!r} do not belong to the perturbation table; nothing "
            "is published"
        )
    return table.key_sum


def _row(intervals: NoiseRows, count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each count; beyond the last one the last `reuse` in turn."""
    last = int(intervals.counts[-1])
    again = last - intervals.reuse + 1 + (count - last - 1) % intervals.reuse
    return np.searchsorted(intervals.counts, np.where(count > last, again, count))


def _widths(intervals: NoiseRows) -> NDArray[np.uint64]:
    return np.diff(intervals.bounds, axis=1, prepend=np.uint64(0))


def _possible(intervals: NoiseRows) -> NDArray[np.bool_]:
    """NoiseRows that a key can fall into."""
    return _widths(intervals) > 0


def _ruled_out(intervals: NoiseRows) -> int:
    """The largest number that no count from 1 to it can become; 0 if 1 can."""
    # counts beyond these stay greater than the last row, whatever their noise
    count = np.arange(1, int(intervals.counts[-1] + np.abs(intervals.noise).max()) + 1)
    row = _row(intervals, count)
    target = count[:, None] + intervals.noise[row]
    positive = target[_possible(intervals)[row] & (target > 0)]
    return int(positive.min(initial=1 + int(intervals.counts[-1]))) - 1


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
