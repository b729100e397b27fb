"""The content of columns as bytes, for keyed marks and secret draws that repeat exactly."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def content(table: pa.Table) -> Iterator[bytes]:
    """Names, and values as text with their lengths and gaps; the same for any way of storage."""
    for name in table.column_names:
        text = table.column(name).cast(pa.large_string()).combine_chunks()
        if isinstance(text, pa.ChunkedArray):  # what combining gives depends on the release
            text = pa.concat_arrays(text.chunks) if text.num_chunks else pa.array([], text.type)
        yield name.encode()
        yield np.packbits(text.is_null().to_numpy(zero_copy_only=False)).tobytes()
        filled = pc.fill_null(text, "")
        yield pc.binary_length(filled).to_numpy().astype("<i8").tobytes()
        yield _letters(filled)


def _letters(text: pa.LargeStringArray) -> bytes:
    _, edges, letters = text.buffers()
    if letters is None or not len(text):
        return b""
    at = np.frombuffer(edges, dtype="<i8")[text.offset : text.offset + len(text) + 1]
    return memoryview(letters)[at[0] : at[-1]].tobytes()
