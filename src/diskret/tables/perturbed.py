"""Values that were changed: by noise, and what published ones stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.tables.add_up import leaf_mask
from diskret.tables.cells import NO_BOUND
from diskret.tables.from_cells import check_multiples, scaled_unit
from diskret.tables.published import Changed, Published
from diskret.tables.table import Table
from diskret.texts.numbers import Count

_METHODS = ("deterministic", "random", "controlled", "small_counts", "noise")


@dataclass(frozen=True, eq=False)
class Noise:
    """The values that are published in place of the measure to protect.

    value: published values in scaled units of the measure, shape of the table, int64.
    withheld: cells that are published without a value, e.g. below a threshold; bool, same shape.
        Their `value` counts for nothing.
    impossible: structural zeros: cells that everybody knows to be empty, shown as "nothing"; bool,
        same shape. No other cell may be told to be empty, for a published 0 need not be a true one.
    """

    value: NDArray[np.int64]
    withheld: NDArray[np.bool_]
    impossible: NDArray[np.bool_]

    @classmethod
    def of(cls, value: NDArray[np.int64]) -> Noise:
        """All cells published with these values."""
        nowhere = np.zeros(value.shape, dtype=bool)
        return cls(value, nowhere, nowhere)


def published_with(table: Table, noise: Noise, *, name: str, changed: str) -> Published:
    """What the world sees of a table whose values were changed.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> region = Dimension("region", Hierarchy.flat(["N", "S"]))
    >>> table = Table((region,), count=np.array([12, 7, 5]))
    >>> noise = Noise.of(np.array([12, 6, 6]))
    >>> published_with(table, noise, name="firms", changed="rounding").value.tolist()
    [12, 6, 6]
    """
    wrong = noise.impossible & ~table.empty
    if wrong.any():
        number = Count(wrong.sum())
        raise InputError(
            f"{number} {number:cell that is|cells that are} said to be impossible "
            f"{number:holds|hold} records; take {number:it|them} out of the structural zeros, or "
            "correct the records"
        )
    measure = table.measure
    blank = noise.withheld | noise.impossible
    return Published(
        name=name,
        dimensions=table.dimensions,
        measure=measure.name,
        frequency=table.frequency,
        decimals=measure.decimals,
        value=np.where(blank, 0, noise.value),
        suppressed=noise.withheld & ~noise.impossible,
        empty=noise.impossible,
        nonnegative=table.nonnegative,
        vintage=table.vintage,
        where=table.where,
        recorded=table.recorded,
        changed=changed,
    )


@dataclass(frozen=True)
class Perturbed:
    """How published values differ from the true ones.

    Parameters
    ----------
    method
        ``"deterministic"``: rounded to the nearest multiple of `base`, half a base upwards.
        ``"random"``: rounded to a multiple of `base` less than one base away.
        ``"controlled"``: the same, up to `steps` multiples farther, so that tables add up.
        ``"small_counts"``: counts of the leaf combinations below `base` became 0 or `base`, larger
        ones are the true ones, and totals were added up.
        ``"noise"``: the cell key method; at most `largest` away, and zeros stay zero.
    base
        Published values are multiples of it, in the measure's own unit; of small counts, none
        lies between 0 and it. Where nothing but whole thousands was published, 1000.
    steps
        Steps of controlled rounding; 0: zero-restricted.
    largest
        The largest noise, in the measure's own unit.

    Raises
    ------
    InputError
        A figure is missing or impossible. Noise without a known bound says nothing that can be
        proven, so no guarantee can be given beside it.

    Examples
    --------
    >>> Perturbed("controlled", base=3, steps=1)
    Perturbed(method='controlled', base=3, steps=1, largest=None)
    """

    method: Literal["deterministic", "random", "controlled", "small_counts", "noise"]
    base: float | None = None
    steps: int = 0
    largest: float | None = None

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            raise InputError(f"method= is one of {', '.join(_METHODS)}, not {self.method!r}")
        if self.method == "noise":
            if self.largest is None or self.largest < 0:
                raise InputError(
                    "nothing can be guaranteed beside noise whose largest size is not known: give "
                    "largest=, the D of the perturbation table, which is at least 0"
                )
        elif self.base is None or self.base <= 0:
            raise InputError(f"{self.method} rounding needs base=, e.g. base=5")
        if self.steps < 0 or self.steps and self.method != "controlled":
            raise InputError("steps= is a number from 0 upwards, for controlled rounding only")

    @property
    def told(self) -> bool:
        """Whether a certificate says it all: steps and the largest noise are the office's."""
        return self.method in ("deterministic", "random", "small_counts")


