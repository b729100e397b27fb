"""Attack any published table, whoever suppressed its cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack import Attacker, examine
from diskret.attack.examination import interval_frame
from diskret.deadline import Deadline
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import to_arrow
from diskret.io.columns import column, scaled_integers
from diskret.io.placed import placed
from diskret.io.record_errors import RecordError
from diskret.progress import Progress, silent
from diskret.tables import Dimension, Published
from diskret.tables.dimension import check_by, said_totals
from diskret.tables.from_cells import check_multiples, describe, describe_some, halved, locate
from diskret.texts.numbers import Count

_EXAMPLES = 5
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?|[+-]?\.\d+")


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What an outsider can compute about the suppressed cells of a published table.

    Parameters
    ----------
    published
        The table as it was read.
    cells, suppressed
        Number of cells, and of those that are suppressed.
    exact
        Number of suppressed cells that can be recomputed exactly, or where values are rounded
        as closely as they would have been published.
    outer
        Number of suppressed cells whose interval may be narrower than stated, so that more of them
        may be recomputable: of very large tables, or where time was limited.
    frame
        Code columns, lower, upper (null: unbounded) of every suppressed cell.
    lines
        The findings, one sentence a line.
    """

    published: Published
    cells: int
    suppressed: int
    exact: int
    outer: int
    frame: pa.Table
    lines: tuple[str, ...]


