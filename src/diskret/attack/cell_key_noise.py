"""The noise of the cell key method, read and computed in code of the attack's own."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from math import fsum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.tables import Measure

#: The odd factor that binary keys are mixed with, from the golden ratio.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: Keys of measures are mixed modulo this prime.
_MERSENNE = np.uint64(2147483647)


#: So many cells at a time are compared with the intervals of their rows.
_BLOCK = 2**16


class Rows(Protocol):
    """Which row stands for which count."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """What the rows stand for, ``(rows,)``."""
        ...

    @property
    def reuse(self) -> int:
        """Counts beyond the last row take the last so many rows in turn."""
        ...


class NoiseRows(Rows, Protocol):
    """Which noise each cell key means: rows, their upper bounds and their noise."""

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
    row = row_of(intervals, flat)
    noise = np.empty(len(flat), dtype=np.int64)
    for start in range(0, len(flat), _BLOCK):
        part = slice(start, start + _BLOCK)
        passed = (intervals.bounds[row[part]] <= keys[part, None]).sum(axis=1)
        noise[part] = intervals.noise[row[part], passed]
    return noise.reshape(count.shape)


def row_moments(intervals: NoiseRows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of the noise of each row, as its intervals of whole keys realise them."""
    share = widths(intervals) / intervals.modulus
    noise = intervals.noise / intervals.step
    means = (share * noise).sum(axis=1)
    return means, (share * noise**2).sum(axis=1) - means**2


