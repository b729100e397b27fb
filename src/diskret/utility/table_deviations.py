"""How far the tables of a protected file lie from those of the original one."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.io import FrameKind, from_arrow
from diskret.tables.counted import ComparedCounts
from diskret.texts import number, words_in
from diskret.utility.deviations import Deviations, Zeros, deviations, zeros
from diskret.utility.groups import (
    DeviationTable,
    Groups,
    by_group,
    cells_by_deviation,
    deviation_table,
    size_class,
    size_table,
)
from diskret.utility.text_tables import printed_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Tables of so many variables or more are one column, as in what was published of SAFE.
LAST_DIMENSION = 4


@dataclass(frozen=True, eq=False)
class TableDeviations:
    """Cells of some tables, before and after. Confidential.

    Deviations are told of cells that are not empty in the original file, as in Höhne's tables
    for SAFE; what became of empty ones is in `zeros`. Figures are computed when they are asked for.

    Parameters
    ----------
    names
        The variables of each table, and its counting variable, ``""`` for records.
    table
        For each cell the position of its table, ``(c,)``, int32.
    original, protected
        Counts, ``(c,)``, int64; cells that are empty in both files are left out.
    """

    names: tuple[tuple[tuple[str, ...], str], ...]
    table: NDArray[np.int32]
    original: NDArray[np.int64]
    protected: NDArray[np.int64]

    def __repr__(self) -> str:
        found = self.overall
        return (
            f"TableDeviations({len(self.names):,} tables, {found.cells:,} cells; largest "
            f"{found.largest:g}, mean {found.mean:.2f}, {found.share_unchanged:.1%} exact)"
        )

    @property
    def dimension(self) -> NDArray[np.int64]:
        """Number of variables of the table of each cell, ``(c,)``."""
        sizes = np.array([len(columns) for columns, _ in self.names], dtype=np.int64)
        return sizes[self.table]

    @cached_property
    def overall(self) -> Deviations:
        """Figures of all cells: largest, mean, quantiles, bias, share unchanged."""
        return deviations(self.original, self.protected)

    @cached_property
    def zeros(self) -> Zeros:
        """Cells that became empty, and cells that were.

        ``cells`` are only those empty cells that are not empty any more: others are not known.
        """
        return zeros(self.original, self.protected)

    @cached_property
    def by_size(self) -> Groups:
        """Figures for original counts of 1 to 9, of 10 to 99, and so on."""
        return by_group(size_class(self.original), self.original, self.protected)

    @cached_property
    def by_dimension(self) -> Groups:
        """Figures for tables of each number of variables."""
        return by_group(self.dimension, self.original, self.protected)

    @cached_property
    def by_table(self) -> Groups:
        """Figures for each table that has cells."""
        return by_group(self.table.astype(np.int64), self.original, self.protected)

    @cached_property
    def deviation_table(self) -> DeviationTable:
        """How many cells deviate by how much; columns: 1, 2, 3, and 4 or more variables."""
        columns = np.minimum(self.dimension, LAST_DIMENSION)
        return deviation_table(columns, self.original, self.protected)

    def transitions(self, cut: int = 10) -> TransitionCounts:
        """What became of cells with a count of 0, 1, 2, …; from `cut` on all together."""
        return transition_counts(self.original, self.protected, cut)

    def figures(self) -> dict[str, float]:
        """Key figures by name."""
        found, empty = self.overall, self.zeros
        return {
            "tables": len(self.names),
            "cells": found.cells,
            "largest": found.largest,
            "mean": found.mean,
            "median": found.quantiles[0],
            "p95": found.quantiles[2],
            "p99": found.quantiles[3],
            "bias": found.bias,
            "variance": found.mse - found.bias**2,
            "exact_share": found.share_unchanged,
            "became_empty": empty.false_zeros,
            "were_empty": empty.false_nonzeros,
        }

    def lines(self, language: str = "en") -> list[str]:
        """Key figures in a sentence, and the two tables published of SAFE, as lines of text."""
        words, found = words_in(language, "utility"), self.overall
        told = {
            "tables": number(len(self.names), language),
            "cells": number(found.cells, language),
            "largest": number(found.largest, language),
            "mean": number(found.mean, language, 2),
            "exact": number(100 * found.share_unchanged, language, 1),
            "emptied": number(self.zeros.false_zeros, language),
            "filled": number(self.zeros.false_nonzeros, language),
        }
        both = printed_tables(self.by_size, self.deviation_table, language, LAST_DIMENSION)
        return [words.said("counted tables", **told), "", *both]


@dataclass(frozen=True, eq=False)
class FileDeviations:
    """Tables whose deviations were controlled, and others beside them. Confidential.

    Made by `Microdata.deviations`.

    Parameters
    ----------
    controlled, uncontrolled
        The tables; None where none is named.
    kind
        Of frames.
    """

    controlled: TableDeviations | None
    uncontrolled: TableDeviations | None
    kind: FrameKind

    def __repr__(self) -> str:
        told = "; ".join(f"{name}: {found!r}" for name, found in self.named())
        return f"FileDeviations({told})"

    def named(self) -> list[tuple[str, TableDeviations]]:
        """``controlled`` and ``uncontrolled``, those that there are."""
        both = (("controlled", self.controlled), ("uncontrolled", self.uncontrolled))
        return [(name, found) for name, found in both if found is not None]

    @property
    def frame(self) -> Any:
        """Key figures, a row for controlled and one for uncontrolled tables."""
        rows = [{"tables_are": name, **found.figures()} for name, found in self.named()]
        return from_arrow(pa.Table.from_pylist(rows), self.kind)

    def frames(self, cut: int = 10) -> dict[str, Any]:
        """All figures as frames by name.

        They are ``size``, ``dimension``, ``table``, ``deviations`` and ``transitions``.

        Parameters
        ----------
        cut
            Counts from it on are one category of the transitions.
        """
        found = {
            "size": [size_table(one.by_size) for _, one in self.named()],
            "dimension": [_dimensions(one.by_dimension) for _, one in self.named()],
            "table": [_tables(one) for _, one in self.named()],
            "deviations": [cells_by_deviation(one.deviation_table) for _, one in self.named()],
            "transitions": [_transitions(one.transitions(cut)) for _, one in self.named()],
        }
        return {name: from_arrow(self._both(parts), self.kind) for name, parts in found.items()}

    def lines(self, language: str = "en") -> list[str]:
        """Sentences and tables as lines of text, in English or German."""
        words, made = words_in(language, "utility"), list[str]()
        for name, found in self.named():
            made += [words[name], "", *found.lines(language), ""]
        return made[:-1]

    def plot(self, language: str = "en") -> Figure:
        """Plot the tables before and after: small cells, and how far all of them deviate.

        A row of plots for controlled and one for uncontrolled tables. On the left how many cells
        hold 1, 2, 3, … records in the original and in the protected file; on the right how many
        cells of tables with 1, 2, 3, and 4 or more variables deviate by how much.

        Parameters
        ----------
        language
            ``"en"`` or ``"de"``.
        """
        from diskret.utility.plots import before_and_after

        return before_and_after(self, language)

    def _both(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The same figures of both, one below the other."""
        marked = [
            part.add_column(0, "tables_are", pa.array([name] * part.num_rows, pa.string()))
            for (name, _), part in zip(self.named(), parts, strict=True)
        ]
        return pa.concat_tables(marked)


