"""The certificate of sums that the cell key method changed: computed again in code of its own."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diskret.attack.certify_cell_key import (
    BIASED,
    CONSISTENT,
    NO_INTERVAL,
    NO_MEAN,
    NOT_ADDITIVE,
    UNBIASED,
    ZEROS,
    Intervals,
    interval_noise,
    keys_of,
    refuse_cells,
    row_moments,
)
from diskret.attack.noise_certificate import NoiseCertificate, Statement
from diskret.tables import Published, Table

#: Values are computed in another order than by the method, so last digits of noise may differ.
_LAST_DIGITS = 1e-9
#: The odd factor that binary keys are mixed with, from the golden ratio.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: Keys of measures are mixed modulo this prime.
_MERSENNE = np.uint64(2147483647)


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
    def extra(self) -> float:
        """Added to the noise of sensitive cells."""
        ...

    @property
    def keys(self) -> str:
        """Whose keys choose the noise: those of the measure or of the cell."""
        ...

    @property
    def own_keys(self) -> bool:
        """Whether keys are other than those of counts."""
        ...


def certify_cell_key_sums(
    table: Table,
    published: Published,
    noise: SumNoise,
    intervals: Intervals,
    *,
    number: NDArray[np.int64] | None = None,
    sensitive: NDArray[np.bool_] | None = None,
    small: Intervals | None = None,
    odd: Intervals | None = None,
) -> NoiseCertificate:
    """Check every claim about perturbed sums on published and true values.

    Parameters
    ----------
    table
        The original table with its key sums. Confidential.
    published
        The perturbed table.
    noise
        The parameters of the noise. Confidential.
    intervals, small, odd
        The noise of each row and cell key: of all cells, of very small ones, and of those with
        an odd number of units. Confidential.
    number
        Counted units of each cell, int64.
    sensitive
        Cells that get extra protection, bool.

    Raises
    ------
    ProofError
        Published values are not those that contributions and keys demand; cells with nothing in
        them became a number; values that cannot be negative are; or sensitive cells were changed
        too little. Says how many cells.
    """
    keys = keys_of(table, published, intervals.modulus)
    shown = ~(published.suppressed | published.empty)
    measure = table.measure
    nothing = measure.magnitude == 0
    refuse_cells(
        table, published, shown & nothing & (published.value != 0), "hold 0 but are shown otherwise"
    )
    if measure.nonnegative:
        refuse_cells(
            table, published, shown & (published.value < 0), "are negative, which no sum can be"
        )
    marked = np.zeros_like(shown) if sensitive is None else sensitive
    used = _Used(noise, intervals, small, odd)
    change = np.zeros(table.shape)
    least = np.zeros(table.shape)
    filled = ~nothing & ~table.empty
    change[filled], least[filled] = _again(
        used, table, filled, keys[filled], number, marked[filled]
    )
    demanded = measure.sum + np.where(measure.sum < 0, -change, change)
    if measure.nonnegative:
        demanded = np.maximum(demanded, 0)
    reach = published.rounding / 2 + _LAST_DIGITS * (np.abs(change) + np.abs(demanded) + 1)
    refuse_cells(
        table,
        published,
        shown & (np.abs(published.value - demanded) > reach),
        "are not the sums plus the noise of their keys",
    )
    moved = np.abs(published.value - measure.sum)
    near = shown & marked & filled & (moved < least - reach) & (published.value > 0)
    if len(noise.shares) == 1:
        refuse_cells(table, published, near, "are sensitive but changed too little")

    means, _ = row_moments(intervals)
    unbiased = (
        len(noise.shares) == 1
        and not (noise.extra and marked.any())
        and all(_centred(one) for one in (intervals, small, odd) if one is not None)
    )
    relative = moved[shown & filled] / measure.magnitude[shown & filled]
    return NoiseCertificate(
        published=published,
        claimed=(CONSISTENT, *((UNBIASED,) if unbiased else ())),
        not_claimed=(NOT_ADDITIVE, NO_INTERVAL, ZEROS, *(() if unbiased else (BIASED,))),
        checked=_checked(relative, int((marked & shown).sum())),
        figures={
            "counts": intervals.counts.tolist(),
            "means": [round(float(mean), 9) + 0.0 for mean in means],
            "mean_relative_change": float(relative.mean()) if len(relative) else 0.0,
            "largest_relative_change": float(relative.max(initial=0.0)),
        },
    )


@dataclass(frozen=True, eq=False)
class _Used:
    """The parameters and tables of noise, as this module reads them."""

    noise: SumNoise
    intervals: Intervals
    small: Intervals | None
    odd: Intervals | None

    def separation(self) -> float:
        """Below it cells are very small."""
        if self.small is None:
            return 0.0
        spread = float(row_moments(self.small)[1][-1]) ** 0.5
        return spread / (self.noise.scales[0] * sum(e**2 for e in self.noise.shares) ** 0.5)


def _again(
    used: _Used,
    table: Table,
    filled: NDArray[np.bool_],
    keys: NDArray[np.uint64],
    number: NDArray[np.int64] | None,
    sensitive: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Noise of the filled cells and the least noise of sensitive ones, in scaled units."""
    noise, measure, one = used.noise, table.measure, 10.0**table.measure.decimals
    size = measure.magnitude[filled] / one
    units = np.ones(len(size)) if number is None else number[filled].astype(np.float64)
    if noise.of == "largest":
        x = measure.largest[filled] / one
    else:
        x = (size if noise.of == "sum" else size / units)[:, None]
    tiny = x[:, 0] < used.separation()
    total, least = np.zeros(len(size)), np.zeros(len(size))
    modulus = used.intervals.modulus
    source = unicodedata.normalize("NFKC", measure.source or measure.name).strip().casefold()

    def draw(j: int) -> NDArray[np.uint64]:
        if noise.keys == "measure":
            return _measure_key(keys, modulus, source, j)
        return _key(keys, modulus, j + int(noise.own_keys))

    for j, share in enumerate(noise.shares):
        key = draw(j)
        delta = x[:, j] * _share(x[:, j], noise) * share
        with np.errstate(divide="ignore", invalid="ignore"):
            row = np.nan_to_num(size / delta, nan=0.0, posinf=np.inf)
        v = _between(used.intervals, row, key)
        if used.odd is not None:
            v = np.where(units % 2 == 1, _between(used.odd, row, key), v)
        if used.small is not None:
            v = np.where(tiny, _between(used.small, size, key), v)
            delta = np.where(tiny, 1.0 if j == 0 else 0.0, delta)
        if j == 0 and noise.extra:
            upper = draw(len(noise.shares)) >= modulus // 2
            side = np.where(v == 0, np.where(upper, 1.0, -1.0), np.sign(v))
            v = np.where(sensitive, side * (np.abs(v) + noise.extra), v)
            least = np.where(sensitive, delta * noise.extra, 0.0)
        total += delta * v
    return total * one, least * one


