"""Sums with noise that the cell key chooses, in proportion to the largest contributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.counts import rounded_up
from diskret.cellkey.further_keys import measure_keys, turned
from diskret.cellkey.magnitude_noise import MagnitudeNoise
from diskret.cellkey.table import Lookup, PerturbationTable
from diskret.errors import InputError
from diskret.tables import Measure, Table


def perturbed_sums(
    table: Table,
    number: NDArray[np.int64] | None,
    noise: MagnitudeNoise,
    sensitive: NDArray[np.bool_],
    unit: int,
    *,
    above: NDArray[np.int64] | None = None,
    below: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """The sums of the chosen measure with noise, rounded half a unit upwards.

    Where no contribution is negative, no sum becomes negative. Where some may be, noise is
    scaled and looked up by the sum of absolute contributions, and the sum may change its sign.

    `table`: with key sums, and the largest contributions if they scale the noise. `number`: counted
    units of each cell, int64; None: unknown. `noise`: how sums are changed. `sensitive`: cells
    whose noise gets the extra protection, bool. `unit`: scaled units that the result is a multiple
    of. `above`, `below`: how far noise must raise or lower a sensitive cell at least, scaled
    integers, shape of the table; for noise without a constant `extra`. Returns scaled integers,
    shape of the table, int64.

    Only sums, products, quotients and roots of 64-bit floating point numbers are used, each
    rounded on its own, so the result is the same on all platforms.
    """
    measure = table.measure
    filled = (measure.magnitude > 0) & ~table.empty
    bases = _bases(table, number, noise, filled)
    scaled = 10.0**measure.decimals
    own = measure.sum[filled]
    size = measure.magnitude[filled] / scaled
    keys = np.zeros(0, np.uint64) if table.key_sum is None else table.key_sum[filled]
    source = measure.source or measure.name
    draw = _Draw(noise, keys, table.key_modulus, _odd(number, filled, noise), source)
    apart = _Apart.of(noise, sensitive, above, below, unit)
    change = _change(draw, size, bases / scaled, apart.within(filled, measure, scaled)) * scaled
    whole = np.floor(np.where(own < 0, -change, change))
    half = np.where(own < 0, -change, change) - whole >= 0.5
    value = np.zeros(table.shape, dtype=np.int64)
    value[filled] = rounded_up(own + whole.astype(np.int64), half, unit)
    value[_shown_as_none(table, number, noise)] = 0
    return np.maximum(value, 0) if measure.nonnegative else value


def flex(x: NDArray[np.float64], noise: MagnitudeNoise) -> NDArray[np.float64]:
    """The share m(x) of contributions, float64, same shape.

    >>> nothing = PerturbationTable(np.array([0]), np.array([0]), np.ones((1, 1)))
    >>> flex(np.array([10.0, 1000.0, 1e9]), MagnitudeNoise(nothing)).round(4).tolist()
    [0.25, 0.25, 0.05]
    """
    small, large = noise.scales
    point = noise.flex_point
    share = np.full(x.shape, small)
    beyond = x[x > point]
    ratio = 2 * point / (point + beyond)
    power = np.ones_like(beyond)
    for _ in range(noise.flex_power):  # not **, whose last digit depends on the platform
        power = power * ratio
    if small != large:
        share[x > point] = large * (1 + (small * beyond - large * point) / (large * point) * power)
    return share


def separation_point(noise: MagnitudeNoise, small: Lookup) -> float:
    """Cells whose largest contribution is less are very small, in the measure's own unit."""
    width = [int(w) for w in np.diff(small.bounds[-1], prepend=np.uint64(0))]
    value = [Fraction(int(v), small.step) for v in small.noise[-1]]
    mean = sum((w * v for w, v in zip(width, value, strict=True)), Fraction(0)) / small.modulus
    square = sum((w * v * v for w, v in zip(width, value, strict=True)), Fraction(0))
    spread = math.sqrt(square / small.modulus - mean * mean)
    return spread / (math.sqrt(math.fsum(e * e for e in noise.shares)) * noise.scales[0])


