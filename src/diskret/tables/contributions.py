"""Who contributes to a table, one by one: what sums of cells have to be judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions to a table, a row for each contributor and leaf combination. Confidential.

    Leaf combinations are those the records were tabulated by, before any recoding; so a
    combined code, or a part of one, is a set of them. A unit with records in several leaf
    combinations has several rows.

    Parameters
    ----------
    by
        Variable → its leaf codes.
    leaf
        Position of each row's code in `by`, ``(rows, len(by))``, int32.
    unit, holding
        Who it is, ``(rows,)``, uint64: the same number is the same unit (or holding), also in
        other tables; None if the table does not know its units (or holdings).
    records
        Number of records, ``(rows,)``, int64.
    values
        Measure → exact scaled sum, ``(rows,)``, int64.
    marked
        Mark → number of marked records, ``(rows,)``, int64; see `Table.marked`.
    """

    by: Mapping[str, tuple[str, ...]]
    leaf: NDArray[np.int32]
    unit: NDArray[np.uint64] | None
    holding: NDArray[np.uint64] | None
    records: NDArray[np.int64]
    values: Mapping[str, NDArray[np.int64]]
    marked: Mapping[str, NDArray[np.int64]] = field(default_factory=dict[str, NDArray[np.int64]])
