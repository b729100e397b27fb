"""A table of cells: every combination of codes, totals included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import FrameKind
from diskret.io.arrays import from_lists
from diskret.io.placed import placed
from diskret.population import EVERYBODY, Population
from diskret.tables.add_up import add_up, leaf_mask
from diskret.tables.cells import cells_frame
from diskret.tables.contributions import Asked, Contributions, Measure
from diskret.tables.dimension import Dimension
from diskret.tables.from_cells import from_cells, scaled_unit
from diskret.tables.made_of import MadeOf
from diskret.tables.recode import recode
from diskret.tables.ties import About

if TYPE_CHECKING:
    from diskret.tables.add_up import Additivity, Recomputed


@dataclass(frozen=True, eq=False)
class Table:
    """All cells of a rectangular table, held as arrays of shape `shape`. Confidential.

    Made by [`tabulate`][diskret.tabulate] or [`Table.from_cells`][diskret.Table.from_cells].

    Parameters
    ----------
    dimensions
        The classifying variables; axis ``i`` of every array runs over the codes of
        ``dimensions[i].hierarchy`` (position 0 = total).
    count
        Number of records, int64; None if an already tabulated file does not say.
    units, holdings
        Number of distinct units / holdings, int64, or None if unknown.
    measures
        The summed variables; empty for a frequency table.
    contributors
        Whose contributions `Measure.largest` holds: ``"records"``, ``"units"`` or
        ``"holdings"``.
    key_sum, key_modulus
        Sum of the record keys of the distinct units modulo `key_modulus`, uint64, or None.
    vintage
        Period and revision, part of every cell's definition.
    where
        Which records were tabulated, part of every cell's definition.
    recorded
        Whether the finest codes are texts of the records, as in all tables made from records.
    weight
        Column of the sampling weights that the sums are weighted with, or None. `count`,
        `units` and `holdings` are not weighted.
    rounding
        Scaled units of the measure to protect that its published values are multiples of;
        see `rounded`.
    shown
        Values as they are to be published, scaled integers, where they are not the sums
        rounded to `rounding`; None if they are.
    frame_kind
        The kind of frame the user brought and gets back.
    chosen
        Name of the measure to protect, see `table[name]`.
    marked
        Mark → number of marked records, int64. ``"no_waiver"``: records without consent to
        publication; ``"request"``, ``"request 2"``: records whose unit asked for
        protection, at the first and at the second level. Empty if the call of
        [`tabulate`][diskret.tabulate] named no such columns. A contributor is marked in a
        cell if one of its records there is.
    waiver_note
        Who consented when, and why; for the office's files.
    recomputed
        What became of totals of an already tabulated file that were computed anew; for the
        office's files.
    contributions
        Who contributes what to which leaf combination, if that was asked for.
    counted
        What `count` is as a measure: ``"count"`` of records, or ``"units"``, see `of_units`.
    asked
        How the records can be asked what they are together with other variables.
    count_within
        How far true counts of an already tabulated file may lie from those in it; `count` then
        holds the least number of contributors that each cell can have. 0: counts are exact.
    made_of
        What the cells are unions of; None: they are cells of their own.
    """

    dimensions: tuple[Dimension, ...]
    count: NDArray[np.int64] | None
    units: NDArray[np.int64] | None = None
    holdings: NDArray[np.int64] | None = None
    measures: tuple[Measure, ...] = ()
    contributors: str = "records"
    key_sum: NDArray[np.uint64] | None = None
    key_modulus: int = 2**32
    vintage: str = ""
    where: Population = EVERYBODY
    recorded: bool = False
    weight: str | None = None
    rounding: int = 1
    shown: NDArray[np.int64] | None = None
    frame_kind: FrameKind = "pyarrow"
    chosen: str | None = None
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])
    waiver_note: str = ""
    recomputed: tuple[Recomputed, ...] = ()
    contributions: Contributions | None = None
    counted: str = "count"
    asked: Asked | None = None
    count_within: int = 0
    made_of: MadeOf | None = None

    def __post_init__(self) -> None:
        counts = dict.fromkeys(("count", "units", "holdings", "shown"), np.int64)
        from_lists(self, {**counts, "key_sum": np.uint64})

    def __repr__(self) -> str:
        names = ", ".join(f"{d.name}: {len(d)}" for d in self.dimensions)
        measures = ", ".join(measure.name for measure in self.measures) or "count"
        if self.rounding > 1:
            measures += f" in {self.rounding / 10**self.measure.decimals:,g}"
        where = f" where {self.where}" if self.where else ""
        return f"Table({names}; {measures}{where}; {int(np.prod(self.shape)):,} cells)"

    def _repr_html_(self) -> str:
        from diskret.tables.card import card_of_table

        return card_of_table(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes of each dimension."""
        return tuple(len(d) for d in self.dimensions)

    @property
    def frequency(self) -> bool:
        """Whether what is published is the count."""
        return not self.measures or self.chosen == "count"

    @property
    def nonnegative(self) -> bool:
        """Whether no contribution to what is published is negative."""
        return self.measure.nonnegative

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Cells without any contributor; where counts are unknown, with nothing but zeros.

        A sum that is 0 because contributions cancel out is a real cell.
        """
        if self.count is not None:
            return self.count == 0
        if self.nonnegative:
            return self.measure.sum == 0
        inside = (self.measure.magnitude != 0) & leaf_mask(self.dimensions)
        return add_up(inside.astype(np.int64), [d.hierarchy for d in self.dimensions]) == 0

    @property
    def about(self) -> About:
        """What the table is about, by which it is tied to others."""
        return About(self.measure.name, self.vintage, self.where)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the classifying variables."""
        return tuple(dimension.name for dimension in self.dimensions)

    @property
    def measure(self) -> Measure:
        """The measure to protect: the chosen one, or the only one, or the count."""
        if self.frequency:
            if self.count is None:
                raise InputError("the table does not know its counts; give count=")
            no_contributions = np.empty((*self.shape, 0), dtype=np.int64)
            return Measure(self.counted, 0, self.count, self.count, no_contributions)
        for measure in self.measures:
            if measure.name == self.chosen or len(self.measures) == 1:
                return measure
        names = ", ".join(m.name for m in self.measures)
        raise InputError(
            f"the table holds several measures ({names}); choose the one to protect with "
            f"table[name], e.g. table[{self.measures[0].name!r}]"
        )

    def __getitem__(self, name: str) -> Table:
        """The same table with the measure to protect chosen; ``"count"``: the frequencies."""
        if name == "count" and self.count_within:
            raise InputError(
                f"the counts are known to within {self.count_within} only, so they are no table "
                "of their own; give exact counts"
            )
        if name == "count" or any(measure.name == name for measure in self.measures):
            if name == self.chosen:
                return self
            return replace(self, chosen=name, rounding=1, shown=None)
        names = ", ".join(repr(measure.name) for measure in self.measures)
        raise InputError(
            f"the table has no measure {name!r}; it has 'count' and {names or 'no other'}"
        )

    def of_units(self) -> Table:
        """The frequency table of units: itself if there are none but records.

        A unit counts once in each cell, so totals may be less than the sums of their parts.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from diskret.protect.tabulate import tabulate
        >>> jobs = pa.table({"person": [1, 1, 2], "region": ["N", "S", "S"]})
        >>> tabulate(jobs, by={"region": None}, unit="person").of_units().measure.sum.tolist()
        [2, 1, 2]
        """
        # an already tabulated file says only one number, which stands for both
        if self.units is None or self.units is self.count:
            return self
        return replace(self, count=self.units, counted="units", chosen="count")

    def rounded(self, unit: float) -> Table:
        """The same table, to be published in multiples of a unit, e.g. in thousands.

        Every cell is rounded on its own to the nearest multiple, half a unit upwards; so
        published totals are not exactly the sum of their parts, and an attacker knows each
        value only to ± half a unit.

        Parameters
        ----------
        unit
            Published values are multiples of it, in the measure's own unit: 1000, or 0.5.

        Raises
        ------
        InputError
            The unit is not a positive multiple of the last decimal, or counts are to be
            rounded: that is a method of protection, not a way to show a table.

        Examples
        --------
        >>> import pyarrow as pa
        >>> cells = pa.table({"region": ["N", "S"], "sales": [12600, 400]})
        >>> Table.from_cells(cells, by={"region": None}, value="sales").rounded(1000)
        Table(region: 3; sales in 1,000; 3 cells)
        """
        if self.frequency:
            raise InputError(
                "counts are not shown rounded; rounding counts is a method of protection of its own"
            )
        scaled = scaled_unit(unit, self.measure.decimals, self.measure.name)
        return replace(self, rounding=scaled, shown=None)

    @classmethod
    def from_cells(
        cls,
        frame: Any,
        *,
        by: Mapping[str, Hierarchy | None],
        total: str | Mapping[str, str] | None = None,
        value: str | None = None,
        count: str | None = None,
        largest: Sequence[str] = (),
        magnitude: str | None = None,
        shadow: str | None = None,
        signed: bool | None = None,
        decimals: int = 0,
        vintage: str = "",
        rounding: float | None = None,
        round_values: bool = False,
        additivity: Additivity = "check",
        count_within: int = 0,
    ) -> Table:
        """A table from an already tabulated file.

        The file may hold all cells or only some: a leaf cell that is not there counts as
        empty, a total that is not there is added up. Totals that are there must be the sum
        of their parts.

        Parameters
        ----------
        frame
            A frame of any kind, a path, or a [`DataFile`][diskret.DataFile]; one row a cell.
        by
            Code column → its tree, or None for a flat one of the codes in the file.
        total
            Code of the totals of columns without a tree, e.g. ``"Insgesamt"``; None:
            ``"Total"``. Or column → code; that of a tree confirms its own total. Where it is
            said, no other code is looked at as a total.
        value
            Column of the sums; None for a frequency table.
        count
            Column with the number of contributors, whole numbers. A weighted count is a `value`.
        largest
            Columns of the largest contributions x1, x2, … in this order; where contributions
            may be negative, by size, with or without their signs. Nothing in place of one means
            that there is no further contributor, and is refused where there may be one.
        magnitude
            Column of the sums of absolute contributions, the X of the rules where some are
            negative. Without it X is the least possible: the absolute value of the sum, or the
            largest contributions together; so rules find rather too many cells unsafe.
        shadow
            Column of another variable that rules look at through
            [`Shadow`][diskret.rules.Shadow]; `largest` and `magnitude` are then its own.
        signed
            Whether contributions may be negative, so that nobody can take a value for at least
            0; None: if a value in the file is negative.
        decimals
            Decimals of `value`, `shadow`, `magnitude` and `largest`.
        vintage
            Period and revision, part of every cell's definition.
        rounding
            Unit of the published values if the file holds rounded ones, e.g. 1000: totals
            may then miss the sum of their parts by half a unit for each term. They are
            published as they are; rules see totals added up from the leaves.
        round_values
            Whether values with more decimals than stated become the nearest with as many, half a
            unit upwards; without it they are an error. For decimals that went through binary
            floating point, e.g. 2305598.5354999998.
        additivity
            ``"check"``: totals must be the sum of their parts. ``"totals"``: every total is
            computed from the inner cells, whatever the file says of it; `Table.recomputed`
            says how many changed, and the largest change. Largest contributions of a changed
            total stay as the file gives them unless they are impossible, then they are those
            of its parts.
        count_within
            How far true counts may lie from those of `count`, if these were changed: 2 where they
            were rounded to the nearest multiple of 5, 5 for 10, 4 for random rounding to 5. Totals
            may miss the sum of their parts by as much for each term. Rules take the least number
            of contributors that a cell can have. Only beside a `value`: rounded counts alone are
            protected by their rounding.

        Raises
        ------
        AdditivityError
            Totals are not the sum of their parts: how many equations do not hold, with
            dimension, total, parts and difference.
        InputError
            A column is missing, a cell is there twice, a value cannot be read; `additivity`
            and `rounding` do not go together; the rows of a code are the sums of those of all
            others, so that it seems to be a total (where this may be chance, a warning).
        HierarchyError
            A code is not in its tree.

        Examples
        --------
        >>> import pyarrow as pa
        >>> cells = pa.table({"region": ["N", "S", "Total"], "firms": [7, 5, 12]})
        >>> Table.from_cells(cells, by={"region": None}, count="firms").count.tolist()
        [12, 7, 5]
        """
        with placed(frame):
            return from_cells(
                cls,
                frame,
                by,
                total=total,
                value=value,
                count=count,
                largest=tuple(largest),
                magnitude=magnitude,
                shadow=shadow,
                signed=signed,
                decimals=decimals,
                vintage=vintage,
                rounding=rounding,
                round_values=round_values,
                additivity=additivity,
                count_within=count_within,
            )

    def recode(
        self,
        dimension: str,
        groups: Mapping[str, Sequence[str]] | None = None,
        *,
        level: int | None = None,
        leaves: Sequence[str] | None = None,
        total: str | None = None,
    ) -> Table:
        """A coarser table: combine categories of one dimension, or cut its tree.

        Counts and sums of combined categories are added up. Numbers of distinct units and
        holdings, magnitudes, largest contributions and key sums follow where nobody is in
        two of the categories, which the table tells by its totals; where somebody may be,
        the recoding is refused. Cutting is always exact.

        Parameters
        ----------
        dimension
            Name of the dimension.
        groups
            New code → the codes it combines: two or more below one parent, leaves or not.
            The new code is a leaf in their place; what stood below them is dropped. All
            codes below one parent can only be combined under the parent's own code.
        level
            Instead of `groups`: drop all codes more than this many steps below the total.
        leaves
            Instead of `groups`: drop all codes below these, which become the finest.
        total
            A new code for the total of this dimension; None: as it is.

        Raises
        ------
        HierarchyError
            A group does not fit the tree, a new code is taken, or there is no such level or code.
        InputError
            There is no such dimension, not exactly one of the three is given, or
            units or holdings contribute to several of the combined categories.

        Notes
        -----
        A cell is known by its codes. Where the finer table is published as well, give a new
        category a code that the finer table does not use.

        Examples
        --------
        >>> import pyarrow as pa
        >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 1]})
        >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
        >>> table.recode("region", {"S+W": ["S", "W"]}).cells.to_pylist()[-1]
        {'region': 'S+W', 'count': 3, 'units': 3}
        """
        return recode(self, dimension, groups, level, leaves, total)

    @property
    def cells(self) -> Any:
        """One row for each combination of codes, in the user's own kind of frame."""
        return cells_frame(self)
