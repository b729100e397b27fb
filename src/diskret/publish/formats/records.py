"""Files of records: the columns as they are, nothing else, always the same bytes."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pyarrow as pa

from diskret.publish.formats.csv import write_records_csv
from diskret.publish.formats.parquet import write_columns_parquet


def write_records(
    records: pa.Table,
    folder: Path,
    name: str,
    formats: Collection[str],
    neutralise: bool = False,
) -> list[str]:
    """Write records as CSV, Parquet or both.

    Parameters
    ----------
    records
        Columns of text, numbers, logical values or dates. In CSV, null is an empty field and an
        empty text is ``""``.
    folder
        Where to.
    name
        Beginning of the names of the files.
    formats
        ``"csv"`` and ``"parquet"`` are looked at.
    neutralise
        As of `diskret.publish.formats.csv.write_csv`.

    Returns
    -------
    list of str
        The names of the files.
    """
    written: list[str] = []
    if "csv" in formats:
        write_records_csv(records, folder / f"{name}.csv", neutralise)
        written.append(f"{name}.csv")
    if "parquet" in formats:
        write_columns_parquet(records, folder / f"{name}.parquet")
        written.append(f"{name}.parquet")
    return written
