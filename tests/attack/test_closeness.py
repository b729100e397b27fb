"""How close estimates come to noisy sums: every key of every draw is tried, one cell at a time."""

from dataclasses import replace
from importlib import import_module
from itertools import product

import numpy as np
import pytest

import diskret as dk
from diskret.attack import Windows
from diskret.attack.cell_key_noise import UsedNoise, between, interval_noise
from diskret.attack.closeness import closeness
from diskret.cellkey import as_lookup
from diskret.tables import Dimension, Measure, Table

MODULUS = 12
PLAIN = dk.MagnitudeNoise(
    dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1),
    scale=(0.25, 0.05),
    flex_point=1000,
)
ROWS = as_lookup(PLAIN.ptable, MODULUS)
WIDE = dk.PerturbationTable.for_magnitudes(max_noise=3, variance=3).lookup(modulus=MODULUS)
SMALL = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1, step=1).lookup(MODULUS)
COUNTS = dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2).lookup(modulus=MODULUS)


def cell(sizes, signed=False, decimals=0):
    """A table of a total and one cell with these contributions, in scaled units."""
    top = np.array(sorted(sizes, key=abs, reverse=True))
    two = np.ones(2, dtype=np.int64)
    number = two * len(top)
    measure = Measure(
        "v",
        decimals,
        sum=two * top.sum(),
        magnitude=two * np.abs(top).sum(),
        largest=np.abs(np.tile(np.append(top, [0] * 3), (2, 1))),
        signed=signed,
    )
    dimension = Dimension("cell", dk.Hierarchy.flat(["a"]))
    return Table((dimension,), number, units=number, measures=(measure,), contributors="units")


def separation(noise):
    """Where very small cells end: the spread of the last row by the share of all contributions."""
    last = SMALL(np.full(MODULUS, 2), np.arange(MODULUS, dtype=np.uint64))
    return last.std() / (noise.scales[0] * sum(share**2 for share in noise.shares) ** 0.5)


def every_key(used, sizes, above, below, unit, signed, decimals=0):
    """Changes of a published sum with their probabilities: all keys, the side and the count."""
    noise, one = used.noise, 10.0**decimals
    x = np.abs(np.array(sorted(sizes, key=abs, reverse=True) + [0] * 3)) / one
    true, size = sum(sizes), sum(map(abs, sizes)) / one
    if noise.of != "largest":
        x = np.array([size if noise.of == "sum" else size / len(sizes)])
    keys = np.arange(MODULUS, dtype=np.uint64)
    tiny = used.small is not None and x[0] < separation(noise)
    rows = used.odd if used.odd is not None and len(sizes) % 2 else used.intervals
    deltas, draws = [], []
    for j, share in enumerate(noise.shares):
        delta = float(x[j] * used.share(x[j : j + 1])[0] * share)
        row = np.full(MODULUS, size / delta if delta else np.inf)
        if tiny:
            rows, row, delta = used.small, np.full(MODULUS, size), float(j == 0)
        deltas.append(delta)
        draws.append(delta * between(rows, row, keys))
    tail = sum(deltas[1:]) * used.farthest()
    least = (max(above, below) * (1 + 1e-9) + unit / 2 + 1) / one
    further = deltas[0] * (noise.extra or 0)
    none = np.zeros(MODULUS)
    if used.counts is not None:
        number = np.full(MODULUS, len(sizes))
        none = (number + interval_noise(used.counts, number, keys) == 0).astype(float)
    gone = float(none.mean())
    found = []
    for at in product(range(MODULUS), repeat=len(draws)):
        first, *others = (draw[i] for draw, i in zip(draws, at, strict=True))
        zero = none[at[0]] if noise.keys == "cell" and not noise.own_keys else gone
        for up in (True, False):
            if noise.extra is None:
                side = 1 if up or (not signed and true < below) else -1
                moved = side * (abs(first) + least + tail)
            else:
                side = np.sign(first) or (1 if up else -1)
                moved = side * (abs(first) + further)
            change = (moved + sum(others)) * one
            exact = true + (-change if true < 0 else change)
            shown = int(np.floor(exact / unit + 0.5)) * unit
            shown = shown if signed else max(shown, 0)
            found.append((shown - true, (1 - zero) / 2 / MODULUS ** len(draws), shown == 0))
    found.append((-true, gone, True))
    return found


def expected(found, above, below, cut):
    """E, and the best guess: the most probable window, published zeros of a cut left out."""
    close = sum(p for n, p, _ in found if -below < n < above)
    told = [(n, p) for n, p, zero in found if not (zero and cut)]
    at, likely = np.array(told).T
    best = max((likely[(at >= n) & (at < n + above + below)].sum() for n in set(at)), default=0)
    return close, best


