"""What noise on sums is worth before it is used, judged by the rule it is for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.attack import Closeness, UsedNoise, Windows, closeness
from diskret.cellkey import MagnitudeNoise, as_lookup, perturbed_sums
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.protect.assess_verdicts import Judged, Verdict, in_percent
from diskret.rules import Rule
from diskret.rules.varying import everywhere
from diskret.tables import Dimension, Measure, Table
from diskret.texts import Statement

#: Cells whose keys are drawn for the ratio of two measures.
_DRAWN = 4000
#: Contributions of cells of different kinds, as shares of the largest.
_KINDS = {"one": (1.0,), "two": (1.0, 0.5), "dominated": (1.0, 0.3, 0.02)}
_SIZES = 10.0 ** np.arange(1, 10)


@dataclass(frozen=True, eq=False, repr=False)
class SumAssessment(Judged):
    """What attacks achieve against noise on sums. Confidential: it tells its parameters.

    Parameters
    ----------
    noise
        The parameters.
    table
        The judged cells: those of the office, or made-up ones of one, two and three contributors of
        which the largest is 10 to 1,000,000,000.
    windows
        Which of them are sensitive, and what their noise must not be.
    judged
        How close estimates come in the sensitive cells.
    ratio, unrelated
        How often the ratio of two measures of a single contributor, of which one is known, comes
        too close to the other; and how often it would with unrelated keys.
    """

    noise: MagnitudeNoise
    table: Table
    windows: Windows
    judged: Closeness
    ratio: float
    unrelated: float

    @property
    def rows(self) -> pa.Table:
        """For each sensitive cell: value, largest contribution, E and the best guess."""
        cells = self.windows.sensitive & (self.table.measure.magnitude > 0)
        one = 10.0**self.table.measure.decimals
        top = self.table.measure.largest
        return pa.table(
            {
                "value": self.table.measure.sum[cells] / one,
                **({"largest": top[cells][:, 0] / one} if top.shape[-1] else {}),
                "too_close": self.judged.close,
                "best_guess": self.judged.guess,
            }
        )

    def _judged(self) -> tuple[Verdict, ...]:
        return (
            Verdict(Statement.said("assessment", "sums.confidential")),
            *_closeness(self),
            _ratio(self),
            Verdict(Statement.said("assessment", "sums.each alone")),
        )


def assess_sums(noise: MagnitudeNoise, rule: Rule, table: Table | None) -> SumAssessment:
    """See [`assess`][diskret.assess]."""
    anywhere = everywhere(rule)
    if table is None:
        table = made_up(max(rule.largest, len(noise.shares), 3))
        found = anywhere(table)
    else:
        found = rule(table)
    windows = Windows(found.unsafe, found.noise_above, found.noise_below)
    if not windows.sensitive.any():
        raise InputError("the rule finds no cell sensitive; give table=, with sensitive cells")
    count = table.count if table.units is None else table.units
    lookups = {
        name: None if one is None else as_lookup(one, table.key_modulus)
        for name, one in (("small", noise.small), ("odd", noise.odd), ("counts", noise.counts))
    }
    used = UsedNoise(noise, as_lookup(noise.ptable, table.key_modulus), **lookups)
    judged = closeness(used, table, windows, table.rounding, count)
    return SumAssessment(noise, table, windows, judged, *_ratios(noise, anywhere))


def made_up(largest: int) -> Table:
    """Cells of one, two and three contributors of all sizes, in hundredths; no total."""
    contributions = [
        [int(size * share * 100) for share in shares]
        for shares in _KINDS.values()
        for size in _SIZES
    ]
    top = np.zeros((len(contributions), largest), dtype=np.int64)
    for row, sizes in enumerate(contributions):
        top[row, : len(sizes)] = sizes
    return _cells("turnover", top, 2)


def _cells(name: str, top: NDArray[np.int64], decimals: int) -> Table:
    cells = Dimension("cell", Hierarchy.flat([str(i) for i in range(1, len(top))]))
    value, count = top.sum(axis=1), (top > 0).sum(axis=1)
    measure = Measure(name, decimals, value, value, top)
    return Table((cells,), count, units=count, measures=(measure,), contributors="units")


def _ratios(noise: MagnitudeNoise, rule: Rule) -> tuple[float, float]:
    """How often the ratio of two measures comes too close, and with keys of other cells."""
    random = np.random.default_rng(1)
    modulus = getattr(noise.ptable, "modulus", 2**32)
    keys = random.integers(0, modulus, _DRAWN, dtype=np.uint64)
    top = np.zeros((_DRAWN, max(rule.largest, len(noise.shares), 1)), dtype=np.int64)
    top[:, 0] = int(noise.flex_point * 1000)
    one, other = (
        replace(_cells(name, top, 0), key_sum=keys, key_modulus=modulus) for name in ("x", "y")
    )
    shifted = replace(other, key_sum=random.permutation(keys))
    found = rule(one)
    above, below = found.noise_above, found.noise_below
    x, y, unrelated = (
        perturbed_sums(table, table.count, noise, found.unsafe, 1, above=above, below=below).astype(
            np.float64
        )
        for table in (one, other, shifted)
    )
    true = top[:, 0]

    def close(known: NDArray[np.float64]) -> float:
        there = known > 0
        return float((np.abs(x[there] * true[there] / known[there] - true[there])
                      < np.maximum(above[there], 1)).mean())  # fmt: skip

    return close(y), close(unrelated)


def _closeness(found: SumAssessment) -> tuple[Verdict, Verdict]:
    judged, risk = found.judged, found.noise.risk
    cells, worst = len(judged.close), judged.worst
    close = Statement.said(
        "assessment",
        "sums.too close",
        worst=in_percent(worst),
        above=judged.above(risk),
        cells=cells,
        risk=in_percent(risk),
    )
    best = judged.best_guess
    guess = Statement.said("assessment", "sums.best guess", best=in_percent(best))
    return (
        Verdict(close, judged.above(risk) == 0),
        Verdict(guess, best <= max(0.5, risk) + 1e-6),
    )


def _ratio(found: SumAssessment) -> Verdict:
    error = 5 * (2 * 0.25 / _DRAWN) ** 0.5
    kept = found.ratio <= found.unrelated + error
    return Verdict(
        Statement.said(
            "assessment",
            "sums.ratio" if kept else "sums.ratio, keys",
            ratio=in_percent(found.ratio),
            unrelated=in_percent(found.unrelated),
        ),
        kept,
    )
