"""What a ledger keeps of a checked result, as text and compressed arrays."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError, VerificationError
from diskret.io.arrays import Wanted, checked
from diskret.io.from_json import parse_json
from diskret.outputs.beside import Statement
from diskret.outputs.checked import Checked, Finding, Told
from diskret.publish.store.cells import packed, unpacked
from diskret.publish.store.log import Kept


@dataclass(frozen=True, eq=False)
class Submitted:
    """A checked result as it waits for a decision. Confidential.

    Parameters
    ----------
    kind, made, command
        As of `Checked`.
    findings
        What was found of the result alone.
    together
        What was found beside all that had left when it was submitted.
    files
        Name → content of the files that leave.
    statement
        What it tells; records and units as fingerprints under the office's key.
    """

    kind: str
    made: tuple[str, ...]
    findings: tuple[Finding, ...]
    together: tuple[Finding, ...]
    command: str
    files: Mapping[str, bytes]
    statement: Statement


def submitted(
    checked: Checked, alone: tuple[Finding, ...], name: str, statement: Statement
) -> Submitted:
    """What is kept of a checked result; `alone`: those of its findings that need no other."""
    return Submitted(
        checked.kind,
        checked.made,
        alone,
        tuple(one for one in checked.findings if one not in alone),
        checked.command,
        files_of(checked, name),
        statement,
    )


def files_of(checked: Checked, name: str) -> dict[str, bytes]:
    """The files that a result leaves as: CSV of frames, of numbers and of the tables of a model.

    Fractions have the digits of the profile, for more could spell anything.

    Raises
    ------
    InputError
        It is neither a frame, nor numbers, nor a model, nor the path of a file.
    """
    output = checked.output
    rounded = partial(_rounded, digits=checked.profile.digits, counts="unknown" not in checked.made)
    if isinstance(output, str | Path):
        path = Path(output)
        return {f"{name}{path.suffix}": path.read_bytes()}
    numbers = _numbers(output)
    if numbers:
        import pandas as pd

        return {f"{name}.csv": rounded(pd.DataFrame([numbers])).to_csv(index=False).encode()}
    if hasattr(output, "to_csv"):
        return {f"{name}.csv": rounded(output).to_csv().encode()}
    if hasattr(output, "write_csv"):
        return {f"{name}.csv": rounded(output).write_csv().encode()}
    if hasattr(output, "summary2"):
        tables = [*map(rounded, output.summary2().tables)]
        ends = ["", *(f" {at}" for at in range(2, len(tables) + 1))]
        return {
            f"{name}{end}.csv": one.to_csv().encode() for end, one in zip(ends, tables, strict=True)
        }
    raise InputError(
        f"{name}: a {type(output).__name__} has no files that could leave; save it as a file and "
        "check that"
    )


def _numbers(output: Any) -> dict[str, Any]:
    """A number, or several by name, such as those of a test; else nothing."""
    if isinstance(output, Real):
        return {"value": output}
    if isinstance(output, Mapping) and all(isinstance(one, Real) for one in output.values()):
        return dict(output)
    return {}


def _rounded(given: Any, digits: int, counts: bool) -> Any:
    """A frame or column of pandas, or a frame of Polars: columns of fractions have so many digits.

    counts: whether whole numbers are known to be no more than counts, sums or codes. Where some
    are hidden or missing, their column could hold fractions, too.
    """
    if hasattr(given, "write_csv"):
        import polars.selectors as cs

        columns = given.select(cs.float())
        names = [
            one.name for one in columns if not (counts and _whole(one.drop_nulls().to_numpy()))
        ]
        return given.with_columns(cs.by_name(names).round_sig_figs(digits))
    if hasattr(given, "columns"):
        return given.apply(_rounded, digits=digits, counts=counts)
    fractions = [one for one in given if isinstance(one, float)]
    if given.dtype.kind not in "fO" or counts and _whole(np.array(fractions, np.float64)):
        return given
    return given.map(lambda one: float(f"{one:.{digits}g}") if isinstance(one, float) else one)


def _whole(numbers: NDArray[np.floating[Any]]) -> bool:
    known = numbers[~np.isnan(numbers)]
    return bool((known == np.round(known)).all())


#: What may be told of sets, beside their numbers of units.
_NUMBERS = ("values", "spread", "way")


def kept_of(result: Submitted) -> Kept:
    """As it lies in the database."""
    arrays: dict[str, Any] = {"records": result.statement.records, "unit": result.statement.unit}
    for at, told in enumerate(result.statement.told):
        arrays[f"sets {at}"] = told.sets
        for name in _NUMBERS:
            if getattr(told, name) is not None:
                arrays[f"{name} {at}"] = getattr(told, name)
    for at, content in enumerate(result.files.values()):
        arrays[f"file {at}"] = np.frombuffer(content, np.uint8)
    said = {
        "kind": result.kind,
        "made": result.made,
        "findings": _texts(result.findings),
        "together": _texts(result.together),
        "command": result.command,
        "files": [*result.files],
        "told": [[told.names, told.variable] for told in result.statement.told],
    }
    return Kept(
        json.dumps(said, ensure_ascii=False, sort_keys=True, default=str), packed({}, arrays)
    )


def submitted_of(kept: Kept, name: str) -> Submitted:
    """What was kept; its arrays have their type, shape and range checked before they are used."""
    source = f"what is kept of the result {name!r}"
    try:
        said = parse_json(kept.said, source, VerificationError)
        _, arrays = unpacked(kept.arrays)
        records = checked(arrays, "records", Wanted("u", (None,)), source)
        unit = checked(arrays, "unit", Wanted("u", records.shape), source)
        told: list[Told] = []
        for at, (names, variable) in enumerate(said["told"]):
            sets = checked(arrays, f"sets {at}", Wanted("i", records.shape, -1), source)
            labels = tuple(tuple(map(str, one)) for one in names)
            own = {what: arrays.get(f"{what} {at}") for what in _NUMBERS}
            shapes = {"way": (len(labels),)}
            for what, one in own.items():
                if one is not None and one.shape != shapes.get(what, records.shape):
                    raise ValueError(f"{what} {at} are of others")
            told.append(Told(sets.astype(np.int32), labels, None, variable=str(variable), **own))
        files = {one: arrays[f"file {at}"].tobytes() for at, one in enumerate(said["files"])}
        findings, together = _findings(said["findings"]), _findings(said["together"])
    except (InputError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise VerificationError(f"the ledger is damaged: {source}: {error}") from None
    statement = Statement(name, records, unit, tuple(told))
    return Submitted(
        said["kind"],
        tuple(said["made"]),
        findings,
        together,
        said["command"],
        files,
        statement,
    )


def _texts(findings: Sequence[Finding]) -> list[list[Any]]:
    return [[one.check, one.verdict, one.places, dict(one.blanks)] for one in findings]


def _findings(said: Sequence[Sequence[Any]]) -> tuple[Finding, ...]:
    return tuple(
        Finding(check, verdict, tuple(map(tuple, places)), blanks)
        for check, verdict, places, blanks in said
    )
