"""What may stand in the public files of a table: what was proven, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.io.files import plain_parquet_blocks
from diskret.io.from_json import Form, misfits, read_json
from diskret.publish.contract import NEEDED, Streamed
from diskret.publish.digests import CERTIFICATE
from diskret.publish.exchange import EXCHANGE
from diskret.publish.guard.exchange import exchange_problems
from diskret.publish.guard.html import page_problems
from diskret.publish.guard.maps import map_problems
from diskret.publish.guard.own_workbook import table_workbook
from diskret.publish.maps import MAPS
from diskret.tables import CellsDigest, Dimension, Published
from diskret.tables.difference import COUNTED
from diskret.tables.outline import ROWS
from diskret.tables.public_files import STRUCTURE, exact_cells, structure
from diskret.tables.read_public import read_blocks

#: What the names of public files may end with, after the name of a table.
PUBLIC_ENDINGS = (
    ".csv", ".parquet", ".structure.json", ".xlsx", ".html", *EXCHANGE.values(), *MAPS.values(),
    CERTIFICATE,
)  # fmt: skip

_ENDS: Form = [(int, float, None)]
#: What a public certificate of a table may hold.
PUBLIC_CERTIFICATE: Form = {
    **NEEDED,
    "attacker": str,
    "tables": [str],
    "beside": [dict.fromkeys(("release", "table", "digest"), str)],
    "sums": [str],
    "refined_to": (str, None),
    "outer_intervals": int,
    "single_equations": bool,
    "intervals": {"lower": _ENDS, "upper": _ENDS, "*": [str]},
    "difference": {"name": str, **dict.fromkeys(COUNTED, int)},
    "shown": {"method": str, "base": (int, float), "additive": bool},
    "inputs": {"table": str},
}


def table_problems(published: Published, folder: Path) -> Iterator[str]:
    """What is wrong with the public files of a table.

    CSV, structure and Parquet must read back to exactly what was proven.
    """
    hidden = int(published.suppressed.sum())
    yield from _certificate(folder, published.name, published.dimensions, hidden)
    yield from _cells(folder, published)
    yield from parquet_problems(folder / f"{published.name}.parquet", published)
    yield from table_workbook(folder / f"{published.name}.xlsx", published)
    yield from page_problems(folder / f"{published.name}.html")
    yield from exchange_problems(folder, published)
    yield from map_problems(folder, published)


def streamed_problems(table: Streamed, folder: Path) -> Iterator[str]:
    """The same of a table that nobody holds: its file is read back block by block."""
    outline, path = table.outline, folder / f"{table.name}.parquet"
    yield from _certificate(folder, table.name, outline.dimensions)
    said, digest = folder / f"{table.name}{STRUCTURE}", CellsDigest()
    try:
        if read_json(said) != structure(outline):
            yield f"{said.name} is not the structure of the table"
        for block in read_blocks(path, outline):
            digest.add(block)
    except InputError as error:
        yield str(error)
    else:
        if digest.hex != table.digest.hex:
            yield f"{path.name} does not hold the cells of the table"


# ── certificates ────────────────────────────────────────────────────────────────────


def _certificate(
    folder: Path, table: str, dimensions: Sequence[Dimension], hidden: int = 0
) -> Iterator[str]:
    """`hidden`: how many suppressed cells it may hold intervals of."""
    name = f"{table}{CERTIFICATE}"
    try:
        content: dict[str, Any] = dict(read_json(folder / name))
    except (InputError, ValueError, TypeError) as error:
        yield f"{name} cannot be read ({error})"
        return
    columns = dict.fromkeys((d.name for d in dimensions), [str]) | {"lower": _ENDS, "upper": _ENDS}
    for problem in misfits(content, {**PUBLIC_CERTIFICATE, "intervals": columns}):
        yield f"{name} {problem}"
    intervals = content.get("intervals", {})
    # intervals of some suppressed cells only would tell these from the others
    columns = list(intervals.values()) if isinstance(intervals, dict) else [intervals]
    if any(not isinstance(column, list) or len(column) != hidden for column in columns):
        yield f"{name} does not hold one interval for each suppressed cell"


# ── cells and structure ─────────────────────────────────────────────────────────────


def _cells(folder: Path, published: Published) -> Iterator[str]:
    if np.any(published.value[published.suppressed | published.empty]):
        yield f"{published.name} carries values for suppressed or empty cells"
    outline, cells = folder / f"{published.name}.structure.json", folder / f"{published.name}.csv"
    if not outline.exists():
        if cells.exists():
            yield f"{cells.name} cannot be read without {outline.name}"
        return
    try:
        if read_json(outline) != structure(published):
            yield f"{outline.name} is not the structure of the table"
        elif cells.exists() and not _same(Published.read(folder, published.name), published):
            yield f"{cells.name} does not hold the cells of the table"
    except (InputError, ValueError) as error:
        yield str(error)


def parquet_problems(path: Path, published: Published) -> Iterator[str]:
    """What is wrong with the Parquet file of a table; nothing if there is none."""
    if not path.exists():
        return
    try:
        if not _same_cells(path, published):
            yield f"{path.name} does not hold the cells of the table"
    except InputError as error:
        yield str(error)


def _same_cells(path: Path, published: Published) -> bool:
    start = 0
    for cells in plain_parquet_blocks(path, ROWS):
        block = published.block(start, start + len(cells))
        if not cells.equals(exact_cells(block)):
            return False
        start = block.stop
    return start == published.size


def _same(read: Published, proven: Published) -> bool:
    arrays = (
        (read.value, proven.value),
        (read.suppressed, proven.suppressed),
        (read.empty, proven.empty),
    )
    bounds = read.intervals.keys() == proven.intervals.keys() and all(
        np.array_equal(read.intervals[side][hidden], bound[hidden])
        for hidden in [proven.suppressed.ravel()]
        for side, bound in proven.intervals.items()
    )
    return bounds and all(np.array_equal(a, b) for a, b in arrays)
