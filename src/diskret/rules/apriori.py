"""Cells set by hand: safe, unsafe, frozen, with prices and levels of their own."""

# pyarrow has no type information for its compute functions.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.parameters import AnyPercentage
from diskret.rules.apriori_entries import (
    ANSWERS,
    NUMBERS,
    STATUS,
    Line,
    Origin,
    check_code_columns,
    check_date,
    checked_entries,
    given_entries,
    hst_entries,
    name_of,
    read_hst,
)
from diskret.rules.parents import same_cell
from diskret.rules.percentages import percent_of
from diskret.rules.sensitivity import Joinable, Sensitivity
from diskret.tables import Table
from diskret.tables.from_cells import describe_some, locate
from diskret.texts.numbers import Count


@dataclass(frozen=True)
class Apriori(Joinable):
    """What the office decides for single cells, whatever the rules say.

    Each row of `entries` names one cell by a code for every variable of the table (the code
    of the total for totals) and sets one or more of:

    - ``status``: ``safe``, no rule makes the cell unsafe (it may still be hidden to protect
      others); ``unsafe``; ``frozen``, the cell must stay published, which is refused if it is
      unsafe; or empty;
    - ``cost``: what hiding the cell costs, in the units of `cost=` of `suppress`;
    - ``lower``, ``upper``: its protection levels in published units. Of levels that rules and
      hand ask for the largest counts, so they cannot weaken a rule; who wants less declares
      the cell safe. Without a status they hold if a rule finds the cell unsafe.

    Every status needs a ``reason`` (e.g. ``public source`` or ``consent``), ``who`` decided
    it, and the ``date``. All three are kept in the internal files and nowhere else. A total
    of a code with a single child and that child are one cell: what is said of one holds for
    both.

    Parameters
    ----------
    entries
        The path of a CSV or Parquet file or a frame with the columns above and the code
        columns; or the path of an ``.hst`` file of τ-ARGUS, whose codes come in the order of
        the table's variables and whose types ``s``, ``u``, ``p``, ``c`` (``w``) and ``pl``
        are understood.
    range
        Levels of unsafe cells for which none are given, in percent of the sum of absolute
        contributions, above 0. Counts: ±1.
    reason, who, date
        For ``.hst`` files only, which cannot say it: the same for every line.
    separator
        Of an ``.hst`` file; None: the most frequent of , ; tab and | in its first line.
    encoding
        Of an ``.hst`` file.

    Raises
    ------
    InputError
        An entry is not clear; names file, row, column and what to write. On call: entries
        name variables the table does not have, say different things of one cell, or set an
        empty cell to unsafe.
    HierarchyError
        On call: a code is not in its tree.

    References
    ----------
    de Wolf et al., τ-ARGUS user's manual 4.1, a priori information and command APRIORI.

    Examples
    --------
    >>> from diskret.rules import MinimumFrequency
    >>> cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 1]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> known = pa.table({"region": ["S"], "status": ["safe"], "reason": ["consent"],
    ...                   "who": ["A. Meyer"], "date": ["2025-12-31"]})
    >>> rule = MinimumFrequency(3) | Apriori(known)
    >>> dict(zip(table.cells["region"].to_pylist(), rule(table).unsafe.tolist()))
    {'Total': False, 'N': False, 'S': False, 'W': True}
    """

    entries: Any
    range: Annotated[float, AnyPercentage()] = 10
    reason: str | None = None
    who: str | None = None
    date: str | None = None
    separator: str | None = None
    encoding: str = "utf-8"
    _entries: pa.Table | None = field(default=None, init=False, repr=False, compare=False)
    _lines: tuple[Line, ...] = field(default=(), init=False, repr=False, compare=False)
    _of: str = field(default="the a priori entries", init=False, repr=False, compare=False)

    rank: ClassVar[int] = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._is_hst:
            self._check_answers()
            object.__setattr__(
                self, "_lines", read_hst(self.entries, self.separator, self.encoding)
            )
            return
        for name in (*ANSWERS, "separator"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"{name}= is for .hst files only; {self.where} has columns of its own"
                )
        frame = to_arrow(self.entries, NUMBERS, told=("status",))[0]
        if not isinstance(self.entries, str | PathLike):
            object.__setattr__(self, "entries", frame)
        object.__setattr__(self, "_entries", checked_entries(frame, Origin(self.where)))

    @classmethod
    def of_cells(
        cls,
        cells: Any,
        by: Sequence[str],
        *,
        status: str | None = None,
        lower: str | None = None,
        upper: str | None = None,
        cost: str | None = None,
        who: str = "",
        date: str = "",
        range: Annotated[float, AnyPercentage()] = 10,  # noqa: A002
    ) -> Apriori:
        """What a file of cells says of them itself, in columns of its own.

        Parameters
        ----------
        cells
            The frame or file that the table is made of.
        by
            The code columns.
        status
            Column of what is given: ``true``, ``1``, ``yes``, ``unsafe``, ``U`` or, of the files
            of structural business statistics, ``A``, ``B``, ``C``, ``F``: the cell is unsafe;
            ``safe``, ``S``; ``frozen``, ``P``; nothing is given by ``false``, ``0``, ``no``, ``V``,
            an empty field, and by the secondaries of somebody else, ``D`` and ``M``.
        lower, upper, cost
            Columns of protection levels and costs, or None. Levels of cells given as safe or frozen
            do not count.
        who, date
            Who answers for the status, and since when (``2025-12-31``); needed with `status`.
        range
            As of the rule.

        Raises
        ------
        InputError
            A column is missing or holds something else; the message names the row.

        Examples
        --------
        >>> cells = pa.table({"region": ["N", "S"], "v": [70, 20], "secret": [False, True]})
        >>> table = Table.from_cells(cells, by={"region": None}, value="v")
        >>> given = Apriori.of_cells(
        ...     cells, ["region"], status="secret", who="A. Meyer", date="2025-12-31"
        ... )
        >>> given(table).unsafe.tolist()
        [False, False, True]
        """
        columns = {"status": status, "lower": lower, "upper": upper, "cost": cost}
        named = {name: one for name, one in columns.items() if one is not None}
        if not named:
            raise InputError("of_cells needs status=, lower=, upper= or cost=, a column of each")
        frame = to_arrow(cells, (lower, upper, cost), told=(status,))[0]
        where = name_of(cells)
        entries = given_entries(frame, by, named, who, date, where)
        made = cls(entries, range)
        object.__setattr__(made, "_of", where)
        return made

    def __repr__(self) -> str:
        return f"Apriori({self.where}, range={self.range!r})"

    @property
    def where(self) -> str:
        """What the entries came from, in words."""
        if isinstance(self.entries, str | PathLike):
            return Path(self.entries).name
        return self._of

    def __call__(self, table: Table) -> Sensitivity:
        """Say what was set by hand."""
        entries = self._entries
        if entries is None:
            answers = {name: str(getattr(self, name)) for name in ANSWERS}
            entries = checked_entries(
                *hst_entries(self._lines, table.dimensions, answers, self.where)
            )
        names = [dimension.name for dimension in table.dimensions]
        check_code_columns(entries, names, self.where)
        return _set_by_hand(table, entries, self.range, self.where)

    @property
    def _is_hst(self) -> bool:
        path = self.entries
        return isinstance(path, str | PathLike) and Path(path).suffix.lower() == ".hst"

    def _check_answers(self) -> None:
        for name in ANSWERS:
            said = getattr(self, name)
            if not isinstance(said, str) or not said.strip():
                raise InputError(
                    f"{self.where}: an .hst file does not say its {name}; give {name}= as text, "
                    "the same for every line"
                )
        check_date(str(self.date), self.where)