@dataclass(frozen=True, eq=False)
class _Draw:
    """What noise is looked up with, for the cells that have any: flat arrays."""

    noise: MagnitudeNoise
    key: NDArray[np.uint64]
    modulus: int
    odd: NDArray[np.bool_]
    source: str

    def lookup(self, table: PerturbationTable | Lookup) -> Lookup:
        return as_lookup(table, self.modulus)

    def keys(self, which: int) -> NDArray[np.uint64]:
        """The keys of the `which`-th contribution, from 0 on."""
        if self.noise.keys == "measure":
            return measure_keys(self.key, self.modulus, self.source, which)
        return turned(self.key, self.modulus, which + self.noise.own_keys)

    @property
    def most(self) -> float:
        """The largest noise v of any row."""
        tables = [t for t in (self.noise.ptable, self.noise.odd) if t is not None]
        lookups = [self.lookup(table) for table in tables]
        return max(float(np.abs(one.noise).max()) / one.step for one in lookups)

    def values(self, row: NDArray[np.float64], which: int) -> NDArray[np.float64]:
        """The noise v of the `which`-th contribution in these rows."""
        keys = self.keys(which)
        found = interpolated(self.lookup(self.noise.ptable), row, keys)
        if self.noise.odd is None:
            return found
        return np.where(self.odd, interpolated(self.lookup(self.noise.odd), row, keys), found)


def as_lookup(table: PerturbationTable | Lookup, modulus: int) -> Lookup:
    """The lookup for keys of a modulus."""
    if isinstance(table, PerturbationTable):
        return table.lookup(modulus)
    if table.modulus != modulus:
        raise InputError(
            f"the record keys are whole numbers below {modulus:,}, the lookup is for keys below "
            f"{table.modulus:,}; keys of different moduli cannot be mixed: give a lookup for "
            f"{modulus:,}, or tabulate with key_modulus={table.modulus}"
        )
    return table


def interpolated(
    lookup: Lookup, row: NDArray[np.float64], key: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """The noise of keys in rows, linear between two rows and constant beyond the last.

    >>> bounds = np.array([[10, 10], [5, 10]], dtype=np.uint64)
    >>> lookup = Lookup(np.array([0, 1]), 10, bounds, np.array([[0, 0], [-1, 1]]))
    >>> keys = np.array([3, 8, 8], dtype=np.uint64)
    >>> interpolated(lookup, np.array([0.25, 0.5, 9.0]), keys).tolist()
    [-0.25, 0.5, 1.0]
    """
    rows = lookup.counts
    row = np.minimum(row, rows[-1])
    below = np.searchsorted(rows, row, side="right") - 1
    above = np.minimum(below + 1, len(rows) - 1)
    part = (row - rows[below]) / np.maximum(rows[above] - rows[below], 1)
    low, high = lookup(rows[below], key), lookup(rows[above], key)
    return ((1 - part) * low + part * high) / lookup.step


@dataclass(frozen=True, eq=False)
class _Apart:
    """How far sensitive cells are moved.

    `least` is what noise must come to at least, in the measure's own unit, 0 in other cells; `up`
    are cells that cannot be lowered so far. Both None: sensitive cells get the constant `extra`.
    """

    sensitive: NDArray[np.bool_]
    least: NDArray[np.float64] | None = None
    below: NDArray[np.int64] | None = None
    up: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        noise: MagnitudeNoise,
        sensitive: NDArray[np.bool_],
        above: NDArray[np.int64] | None,
        below: NDArray[np.int64] | None,
        unit: int,
    ) -> _Apart:
        """For all cells of a table, in scaled units."""
        if noise.extra is not None or above is None or below is None:
            return cls(sensitive)
        # what rounding may take off, and the last digits of numbers that are not exact
        least = np.maximum(above, below) * (1 + 1e-9) + unit / 2 + 1
        return cls(sensitive, np.where(sensitive, least, 0), np.where(sensitive, below, 0))

    def within(self, filled: NDArray[np.bool_], measure: Measure, scaled: float) -> _Apart:
        """Of the filled cells alone, in the measure's own unit."""
        if self.least is None or self.below is None:
            return _Apart(self.sensitive[filled])
        below = self.below[filled]
        up = (measure.sum[filled] < below) & measure.nonnegative
        return _Apart(self.sensitive[filled], self.least[filled] / scaled, below, up)


