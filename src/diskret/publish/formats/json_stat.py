"""JSON-stat 2.0: one dataset in a file, always the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.publish.formats.cube import EMPTY, HIDDEN, NO_FIGURE, Axis, Cube
from diskret.publish.formats.flags import FREE, SECONDARY, flags_of

#: The status of a cell without any unit.
NOTHING = "-"


def write_json_stat(cube: Cube, path: str | PathLike[str]) -> None:
    """Write a cube as a dataset in JSON-stat.

    Numbers have the digits that are published. `status` names the cells that are hidden, empty or
    without a figure; what it means is said under ``extension``, as Eurostat does. The internal
    profile has every value, and the confidentiality status of SDMX.
    """
    head = json.dumps(_about(cube), ensure_ascii=False, indent=1, allow_nan=False)
    # numbers as they are published: 12.50 is no float
    numbers = cube.texts()
    for cell in np.flatnonzero((cube.state == HIDDEN) | (cube.state == NO_FIGURE)).tolist():
        numbers[cell] = "null"
    rows = np.array(numbers, dtype=object).reshape(-1, cube.shape[-1] if cube.shape else 1)
    value = ",\n".join("  " + ", ".join(row) for row in rows.tolist())
    status, extension = _status(cube)
    rest = json.dumps({"status": status, "extension": extension}, ensure_ascii=False, indent=1)
    text = f'{head[:-2]},\n "value": [\n{value}\n ],\n{rest[2:]}\n'
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def _about(cube: Cube) -> dict[str, Any]:
    ids = [axis.name for axis in cube.axes]
    role = {"metric": [cube.contents]}
    dimensions = {axis.name: _dimension(axis) for axis in cube.axes}
    if cube.periods:
        ids.append(cube.period)
        role = {"time": [cube.period], **role}
        dimensions[cube.period] = {
            "label": cube.period,
            "category": {
                "index": list(cube.periods),
                "label": {period: period for period in cube.periods},
            },
        }
    measured: dict[str, Any] = {"index": list(cube.measures)}
    measured["label"] = dict(zip(cube.measures, cube.labels, strict=True))
    measured["unit"] = {
        measure: {"decimals": places}
        for measure, places in zip(cube.measures, cube.decimals, strict=True)
    }
    dimensions[cube.contents] = {"label": cube.contents, "category": measured}
    note = list(cube.notes)
    if cube.kept is not None:
        note = [cube.words["internal.notice"], *note]
    return {
        "version": "2.0",
        "class": "dataset",
        "label": cube.title,
        **({"note": note} if note else {}),
        "id": [*ids, cube.contents],
        "size": list(cube.shape),
        "role": role,
        "dimension": dimensions,
    }


def _dimension(axis: Axis) -> dict[str, Any]:
    # a label for each code: readers that take labels would lose those without one
    labels = {code: text or code for code, text in zip(axis.codes, axis.labels, strict=True)}
    category: dict[str, Any] = {"index": list(axis.codes), "label": labels}
    children: dict[str, list[str]] = {}
    for code, parent in zip(axis.codes, axis.parents, strict=True):
        if parent >= 0:
            children.setdefault(axis.codes[parent], []).append(code)
    if children:
        category["child"] = children
    return {"label": axis.name, "category": category}


def _status(cube: Cube) -> tuple[dict[str, str], dict[str, Any]]:
    """The status of cells by their number, and what it means; published ranges with it."""
    words = cube.words
    if cube.kept is not None:
        found = {str(i): code for i, code in enumerate(cube.kept.conf_status) if code != FREE}
        said = {
            code: words["status secondary" if code == SECONDARY else "status primary"]
            for code in sorted(set(found.values()))
        }
        return found, {"status": {"label": said}}
    flags = flags_of(cube)
    code = {
        HIDDEN: (flags.conf_status[HIDDEN], "status confidential"),
        EMPTY: (NOTHING, "status nothing"),
        NO_FIGURE: (flags.obs_status[NO_FIGURE], "status no figure"),
    }
    state: Sequence[int] = cube.state.tolist()
    found = {str(i): code[one][0] for i, one in enumerate(state) if one in code}
    said = {letter: words[key] for one, (letter, key) in code.items() if one in set(state)}
    extension: dict[str, Any] = {"status": {"label": said}}
    if cube.lower is not None:
        hidden = np.flatnonzero(cube.state == HIDDEN).tolist()
        bounds = [cube.bounds(cell) for cell in hidden]
        for i, side in enumerate(("lower", "upper")):
            extension[side] = {
                str(cell): bound[i] for cell, bound in zip(hidden, bounds, strict=True)
            }
    return found, extension
