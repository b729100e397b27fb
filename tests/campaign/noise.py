"""Tables with noise: one cell has one value, and two measures of a firm do not tell their ratio."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from campaign.cases import MEASURES, Box, Case, Layout
from campaign.oracle import Finding
from campaign.world import Codes, Records

TURNOVER, TWICE, WAGES = MEASURES
RECORDS = "records"


#: Percent of the rule that judges sums with noise.
P_OF_NOISE = 10


@dataclass(frozen=True)
class Noisy:
    """What the public sees of one measure of a table."""

    layout: Layout
    measure: str | None  # None: how many units; "records": how many records, rounded
    value: dict[Codes, int]
    how: str = ""  # "": as all others of the measure


@dataclass(frozen=True)
class Ratios:
    """How often two measures of one firm have the same share of noise, and of two firms."""

    same: int = 0
    firms: int = 0
    by_chance: int = 0
    pairs: int = 0


def attack_noise(case: Case, tables: Sequence[Noisy]) -> tuple[list[Finding], Ratios]:
    """What is wrong with tables with noise, and what ratios of measures tell."""
    records = Records(replace(case, holdings=False), TURNOVER)
    seen: dict[tuple[str | None, frozenset[int]], int] = {}
    boxes: dict[tuple[str | None, Box], int] = {}
    found: list[Finding] = []
    for table in tables:
        for codes in case.cells(table.layout):
            box = case.box(table.layout, codes)
            inside = np.flatnonzero(records.inside(box))
            units = {int(records.unit[i]) for i in inside}
            counted = frozenset(units if table.measure is None else inside.tolist())
            value = table.value[codes]
            first = boxes.setdefault((table.measure, box), value)
            if value == first and not table.how and table.measure != RECORDS:
                first = seen.setdefault((table.measure, counted), value)
            if value != (first if counted else 0):
                what = f"{table.measure or 'units'} in {table.layout.name}[{', '.join(codes)}]"
                found.append(Finding("noise", what, value, 0, value, first, True))
    alone = {own for _, own in seen if own and len({int(records.unit[i]) for i in own}) == 1}
    found += _aliases(seen)
    found += _zeros(boxes)
    if case.judged:
        found += _estimates(case, seen)
    return found, _ratios(case, seen, alone)


def _zeros(boxes: dict[tuple[str | None, Box], int]) -> Iterator[Finding]:
    """A sum beside a count that noise made 0 tells that somebody is there."""
    for (measure, box), value in boxes.items():
        if measure in MEASURES and value and boxes.get((None, box)) == 0:
            yield Finding("zero", f"{measure} in {box}", value, 0, value, value, True)


def _estimates(case: Case, seen: dict[tuple[str | None, frozenset[int]], int]) -> Iterator[Finding]:
    """Whoever is second in a sensitive cell takes what it has from the published sum."""
    for (measure, own), value in seen.items():
        if measure not in MEASURES:
            continue
        of_unit: dict[int, int] = {}
        for i in own:
            unit = case.records["unit"][i]
            of_unit[unit] = of_unit.get(unit, 0) + case.records[measure][i]
        sizes = sorted((abs(x) for x in of_unit.values()), reverse=True)
        window = Fraction(P_OF_NOISE, 100) * (sizes[0] if sizes else 0)
        rest = sum(sizes[2:])
        if rest < window:  # sensitive
            off = value - sum(of_unit.values()) + rest
            if abs(off) < window:
                what = f"{measure} of {len(own)} records"
                yield Finding("estimate", what, sizes[0], float(window), value, value, True)


def _aliases(seen: dict[tuple[str | None, frozenset[int]], int]) -> Iterator[Finding]:
    """Twice the turnover has twice the noise, else the two average it out."""
    for (measure, own), value in seen.items():
        twice = seen.get((TWICE, own))
        if measure == TURNOVER and twice is not None and abs(twice - 2 * value) > 2:
            yield Finding("alias", f"{len(own)} records", value, 0, value, twice / 2, True)


def _ratios(
    case: Case, seen: dict[tuple[str | None, frozenset[int]], int], alone: set[frozenset[int]]
) -> Ratios:
    """Only those count whose turnover is changed, not to 0, and whose figures tell enough."""
    shares: list[tuple[float, float, float]] = []
    for own in sorted(alone, key=sorted):
        x, y = (sum(case.records[measure][i] for i in own) for measure in (TURNOVER, WAGES))
        noisy, other = (seen.get((measure, own)) for measure in (TURNOVER, WAGES))
        if min(x, y) < 100 or not noisy or not other or noisy == x:
            continue
        shares.append((noisy / x, other / y, 1 / x + 1 / y))
    same = [abs(a - b) <= rounding for a, b, rounding in shares]
    turned = [*shares[1:], *shares[:1]] if len(shares) > 1 else []
    chance = [abs(a[0] - b[1]) <= a[2] + b[2] for a, b in zip(shares, turned, strict=False)]
    return Ratios(sum(same), len(same), sum(chance), len(chance))
