"""What a ledger keeps of a table, as text and compressed arrays."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.attack import Requirements, UnsafeSums
from diskret.errors import InputError, VerificationError
from diskret.io.arrays import Wanted, checked, checked_csr
from diskret.io.from_json import anything, check_form, parse_json
from diskret.keys import SecretKeys, keyed_numbers
from diskret.publish.store.entry import Entry, TableNote
from diskret.tables import NO_BOUND, Contributions, Published
from diskret.tables.public_files import structure
from diskret.tables.published import Changed
from diskret.tables.read_public import of_structure
from diskret.tables.requirements import Earlier

#: What arrays a ledger keeps: whole and other numbers, truth values.
_TYPES = ("<i8", "<i4", "<u8", "<u4", "<f8", "|b1", "|u1")
_PACKED = {
    "arrays": anything,
    "by": {"*": [str]},
    "changed": str,
    "rounding": int,
    "told": bool,
}
# quick to write; slower levels make the file hardly smaller
_LEVEL = 1


@dataclass(frozen=True)
class Row:
    """A table as it lies in the database.

    `structure` is its structure file, JSON; `cells` hold published and original values, and levels;
    `contributions` who contributes what, if that is known.
    """

    structure: str
    cells: bytes
    contributions: bytes | None

    @property
    def readable(self) -> bool:
        """Whether the database holds text and bytes where it should."""
        parts = isinstance(self.structure, str), isinstance(self.cells, bytes)
        return all(parts) and isinstance(self.contributions, (bytes, type(None)))

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
    said: dict[str, Any] = {}
    if seen.of_changed is not None:
        shown = seen.of_changed.shown
        said = {"changed": shown.changed, "rounding": shown.rounding, "told": seen.of_changed.told}
        cells |= {"shown": earlier.shown, "shown_empty": shown.empty}
    if earlier.original is not None:
        cells["original"] = earlier.original
    if earlier.unsafe is not None:
        cells |= _sums_arrays(earlier.unsafe)
    who = earlier.contributions
    return Row(
        json.dumps(structure(seen), ensure_ascii=False, sort_keys=True),
        packed(said, cells),
        None if who is None else _contributions_packed(who),
    )


def earlier_of(row: Row, entry: Entry, note: TableNote) -> Earlier:
    """The table that was kept; nothing of it is used before type, shape and range were checked."""
    source = f"table {note.name!r} of {entry.title}"
    try:
        return _earlier(row, entry, note, source)
    except (InputError, ValueError, KeyError, zlib.error) as error:
        raise VerificationError(f"the ledger is damaged: {source}: {error}") from None


def _earlier(row: Row, entry: Entry, note: TableNote, source: str) -> Earlier:
    said, cells = unpacked(row.cells)
    content = parse_json(row.structure, source)
    shape = tuple(len(one["codes"]) for one in content["dimensions"])
    size = math.prod(shape)

    def of(name: str, kind: str = "i") -> NDArray[Any]:
        return checked(cells, name, Wanted(kind, shape), source)

    bounds = {side: of(side) if side in cells else None for side in ("lower", "upper")}
    at = checked(cells, "cell", Wanted("i", (None,), 0, size - 1, ascending=True), source)
    levels = (
        checked(cells, f"{side}_level", Wanted("i", at.shape), source)
        for side in ("lower", "upper", "sliding")
    )
    published = of_structure(
        Published,
        content,
        value=of("value"),
        suppressed=of("suppressed", "b"),
        empty=of("empty", "b"),
        source=f"release {entry.release!r}",
        **bounds,
    )
    if note.perturbed:
        # ledgers of before version 0.1 do not keep all of it
        values = of("shown") if "shown" in cells else np.full(shape, NO_BOUND)
        known = values < NO_BOUND
        shown = replace(
            published,
            value=np.where(known, values, 0),
            suppressed=~known,
            empty=of("shown_empty", "b") if "shown_empty" in cells else published.empty,
            rounding=said.get("rounding", published.rounding),
            changed=said.get("changed", ""),
            lower=None,
            upper=None,
        )
        published = replace(published, of_changed=Changed(shown, said.get("told", False)))
    return Earlier(
        release=entry.release,
        published=published,
        original=of("original") if "original" in cells else None,
        requirements=Requirements(at, *levels),
        contributions=None
        if row.contributions is None
        else _contributions(row.contributions, source),
        unsafe=_sums(cells, size, source),
        sums=entry.sums,
        weight=note.weight,
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
    """

    def keyed(numbers: NDArray[np.uint64] | None) -> NDArray[np.uint64] | None:
        return None if numbers is None else keyed_numbers(keys, "contributors", numbers)

    return replace(
        contributions, unit=keyed(contributions.unit), holding=keyed(contributions.holding)
    )


