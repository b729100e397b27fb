"""What a ledger keeps of a table, as text and compressed arrays."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Requirements, UnsafeSums
from diskret.keys import SecretKeys, keyed_numbers
from diskret.release.earlier import Earlier
from diskret.release.ledger.entry import Entry, TableNote
from diskret.tables import Contributions
from diskret.tables.public_files import structure
from diskret.tables.read_public import of_structure

# quick to write; slower levels make the file hardly smaller
_LEVEL = 1


@dataclass(frozen=True)
class Row:
    """A table as it lies in the database.

    Parameters
    ----------
    structure
        Its structure file, JSON.
    cells
        Published and original values, and levels.
    contributions
        Who contributes what, or None.
    """

    structure: str
    cells: bytes
    contributions: bytes | None

    def mark(self, keys: SecretKeys) -> str:
        """Keyed fingerprint of all of it."""
        contributions = b"none" if self.contributions is None else b"some" + self.contributions
        return keys.fingerprint(
            "ledger table", [self.structure.encode(), self.cells, contributions]
        )


def row_of(earlier: Earlier) -> Row:
    """A table as it is kept; units and holdings must be fingerprints already."""
    seen, needed = earlier.published, earlier.requirements
    cells: dict[str, NDArray[Any]] = {
        "value": seen.value,
        "suppressed": seen.suppressed,
        "empty": seen.empty,
        "cell": needed.cell,
        "lower_level": needed.lower,
        "upper_level": needed.upper,
        "sliding_level": needed.sliding,
    }
    if seen.lower is not None and seen.upper is not None:
        cells |= {"lower": seen.lower, "upper": seen.upper}
    if earlier.original is not None:
        cells["original"] = earlier.original
    if earlier.unsafe is not None:
        cells |= _sums_arrays(earlier.unsafe)
    who = earlier.contributions
    return Row(
        json.dumps(structure(seen), ensure_ascii=False, sort_keys=True),
        _packed({}, cells),
        None if who is None else _contributions_packed(who),
    )


def earlier_of(row: Row, entry: Entry, note: TableNote) -> Earlier:
    """The table that was kept."""
    _, cells = _unpacked(row.cells)
    published = of_structure(
        json.loads(row.structure),
        value=cells["value"],
        suppressed=cells["suppressed"],
        empty=cells["empty"],
        lower=cells.get("lower"),
        upper=cells.get("upper"),
        source=f"release {entry.release!r}",
    )
    levels = (cells[f"{side}_level"] for side in ("lower", "upper", "sliding"))
    return Earlier(
        release=entry.release,
        published=published,
        original=cells.get("original"),
        requirements=Requirements(cells["cell"], *levels),
        contributions=None if row.contributions is None else _contributions(row.contributions),
        unsafe=_sums(cells, published.value.size),
        sums=entry.sums,
        weight=note.weight,
        perturbed=bool(note.perturbed),
    )


def note_of(earlier: Earlier, row: Row, keys: SecretKeys, fingerprint: str, how: str) -> TableNote:
    """What an entry says of the table."""
    seen = earlier.published
    return TableNote(
        name=seen.name,
        measure=seen.measure,
        vintage=seen.vintage,
        where=seen.where,
        variables=tuple(dimension.name for dimension in seen.dimensions),
        cells=seen.value.size,
        suppressed=int(seen.suppressed.sum()),
        intervals=seen.lower is not None,
        weight=earlier.weight,
        perturbed=how,
        fingerprint=fingerprint,
        mark=row.mark(keys),
    )


def keyed_contributions(contributions: Contributions, keys: SecretKeys) -> Contributions:
    """The same, with a keyed fingerprint in place of each number of a unit or holding.

    So a ledger names nobody, and contributions of new tables can be compared with those it keeps:
    equal numbers get equal fingerprints, in every table and release.

    Examples
    --------
    >>> one = np.array([1], np.uint64)
    >>> mine = Contributions({"x": ("a",)}, np.zeros((1, 1), np.int32), one, None, one, {})
    >>> keyed_contributions(mine, SecretKeys(bytes(32))).unit == one
    array([False])
    """

    def keyed(numbers: NDArray[np.uint64] | None) -> NDArray[np.uint64] | None:
        return None if numbers is None else keyed_numbers(keys, "contributors", numbers)

    return replace(
        contributions, unit=keyed(contributions.unit), holding=keyed(contributions.holding)
    )


# ── arrays and bytes ────────────────────────────────────────────────────────────────


def _sums_arrays(unsafe: UnsafeSums) -> dict[str, NDArray[Any]]:
    return {
        "sum_start": unsafe.member.indptr.astype(np.int64),
        "sum_cell": unsafe.member.indices.astype(np.int64),
        "sum_lower": unsafe.lower,
        "sum_upper": unsafe.upper,
        "sum_sliding": unsafe.sliding,
    }


def _sums(arrays: Mapping[str, NDArray[Any]], cells: int) -> UnsafeSums | None:
    if "sum_start" not in arrays:
        return None
    start, cell = arrays["sum_start"], arrays["sum_cell"]
    entries = np.ones(len(cell), dtype=np.int64)
    member = sparse.csr_array((entries, cell, start), shape=(len(start) - 1, cells))
    return UnsafeSums(member, arrays["sum_lower"], arrays["sum_upper"], arrays["sum_sliding"])


def _contributions_packed(who: Contributions) -> bytes:
    arrays: dict[str, NDArray[Any]] = {"leaf": who.leaf, "records": who.records}
    arrays |= {f"value {name}": values for name, values in who.values.items()}
    if who.unit is not None:
        arrays["unit"] = who.unit
    if who.holding is not None:
        arrays["holding"] = who.holding
    arrays |= {f"mark {name}": marked for name, marked in who.marked.items()}
    return _packed({"by": {name: list(codes) for name, codes in who.by.items()}}, arrays)


def _contributions(packed: bytes) -> Contributions:
    said, arrays = _unpacked(packed)
    return Contributions(
        by={name: tuple(codes) for name, codes in said["by"].items()},
        leaf=arrays["leaf"],
        unit=arrays.get("unit"),
        holding=arrays.get("holding"),
        records=arrays["records"],
        values=_named(arrays, "value "),
        marked=_named(arrays, "mark "),
    )


def _named(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): values
        for name, values in arrays.items()
        if name.startswith(prefix)
    }


def _packed(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A line of JSON that says what follows, and the arrays, little-endian; compressed."""
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    outline = [(name, array.dtype.str, array.shape) for name, array in plain.items()]
    first = json.dumps({**said, "arrays": outline}, ensure_ascii=True).encode() + b"\n"
    return zlib.compress(b"".join([first, *(a.tobytes() for a in plain.values())]), _LEVEL)


def _unpacked(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    plain = zlib.decompress(packed)
    at = plain.index(b"\n") + 1
    said = json.loads(plain[:at])
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in said.pop("arrays"):
        dtype, size = np.dtype(kind), int(np.prod(shape))
        stored = np.frombuffer(plain, dtype, size, at).reshape(shape)
        arrays[name] = stored.astype(dtype.newbyteorder("="))
        at += size * dtype.itemsize
    return said, arrays
