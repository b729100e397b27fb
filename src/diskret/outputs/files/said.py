"""What is said of result files: their counts, or the call and the records that made them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.frames import from_arrow
from diskret.io.key_lines import key_lines
from diskret.outputs.checked import Checked
from diskret.outputs.figures import boxplot, chart, histogram
from diskret.outputs.files.tables import Said
from diskret.outputs.grouped import describe, groupby, quantile
from diskret.outputs.pivot import pivot_table
from diskret.outputs.profile import Profile
from diskret.outputs.shares import concentration, mode, ratio

#: What lies beside results and says what they are.
NAME = "results.toml"
#: Calls whose first argument are the records.
_CALLS = {
    one.__name__: one
    for one in (
        boxplot, chart, concentration, describe, groupby, histogram, mode, pivot_table, quantile,
        ratio,
    )
}  # fmt: skip
_KEYS = ("counts", "labels", "call", "records", "arguments", "unit")


@dataclass(frozen=True)
class About:
    """What is said of one file.

    Parameters
    ----------
    table
        Which columns hold counts or categories.
    call
        The function of `dk.check` that made it; "" if nothing is said.
    records
        The file of the records.
    arguments
        What else the function was given.
    unit
        The column that tells whom a record belongs to.
    """

    table: Said = Said()
    call: str = ""
    records: Path | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unit: str | None = None

    def made(self, profile: Profile) -> Checked:
        """The result made again from the records, and what the checks say of it."""
        frame = _with_numbers(from_arrow(to_arrow(self.records)[0], "pandas"))
        return _CALLS[self.call](frame, **self.arguments, unit=self.unit, profile=profile)


def read_said(path: Path) -> dict[str, About]:
    """File → what is said of it.

    Raises
    ------
    InputError
        The file cannot be read, or says what is not understood; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not valid TOML ({error})") from error
    lines = key_lines(text)
    return {name: _about(path, lines.get((name,), 1), name, own) for name, own in values.items()}


def _about(path: Path, line: int, name: str, said: Any) -> About:
    where = f"{path}, line {line}"
    if not isinstance(said, dict):
        raise InputError(f'{where}: write ["{name}"] and what is said of the file below it')
    unknown = next((key for key in said if key not in _KEYS), None)
    if unknown is not None:
        raise InputError(f"{where}: {unknown!r} is no key; there are {', '.join(_KEYS)}")
    call, records = said.get("call", ""), said.get("records")
    if (call == "") != (records is None):
        raise InputError(f"{where}: call and records go together")
    if call and call not in _CALLS:
        raise InputError(f"{where}: call must be one of {', '.join(_CALLS)}, not {call!r}")
    counts = said.get("counts", ())
    if counts != "all" and not _names(counts):
        raise InputError(f'{where}: counts must be names of columns, or "all"')
    if not _names(said.get("labels", ())):
        raise InputError(f"{where}: labels must be names of columns")
    file = None if records is None else path.parent / str(records)
    if file is not None and not file.is_file():
        raise InputError(f"{where}: there is no file {str(records)!r}")
    table = Said(counts, tuple(said.get("labels", ())))
    return About(table, str(call), file, said.get("arguments", {}), said.get("unit"))


def _names(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)


def _with_numbers(frame: Any) -> Any:
    """Texts of a file as numbers where all of a column are, and none is a code such as 01."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        texts = column.dropna().astype(str)
        try:
            numbers = pd.to_numeric(column)
        except (ValueError, TypeError):
            numbers = column
        columns[name] = column if texts.str.match(r"-?0\d").any() else numbers
    return pd.DataFrame(columns, index=frame.index)
