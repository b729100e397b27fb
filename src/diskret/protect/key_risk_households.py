"""Risk of households whose records stay in files: one suffices, by whom the household is found."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import parquet

from diskret.engines import KeyCounts, KeyQuestion
from diskret.engines.key_counts import WEIGHT_DECIMALS
from diskret.io import source
from diskret.risk.keys import total

#: Logarithms are added up exactly, as weights are; with this factor in steps of 10**-13.
_FINER = 1e4
#: What stands for the logarithm of somebody who is recognised for sure: 1 - exp(-40) is 1.
_SURE = 40.0


@dataclass(frozen=True)
class HouseholdFigures:
    """Risk of the households of a file. Confidential.

    Parameters
    ----------
    households
        Their number; a record without a household is one of its own.
    expected
        Expected number of households in which somebody is recognised: the sum of
        ``1 - Π (1 - r)`` over the members of each.
    expected_persons
        Expected number of persons who are recognised, alone or through their household.
    largest
        The largest risk of a household.
    """

    households: int
    expected: float
    expected_persons: float
    largest: float


class _Engine(Protocol):
    def frequencies(self, question: KeyQuestion) -> KeyCounts: ...


class _Opening(Protocol):
    def __call__(self, source: Any, /) -> AbstractContextManager[_Engine]: ...


def household_figures(
    blocks: Iterator[tuple[pa.Array, NDArray[np.float64]]], opening: _Opening
) -> HouseholdFigures:
    """Put the risks of records together by household.

    Members are recognised independently of each other. The logarithms of what is left lie in a
    private file until all are there; then they are added up by household, exactly.

    `blocks`: households of records, null where there is none, and their risks. `opening`: opens an
    engine on that file.
    """
    number, alone, largest = 0, [0.0], 0.0
    with tempfile.TemporaryDirectory(prefix="diskret-") as folder:
        path = Path(folder) / "households.parquet"
        writer: Any = None
        try:
            for household, risk in blocks:
                there = household.is_valid().to_numpy(zero_copy_only=False)
                lonely = risk[~there]
                number += len(lonely)
                alone.append(total(lonely))
                largest = max(largest, float(lonely.max(initial=0.0)))
                with np.errstate(divide="ignore"):
                    lost = np.minimum(-np.log1p(-risk[there]), _SURE) * _FINER
                table = pa.table({"household": household.filter(pa.array(there)), "left": lost})
                writer = writer or parquet.ParquetWriter(path, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        if writer is None or not parquet.read_metadata(path).num_rows:
            return HouseholdFigures(number, fsum(alone), fsum(alone), largest)
        with opening(source(path)) as engine:
            found = engine.frequencies(KeyQuestion(("household",), "left"))
    left = np.zeros(0, np.int64) if found.weight is None else found.weight
    joint = -np.expm1(-left / (10.0**WEIGHT_DECIMALS * _FINER))
    return HouseholdFigures(
        number + len(found),
        total(joint) + fsum(alone),
        total(joint * found.records.astype(np.float64)) + fsum(alone),
        max(largest, float(joint.max())),
    )


def given(household: pa.Array) -> pa.Array:
    """The households of records, null where there is none: NaN is none, too."""
    if pa.types.is_floating(household.type):
        return pc.if_else(pc.is_nan(household), None, household)
    return household