def _set_by_hand(table: Table, entries: pa.Table, percent: float, where: str) -> Sensitivity:
    at = _locate(table, entries, where)
    twin = [same_cell(dimension.hierarchy) for dimension in table.dimensions]
    indices = np.unravel_index(at, table.shape)
    at = np.ravel_multi_index(
        tuple(one[i] for one, i in zip(twin, indices, strict=True)), table.shape
    )

    def spread(values: NDArray[np.float64], column: str) -> NDArray[np.float64]:
        """Values of rows (NaN: nothing said) at their cells and the same cells."""
        rows = np.flatnonzero(~np.isnan(values))
        flat = np.full(int(np.prod(table.shape)), np.nan)
        flat[at[rows]] = values[rows]
        differ = rows[flat[at[rows]] != values[rows]]
        if len(differ):
            shown = describe_some(table.dimensions, at[differ])
            number = Count(len(differ))
            raise InputError(
                f"{where}: {number} {number:row says|rows say} something else in {column!r} than "
                "another row of the same cell (a total with a single part is that part): "
                f"{shown}; keep one of them"
            )
        return flat.reshape(table.shape)[np.ix_(*twin)]

    kind = pc.index_in(entries.column("status"), pa.array(STATUS))
    status = spread(kind.cast(pa.float64()).to_numpy(zero_copy_only=False), "status")
    unsafe = status == 1
    _refuse_empty(table, unsafe, where)
    own = {
        name: spread(entries.column(name).to_numpy(zero_copy_only=False).astype(float), name)
        for name in ("cost", "lower", "upper")
    }
    standard = np.where(unsafe, _standard_level(table, percent), 0)
    lower, upper = (_scaled(own[name], standard, table, where) for name in ("lower", "upper"))
    if table.nonnegative:
        lower = np.minimum(lower, table.measure.sum)
    safe, frozen = status == 0, status == 2
    return Sensitivity(
        unsafe=unsafe,
        lower=lower,
        upper=upper,
        sliding=unsafe.astype(np.int64),
        reason=np.where(unsafe, 0, -1).astype(np.int8),
        reasons=("apriori",),
        safe=safe if safe.any() else None,
        frozen=frozen if frozen.any() else None,
        cost=None if np.isnan(own["cost"]).all() else own["cost"],
        entries=_with_codes_first(table, entries),
    )