# ── arrays and bytes ────────────────────────────────────────────────────────────────


def _sums_arrays(unsafe: UnsafeSums) -> dict[str, NDArray[Any]]:
    member = unsafe.member.copy()
    member.sum_duplicates()  # each entry once and in order, as readers expect
    return {
        "sum_start": member.indptr.astype(np.int64),
        "sum_cell": member.indices.astype(np.int64),
        "sum_lower": unsafe.lower,
        "sum_upper": unsafe.upper,
        "sum_sliding": unsafe.sliding,
    }


def _sums(arrays: Mapping[str, NDArray[Any]], cells: int, source: str) -> UnsafeSums | None:
    if "sum_start" not in arrays or "sum_cell" not in arrays:
        return None
    ones = {"sum_one": np.ones(len(arrays["sum_cell"]), dtype=np.int64)}
    rows = len(checked(arrays, "sum_start", Wanted("i", (None,)), source)) - 1
    names = ("sum_one", "sum_cell", "sum_start")
    member = checked_csr({**arrays, **ones}, names, (rows, cells), 2, source)
    lower, upper, sliding = (
        checked(arrays, f"sum_{side}", Wanted("i", (rows,)), source)
        for side in ("lower", "upper", "sliding")
    )
    return UnsafeSums(member, lower, upper, sliding)


def _contributions_packed(who: Contributions) -> bytes:
    arrays: dict[str, NDArray[Any]] = {"leaf": who.leaf, "records": who.records}
    arrays |= {f"value {name}": values for name, values in who.values.items()}
    if who.unit is not None:
        arrays["unit"] = who.unit
    if who.holding is not None:
        arrays["holding"] = who.holding
    arrays |= {f"mark {name}": marked for name, marked in who.marked.items()}
    return packed({"by": {name: list(codes) for name, codes in who.by.items()}}, arrays)


def _contributions(packed: bytes, source: str) -> Contributions:
    said, arrays = unpacked(packed)
    by = {name: tuple(codes) for name, codes in said["by"].items()}
    leaf = checked(arrays, "leaf", Wanted("i", (None, len(by)), -1), source)
    if len(leaf) and any(leaf.max(axis=0) >= [len(codes) for codes in by.values()]):
        raise ValueError("a contribution lies in no leaf combination")
    rows = Wanted("iu", (len(leaf),))

    def who(name: str) -> NDArray[Any] | None:
        return checked(arrays, name, replace(rows, kind="u"), source) if name in arrays else None

    def named(prefix: str) -> dict[str, NDArray[Any]]:
        names = [name for name in arrays if name.startswith(prefix)]
        return {n.removeprefix(prefix): checked(arrays, n, rows, source) for n in names}

    return Contributions(
        by=by,
        leaf=leaf,
        unit=who("unit"),
        holding=who("holding"),
        records=checked(arrays, "records", rows, source),
        values=named("value "),
        marked=named("mark "),
    )


def packed(said: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A line of JSON that says what follows, and the arrays, little-endian; compressed."""
    plain = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        for name, array in arrays.items()
    }
    outline = [(name, array.dtype.str, array.shape) for name, array in plain.items()]
    first = json.dumps({**said, "arrays": outline}, ensure_ascii=True).encode() + b"\n"
    return zlib.compress(b"".join([first, *(a.tobytes() for a in plain.values())]), _LEVEL)


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What was packed; a `ValueError` if it was not packed by `packed`."""
    plain = zlib.decompress(content)
    at = plain.index(b"\n") + 1
    said = parse_json(plain[:at].decode(), "what a ledger keeps of a table")
    check_form(said, _PACKED, "what a ledger keeps of a table")
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in said.pop("arrays"):
        if kind not in _TYPES or min(shape, default=0) < 0:
            raise ValueError(f"{name!r} has the type {kind!r} and the shape {shape}")
        dtype, size = np.dtype(kind), math.prod(shape)
        stored = np.frombuffer(plain, dtype, size, at).reshape(shape)
        arrays[name] = stored.astype(dtype.newbyteorder("="))
        at += size * dtype.itemsize
    return said, arrays
