"""What the world sees of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from diskret.io.arrays import from_lists
from diskret.population import EVERYBODY, Population
from diskret.tables.dimension import Dimension
from diskret.tables.ties import About

#: Stands in `Published.lower` (negative) and `Published.upper` for no bound at all.
NO_BOUND = int(np.iinfo(np.int64).max)

#: Families of methods that change values.
CHANGES = ("rounding", "cell_key", "invariant", "adjustment")


@dataclass(frozen=True, eq=False)
class Published:
    """An attacker's whole view of one published table. Holds nothing confidential.

    Parameters
    ----------
    name
        The name the table is published under; file names begin with it.
    dimensions
        The classifying variables with their code trees (published structure).
    measure
        Column name of the published values.
    frequency
        True for counts: values are whole numbers ≥ 0 and the attacker knows it.
    decimals
        Published decimals; values below are integers in units of 10**-decimals.
    value
        Scaled integers, one for each combination of codes, shape
        ``tuple(len(d) for d in dimensions)``, int64; 0 where suppressed.
    suppressed
        The same shape, bool.
    empty
        The same shape, bool: cells that are shown as "nothing" (no units at all).
    nonnegative
        Whether the world knows that no value can be negative.
    vintage
        Period and revision, part of every cell's definition.
    where
        The population.
    recorded
        Whether the finest codes are texts of the records, so that no other table can mean
        something else by them.
    rounding
        Scaled units that published values are multiples of: a value shown in thousands is
        known to ± 500 only. 1 for exact values.
    lower, upper
        Published intervals of the suppressed cells in scaled units, the same shape, int64,
        ∓ `NO_BOUND` where one has no end; None if no intervals are published.
    changed
        By which family of methods values were changed before they were published: one of
        `CHANGES`; empty if those that are shown are the true ones.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    measure: str
    frequency: bool
    decimals: int
    value: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    nonnegative: bool = True
    vintage: str = ""
    where: Population = EVERYBODY
    recorded: bool = False
    rounding: int = 1
    lower: NDArray[np.int64] | None = None
    upper: NDArray[np.int64] | None = None
    changed: str = ""

    def __post_init__(self) -> None:
        values = dict.fromkeys(("value", "lower", "upper"), np.int64)
        from_lists(self, {**values, "suppressed": np.bool_, "empty": np.bool_})

    def __repr__(self) -> str:
        hidden = int(self.suppressed.sum())
        return f"Published({self.name!r}: {self.value.size:,} cells, {hidden:,} suppressed)"

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        return card_of_published(self)

    @property
    def about(self) -> About:
        """What the table is about, by which it is tied to others."""
        return About(self.measure, self.vintage, self.where)

    def all_hidden(self) -> Published:
        """The table if nothing at all of it were published."""
        return replace(
            self,
            value=np.zeros_like(self.value),
            suppressed=np.ones_like(self.suppressed),
            empty=np.zeros_like(self.empty),
            lower=None,
            upper=None,
        )

    @property
    def intervals(self) -> dict[str, NDArray[np.int64]]:
        """The published bounds of the suppressed cells, flat; empty if there are none."""
        if self.lower is None or self.upper is None:
            return {}
        return {"lower": self.lower.ravel(), "upper": self.upper.ravel()}

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each dimension, totals included."""
        return tuple(len(d) for d in self.dimensions)

    @classmethod
    def read(cls, folder: str | PathLike[str], name: str | None = None) -> Published:
        """The attacker's view from the public files alone (CSV and structure)."""
        from diskret.tables.read_public import read_published

        return read_published(folder, name)