def audit(
    table: Any,
    by: Mapping[str, Hierarchy | None],
    value: str,
    suppressed: Sequence[str] = ("", ".", "x", "X"),
    *,
    total: str | Mapping[str, str] | None = None,
    frequency: bool = False,
    rounding: float | None = None,
    signed: bool = False,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> AuditReport:
    """Compute what an outsider can infer from a published table with suppressed cells.

    Parameters
    ----------
    table
        A frame, the path of a file or a [`DataFile`][diskret.DataFile], one row a cell, totals
        included. Values may be text.
    by
        Code column → its tree, or None for a flat one.
    value
        Column of the published values.
    suppressed
        What stands in place of a suppressed value; a null always does.
    total
        Code of the totals of columns without a tree; None: ``"Total"``. Or column → code.
    frequency
        Whether values are counts, so that fractions of units are impossible.
    rounding
        Unit of the published values if they are rounded to the nearest multiple, e.g. 1000, or 5
        for counts: they are then known to half a unit only, and totals need not be exactly the sum
        of their parts.
    signed
        Whether hidden values may be negative; they are taken to be at least 0 if no published
        value is negative and this is not said.
    time_limit
        Seconds for the attack; after them intervals are what single equations tell, outer bounds.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    InputError
        A column, cell or value cannot be read.
    ContradictionError
        The published values contradict each other.

    Examples
    --------
    >>> cells = pa.table({"region": ["N", "S", "Total"], "n": ["7", ".", "12"]})
    >>> audit(cells, {"region": None}, "n").frame.to_pylist()
    [{'region': 'S', 'lower': 5, 'upper': 5}]
    """
    check_by(by)
    said = said_totals(by, total)
    with placed(table):
        cells = to_arrow(table, [value], suppressed)[0]
        published = _read(cells, by, said, value, set(suppressed), frequency, rounding, signed)
    deadline = Deadline.after(time_limit)
    examination = examine(published, Attacker(), progress=progress, deadline=deadline)
    # what is published in thousands is as good as known once it is known to a thousand
    apart = published.rounding if published.rounding > 1 else 0
    exact = examination.upper - examination.lower <= apart
    hidden = len(examination.cell)
    size, known = Count(published.value.size), Count(exact.sum())
    lines = [
        f"{size} {size:cell|cells}, {hidden:,} suppressed",
        f"{known} suppressed {known:cell|cells} can be recomputed exactly",
    ]
    for i in np.flatnonzero(exact)[:_EXAMPLES]:
        middle = (examination.lower[i] + examination.upper[i]) / 2
        number = middle / 10**published.decimals
        where = describe(published.dimensions, int(examination.cell[i]))
        lines.append(f"  {where}: {number:,.{published.decimals}f}")
    if examination.outer:
        outer = Count(examination.outer)
        lines.append(
            f"{outer} {outer:interval is an outer bound|intervals are outer bounds}: the true "
            f"{outer:one|ones} may be narrower, and more cells may be recomputable"
        )
    if examination.outer and examination.quick:
        lines.append(
            "as time was limited, that is what single equations tell, one after the other; allow "
            "more time"
        )
    return AuditReport(
        published=published,
        cells=published.value.size,
        suppressed=hidden,
        exact=int(exact.sum()),
        outer=examination.outer,
        frame=interval_frame(published, examination),
        lines=tuple(lines),
    )


def _read(
    cells: pa.Table,
    by: Mapping[str, Hierarchy | None],
    said: Mapping[str, str],
    value: str,
    symbols: set[str],
    frequency: bool,
    rounding: float | None,
    signed: bool,
) -> Published:
    dimensions, at = locate(cells, by, said)
    shape = tuple(len(d) for d in dimensions)
    _check_complete(dimensions, at)
    given = column(cells, value)
    text = pc.utf8_trim_whitespace(given.cast(pa.string()))
    symbol = pc.is_in(text, pa.array(sorted(symbols), pa.string()))
    hidden = pc.or_(symbol, pc.is_null(text)).to_numpy()
    shown = text.filter(pa.array(~hidden))
    decimals = _decimals(shown, text, value)
    unit = 1
    if signed and frequency:
        raise InputError("signed= is for sums; counts are never negative")
    if rounding is not None:
        if frequency and (rounding < 2 or rounding != int(rounding)):
            raise InputError(
                f"counts are rounded to whole numbers of at least 2, not to {rounding:g}; leave "
                "rounding= out"
            )
        decimals = max(decimals, len(f"{rounding:f}".rstrip("0").partition(".")[2]))
        decimals, unit = halved(rounding, decimals, value)
    numbers = np.zeros(len(cells), dtype=np.int64)
    numbers[~hidden] = scaled_integers(shown, value, decimals)
    check_multiples(numbers, unit, value, decimals)
    dense = np.zeros(shape, dtype=np.int64)
    dense.ravel()[at] = numbers
    mask = np.zeros(shape, dtype=bool)
    mask.ravel()[at] = hidden
    return Published(
        name=value,
        dimensions=dimensions,
        measure=value,
        frequency=frequency,
        decimals=decimals,
        value=dense,
        suppressed=mask,
        empty=np.zeros(shape, dtype=bool),
        nonnegative=not signed and bool((numbers >= 0).all()),
        rounding=unit,
    )


def _decimals(shown: pa.ChunkedArray, every: pa.ChunkedArray, name: str) -> int:
    """The most decimals any published value has; `every` value tells the row of a wrong one."""
    decimals = 0
    for text in pc.unique(shown).to_pylist():
        if not _NUMBER.fullmatch(text):
            raise _neither(text, name, pc.index(every, text).as_py())
        decimals = max(decimals, len(text.partition(".")[2].rstrip("0")))
    return decimals


def _neither(text: str, name: str, row: int) -> RecordError:
    return RecordError(
        lambda place: (
            f"{text!r} in {name!r}, {place.named(row)}, is neither a number like 1234.5 nor a "
            "symbol for a suppressed value; name the symbols with suppressed="
        )
    )


def _check_complete(dimensions: tuple[Dimension, ...], at: NDArray[np.int64]) -> None:
    size = int(np.prod([len(d) for d in dimensions]))
    missing = np.setdiff1d(np.arange(size), at)
    if len(missing):
        shown = describe_some(dimensions, missing)
        number = Count(len(missing))
        raise RecordError(
            lambda _: (
                f"{number} {number:cell is|cells are} not in the table: {shown}. A cell that is "
                "not shown is neither published nor suppressed; add a row for each, with a symbol "
                "if it is hidden, or say the code of the totals if they are there under another: "
                "total="
            )
        )
