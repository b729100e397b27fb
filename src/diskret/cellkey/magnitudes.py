"""Sums with noise that the cell key chooses, in proportion to the largest contributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.cellkey.counts import rounded_up
from diskret.cellkey.lookup import Lookup
from diskret.cellkey.measure_keys import measure_keys
from diskret.cellkey.table import PerturbationTable
from diskret.cellkey.turned import turned
from diskret.errors import InputError
from diskret.tables import Table

_MOST = 6


@dataclass(frozen=True, eq=False)
class MagnitudeNoise:
    """How sums are changed by the cell key method. Confidential: who knows it can undo noise.

    The largest contributions x_j to a cell with the value x scale its noise:
    x + Σ_j δ_j · v_j with δ_j = x_j · m(x_j) · ε_j. The v_j are looked up in `ptable` in the row
    x / δ_j, at most its last; between two rows they are interpolated.

    Parameters
    ----------
    ptable
        Of the noise v, with rows at some counts and noise in steps of 1/`step`. Its last row
        stands for all cells with x / δ_j beyond.
    scale
        m: a constant share of the contribution; or two of them, for small contributions (up to
        `flex_point`) and for very large ones, between which m falls.
    flex_point
        Contributions up to this one, in the measure's own unit, are small; for two scales.
    flex_power
        How fast m falls beyond: a whole number from 1 on.
    of
        ``"largest"``: δ is made of the largest contributions; ``"mean"``: of the mean
        contribution; ``"sum"``: of the value of the cell.
    shares
        ε of the largest contribution, 1, of the second largest, …, descending; as many
        contributions count, at most 6.
    extra
        μ, added to the size of v_1 in sensitive cells; where v_1 is 0, a further key says on which
        side.
    small
        Table for very small cells, those whose largest contribution is less than the separation
        point: their noise is looked up by the value, in the measure's own unit, as for counts.
        None: they are treated as all others.
    odd
        Table in place of `ptable` for cells with an odd number of counted units; None: the same.
        Where the two have no noise in common, a unit that leaves a cell always changes it.
    keys
        ``"measure"``: each measure has keys of its own, which follow from those of the cells and
        the measure's source column, so that the noise of one tells nothing of that of another or
        of the counts. ``"cell"``: all have those of the cells, turned for each further
        contribution, as in other programs. Then x̂/ŷ is x/y where a single unit contributes,
        and whoever knows y knows x.
    own_keys
        With keys of the cells: whether the first is turned as well, and not that of the counts.

    Raises
    ------
    InputError
        A parameter is not admissible.

    Notes
    -----
    With small and large share p and P, flex point f and power q,
    m(x) = P · (1 + (p x − P f) / (P f) · (2 f / (f + x))^q) for x ≥ f, and p below. With the
    variance s² of the last row of `small` the separation point is s / (p · √Σ ε²).

    References
    ----------
    Giessing and Tent (2019), "Concepts for generalising tools implementing the cell key method
    to the case of continuous variables", UNECE work session on statistical data confidentiality.

    Examples
    --------
    >>> table = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.5, 0, 0.5]])
    ... )
    >>> MagnitudeNoise(table, scale=0.2, shares=(1, 0.5))
    MagnitudeNoise(2 largest contributions)
    """

    ptable: PerturbationTable | Lookup
    scale: float | tuple[float, float] = (0.25, 0.05)
    flex_point: float = 1000.0
    flex_power: int = 3
    of: Literal["largest", "mean", "sum"] = "largest"
    shares: tuple[float, ...] = (1.0,)
    extra: float = 0.0
    small: PerturbationTable | Lookup | None = None
    odd: PerturbationTable | Lookup | None = None
    keys: Literal["measure", "cell"] = "measure"
    own_keys: bool = False

    def __post_init__(self) -> None:
        _check(self)

    def __repr__(self) -> str:
        number = len(self.shares)
        counted = f"{number} largest contributions" if number > 1 else "largest contribution"
        return f"MagnitudeNoise({counted if self.of == 'largest' else self.of})"

    @property
    def scales(self) -> tuple[float, float]:
        """The share of small and that of very large contributions."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale, self.scale)


