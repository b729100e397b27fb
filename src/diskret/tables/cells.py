"""Tables as frames: one row for each combination of codes, in C order."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import from_arrow
from diskret.tables.dimension import Dimension
from diskret.tables.outline import Block, Outline

if TYPE_CHECKING:
    from diskret.tables.derived import Derived
    from diskret.tables.published import Published
    from diskret.tables.table import Table

#: Stands in `Published.lower` (negative) and `Published.upper` for no bound at all.
NO_BOUND = int(np.iinfo(np.int64).max)

#: Families of methods that change values.
CHANGES = ("rounding", "cell_key", "invariant", "adjustment")

#: What a public table says of a cell.
STATUS = ("published", "suppressed", "empty")

#: Columns that public and internal files add to codes and values.
_ADDED = frozenset(
    ["status", "lower", "upper", "rule", "lower_level", "upper_level", "sliding_level"]
)
#: Columns that files add of tables whose values are changed.
_OF_CHANGES = frozenset(["original", "published", "noise"])
#: Columns that the explanations add to codes.
_OF_REASONS = frozenset(
    ["kind", "needed_in", "needed_by", "required_lower", "required_upper", "required_width"]
)
_EXACT_FLOAT = 2**53


def cells_frame(table: Table) -> Any:
    """All cells of a table, in the kind of frame the user brought.

    table: the table; confidential, and so is the frame.

    Returns the code columns, ``count``, ``units`` and ``holdings`` (where known) and one
        column for each measure in published units; one row for each combination of codes.
    """
    return from_arrow(pa.table(table_columns(table)), table.frame_kind)


def table_columns(table: Table) -> dict[str, pa.Array]:
    """The columns of [`cells_frame`][diskret.tables.cells.cells_frame] by name."""
    numbers = {"count": table.count, "units": table.units, "holdings": table.holdings}
    columns = [(name, array) for name, array in numbers.items() if array is not None]
    columns += [(m.name, in_published_units(m.sum, m.decimals)) for m in table.measures]
    check_names([*(d.name for d in table.dimensions), *(name for name, _ in columns)])
    flat = {name: pa.array(array.ravel()) for name, array in columns}
    return {**codes_columns(table.dimensions), **flat}


def public_columns(shown: Published | Block) -> pa.Table:
    """What may leave of a table: codes, values (null if suppressed), status.

    `status` is published | suppressed | empty; one row for each combination of codes. Where
    intervals are published, `lower` and `upper` hold them for the suppressed cells.
    """
    block = shown if isinstance(shown, Block) else shown.block()
    published, suppressed = block.table, block.suppressed
    check_names(public_names(published))
    value = np.where(suppressed | block.empty, 0, block.value)

    def in_units(scaled: NDArray[np.int64], mask: NDArray[np.bool_]) -> pa.Array:
        return pa.array(in_published_units(scaled, published.decimals), mask=mask)

    return pa.table(
        {
            **codes_columns(published.dimensions, block.start, block.stop),
            published.measure: in_units(value, suppressed),
            "status": pa.array(STATUS).take(pa.array(status_codes(block))),
            **{
                side: in_units(np.where(blank, 0, bound), blank)
                for side, bound in block.intervals.items()
                for blank in [~suppressed | (np.abs(bound) == NO_BOUND)]
            },
        }
    )


def status_codes(
    shown: Published | Block | Derived,
) -> NDArray[np.int64]:
    """Positions in `STATUS` of what cells are shown as, flat."""
    return np.where(shown.suppressed, 1, np.where(shown.empty, 2, 0)).ravel()


def public_names(published: Outline) -> list[str]:
    """The columns of the public files."""
    codes = [d.name for d in published.dimensions]
    return [*codes, published.measure, "status", *published.sides]


def codes_columns(
    dimensions: tuple[Dimension, ...], start: int = 0, stop: int | None = None
) -> dict[str, pa.StringArray]:
    """Dimension name → the code in each cell, cells in C order (last dimension fastest).

    `start`, `stop`: of the cells at these positions; by default of all.

    >>> from diskret.hierarchy import Hierarchy
    >>> pair = tuple(Dimension(name, Hierarchy.flat(["x"])) for name in "ab")
    >>> {name: codes.to_pylist() for name, codes in codes_columns(pair).items()}
    {'a': ['Total', 'Total', 'x', 'x'], 'b': ['Total', 'x', 'Total', 'x']}
    """
    check_names(d.name for d in dimensions)
    inner = prod(len(d) for d in dimensions)
    cell = np.arange(start, inner if stop is None else stop)
    columns: dict[str, pa.StringArray] = {}
    for dimension in dimensions:
        inner //= len(dimension)
        codes = pa.array(dimension.hierarchy.codes, pa.string())
        columns[dimension.name] = codes.take(pa.array(cell // inner % len(dimension)))
    return columns


def in_published_units(
    scaled: NDArray[np.int64], decimals: int
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Scaled integers as users read them: integers without decimals, else nearest floats.

    scaled: integers in units of 10**-decimals, any shape.
    decimals: 0 to 18.

    >>> in_published_units(np.array([1250, -5]), 2).tolist()
    [12.5, -0.05]
    """
    if decimals == 0:
        return scaled
    floats = scaled / 10.0**decimals
    # beyond 2**53 the numerator would be rounded before the division; Python's own
    # division of integers rounds once
    for at in zip(*np.nonzero((scaled > _EXACT_FLOAT) | (scaled < -_EXACT_FLOAT)), strict=True):
        floats[at] = int(scaled[at]) / 10**decimals
    return floats


def check_reserved(
    dimensions: Iterable[str], measures: Iterable[str], changed: bool = False
) -> None:
    """Refuse variables that are called like a column which some file of a release adds.

    To be asked before the work, not when it is written. `changed`: values are changed; otherwise
    cells are suppressed.
    """
    dimensions = list(dimensions)
    columns = {*_ADDED, *_OF_REASONS, *(f"needed_by_{name}" for name in dimensions)}
    columns |= _OF_CHANGES if changed else frozenset()
    taken = sorted({*dimensions} & columns | {*measures} & _ADDED)
    if taken:
        raise InputError(
            f"{', '.join(map(repr, taken))}: the files of a release have columns of this name of "
            f"their own; rename the variable, e.g. to {taken[0] + '_1'!r}"
        )


def check_names(names: Iterable[str]) -> None:
    """Refuse column names that are there twice."""
    names = list(names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"more than one column would be called {', '.join(map(repr, twice))} "
            f"(all columns: {', '.join(names)}); rename the variable"
        )
