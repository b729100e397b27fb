"""Measures that add up but for rounding: what one hides the others tell nearly.

Revenue in thousands is what was sold at home and abroad, up to half a thousand for each record. No
sum of measures can say so, because it does not hold to the last unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import gcd, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import MeasureError
from diskret.tables.measures_that_follow import Columns, cells_of, side_by_side
from diskret.tables.one_measure import Valued, chance_explains
from diskret.tables.table import Table
from diskret.tables.ties import MeasureSum

#: Powers of ten between the units of measures; cells that are tried first.
_POWERS, _FEW = 9, 10
_Whole = list[int]


class _Near(NamedTuple):
    """What is nearly equal: a measure times ten to a power, and one or two others, added up."""

    measure: str
    power: int
    others: tuple[str, ...]
    sign: int

    def __str__(self) -> str:
        own, others = self.measure, self.others
        if self.power > 0:
            own = f"{10**self.power:,} × {own}"
        elif self.power < 0:
            others = tuple(f"{10**-self.power:,} × {name}" for name in others)
        if self.sign < 0:
            return f"{others[0]} = {own} + {others[1]}"
        return f"{own} = {' + '.join(others)}"


def refuse_sums_but_for_rounding(
    new: Sequence[Valued], before: Sequence[Valued] = (), sums: Sequence[MeasureSum] = ()
) -> None:
    """Refuse tables of common records where a measure that hides cells nearly follows from others.

    Parameters as of `refuse_one_measure_twice`. Looked for are one measure in two units and sums of
    two, whose units may differ by powers of ten.

    Raises
    ------
    MeasureError
        In all finest cells that they share the difference is what rounding explains, of each record
        where a measure is in a coarser unit than others, else of each cell; no sum of measures says
        that they add up; and chance is no explanation.
    """
    hiding = {one.table.about.measure for one in (*new, *before) if one.hides}
    if not hiding:
        return
    said = [{one.total, *one.parts} for one in sums]
    for one in {cells_of(one): one for one in new}.values():
        for columns, cells in side_by_side(one, [*new, *before], hiding, least=2):
            counted = one.table.count if isinstance(one.table, Table) else None
            records = 0 * cells if counted is None else counted.ravel()[cells]
            for near in _found(columns, np.maximum(records, 1)):
                named = {near.measure, *near.others}
                if named & hiding and named not in said:
                    raise MeasureError(
                        f"'{near}' holds but for rounding in all {len(cells):,} finest cells that "
                        "tables of common records share: what one of these measures hides the "
                        "others tell nearly. Leave one of them out; or tabulate exact values, say "
                        "their sum as sums=, and publish rounded values by rounding="
                    )


def _found(columns: Columns, records: NDArray[np.int64]) -> Iterator[_Near]:
    """What is nearly equal, and not exactly, by more than chance."""
    value = {name: [v * own.times for v in own.value.tolist()] for name, own in columns.items()}
    unit = {name: _unit(own) for name, own in value.items()}
    pairs = [*((one,) for one in columns), *combinations(columns, 2)]
    tried = len(columns) * len(pairs) * 2 * _POWERS
    for name, own in value.items():
        few = np.argsort([-abs(v) for v in own])[:_FEW].tolist()
        for others, sign in _added([pair for pair in pairs if name not in pair]):
            first = _sum(others, sign, value, few[:1])[0]
            if own[few[0]] * first <= 0:
                continue
            power = round(log10(first / own[few[0]]))
            if abs(power) > _POWERS:
                continue
            near = _Near(name, power, others, sign)
            twice = _tolerance(near, unit, records)
            if twice is None or not _differences(near, value, few, twice):
                continue
            differ = _differences(near, value, range(len(own)), twice)
            # what holds exactly is looked for by others
            if any(differ) and not _by_chance(near, value, twice, tried):
                yield near


def _added(pairs: Sequence[tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """One measure, two added up, and each of two less the other."""
    for pair in pairs:
        yield pair, 1
        if len(pair) > 1:
            yield from ((turned, -1) for turned in permutations(pair))


def _sum(
    names: tuple[str, ...], sign: int, value: dict[str, _Whole], rows: Sequence[int]
) -> _Whole:
    first = value[names[0]]
    if len(names) == 1:
        return [first[i] for i in rows]
    return [first[i] + sign * value[names[1]][i] for i in rows]


def _factors(near: _Near) -> tuple[int, int]:
    """By what the measure and the others are multiplied."""
    return 10 ** max(near.power, 0), 10 ** max(-near.power, 0)


def _tolerance(near: _Near, unit: dict[str, int], records: NDArray[np.int64]) -> _Whole | None:
    """Twice what rounding explains in each cell; None: one measure that nothing says is rounded."""
    up, down = _factors(near)
    units = [unit[near.measure] * up, *(unit[name] * down for name in near.others)]
    coarse = sum(one for one in units if one > min(units))
    if not coarse and len(near.others) == 1:
        return None
    return [sum(units) - coarse + coarse * number for number in records.tolist()]


def _differences(
    near: _Near, value: dict[str, _Whole], rows: Sequence[int], twice: _Whole
) -> list[int]:
    """The difference in some cells; none if it is too large in one of them."""
    up, down = _factors(near)
    added = _sum(near.others, near.sign, value, rows)
    found = [value[near.measure][i] * up - b * down for i, b in zip(rows, added, strict=True)]
    fits = all(2 * abs(own) <= twice[i] for i, own in zip(rows, found, strict=True))
    return found if fits else []


def _by_chance(near: _Near, value: dict[str, _Whole], twice: _Whole, tried: int) -> bool:
    up, down = _factors(near)
    size = np.abs([[float(up * v) for v in value[near.measure]]])
    for name in near.others:
        size = np.vstack([size, np.abs([float(down * v) for v in value[name]])])
    least = np.where(size == 0, size.max(axis=0), size).min(axis=0)
    return chance_explains(np.maximum((least + 1) / np.array(twice) - 1, 0), 0, tried)


def _unit(values: _Whole) -> int:
    """The largest power of ten that all values are multiples of."""
    common, unit = gcd(*values), 1
    while common and common % (10 * unit) == 0:
        unit *= 10
    return unit