def perturbed_sums(
    table: Table,
    number: NDArray[np.int64] | None,
    noise: MagnitudeNoise,
    sensitive: NDArray[np.bool_],
    unit: int,
) -> NDArray[np.int64]:
    """The sums of the chosen measure with noise, rounded half a unit upwards.

    Where no contribution is negative, no sum becomes negative. Where some may be, noise is
    scaled and looked up by the sum of absolute contributions, and the sum may change its sign.

    Parameters
    ----------
    table
        With key sums, and the largest contributions if they scale the noise.
    number
        Counted units of each cell, int64; None: unknown.
    noise
        How sums are changed.
    sensitive
        Cells whose noise gets the extra protection, bool.
    unit
        Scaled units that the result is a multiple of.

    Returns
    -------
    numpy.ndarray
        Scaled integers, shape of the table, int64.

    Raises
    ------
    InputError
        The table does not know enough of the contributions, or there are not enough keys.

    Notes
    -----
    Only sums, products, quotients and roots of 64-bit floating point numbers are used, each
    rounded on its own, so the result is the same on all platforms.
    """
    measure = table.measure
    filled = (measure.magnitude > 0) & ~table.empty
    bases = _bases(table, number, noise, filled)
    scaled = 10.0**measure.decimals
    size = measure.magnitude[filled] / scaled
    keys = np.zeros(0, np.uint64) if table.key_sum is None else table.key_sum[filled]
    source = measure.source or measure.name
    draw = _Draw(noise, keys, table.key_modulus, _odd(number, filled, noise), source)
    change = _change(draw, size, bases / scaled, sensitive[filled]) * scaled
    own = measure.sum[filled]
    whole = np.floor(np.where(own < 0, -change, change))
    half = np.where(own < 0, -change, change) - whole >= 0.5
    value = np.zeros(table.shape, dtype=np.int64)
    value[filled] = rounded_up(own + whole.astype(np.int64), half, unit)
    return np.maximum(value, 0) if measure.nonnegative else value


def flex(x: NDArray[np.float64], noise: MagnitudeNoise) -> NDArray[np.float64]:
    """The share m(x) of contributions, float64, same shape.

    Examples
    --------
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

    def values(self, row: NDArray[np.float64], which: int) -> NDArray[np.float64]:
        """The noise v of the `which`-th contribution in these rows."""
        keys = self.keys(which)
        found = interpolated(self.lookup(self.noise.ptable), row, keys)
        if self.noise.odd is None:
            return found
        return np.where(self.odd, interpolated(self.lookup(self.noise.odd), row, keys), found)


def as_lookup(table: PerturbationTable | Lookup, modulus: int) -> Lookup:
    """The lookup for keys of a modulus.

    Raises
    ------
    InputError
        A lookup for keys of another modulus.
    """
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

    Examples
    --------
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


def _change(
    draw: _Draw,
    size: NDArray[np.float64],
    bases: NDArray[np.float64],
    sensitive: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """The sum of all noise of each cell in the measure's own unit."""
    noise = draw.noise
    change = np.zeros(size.shape)
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
        change += delta * (_further(draw, value, sensitive) if which == 0 else value)
    return change


def _further(
    draw: _Draw, value: NDArray[np.float64], sensitive: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Noise of sensitive cells, farther from 0; where it is 0 a further key chooses the side."""
    extra = draw.noise.extra
    if not extra or not sensitive.any():
        return value
    coin = draw.keys(len(draw.noise.shares)) >= np.uint64(draw.modulus // 2)
    up = np.where(value == 0, coin, value > 0)
    return np.where(sensitive, np.where(up, value + extra, value - extra), value)


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


def _check(noise: MagnitudeNoise) -> None:
    small, large = noise.scales
    if not 0 < large <= small:
        raise InputError(
            f"scale= is a positive share, or two, that of small contributions being at least that "
            f"of large ones; not {noise.scale!r}"
        )
    if not noise.flex_point > 0 or noise.flex_power < 1 or noise.flex_power % 1:
        raise InputError(
            "flex_point= must be positive and flex_power= a whole number from 1 on, not "
            f"{noise.flex_point!r} and {noise.flex_power!r}"
        )
    if noise.of not in ("largest", "mean", "sum"):
        raise InputError(f"of= is 'largest', 'mean' or 'sum', not {noise.of!r}")
    shares = noise.shares
    if not 1 <= len(shares) <= _MOST or shares[0] != 1 or sorted(shares)[::-1] != list(shares):
        raise InputError(
            f"shares= has 1 to {_MOST} descending numbers, the first of them 1, not {shares!r}"
        )
    if shares[-1] <= 0 or noise.extra < 0:
        raise InputError("shares= are positive, and extra= is at least 0")
    if noise.of != "largest" and len(shares) > 1:
        raise InputError(f"of={noise.of!r} is one number a cell; leave shares= out")
    if noise.keys not in ("measure", "cell"):
        raise InputError(f"keys= is 'measure' or 'cell', not {noise.keys!r}")
    if noise.own_keys and noise.keys == "measure":
        raise InputError(
            "own_keys= is for keys='cell'; the keys of a measure are never those of the counts"
        )
    for table in (noise.ptable, noise.small, noise.odd):
        if table is not None:
            _check_table(table)


def _check_table(table: PerturbationTable | Lookup) -> None:
    """Noise in the row of a must be at least -a, so that sums do not cross 0."""
    if isinstance(table, PerturbationTable):
        least = np.where(table.probabilities > 0, table.noise, 0).min(axis=1)
    else:
        least = table.noise.min(axis=1)
    wrong = table.counts[least < -table.counts * table.step]
    if len(wrong):
        raise InputError(
            f"the perturbation table takes values below 0: in {len(wrong):,} rows (first of "
            f"{wrong[0]}) noise is less than minus what the row stands for"
        )