def _share(x: NDArray[np.float64], noise: SumNoise) -> NDArray[np.float64]:
    """m(x): the small share up to the flex point, beyond it what falls to the large one."""
    small, large = noise.scales
    f = noise.flex_point
    beyond = np.maximum(x, f)
    falling = (small * beyond / f - large) / large * (2 * f / (f + beyond)) ** noise.flex_power
    return large * (1 + falling) if small != large else np.full(x.shape, small)


def _between(
    intervals: Intervals, row: NDArray[np.float64], key: NDArray[np.uint64]
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


def _key(keys: NDArray[np.uint64], modulus: int, times: int) -> NDArray[np.uint64]:
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


def _measure_key(
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


def _centred(intervals: Intervals) -> bool:
    return bool(np.abs(row_moments(intervals)[0]).max() <= NO_MEAN)


def _checked(relative: NDArray[np.float64], sensitive: int) -> tuple[Statement, ...]:
    mean = 100 * float(relative.mean()) if len(relative) else 0.0
    most = 100 * float(relative.max(initial=0.0))
    return (
        Statement.of(
            "{number} published values were computed again from contributions and keys, and agree.",
            "{number} veröffentlichte Werte wurden aus Beiträgen und Schlüsseln neu berechnet und "
            "stimmen überein.",
            number=f"{len(relative):,}",
        ),
        Statement.of(
            "Values are changed by {mean} % on average and by at most {most} %; {sensitive} "
            "sensitive cells got extra protection.",
            "Die Werte sind im Mittel um {mean} % verändert, höchstens um {most} %; {sensitive} "
            "geheim zu haltende Felder sind zusätzlich geschützt.",
            mean=f"{mean:.2f}",
            most=f"{most:.2f}",
            sensitive=f"{sensitive:,}",
        ),
    )
