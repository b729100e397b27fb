"""What the office keeps of tables to prove them again: fingerprints, unsafe sums, contributors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import (
    Attacker,
    Examination,
    Insiders,
    InsidersWithstood,
    UnsafeSums,
    revealed_sums,
    unknown_cells,
    withstand_insiders,
)
from diskret.attack.exact import LIMIT
from diskret.errors import VerificationError
from diskret.io.arrays import Wanted, checked, checked_csr, read_arrays
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys
from diskret.publish.json_files import write_json
from diskret.tables import Publication, Published, Table
from diskret.tables.public_files import structure

_SUMS = ".sums.json"
_LEVELS = ("lower", "upper", "sliding")
_SUMS_CONTENT = {
    "variables": [str],
    "judged": int,
    "unsafe": [{"cells": [[str]], **dict.fromkeys(_LEVELS, int)}],
    "fingerprint": str,
}

_INSIDERS = ".insiders.npz"
_MOST_TOGETHER = 1000


def fingerprint(keys: SecretKeys, published: Published, table: Table) -> str:
    """The keyed fingerprint of a table's structure, counts and original values."""
    return fingerprint_values(keys, published, table.count, table.measure.sum)


def fingerprint_values(
    keys: SecretKeys,
    published: Published,
    count: NDArray[np.int64] | None,
    value: NDArray[np.int64],
) -> str:
    """The same from arrays, as they are read back from the office's files."""
    shape = json.dumps(structure(published), sort_keys=True, ensure_ascii=True).encode()
    counts = b"" if count is None else np.ascontiguousarray(count, dtype="<i8").tobytes()
    values = np.ascontiguousarray(value, dtype="<i8").tobytes()
    return keys.fingerprint("table", [shape, counts, values])


# ── sums of suppressed cells that a rule finds unsafe ────────────────────────────────


