"""The office's file of the sums of suppressed cells that a rule finds unsafe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import UnsafeSums, revealed_sums
from diskret.errors import VerificationError
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys
from diskret.publish.json_files import write_json
from diskret.tables import Published
from diskret.tables.public_files import structure

_SUFFIX = ".sums.json"
_LEVELS = ("lower", "upper", "sliding")
_FORM = {
    "variables": [str],
    "judged": int,
    "unsafe": [{"cells": [[str]], **dict.fromkeys(_LEVELS, int)}],
    "fingerprint": str,
}


def write_sums(published: Published, unsafe: UnsafeSums, folder: Path, keys: SecretKeys) -> None:
    """Write ``NAME.sums.json``: each unsafe sum with its cells and levels. Confidential.

    Parameters
    ----------
    published
        The table.
    unsafe
        Its unsafe sums; columns are its own cells. Levels are in units of the last decimal.
    folder
        Where to write.
    keys
        For a mark by which the office knows its own file again.
    """
    codes = [np.array(d.hierarchy.codes, dtype=object) for d in published.dimensions]
    rows: list[dict[str, Any]] = []
    levels = zip(*(getattr(unsafe, level).tolist() for level in _LEVELS), strict=True)
    for row, own in enumerate(levels):
        start, stop = unsafe.member.indptr[row : row + 2].tolist()
        at = np.unravel_index(np.sort(unsafe.member.indices[start:stop]), published.shape)
        cells = zip(*(code[i].tolist() for code, i in zip(codes, at, strict=True)), strict=True)
        rows.append({"cells": list(map(list, cells)), **dict(zip(_LEVELS, own, strict=True))})
    content = {
        "variables": [d.name for d in published.dimensions],
        "judged": len(revealed_sums(published)),
        "unsafe": rows,
    }
    mark = _mark(published, content, keys)
    write_json({**content, "fingerprint": mark}, folder / f"{published.name}{_SUFFIX}")


def read_sums(published: Published, folder: Path, keys: SecretKeys | None) -> UnsafeSums:
    """The same from the file, if it belongs to the published table.

    Raises
    ------
    VerificationError
        The file is missing or was changed, or lists what is no sum that the table reveals.
    """
    name = published.name
    path = folder / f"{name}{_SUFFIX}"
    try:
        content = read_json(path, VerificationError)
        check_form(content, _FORM, str(path), VerificationError)
        mark = content.pop("fingerprint")
        listed, judged = content["unsafe"], content["judged"]
        member = _members(published, [row["cells"] for row in listed])
        levels = [np.array([int(row[of]) for row in listed], dtype=np.int64) for of in _LEVELS]
    except (ValueError, KeyError, IndexError, OverflowError) as error:
        raise VerificationError(f"{path} cannot be read: {error!r}") from None
    revealed = _sets(revealed_sums(published).member)
    foreign = [row for row, cells in enumerate(_sets(member)) if cells not in set(revealed)]
    if foreign or judged != len(revealed):
        raise VerificationError(
            f"{name}: the sums of suppressed cells that were judged are not those that the "
            f"published table reveals ({len(foreign):,} of those listed are none of its)"
        )
    if keys is not None and mark != _mark(published, content, keys):
        raise VerificationError(
            f"{name}: the list of unsafe sums of cells was changed, or this is not the key that it "
            "was written with"
        )
    return UnsafeSums(member, *levels, judged=judged)


def _members(published: Published, sums: Sequence[Sequence[Sequence[str]]]) -> sparse.csr_array:
    """A row for each sum, a column for each cell of the table."""
    position = [d.hierarchy.position for d in published.dimensions]
    at = [
        [codes[code] for cells in sums for cell in cells for code in [cell[axis]]]
        for axis, codes in enumerate(position)
    ]
    column = np.ravel_multi_index(
        tuple(np.array(codes, dtype=np.int64) for codes in at), published.shape
    )
    start = np.cumsum([0, *map(len, sums)])
    shape = (len(sums), published.value.size)
    return sparse.csr_array((np.ones(len(column), np.int64), column, start), shape=shape)


def _sets(member: sparse.csr_array) -> list[frozenset[int]]:
    """The cells of each sum."""
    ends: NDArray[np.int64] = member.indptr[1:-1]
    return [frozenset(cells.tolist()) for cells in np.split(member.indices, ends)][
        : member.shape[0]
    ]


def _mark(published: Published, content: Mapping[str, Any], keys: SecretKeys) -> str:
    parts = [structure(published), content]
    texts = [json.dumps(part, sort_keys=True, ensure_ascii=True).encode() for part in parts]
    return keys.fingerprint("sums", texts)
