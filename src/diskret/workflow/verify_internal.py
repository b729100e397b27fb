"""The office's part of verification: requirements, witnesses, fingerprints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray
from scipy import sparse

from diskret.attack import Requirements, recheck, targets_of, unmet
from diskret.attack.examine import Examination
from diskret.errors import VerificationError
from diskret.io.columns import column, scaled_integers
from diskret.keys import SecretKeys
from diskret.tables import Published
from diskret.tables.from_cells import locate
from diskret.workflow.fingerprint import fingerprint_values


def verify_internal(
    folder: Path, published: Published, certificate: dict[str, Any], keys: SecretKeys
) -> str:
    """Check the office's files of one table against its public files.

    Returns
    -------
    str
        What was confirmed, in one sentence.

    Raises
    ------
    VerificationError
        Something does not agree; says what.
    """
    name = published.name
    cells = _read_cells(folder / f"{name}.cells.csv")
    at = locate(cells, {d.name: d.hierarchy for d in published.dimensions})[1]
    if len(at) != published.value.size:
        raise VerificationError(f"{name}: the internal table does not hold every cell")

    def dense(values: NDArray[Any]) -> NDArray[Any]:
        out = np.empty_like(values)
        out[at] = values
        return out

    def numbers(of: str, decimals: int = published.decimals) -> NDArray[np.int64]:
        return dense(scaled_integers(column(cells, of), of, decimals))

    value = numbers(published.measure)
    status = dense(np.asarray(column(cells, "status").to_pylist(), dtype=object))
    _check_status(published, value, status)
    primary = np.flatnonzero(status == "primary")
    requirements = Requirements(
        cell=primary,
        lower=numbers("lower_level")[primary],
        upper=numbers("upper_level")[primary],
        sliding=numbers("sliding_level")[primary],
    )
    examination = _read_witnesses(folder / f"{name}.witnesses.npz")
    if not np.array_equal(examination.cell, np.flatnonzero(published.suppressed)):
        raise VerificationError(f"{name}: the witnesses belong to another table")
    recheck(published, examination)
    missed = unmet(examination, targets_of(published, value, requirements))
    if missed.any():
        raise VerificationError(
            f"{name}: the witnesses do not prove the requirements of {int(missed.sum()):,} cells"
        )
    count = numbers("count", 0) if "count" in cells.column_names else None
    mark = fingerprint_values(keys, published, count, value)
    if mark != certificate.get("inputs", {}).get("table"):
        raise VerificationError(
            f"{name}: the internal table is not the one that was released, or this is not the "
            "key it was released with"
        )
    return (
        f"{name}: requirements of {len(primary):,} primary cells proven again by "
        f"{len(examination.denominator):,} witnesses; input fingerprint confirmed"
    )


def _check_status(
    published: Published, value: NDArray[np.int64], status: NDArray[np.object_]
) -> None:
    hidden = np.isin(status, ["primary", "secondary"])
    if not np.array_equal(hidden, published.suppressed.ravel()):
        raise VerificationError(f"{published.name}: public and internal status differ")
    shown = ~hidden
    if not np.array_equal(value[shown], published.value.ravel()[shown]):
        raise VerificationError(f"{published.name}: public and internal values differ")


def _read_cells(path: Path) -> pa.Table:
    try:
        head = path.open(encoding="utf-8").readline()
        names = pa_csv.read_csv(pa.BufferReader(head.encode())).column_names
        as_text = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        )
        return pa_csv.read_csv(path, convert_options=as_text)
    except (OSError, pa.ArrowInvalid) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None


def _read_witnesses(path: Path) -> Examination:
    """The witnesses alone; intervals stay open, so that nothing but witnesses can prove."""
    try:
        with np.load(path, allow_pickle=False) as file:
            cell, denominator = file["cell"], file["denominator"]
            shape = (len(denominator), len(cell))
            witnesses = sparse.csr_array((file["data"], file["indices"], file["indptr"]), shape)
    except (OSError, ValueError, KeyError) as error:
        raise VerificationError(f"{path} cannot be read: {error}") from None
    return Examination.of_witnesses(cell, witnesses, denominator)
