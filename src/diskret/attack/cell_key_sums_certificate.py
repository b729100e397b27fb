"""The certificate of sums that the cell key method changed: computed again in code of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diskret.attack.cell_key_certificate import (
    NO_MEAN,
    keys_of,
    said,
)
from diskret.attack.cell_key_noise import (
    NoiseRows,
    SumNoise,
    UsedNoise,
    between,
    interval_noise,
    row_moments,
)
from diskret.attack.closeness import Closeness, Windows, closeness
from diskret.attack.noise.estimates import difference_estimates
from diskret.attack.noise_certificate import (
    NoiseCertificate,
    refuse_cells,
    refuse_hidden,
    refuse_impossible,
)
from diskret.tables import Published, Table
from diskret.texts import Figure, Statement, sentence

#: Values are computed in another order than by the method, so last digits of noise may differ.
_LAST_DIGITS = 1e-9

#: What a table with noise on sums does not promise.
NO_DIFFERENCE = sentence("cell key.differences")


def certify_cell_key_sums(
    table: Table,
    published: Published,
    noise: SumNoise,
    intervals: NoiseRows,
    *,
    number: NDArray[np.int64] | None = None,
    windows: Windows | None = None,
    small: NoiseRows | None = None,
    odd: NoiseRows | None = None,
    counts: NoiseRows | None = None,
) -> NoiseCertificate:
    """Check every claim about perturbed sums on published and true values.

    table: the original table with its key sums. Confidential.
    noise: the parameters of the noise. Confidential.
    intervals, small, odd, counts: the noise of each row and cell key: of all cells, of very small
        ones, of those with an odd number of units, and of the counts of the same cells.
        Confidential.
    number: counted units of each cell, int64.
    windows: sensitive cells and what their noise must not be; None: no rule was given.
        Confidential.
    """
    keys = keys_of(table, published, intervals.modulus)
    shown = ~(published.suppressed | published.empty)
    measure = table.measure
    nothing = measure.magnitude == 0
    refuse_hidden(published, published.suppressed)
    refuse_impossible(published, ~nothing)
    refuse_cells(
        published, shown & nothing & (published.value != 0), "hold 0 but are shown otherwise"
    )
    if measure.nonnegative:
        refuse_cells(published, shown & (published.value < 0), "are negative, which no sum can be")
    finer = shown & (published.value % published.rounding != 0)
    refuse_cells(published, finer, "are shown in a finer unit than noise is judged for")
    used = UsedNoise(noise, intervals, small, odd, counts)
    change = np.zeros(table.shape)
    filled = ~nothing & ~table.empty
    change[filled] = _again(used, table, filled, keys[filled], number, windows, published.rounding)
    demanded = measure.sum + np.where(measure.sum < 0, -change, change)
    if measure.nonnegative:
        demanded = np.maximum(demanded, 0)
    none = np.zeros_like(shown)
    if counts is not None and number is not None:
        none = number + interval_noise(counts, number, keys) == 0
        refuse_cells(
            published, shown & none & (published.value != 0), "are no 0 beside a count of 0"
        )
    reach = published.rounding / 2 + _LAST_DIGITS * (np.abs(change) + np.abs(demanded) + 1)
    refuse_cells(
        published,
        shown & ~none & ~(np.abs(published.value - demanded) <= reach),
        "are not the sums plus the noise of their keys",
    )
    found = None
    if windows is not None:
        found = closeness(used, table, windows, published.rounding, number)
        _refuse_close(table, published, windows, found, noise.risk, intervals.modulus)

    means, _ = row_moments(intervals)
    unbiased = (
        len(noise.shares) == 1
        and (windows is None or not windows.sensitive.any())
        and counts is None
        and all(_centred(one) for one in (intervals, small, odd) if one is not None)
    )
    moved = np.abs(published.value - measure.sum)
    relative = moved[shown & filled] / measure.magnitude[shown & filled]
    figures = {
        "counts": intervals.counts.tolist(),
        "means": [round(float(mean), 9) + 0.0 for mean in means],
        "mean_relative_change": float(relative.mean()) if len(relative) else 0.0,
        "largest_relative_change": float(relative.max(initial=0.0)),
    }
    checked = _checked(relative)
    if windows is not None and found is not None:
        estimated = _by_difference(published, measure.sum, windows)
        figures |= _figures(found, estimated)
        checked += _judged(found, estimated)
    claimed, not_claimed = said(False, unbiased, (NO_DIFFERENCE,))
    return NoiseCertificate(
        published=published,
        claimed=claimed,
        not_claimed=not_claimed,
        checked=checked,
        figures=figures,
    )


def _again(
    used: UsedNoise,
    table: Table,
    filled: NDArray[np.bool_],
    keys: NDArray[np.uint64],
    number: NDArray[np.int64] | None,
    windows: Windows | None,
    unit: int,
) -> NDArray[np.float64]:
    """Noise of the filled cells in scaled units."""
    noise, measure, one = used.noise, table.measure, 10.0**table.measure.decimals
    size = measure.magnitude[filled] / one
    units = np.ones(len(size)) if number is None else number[filled].astype(np.float64)
    if noise.of == "largest":
        x = measure.largest[filled] / one
    else:
        x = (size if noise.of == "sum" else size / units)[:, None]
    tiny = x[:, 0] < used.separation()
    draws: list[NDArray[np.float64]] = []
    reach = np.zeros(len(size))
    for j, share in enumerate(noise.shares):
        key = used.keys(keys, measure, j)
        delta = x[:, j] * used.share(x[:, j]) * share
        with np.errstate(divide="ignore", invalid="ignore"):
            row = np.nan_to_num(size / delta, nan=0.0, posinf=np.inf)
        v = between(used.intervals, row, key)
        if used.odd is not None:
            v = np.where(units % 2 == 1, between(used.odd, row, key), v)
        if used.small is not None:
            v = np.where(tiny, between(used.small, size, key), v)
            delta = np.where(tiny, 1.0 if j == 0 else 0.0, delta)
        if j == 0 and noise.extra is not None:
            reach = delta * noise.extra
        if j > 0 and noise.extra is None:
            reach += delta * used.farthest()
        draws.append(delta * v)
    total = sum(draws[1:], np.zeros(len(size)))
    if windows is None:
        return (draws[0] + total) * one
    upper = used.keys(keys, measure, len(noise.shares)) >= used.intervals.modulus // 2
    coin = np.where(upper, 1.0, -1.0)
    if noise.extra is None:
        above, below = windows.above[filled], windows.below[filled]
        if measure.nonnegative:
            coin = np.where(measure.sum[filled] < below, 1.0, coin)
        least = (np.maximum(above, below) * (1 + 1e-9) + unit / 2 + 1) / one
        apart = coin * (np.abs(draws[0]) + least + reach)
    else:
        side = np.where(draws[0] == 0, coin, np.sign(draws[0]))
        apart = side * (np.abs(draws[0]) + reach) if noise.extra else draws[0]
    return (np.where(windows.sensitive[filled], apart, draws[0]) + total) * one


def _refuse_close(
    table: Table,
    published: Published,
    windows: Windows,
    found: Closeness,
    risk: float,
    modulus: int,
) -> None:
    """Refuse sensitive cells that are estimated too closely more often than is accepted."""
    cells = np.flatnonzero((windows.sensitive & (table.measure.magnitude > 0)).ravel())

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        mask = np.zeros(windows.sensitive.size, dtype=bool)
        mask[cells[wrong]] = True
        refuse_cells(published, mask.reshape(windows.sensitive.shape), what)

    refuse(
        found.close > risk + _LAST_DIGITS,
        "are sensitive, and their noise may be too small for the rule: leave extra= out, so that "
        "each gets what the rule asks for, or state the risk= that is accepted",
    )
    # no coin of an odd number of keys is fair
    refuse(
        found.guess > max(0.5, risk) + 1 / modulus + _LAST_DIGITS,
        "are sensitive, and a guess that knows the parameters is right more often than wrong: "
        "choose a wider noise",
    )


def _by_difference(
    published: Published, true: NDArray[np.int64], windows: Windows
) -> tuple[int, int]:
    """How many sensitive cells a parent minus its other parts puts too close, of how many."""
    tried, close = np.zeros((2, *true.shape), dtype=bool)
    for estimate in difference_estimates(published).values():
        there = windows.sensitive & ~np.isnan(estimate)
        error = np.where(there, estimate * 10.0**published.decimals, 0) - true
        tried |= there
        close |= there & (error > -windows.below) & (error < windows.above)
    return int(close.sum()), int(tried.sum())


def _centred(intervals: NoiseRows) -> bool:
    return bool(np.abs(row_moments(intervals)[0]).max() <= NO_MEAN)


def _checked(relative: NDArray[np.float64]) -> tuple[Statement, ...]:
    mean = 100 * float(relative.mean()) if len(relative) else 0.0
    most = 100 * float(relative.max(initial=0.0))
    return (
        sentence("cell key.sums computed again", number=len(relative)),
        sentence(
            "cell key.changes of sums", mean=Figure(f"{mean:.2f}"), most=Figure(f"{most:.2f}")
        ),
    )


def _figures(found: Closeness, estimated: tuple[int, int]) -> dict[str, float | int]:
    return {
        "sensitive_cells": len(found.close),
        "too_close_at_most": found.worst,
        "too_close_on_average": float(found.close.mean()) if len(found.close) else 0.0,
        "cells_that_may_be_too_close": found.above(0),
        "best_guess": found.best_guess,
        "too_close_by_difference": estimated[0],
        "with_a_difference": estimated[1],
    }


def _judged(found: Closeness, estimated: tuple[int, int]) -> tuple[Statement, ...]:
    """How the rule judges the noise of sensitive cells."""
    return (
        sentence(
            "cell key.extra protection",
            sensitive=len(found.close),
            worst=Figure(f"{100 * found.worst:.1f}"),
            cells=found.above(0),
            guess=Figure(f"{100 * found.best_guess:.1f}"),
        ),
        sentence("cell key.estimates by difference", close=estimated[0], tried=estimated[1]),
    )
