"""The records of a safe file, in a drawn order."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from diskret.anonymize.combinations import Combinations
from diskret.safe import SafeFile


def safe_records(
    file: SafeFile, found: Combinations, columns: Sequence[str], seed: int
) -> pa.Table:
    """Write each combination out as often as it occurs, in an order drawn at random.

    Parameters
    ----------
    file
        The combinations; variables in the order of `found`.
    found
        What the codes mean.
    columns
        Names of the columns, in the order of the file.
    seed
        Of the order, which says nothing about any record.
    """
    rng = np.random.default_rng([seed, *b"safe"])
    rows = rng.permutation(np.repeat(np.arange(len(file.count), dtype=np.int32), file.count))
    made: dict[str, pa.ChunkedArray] = {}
    for name in columns:
        v = found.names.index(name)
        codes = pa.array(np.ascontiguousarray(file.codes[:, v])[rows])
        made[name] = pa.chunked_array([found.values[v].take(codes)])
    return pa.table(made)
