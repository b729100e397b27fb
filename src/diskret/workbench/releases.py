"""What a run of ``diskret protect`` left in its folder, as far as the office may see it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from numpy.typing import NDArray

from diskret.tables import Table

_REQUIRED = ("lower", "upper", "required_lower", "required_upper")


@dataclass(frozen=True, eq=False)
class Released:
    """The office's files of one table.

    codes: of each dimension.
    status: published | primary | secondary | empty of each cell, in the order of the table.
    intervals: codes of a hidden cell → what everybody can tell of its value.
    why: codes of a secondary → the cells that need it, with what would be known of them.
    certificate: the office's.
    published: of each cell, where values are changed; NaN: withheld. None: cells are hidden.
    """

    codes: tuple[tuple[str, ...], ...]
    status: NDArray[np.str_]
    intervals: Mapping[tuple[str, ...], tuple[float | None, float | None]]
    why: Mapping[tuple[str, ...], Sequence[Mapping[str, Any]]]
    certificate: Mapping[str, Any]
    published: NDArray[np.float64] | None = None

    def told(self, codes: Sequence[str]) -> dict[str, Any]:
        """What is known of one cell."""
        at = tuple(codes)
        found: dict[str, Any] = {}
        if at in self.intervals:
            found["interval"] = list(self.intervals[at])
        if at in self.why:
            found["why"] = list(self.why[at])
        return found

    def fits(self, table: Table) -> bool:
        """Whether it is of a table with these cells."""
        return self.codes == tuple(one.hierarchy.codes for one in table.dimensions)


def read_released(folder: Path, name: str, table: Table) -> Released | None:
    """The office's files of a table; None where there are none, or of another table."""
    place = folder / "internal"
    cells, certificate = place / f"{name}.cells.csv", place / f"{name}.certificate.json"
    if not cells.is_file() or not certificate.is_file():
        return None
    names = [one.name for one in table.dimensions]
    told = json.loads(certificate.read_text(encoding="utf-8"))
    hidden = told.get("family") == "suppression"
    frame = _read(cells, [*names, "status"]) if hidden else _changed(cells, names)
    if frame is None or not _same_cells(frame, table):
        return None
    if not hidden:
        shown = np.array(frame.column("published").to_pylist(), dtype=object)
        numbers = np.where(shown == "", "nan", shown).astype(np.float64)
        nothing = np.full(shown.shape, "published")
        codes = tuple(one.hierarchy.codes for one in table.dimensions)
        return Released(codes, nothing, {}, {}, told, numbers)
    status = np.array(frame.column("status").to_pylist(), dtype=str)
    codes = tuple(one.hierarchy.codes for one in table.dimensions)
    why = _why(place / f"{name}.explanations.csv", names)
    return Released(codes, status, _intervals(told, names), why, told)


def loss(folder: Path, name: str) -> dict[str, Any] | None:
    """How much of a table a run has hidden, as the office's certificate says it."""
    path = folder / "internal" / f"{name}.certificate.json"
    told = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if told.get("family") != "suppression":
        return None
    keys = ("primaries", "secondaries", "method", "cost", "cost_of_secondaries", "gap")
    return {"name": name, **{key: told.get(key) for key in keys}}


def _changed(path: Path, names: Sequence[str]) -> pa.Table | None:
    """The cells of a release whose values were changed; None where they were not."""
    with pcsv.open_csv(path) as file:
        there = "published" in file.schema.names
    return _read(path, [*names, "published"]) if there else None


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Columns of a file that diskret wrote, as texts."""
    types = dict.fromkeys(columns, pa.string())
    options = pcsv.ConvertOptions(
        column_types=types, include_columns=list(columns), strings_can_be_null=False
    )
    return pcsv.read_csv(path, convert_options=options)


def _same_cells(frame: pa.Table, table: Table) -> bool:
    """Whether the cells are those of the table, in its order."""
    if frame.num_rows != int(np.prod(table.shape)):
        return False
    grid = np.indices(table.shape).reshape(len(table.shape), -1)
    for one, at in zip(table.dimensions, grid, strict=True):
        expected = np.array(one.hierarchy.codes, dtype=object)[at]
        if not (np.array(frame.column(one.name).to_pylist(), dtype=object) == expected).all():
            return False
    return True


def _intervals(
    certificate: Mapping[str, Any], names: Sequence[str]
) -> dict[tuple[str, ...], tuple[float | None, float | None]]:
    told = certificate.get("intervals") or {}
    if not all(name in told for name in (*names, "lower", "upper")):
        return {}
    codes = zip(*(told[name] for name in names), strict=True)
    return dict(zip(codes, zip(told["lower"], told["upper"], strict=True), strict=True))


def _why(path: Path, names: Sequence[str]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    if not path.is_file():
        return found
    options = pcsv.ConvertOptions(
        column_types={one: pa.string() for name in names for one in (name, f"needed_by_{name}")}
    )
    for row in pcsv.read_csv(path, convert_options=options).to_pylist():
        at = tuple(row[name] for name in names)
        told = {"kind": row["kind"], "for": [row[f"needed_by_{name}"] for name in names]}
        told |= {key: row[key] for key in _REQUIRED if key in row}
        found.setdefault(at, []).append(told)
    return found