def write_sums(published: Published, unsafe: UnsafeSums, folder: Path, keys: SecretKeys) -> None:
    """Write ``NAME.sums.json``: each unsafe sum with its cells and levels. Confidential.

    Columns of `unsafe` are the table's own cells, its levels in units of the last decimal.
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
    mark = _sums_mark(published, content, keys)
    write_json({**content, "fingerprint": mark}, folder / f"{published.name}{_SUMS}")


def read_sums(published: Published, folder: Path, keys: SecretKeys | None) -> UnsafeSums:
    """The same from the file, if it belongs to this table and its sums are those it reveals."""
    name = published.name
    path = folder / f"{name}{_SUMS}"
    try:
        content = read_json(path, VerificationError)
        check_form(content, _SUMS_CONTENT, str(path), VerificationError)
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
    if keys is not None and mark != _sums_mark(published, content, keys):
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


def _sums_mark(published: Published, content: Mapping[str, Any], keys: SecretKeys) -> str:
    parts = [structure(published), content]
    texts = [json.dumps(part, sort_keys=True, ensure_ascii=True).encode() for part in parts]
    return keys.fingerprint("sums", texts)


# ── contributors: what each has in hidden cells, and what others are owed ────────────


def write_insiders(
    publication: Publication,
    examination: Examination,
    attacker: Attacker,
    withstood: InsidersWithstood,
    original: NDArray[np.int64],
    folder: Path,
    keys: SecretKeys,
) -> None:
    """Write ``NAME.insiders.npz`` for tables that were attacked together. Confidential.

    Contributors have no names there, only numbers that count from 0.
    """
    insiders = withstood.insiders
    _, found = withstand_insiders(publication, examination, attacker, insiders, original)
    targets = np.arange(insiders.target.shape[0])
    nobody = np.full((len(targets), 1), -1)
    base = insiders.level(targets, nobody)
    pool = max(1, insiders.coalition)
    who = np.array([(*w, *(-1,) * (pool - len(w)), t) for w, t in sorted(found.looked) if w])
    who = who.reshape(-1, pool + 1).astype(np.int64)
    lower, upper = insiders.level(who[:, -1], who[:, :-1]) if len(who) else (who[:, 0],) * 2
    cell, _ = unknown_cells(publication)
    truth = np.where(cell < len(original), original[np.minimum(cell, len(original) - 1)], 0)
    arrays: dict[str, NDArray[Any]] = {
        "truth": truth, "number": insiders.number, "bounded": insiders.bounded,
        "coalition": np.array(insiders.coalition),
        "most_lower": insiders.most[0], "most_upper": insiders.most[1],
        "base_lower": base[0], "base_upper": base[1],
        "who": who, "lower": lower, "upper": upper,
        **_arrays("own", insiders.own), **_arrays("target", insiders.target),
    }  # fmt: skip
    mark = np.frombuffer(bytes.fromhex(_insiders_mark(publication, arrays, keys)), dtype=np.uint8)
    name = publication.tables[0].name
    everything: dict[str, Any] = {"mark": mark, **arrays}
    np.savez_compressed(folder / f"{name}{_INSIDERS}", **everything)


def read_insiders(
    publication: Publication, folder: Path, keys: SecretKeys | None
) -> tuple[Insiders, NDArray[np.int64]]:
    """The same from the file, if it belongs to these tables; original values of unknown cells."""
    path = folder / f"{publication.tables[0].name}{_INSIDERS}"
    arrays = read_arrays(path, VerificationError)
    mark = arrays.pop("mark", np.zeros(0, np.uint8)).tobytes().hex()
    if keys is not None and mark != _insiders_mark(publication, arrays, keys):
        raise VerificationError(
            f"{path}: the list of contributors was changed, belongs to other tables, or this "
            "is not the key that it was written with"
        )

    def of(name: str, *wanted: Any) -> NDArray[Any]:
        return checked(arrays, name, Wanted(*wanted), str(path), VerificationError)

    cells = len(unknown_cells(publication)[0])
    own, target = (_matrix(name, cells, arrays, str(path)) for name in ("own", "target"))
    people, targets = own.shape[0], target.shape[0]
    for name in ("base_lower", "base_upper", "most_lower", "most_upper"):
        of(name, "i", (targets,))
    pool = int(of("coalition", "i", (), 0, _MOST_TOGETHER))
    who = of("who", "i", (None, max(1, pool) + 1), -1)
    if len(who) and (who[:, -1].max() >= targets or who[:, :-1].max() >= people):
        raise VerificationError(f"{path} is damaged: 'who' names nobody of its own")
    for side in ("lower", "upper"):
        most = arrays[f"most_{side}"]
        own_levels = of(side, "i", (len(who),), 0)
        base = of(f"base_{side}", "i", (targets,), 0)
        if (base > most).any() or (own_levels > most[who[:, -1]]).any():
            raise VerificationError(f"{path} is damaged: somebody is owed more than anybody is")
    insiders = Insiders(
        own,
        of("number", "i", (cells,), -1),
        pool,
        target,
        (arrays["most_lower"], arrays["most_upper"]),
        _level(arrays, own, target),
        of("bounded", "b", (cells,)),
    )
    return insiders, of("truth", "i", (cells,))


def _level(arrays: dict[str, NDArray[Any]], own: sparse.csr_array, target: sparse.csr_array):
    """What the file says that is owed; who has nothing in a target is owed what everybody is."""
    kept = {
        tuple(row): levels
        for row, levels in zip(
            arrays["who"].tolist(), zip(arrays["lower"], arrays["upper"], strict=True), strict=True
        )
    }
    there = abs(own).astype(bool).astype(np.int64)
    there.data[:] = 1
    inside = sparse.csr_array(there @ abs(target).T)
    members = [set(inside.indices[a:b].tolist()) for a, b in zip(inside.indptr, inside.indptr[1:],
                                                                 strict=False)]  # fmt: skip
    base = arrays["base_lower"], arrays["base_upper"]
    most = arrays["most_lower"], arrays["most_upper"]

    def level(at: NDArray[np.int64], who: NDArray[np.int64]):
        found = np.zeros((2, len(at)), dtype=np.int64)
        for i, (t, row) in enumerate(zip(at.tolist(), who.tolist(), strict=True)):
            used = [one for one in row if one >= 0]
            room = arrays["who"].shape[1] - 1
            key = (*used, *(-1,) * (room - len(used)), t)
            if key in kept:
                found[:, i] = kept[key]
            elif not any(t in members[one] for one in used):
                found[:, i] = base[0][t], base[1][t]
            else:
                found[:, i] = most[0][t], most[1][t]
        return found[0], found[1]

    return level


def _arrays(name: str, matrix: sparse.csr_array) -> dict[str, NDArray[Any]]:
    matrix = matrix.copy()
    matrix.sum_duplicates()  # each entry once and in order, as readers expect
    return {
        f"{name}_data": matrix.data.astype(np.int64),
        f"{name}_indices": matrix.indices.astype(np.int64),
        f"{name}_indptr": matrix.indptr.astype(np.int64),
    }


def _matrix(
    name: str, cells: int, arrays: dict[str, NDArray[Any]], source: str
) -> sparse.csr_array:
    names = f"{name}_data", f"{name}_indices", f"{name}_indptr"
    starts = checked(arrays, names[2], Wanted("i", (None,)), source, VerificationError)
    shape = max(len(starts) - 1, 0), cells
    return checked_csr(arrays, names, shape, LIMIT, source, VerificationError)


def _insiders_mark(
    publication: Publication, arrays: dict[str, NDArray[Any]], keys: SecretKeys
) -> str:
    # an earlier table is called by its release, too, which is no name of a file
    tables = [replace(t, name=t.name.rpartition("/")[2]) for t in publication.tables]
    shapes = [json.dumps(structure(t), sort_keys=True).encode() for t in tables]
    content = [
        f"{name} {array.dtype.str} {array.shape} ".encode() + np.ascontiguousarray(array).tobytes()
        for name, array in sorted(arrays.items())
    ]
    return keys.fingerprint("insiders", [*shapes, *content])
