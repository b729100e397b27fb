"""Whether a file holds the table that a call makes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.errors import DiskretError
from diskret.io import to_arrow

_CLOSE = 1e-9  # of a number, as programs write them


def same_table(path: Path, output: Any) -> bool:
    """Whether all rows and columns of a file are those of a table of pandas.

    Names of columns are not compared. Numbers may be rounded to as many decimals as the file shows.
    """
    import pandas as pd

    try:
        shown = to_arrow(path)[0].to_pandas()
    except (DiskretError, ValueError):
        return False
    if isinstance(output, Mapping):  # a test: a row of figures
        output = pd.DataFrame([output])
    frame = output.to_frame() if isinstance(output, pd.Series) else pd.DataFrame(output)
    plain = isinstance(frame.index, pd.RangeIndex)
    table = frame if plain else frame.reset_index()
    if shown.shape != table.shape:
        return False
    made = table.astype(object).where(table.notna().to_numpy(), None)
    rows = zip(shown.to_numpy(object).flat, made.to_numpy(object).flat, strict=True)
    return all(_same(own, other) for own, other in rows)


def _same(shown: Any, made: Any) -> bool:
    if shown is None or shown != shown:
        return made is None or made != made or made == ""
    try:
        number, own = float(shown), float(made)
    except (TypeError, ValueError):
        return str(shown) == str(made)
    text = str(shown).strip().lower()
    digits = 0 if "e" in text else len(text.partition(".")[2])
    return abs(number - own) <= max(_CLOSE * abs(own), 0.5 * 10.0**-digits + _CLOSE)