def _locate(table: Table, entries: pa.Table, where: str) -> NDArray[np.int64]:
    try:
        return locate(entries, {d.name: d.hierarchy for d in table.dimensions})[1]
    except InputError as error:
        raise type(error)(f"{where}: {error}") from error


def _refuse_empty(table: Table, unsafe: NDArray[np.bool_], where: str) -> None:
    cells = np.flatnonzero(unsafe & table.empty)
    if len(cells):
        shown = describe_some(table.dimensions, cells)
        number = Count(len(cells))
        raise InputError(
            f"{where}: {number} {number:cell|cells} set to unsafe {number:is|are} empty: {shown}. "
            "Empty cells are published as such; take these rows out"
        )


def _standard_level(table: Table, percent: float) -> NDArray[np.int64]:
    if table.frequency:
        return np.ones(table.shape, dtype=np.int64)
    return np.maximum(percent_of(table.measure.magnitude, percent, "range"), 1)


def _scaled(
    own: NDArray[np.float64], standard: NDArray[np.int64], table: Table, where: str
) -> NDArray[np.int64]:
    """Own levels as scaled integers, rounded up; the standard ones where there are none."""
    given = ~np.isnan(own)
    scaled = np.ceil(np.round(np.where(given, own, 0) * 10.0**table.measure.decimals, 6))
    if scaled.max(initial=0) >= 2.0**62:
        raise InputError(f"{where}: levels leave the range of 64-bit integers")
    return np.where(given, scaled.astype(np.int64), standard)


def _with_codes_first(table: Table, entries: pa.Table) -> pa.Table:
    codes = [dimension.name for dimension in table.dimensions]
    return entries.select([*codes, *(n for n in entries.column_names if n not in codes)])