TINY = {"small": SMALL, "shares": (1, 0.5)}
OF_CELLS = {"keys": "cell", "own_keys": True}
CASES = [
    ([9000], 900, 900, 1, False, 0, {}),
    ([9000, 4000], 700, 500, 1000, False, 0, {"shares": (1, 0.5), "extra": 0.5}),
    ([9000, 4000, 900], 700, 500, 500, False, 1, {"shares": (1, 0.5, 0.3), "extra": 0.2}),
    ([900, 40], 700, 800, 1, False, 0, {"shares": (1, 0.5), "extra": 0.5}),
    ([900, 40], 700, 980, 10, False, 0, {"shares": (1, 0.5)}),
    ([-9000, 8500], 700, 500, 100, True, 0, {"shares": (1, 0.5), "extra": 0.5}),
    ([-9000, 9000], 700, 500, 100, True, 0, {"extra": 1.0}),
    ([900, 100, 40], 70, 50, 1, False, 0, {"shares": (1, 0.5), "extra": 0.5, "counts": COUNTS}),
    ([900, 100, 40], 70, 50, 1, False, 0, {"counts": COUNTS, "extra": 0.5, **OF_CELLS}),
    ([900, 100], 150, 50, 1, False, 0, {"counts": COUNTS, "extra": 0.3, "keys": "cell"}),
    ([700, 300], 90, 60, 10, False, 0, {"of": "mean", "extra": 0.2, "scale": 0.3}),
    ([700, 300], 90, 60, 10, False, 0, {"of": "sum", "extra": 0.2, "scale": 0.3}),
    ([700, 300, 40], 90, 60, 10, False, 0, {"odd": WIDE, "extra": 0.2}),
    ([700, 300], 90, 60, 10, False, 0, {"odd": WIDE, "extra": 0.2}),
    # contributions of tenths, so small that one draw is made of the value itself; just not so
    ([12, 5], 14, 9, 1, False, 1, {"small": SMALL, "extra": 0.5, "shares": (1, 0.5)}),
    (
        [33, 5, 2],
        14,
        9,
        1,
        False,
        1,
        {"small": SMALL, "extra": 0.0, "shares": (1, 0.5), "odd": WIDE},
    ),
    *(([12, 5], near, near, 1, False, 1, {**TINY, "extra": 0.25}) for near in (5, 7, 9, 11, 13)),
    # noise of so large a share that it lies between two rows
    *(([60, 20], near, near, 1, False, 1, {"scale": 0.8, "extra": 0.1}) for near in (9, 15, 40)),
    # moved down as far as the window asks for, and 0 is reached, or just not
    *(([900], near, near, 1, False, 0, {}) for near in (897, 898, 899)),
    *(([900], near, near, 1, False, 1, {}) for near in (897, 898, 899)),
    # rounding carries a smaller contribution's noise on to the next multiple
    ([4967, 323], 1184, 595, 500, False, 0, {"shares": (1, 0.3), "extra": 0.2}),
    ([5415, 373], 301, 1165, 500, False, 0, {"shares": (1, 0.05), "extra": 0.5}),
    ([1925, 358], 100, 120, 100, False, 0, {"shares": (1, 0.3), "extra": 0.2}),
    # where values may be negative a 0 is like any other
    ([913, -183], 1556, 1919, 1000, True, 0, {"shares": (1, 0.3), "extra": 1.0}),
]


@pytest.mark.parametrize("outcomes", [10_000, 4])
@pytest.mark.parametrize(("sizes", "above", "below", "unit", "signed", "decimals", "more"), CASES)
def test_every_key_is_tried(
    monkeypatch, outcomes, sizes, above, below, unit, signed, decimals, more
):
    monkeypatch.setattr(import_module("diskret.attack.closeness"), "_OUTCOMES", outcomes)
    more = dict(more)
    counts, small, odd = (more.pop(name, None) for name in ("counts", "small", "odd"))
    used = UsedNoise(replace(PLAIN, **more), ROWS, small, odd, counts)
    table = cell(sizes, signed, decimals)
    sensitive = np.array([True, True])  # the total and its only part
    both = (np.full(2, side, dtype=np.int64) for side in (above, below))
    found = closeness(used, table, Windows(sensitive, *both), unit, table.units)
    wide = max(above, below) if signed else None
    above, below = (above, below) if wide is None else (wide, wide)
    outcome = every_key(used, sizes, above, below, unit, signed, decimals)
    close, best = expected(outcome, above, below, cut=not signed)
    assert found.close[0] == found.close[1] and found.guess[0] == found.guess[1]
    one_key = counts is not None and more.get("keys") == "cell" and "own_keys" not in more
    if one_key or (outcomes == 4 and len(used.noise.shares) > 1):
        assert found.worst >= close - 1e-9 and found.best_guess >= best - 1e-9
    else:
        assert (found.worst, found.best_guess) == pytest.approx((close, best))


def test_cells_are_told_in_the_order_of_the_table_and_only_sensitive_ones_that_hold_something():
    table = cell([900])
    two = np.array([300, 2000])  # the windows of the total, and of the cell: all is inside
    windows = Windows(np.array([True, True]), two, two)
    used = UsedNoise(replace(PLAIN, extra=0.5), ROWS)
    found = closeness(used, table, windows, 1, table.units)
    assert found.close[1] == pytest.approx(1)
    assert found.close[1] > found.close[0] + 0.1 > 0.1
    assert [found.above(limit) for limit in (0, found.close[0], 1)] == [2, 1, 0]
    alone = closeness(used, table, replace(windows, sensitive=np.array([False, True])), 1)
    assert alone.close.tolist() == [found.close[1]]
    assert len(closeness(used, cell([0]), windows, 1).close) == 0
    none = closeness(used, table, Windows.none(table.shape), 1)
    assert (none.worst, none.best_guess, none.above(0)) == (0, 0, 0)
