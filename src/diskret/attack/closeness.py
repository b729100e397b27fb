"""How close estimates come in cells whose sums have noise: exactly, from the rows of the lookup."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.attack.cell_key_noise import NoiseRows, UsedNoise, row_of, widths
from diskret.tables import Table

#: So many outcomes of a cell's noise are kept apart; further draws widen the window instead.
_OUTCOMES = 10_000
#: Outcomes that are held at a time.
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Windows:
    """What noise must not be, in scaled units, shape of the table: between −below and above.

    From a published X + N those who know all contributions but the largest, a', and R' of others
    estimate a' + R' + N. That is too close iff |N + R'| < w: iff −(w + R') < N < w − R'.
    """

    sensitive: NDArray[np.bool_]
    above: NDArray[np.int64]
    below: NDArray[np.int64]

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Windows:
        """No cell is sensitive."""
        zero = np.zeros(shape, dtype=np.int64)
        return cls(np.zeros(shape, dtype=bool), zero, zero)


@dataclass(frozen=True, eq=False)
class Closeness:
    """What estimates achieve in the sensitive cells, in the order of the table. Confidential.

    close: E: the probability, over keys, that the rule's own estimators come too close.
    guess: the probability that the best guess of somebody who knows all parameters, but no key, is
        so close, and a value from which to guess is published: no 0 that is made of all below it,
        or of all sums beside a count of 0.
    """

    close: NDArray[np.float64]
    guess: NDArray[np.float64]

    @property
    def worst(self) -> float:
        """The largest E."""
        return float(self.close.max(initial=0.0))

    @property
    def best_guess(self) -> float:
        """The largest probability of a guess."""
        return float(self.guess.max(initial=0.0))

    def above(self, limit: float) -> int:
        """In how many cells E is above a limit."""
        return int((self.close > limit + 1e-12).sum())


def closeness(
    used: UsedNoise,
    table: Table,
    windows: Windows,
    unit: int,
    number: NDArray[np.int64] | None = None,
) -> Closeness:
    """Judge the noise of all sensitive cells, with the cut at 0 and rounding.

    unit: scaled units that published values are multiples of.

    Keys of different draws are independent. Where a cell has too many outcomes, those of the
    smaller contributions are not enumerated but widen the window by all they may come to: then the
    probabilities are bounds from above; and so they are where the count beside a cell, which may
    become 0, has the key of its largest contribution.
    """
    cells = np.flatnonzero((windows.sensitive & (table.measure.magnitude > 0)).ravel())
    draws = _Draws(used, table, windows, cells, number)
    size = max(_BLOCK // draws.outcomes, 1)
    found = [
        _judged(draws, slice(start, start + size), unit) for start in range(0, len(cells), size)
    ]
    none = np.zeros(0)
    close, guess = (np.concatenate([none, *(f[i] for f in found)]) for i in range(2))
    return Closeness(close, guess)


class _Draws:
    """The noise of flat cells as independent draws of a few outcomes."""

    def __init__(
        self,
        used: UsedNoise,
        table: Table,
        windows: Windows,
        cells: NDArray[np.int64],
        number: NDArray[np.int64] | None,
    ) -> None:
        measure = table.measure
        self.used, self.one = used, 10.0**measure.decimals
        self.sum = measure.sum.ravel()[cells]
        self.nonnegative = measure.nonnegative
        self.above, self.below = (w.ravel()[cells] for w in (windows.above, windows.below))
        if not self.nonnegative:  # noise of negative sums has the other sign
            self.above = self.below = np.maximum(self.above, self.below)
        self.size = measure.magnitude.ravel()[cells] / self.one
        self.number = None if number is None else number.ravel()[cells]
        of = used.noise.of
        if of == "largest":
            largest = measure.largest.reshape(-1, measure.largest.shape[-1])[cells]
            self.x = largest / self.one
        else:
            units = np.ones(len(cells)) if self.number is None else self.number
            self.x = (self.size if of == "sum" else self.size / units)[:, None]
        self.tiny = self.x[:, 0] < used.separation()
        self.pairs = {
            id(one): _pairs(one)
            for one in (used.intervals, used.odd, used.small)
            if one is not None
        }
        most = max(pair[0].shape[1] for pair in self.pairs.values())
        self.enumerated, self.outcomes = 0, 3
        for _ in used.noise.shares:
            if self.enumerated and self.outcomes * most > _OUTCOMES:
                break
            self.enumerated += 1
            self.outcomes *= most

    def delta(self, at: slice, draw: int) -> NDArray[np.float64]:
        """What the noise v of a draw is multiplied with."""
        x = self.x[at, draw]
        delta = x * self.used.share(x) * self.used.noise.shares[draw]
        return np.where(self.tiny[at], float(draw == 0), delta)

    def values(self, at: slice, draw: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Outcomes δ·v of a draw and their probabilities, ``(cells, outcomes)``."""
        x = self.x[at, draw]
        delta = x * self.used.share(x) * self.used.noise.shares[draw]
        with np.errstate(divide="ignore", invalid="ignore"):
            row = np.nan_to_num(self.size[at] / delta, nan=0.0, posinf=np.inf)
        found = self._of(self.used.intervals, row)
        if self.used.odd is not None and self.number is not None:
            found = _chosen(self.number[at] % 2 == 1, self._of(self.used.odd, row), found)
        if self.used.small is not None:
            found = _chosen(self.tiny[at], self._of(self.used.small, self.size[at]), found)
        return found[0] * self.delta(at, draw)[:, None], found[1]

    def _of(
        self, intervals: NoiseRows, row: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        counts = intervals.counts
        capped = np.minimum(row, counts[-1])
        at = np.searchsorted(counts, capped, side="right") - 1
        above = np.minimum(at + 1, len(counts) - 1)
        part = ((capped - counts[at]) / np.maximum(counts[above] - counts[at], 1))[:, None]
        low, high, chance = (array[at] for array in self.pairs[id(intervals)])
        return ((1 - part) * low + part * high) / intervals.step, chance


def _judged(draws: _Draws, at: slice, unit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """E and the best guess of some cells."""
    noise, chance = _first(draws, at, unit)
    shares = draws.used.noise.shares
    for draw in range(1, draws.enumerated):
        value, likely = draws.values(at, draw)
        noise = (noise[:, :, None] + value[:, None, :]).reshape(len(noise), -1)
        chance = (chance[:, :, None] * likely[:, None, :]).reshape(len(noise), -1)
    rest = [draws.delta(at, draw) for draw in range(draws.enumerated, len(shares))]
    farthest = sum(rest, np.zeros(len(noise))) * draws.used.farthest() * draws.one
    # rounding may carry a published value on to the next multiple
    wider = (np.ceil(farthest / unit) * unit).astype(np.int64)
    own = draws.sum[at, None]
    scaled = np.where(own < 0, -noise, noise) * draws.one
    inside = own % unit
    shown = (np.floor((inside + scaled) / unit + 0.5) * unit - inside).astype(np.int64)
    told = chance
    if draws.nonnegative:
        # a 0 that all from it downwards become is no base of a guess
        told = np.where(shown + wider[:, None] <= -own, 0, chance)
        shown = np.maximum(shown, -own)
    if draws.used.counts is not None and draws.number is not None:
        none = _becomes_none(draws.used.counts, draws.number[at])[:, None]
        # with one key for both, all that is too close may be where the count is not 0
        other = np.ones(none.shape) if draws.used.key_of_counts else 1 - none
        shown = np.concatenate([shown, -own], axis=1)
        chance = np.concatenate([chance * other, none], axis=1)
        told = np.concatenate([told * other, np.zeros(none.shape)], axis=1)
    low, high = -draws.below[at] - wider, draws.above[at] + wider
    close = (chance * ((shown > low[:, None]) & (shown < high[:, None]))).sum(axis=1)
    return np.minimum(close, 1.0), _best_window(shown, told, high - low)


def _first(draws: _Draws, at: slice, unit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outcomes of the largest contribution's noise, moved apart as in sensitive cells."""
    value, chance = draws.values(at, 0)
    modulus, noise = draws.used.intervals.modulus, draws.used.noise
    up = np.full(chance.shape, (modulus - modulus // 2) / modulus)
    if noise.extra is None:
        tail = sum((draws.delta(at, j) for j in range(1, len(noise.shares))), np.zeros(len(value)))
        least = np.maximum(draws.above[at], draws.below[at]) * (1 + 1e-9) + unit / 2 + 1
        size = np.abs(value) + (least / draws.one + tail * draws.used.farthest())[:, None]
        up[(draws.sum[at] < draws.below[at]) & draws.nonnegative] = 1.0
    else:
        further = draws.delta(at, 0)[:, None] * noise.extra
        up = np.where(value == 0, up, value > 0)
        size = np.abs(value) + further
    return (
        np.concatenate([size, -size], axis=1),
        np.concatenate([chance * up, chance * (1 - up)], axis=1),
    )


def _best_window(
    shown: NDArray[np.int64], chance: NDArray[np.float64], width: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The largest probability of an open interval of this width, for each row."""
    inside = _less_than(shown, chance, shown + width[:, None])
    return (inside - _less_than(shown, chance, shown)).max(axis=1)


def _less_than(
    shown: NDArray[np.int64], chance: NDArray[np.float64], limit: NDArray[np.int64]
) -> NDArray[np.float64]:
    """P(outcome < limit) of each row and limit."""
    both = np.concatenate([limit, shown], axis=1)  # limits first: equal ones don't count
    order = np.argsort(both, axis=1, kind="stable")
    weight = np.concatenate([np.zeros(limit.shape), chance], axis=1)
    summed = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    found = np.empty_like(summed)
    np.put_along_axis(found, order, summed, axis=1)
    return found[:, : limit.shape[1]]


def _becomes_none(counts: NoiseRows, number: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability that a count is published as 0."""
    row = row_of(counts, number)
    share = widths(counts)[row] / counts.modulus
    return (share * (counts.noise[row] == -number[:, None])).sum(axis=1)


def _pairs(
    intervals: NoiseRows,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each row and the next: noise in both for the same key, and how likely; padded."""
    found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    rows = len(intervals.counts)
    for row in range(rows):
        two = [row, min(row + 1, rows - 1)]
        ends = np.unique(intervals.bounds[two])
        starts = np.concatenate([np.zeros(1, np.uint64), ends[:-1]])
        noise = np.stack(
            [
                intervals.noise[r][np.searchsorted(intervals.bounds[r], starts, side="right")]
                for r in two
            ],
            axis=1,
        )
        values, at = np.unique(noise, axis=0, return_inverse=True)
        width = (ends - starts) / intervals.modulus
        chance = np.bincount(at.ravel(), width).astype(np.float64)
        found.append((values, chance))
    most = max(len(chance) for _, chance in found)
    low, high, chance = (np.zeros((rows, most)) for _ in range(3))
    for row, (values, likely) in enumerate(found):
        low[row, : len(likely)], high[row, : len(likely)] = values.T
        chance[row, : len(likely)] = likely
    return low, high, chance


def _chosen(
    where: NDArray[np.bool_],
    one: tuple[NDArray[np.float64], NDArray[np.float64]],
    other: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outcomes of the one where it is chosen, else of the other."""
    most = max(one[0].shape[1], other[0].shape[1])

    def padded(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.pad(array, ((0, 0), (0, most - array.shape[1])))

    first, second = (
        np.where(where[:, None], padded(a), padded(b)) for a, b in zip(one, other, strict=True)
    )
    return first, second
