"""Files in JSON-stat 2.0: their cells as a table, and what they say of their columns."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from diskret.errors import InputError
from diskret.io.code_book import CodeBook
from diskret.io.columns import check_names
from diskret.io.data_file import DataFile
from diskret.io.encoded import decoded
from diskret.io.from_json import parse_json


@dataclass(frozen=True, eq=False)
class JsonStat:
    """A dataset: what it says, and of each cell the number as text (None: there is none)."""

    path: Path
    content: Mapping[str, Any] = field(repr=False)
    value: tuple[str | None, ...] = field(repr=False)
    status: tuple[str, ...] = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each dimension."""
        return tuple(self.content["size"])

    def codes(self, dimension: str) -> tuple[str, ...]:
        """The codes of a dimension in the order of the cells."""
        category = self.content["dimension"][dimension]["category"]
        index = category.get("index", list(category.get("label", {})))
        return tuple(index if isinstance(index, list) else sorted(index, key=index.__getitem__))

    def labels(self, dimension: str) -> dict[str, str]:
        """Code → label, of those that have one."""
        return dict(self.content["dimension"][dimension]["category"].get("label", {}))

    @property
    def metric(self) -> str:
        """The dimension that says what is measured; empty if there is none."""
        return "".join(self.content.get("role", {}).get("metric", [])[:1])


def parse_json_stat(path: Path) -> JsonStat:
    """Read a dataset.

    Raises
    ------
    InputError
        It is no dataset in JSON-stat 2.0, or contradicts itself.
    """
    text = decoded(path, "utf-8")
    content = parse_json(text, str(path))
    try:
        whole = _dataset(path, content, json.loads(text, parse_int=str, parse_float=str))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: cannot be read as a dataset in JSON-stat 2.0; is it complete, and one? "
            f"({type(error).__name__}: {error})"
        ) from error
    return whole


def read_json_stat(file: DataFile) -> tuple[pa.Table, CodeBook]:
    """The cells of a dataset as a table of text, and what it says of its columns.

    There is a column for each dimension, with its codes; then one for each category of the
    dimension that says what is measured (``value`` if there is none), with numbers as the file
    writes them, null where there is none; each is followed by its status, ``status``, or
    ``<measure>_status`` if there are several.
    """
    found = parse_json_stat(file.file)
    names: list[str] = found.content["id"]
    cells = np.arange(len(found.value)).reshape(found.shape)
    measures: tuple[str, ...] = ("value",)
    if found.metric:
        order = [i for i, name in enumerate(names) if name != found.metric]
        cells = cells.transpose([*order, names.index(found.metric)])
        measures = found.codes(found.metric)
    flat = cells.reshape(-1, len(measures))
    listed: list[tuple[str, pa.Array]] = []
    inner = len(flat)
    for name in names:
        if name == found.metric:
            continue
        codes = found.codes(name)
        inner //= len(codes)
        once = np.repeat(np.arange(len(codes)), inner)
        at = np.tile(once, len(flat) // len(once))
        listed.append((name, pa.array(codes, pa.string()).take(pa.array(at))))
    for i, measure in enumerate(measures):
        at = flat[:, i].tolist()
        beside = f"{measure}_status" if len(measures) > 1 else "status"
        listed += [
            (measure, pa.array([found.value[j] for j in at], pa.string())),
            (beside, pa.array([found.status[j] for j in at], pa.string())),
        ]
    check_names([name for name, _ in listed], f"{file.file}: ")
    book = CodeBook(
        labels={name: str(found.content["dimension"][name].get("label", "")) for name in names},
        values={name: found.labels(name) for name in names if found.labels(name)},
    )
    return pa.table(dict(listed)), book


def _dataset(path: Path, content: Any, digits: Any) -> JsonStat:
    if content.get("class") != "dataset" or str(content.get("version", ""))[:2] != "2.":
        raise InputError(f"{path}: is no dataset in JSON-stat 2.0")
    size = content["size"]
    cells = math.prod(size)
    if len(size) != len(content["id"]) or not all(isinstance(n, int) and n > 0 for n in size):
        raise ValueError("size must give a number for each id")
    whole = JsonStat(
        path,
        content,
        tuple(None if v is None else str(v) for v in _spread(digits["value"], cells, None)),
        tuple(str(s or "") for s in _spread(content.get("status", {}), cells, "")),
    )
    for name, number in zip(content["id"], size, strict=True):
        codes = whole.codes(name)
        if len(set(codes)) != number:
            raise ValueError(f"{name!r} has {len(set(codes)):,} categories, and its size says "
                             f"{number:,}")  # fmt: skip
    return whole


def _spread(given: Any, cells: int, missing: Any) -> list[Any]:
    """A list with an entry for each cell, of any of the three forms that there are."""
    if isinstance(given, str):
        return [given] * cells
    if isinstance(given, dict):
        found = [missing] * cells
        for at, one in given.items():
            if not at.isdecimal() or int(at) >= cells:
                raise ValueError(f"there is no cell number {at}")
            found[int(at)] = one
        return found
    if len(given) != cells:
        raise ValueError(f"{len(given):,} entries for {cells:,} cells")
    return list(given)
