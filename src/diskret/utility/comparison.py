"""What protection cost a table or a set of tables, in figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.utility import comparison_shown, plots, text_tables
from diskret.utility.deviations import (
    NAN,
    Deviations,
    Hellinger,
    Zeros,
    deviations,
    hellinger,
    zeros,
)
from diskret.utility.groups import DeviationTable, Groups, by_group, deviation_table, size_class
from diskret.utility.pairs import Pair
from diskret.utility.structure import (
    Additivity,
    Association,
    Ranks,
    additivity,
    associations,
    ranks,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Hidden:
    """What is withheld.

    Parameters
    ----------
    cells
        Cells without a published value.
    share
        Their share of the cells that are not empty.
    value
        Their share of the sum of all values without their signs, totals included.
    """

    cells: int
    share: float
    value: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Original tables beside what is published in their place. Confidential.

    Made by [`compare`][diskret.utility.compare]. Every figure is computed when it is first asked
    for. Deviations are those of the cells that are published with a value; those whose original
    value is 0 are told apart, by `zeros`. A cell of a table set counts in each table that shows
    it.

    Parameters
    ----------
    pairs
        The tables.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> cells = pa.table({"region": ["N", "S"], "firms": [8, 5]})
    >>> table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    >>> found = dk.utility.compare(table, [12, 9, 6])
    >>> found.deviations.mean, found.additivity.broken
    (1.0, 1)
    """

    pairs: tuple[Pair, ...]

    def __repr__(self) -> str:
        return (
            f"Comparison({self.cells:,} cells in {len(self.pairs)} tables; mean deviation "
            f"{self.deviations.mean:.4g}, largest {self.deviations.largest:.4g}, "
            f"{self.hidden.cells:,} withheld)"
        )

    # ── figures ─────────────────────────────────────────────────────────────────

    @property
    def cells(self) -> int:
        """Number of cells, totals and empty ones included."""
        return sum(pair.original.size for pair in self.pairs)

    @property
    def decimals(self) -> int:
        """Decimals of the values."""
        return self.pairs[0].table.measure.decimals

    @cached_property
    def original(self) -> NDArray[np.int64]:
        """Original values of all cells that are shown, in scaled units."""
        return self._of_shown(pair.original for pair in self.pairs)

    @cached_property
    def protected(self) -> NDArray[np.int64]:
        """Published values of the same cells."""
        return self._of_shown(pair.protected for pair in self.pairs)

    @cached_property
    def hidden(self) -> Hidden:
        """What is withheld, e.g. suppressed."""
        cells = sum(int((~pair.shown).sum()) for pair in self.pairs)
        there = sum(int((~pair.table.empty).sum()) for pair in self.pairs)
        sizes = [np.abs(pair.original.astype(np.float64)) for pair in self.pairs]
        total = fsum(float(size.sum()) for size in sizes)
        hidden = fsum(
            float(size[~pair.shown].sum()) for size, pair in zip(sizes, self.pairs, strict=True)
        )
        return Hidden(cells, cells / there if there else NAN, hidden / total if total else NAN)

    @cached_property
    def deviations(self) -> Deviations:
        """Absolute and relative deviations."""
        return deviations(self.original, self.protected, self.decimals)

    @cached_property
    def zeros(self) -> Zeros:
        """False zeros and false non-zeros."""
        return zeros(self.original, self.protected, self.decimals)

    @cached_property
    def hellinger(self) -> Hellinger:
        """Hellinger distance of all cells that are shown."""
        return hellinger(self.original, self.protected, self.decimals)

    @cached_property
    def ranks(self) -> Ranks:
        """The order of cells by size."""
        return ranks(self.original, self.protected)

    @cached_property
    def additivity(self) -> Additivity:
        """Totals that are not the sum of their parts."""
        return additivity(self.pairs)

    @cached_property
    def associations(self) -> tuple[Association, ...]:
        """Every pair of variables; empty for sums."""
        return associations(self.pairs)

    @cached_property
    def variance_ratio(self) -> float:
        """Variance of the cells of the finest codes after, divided by that before."""
        finest = self._of_shown(pair.finest for pair in self.pairs)
        before = float(np.var(self.original[finest])) if finest.any() else 0.0
        return float(np.var(self.protected[finest])) / before if before else NAN

    # ── by kinds of cells ───────────────────────────────────────────────────────

    @cached_property
    def by_size(self) -> Groups:
        """Deviations by size of the original value; see `diskret.utility.groups.size_class`."""
        return self._grouped(size_class(self.original, self.decimals))

    @cached_property
    def by_dimension(self) -> Groups:
        """Deviations by number of variables that are not at their total."""
        return self._grouped(self._dimension)

    @cached_property
    def by_level(self) -> Mapping[str, Groups]:
        """Variable → deviations by distance of its code from the total."""
        names = dict.fromkeys(d.name for pair in self.pairs for d in pair.table.dimensions)
        return {name: self._of_variable(name) for name in names}

    @cached_property
    def deviation_table(self) -> DeviationTable:
        """Number of cells by deviation and number of variables."""
        return deviation_table(self._dimension, self.original, self.protected, self.decimals)

    @cached_property
    def noise(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Each deviation that occurs, with its sign, and the number of cells that have it.

        Of cells whose original value is not 0.
        """
        there = self.original != 0
        values, cells = np.unique((self.protected - self.original)[there], return_counts=True)
        return values / 10.0**self.decimals, cells.astype(np.int64)

    @property
    def _dimension(self) -> NDArray[np.int64]:
        return self._of_shown(pair.dimension for pair in self.pairs)

    def _of_variable(self, name: str) -> Groups:
        found: list[tuple[NDArray[np.int64], ...]] = []
        for pair in self.pairs:
            names = [dimension.name for dimension in pair.table.dimensions]
            if name in names:
                level = pair.level(names.index(name))
                arrays = (level, pair.original, pair.protected)
                found.append(tuple(array[pair.shown] for array in arrays))
        level, original, protected = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return by_group(level, original, protected, self.decimals)

    def _grouped(self, group: NDArray[np.int64]) -> Groups:
        return by_group(group, self.original, self.protected, self.decimals)

    def _of_shown(self, arrays: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """One array for all cells that are shown, table after table."""
        both = zip(arrays, self.pairs, strict=True)
        return np.concatenate([array[pair.shown] for array, pair in both])

    # ── as frames, text and plots ───────────────────────────────────────────────

    @property
    def figures(self) -> dict[str, float]:
        """The key figures by name; NaN where one does not exist."""
        return comparison_shown.figures(self)

    def to_frame(self) -> Any:
        """The key figures as one row, in the user's kind of frame; rows of methods compare."""
        return comparison_shown.key_frame(self)

    def frames(self) -> dict[str, Any]:
        """All figures as frames of the user's kind.

        ``"size"``, ``"dimension"``, ``"level"``: deviations by group; ``"deviations"``: cells by
        deviation and number of variables; ``"relative"``: shares of cells by relative deviation;
        ``"noise"``: cells by signed deviation; ``"associations"``: pairs of variables.
        """
        return comparison_shown.frames(self)

    def lines(self, language: str = "en") -> list[str]:
        """The key figures in sentences, ``"en"`` or ``"de"``."""
        return comparison_shown.sentences(self, language)

    def rows(self, language: str = "en") -> dict[str, list[list[str]]]:
        """Heading → the rows of `tables` as texts, the first of them the head."""
        return text_tables.rows(self, language)

    def tables(self, language: str = "en") -> list[str]:
        """The deviations by size and by number of variables, as lines of text.

        The two tables that were published of SAFE: how many cells of which size deviate by how
        much; and how many cells, and which share of them, deviate at most by each number.
        """
        return text_tables.lines(self.rows(language))

    def histogram(self, language: str = "en") -> Figure:
        """Plot how many cells have which deviation."""
        return plots.histogram(self, language)

    def scatter(self, language: str = "en") -> Figure:
        """Plot published against original values; darker where there are more cells."""
        return plots.scatter(self, language)

    def size_plot(self, language: str = "en") -> Figure:
        """Plot mean and largest deviation by size of the original value."""
        return plots.size_plot(self, language)