def row_of(rows: Rows, count: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each count; beyond the last one the last `reuse` in turn."""
    last = int(rows.counts[-1])
    again = last - rows.reuse + 1 + (count - last - 1) % rows.reuse
    return np.searchsorted(rows.counts, np.where(count > last, again, count))


def widths(intervals: NoiseRows) -> NDArray[np.uint64]:
    """How many keys fall into each interval, ``(rows, k)``."""
    return np.diff(intervals.bounds, axis=1, prepend=np.uint64(0))


def _possible(intervals: NoiseRows) -> NDArray[np.bool_]:
    """Intervals that a key can fall into."""
    return widths(intervals) > 0


def largest_ruled_out(intervals: NoiseRows) -> int:
    """The largest number that no count from 1 to it can become; 0 if 1 can."""
    # counts beyond these stay greater than the last row, whatever their noise
    count = np.arange(1, int(intervals.counts[-1] + np.abs(intervals.noise).max()) + 1)
    row = row_of(intervals, count)
    target = count[:, None] + intervals.noise[row]
    positive = target[_possible(intervals)[row] & (target > 0)]
    return int(positive.min(initial=1 + int(intervals.counts[-1]))) - 1


# ── of sums ─────────────────────────────────────────────────────────────────────────


class SumNoise(Protocol):
    """How sums were changed; see [`MagnitudeNoise`][diskret.MagnitudeNoise]."""

    @property
    def scales(self) -> tuple[float, float]:
        """The share of small and that of very large contributions."""
        ...

    @property
    def flex_point(self) -> float:
        """Contributions up to this one are small."""
        ...

    @property
    def flex_power(self) -> int:
        """How fast the share falls beyond."""
        ...

    @property
    def of(self) -> str:
        """What noise is in proportion to: largest, mean or sum."""
        ...

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the largest contribution, of the second largest and so on."""
        ...

    @property
    def extra(self) -> float | None:
        """Added to the noise of sensitive cells; None: what the rule asks for."""
        ...

    @property
    def risk(self) -> float:
        """How likely the rule's own estimators may come too close."""
        ...

    @property
    def keys(self) -> str:
        """Whose keys choose the noise: those of the measure or of the cell."""
        ...

    @property
    def own_keys(self) -> bool:
        """Whether keys are other than those of counts."""
        ...


@dataclass(frozen=True, eq=False)
class UsedNoise:
    """The parameters and tables of noise, as this module reads them."""

    noise: SumNoise
    intervals: NoiseRows
    small: NoiseRows | None = None
    odd: NoiseRows | None = None
    counts: NoiseRows | None = None

    def separation(self) -> float:
        """Below it cells are very small."""
        if self.small is None:
            return 0.0
        spread = float(row_moments(self.small)[1][-1]) ** 0.5
        return spread / (self.noise.scales[0] * fsum(e**2 for e in self.noise.shares) ** 0.5)

    def source(self, measure: Measure) -> str:
        """What keys of a measure are named after."""
        name = measure.source or measure.name
        return unicodedata.normalize("NFKC", name).strip().casefold()

    def keys(self, keys: NDArray[np.uint64], measure: Measure, draw: int) -> NDArray[np.uint64]:
        """The keys of a draw: 0 for the largest contribution, the last for the side."""
        modulus = self.intervals.modulus
        if self.noise.keys == "measure":
            return measure_key(keys, modulus, self.source(measure), draw)
        return turned_key(keys, modulus, draw + int(self.noise.own_keys))

    @property
    def key_of_counts(self) -> bool:
        """Whether the key of the count chooses the noise of the largest contribution, too."""
        return self.noise.keys == "cell" and not self.noise.own_keys

    def share(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """m(x): the small share up to the flex point, beyond it what falls to the large one."""
        small, large = self.noise.scales
        f = self.noise.flex_point
        beyond = np.maximum(x, f)
        power = (2 * f / (f + beyond)) ** self.noise.flex_power
        falling = (small * beyond / f - large) / large * power
        return large * (1 + falling) if small != large else np.full(x.shape, small)

    def farthest(self) -> float:
        """The largest noise v of any row."""
        tables = [t for t in (self.intervals, self.odd) if t is not None]
        return max(float(np.abs(one.noise).max()) / one.step for one in tables)


def between(
    intervals: NoiseRows, row: NDArray[np.float64], key: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """The noise of keys in rows, linear between two rows."""
    counts = intervals.counts
    capped = np.minimum(row, counts[-1])
    upper = np.minimum(np.searchsorted(counts, capped, side="left"), len(counts) - 1)
    lower = np.maximum(upper - 1, 0)
    gap = np.where(upper > lower, counts[upper] - counts[lower], 1)
    weight = np.where(upper > lower, (counts[upper] - capped) / gap, 0.0)
    high = interval_noise(intervals, counts[upper], key)
    low = interval_noise(intervals, counts[lower], key)
    return (weight * low + (1 - weight) * high) / intervals.step


def turned_key(keys: NDArray[np.uint64], modulus: int, times: int) -> NDArray[np.uint64]:
    """The key of a further draw: digits turned one by one, or bits mixed, so many times."""
    bits = modulus.bit_length() - 1
    fold = np.uint64(bits - bits // 2)
    for _ in range(times):
        if modulus == 2**bits:
            for _ in range(2):
                keys = np.multiply(keys ^ (keys >> fold), _FACTOR) % np.uint64(modulus)
            keys = keys ^ (keys >> fold)
        else:
            first, rest = np.divmod(keys, np.uint64(modulus // 10))
            keys = rest * np.uint64(10) + first
    return keys


def measure_key(
    keys: NDArray[np.uint64], modulus: int, source: str, draw: int
) -> NDArray[np.uint64]:
    """The key of a draw of a measure, as decision 53 describes it.

    Six rounds, from the constants of a digest; pairs beyond the modulus go round again.
    """
    told = hashlib.blake2b(f"{draw} {source}".encode(), digest_size=48, person=b"diskret measure")
    words = [int.from_bytes(told.digest()[i : i + 4], "little") for i in range(0, 48, 4)]
    numbers = [np.uint64(1 + word % 2147483646) for word in words]
    side = round((modulus - 1) ** 0.5)
    while side * side < modulus:
        side += 1
    while (side - 1) * (side - 1) >= modulus:
        side -= 1
    columns = np.uint64(side)
    rows = np.uint64((modulus + side - 1) // side)

    def mixed(half: NDArray[np.uint64], place: int) -> NDArray[np.uint64]:
        t = (half % _MERSENNE * numbers[place] + numbers[place + 1]) % _MERSENNE
        return t * t % _MERSENNE

    waiting, found = np.ones(keys.shape, dtype=bool), keys.copy()
    while waiting.any():
        row, column = found[waiting] // columns, found[waiting] % columns
        for place in (0, 4, 8):
            row = (row + mixed(column, place)) % rows
            column = (column + mixed(row, place + 2)) % columns
        found[waiting] = row * columns + column
        waiting &= found >= np.uint64(modulus)
    return found
