"""Cells that a user names by their codes, or by an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.io import source, to_arrow
from diskret.io.columns import column, scaled_integers
from diskret.io.frames import in_memory, spelled
from diskret.io.placed import placed
from diskret.io.record_errors import RecordError
from diskret.tables.from_cells import locate
from diskret.tables.table import Table
from diskret.texts.numbers import Count


def named_cells(table: Table, given: Any, option: str) -> NDArray[np.bool_]:
    """Which cells are named, shape of the table.

    given: a frame with the code columns, one row a cell; or a bool array of the table's shape;
        None: no cell.

    >>> cells = pa.table({"region": ["N", "S"], "firms": [4, 3]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> named_cells(table, pa.table({"region": ["S"]}), "structural_zeros").tolist()
    [False, False, True]
    """
    if given is None:
        return np.zeros(table.shape, dtype=bool)
    if isinstance(given, np.ndarray):
        if given.dtype != bool or given.shape != table.shape:
            raise InputError(f"{option}= must be a bool array of shape {table.shape} or a frame")
        return given
    mask = np.zeros(table.shape, dtype=bool)
    with placed(given):
        mask.ravel()[_located(table, to_arrow(given)[0])] = True
    return mask


def named_keys(table: Table, given: Any, modulus: int) -> tuple[NDArray[np.uint64], Any]:
    """The key of each cell, uint64, and which cells have one, both in the shape of the table.

    given: a frame with the code columns and one further column, the keys; one row a cell.
    modulus: keys are whole numbers in ``[0, modulus)``.

    >>> cells = pa.table({"region": ["N", "S"], "firms": [4, 3]})
    >>> table = Table.from_cells(cells, by={"region": None}, count="firms")
    >>> keys = pa.table({"region": ["Total", "N", "S"], "key": [93, 61, 32]})
    >>> named_keys(table, keys, 256)[0].tolist()
    [93, 61, 32]
    """
    with placed(given):
        return _named_keys(table, given, modulus)


def _named_keys(table: Table, given: Any, modulus: int) -> tuple[NDArray[np.uint64], Any]:
    codes = [d.name for d in table.dimensions]
    opened = source(given)
    others = [name for name in opened.columns if name not in codes]
    frame = in_memory(spelled(opened, others))
    if len(others) != 1:
        raise InputError(
            f"cell_keys= is a frame with the codes of {', '.join(codes)} and one column of keys; "
            f"it has {', '.join(map(repr, frame.column_names))}"
        )
    at = _located(table, frame)
    keys = scaled_integers(column(frame, others[0]), others[0], 0)
    wrong = np.flatnonzero((keys < 0) | (keys >= modulus))
    if len(wrong):
        number = Count(len(wrong))
        raise RecordError(
            lambda place: (
                f"{number} cell {number:key|keys} in {others[0]!r} {number:is|are} not from 0 to "
                f"{modulus - 1:,} (first in {place.named(wrong[0])}); give the lookup the modulus "
                f"{number:it was|they were} made with"
            )
        )
    key, there = np.zeros(table.shape, np.uint64), np.zeros(table.shape, dtype=bool)
    key.ravel()[at], there.ravel()[at] = keys.astype(np.uint64), True
    return key, there


def _located(table: Table, frame: pa.Table) -> NDArray[np.int64]:
    return locate(frame, {d.name: d.hierarchy for d in table.dimensions})[1]
