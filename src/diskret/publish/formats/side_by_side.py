"""Files of derived figures, and of several tables side by side."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from diskret.publish.formats.csv import write_columns_csv
from diskret.publish.formats.parquet import write_columns_parquet
from diskret.publish.formats.xlsx.columns import write_columns_xlsx
from diskret.tables import Derived, SideBySide
from diskret.tables.side_by_side import (
    decimals_of,
    derived_text,
    exact_columns,
    side_by_side_text,
)


def write_columns(
    shown: Derived | SideBySide,
    folder: Path,
    formats: Collection[str],
    language: str = "en",
    neutralise: bool = False,
) -> list[str]:
    """Write ``<name>.csv``, and other formats if asked for.

    Parameters
    ----------
    shown
        A derived figure, or tables side by side.
    folder
        The public folder.
    formats
        ``"parquet"`` and ``"xlsx"`` add a file each.
    language
        Of the workbook.
    neutralise
        As of `diskret.publish.formats.csv.write_csv`.

    Returns
    -------
    list of str
        The names of the files.

    Raises
    ------
    InputError
        A workbook would be too large.
    """
    text = derived_text(shown) if isinstance(shown, Derived) else side_by_side_text(shown)
    decimals = decimals_of(shown)
    names = [f"{shown.name}.csv"]
    write_columns_csv(text, folder / names[0], neutralise)
    if "parquet" in formats:
        names.append(f"{shown.name}.parquet")
        write_columns_parquet(exact_columns(text, decimals), folder / names[-1])
    if "xlsx" in formats:
        names.append(f"{shown.name}.xlsx")
        exact = exact_columns(text, decimals)
        write_columns_xlsx(exact, decimals, folder / names[-1], language)
    return names