def table_deviations(counted: Iterable[ComparedCounts]) -> TableDeviations:
    """Put the cells of tables together, one table after another.

    >>> from diskret.tables.counted import compare_all_counts, combined, counted_all
    >>> persons = pa.table({"town": ["N", "S", "N", "N"], "sex": ["f", "f", "m", "m"]})
    >>> before = combined(persons, ["town", "sex"])
    >>> after = combined(pa.table({"town": ["N"] * 3, "sex": ["m"] * 3}), ["town", "sex"])
    >>> lists = {"": (("town",), ("town", "sex"))}
    >>> found = table_deviations(compare_all_counts(counted_all(before, lists), after))
    >>> found
    TableDeviations(2 tables, 5 cells; largest 1, mean 0.80, 20.0% exact)
    >>> found.by_dimension.mean.round(2).tolist()
    [0.5, 1.0]
    """
    names: list[tuple[tuple[str, ...], str]] = []
    before: list[NDArray[np.int64]] = []
    after: list[NDArray[np.int64]] = []
    for one in counted:
        names.append((one.columns, one.counter))
        before.append(one.before)
        after.append(one.after)
    lengths = [len(counts) for counts in before]
    empty = np.zeros(0, dtype=np.int64)
    return TableDeviations(
        tuple(names),
        np.repeat(np.arange(len(names), dtype=np.int32), lengths),
        np.concatenate([empty, *before]),
        np.concatenate([empty, *after]),
    )


