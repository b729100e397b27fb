"""Intervals of cell keys, and the noise that each means. Confidential."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.admissible import check_whole
from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.keys.numbers import siphash

#: Probabilities are taken as decimals with so many digits: 0.86 is 86/100, not the binary
#: number next to it, so that bounds fall where the office wrote them.
DIGITS = 12

#: Rows sum up to 1 but for rounding.
_COMPLETE = 1e-6

#: Intervals longer than this share of all keys are split before they are shuffled.
_LONGEST = Fraction(1, 5)

#: Upper bounds of the intervals of one row, and their noise.
Row = tuple[NDArray[np.uint64], NDArray[np.int64]]


class Intervals(NamedTuple):
    """What a `Lookup` is made of, unchecked."""

    counts: NDArray[np.int64]
    modulus: int
    bounds: NDArray[np.uint64]
    noise: NDArray[np.int64]
    step: int = 1
    reuse: int = 1

    @classmethod
    def of(
        cls,
        counts: NDArray[np.int64],
        modulus: int,
        rows: Sequence[Row],
        step: int = 1,
        reuse: int = 1,
    ) -> Intervals:
        """Rows of different lengths, filled up with the modulus and no noise."""
        longest = max(len(bounds) for bounds, _ in rows)
        all_bounds = np.full((len(rows), longest), modulus, dtype=np.uint64)
        all_noise = np.zeros((len(rows), longest), dtype=np.int64)
        for number, (bounds, noise) in enumerate(rows):
            all_bounds[number, : len(bounds)] = bounds
            all_noise[number, : len(noise)] = noise
        return cls(counts, modulus, all_bounds, all_noise, step, reuse)


def as_likely(
    counts: NDArray[np.int64],
    noise: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    step: int,
    reuse: int,
    modulus: int,
) -> Intervals:
    """Intervals in ascending order of the noise, as long as the probabilities say.

    Upper bounds are the cumulative probabilities times the modulus, rounded up.
    """
    if isinstance(modulus, bool) or not isinstance(modulus, int | np.integer):
        raise InputError(f"the modulus of cell keys is a whole number, not {modulus!r}")
    short = np.abs(probabilities.sum(axis=1) - 1) > _COMPLETE
    if short.any():
        raise InputError(
            f"the probabilities in {rows_named(counts[short])} do not sum up to 1; complete "
            "them before use"
        )
    rows: list[Row] = []
    for row in np.rint(probabilities * 10**DIGITS).astype(np.int64):
        likely = np.flatnonzero(row)
        scaled = [Fraction(int(c), 10**DIGITS) for c in np.cumsum(row[likely])]
        rows.append((upper_bounds(scaled, modulus), noise[likely]))
    return Intervals.of(counts, modulus, rows, step, reuse)


def upper_bounds(cumulative: list[Fraction], modulus: int) -> NDArray[np.uint64]:
    """Upper bounds of intervals of keys for exact cumulative probabilities."""
    bounds = [min(-(-c.numerator * modulus // c.denominator), modulus) for c in cumulative]
    return np.array([*bounds[:-1], modulus], dtype=np.uint64)


def shuffled(given: Intervals, seed: int | None) -> Intervals:
    """The same probabilities with split and shuffled intervals; see `Lookup.shuffled`."""
    if seed is None:
        seed = SecretKeys.load().seed("order of cell key intervals")
    # a keyed hash sorts, not a generator: the order is the same in every version of numpy
    key = hashlib.blake2b(str(seed).encode(), digest_size=16).digest()
    rows: list[Row] = []
    for number, (bounds, noise) in enumerate(zip(given.bounds, given.noise, strict=True)):
        width, value = _pieces(bounds, noise, given.modulus)
        place = np.arange(len(width), dtype=np.uint64) + np.uint64(number << 32)
        order = np.argsort(siphash(key, place), kind="stable")
        rows.append((np.cumsum(width[order], dtype=np.uint64), value[order]))
    return Intervals.of(given.counts, given.modulus, rows, given.step, given.reuse)


def check_counts(counts: NDArray[np.int64]) -> None:
    """Rows stand for ascending counts, the first of them 0."""
    if counts.ndim != 1 or not len(counts) or counts[0] != 0 or (np.diff(counts) <= 0).any():
        shown = ", ".join(str(c) for c in counts.ravel()[:5])
        raise InputError(f"rows must stand for ascending counts from 0 on, not {shown}, …")


def check_reuse(counts: NDArray[np.int64], reuse: int) -> None:
    """The last `reuse` rows, without that of 0, stand for counts one after the other."""
    check_whole(reuse, "reuse", 1)
    rows = len(counts)
    if reuse >= max(rows, 2):
        raise InputError(
            f"{reuse} rows cannot be reused in turn; there are {rows - 1} besides that of 0"
        )
    if counts[-1] - counts[-reuse] != reuse - 1:
        raise InputError(f"the last {reuse} rows leave out counts: reuse=1 is possible")


def row_of(counts: NDArray[np.int64], reuse: int, count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each count: the next one that is there, beyond the last the last ones in turn."""
    last = counts[-1]
    again = last - reuse + 1 + (count - last - 1) % reuse
    return np.searchsorted(counts, np.where(count > last, again, count))


def check_not_below_zero(count: int, noise: NDArray[np.int64], step: int = 1) -> None:
    """No noise of a row is greater than what it stands for."""
    low = noise[noise < -count * step]
    if len(low):
        raise InputError(
            f"a count of {count} would become {count + int(low.min()) / step:g}; take noise below "
            f"-{count} out of row {count}"
        )


def rows_named(counts: NDArray[np.int64]) -> str:
    """Rows by what they stand for, a few of them."""
    shown = ", ".join(str(c) for c in counts[:5])
    more = ", …" if len(counts) > 5 else ""
    return f"row {shown}" if len(counts) == 1 else f"{len(counts)} rows ({shown}{more})"


def _pieces(
    bounds: NDArray[np.uint64], noise: NDArray[np.int64], modulus: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Widths and noise of a row's intervals, none of them long and none empty."""
    widths: list[int] = []
    values: list[int] = []
    for width, value in zip(np.diff(bounds, prepend=np.uint64(0)), noise, strict=True):
        parts = -(-int(width) * _LONGEST.denominator // (modulus * _LONGEST.numerator))
        for part in range(parts):
            widths.append(int(width) * (part + 1) // parts - int(width) * part // parts)
            values.append(int(value))
    return np.array(widths, dtype=np.uint64), np.array(values, dtype=np.int64)
