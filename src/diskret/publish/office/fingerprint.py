"""Keyed marks of original tables and records, which only the office can recompute."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.io.columns import content
from diskret.keys import SecretKeys
from diskret.tables import Published, Table
from diskret.tables.public_files import structure


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


def record_marks(
    keys: SecretKeys, original: pa.Table | None, records: pa.Table, kept: Iterable[bytes]
) -> dict[str, str]:
    """Keyed fingerprints of the original file, and of what left with what the office keeps."""
    released = keys.fingerprint("released records", [*content(records), *kept])
    if original is None:
        return {"released": released}
    return {"records": keys.fingerprint("records", content(original)), "released": released}