def _dimensions(groups: Groups) -> pa.Table:
    return pa.table({"dimension": groups.group, **groups.columns})


def _tables(found: TableDeviations) -> pa.Table:
    groups = found.by_table
    named = [found.names[at] for at in groups.group.tolist()]
    return pa.table(
        {
            "table": pa.array([" x ".join(columns) for columns, _ in named], pa.string()),
            "counted": pa.array([counter for _, counter in named], pa.string()),
            **groups.columns,
        }
    )


def _transitions(found: TransitionCounts) -> pa.Table:
    """One row for each pair of counts that occurs."""
    row, column = np.nonzero(found.cells)
    labels = np.array(found.labels)
    shares = found.shares
    return pa.table(
        {
            "original": pa.array(labels[row], pa.string()),
            "protected": pa.array(labels[column], pa.string()),
            "cells": found.cells[row, column],
            "share": shares[row, column],
            "bias": found.bias[row],
            "variance": found.variance[row],
        }
    )


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """How many cells with a count of i have a count of j afterwards.

    Parameters
    ----------
    cut
        Counts from it on are one category, the last.
    cells
        Number of cells, ``(cut + 1, cut + 1)``, int64: rows before, columns after. Cells that
        are empty in both files are not known, so the first entry is 0.
    bias, variance
        For each row the mean of the deviations with their sign, and their mean squared distance
        from it, ``(cut + 1,)``; NaN without cells.
    """

    cut: int
    cells: NDArray[np.int64]
    bias: NDArray[np.float64]
    variance: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the cells of each row in each column; NaN without cells."""
        with np.errstate(invalid="ignore"):
            return self.cells / self.cells.sum(axis=1, keepdims=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """Counts of the rows and columns, the last with a plus."""
        return (*map(str, range(self.cut)), f"{self.cut}+")


def transition_counts(
    original: NDArray[np.int64], protected: NDArray[np.int64], cut: int = 10
) -> TransitionCounts:
    """Count what became of cells, ``(cells,)``; counts from `cut` on are one category.

    Giessing and Höhne (2011), "Eliminating small cells from census counts tables", SORT special
    issue: what a method does is seen by its empirical transition probabilities.

    >>> found = transition_counts(np.array([1, 1, 2, 9]), np.array([0, 3, 3, 8]), cut=4)
    >>> found.cells.tolist()[1], found.bias.tolist()[1], found.variance.tolist()[1]
    ([1, 0, 0, 1, 0], 0.5, 2.25)
    """
    rows = cut + 1
    row, column = np.minimum(original, cut), np.minimum(protected, cut)
    cells = np.bincount(row * rows + column, minlength=rows * rows).reshape(rows, rows)
    deviation = (protected - original).astype(np.float64)
    number = cells.sum(axis=1)
    with np.errstate(invalid="ignore"):
        bias = np.bincount(row, deviation, minlength=rows) / number
        apart = (deviation - bias[row]) ** 2
        variance = np.bincount(row, apart, minlength=rows) / number
    return TransitionCounts(cut, cells.astype(np.int64), bias, variance)
