"""What SAFE made: the records in a drawn order, and what the history tells."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from diskret.anonymize.combinations import Combinations
from diskret.anonymize.safe_problem import Control, deviations_by_dimension
from diskret.safe import SafeFile, SafeProblem
from diskret.safe.cells import Cells, deviations

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


def safe_records(
    file: SafeFile, found: Combinations, columns: Sequence[str], seed: int
) -> pa.Table:
    """Write each combination out as often as it occurs, in an order drawn at random.

    file: the combinations; variables in the order of `found`.
    found: what the codes mean.
    columns: names of the columns, in the order of the file.
    seed: of the order, which says nothing about any record.
    """
    rng = np.random.default_rng([seed, *b"safe"])
    rows = rng.permutation(np.repeat(np.arange(len(file.count), dtype=np.int32), file.count))
    made: dict[str, pa.ChunkedArray] = {}
    for name in columns:
        v = found.names.index(name)
        codes = pa.array(np.ascontiguousarray(file.codes[:, v])[rows])
        made[name] = pa.chunked_array([found.values[v].take(codes)])
    return pa.table(made)


def found_by_safe(
    md: Microdata,
    names: Sequence[str],
    control: Control,
    problem: SafeProblem,
    file: SafeFile,
    cells: Cells,
) -> dict[str, Any]:
    """The step's entries: records, combinations, controlled tables and their deviations."""
    counted = deviations(problem, file, cells)
    made: dict[str, Any] = {
        "records": [int(problem.count.sum()), int(file.count.sum())],
        "combinations": [len(problem.count), len(file.count)],
        "new": _new(problem, file),
        "tables": [list(table) for table in control.tables[""]],
        "deviations": deviations_by_dimension(
            problem, counted.table, counted.original, counted.protected
        ),
        "opened": int(((counted.original == 0) & (counted.protected > 0)).sum()),
        "left_out": [name for name in md.records.columns if name not in names],
        "optimal": file.optimal,
    }
    if len(control.tables) > 1:
        made["counters"] = {
            name: [list(table) for table in tables]
            for name, tables in control.tables.items()
            if name
        }
    if kept := control.wishes.kept():
        made["exact"] = kept
    if file.sweeps:
        made["sweeps"] = sum(file.sweeps)
    return made


def _new(problem: SafeProblem, file: SafeFile) -> int:
    """How many combinations came up that the original does not have."""
    if not problem.new:
        return 0
    wide = f"S{4 * len(problem.names)}"
    before, after = (
        np.ascontiguousarray(one.codes, dtype=">i4").view(wide).ravel() for one in (problem, file)
    )
    return int(np.isin(after, before, invert=True).sum())