def _change(
    draw: _Draw, size: NDArray[np.float64], bases: NDArray[np.float64], apart: _Apart
) -> NDArray[np.float64]:
    """The sum of all noise of each cell in the measure's own unit."""
    noise = draw.noise
    change, first, farthest = (np.zeros(size.shape) for _ in range(3))
    tiny = np.zeros(size.shape, dtype=bool)
    small = None if noise.small is None else draw.lookup(noise.small)
    if small is not None:
        tiny = bases[:, 0] < separation_point(noise, small)
    for which, share in enumerate(noise.shares):
        base = bases[:, which]
        delta = base * flex(base, noise) * share
        there = delta > 0
        row = np.divide(size, delta, out=np.zeros_like(size), where=there)
        value = draw.values(row, which)
        if small is not None:
            # one draw as for a count, of the value itself
            delta = np.where(tiny, float(which == 0), delta)
            value = np.where(tiny, interpolated(small, size, draw.keys(which)), value)
        if which == 0:
            first = delta * _further(draw, value, apart.sensitive)
        else:
            change += delta * value
            farthest += delta * draw.most
    if apart.least is None or apart.up is None:
        return first + change
    # whatever the other contributions add, and on a side that does not depend on the noise
    moved = np.abs(first) + apart.least + farthest
    side = np.where(_coin(draw) | apart.up, moved, -moved)
    return np.where(apart.sensitive, side, first) + change


def _further(
    draw: _Draw, value: NDArray[np.float64], sensitive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Noise of sensitive cells, farther from 0; where it is 0 a further key chooses the side."""
    extra = draw.noise.extra
    if not extra or not sensitive.any():
        return value
    up = np.where(value == 0, _coin(draw), value > 0)
    return np.where(sensitive, np.where(up, value + extra, value - extra), value)


def _coin(draw: _Draw) -> NDArray[np.bool_]:
    """The side that a further key chooses."""
    return draw.keys(len(draw.noise.shares)) >= np.uint64(draw.modulus // 2)


def _shown_as_none(
    table: Table, number: NDArray[np.int64] | None, noise: MagnitudeNoise
) -> NDArray[np.bool_]:
    """Cells whose counts become 0."""
    if noise.counts is None:
        return np.zeros(table.shape, dtype=bool)
    if number is None or table.key_sum is None:
        raise InputError(
            "counts= is what changes the counts of the same cells, and this table does not know "
            "them; give count=, or leave counts= out"
        )
    return number + as_lookup(noise.counts, table.key_modulus)(number, table.key_sum) == 0


def _bases(
    table: Table,
    number: NDArray[np.int64] | None,
    noise: MagnitudeNoise,
    filled: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """What noise is in proportion to, in scaled units, ``(cells, contributions)``."""
    measure = table.measure
    if noise.of == "largest":
        wanted, known = len(noise.shares), measure.largest.shape[-1]
        if known < wanted:
            raise InputError(
                f"the noise is made of the {wanted} largest contributions to each cell, the table "
                f"knows {known}; tabulate with largest={wanted}"
            )
        return measure.largest[filled][:, :wanted].astype(np.float64)
    size = measure.magnitude[filled].astype(np.float64)[:, None]
    if noise.of == "sum":
        return size
    if number is None or table.weight is not None:
        why = "has weights" if number is not None else "does not know its counts"
        raise InputError(
            f"the mean contribution is not known, for the table {why}; use of='largest' or of='sum'"
        )
    return size / number[filled][:, None]


def _odd(
    number: NDArray[np.int64] | None, filled: NDArray[np.bool_], noise: MagnitudeNoise
) -> NDArray[np.bool_]:
    if noise.odd is None:
        return np.zeros(int(filled.sum()), dtype=bool)
    if number is None:
        raise InputError(
            "odd= is a table for cells with an odd number of units, and this table does not know "
            "its counts; give count=, or leave odd= out"
        )
    return number[filled] % 2 == 1
