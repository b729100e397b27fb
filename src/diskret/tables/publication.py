"""Tables that are read together, and the sums that hold between their measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.tables.published import Published
from diskret.tables.ties import MeasureSum


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
        """What is known about it so far, by what was asked: see `diskret.attack.remembered`."""
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
