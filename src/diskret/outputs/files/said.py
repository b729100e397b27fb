"""What is said of result files: their counts, or the call and the records that made them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

from diskret.errors import InputError
from diskret.io import to_arrow
from diskret.io.frames import from_arrow
from diskret.io.key_lines import key_lines
from diskret.outputs.checked import Checked
from diskret.outputs.durations import logrank, survival
from diskret.outputs.figures import boxplot, chart, density, scatter
from diskret.outputs.files.tables import Said
from diskret.outputs.given import column_of
from diskret.outputs.grouped import describe, groupby, quantile
from diskret.outputs.histograms import histogram
from diskret.outputs.hypotheses import chi2, mannwhitney, ttest
from diskret.outputs.moments import components, correlation
from diskret.outputs.pivot import pivot_table
from diskret.outputs.profile import Profile
from diskret.outputs.shares import concentration, mode, ratio
from diskret.outputs.tables import crosstab, suppressed

#: What lies beside results and says what they are.
NAME = "results.toml"
#: Calls whose first argument are the records.
_CALLS = {
    one.__name__: one
    for one in (
        boxplot, chart, chi2, components, concentration, correlation, density, describe, groupby,
        histogram, logrank, mannwhitney, mode, pivot_table, quantile, ratio, scatter, survival,
        ttest,
    )
}  # fmt: skip
#: Calls that take columns; here they are named.
_OF_COLUMNS = {one.__name__: one for one in (crosstab, suppressed)}
_COLUMNS = ("index", "columns", "values")
_KEYS = ("counts", "labels", "call", "records", "arguments", "unit", "suppress")


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
    suppress
        Whether unsafe cells were hidden; see `Checked.suppress`.
    """

    table: Said = Said()
    call: str = ""
    records: Path | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    unit: str | None = None
    suppress: bool = False

    def made(self, profile: Profile) -> Checked:
        """The result made again from the records, and what the checks say of it."""
        frame = _with_numbers(from_arrow(to_arrow(self.records)[0], "pandas"))
        if self.call in _OF_COLUMNS:
            named = {
                name: _columns(frame, own, name) if name in _COLUMNS else own
                for name, own in self.arguments.items()
            }
            unit = column_of(frame, self.unit, "unit")
            checked = _OF_COLUMNS[self.call](**named, unit=unit, profile=profile)
        else:
            checked = _CALLS[self.call](frame, **self.arguments, unit=self.unit, profile=profile)
        return checked.suppress() if self.suppress else checked


def _columns(frame: Any, names: Any, argument: str) -> Any:
    if isinstance(names, list):
        return [column_of(frame, one, argument) for one in names]
    return column_of(frame, names, argument)


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
    functions = {**_CALLS, **_OF_COLUMNS}
    if call and call not in functions:
        names = ", ".join(sorted(functions))
        raise InputError(
            f"{where}: call must be one of {names}, not {call!r}; files of other results are for a "
            "person to look at"
        )
    arguments = said.get("arguments", {})
    if call:
        _check_arguments(functions[call], arguments, call in _CALLS, where)
    if not isinstance(said.get("suppress", False), bool):
        raise InputError(f"{where}: suppress must be true or false")
    counts = said.get("counts", ())
    if counts != "all" and not _names(counts):
        raise InputError(f'{where}: counts must be names of columns, or "all"')
    if not _names(said.get("labels", ())):
        raise InputError(f"{where}: labels must be names of columns")
    file = None if records is None else path.parent / str(records)
    if file is not None and not file.is_file():
        raise InputError(f"{where}: there is no file {str(records)!r}")
    table = Said(counts, tuple(said.get("labels", ())))
    suppress = said.get("suppress", False)
    return About(table, str(call), file, arguments, said.get("unit"), suppress)


def _check_arguments(function: Any, arguments: Any, takes_frame: bool, where: str) -> None:
    """Whether a call takes what is said."""
    if not isinstance(arguments, dict) or {"unit", "profile"} & {*arguments}:
        raise InputError(f"{where}: arguments must be names and values, without unit and profile")
    try:
        signature(function).bind(*([None] if takes_frame else []), **arguments)
    except TypeError as error:
        raise InputError(f"{where}: {function.__name__} does not take this: {error}") from None


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
