"""Last period: which cells were suppressed then, and an attacker who has kept that release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from diskret.attack import Attacker
from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.columns import code_text, column
from diskret.io.from_json import anything, check_form, read_json
from diskret.io.placed import placed
from diskret.tables import Publication, Published, Table
from diskret.texts.numbers import Count

_SUFFIX = ".certificate.json"


def knowing_last_period(
    attacker: Attacker, folders: Mapping[str, Path], percent: float
) -> Attacker:
    """The same attacker, who also knows how much values may have changed since last period.

    Tables of last period that were attacked together then are read together.

    folders: name of each table → the release of last period that holds a table of this name.
    """
    read: dict[tuple[Path, tuple[str, ...]], Attacker] = {}
    lower: dict[str, Any] = {}
    upper: dict[str, Any] = {}
    for name, folder in folders.items():
        names, sums = _together(folder, name)
        if (folder, names) not in read:
            publication = Publication.read(folder, names, sums)
            read[folder, names] = Attacker.around(publication, percent)
        found = read[folder, names]
        lower[name], upper[name] = found.lower[name], found.upper[name]
    return replace(attacker, lower=lower, upper=upper)


def _together(folder: Path, name: str) -> tuple[tuple[str, ...], list[str]]:
    """The tables that a table was attacked together with, and the sums that tie them."""
    public = folder / "public" if (folder / "public").is_dir() else folder
    path = public / f"{name}{_SUFFIX}"
    if not path.is_file():
        return (name,), []
    content = read_json(path)
    check_form(content, {"tables": [str], "sums": [str], "*": anything}, str(path))
    return tuple(content.get("tables", [name])), content.get("sums", [])


_HIDDEN = ("suppressed", "primary", "secondary")


def suppressed_before(table: Table, previous: Any) -> NDArray[np.bool_] | None:
    """The cells of a table whose codes were suppressed last period, shape of the table.

    Codes that only one of the periods has match nothing.

    previous: a result or a published table of last period, or a frame with the code columns and a
        row for each suppressed cell; if it has a column ``status``, only rows with ``suppressed``,
        ``primary`` or ``secondary`` count. None: nothing is known.
    """
    if previous is None:
        return None
    previous = getattr(previous, "published", previous)
    if isinstance(previous, Published):
        return _of_published(table, previous)
    with placed(previous):
        return _of_frame(table, to_arrow(previous)[0])


def _of_published(table: Table, previous: Published) -> NDArray[np.bool_]:
    names = [d.name for d in table.dimensions]
    before = [d.name for d in previous.dimensions]
    if sorted(names) != sorted(before):
        raise InputError(
            f"previous=: table {previous.name!r} of last period is broken down by "
            f"{', '.join(before)}, this one by {', '.join(names)}; give a table with the same "
            "variables, or a frame with their codes"
        )
    order = [before.index(name) for name in names]
    hidden = previous.suppressed.transpose(order)
    new = [
        np.array([d.hierarchy.position.get(code, -1) for code in old.hierarchy.codes])
        for d, old in zip(table.dimensions, (previous.dimensions[i] for i in order), strict=True)
    ]
    both = [at >= 0 for at in new]
    mask = np.zeros(table.shape, dtype=bool)
    mask[np.ix_(*(at[k] for at, k in zip(new, both, strict=True)))] = hidden[np.ix_(*both)]
    return mask


def _of_frame(table: Table, rows: pa.Table) -> NDArray[np.bool_]:
    names = [d.name for d in table.dimensions]
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise InputError(
            f"previous=: the frame has no column {', '.join(map(repr, missing))}; it needs the "
            f"codes of {', '.join(names)}, and has {', '.join(rows.column_names)}"
        )
    if "status" in rows.column_names and "status" not in names:
        rows = rows.filter(pc.is_in(rows["status"], value_set=pa.array(_HIDDEN)))
    positions: list[NDArray[np.int64]] = []
    for dimension in table.dimensions:
        texts = code_text(column(rows, dimension.name), dimension.name)
        encoded = texts.combine_chunks().dictionary_encode()
        known = dimension.hierarchy.position
        of_code = np.array([known.get(c, -1) for c in encoded.dictionary.to_pylist()], np.int64)
        positions.append(of_code[encoded.indices.to_numpy()])
    inside = np.all([at >= 0 for at in positions], axis=0)
    found = np.ravel_multi_index(tuple(at[inside] for at in positions), table.shape)
    doubled = len(found) - len(np.unique(found))
    if doubled:
        raise InputError(
            f"previous=: {doubled:,} {Count(doubled):row names|rows name} a cell of "
            f"{', '.join(names)} that an earlier row names; give one row for each suppressed "
            "cell, and no further variable"
        )
    mask = np.zeros(table.shape, dtype=bool)
    mask.ravel()[found] = True
    return mask
