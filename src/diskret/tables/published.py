"""What the world sees of a table, and of several together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.io.arrays import from_lists
from diskret.tables.outline import ROWS, Block, Outline
from diskret.tables.read_public import read_published
from diskret.tables.ties import MeasureSum


@dataclass(frozen=True, eq=False)
class Published(Outline):
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
    of_changed
        The changed values that these intervals stand for, of all cells; None: they stand for none.
    """

    value: NDArray[np.int64]
    suppressed: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    _: KW_ONLY
    lower: NDArray[np.int64] | None = None
    upper: NDArray[np.int64] | None = None
    of_changed: Changed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        values = dict.fromkeys(("value", "lower", "upper"), np.int64)
        from_lists(self, {**values, "suppressed": np.bool_, "empty": np.bool_})

    def __repr__(self) -> str:
        hidden = int(self.suppressed.sum())
        return f"Published({self.name!r}: {self.value.size:,} cells, {hidden:,} suppressed)"

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_published

        return card_of_published(self)

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
    def sides(self) -> tuple[str, ...]:
        """The columns of published bounds."""
        return tuple(self.intervals)

    def block(self, start: int = 0, stop: int | None = None) -> Block:
        """The cells at positions from `start` to before `stop`, in C order; by default all."""
        return Block(
            self,
            start,
            self.value.ravel()[start:stop],
            self.suppressed.ravel()[start:stop],
            self.empty.ravel()[start:stop],
            {side: bound[start:stop] for side, bound in self.intervals.items()},
        )

    def blocks(self) -> Iterator[Block]:
        """All cells, some at a time."""
        for start in range(0, self.value.size, ROWS):
            yield self.block(start, start + ROWS)

    @classmethod
    def of(
        cls,
        outline: Outline,
        value: NDArray[np.int64],
        suppressed: NDArray[np.bool_],
        empty: NDArray[np.bool_],
        lower: NDArray[np.int64] | None = None,
        upper: NDArray[np.int64] | None = None,
    ) -> Published:
        """The table of an outline, with all its cells."""
        described = {field.name: getattr(outline, field.name) for field in fields(Outline)}
        return cls(
            **described,
            value=value,
            suppressed=suppressed,
            empty=empty,
            lower=lower,
            upper=upper,
        )

    @classmethod
    def read(cls, folder: str | PathLike[str], name: str | None = None) -> Published:
        """The attacker's view from the public files alone: structure, and CSV or else Parquet."""
        return read_published(cls, folder, name)


@dataclass(frozen=True, eq=False)
class Changed:
    """Changed values as they were published.

    told: whether readers know how far the true ones can lie from them; else the office alone does.
    """

    shown: Published
    told: bool


@dataclass(frozen=True, eq=False)
class Publication:
    """Published tables that an attacker reads side by side.

    Cells with the same definition (measure, vintage, population and codes) are one cell.

    Parameters
    ----------
    tables
        The tables; positions of cells below count through all of them, one after the other.
    sums
        Equations between measures that the world knows.
    beside
        Which of the tables were published before: release and name there of each of the last
        ones, which are called ``release/name`` in `tables`.
    """

    tables: tuple[Published, ...]
    sums: tuple[MeasureSum, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Publication({', '.join(t.name for t in self.tables)})"

    @property
    def own(self) -> tuple[Published, ...]:
        """The tables that are published now."""
        return self.tables[: len(self.tables) - len(self.beside)]

    @property
    def name(self) -> str:
        """The names of all tables."""
        return " + ".join(table.name for table in self.tables)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Position of the first cell of each table, and the number of all cells."""
        return np.cumsum([0, *(table.value.size for table in self.tables)])

    @property
    def value(self) -> NDArray[np.int64]:
        """Published values of all cells, see `Published.value`."""
        return np.concatenate([table.value.ravel() for table in self.tables])

    @property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which of all cells are suppressed."""
        return np.concatenate([table.suppressed.ravel() for table in self.tables])

    @cached_property
    def worked_out(self) -> dict[str, tuple[bytes, Any]]:
        """What is known about it so far, by what was asked: see `diskret.attack.all_cells`."""
        return {}

    def at(self, position: int) -> tuple[Published, int]:
        """The table of a cell, and the cell's flat position in it."""
        starts = self.starts
        table = int(np.searchsorted(starts, position, side="right")) - 1
        return self.tables[table], position - int(starts[table])

    @classmethod
    def read(
        cls, folder: str | PathLike[str], names: Sequence[str], sums: Iterable[str] = ()
    ) -> Publication:
        """The attacker's view of several tables, from their public files."""
        tables = tuple(Published.read(folder, name) for name in names)
        return cls(tables, tuple(MeasureSum.read(text) for text in sums))


def together(published: Published | Publication) -> Publication:
    """A publication, also of a single table."""
    return published if isinstance(published, Publication) else Publication((published,))
