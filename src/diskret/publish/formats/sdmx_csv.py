"""SDMX-CSV 1.0 and 2.0: one line for each observation, with labels, always the same bytes."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

import numpy as np

from diskret.errors import InputError
from diskret.io.sdmx_csv import (
    CONF_STATUS,
    HEADS,
    MEASURE,
    OBS_STATUS,
    PERIOD,
    TIME,
    VALUE,
    code_ids,
    column_ids,
)
from diskret.publish.formats.cube import HIDDEN, NO_FIGURE, Axis, Cube
from diskret.publish.formats.flags import flags_of

_ROWS_AT_ONCE = 10_000


def write_sdmx_csv(cube: Cube, path: str | PathLike[str], version: str, agency: str) -> None:
    """Write a cube as SDMX-CSV.

    Every column is headed ``ID: name``; a code that has a label is written ``code: label``. The
    dataflow is that of the agency with the name of the table, in version 1.0. Hidden cells have no
    value, and CONF_STATUS ``C``; the internal profile has every value, the status of each cell, and
    its letter in structural business statistics.

    Raises
    ------
    InputError
        Two names or codes would have the same identifier, a name is one that SDMX uses, or a
        period is none of SDMX.
    """
    dimensions = [*_axes(cube)]
    identified = column_ids([axis.name for axis in cube.axes], cube.name)
    reserved = {VALUE, OBS_STATUS, CONF_STATUS, TIME, MEASURE, "LOWER", "UPPER", "SBS_FLAG"}
    reserved |= {name for head in HEADS.values() for name in head}
    if taken := sorted(reserved & {*identified}):
        raise InputError(
            f"{cube.name}: SDMX-CSV has a column {taken[0]} of its own; rename the variable, or "
            "leave this format out"
        )
    names = [*identified, *(axis.name for axis in dimensions[len(identified) :])]
    (flow,) = column_ids([cube.name], cube.name)
    identity = f"{agency}:{flow}(1.0)"
    head: dict[str, str] = {"DATAFLOW": f"{identity}: {cube.title}"}
    if version == "2.0":
        head = {"STRUCTURE": "dataflow", "STRUCTURE_ID": f"{identity}: {cube.title}", "ACTION": "I"}
    labels = [axis.name for axis in cube.axes]
    labels += [cube.period] * bool(cube.periods) + [cube.contents] * (len(cube.measures) > 1)
    measure = cube.labels[0] if len(cube.measures) == 1 else cube.words[VALUE]
    columns = _columns(cube)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([
            *head,
            *(f"{name}: {label}" for name, label in zip(names, labels, strict=True)),
            f"{VALUE}: {measure}",
            *(f"{name}: {cube.words[name]}" for name in list(columns)[1:]),
        ])  # fmt: skip
        coded = [_coded(axis, f"{cube.name}, {axis.name}") for axis in dimensions]
        shape = tuple(map(len, dimensions))
        said = list(columns.values())
        for start in range(0, cube.value.size, _ROWS_AT_ONCE):
            cells = np.arange(start, min(start + _ROWS_AT_ONCE, cube.value.size))
            at = [one.tolist() for one in np.unravel_index(cells, shape)]
            where = zip(*([of[i] for i in one] for of, one in zip(coded, at, strict=True)),
                        strict=True)  # fmt: skip
            for cell, codes in zip(cells.tolist(), where, strict=True):
                writer.writerow([*head.values(), *codes, *(column[cell] for column in said)])


def _axes(cube: Cube) -> list[Axis]:
    """The dimensions; periods and measures by the names that SDMX has for them."""
    axes = list(cube.axes)
    if cube.periods:
        wrong = [period for period in cube.periods if not PERIOD.fullmatch(period)]
        if wrong:
            raise InputError(
                f"{cube.name}: {wrong[0]!r} is no period as SDMX writes them; say vintage= as "
                "2025, 2025-Q3 or 2025-07, or leave this format out"
            )
        none = ("",) * len(cube.periods)
        axes.append(Axis(TIME, cube.periods, none, (-1,) * len(none)))
    if len(cube.measures) > 1:
        axes.append(Axis(MEASURE, cube.measures, cube.labels, (-1,) * len(cube.measures)))
    return axes


def _coded(axis: Axis, where: str) -> list[str]:
    """Each code as it is written; one whose identifier is another is told in the label."""
    ids = axis.codes if axis.name == TIME else code_ids(axis.codes, where)
    labels = [
        label or ("" if one == code else code)
        for one, code, label in zip(ids, axis.codes, axis.labels, strict=True)
    ]
    return [f"{one}: {label}" if label else one for one, label in zip(ids, labels, strict=True)]


def _columns(cube: Cube) -> dict[str, list[str]]:
    """What is said of each cell: its value first."""
    states = cube.state.tolist()
    without = (HIDDEN, NO_FIGURE)
    value = ["" if s in without else text for s, text in zip(states, cube.texts(), strict=True)]
    flags = flags_of(cube)
    found = {VALUE: value, OBS_STATUS: [flags.obs_status[state] for state in states]}
    if cube.kept is not None:
        found[CONF_STATUS] = list(cube.kept.conf_status)
        found["SBS_FLAG"] = list(cube.kept.sbs)
        return found
    found[CONF_STATUS] = [flags.conf_status[state] for state in states]
    if cube.lower is not None:
        bounds = [cube.bounds(i) if s == HIDDEN else (None, None) for i, s in enumerate(states)]
        found["LOWER"] = [low or "" for low, _ in bounds]
        found["UPPER"] = [high or "" for _, high in bounds]
    return found
