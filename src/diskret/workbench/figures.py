"""Risk and loss of a release, in the same figures for every method. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.anonymize.data import Microdata
from diskret.io import DataFile, to_arrow
from diskret.jobs.microdata import MicrodataJob
from diskret.workbench.records import RELEASED, counted
from diskret.workbench.releases import read_released
from diskret.workbench.tables import Judged

#: Percent of a value to within which a reader may know it.
WITHIN = (1, 2, 5, 10, 20, 50)


def figures_of(folder: Path, judged: Judged) -> dict[str, Any] | None:
    """What a release of a table has cost, and how closely its readers know the unsafe cells.

    ``lost``: the part of all values that is hidden, or off by as much. ``near``: how many of the
    unsafe cells are known to within each percent of `WITHIN`: half the interval that everybody can
    tell is no wider. Beside a rounded value or a count with noise it is what the method admits;
    where that has no bound, how far off the value is. ``closest``: the least of these, as a share.

    folder: of a release; judged: the table, by the rules that say which cells are unsafe.
    Returns None where the release has no such table.
    """
    found = _measured(folder, judged)
    if found is None:
        return None
    true = _true(judged)
    off = np.where(found.hidden, np.abs(true), np.abs(found.shown - true))
    whole = float(np.abs(true).sum())
    return {
        "cells": int(true.size),
        "hidden": int(found.hidden.sum()),
        "changed": int((~found.hidden & (found.shown != true)).sum()),
        "lost": float(off.sum()) / whole if whole else 0.0,
        "unsafe": judged.unsafe,
        **_near(found.half, true, judged),
    }


def figures_of_records(job: MicrodataJob, folder: Path) -> dict[str, Any] | None:
    """The same of records: those expected to be recognised, and the values that must have changed.

    ``lost``: of each key, the part of the records whose code must be missing or another one, since
    codes are less frequent than before; on average over the keys.
    """
    path = folder / "public" / RELEASED
    if not path.is_file():
        return None
    before, after = to_arrow(job.records)[0], to_arrow(DataFile(path))[0]
    keys = [name for name in job.roles.get("keys", ()) if name in after.column_names]
    weight = job.roles.get("weight")
    weight = weight if weight in after.column_names else None
    risk = Microdata(DataFile(path), keys=keys, weight=weight).risk()
    gone = [_gone(counted(before, name), counted(after, name)) for name in keys]
    return {
        "cells": before.num_rows,
        "expected": float(risk.risk.sum()),
        "largest": float(risk.risk.max()) if len(risk.risk) else 0.0,
        "hidden": sum(counted(after, name).get(None, 0) for name in keys),
        "lost": fsum(gone) / len(gone) if gone else 0.0,
    }


@dataclass(frozen=True, eq=False)
class _Measured:
    """Of each cell, flat: what is shown, whether it is hidden, and half of what it lies within."""

    shown: NDArray[np.float64]
    hidden: NDArray[np.bool_]
    half: NDArray[np.float64]


def _measured(folder: Path, judged: Judged) -> _Measured | None:
    table, true = judged.table, _true(judged)
    found = read_released(folder, judged.wanted.name, table)
    if found is None:
        return None
    if found.published is not None:
        shown = found.published
        half = np.full(true.shape, _admitted(found.certificate))
        half = np.where(np.isnan(half), np.abs(shown - true), half)
        return _Measured(shown, np.isnan(shown), half)
    hidden = np.isin(found.status, ("primary", "secondary"))
    half = np.where(hidden, np.inf, 0.0)
    positions = [one.hierarchy.position for one in table.dimensions]
    for codes, (low, high) in found.intervals.items():
        at = tuple(one[code] for one, code in zip(positions, codes, strict=True))
        if low is not None and high is not None:
            half[np.ravel_multi_index(at, table.shape)] = (high - low) / 2
    return _Measured(true, hidden, half)


def _admitted(certificate: Mapping[str, Any]) -> float:
    """How far a shown value may be from the true one, as everybody knows; NaN: no bound."""
    base: Any = certificate.get("base")
    match certificate.get("method"):
        case "deterministic":
            return base / 2
        case "random" | "small_counts":
            return base - 1
        case "controlled":
            return base * (1 + certificate.get("steps", 0)) - 1
        case "cell_key" if certificate.get("changed") == "counts":
            return certificate["max_noise"]
        case _:
            return float("nan")


def _true(judged: Judged) -> NDArray[np.float64]:
    measure = judged.table.measure
    return measure.sum.ravel().astype(np.float64) / 10**measure.decimals


def _near(half: NDArray[np.float64], true: NDArray[np.float64], judged: Judged) -> dict[str, Any]:
    found = judged.sensitivity
    unsafe = np.zeros(0, int) if found is None else np.flatnonzero(found.unsafe)
    half, size = half[unsafe], np.abs(true[unsafe])
    share = half[size > 0] / size[size > 0]
    return {
        "near": {str(one): int((100 * half <= one * size).sum()) for one in WITHIN},
        "closest": float(share.min()) if share.size and np.isfinite(share.min()) else None,
    }


def _gone(before: Mapping[str | None, int], after: Mapping[str | None, int]) -> float:
    fewer = [max(number - after.get(code, 0), 0) for code, number in before.items()]
    return sum(fewer) / max(sum(before.values()), 1)