def stands_for(published: Published, perturbed: Perturbed) -> Published:
    """What the world knows of the true values where perturbed ones were published.

    published: the perturbed values as they were published. Its decimals are those of the true
        values.

    With r published and base b, a true value is one of r − b/2 to below r + b/2 for deterministic
    rounding (ties up), of r − b + 1 to r + b − 1 for random rounding and of r − (K + 1) b + 1 to
    r + (K + 1) b − 1 for controlled rounding with K steps, all in units of the last decimal. Of
    small counts, 0 stands for 0 to b − 1 and b for 1 to b where no finer table can tell; larger
    ones are true, and of totals nothing is known but their parts. For noise it is one of r − D to
    r + D, where a true zero is never published as another number (so counts that are
    shown are at least 1).

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> shown = np.array([10, 5, 5])
    >>> table = Published("t", (Dimension("x", Hierarchy.flat(["a", "b"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0)
    >>> found = stands_for(table, Perturbed("random", base=5))
    >>> found.lower.tolist(), found.upper.tolist()
    ([6, 1, 1], [14, 9, 9])
    """
    shown = ~published.suppressed
    if perturbed.method == "small_counts":
        low, high = _small_counts(published, perturbed)
    else:
        below, above = _reach(published, perturbed)
        low, high = published.value - below, published.value + above
    if perturbed.method == "noise" and published.frequency:
        low = np.where(published.value > 0, np.maximum(low, 1), low)
    if published.nonnegative:
        low = np.maximum(low, 0)
    return _intervals(
        published,
        np.where(shown, low, -NO_BOUND if published.lower is None else published.lower),
        np.where(shown, high, NO_BOUND if published.upper is None else published.upper),
        perturbed.told,
    )


def stands_for_anything(published: Published) -> Published:
    """The same of changed values where nobody knows how far the true ones can lie from them.

    >>> from diskret.hierarchy import Hierarchy
    >>> from diskret.tables.dimension import Dimension
    >>> shown = np.array([10, 5, 5])
    >>> table = Published("t", (Dimension("x", Hierarchy.flat(["a", "b"])),), "count", True, 0,
    ...     shown, shown < 0, shown < 0, changed="cell_key")
    >>> bool((stands_for_anything(table).upper == NO_BOUND).all())
    True
    """
    nothing = np.full(published.shape, NO_BOUND)
    return _intervals(published, -nothing, nothing, told=False)


def as_readers_see(published: Published) -> Published:
    """A table without what the office alone knows of changed values that it stands for."""
    changed = published.of_changed
    if changed is None or changed.told:
        return published
    return replace(stands_for_anything(changed.shown), name=published.name)


def _intervals(
    published: Published, low: NDArray[np.int64], high: NDArray[np.int64], told: bool
) -> Published:
    low, high = (np.where(published.empty, 0, side) for side in (low, high))
    return replace(
        published.all_hidden(),
        rounding=1,
        changed="",
        lower=low,
        upper=high,
        of_changed=Changed(published, told),
    )


def _reach(published: Published, perturbed: Perturbed) -> tuple[int, int]:
    """How far below and above a published value the true one can be, in scaled units."""
    name, decimals = published.measure, published.decimals
    if perturbed.method == "noise":
        largest = perturbed.largest or 0
        reach = scaled_unit(largest, decimals, name) if largest else 0
        return reach, reach
    base = scaled_unit(perturbed.base or 0, decimals, name)
    shown = published.value[~published.suppressed & ~published.empty]
    check_multiples(shown, base, name, decimals)
    if perturbed.method == "deterministic":
        return base // 2, (base - 1) // 2
    reach = (perturbed.steps + 1) * base - 1
    return reach, reach


def _small_counts(
    published: Published, perturbed: Perturbed
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What the counts of leaf combinations stand for; of totals nothing is known."""
    value = published.value
    base = scaled_unit(perturbed.base or 0, published.decimals, published.measure)
    left = ~published.suppressed & (value > 0) & (value < base)
    if left.any():
        number = Count(left.sum())
        raise InputError(
            f"{number} {number:value|values} of {published.measure!r} {number:lies|lie} between 0 "
            f"and {base}, e.g. {value[left][0]}; small counts were not rounded to base {base}"
        )
    leaf = leaf_mask(published.dimensions)
    low = np.where(value > base, value, np.minimum(value, 1))
    high = np.where(value > base, value, np.maximum(value, base - 1))
    return np.where(leaf, low, -NO_BOUND), np.where(leaf, high, NO_BOUND)
